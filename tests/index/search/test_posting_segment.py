"""Segments: what goes in comes out, and merging equals making from nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.segments import (
    LIVING_SHARE_MIN,
    ROWS_MAX,
    SMALL_SEGMENTS_MAX,
    SegmentUse,
    to_merge,
)
from holdfast.index.search import posting_segment as segments
from holdfast.index.search.fields import Field, Fields
from holdfast.index.search.posting_segment import PostingSegment
from holdfast.index.search.postings import Rows, postings
from holdfast.index.search.segment_merge import Merger, merge
from holdfast.index.search.terms import compact, terms
from tests.scale import examples

texts = st.lists(
    st.sampled_from(["load", "parseHTTP", "send_request", "x1", "größe", "LOAD", "a_b"]), max_size=6
).map(" ".join)
chunks = st.lists(st.builds(Fields, *[texts] * 8), max_size=5)


def made(fields: list[Fields]) -> PostingSegment:
    return merge([(segments.unpack_file(postings([rows(fields)])[0]), [0])], 0)


def rows(fields: list[Fields]) -> Rows:
    lines = [(i + 1, i + 2) for i in range(len(fields))]
    return Rows(fields, lines, ["function"] * len(fields))


def listed(segment: PostingSegment) -> dict[tuple[str, int, int], int]:
    """Every entry: (term, row, field) -> count."""
    found = {}
    for term in segment.terms:
        low, high = segment.entries(term)
        for row, packed in zip(
            segment.entry_rows[low:high], segment.entry_counts[low:high], strict=True
        ):
            found[term, int(row), int(packed) >> 5] = int(packed) & 31
    return found


def counted(fields: list[Fields]) -> dict[tuple[str, int, int], int]:
    """The same by plain counting."""
    found: dict[tuple[str, int, int], int] = {}

    def count(term: str, row: int, field: int) -> None:
        found[term, row, field] = min(31, found.get((term, row, field), 0) + 1)

    for row, one in enumerate(fields):
        for field, text in enumerate(one.texts()):
            if field != Field.CALL:
                for term in terms(text):
                    count(term, row, field)
            if field in (Field.NAME, Field.STEM, Field.CALL):
                for word in text.split():
                    count("=" + compact(word), row, field)
    return found


@pytest.mark.shows("SEARCH-SEGMENT-TWIN")
@given(chunks)
def test_a_segment_holds_what_plain_counting_counts(fields: list[Fields]) -> None:
    segment = made(fields)
    assert listed(segment) == counted(fields)
    assert segment.terms == sorted(segment.terms)
    for row, one in enumerate(fields):
        for field, text in enumerate(one.texts()):
            expected = 0 if field == Field.CALL else len(terms(text))
            assert segment.lengths[row, field] == expected


@pytest.mark.shows("SEARCH-SEGMENT-TWIN")
@given(st.lists(chunks.filter(bool), max_size=4))
def test_files_counted_together_are_as_if_counted_alone(files: list[list[Fields]]) -> None:
    together = postings([rows(fields) for fields in files])
    alone = [postings([rows(fields)])[0] for fields in files]
    assert together == alone
    for fields, packed in zip(files, together, strict=True):
        assert listed(merge([(segments.unpack_file(packed), [0])], 0)) == counted(fields)


@pytest.mark.shows("SEARCH-SEGMENT-TWIN")
@given(st.lists(st.lists(chunks, max_size=4), max_size=3))
def test_files_added_together_are_as_if_added_one_by_one(groups: list[list[list[Fields]]]) -> None:
    together, one_by_one = Merger(0), Merger(0)
    slot = 0
    for group in groups:
        files = [segments.unpack_file(postings([rows(fields)])[0]) for fields in group]
        together.add_files(files, slot)
        for file in files:
            one_by_one.add(file, [slot])
            slot += 1
    assert together.rows == one_by_one.rows
    assert segments.pack(together.take()) == segments.pack(one_by_one.take())


@pytest.mark.shows("SEARCH-SEGMENT-TWIN")
@given(chunks, st.sampled_from(["p", "pa", "lo", "load", "total", "s", "=", "z", ""]))
def test_a_prefix_is_one_run_of_entries(fields: list[Fields], prefix: str) -> None:
    segment = made(fields)
    low, own, high = segment.entries_of_prefix(prefix)
    expected = [t for t in segment.terms if t.startswith(prefix)]
    assert high - low == sum(b - a for a, b in map(segment.entries, expected))
    if prefix in segment.terms:
        assert (low, own) == segment.entries(prefix), "the term itself comes first"
    else:
        assert own == low


@pytest.mark.shows("SEARCH-SEGMENT-FORMAT")
@given(chunks)
def test_a_segment_comes_back_as_it_was(fields: list[Fields]) -> None:
    segment = made(fields)
    vectors = np.random.default_rng(1).normal(size=(len(fields), 8)).astype(np.float32)
    segment = segments.with_vectors(segment, vectors.tobytes(), 8)
    back = segments.unpack(segments.pack(segment), segments.pack_vectors(segment), 8)
    assert listed(back) == listed(segment)
    for name in ("slots", "ordinals", "lines", "kinds", "lengths", "digests", "vectors", "scales"):
        assert np.array_equal(getattr(back, name), getattr(segment, name))


@pytest.mark.shows("SEARCH-SEGMENT-FORMAT")
def test_the_stored_form_changes_only_with_its_version() -> None:
    one = made([Fields("load", "", "", "", "a", "", "load x", "send")])
    assert segments.SEGMENT_VERSION == 2
    assert segments.pack(one).hex() == (
        "48465347020008000100000007000000070000001700000000000000000000000100000002000000"
        "24a80355000000000100000002000000030000000400000006000000070000000000000000000000"
        "000000000000010000000000000001000000020000000a8101e18101c1c13d610a3d6c6f61640a3d"
        "73656e640a610a6c6f61640a78"
    )


@pytest.mark.shows("SEARCH-SEGMENT-FORMAT")
@given(chunks, st.data())
def test_a_damaged_segment_is_refused(fields: list[Fields], data: st.DataObject) -> None:
    packed = segments.pack(made(fields))
    cut = data.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(DamagedBackend):
        segments.unpack(packed[:cut])
    with pytest.raises(DamagedBackend):
        segments.unpack(b"XX" + packed[2:])
    with pytest.raises(DamagedBackend):
        segments.unpack(packed, b"\0", 8)


@pytest.mark.shows("SEARCH-FINITE")
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e38])
def test_vectors_that_are_not_finite_are_refused(number: float) -> None:
    segment = made([Fields("load", "", "", "", "a", "", "load x", "send")])
    row = np.array([1.0, number, 0.5, 0.0], dtype=np.float32)
    with pytest.raises(DamagedBackend, match="not finite"):
        segments.with_vectors(segment, row.tobytes(), 4)
    stored = np.array([number], dtype=np.float32).tobytes() + b"\1\2\3\4"
    with pytest.raises(DamagedBackend, match="not finite"):
        segments.unpack(segments.pack(segment), stored, 4)


@pytest.mark.shows("SEARCH-SEGMENT-MERGE")
@settings(max_examples=examples(60))
@given(st.lists(st.tuples(chunks, st.booleans()), max_size=4))
def test_merged_segments_equal_one_made_of_all_that_is_kept(
    parts: list[tuple[list[Fields], bool]],
) -> None:
    slot = 0
    given_parts: list[tuple[PostingSegment, list[int | None]]] = []
    kept: list[Fields] = []
    slots: list[int] = []
    for fields, keep in parts:
        given_parts.append((made(fields), [slot if keep else None]))
        if keep:
            kept += fields
            slots += [slot] * len(fields)
            slot += 1
    merged = merge(given_parts, 0)
    assert listed(merged) == counted(kept)
    assert merged.slots.tolist() == slots
    assert merged.terms == sorted({term for term, _, _ in counted(kept)})


@pytest.mark.shows("SEARCH-VECTORS-BYTE")
@given(st.integers(0, 2**32 - 1))
def test_a_vector_at_one_byte_per_number_is_off_by_half_a_step_at_most(seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(5, 32)).astype(np.float32)
    rows[2] = 0
    small, scales = segments.quantised(rows)
    assert small.dtype == np.int8
    error = np.abs(small * scales[:, None] - rows)
    assert (error <= scales[:, None] * 0.501).all()


@pytest.mark.shows("SEARCH-SEGMENT-MERGE")
@given(st.lists(st.tuples(st.integers(1, ROWS_MAX), st.floats(0, 1)), max_size=40))
def test_after_merging_few_segments_are_small_and_none_is_mostly_dead(
    shapes: list[tuple[int, float]],
) -> None:
    standings = [
        SegmentUse(number, rows, int(rows * share)) for number, (rows, share) in enumerate(shapes)
    ]
    groups = to_merge(standings)
    touched = [number for group in groups for number in group]
    assert len(touched) == len(set(touched))
    left = [one for one in standings if one.number not in touched]
    assert all(one.living >= LIVING_SHARE_MIN * one.rows for one in left)
    assert sum(one.rows <= 4_096 for one in left) <= SMALL_SEGMENTS_MAX
    for group in groups:
        assert sum(standings[number].living for number in group) <= ROWS_MAX
    if not touched:
        assert groups == []
