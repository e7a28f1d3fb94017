"""Search one root: its findings in order, from the lanes that the query needs.

Words are ranked by `find`. Operators that say exactly what to find (`re:`, `must:`, `sym:`) are
answered by the exact lane, which returns every match; words next to them only set the order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Reader, StoredChunk
from holdfast.index.search.filters import language_fits
from holdfast.index.search.match_strength import WEAK
from holdfast.index.search.operators import Query
from holdfast.index.search.ranking import Found, Hit, find
from holdfast.index.search.results import Finding
from holdfast.index.search.roles import Role, role_of

if TYPE_CHECKING:
    from holdfast.index.search.exact import ExactFound, ExactHit
    from holdfast.index.search.query_analysis import AnalyzedQuery
    from holdfast.index.search.regex import LineMatch
    from holdfast.index.search.similar import Sample

RANKED_FOR_EXACT = 200
GROWTHS = 2
"""How often more hits are requested when filters leave too few."""

_ROLES: dict[Role, int] = {"source": 0, "barrel": 1, "declaration": 1, "build": 2, "legacy": 2}
_NOISE = 3


class Retrieved(msgspec.Struct):
    """The findings of one root."""

    findings: list[Finding]
    analyzed: AnalyzedQuery | None = None
    failures: list[str] = msgspec.field(default_factory=list)
    candidates: int = 0
    exact: ExactFound | None = None
    removed: dict[str, int] = msgspec.field(default_factory=dict)
    """How many chunks each filter removed after ranking."""
    more: bool = False
    """Whether there may be further findings."""
    file: list[StoredChunk] = msgspec.field(default_factory=list)
    """All chunks of the best finding's file, if they were asked for."""
    strength: float = 1.0
    """How well the best findings match, from 0 to 1; exact and similar findings always match."""

    @property
    def weak(self) -> bool:
        """Whether nothing matches well; the findings are only the nearest ones."""
        return self.strength < WEAK

    @property
    def chance(self) -> list[object]:
        """Values that the order depended on and that may differ next time.

        A lane may fail, and a pattern that timed out may get further next time.
        """
        if self.exact is None or self.exact.complete:
            return [len(self.failures)] if self.failures else []
        hits = [
            (hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in self.exact.hits
        ]
        return [len(self.failures), hits]

    @property
    def paths(self) -> set[str]:
        return {finding.chunk.path for finding in self.findings}


def retrieve(
    query: Query,
    root: str,
    reader: Reader,
    fresh_files: FreshFiles,
    provider: EmbeddingProvider,
    keep: Callable[[str], bool],
    depth: int,
    sample: Sample | None = None,
    edited: frozenset[str] = frozenset(),
) -> Retrieved:
    """The findings of a root: by text, by exact operators, or by similarity to a sample.

    `edited` names the files that are being edited.
    """
    if sample is not None:
        return _similar(query, sample, root, reader, fresh_files, provider, keep, depth)
    if query.exact:
        return _exact(query, root, reader, fresh_files, provider, keep, edited)
    wanted = depth
    found = find(query.text, reader, fresh_files, provider, wanted, keep, changed=edited)
    kept, removed = _filtered(query, found)
    for _ in range(GROWTHS):
        if len(kept) >= depth or len(found.hits) < wanted:
            break
        wanted *= 3
        found = find(query.text, reader, fresh_files, provider, wanted, keep, changed=edited)
        kept, removed = _filtered(query, found)
    findings = [Finding(root, hit.chunk, hit.score, hit.signals) for hit in kept[:depth]]
    return Retrieved(
        findings,
        found.analyzed,
        found.failures,
        found.candidates,
        removed=removed,
        more=len(found.hits) >= wanted or len(kept) > depth,
        strength=found.strength,
    )


def _filtered(query: Query, lanes: Found) -> tuple[list[Hit], dict[str, int]]:
    spoken = [hit for hit in lanes.hits if language_fits(query.langs, hit.chunk.language)]
    kept = spoken
    if query.exclude:
        from holdfast.index.search.exact import passes

        kept = [hit for hit in spoken if passes(query, hit.chunk)]
    removed = {"language": len(lanes.hits) - len(spoken), "exclude": len(spoken) - len(kept)}
    return kept, removed


def _exact(
    query: Query,
    root: str,
    reader: Reader,
    fresh_files: FreshFiles,
    provider: EmbeddingProvider,
    keep: Callable[[str], bool],
    edited: frozenset[str],
) -> Retrieved:
    from holdfast.index.search.exact import find_exact

    exact = find_exact(query, root, reader, fresh_files, keep)
    hits = [hit for hit in exact.hits if language_fits(query.langs, hit.chunk.language)]
    removed = {"language": len(exact.hits) - len(hits)}
    if not query.text:
        hits.sort(key=_plain_order)
        findings = [Finding(root, hit.chunk, 1.0, {}, hit.lines) for hit in hits]
        return Retrieved(findings, exact=exact, removed=removed)
    found = find(query.text, reader, fresh_files, provider, RANKED_FOR_EXACT, keep, changed=edited)
    places: dict[str, list[tuple[StoredChunk, int]]] = {}
    for place, ranked in enumerate(found.hits):
        places.setdefault(ranked.chunk.path, []).append((ranked.chunk, place))
    first: list[tuple[int, Finding]] = []
    rest: list[ExactHit] = []
    for hit in hits:
        place = min(
            (p for chunk, p in places.get(hit.chunk.path, ()) if _meet(chunk, hit)), default=-1
        )
        if place < 0:
            rest.append(hit)
            continue
        ranked = found.hits[place]
        first.append((place, Finding(root, hit.chunk, ranked.score, ranked.signals, hit.lines)))
    first.sort(key=lambda pair: (pair[0], pair[1].chunk.start_line))
    rest.sort(key=_plain_order)
    findings = [finding for _, finding in first]
    findings += [Finding(root, hit.chunk, 0.0, {}, hit.lines) for hit in rest]
    return Retrieved(
        findings, found.analyzed, found.failures, found.candidates, exact=exact, removed=removed
    )


def _similar(
    query: Query,
    sample: Sample,
    root: str,
    reader: Reader,
    fresh_files: FreshFiles,
    provider: EmbeddingProvider,
    keep: Callable[[str], bool],
    depth: int,
) -> Retrieved:
    """Chunks similar to the sample, narrowed by operators."""
    from holdfast.index.search.exact import find_exact, passes
    from holdfast.index.search.similar import find_similar

    found = find_similar(sample, root, reader, fresh_files, provider, keep, depth)
    kept = [
        finding
        for finding in found.findings
        if language_fits(query.langs, finding.chunk.language) and passes(query, finding.chunk)
    ]
    exact = None
    if query.exact:
        exact = find_exact(query, root, reader, fresh_files, keep)
        places: dict[str, list[ExactHit]] = {}
        for hit in exact.hits:
            places.setdefault(hit.chunk.path, []).append(hit)
        met = [[h for h in places.get(f.chunk.path, ()) if _meet(f.chunk, h)] for f in kept]
        kept = [
            finding._replace(lines=_lines_within(finding.chunk, hits))
            for finding, hits in zip(kept, met, strict=True)
            if hits or not (query.patterns or query.symbols)
        ]
    removed = {"filters": len(found.findings) - len(kept)}
    return Retrieved(kept, None, found.failures, found.candidates, exact, removed, more=found.more)


def _lines_within(chunk: StoredChunk, hits: list[ExactHit]) -> tuple[LineMatch, ...]:
    """The matching lines of some hits that are in a chunk, each once."""
    lines = {line.line: line for hit in reversed(hits) for line in hit.lines}
    return tuple(
        line for number, line in sorted(lines.items())
        if chunk.start_line <= number <= chunk.end_line
    )  # fmt: skip


def _meet(chunk: StoredChunk, hit: ExactHit) -> bool:
    return chunk.start_line <= hit.chunk.end_line and hit.chunk.start_line <= chunk.end_line


def _plain_order(hit: ExactHit) -> tuple[int, bool, str, int]:
    """Sort production code before tests and copies, and definitions before uses."""
    chunk = hit.chunk
    name = (chunk.label or "").rsplit(".", 1)[-1]
    lines = chunk.text.split("\n")
    defines = bool(name) and any(
        name in lines[at.line - chunk.start_line][at.start : at.end]
        for at in hit.lines[:3]
        if at.line - chunk.start_line < len(lines)
    )
    role = _ROLES.get(role_of(chunk.path), _NOISE)
    return role, not defines, chunk.path, chunk.start_line
