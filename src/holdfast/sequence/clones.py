"""Find the largest blocks of tokens that occur more than once.

Every position has a longest repeat: the longer of the prefixes that its suffix shares with its two
neighbours in suffix order. Those that are not part of a longer repeat are the blocks to show. Equal
blocks form a group, which lists every place of these tokens. This takes one pass over the shared
prefixes, however many shorter repeats the blocks contain.

A periodic run (a table of equal rows) overlaps with its own shifted copy. For such a run two halves
that do not overlap are reported, with every other place of the same tokens, marked as periodic.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

from holdfast.sequence.clones_request import MINIMUM
from holdfast.sequence.occurrence import Occurrence
from holdfast.sequence.suffix.backends import (
    SuffixBackend,
    choose,
    choose_to_search,
    kernels,
)
from holdfast.sequence.suffix.query import LiveSegment, interval
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import TokenStream
from holdfast.sequence.tokens.lexer import normalised

CALL_TOKENS = 8
"""About how many tokens remain at each place when its block is replaced by a call."""
NAMES_SHARE = 0.1
"""A block with fewer names than this is a table of numbers or texts, not code."""
PIECE = 4_096
"""How many groups are sorted or freed at once."""
FRESH_SHARE = 0.5
"""A block of which less than this is new overlaps with a block that is already listed."""


@dataclass(frozen=True, slots=True)
class CloneGroup:
    """A block of tokens and every place where it occurs; the places do not overlap."""

    length: int
    occurrences: tuple[Occurrence, ...]
    periodic: bool = False

    @property
    def duplicated(self) -> int:
        """How many tokens are copies of others."""
        return self.length * (len(self.occurrences) - 1)

    @property
    def saved(self) -> int:
        """About how many tokens are saved if the block is written once and called everywhere."""
        return self.duplicated - CALL_TOKENS * len(self.occurrences)


def find_groups(
    segment: TokenSegment, *, minimum: int = MINIMUM, backend: SuffixBackend | None = None
) -> list[CloneGroup]:
    """Every group of blocks of at least `minimum` tokens, those first that save the most."""
    minimum = max(2, minimum)
    backend = backend or choose_to_search(len(segment.tokens))
    groups = [
        group
        for length, positions in _blocks(segment, minimum, backend)
        for group in _groups(segment, length, positions, minimum)
    ]
    return in_order(_distinct(groups))


def in_order(groups: list[CloneGroup]) -> list[CloneGroup]:
    """The groups, those first that save the most.

    Sorted in pieces: one sort of very many would hold the interpreter's lock throughout.
    """
    if len(groups) <= PIECE:
        return sorted(groups, key=_order)
    pieces = [sorted(groups[at : at + PIECE], key=_order) for at in range(0, len(groups), PIECE)]
    return list(heapq.merge(*pieces, key=_order))


def _order(group: CloneGroup) -> tuple[int, int, int]:
    return -group.saved, -group.length, group.occurrences[0].position


def release(groups: list[CloneGroup]) -> None:
    """Empty a list in pieces: freeing very many objects at once holds the interpreter's lock."""
    while groups:
        del groups[-PIECE:]


def _blocks(
    segment: TokenSegment, minimum: int, backend: SuffixBackend
) -> Iterator[tuple[int, Sequence[int]]]:
    """Each maximal repeat that is somewhere not part of a longer one, with all its positions."""
    if backend is SuffixBackend.PURE:
        yield from _blocks_pure(segment, minimum)
    else:
        yield from _blocks_numpy(segment, minimum, backend)


def _blocks_pure(segment: TokenSegment, minimum: int) -> Iterator[tuple[int, Sequence[int]]]:
    suffixes, shared, changes = segment.suffixes, segment.shared_prefixes(), segment.changes
    count = len(suffixes)
    longest = [0] * (len(segment.tokens) + 1)
    for rank in range(count):
        following = shared[rank + 1] if rank + 1 < count else 0
        longest[suffixes[rank]] = max(shared[rank], following)
    for length, first, end in kernels(SuffixBackend.PURE).maximal_repeats(shared, changes, minimum):
        positions = suffixes[first:end]
        if any(
            longest[at] == length and (at == 0 or longest[at - 1] <= length) for at in positions
        ):
            yield length, sorted(positions)


def _blocks_numpy(
    segment: TokenSegment, minimum: int, backend: SuffixBackend
) -> Iterator[tuple[int, Sequence[int]]]:
    import numpy as np

    kernel = kernels(backend)
    shared: Any = segment.shared_prefixes()
    suffixes = np.frombuffer(segment.suffixes, np.int32)
    changes = np.frombuffer(segment.changes, np.uint8)
    if len(suffixes) == 0:
        return
    count = len(segment.tokens)
    by_rank = shared.copy()
    np.maximum(by_rank[:-1], shared[1:], out=by_rank[:-1])
    longest = np.zeros(count + 1, np.int32)
    longest[1:][suffixes] = by_rank  # shifted by one, so that position 0 has a left neighbour
    # The ranks whose longest repeat is not part of the one that begins a token earlier.
    free = (by_rank >= minimum) & (longest[suffixes] <= by_rank)
    if backend is SuffixBackend.COMPILED:
        table = kernel.repeats_table(shared, changes, minimum)
    else:
        # Not from a list, whose conversion would hold the interpreter's lock throughout.
        repeats = kernel.maximal_repeats(shared, changes, minimum)
        table = np.fromiter(chain.from_iterable(repeats), np.int32).reshape(-1, 3)
    if not len(table):
        return
    # Keep the repeats that are the longest one of a free rank.
    depths = np.where(free, by_rank, 0)
    for length, first, end in _with_free_rank(table, depths):
        yield length, np.sort(suffixes[first:end]).tolist()


def _with_free_rank(table: Any, depths: Any) -> Iterator[tuple[int, int, int]]:
    """The rows of the table that are the longest repeat of one of their ranks."""
    import numpy as np

    ranks = np.flatnonzero(depths)
    span = len(depths) + 1
    keys = np.sort(depths[ranks].astype(np.int64) * span + ranks)
    rows = table.astype(np.int64)
    at = np.searchsorted(keys, rows[:, 0] * span + rows[:, 1])
    has_free_rank = np.append(keys, np.iinfo(np.int64).max)[at] < rows[:, 0] * span + rows[:, 2]
    yield from map(tuple, table[has_free_rank].tolist())


def _groups(
    segment: TokenSegment,
    length: int,
    positions: Sequence[int],
    minimum: int,
) -> Iterator[CloneGroup]:
    """The group of places that do not overlap, and one for each run that overlaps with itself."""
    runs = list(_periodic_runs(positions, length))
    places = without_overlaps(positions, length)
    if len(places) > 1:
        yield CloneGroup(length, _occurrences(segment, places, length), periodic=bool(runs))
    for first, last, period in runs:
        # Equal places in a periodic run are a whole number of periods apart.
        size = last - first
        half, apart_by = max(
            (min(times * period, size - times * period), times * period)
            for times in (size // (2 * period), size // (2 * period) + 1)
        )
        if half < minimum:
            continue
        firsts = {first}
        if apart_by + half < size:
            # The same from the other end, so that all of the run is covered.
            firsts.add(last - half - apart_by)
        for at in sorted(firsts):
            # A half may also occur outside of the run.
            places = without_overlaps(_places(segment, at, half), half)
            yield CloneGroup(half, _occurrences(segment, places, half), periodic=True)


def without_overlaps(positions: Sequence[int], length: int) -> list[int]:
    """These sorted places without those that overlap with an earlier one."""
    out: list[int] = []
    for position in positions:
        if not out or position >= out[-1] + length:
            out.append(position)
    return out


def _occurrences(
    segment: TokenSegment, positions: Sequence[int], length: int
) -> tuple[Occurrence, ...]:
    return tuple(Occurrence(segment, position, length) for position in positions)


def _places(segment: TokenSegment, at: int, length: int) -> list[int]:
    """Every place of the tokens at a position, in order."""
    run = interval(LiveSegment(segment), segment.tokens[at : at + length].tolist(), length)
    places: list[int] = segment.suffixes[run.low : run.high].tolist()
    return sorted(places)


def _periodic_runs(positions: Sequence[int], length: int) -> Iterator[tuple[int, int, int]]:
    """The runs of places that overlap with a constant shift: begin, end and shift of each."""
    begin, period = positions[0], 0
    for one, two in pairwise(positions):
        shift = two - one
        if shift != period:
            if period:
                yield begin, one + length, period
            begin, period = one, shift if shift < length else 0
    if period:
        yield begin, positions[-1] + length, period


def _distinct(groups: list[CloneGroup]) -> list[CloneGroup]:
    """Drop duplicate groups: several repeats of one periodic run can have the same halves.

    A half can also be a separate block. It is marked as periodic whichever comes first.
    """
    by_place: dict[tuple[int, int], CloneGroup] = {}
    for group in groups:
        key = group.length, group.occurrences[0].position
        if key not in by_place or (group.periodic and not by_place[key].periodic):
            by_place[key] = group
    return list(by_place.values())


def code_like(groups: Sequence[CloneGroup], segment: TokenSegment) -> list[CloneGroup]:
    """The groups without tables of numbers and texts: those are data, not code."""
    is_name: dict[int, bool] = {}
    selected = []
    for group in groups:
        first = group.occurrences[0]
        names = 0
        for token in segment.tokens[first.position : first.position + first.length]:
            is_word = is_name.get(token)
            if is_word is None:
                start = segment.word(token)[:1]
                is_word = is_name[token] = start.isalpha() or start in (b"_", b"$")
            names += is_word
        if names >= NAMES_SHARE * group.length:
            selected.append(group)
    return selected


def covered(groups: Sequence[CloneGroup], size: int) -> int:
    """How many tokens are part of a group; `size` is the length of the stream."""
    marks = bytearray(size)
    for group in groups:
        for o in group.occurrences:
            marks[o.position : o.position + o.length] = b"\1" * o.length
    return marks.count(1)


def informative(
    groups: Sequence[CloneGroup], size: int, *, share: float = FRESH_SHARE
) -> list[CloneGroup]:
    """The groups that add something to the groups before them; `size` is the length of the stream.

    A block is often part of a slightly longer block with fewer copies. A group is left out if less
    than `share` of its tokens are new.
    """
    marks = bytearray(size)
    code_groups = []
    for group in groups:
        fresh = sum(marks.count(0, o.position, o.position + o.length) for o in group.occurrences)
        if fresh >= share * group.length * len(group.occurrences):
            code_groups.append(group)
            for o in group.occurrences:
                marks[o.position : o.position + o.length] = b"\1" * o.length
    return code_groups


def renamed(segment: TokenSegment, backend: SuffixBackend | None = None) -> TokenSegment:
    """The segment with all names replaced by one, and all literals.

    Positions do not change: a place in it is the same place in the documents.
    """
    stream = segment.stream()
    words: dict[bytes, int] = {}
    remap = [0, *(words.setdefault(normalised(word), len(words) + 1) for word in stream.words)]
    backend = backend or choose(len(segment.tokens))
    tokens: Any
    if backend is SuffixBackend.PURE:
        from array import array

        tokens = array("i", [remap[token] for token in stream.tokens])
    else:
        import numpy as np

        tokens = np.array(remap, np.int32)[np.frombuffer(stream.tokens, np.int32)]
    plain = TokenStream(
        stream.documents,
        list(words),
        tokens,
        stream.starts,
        stream.firsts,
        stream.line_starts,
        stream.line_firsts,
    )
    return build(plain, backend)


def relocated(groups: Sequence[CloneGroup], segment: TokenSegment) -> list[CloneGroup]:
    """The same places in another segment of the same documents, such as the one before renaming."""
    return [
        CloneGroup(
            group.length,
            tuple(Occurrence(segment, o.position, o.length) for o in group.occurrences),
            group.periodic,
        )
        for group in groups
    ]


def new_since(
    groups: Sequence[CloneGroup],
    changed: Callable[[str], bool],
    count_before: Callable[[Sequence[bytes]], int],
) -> list[CloneGroup]:
    """The groups with more copies in the changed files than these files had before the change.

    Unchanged files have the same number of copies before and after.
    """
    fresh = []
    for group in groups:
        now = [o for o in group.occurrences if changed(o.path)]
        if now and len(now) > count_before(now[0].texts()):
            fresh.append(group)
    return fresh
