"""`holdfast impact`: what a change touches."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING

from holdfast.cli.console import absolute
from holdfast.cli.failures import CommandRefused
from holdfast.cli.symbol_command import add_limit, print_answer
from holdfast.index.tools.limits import IMPACT_DEFAULT

# What asks and prints is imported by `run`: a help text needs none of it.
if TYPE_CHECKING:
    from holdfast.app import App


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", help="the tree (default: the one of this directory)")
    parser.add_argument(
        "--since", metavar="REV", default="HEAD", help="the git revision (default: HEAD)"
    )
    add_limit(parser, IMPACT_DEFAULT, "symbols")


def run(args: argparse.Namespace, app: App) -> int:
    from holdfast.index.tools.impact import impact
    from holdfast.index.tools.render_references import impact_text

    if args.path and not os.path.exists(absolute(args.path)):
        raise CommandRefused(
            "NoSuchDirectory",
            f"there is no directory {args.path}",
            "impact takes a tree, and compares it with a revision of git; for a symbol run: "
            f"holdfast explore {shlex.quote(args.path)}",
        )
    return print_answer(
        args,
        app,
        lambda index: impact(index, absolute(args.path or "."), args.since, limit=args.limit),
        lambda answer, on: impact_text(answer, on, more=f"--limit {answer.total}"),
    )
