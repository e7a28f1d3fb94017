"""What commands about one symbol share: its arguments, and printing the answer."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from holdfast.cli.console import absolute, here
from holdfast.cli.failures import CommandRefused
from holdfast.errors import UsageError
from holdfast.index.tools.symbol_place import file_and_symbol

# What asks and prints is imported where it is used: a help text needs none of it.
if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.index.code_index import CodeIndex
    from holdfast.index.references.answers import (
        ExploreAnswer,
        ImpactAnswer,
        ReferencesAnswer,
        SymbolEditAnswer,
    )
    from holdfast.index.tools.render import Surface

Found = TypeVar("Found", "ReferencesAnswer", "ExploreAnswer", "ImpactAnswer")
_ASK_OUTLINE = re.compile(r"'([^']+)'( has no symbol .*); ask file_outline for its symbols")


def add_symbol(parser: argparse.ArgumentParser) -> None:
    """Arguments that name a symbol: its file, itself and its tree."""
    parser.add_argument(
        "file", nargs="?", help="the file the symbol is in (default: where its name is found)"
    )
    parser.add_argument("symbol", help="its name, qualified name or id; or FILE:NAME")
    parser.add_argument(
        "--path", help="its tree (default: the tracked tree the file, or this directory, is in)"
    )


def add_limit(parser: argparse.ArgumentParser, default: int, noun: str) -> None:
    """Options for the number of results and the output format."""
    parser.add_argument(
        "--limit",
        type=int,
        default=default,
        metavar="N",
        help=f"maximum number of {noun} (default: {default})",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def split_symbol(args: argparse.Namespace, command: str = "") -> None:
    """Split an argument that names file and symbol, such as `src/cart.py:Cart.total`.

    With the name of a command, raises for a file alone and for one that does not exist.
    """
    if args.file:
        return
    tree = absolute(args.path) if args.path else here()

    def is_file(name: str) -> bool:
        return os.path.isfile(os.path.join(tree, name))

    typed = args.symbol
    file, args.symbol = file_and_symbol(typed, is_file)
    args.file = file or None
    if file or not command:
        return
    if _names_file(typed) and is_file(typed):
        listing = f"holdfast outline {shlex.quote(typed)} lists its symbols"
        hint = f"holdfast {command} {shlex.quote(typed)} SYMBOL; {listing}"
        raise UsageError(f"{typed} is a file; {command} needs a symbol too", hint)
    missing, colon, symbol = typed.rpartition(":")
    if colon and symbol and _names_file(missing):
        from holdfast.cli.terminal import no_file

        raise no_file(missing, os.path.join(tree, missing), command, symbol)


def _names_file(typed: str) -> bool:
    """Whether a text looks like a file of source code, and not like a symbol such as `cart.total`.

    Lua's `self.c:pay` is a symbol, so a suffix of one letter is not enough.
    """
    from holdfast.files.policy import language_of

    suffix = os.path.splitext(typed)[1]
    return "/" in typed or (len(suffix) > 2 and language_of(typed) != "text")


def named_place(args: argparse.Namespace, command: str) -> tuple[str, str]:
    """The tree and the file that were named; raises if there is no such file."""
    split_symbol(args, command)
    tree = absolute(args.path) if args.path else None
    file = absolute(args.file) if args.file and tree is None else args.file or ""
    whole = os.path.join(tree or "", file)
    if file and not os.path.isfile(whole):
        from holdfast.cli.terminal import no_file

        raise no_file(args.file, whole, command, args.symbol)
    return tree or (os.path.dirname(file) if file else here()), file


def refused(
    answer: ReferencesAnswer | ExploreAnswer | ImpactAnswer | SymbolEditAnswer,
) -> CommandRefused:
    """The error that says why a question was not answered."""
    from holdfast.cli.terminal import as_typed, with_commands

    def outline(found: re.Match[str]) -> str:
        file = shlex.quote(as_typed(found[1], answer.path))
        return f"'{found[1]}'{found[2]}; `holdfast outline {file}` lists its symbols"

    why = _ASK_OUTLINE.sub(outline, answer.message or answer.status)
    why = with_commands(why, answer.path)
    return CommandRefused(answer.reason or answer.status, why)


def print_answer(
    args: argparse.Namespace,
    app: App,
    ask: Callable[[CodeIndex], Found],
    text: Callable[[Found, Surface], str],
) -> int:
    """Ask the index, print the answer as text or JSON, and return the exit code."""
    from holdfast.cli.output import print_json
    from holdfast.cli.terminal import exit_code, terminal

    index = app.open_index()
    try:
        answer = ask(index)
    finally:
        index.close()
    if args.json:
        print_json(answer.to_wire())
    elif answer.status != "ok":
        raise refused(answer)
    else:
        print(text(answer, terminal()))
    return exit_code(answer.status)
