"""`holdfast clones`: the largest repeated blocks of a tree."""

from __future__ import annotations

import argparse
import json
import sys

from holdfast import __version__
from holdfast.app import App
from holdfast.cli.console import absolute, typed_in
from holdfast.cli.output import ended_at_once, steps_on_terminal
from holdfast.cli.user_files import add_yes, refuse_whole_homes
from holdfast.errors import UsageError
from holdfast.sequence import clones_answer
from holdfast.sequence.clones_request import MINIMUM, ClonesRequest
from holdfast.sequence.tokens.lexer import LexerOptions


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", help="the tree to search")
    parser.add_argument(
        "--min-tokens", type=int, default=MINIMUM, metavar="N", help="the shortest block"
    )
    parser.add_argument(
        "--limit", type=int, default=50, metavar="N", help="list at most N blocks; 0 lists all"
    )
    parser.add_argument(
        "--renamed", action="store_true", help="treat all names as equal, and all literals"
    )
    parser.add_argument(
        "--since", metavar="REV", help="only blocks with more copies than at this git revision"
    )
    parser.add_argument(
        "--all", action="store_true", help="include blocks that lie in blocks already listed"
    )
    parser.add_argument(
        "--every-file", action="store_true", help="also data, documents and generated files"
    )
    parser.add_argument("--comments", action="store_true", help="treat comments as tokens")
    add_yes(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--sarif", action="store_true", help="print a SARIF 2.1.0 log")


def run(args: argparse.Namespace, app: App) -> int:
    if args.min_tokens < 2:
        raise UsageError(f"--min-tokens must be at least 2 (got {args.min_tokens})")
    if args.limit < 0:
        raise UsageError(f"--limit must be at least 0 (got {args.limit})", "0 lists all blocks")
    refuse_whole_homes(app, args.path, args)
    request = ClonesRequest(
        minimum=args.min_tokens,
        limit=args.limit,
        renamed=args.renamed,
        since=args.since,
        overlapping=args.all,
        every_file=args.every_file,
        options=LexerOptions(comments=args.comments),
    )
    with ended_at_once():
        answer = app.find_clones(absolute(args.path), request, steps_on_terminal())
    if args.json:
        print(json.dumps(answer.to_wire()))
        return 0
    if args.sarif:
        print(json.dumps(clones_answer.as_sarif(answer, __version__)))
    else:
        print(clones_answer.as_text(answer, format_path=typed_in(answer.root)))
    if answer.not_searched:
        print(answer.not_searched, file=sys.stderr)
    return 0
