"""`holdfast locate`: how much of a snippet exists in a tree, where, and what differs first."""

from __future__ import annotations

import argparse
import json
import sys

from holdfast.app import App
from holdfast.cli.console import absolute, check_interrupted, stdin, typed_in
from holdfast.cli.output import ended_at_once, steps_on_terminal
from holdfast.cli.user_files import add_yes, read_user_file, refuse_whole_homes
from holdfast.errors import UsageError
from holdfast.sequence.locate import COPIES, as_text
from holdfast.sequence.tokens.lexer import LexerOptions
from holdfast.sequence.tokens.text import text_of
from holdfast.trees import locate_snippet


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("snippet", nargs="?", help="the snippet; - or nothing reads standard input")
    parser.add_argument("--file", metavar="FILE", help="read the snippet from a file")
    parser.add_argument("--path", default=".", metavar="DIR", help="the tree to search")
    parser.add_argument(
        "--language",
        metavar="NAME",
        help="the language of the snippet: a file suffix such as py, or a family",
    )
    parser.add_argument(
        "--copies", type=int, default=COPIES, metavar="N", help="list at most N places"
    )
    parser.add_argument("--comments", action="store_true", help="treat comments as tokens")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="also draw the smallest vertices of the core graph that contain the match",
    )
    add_yes(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, app: App) -> int:
    """Exit code 0 if the whole snippet was found, else 1."""
    source = text_of(_snippet(args))
    if source is None:
        raise UsageError("the snippet contains a NUL byte; expected text")
    if args.copies < 0:
        raise UsageError(f"--copies must be at least 0 (got {args.copies})")
    refuse_whole_homes(app, args.path, args)
    options = LexerOptions(comments=args.comments)
    with ended_at_once():
        tree = app.open_tree(absolute(args.path), options, steps_on_terminal())
        answer = locate_snippet(
            tree,
            source,
            options,
            language=args.language,
            file=args.file,
            copies=args.copies,
            explained=args.explain,
            check=check_interrupted,
        )
    if args.json:
        print(json.dumps(answer.to_wire()))
    else:
        print(as_text(answer, format_path=typed_in(tree.root)))
        if answer.not_searched:
            print(answer.not_searched, file=sys.stderr)
    return 0 if answer.match.query_exhausted else 1


def _snippet(args: argparse.Namespace) -> bytes:
    if args.file is not None and args.snippet is not None:
        raise UsageError("a snippet and --file were both given", "use only one of them")
    if args.file is not None:
        return read_user_file(args.file)
    if args.snippet is None or args.snippet == "-":
        stream = stdin()
        if args.snippet is None and stream is not None and stream.isatty():
            raise UsageError(
                "locate needs a snippet", "give it as an argument, with --file, or on stdin"
            )
        return b"" if stream is None else stream.buffer.read()
    return str(args.snippet).encode("utf-8", "surrogateescape")
