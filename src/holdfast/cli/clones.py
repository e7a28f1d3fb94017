"""`holdfast clones`: the largest repeated blocks of a tree."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence

from holdfast import __version__
from holdfast.app import App
from holdfast.cli.output import steps_on_terminal
from holdfast.errors import UsageError
from holdfast.files.git import git
from holdfast.sequence import clones, report
from holdfast.sequence.corpus import Corpus
from holdfast.sequence.shelf import facts_of
from holdfast.sequence.suffix.backends import choose
from holdfast.sequence.suffix.query import Live
from holdfast.sequence.suffix.segment import build
from holdfast.sequence.suffix.stream import Document, stream_of
from holdfast.sequence.tokens.lexer import Reading, normalised
from holdfast.sequence.tokens.text import text_of
from holdfast.trees import Tree


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
    reading = Reading(comments=args.comments)
    tree = App.from_environment().open_tree(args.path, reading, progress)
    segment = tree.shelf.compact(progress)
    groups: list[clones.Group] = []
    tokens = documents = 0
    if segment is not None:
        tokens, documents = len(segment), len(segment.documents)
        searched = clones.renamed(segment) if args.renamed else segment
        groups = clones.find_groups(searched, minimum=args.min_tokens)
        if args.since is not None:
            groups = clones.new_since(groups, *_before(tree, args.since, reading, args.renamed))
        groups = clones.relocated(groups, segment)
        if not args.all:
            groups = clones.telling(groups, len(segment.tokens))
    total = len(groups)
    if args.limit:
        groups = groups[: args.limit]
    if args.sarif:
        print(json.dumps(report.as_sarif(groups, __version__)))
    elif args.json:
        print(json.dumps(report.as_data(groups, tokens, documents, total) | _notes(tree)))
    else:
        print(report.as_text(groups, tokens, documents, total))
        for note in _notes(tree).values():
            print(note, file=sys.stderr)
    return 0


def _notes(tree: Tree) -> dict[str, str]:
    note = tree.not_searched()
    return {"notSearched": note} if note else {}


def _before(
    tree: Tree, revision: str, reading: Reading, renamed: bool
) -> tuple[Callable[[str], bool], Callable[[Sequence[bytes]], int]]:
    """Which files changed since a revision, and how often a block stood in them then."""
    if revision.startswith("-"):
        raise UsageError(f"{revision!r} is no revision")
    prefix = git(tree.root, "rev-parse", "--show-prefix")
    commit = git(tree.root, "rev-parse", "--verify", "--quiet", revision + "^{commit}")
    if prefix is None or commit is None:
        raise UsageError(
            f"{revision!r} is no revision of a git repository at {tree.root}",
            "name a commit, a branch or a tag",
        )
    listed = git(
        tree.root, "diff", "--name-only", "--no-renames", "--relative", "-z", revision, "--", "."
    )
    changed = {os.fsdecode(path) for path in (listed or b"").split(b"\0") if path}
    others = git(tree.root, "ls-files", "-z", "--others", "--exclude-standard")
    changed |= {os.fsdecode(path) for path in (others or b"").split(b"\0") if path}
    base = os.fsdecode(prefix.rstrip(b"\n"))
    documents = []
    for path in sorted(changed):
        data = git(tree.root, "cat-file", "blob", f"{commit.decode().strip()}:{base}{path}")
        text = None if data is None else text_of(data)
        if text is not None:
            documents.append(Document(facts_of(path, len(text), 0, text), text))
    size = sum(len(document.data) for document in documents)
    backend = choose(size // 4)
    segment = build(stream_of(documents, reading, backend), backend)
    if renamed:
        segment = clones.renamed(segment, backend)
    before = Corpus([Live(segment)])

    def count(block: Sequence[bytes]) -> int:
        return before.count([normalised(text) if renamed else text for text in block])

    return changed.__contains__, count
