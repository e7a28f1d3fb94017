"""`holdfast impact`: what a change touches."""

from __future__ import annotations

import argparse

from holdfast.app import App
from holdfast.cli.console import absolute
from holdfast.cli.output import print_json
from holdfast.cli.symbol_command import refused
from holdfast.cli.terminal import exit_code, terminal
from holdfast.index.tools.impact import LIMIT_DEFAULT, impact
from holdfast.index.tools.render_references import impact_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", help="the tree (default: the one of this directory)")
    parser.add_argument(
        "--since", metavar="REV", default="HEAD", help="the git revision (default: HEAD)"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=LIMIT_DEFAULT,
        metavar="N",
        help=f"maximum number of symbols (default: {LIMIT_DEFAULT})",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    index = app.open_index()
    try:
        answer = impact(index, absolute(args.path or "."), args.since, limit=args.limit)
    finally:
        index.close()
    if args.json:
        print_json(answer.to_wire())
        return exit_code(answer.status)
    if answer.status != "ok":
        raise refused(answer)
    print(impact_text(answer, terminal(), more=f"--limit {answer.total}"))
    return exit_code(answer.status)
