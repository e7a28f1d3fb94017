"""`holdfast search`: ranked code from an indexed tree."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any

from holdfast.app import App
from holdfast.cli.envelopes import as_typed, exit_code, spoken
from holdfast.cli.output import print_json
from holdfast.index.search.scopes import SCOPES
from holdfast.index.tools.search import LIMIT_DEFAULT, search_code

LINES_SHOWN = 8


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="a name, a phrase or a behaviour")
    parser.add_argument("--path", default=".", help="the tree, or a directory in it")
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="runtime",
        help="code (default), code and documents, or only documents",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=LIMIT_DEFAULT,
        metavar="N",
        help=f"at most so many results (default: {LIMIT_DEFAULT})",
    )
    parser.add_argument("--raw", action="store_true", help="chunks instead of symbols")
    parser.add_argument(
        "--by",
        choices=("symbol", "file"),
        default="symbol",
        dest="group_by",
        help="one result for each symbol (default) or file",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace) -> int:
    index = App.from_environment().open_index()
    try:
        answer: Any = search_code(
            index,
            args.path,
            " ".join(args.query),
            scope=args.scope,
            result_mode="raw" if args.raw else "grouped",
            group_by=args.group_by,
            limit=args.limit,
        )
    finally:
        index.close()
    if args.json:
        print_json(answer)
    elif answer["status"] != "ok" and not os.path.exists(answer["path"]):
        print(f"'{answer['path']}' does not exist.")
    elif answer["status"] != "ok":
        print(spoken(answer["message"]))
    else:
        _print(answer)
    return exit_code(answer)


def _print(answer: Any) -> None:
    for result in answer["results"]:
        span = result["span"]
        label = result["symbolLabel"] or ""
        print(f"{result['file']}:{span['startLine']}-{span['endLine']}  {label}")
        text = (result.get("preview") or result.get("content") or "").rstrip().splitlines()
        for line in text[:LINES_SHOWN]:
            print(f"    {line}")
        if len(text) > LINES_SHOWN:
            lines = (
                f"{as_typed(result['file'], answer['path'])}:{span['startLine']}-{span['endLine']}"
            )
            more = f"holdfast read {shlex.quote(lines)}"
            print(f"    [{len(text) - LINES_SHOWN} more lines: {more}]")
        print()
    if not answer["results"]:
        print("Nothing found.")
    decision = answer["freshnessDecision"]
    if "stats" in decision:
        stats = decision["stats"]
        print(
            f"[{stats['added']} new, {stats['modified']} changed, {stats['removed']} removed files "
            f"since the index was made were taken as they are now]"
        )
    for warning in answer.get("warnings", []):
        print(f"[{warning}]")
