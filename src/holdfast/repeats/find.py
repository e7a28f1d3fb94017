"""Find the repeated blocks of a tree, and which of them are new since a git revision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import UsageError
from holdfast.files.listing import TreeListing
from holdfast.files.snapshot import compressed, not_searched, stamp_of
from holdfast.index.facts.languages import DOCUMENTS, NAMES, PARSED
from holdfast.index.search.roles import Role, has_role
from holdfast.index.search.scopes import in_scope
from holdfast.repeats.answer_cache import with_first_lines
from holdfast.sequence import clones
from holdfast.sequence.clones_request import ClonesRequest
from holdfast.sequence.report import CLONES_VERSION, ClonesReport, ClonesSummary, GroupReport
from holdfast.sequence.suffix.backends import BYTES_PER_TOKEN, SuffixBackend, choose
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import Document, DocumentFacts, stream_of
from holdfast.sequence.tokens.lexer import normalised
from holdfast.tree_texts import Progress, read_texts, text_without_secrets

if TYPE_CHECKING:
    from holdfast.files.git import Repository

FILES_PER_STEP = 50
"""How many files of a revision are read between two progress reports."""


class FoundClones(NamedTuple):
    """The repeated blocks of a tree, and what the answer was made of."""

    report: ClonesReport
    files: dict[str, tuple[int, int]]
    """Every file of the tree, with its size and time stamp when it was read or else listed."""


def find_clones(
    root: Path, listing: TreeListing, request: ClonesRequest, progress: Progress
) -> FoundClones:
    """The repeated blocks of a tree: of code only, unless the request includes every file."""
    stats = listing.walk.stats
    files = {path: (stat.size_bytes, stamp_of(stat)) for path, stat in stats.items()}
    unreadable = set(listing.walk.unreadable)
    since = request.since
    with nullcontext() if since is None else _repository(root) as repository:
        commit = None if since is None else _commit_of(repository, root, since)
        documents = _documents(root, request, files, unreadable, progress)
        segment, tokens = _segment(documents, request, progress)
        searched = clones.renamed(segment) if request.renamed else segment
        groups = clones.find_groups(searched, minimum=request.minimum)
        if not request.every_file:
            every = groups
            groups = clones.code_like(every, segment)
            clones.release(every)
        if repository is not None and commit is not None:
            before = _before(repository, str(since), commit, request, progress)
            groups = clones.new_since(groups, *before)
        if searched is not segment:
            groups = clones.relocated(groups, segment)
    size = len(segment.tokens)
    repeated = clones.covered(groups, size)
    folded = 0
    if not request.overlapping:
        group_count = len(groups)
        groups = clones.informative(groups, size)
        folded = group_count - len(groups)
    listed = groups[: request.limit] if request.limit else groups
    covered = clones.covered(listed, size)
    reports = tuple([_report(group) for group in listed])
    summary = ClonesSummary(
        len(documents), tokens, len(groups), len(reports), covered, max(repeated, covered), folded
    )
    clones.release(groups)
    skipped = listing.walk.skipped
    report = ClonesReport(
        root=str(root),
        format=CLONES_VERSION,
        summary=summary,
        groups=with_first_lines(root, reports),
        not_searched=not_searched(compressed(unreadable), skipped["large"], skipped["unnameable"]),
    )
    return FoundClones(report, files)


def _documents(
    root: Path,
    request: ClonesRequest,
    files: dict[str, tuple[int, int]],
    unreadable: set[str],
    progress: Progress,
) -> list[Document]:
    """The documents to compare; updates `files` with what was read."""
    paths = [path for path in sorted(files) if request.every_file or is_code(path)]
    gone: list[str] = []
    documents = []
    for path, stat, text in read_texts(root, paths, gone, unreadable, progress):
        files[path] = (stat.size_bytes, stamp_of(stat))
        documents.append(Document(DocumentFacts(path, *files[path], ""), text or b""))
    for path in gone:
        del files[path]
    return documents


def _segment(
    documents: list[Document], request: ClonesRequest, progress: Progress
) -> tuple[TokenSegment, int]:
    """A segment with all repeated blocks of the documents, and how many tokens these have.

    A small tree is sorted as a whole, which avoids an import; of a large tree only the part that
    can repeat is sorted.
    """
    count = len(documents)

    def done(number: int) -> None:
        progress("reading tokens", number, count)

    done(0)
    estimate = sum(len(document.data) for document in documents) // BYTES_PER_TOKEN
    if choose(estimate) is SuffixBackend.PURE:
        stream = stream_of(documents, request.options, progress=done)
        tokens = len(stream.tokens) - count
    else:
        from holdfast.sequence.repeat_candidates import repeating_part

        stream, tokens = repeating_part(
            documents, request.options, request.minimum, renamed=request.renamed, progress=done
        )
    done(count)
    size = len(stream.tokens)
    progress("sorting suffixes", 0, size)
    segment = build(stream, choose(size))
    progress("sorting suffixes", size, size)
    return segment, tokens


def _report(group: clones.CloneGroup) -> GroupReport:
    # Sorted: the order of documents in a segment depends on when they were added.
    spans = [place.span() for place in group.occurrences]
    places = tuple(sorted(spans, key=lambda span: (span.path, span.line, span.column)))
    return GroupReport(
        group.length, len(places), group.duplicated, group.periodic, places, group.saved
    )


def is_code(path: str) -> bool:
    """Whether a file has code, by its path: not data, documents, settings or generated text."""
    name = path.rpartition("/")[2]
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    if name in NAMES:
        return NAMES[name] in PARSED.values()
    if suffix in DOCUMENTS or suffix in DATA or not in_scope(path, "runtime"):
        return False
    return not has_role(path, NOT_CODE if suffix in PARSED else NOT_SOURCE)


NOT_CODE: frozenset[Role] = frozenset({"generated", "data"})
NOT_SOURCE: frozenset[Role] = NOT_CODE | {"document", "build"}
DATA = frozenset(
    {".csv", ".tsv", ".svg", ".xml", ".po", ".pot", ".lock", ".snap", ".geojson", ".log", ".sum"}
)
"""Endings of files that hold data, in addition to the formats that the index knows as documents."""


def _repository(root: Path) -> AbstractContextManager[Repository | None]:
    from holdfast.files.git import open_repository

    return open_repository(root)


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
    request: ClonesRequest,
    progress: Progress,
) -> tuple[Callable[[str], bool], Callable[[Sequence[bytes]], int]]:
    """Whether a file changed since a commit, and how often a block occurred in those files then."""
    from holdfast.sequence.corpus import TokenCorpus
    from holdfast.sequence.suffix.query import LiveSegment

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
        text = None if data is None else text_without_secrets(data)
        if text is not None:
            documents.append(Document(DocumentFacts(path, len(text), 0, ""), text))
    progress("reading the revision", len(changes.differing), len(changes.differing))
    backend = choose(sum(len(document.data) for document in documents) // BYTES_PER_TOKEN)
    segment = build(stream_of(documents, request.options, backend), backend)
    if request.renamed:
        segment = clones.renamed(segment, backend)
    before = TokenCorpus([LiveSegment(segment)])

    def count(block: Sequence[bytes]) -> int:
        match = before.find([normalised(text) if request.renamed else text for text in block])
        if not match.query_exhausted:
            return 0
        # Places of a group do not overlap, so overlapping ones are left out here too.
        places = sorted(place.position for place in match.occurrences())
        return len(clones.without_overlaps(places, len(block)))

    @cache
    def changed(path: str) -> bool:
        return path in changes and (
            path in changes.differing or not repository.within_others((path,))
        )

    return changed, count
