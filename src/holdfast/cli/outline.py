"""`holdfast outline`: the symbols of one file."""

from __future__ import annotations

import argparse
import os

from holdfast.app import App
from holdfast.cli.console import absolute, here
from holdfast.cli.failures import CommandRefused
from holdfast.cli.near_notes import near_notes
from holdfast.cli.output import plain, print_json
from holdfast.cli.terminal import exit_code, no_file, terminal
from holdfast.index.tools.outline import file_outline
from holdfast.index.tools.render import outline_text
from holdfast.index.tools.symbol_place import file_and_symbol


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the file; or FILE:SYMBOL, as with --symbol")
    parser.add_argument("--path", help="its tree (default: the tracked tree it is in)")
    parser.add_argument("--symbol", help="only the symbol of this name")
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    if not args.symbol:
        tree = absolute(args.path) if args.path else here()
        named, symbol = file_and_symbol(
            args.file, lambda name: os.path.isfile(os.path.join(tree, name))
        )
        if named and not os.path.isfile(os.path.join(tree, args.file)):
            args.file, args.symbol = named, symbol
    file = args.file if args.path else absolute(args.file)
    tree = absolute(args.path) if args.path else os.path.dirname(file)
    whole = os.path.join(tree, file)
    # The verb also answers for deleted files; here the typed name must exist.
    if os.path.isdir(whole) or not (args.json or os.path.isfile(whole)):
        raise no_file(args.file, whole, "outline")
    if os.path.isfile(whole) and not os.access(whole, os.R_OK):
        raise CommandRefused("Unreadable", f"{args.file} cannot be read: permission denied")
    with app.borrow_index() as index:
        answer = file_outline(
            index,
            tree,
            file,
            resolve_mode="exact" if args.symbol else "outline",
            symbol_label=args.symbol,
        )
    if args.json:
        print_json(answer.to_wire())
    else:
        symbols = answer.outline.symbols if answer.outline is not None else ()
        lines = [(s.span.start_line, s.span.end_line) for s in symbols] if args.symbol else None
        if answer.status == "ok" and (about := near_notes(app, {whole: lines})):
            print(plain(about))
        print(outline_text(answer, terminal(), more="--symbol NAME shows any of them"))
    return exit_code(answer.status)
