"""Find the repeated blocks of a tree, and which of them are new since a git revision.

Trees, git and sequence meet here; the command, the tool and the dashboard all call `find_clones`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from holdfast.errors import UsageError
from holdfast.files.git import Repository, open_repository
from holdfast.files.regular import read_regular
from holdfast.sequence import clones
from holdfast.sequence.clones_answer import ClonesAnswer
from holdfast.sequence.corpus import TokenCorpus
from holdfast.sequence.segment_store import Progress, document_facts
from holdfast.sequence.suffix.backends import choose
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import Document, stream_of
from holdfast.sequence.tokens.lexer import LexerOptions, normalised
from holdfast.sequence.tokens.text import text_of
from holdfast.trees import SourceTree

FILES_PER_STEP = 50
"""How many files of a revision are read between two progress reports."""


def find_clones(
    tree: SourceTree,
    options: LexerOptions,
    progress: Progress,
    *,
    minimum: int,
    limit: int = 0,
    renamed: bool = False,
    since: str | None = None,
    overlapping: bool = False,
    every_file: bool = False,
) -> ClonesAnswer:
    """The blocks of at least `minimum` tokens; 0 as the `limit` lists all of them.

    Of code only, unless `every_file` includes data and documents too.

    With `since`, only the blocks that have more copies than at that revision.
    """
    groups: list[clones.CloneGroup] = []
    tokens = documents = repeated = folded = 0
    only = None if every_file else is_code
    with nullcontext() if since is None else open_repository(tree.root) as repository:
        commit = None if since is None else _commit_of(repository, tree.root, since)
        segment = tree.segments.compact(progress)
        if segment is not None:
            tokens, documents = _size(segment, only)
            searched = clones.renamed(segment) if renamed else segment
            groups = clones.find_groups(searched, minimum=minimum, only=only)
            if only is not None:
                every = groups
                groups = clones.code_like(every, segment)
                clones.release(every)
            if repository is not None and commit is not None:
                before = _before(repository, str(since), commit, options, renamed, progress)
                groups = clones.new_since(groups, *before)
            if searched is not segment:
                groups = clones.relocated(groups, segment)
            repeated = clones.covered(groups, len(segment.tokens))
            if not overlapping:
                found = len(groups)
                groups = clones.informative(groups, len(segment.tokens))
                folded = found - len(groups)
    total = len(groups)
    listed = tuple(groups[:limit] if limit else groups)
    clones.release(groups)
    return ClonesAnswer(
        str(tree.root),
        listed,
        total,
        tokens,
        documents,
        tree.not_searched(),
        repeated,
        folded,
        _first_lines(tree.root, listed),
    )


def is_code(path: str) -> bool:
    """Whether a file has code, by its path: not data, documents, settings or generated text."""
    from holdfast.index.facts.languages import DOCUMENTS, NAMES, PARSED
    from holdfast.index.search.roles import role_of
    from holdfast.index.search.scopes import in_scope

    name = path.rpartition("/")[2]
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    if name in NAMES:
        return NAMES[name] in PARSED.values()
    if suffix in DOCUMENTS or suffix in DATA or not in_scope(path, "runtime"):
        return False
    if suffix in PARSED:
        return role_of(path) not in ("generated", "data")
    return role_of(path) not in ("generated", "data", "document", "build")


DATA = frozenset(
    {".csv", ".tsv", ".svg", ".xml", ".po", ".pot", ".lock", ".snap", ".geojson", ".log", ".sum"}
)
"""Endings of files that hold data, in addition to the formats that the index knows as documents."""


def _size(segment: TokenSegment, only: Callable[[str], bool] | None) -> tuple[int, int]:
    """How many tokens and documents are compared."""
    if only is None:
        return len(segment), len(segment.documents)
    numbers = [n for n, document in enumerate(segment.documents) if only(document.path)]
    firsts = segment.firsts
    return sum(int(firsts[n + 1]) - int(firsts[n]) - 1 for n in numbers), len(numbers)


LINE_SHOWN = 100
FIRST_LINES_MAX = 200
"""More groups than this are for programs, which have the places."""


def _first_lines(root: Path, groups: Sequence[clones.CloneGroup]) -> tuple[str, ...]:
    """The first line of each group, from its file; empty where the file cannot be read."""
    lines = []
    for group in groups[:FIRST_LINES_MAX]:
        at = group.occurrences[0].first
        try:
            data = read_regular(os.path.join(root, at.path), FILE_BYTES_MAX)
        except OSError:
            data = None
        rows = [] if data is None else data.split(b"\n", at.line)
        text = rows[at.line - 1].decode("utf-8", "replace") if len(rows) >= at.line else ""
        text = "".join(c if c.isprintable() else " " for c in text).strip()
        lines.append(text if len(text) <= LINE_SHOWN else text[: LINE_SHOWN - 1] + "…")
    return tuple(lines)


FILE_BYTES_MAX = 16 << 20


def _commit_of(repository: Repository | None, root: Path, revision: str) -> str:
    """The commit that a revision refers to."""
    commit = None if repository is None else repository.commit(revision)
    if commit is None:
        raise UsageError(
            f"{revision!r} is not a revision of a git repository at {root}",
            "use a commit, a branch or a tag",
        )
    return commit


def _before(
    repository: Repository,
    revision: str,
    commit: str,
    options: LexerOptions,
    renamed: bool,
    progress: Progress,
) -> tuple[Callable[[str], bool], Callable[[Sequence[bytes]], int]]:
    """Whether a file changed since a commit, and how often a block occurred in those files then."""
    changes = repository.changes_since(commit)
    if changes is None:
        raise UsageError(
            f"git cannot list the changes since {revision} at {repository.directory}",
            "run git status to see why, or leave out --since",
        )
    documents = []
    for number, path in enumerate(sorted(changes.differing)):
        if number % FILES_PER_STEP == 0:
            progress("reading the revision", number, len(changes.differing))
        data = repository.blob(commit, repository.prefix + path)
        text = None if data is None else text_of(data)
        if text is not None:
            documents.append(Document(document_facts(path, len(text), 0, text), text))
    progress("reading the revision", len(changes.differing), len(changes.differing))
    backend = choose(sum(len(document.data) for document in documents) // 4)
    segment = build(stream_of(documents, options, backend), backend)
    if renamed:
        segment = clones.renamed(segment, backend)
    before = TokenCorpus([LiveSegment(segment)])

    def count(block: Sequence[bytes]) -> int:
        found = before.find([normalised(text) if renamed else text for text in block])
        if not found.query_exhausted:
            return 0
        # Places of a group do not overlap, so overlapping ones are left out here too.
        places = sorted(place.position for place in found.occurrences())
        return len(clones.without_overlaps(places, len(block)))

    return changes.__contains__, count
