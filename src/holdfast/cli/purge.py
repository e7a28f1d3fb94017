"""`holdfast purge`: remove every trace of files from the home, and prove it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from holdfast.app import App
from holdfast.cli.output import print_json
from holdfast.errors import UsageError
from holdfast.mcp.control import end_host
from holdfast.purge import purge, users_of_sessions

DESCRIPTION = """\
Removes what Holdfast keeps of a file or tree: the index of each tree that contains it, the content
cache, token segments, stored texts and our own session logs. Then searches the whole home for lines
of the file and reports whether a trace is left. Everything removed is rebuilt when it is needed.
Documents in memory are not changed. The background host is stopped first; end `holdfast serve`
yourself before."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("path", nargs="*", metavar="PATH", help="a file or a directory")
    parser.add_argument(
        "--all", action="store_true", help="remove what is kept of every file and tree"
    )
    parser.add_argument(
        "--text", action="store_true", help="also search for the lines on standard input"
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    """0 when no trace is left, 1 when one is."""
    if bool(args.path) == args.all:
        raise UsageError("purge needs a PATH or --all", "for example: holdfast purge .env")
    texts = [line for line in sys.stdin.buffer.read().splitlines() if line] if args.text else []
    if not app.home.exists():
        paths: list[Path] | None = []
    else:
        paths = None if args.all else [Path(path).absolute() for path in args.path]
    if not end_host(app):
        raise UsageError("the background host did not end", "end it, then run purge again")
    if users := users_of_sessions(app.home):
        named = " and ".join(f"process {pid}" for pid in users)
        raise UsageError(
            f"{named} would keep what is purged: the session logs are open there",
            "end it, then run purge again; `holdfast serve` is such a process",
        )
    answer = purge(app, paths, texts)
    if args.json:
        print_json(answer.to_wire())
    else:
        print(answer.to_text())
    return 1 if answer.traces else 0
