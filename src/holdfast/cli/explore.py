"""`holdfast explore`: everything about a symbol in one answer."""

from __future__ import annotations

import argparse
import os

from holdfast.app import App
from holdfast.cli.failures import CommandRefused
from holdfast.cli.output import print_json
from holdfast.cli.terminal import exit_code, no_file, terminal, with_commands
from holdfast.index.tools.explore import explore
from holdfast.index.tools.render_explore import explore_text

TOKENS_DEFAULT = 1_500


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", help="the file the symbol is in (default: where its name is found)"
    )
    parser.add_argument("symbol", help="its name, qualified name or id")
    parser.add_argument(
        "--path", help="its tree (default: the tracked tree the file, or this directory, is in)"
    )
    parser.add_argument(
        "--tokens",
        type=int,
        default=TOKENS_DEFAULT,
        metavar="N",
        help=f"how long the answer may be, in tokens (default: {TOKENS_DEFAULT})",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    file = os.path.abspath(args.file) if args.file and not args.path else args.file or ""
    whole = os.path.join(args.path or "", file)
    if file and not os.path.isfile(whole):
        raise no_file(args.file, whole, "explore", args.symbol)
    index = app.open_index()
    try:
        tree = args.path or (os.path.dirname(file) if file else os.getcwd())
        answer = explore(index, tree, args.symbol, file=file)
    finally:
        index.close()
    if args.json:
        print_json(answer.to_wire())
        return exit_code(answer.status)
    if answer.status != "ok":
        why = with_commands(answer.message or answer.status, answer.path)
        raise CommandRefused(answer.reason or answer.status, why)
    print(explore_text(answer, terminal(), tokens_max=args.tokens))
    return exit_code(answer.status)
