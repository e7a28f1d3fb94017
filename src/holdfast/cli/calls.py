"""`holdfast calls`: what a symbol calls, and what calls it."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any

from holdfast.app import App
from holdfast.cli.envelopes import as_typed, exit_code, no_file, spoken
from holdfast.cli.named import named_symbol
from holdfast.cli.output import print_json
from holdfast.index.tools.calls import LIMIT_DEFAULT, call_graph, leading_out

SAID = {
    "CALL_GRAPH_EDGES_TRUNCATED": "more calls than {0[limit]}: --limit N shows more",
    "CALL_GRAPH_NOTES_TRUNCATED": "not every call that leads out of the tree is listed",
}
"""Warnings of the tool, for a person."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", help="the file the symbol is in (default: where its name is found)"
    )
    parser.add_argument("symbol", help="its name or qualified name; with its file, its id too")
    parser.add_argument(
        "--path", help="its tree (default: the tracked tree the file, or this directory, is in)"
    )
    parser.add_argument(
        "--direction",
        choices=("callers", "callees", "both"),
        default="both",
        help="who calls it, what it calls, or both (default)",
    )
    parser.add_argument(
        "--depth", type=int, default=1, help="how many calls away, 1 (default) to 3"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=LIMIT_DEFAULT,
        metavar="N",
        help=f"at most so many calls (default: {LIMIT_DEFAULT})",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    file = args.file if args.path or not args.file else os.path.abspath(args.file)
    whole = os.path.join(args.path or "", file or "")
    # The tool knows what to say of a file that is gone; here is only what a person typed wrong.
    if file and (os.path.isdir(whole) or not (args.json or os.path.isfile(whole))):
        raise no_file(args.file, whole, "calls", args.symbol)
    index = app.open_index()
    try:
        if file:
            tree = args.path or os.path.dirname(file)
            key = "symbolId" if args.symbol.startswith("sym_") else "symbolLabel"
            reference: Any = {"file": file, key: args.symbol}
        else:
            tree = args.path or os.getcwd()
            reference = named_symbol(index, tree, args.symbol)
        answer: Any = call_graph(
            index,
            tree,
            reference,
            direction=args.direction,
            depth=args.depth,
            limit=args.limit,
        )
    finally:
        index.close()
    if args.json:
        print_json(answer)
    elif answer["status"] != "ok":
        typed = args.file or as_typed(reference["file"], tree)
        outline = f"`holdfast outline {shlex.quote(typed)}` lists its symbols"
        said = answer["message"].replace("ask file_outline for its symbols", outline)
        print(spoken(said))
        for node in answer["nodes"]:
            at = f"{as_typed(node['file'], tree)}:{node['span']['startLine']}"
            print(f"  {node['symbolId']}  {at}")
    else:
        names = {node["symbolId"]: node["symbolLabel"] for node in answer["nodes"]}
        for edge in answer["edges"]:
            site = edge["site"]
            print(
                f"{names[edge['srcSymbolId']]} -> {names[edge['dstSymbolId']]}  "
                f"{as_typed(site['file'], tree)}:{site['startLine']}  "
                f"{edge['confidence']:.2f} {edge['reason']}"
            )
        if not answer["edges"]:
            print("No calls found.")
        if answer["totalNoteCount"]:
            print(f"[{leading_out(answer['totalNoteCount'])}]")
        for warning in answer.get("warnings", []):
            print(f"[{SAID.get(warning, warning).format(answer)}]")
    return exit_code(answer)
