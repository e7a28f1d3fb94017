"""`holdfast clones`: the largest repeated blocks of a tree."""

from __future__ import annotations

import argparse
import json
import sys

from holdfast import __version__
from holdfast.app import App
from holdfast.cli.output import ended_at_once, steps_on_terminal
from holdfast.cli.terminal import typed_in
from holdfast.errors import UsageError
from holdfast.repeats import repeats
from holdfast.sequence import clones, report
from holdfast.sequence.tokens.lexer import LexerOptions


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", help="the tree to look in")
    parser.add_argument(
        "--min-tokens", type=int, default=clones.MINIMUM, metavar="N", help="the shortest block"
    )
    parser.add_argument(
        "--limit", type=int, default=50, metavar="N", help="list so many; 0 for all"
    )
    parser.add_argument(
        "--renamed", action="store_true", help="names and literals count as equal to each other"
    )
    parser.add_argument(
        "--since", metavar="REV", help="only blocks that have more copies than at this revision"
    )
    parser.add_argument(
        "--all", action="store_true", help="also blocks that lie in blocks listed before them"
    )
    parser.add_argument("--comments", action="store_true", help="comments count as tokens")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--sarif", action="store_true", help="print a SARIF 2.1.0 log")


def run(args: argparse.Namespace) -> int:
    if args.min_tokens < 2:
        raise UsageError(f"--min-tokens {args.min_tokens}: a block has two tokens or more")
    if args.limit < 0:
        raise UsageError(f"--limit {args.limit} names no number of blocks", "0 lists all")
    progress = steps_on_terminal()
    options = LexerOptions(comments=args.comments)
    with ended_at_once():
        tree = App.from_environment().open_tree(args.path, options, progress)
        found = repeats(
            tree,
            options,
            progress,
            minimum=args.min_tokens,
            renamed=args.renamed,
            since=args.since,
            overlapping=args.all,
        )
    groups, tokens, documents = found.groups, found.tokens, found.documents
    total = len(groups)
    if args.limit:
        groups = groups[: args.limit]
    if args.json:
        data = report.as_data(groups, tokens, documents, total)
        print(json.dumps({"root": str(tree.root), **data, **tree.notes()}))
        return 0
    if args.sarif:
        print(json.dumps(report.as_sarif(groups, __version__, str(tree.root))))
    else:
        print(report.as_text(groups, tokens, documents, total, typed=typed_in(tree.root)))
    for note in tree.notes().values():
        print(note, file=sys.stderr)
    return 0
