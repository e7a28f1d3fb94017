"""`holdfast calls`: what a symbol calls, and what calls it."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING

from holdfast.cli.console import absolute, here
from holdfast.cli.symbol_command import split_symbol
from holdfast.index.tools.limits import CALLS_DEFAULT

# What asks and prints is imported by `run`: a help text needs none of it.
if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.index.answers import CallGraphAnswer
    from holdfast.index.code_index import CodeIndex


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", help="the file the symbol is in (default: where its name is found)"
    )
    parser.add_argument("symbol", help="its name or qualified name, or FILE:NAME")
    parser.add_argument(
        "--path", help="its tree (default: the tracked tree the file, or this directory, is in)"
    )
    parser.add_argument(
        "--direction",
        choices=("callers", "callees", "both"),
        default="both",
        help="its callers, what it calls, or both (default)",
    )
    parser.add_argument(
        "--depth", type=int, default=1, help="how many calls away, 1 (default) to 3"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=CALLS_DEFAULT,
        metavar="N",
        help=f"maximum number of calls (default: {CALLS_DEFAULT})",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    from msgspec.structs import replace

    from holdfast.cli.failures import CommandRefused
    from holdfast.cli.output import print_json
    from holdfast.cli.terminal import as_typed, exit_code, no_file, terminal, with_commands
    from holdfast.index.tools.render_calls import calls_text

    split_symbol(args, "calls")
    file = args.file if args.path or not args.file else absolute(args.file)
    tree = absolute(args.path) if args.path else os.path.dirname(file) if file else here()
    whole = os.path.join(tree, file or "")
    # The verb also answers for deleted files; here the typed name must exist.
    if file and (os.path.isdir(whole) or not (args.json or os.path.isfile(whole))):
        raise no_file(args.file, whole, "calls", args.symbol)
    with app.borrow_index() as index:
        answer = _calls(index, tree, file, args)
    if args.json:
        print_json(answer.to_wire())
        return exit_code(answer.status)
    if not file and answer.status != "ok":
        why = with_commands(answer.message or answer.status, answer.path)
        raise CommandRefused(answer.reason or answer.status, why)
    typed = args.file or as_typed(answer.symbol_ref.file, answer.path)
    outline = f"`holdfast outline {shlex.quote(typed)}` lists its symbols"

    def message(text: str) -> str:
        return with_commands(text.replace("ask file_outline for its symbols", outline))

    surface = replace(terminal(), message=message)
    print(calls_text(answer, surface, more=f"--limit {args.limit * 2}"))
    return exit_code(answer.status)


def _calls(
    index: CodeIndex, tree: str, file: str | None, args: argparse.Namespace
) -> CallGraphAnswer:
    from holdfast.index.tools.calls import call_graph, symbol_ref
    from holdfast.index.tools.named_calls import calls_of_name

    direction, depth, limit = args.direction, args.depth, args.limit
    if not file:
        return calls_of_name(
            index, tree, args.symbol, direction=direction, depth=depth, limit=limit
        )
    reference = symbol_ref(file, args.symbol)
    return call_graph(index, tree, reference, direction=direction, depth=depth, limit=limit)
