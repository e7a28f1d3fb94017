"""`holdfast explore`: everything about a symbol in one answer."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from holdfast.cli.symbol_command import add_symbol, named_place, print_answer

# What asks and prints is imported by `run`: a help text needs none of it.
if TYPE_CHECKING:
    from holdfast.app import App

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
    from holdfast.index.tools.explore import explore
    from holdfast.index.tools.render_explore import explore_text

    tree, file = named_place(args, "explore")
    return print_answer(
        args,
        app,
        lambda index: explore(index, tree, args.symbol, file=file),
        lambda answer, on: explore_text(answer, on, tokens_max=args.tokens),
    )
