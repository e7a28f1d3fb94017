"""Find the repeated blocks of a tree, and which of them are new since a git revision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from holdfast.errors import UsageError
from holdfast.files.git import Repository, open_repository
from holdfast.repeats.kept import with_first_lines
from holdfast.sequence import clones
from holdfast.sequence.clones_request import ClonesRequest
from holdfast.sequence.corpus import TokenCorpus
from holdfast.sequence.report import CLONES_VERSION, ClonesReport, ClonesSummary, GroupReport
from holdfast.sequence.segment_store import Progress, document_facts
from holdfast.sequence.suffix.backends import choose
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import Document, stream_of
from holdfast.sequence.tokens.lexer import normalised
from holdfast.sequence.tokens.text import text_of
from holdfast.trees import SourceTree

FILES_PER_STEP = 50
"""How many files of a revision are read between two progress reports."""


def find_clones(tree: SourceTree, request: ClonesRequest, progress: Progress) -> ClonesReport:
    """The repeated blocks of a tree: of code only, unless the request includes every file."""
    groups: list[clones.CloneGroup] = []
    tokens = documents = repeated = folded = 0
    only = None if request.every_file else is_code
    since = request.since
    with nullcontext() if since is None else open_repository(tree.root) as repository:
        commit = None if since is None else _commit_of(repository, tree.root, since)
        segment = tree.segments.compact(progress)
        if segment is not None:
            tokens, documents = _size(segment, only)
            searched = clones.renamed(segment) if request.renamed else segment
            groups = clones.find_groups(searched, minimum=request.minimum, only=only)
            if only is not None:
                every = groups
                groups = clones.code_like(every, segment)
                clones.release(every)
            if repository is not None and commit is not None:
                before = _before(repository, str(since), commit, request, progress)
                groups = clones.new_since(groups, *before)
            if searched is not segment:
                groups = clones.relocated(groups, segment)
            repeated = clones.covered(groups, len(segment.tokens))
            if not request.overlapping:
                found = len(groups)
                groups = clones.informative(groups, len(segment.tokens))
                folded = found - len(groups)
    total = len(groups)
    listed = groups[: request.limit] if request.limit else groups
    shown = 0 if segment is None else clones.covered(listed, len(segment.tokens))
    reports = tuple([_report(group) for group in listed])
    summary = ClonesSummary(
        documents, tokens, total, len(reports), shown, max(repeated, shown), folded
    )
    clones.release(groups)
    return ClonesReport(
        root=str(tree.root),
        format=CLONES_VERSION,
        summary=summary,
        groups=with_first_lines(tree.root, reports),
        not_searched=tree.not_searched(),
    )


def _report(group: clones.CloneGroup) -> GroupReport:
    # Sorted: the order of documents in a segment depends on when they were added.
    spans = [place.span() for place in group.occurrences]
    places = tuple(sorted(spans, key=lambda span: (span.path, span.line, span.column)))
    return GroupReport(
        group.length, len(places), group.duplicated, group.periodic, places, group.saved
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
    segment = build(stream_of(documents, request.options, backend), backend)
    if request.renamed:
        segment = clones.renamed(segment, backend)
    before = TokenCorpus([LiveSegment(segment)])

    def count(block: Sequence[bytes]) -> int:
        found = before.find([normalised(text) if request.renamed else text for text in block])
        if not found.query_exhausted:
            return 0
        # Places of a group do not overlap, so overlapping ones are left out here too.
        places = sorted(place.position for place in found.occurrences())
        return len(clones.without_overlaps(places, len(block)))

    return changes.__contains__, count
