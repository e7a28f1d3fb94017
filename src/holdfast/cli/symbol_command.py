"""What commands about one symbol share: how it is named, and how an answer ends."""

from __future__ import annotations

import argparse
import os

from holdfast.cli.console import absolute, here
from holdfast.cli.failures import CommandRefused
from holdfast.cli.terminal import no_file, with_commands
from holdfast.index.references.answers import (
    ExploreAnswer,
    ImpactAnswer,
    ReferencesAnswer,
    SymbolEditAnswer,
)


def add_symbol(parser: argparse.ArgumentParser) -> None:
    """Arguments that name a symbol: its file, itself and its tree."""
    parser.add_argument(
        "file", nargs="?", help="the file the symbol is in (default: where its name is found)"
    )
    parser.add_argument("symbol", help="its name, qualified name or id")
    parser.add_argument(
        "--path", help="its tree (default: the tracked tree the file, or this directory, is in)"
    )


def named_place(args: argparse.Namespace, command: str) -> tuple[str, str]:
    """The tree and the file that were named; raises if there is no such file."""
    tree = absolute(args.path) if args.path else None
    file = absolute(args.file) if args.file and tree is None else args.file or ""
    whole = os.path.join(tree or "", file)
    if file and not os.path.isfile(whole):
        raise no_file(args.file, whole, command, args.symbol)
    return tree or (os.path.dirname(file) if file else here()), file


def refused(
    answer: ReferencesAnswer | ExploreAnswer | ImpactAnswer | SymbolEditAnswer,
) -> CommandRefused:
    """The failure that says why a question was not answered."""
    why = with_commands(answer.message or answer.status, answer.path)
    return CommandRefused(answer.reason or answer.status, why)
