"""`holdfast locate`: how much of a snippet exists in a tree, where, and what differs first."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from holdfast.app import App
from holdfast.cli.output import ended_at_once, steps_on_terminal
from holdfast.cli.terminal import typed_in
from holdfast.errors import UsageError
from holdfast.sequence import locate
from holdfast.sequence.tokens.lexer import LexerOptions, lex
from holdfast.sequence.tokens.text import text_of
from holdfast.trees import snippet_family


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("snippet", nargs="?", help="the snippet; - or nothing reads standard input")
    parser.add_argument("--file", metavar="FILE", help="read the snippet from a file")
    parser.add_argument("--path", default=".", metavar="DIR", help="the tree to look in")
    parser.add_argument(
        "--language",
        metavar="NAME",
        help="how the snippet is written: a file suffix such as py, or a family",
    )
    parser.add_argument(
        "--copies", type=int, default=locate.COPIES, metavar="N", help="how many places to list"
    )
    parser.add_argument("--comments", action="store_true", help="comments count as tokens")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """0 when all of the snippet was found, 1 when it was not."""
    source = text_of(_snippet(args))
    if source is None:
        raise UsageError("the snippet is no text", "give one that has no NUL in it")
    options = LexerOptions(comments=args.comments)
    if args.copies < 0:
        raise UsageError(f"--copies {args.copies} names no number of places")
    with ended_at_once():
        tree = App.from_environment().open_tree(args.path, options, steps_on_terminal())
        family = snippet_family(args.language, args.file, list(tree.files))
        report = locate.locate(
            tree.segments.corpus, source, lex(source, family, options), copies=args.copies
        )
    if args.json:
        data = {"root": str(tree.root), **locate.as_data(report)}
        print(json.dumps(data | tree.notes()))
    else:
        print(locate.as_text(report, typed=typed_in(tree.root)))
        for note in tree.notes().values():
            print(note, file=sys.stderr)
    return 0 if report.answer.query_exhausted else 1


def _snippet(args: argparse.Namespace) -> bytes:
    if args.file is not None and args.snippet is not None:
        raise UsageError("a snippet and --file were both given", "give one of them")
    if args.file is not None:
        try:
            return Path(args.file).read_bytes()
        except OSError as error:
            raise UsageError(f"{args.file} cannot be read: {error.strerror}") from error
    if args.snippet is None or args.snippet == "-":
        if args.snippet is None and sys.stdin is not None and sys.stdin.isatty():
            raise UsageError("locate what?", "give a snippet, --file FILE, or - for standard input")
        return b"" if sys.stdin is None else sys.stdin.buffer.read()
    return str(args.snippet).encode("utf-8", "surrogateescape")
