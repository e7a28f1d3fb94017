"""The results of a search: findings grouped by owner, duplicates folded, cut to a budget.

    findings, best first -> groups -> near-duplicates folded -> one for each file -> a page of items
    within a budget

An item says what it is, where it is, why it was found and, if something was left out, the call that
returns the rest. Text that the reader provably has is not sent again, only referred to.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from holdfast.index.answers import CallGraphHint, Span, SymbolRef, read_call
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.generations.model import StoredChunk
from holdfast.index.search import companions
from holdfast.index.search.near_duplicates import folded
from holdfast.index.search.older_copies import superseded
from holdfast.index.search.page_levels import (
    BARE,
    BRIEF,
    FRAGMENT_CHARACTERS,
    FURTHER_NAMED,
    LEVEL_OF_PLACE,
    PART_CHARACTERS,
    POINTER,
    PREVIEW_CHARACTERS,
    PREVIEW_LINES,
    ROOMY,
    SHORT_CHARACTERS,
    UNIT_CHARACTERS,
    UNIT_LINES,
    WHOLE,
    WHOLE_CHARACTERS,
    WHOLE_FIRST_MAX,
    is_weak,
    worth_a_place,
)
from holdfast.index.search.preview import (
    CHARACTERS_MAX,
    Asked,
    Preview,
    has_head,
    matching_lines,
    part_of_code,
    preview,
    whole_code,
)
from holdfast.index.search.query_analysis import AnalyzedQuery
from holdfast.index.search.regex import LineMatch
from holdfast.index.search_answers import (
    AlikeResult,
    ChunkScore,
    FurtherPlace,
    Match,
    ResultDebug,
    SearchResult,
)

Holds = Callable[[str, int, int], bool]
"""Whether the reader provably has lines `first` to `last` of a file, by absolute path."""

Freshness = tuple[str | None, str]
"""When a file was indexed, and how old that is."""

GroupBy = Literal["symbol", "file"]
GROUPINGS: tuple[GroupBy, ...] = ("symbol", "file")
Lane = Literal["ranked", "exact", "similar"]
MATCHES_MAX = 20
LISTED_MAX = 100
"""How many matching lines of one symbol are listed."""
ALIKE_SHOWN = 5
LINE_NUMBER = 8
"""About what the number of a line and its punctuation take, in characters."""
RESERVED_FROM = 10
"""On pages of more items than this, the first ones leave room for pointers to the others."""


class Finding(NamedTuple):
    """A ranked chunk or symbol, with its score and signals."""

    root: str
    chunk: StoredChunk
    score: float
    signals: Mapping[str, float] = MappingProxyType({})
    lines: tuple[LineMatch, ...] = ()


class Group(msgspec.Struct):
    """The findings of one owner, best first, and the groups that are listed with it."""

    members: list[Finding]
    alike: list[Group] = msgspec.field(default_factory=list)
    further: list[Group] = msgspec.field(default_factory=list)
    """Other groups of the same file, best first."""

    @property
    def best(self) -> Finding:
        return self.members[0]

    @property
    def distinct_further(self) -> list[Group]:
        """The further places without overloads: each has another name than all before it."""
        found: list[Group] = []
        names = {self.best.chunk.label}
        for group in self.further:
            name = group.best.chunk.label
            if name is None or name not in names:
                names.add(name)
                found.append(group)
        return found

    @property
    def span(self) -> tuple[int, int]:
        """The lines of all members, without trailing blank lines."""
        return companions.lines_of_chunks([member.chunk for member in self.members])


def tokens(size_bytes: int) -> int:
    """An estimate: four bytes per token, rounded up."""
    return -(-size_bytes // 4)


def grouped(findings: Sequence[Finding], by: GroupBy | None) -> list[Group]:
    """Groups in the order of their best members; None keeps every chunk separate."""
    groups: dict[tuple[str, str, str], Group] = {}
    for finding in findings:
        chunk = finding.chunk
        owner = "" if by == "file" else chunk.symbol_id or f"#{chunk.start_line}"
        if by is None:
            owner = f"#{chunk.start_line}-{chunk.end_line}-{chunk.id}"
        key = (finding.root, chunk.path, owner)
        if key in groups:
            groups[key].members.append(finding)
        else:
            groups[key] = Group([finding])
    return list(groups.values())


def fold(groups: Sequence[Group], depth: int, query: str = "") -> list[Group]:
    """Groups with near-duplicates attached to the first current one of their kind.

    Only the first half of a ranking of `depth` chunks is compared: later pages are rarely
    requested. All pages of a ranking have the same depth, and so the same groups.
    """
    places = folded([group.best.chunk.text for group in groups], depth // 2)
    kinds: dict[int, list[Group]] = {}
    for group, place in zip(groups, places, strict=True):
        kinds.setdefault(place, []).append(group)
    return [_led(same, query) if len(same) > 1 else same[0] for same in kinds.values()]


def _led(same: list[Group], query: str) -> Group:
    """The first near-duplicate that is not an old copy, with the others attached."""
    old = superseded([group.best.chunk.path for group in same], query)
    leader = same[old.index(False)] if False in old else same[0]
    leader.alike += [group for group in same if group is not leader]
    return leader


class Page(msgspec.Struct, frozen=True):
    """Items, the offset of the next page, and the size in tokens."""

    items: list[SearchResult]
    end: int
    tokens: int
    shortened: int
    """How many items were shortened to fit."""


class Items:
    """Turns groups into items."""

    def __init__(
        self,
        analyzed: AnalyzedQuery | None,
        freshness: Callable[[str, str], Freshness],
        *,
        raw: bool = False,
        holds: Holds | None = None,
        several_roots: bool = False,
        debug: bool = False,
        lane: Lane = "ranked",
        listed: bool = False,
        counts_lines: bool = False,
        leads: bool = False,
        whole_first: bool = True,
        cuts_weak: bool = False,
        files: Mapping[tuple[str, str], Sequence[StoredChunk]] = MappingProxyType({}),
    ) -> None:
        """`listed` shows every matching line and no others; with `counts_lines` only what is
        printed of them counts in the budget. `leads` is about pages of more than
        WHOLE_FIRST_MAX results: whether they are as brief. `whole_first` shows the first one whole.
        `cuts_weak` ends a brief page where the results score little beside the first one.

        `files` has all chunks of the files whose companions may be shown, by root and path.
        """
        self._files = files
        self._on_page: frozenset[str | None] = frozenset()
        self._is_brief = False
        self._last: tuple[Group, int, Preview] | None = None
        self._listed, self._leads, self._whole_first = listed, leads, whole_first
        self._cuts_weak, self._counts_lines = cuts_weak, counts_lines
        self._freshness, self._raw, self._lane = freshness, raw, lane
        self._holds, self._several, self._debug = holds, several_roots, debug
        self._asked = Asked.by(analyzed)

    def page(self, groups: Sequence[Group], start: int, limit: int, budget: int) -> Page:
        """As many items from `start` on as fit; at least one, if only as a bare pointer."""
        items: list[SearchResult] = []
        used = shortened = 0
        shown = groups[start : start + limit]
        later = self._room_for_later(shown, budget)
        levels: tuple[int, ...] = LEVEL_OF_PLACE
        rest = 2
        is_brief = self._leads or len(shown) <= WHOLE_FIRST_MAX
        is_brief = is_brief and start == 0 and not (self._raw or self._listed)
        self._is_brief = is_brief
        if is_brief:
            first_level = WHOLE if self._whole_first else BRIEF
            levels, rest = (first_level, *[BRIEF] * (WHOLE_FIRST_MAX - 1)), POINTER
            if self._cuts_weak and not self._several:
                shown = shown[: worth_a_place([group.best.score for group in shown])]
        self._on_page = frozenset(group.best.chunk.symbol_id for group in shown)
        for place, group in enumerate(shown):
            first = levels[place] if place < len(levels) else rest
            if first == BRIEF and self._is_weak(group, shown[0]):
                first = POINTER
            if first == BRIEF and self._whole_first and _characters(items) < SHORT_CHARACTERS:
                first = ROOMY
            for level in range(0 if self._raw else first, BARE + (not items)):
                if level == BRIEF and self._says_name_only(group):
                    continue
                item = self.item(group, level)
                cost = self._cost(item)
                if used + cost <= budget - later[place] or level == BARE:
                    items.append(item)
                    used += cost
                    shortened += level > first and not item.in_context
                    break
            else:
                break
        return Page(items, start + len(items), used, shortened)

    def _cost(self, item: SearchResult) -> int:
        """The tokens of an item: of its printed lines, or of all its facts."""
        if not self._counts_lines:
            return tokens(len(msgspec.json.encode(item)))
        heading = len(item.file) + len(item.symbol_label or "") + LINE_NUMBER
        shown = (item.preview or "").splitlines()
        return tokens(heading + sum(len(line.encode()) + LINE_NUMBER for line in shown))

    def _room_for_later(self, groups: Sequence[Group], budget: int) -> list[int]:
        """For each item of a long page, the tokens needed for bare pointers to the later ones.

        Without this, the first items of a long page would use up the budget, and the page would
        have fewer items than requested. 0 if not even pointers fit, and on short pages.
        """
        if len(groups) <= RESERVED_FROM:
            return [0] * len(groups)
        least = [self._cost(self.item(group, BARE)) for group in groups]
        total = sum(least)
        if total > budget:
            return [0] * len(groups)
        return [total := total - cost for cost in least]

    def item(self, group: Group, level: int = 0) -> SearchResult:
        """One item; higher levels are shorter, and the last two are only pointers."""
        best = group.best
        chunk = best.chunk
        span = group.span
        first, last = span if not self._raw else (chunk.start_line, chunk.end_line)
        path = os.path.join(best.root, chunk.path)
        item = self._head(group, first, last)
        if self._holds is not None and self._holds(path, *span):
            item = replace(item, in_context=True)
        elif level >= POINTER:
            item = replace(item, next=read_call(path, first, last))
        else:
            item = self._with_text(item, group, level, path, span)
        lines = [line for member in group.members for line in member.lines]
        item = replace(
            item,
            match_count=len(lines) or None,
            alike_count=len(group.alike) or None,
            further_count=len(group.further) or None,
            debug=self._explained(group) if self._debug else None,
        )
        if level == BARE:
            return item
        linked = self._companions(group, item) if level == WHOLE else ()
        further = tuple(place for place in linked if place.preview is not None)
        called = tuple(place for place in linked if place.preview is None)
        shown = {place.symbol_id for place in further}
        named = [g for g in _named_first(group) if g.best.chunk.symbol_id not in shown]
        named_copies = 0 if self._is_brief and level >= BRIEF else ALIKE_SHOWN
        names_max = FURTHER_NAMED[max(0, min(level, POINTER - 1))]
        return replace(
            item,
            matches=tuple(Match(m.line, m.start + 1, m.end + 1) for m in lines[:MATCHES_MAX]),
            alike=tuple(self._place(other) for other in group.alike[:named_copies]),
            further_count=len(named) + len(linked) or None,
            further=(
                *further,
                *(
                    FurtherPlace(Span(*g.span), g.best.chunk.symbol_id, g.best.chunk.label)
                    for g in named[:names_max]
                ),
                *called,
            ),
        )

    def _companions(self, group: Group, item: SearchResult) -> tuple[FurtherPlace, ...]:
        """Places of the file that belong to its best result, with their code."""
        best = group.best
        file = self._files.get((best.root, best.chunk.path), ())
        room = companions.CHARACTERS_MAX - len(item.preview or "")
        ranked: dict[str, int] = {}
        for place, other in enumerate(group.further):
            if other.best.chunk.symbol_id is not None:
                ranked.setdefault(other.best.chunk.symbol_id, place)
        # What is a result itself is not shown twice.
        file = [chunk for chunk in file if chunk.symbol_id not in self._on_page]
        found = companions.companions(
            [member.chunk for member in group.members], file, ranked, self._asked, room
        )
        return tuple(
            FurtherPlace(
                Span(*one.span),
                one.symbol_id,
                one.label,
                None if one.shown is None else one.shown.text,
                None if one.shown is None else tuple(Span(a, b) for a, b in one.shown.spans),
            )
            for one in found
        )

    def _head(self, group: Group, first: int, last: int) -> SearchResult:
        best = group.best
        chunk = best.chunk
        indexed_at, staleness = self._freshness(best.root, chunk.path)
        item = SearchResult(
            kind="chunk" if self._raw else "group",
            file=chunk.path,
            span=Span(first, last),
            language=chunk.language,
            symbol_id=chunk.symbol_id,
            symbol_label=chunk.label,
            score=round(best.score, 6),
            indexed_at=indexed_at,
            staleness_bucket=staleness,
            codebase_path=best.root if self._several else None,
        )
        if self._raw:
            return item
        return replace(
            item,
            group_id=chunk.symbol_id or _group_id(chunk, first, last),
            symbol_kind=chunk.kind,
            collapsed_chunk_count=len(group.members),
            call_graph_hint=_call_graph_hint(chunk),
        )

    def _with_text(
        self, item: SearchResult, group: Group, level: int, path: str, span: tuple[int, int]
    ) -> SearchResult:
        if self._raw and level == 0:
            return replace(item, content=group.best.chunk.text)
        joined = _joined(group) if level == WHOLE or self._is_small(group, level) else None
        shown = self._preview(group, max(level, 0)) if joined is None else self._all(group, joined)
        whole = shown.whole and (joined is not None or len(group.members) == 1)
        return replace(
            item,
            content=shown.text if self._raw else None,
            preview=None if self._raw else shown.text,
            preview_spans=tuple(Span(a, b) for a, b in shown.spans),
            matched_lines=shown.matched[:MATCHES_MAX],
            next=None if whole else read_call(path, *span),
        )

    def _says_name_only(self, group: Group) -> bool:
        """Whether the best line of a result is the one with its name, which the heading has."""
        name = (group.best.chunk.label or "").rpartition(".")[2]
        shown = self._preview(group, BRIEF).lines if self._is_brief and name else ()
        return bool(shown) and shown[0][1].count(name) > 0 and not group.best.lines

    def _is_weak(self, group: Group, first: Group) -> bool:
        """Whether a result after the first one scores so little that its place is enough."""
        return not self._several and is_weak(group.best.score, first.best.score)

    def _is_small(self, group: Group, level: int) -> bool:
        """Whether a result after a short first one is shown whole."""
        text = group.best.chunk.text.strip()
        fits = len(text) <= UNIT_CHARACTERS and text.count("\n") < UNIT_LINES
        return self._is_brief and level == ROOMY and len(group.members) == 1 and fits

    def _all(self, group: Group, text: str) -> Preview:
        """A group's text without comments that do not match, or the best part of a long one."""
        known = tuple(line for member in group.members for line in member.lines)
        asked = replace(self._asked, known=known) if known else self._asked
        chunk = group.best.chunk
        shown = whole_code(text, group.span[0], asked, chunk.language)
        is_part = not has_head(text, chunk.label)
        if len(shown.text) <= (FRAGMENT_CHARACTERS if is_part else WHOLE_CHARACTERS):
            return shown
        room = FRAGMENT_CHARACTERS if is_part else PART_CHARACTERS
        return part_of_code(text, group.span[0], asked, chunk.language, chunk.label, room)

    def _preview(self, group: Group, level: int) -> Preview:
        """The lines of a group that are shown; the last one is kept, because it is asked twice."""
        if self._last is None or self._last[0] is not group or self._last[1] != level:
            self._last = group, level, self._made_preview(group, level)
        return self._last[2]

    def _made_preview(self, group: Group, level: int) -> Preview:
        best = group.best
        chunk = best.chunk
        if self._listed and best.lines:
            found = {
                number: line
                for member in group.members
                for number, line in matching_lines(
                    member.chunk.text, member.chunk.start_line, member.lines
                )
            }
            lines = tuple(sorted(found.items()))
            return Preview(lines[:LISTED_MAX], tuple(found), False)
        asked = replace(self._asked, known=best.lines) if best.lines else self._asked
        return preview(
            chunk.text,
            chunk.start_line,
            asked,
            PREVIEW_LINES[level],
            # One line is the best one; the heading has the name.
            chunk.label if PREVIEW_LINES[level] > 1 else None,
            PREVIEW_CHARACTERS[level],
        )

    def _place(self, group: Group) -> AlikeResult:
        chunk = group.best.chunk
        root = group.best.root if self._several else None
        return AlikeResult(chunk.path, Span(*group.span), chunk.label, root)

    def _explained(self, group: Group) -> ResultDebug:
        return ResultDebug(
            {name: round(value, 4) for name, value in group.best.signals.items()},
            self._lane,
            tuple(
                ChunkScore(Span(m.chunk.start_line, m.chunk.end_line), round(m.score, 6))
                for m in group.members
            ),
            len(group.alike),
        )


def _characters(items: Sequence[SearchResult]) -> int:
    """How much code a page shows so far."""
    places = (place for item in items for place in item.places)
    return sum(len(place.preview or "") for place in places)


def _named_first(group: Group) -> list[Group]:
    """The further places, overloads last: one place of each name says more."""
    distinct = group.distinct_further
    return [*distinct, *(other for other in group.further if other not in distinct)]


def _joined(group: Group) -> str | None:
    """The text of a group without gaps, or None if it has gaps or more than can be shown whole."""
    chunks = sorted((member.chunk for member in group.members), key=lambda each: each.start_line)
    if any(after.start_line != before.end_line + 1 for before, after in pairwise(chunks)):
        return None
    text = "".join(chunk.text.removesuffix("\n") + "\n" for chunk in chunks)
    return text if len(text) <= CHARACTERS_MAX else None


def _call_graph_hint(chunk: StoredChunk) -> CallGraphHint:
    if chunk.symbol_id is None:
        return CallGraphHint(False, reason="missing_symbol")
    if chunk.language not in FAMILIES:
        return CallGraphHint(False, reason="unsupported_language")
    return CallGraphHint(True, SymbolRef(chunk.path, chunk.symbol_id, chunk.label))


def _group_id(chunk: StoredChunk, start: int, end: int) -> str:
    text = f"{chunk.path}:{start}-{end}".encode("utf-8", "surrogatepass")
    return "grp_" + hashlib.sha256(text).hexdigest()[:16]
