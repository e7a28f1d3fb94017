"""`holdfast explore`: everything about a symbol in one answer."""

from __future__ import annotations

import argparse

from holdfast.app import App
from holdfast.cli.output import print_json
from holdfast.cli.symbol_command import add_symbol, named_place, refused
from holdfast.cli.terminal import exit_code, terminal
from holdfast.index.tools.explore import explore
from holdfast.index.tools.render_explore import explore_text

TOKENS_DEFAULT = 1_500


def configure(parser: argparse.ArgumentParser) -> None:
    add_symbol(parser)
    parser.add_argument(
        "--tokens",
        type=int,
        default=TOKENS_DEFAULT,
        metavar="N",
        help=f"how long the answer may be, in tokens (default: {TOKENS_DEFAULT})",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    tree, file = named_place(args, "explore")
    index = app.open_index()
    try:
        answer = explore(index, tree, args.symbol, file=file)
    finally:
        index.close()
    if args.json:
        print_json(answer.to_wire())
        return exit_code(answer.status)
    if answer.status != "ok":
        raise refused(answer)
    print(explore_text(answer, terminal(), tokens_max=args.tokens))
    return exit_code(answer.status)
