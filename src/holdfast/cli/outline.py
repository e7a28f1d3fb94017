"""`holdfast outline`: the symbols of one file."""

from __future__ import annotations

import argparse
import os
from typing import Any

from holdfast.app import App
from holdfast.cli.envelopes import exit_code, no_file, spoken
from holdfast.cli.output import print_json
from holdfast.index.tools.outline import PROBLEM, file_outline


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the file")
    parser.add_argument("--path", help="its tree (default: the tracked tree it is in)")
    parser.add_argument("--symbol", help="only the symbol of this name")
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    file = args.file if args.path else os.path.abspath(args.file)
    whole = os.path.join(args.path or "", file)
    # The tool knows what to say of a file that is gone; here is only what a person typed wrong.
    if os.path.isdir(whole) or not (args.json or os.path.isfile(whole)):
        raise no_file(args.file, whole, "outline")
    index = app.open_index()
    try:
        answer: Any = file_outline(
            index,
            args.path or os.path.dirname(file),
            file,
            resolve_mode="exact" if args.symbol else "outline",
            symbol_label=args.symbol,
        )
    finally:
        index.close()
    if args.json:
        print_json(answer)
        return exit_code(answer)
    if answer["outline"] is None:
        print(spoken(answer.get("message", answer["status"])))
        _print_problems(answer)
        return exit_code(answer)
    if not answer["outline"]["symbols"]:
        print("No symbols.")
    for symbol in answer["outline"]["symbols"]:
        span = symbol["span"]
        depth = symbol["symbolLabel"].count(".")
        shown = symbol.get("signature") or symbol["name"]
        shown = shown.removeprefix(f"{symbol['kind']} ")
        lines = f"{span['startLine']}-{span['endLine']}"
        print(f"{lines:>11}  {'  ' * depth}{symbol['kind']} {shown}")
    _print_problems(answer)
    return exit_code(answer)


def _print_problems(answer: Any) -> None:
    """What was not understood of the file, where a symbol may be that is not listed."""
    for warning in answer.get("warnings", []):
        print(f"[{warning.removeprefix(PROBLEM).partition(' ')[2]}]")
