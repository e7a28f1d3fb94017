"""Find the repeated blocks of a tree, and which of them are new since a git revision.

Trees, git and sequence meet here; the command, the tool and the dashboard all call `find_clones`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from holdfast.errors import UsageError
from holdfast.files.git import Repository, open_repository
from holdfast.sequence import clones
from holdfast.sequence.clones_answer import ClonesAnswer
from holdfast.sequence.corpus import TokenCorpus
from holdfast.sequence.segment_store import Progress, document_facts
from holdfast.sequence.suffix.backends import choose
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import build
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
) -> ClonesAnswer:
    """The blocks of at least `minimum` tokens; 0 as the `limit` lists all of them.

    With `since`, only the blocks that have more copies than at that revision.
    """
    groups: list[clones.CloneGroup] = []
    tokens = documents = 0
    with nullcontext() if since is None else open_repository(tree.root) as repository:
        commit = None if since is None else _commit_of(repository, tree.root, since)
        segment = tree.segments.compact(progress)
        if segment is not None:
            tokens, documents = len(segment), len(segment.documents)
            searched = clones.renamed(segment) if renamed else segment
            groups = clones.find_groups(searched, minimum=minimum)
            if repository is not None and commit is not None:
                before = _before(repository, str(since), commit, options, renamed, progress)
                groups = clones.new_since(groups, *before)
            groups = clones.relocated(groups, segment)
            if not overlapping:
                groups = clones.informative(groups, len(segment.tokens))
    listed = tuple(groups[:limit] if limit else groups)
    return ClonesAnswer(str(tree.root), listed, len(groups), tokens, documents, tree.not_searched())


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
