"""What stands in a tree more than once, and what of it is new since a revision.

Where trees, git and sequence meet: the command and the tool ask the same question here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import UsageError
from holdfast.files.git import Repository, open_repository
from holdfast.sequence import clones
from holdfast.sequence.corpus import Corpus
from holdfast.sequence.segment_store import Progress, document_facts
from holdfast.sequence.suffix.backends import choose
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import build
from holdfast.sequence.suffix.stream import Document, stream_of
from holdfast.sequence.tokens.lexer import LexerOptions, normalised
from holdfast.sequence.tokens.text import text_of
from holdfast.trees import Tree

AT_ONCE = 50
"""How many files of a revision are read between two signs of life."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """The groups of equal blocks, largest first, and how much was looked at."""

    groups: list[clones.Group]
    tokens: int
    documents: int


def repeats(
    tree: Tree,
    options: LexerOptions,
    progress: Progress,
    *,
    minimum: int,
    renamed: bool = False,
    since: str | None = None,
    overlapping: bool = False,
) -> Repeats:
    """The blocks of `minimum` tokens and more; `since` a revision only those with more copies."""
    with nullcontext() if since is None else open_repository(tree.root) as repository:
        commit = None if since is None else _at(repository, tree.root, since)
        segment = tree.segments.compact(progress)
        if segment is None:
            return Repeats([], 0, 0)
        searched = clones.renamed(segment) if renamed else segment
        groups = clones.find_groups(searched, minimum=minimum)
        if repository is not None and commit is not None:
            before = _before(repository, str(since), commit, options, renamed, progress)
            groups = clones.new_since(groups, *before)
    groups = clones.relocated(groups, segment)
    if not overlapping:
        groups = clones.informative(groups, len(segment.tokens))
    return Repeats(groups, len(segment), len(segment.documents))


def _at(repository: Repository | None, root: Path, revision: str) -> str:
    """The commit that a revision names."""
    commit = None if repository is None else repository.commit(revision)
    if commit is None:
        raise UsageError(
            f"{revision!r} is not a revision of a git repository at {root}",
            "name a commit, a branch or a tag",
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
    """Which files changed since a commit, and how often a block stood in them then."""
    changed = repository.changed_since(commit)
    if changed is None:
        raise UsageError(
            f"git cannot list the changes since {revision} at {repository.directory}",
            "run git status to see why, or leave out --since",
        )
    documents = []
    for number, path in enumerate(sorted(changed)):
        if number % AT_ONCE == 0:
            progress("reading the revision", number, len(changed))
        data = repository.blob(commit, repository.prefix + path)
        text = None if data is None else text_of(data)
        if text is not None:
            documents.append(Document(document_facts(path, len(text), 0, text), text))
    progress("reading the revision", len(changed), len(changed))
    backend = choose(sum(len(document.data) for document in documents) // 4)
    segment = build(stream_of(documents, options, backend), backend)
    if renamed:
        segment = clones.renamed(segment, backend)
    before = Corpus([LiveSegment(segment)])

    def count(block: Sequence[bytes]) -> int:
        found = before.find([normalised(text) if renamed else text for text in block])
        if not found.query_exhausted:
            return 0
        # Places of a group do not overlap, so these may not either.
        places = sorted(place.position for place in found.occurrences())
        return len(clones.without_overlaps(places, len(block)))

    return changed.__contains__, count
