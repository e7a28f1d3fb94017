"""Chunks that were read lately are found again, and never taken for another generation's."""

from __future__ import annotations

from holdfast.index.generations.model import StoredChunk
from holdfast.index.generations.sqlite.chunks import (
    CHUNK_OVERHEAD_BYTES,
    GENERATIONS_MAX,
    RECENT_CHUNKS_BYTES_MAX,
    Recent,
)

OLD, NEW = (1, "first run"), (2, "second run")


def chunk(number: int, ordinal: int, text: str = "x = 1\n") -> StoredChunk:
    return StoredChunk((number, ordinal), "a.py", "python", 1, 1, text, None, None, "module")


def test_chunks_are_found_by_generation_file_and_place() -> None:
    recent = Recent()
    chunks = [chunk(1, 0), chunk(1, 1), chunk(2, 0)]
    recent.keep(OLD, chunks)
    assert recent.chunks(OLD, [(2, 0), (1, 1), (3, 0)]) == {(2, 0): chunks[2], (1, 1): chunks[1]}
    assert recent.chunks(NEW, [(2, 0), (1, 1)]) == {}


def test_a_generation_that_was_forgotten_finds_nothing_of_another_one() -> None:
    recent = Recent()
    recent.keep(OLD, [chunk(1, 0, "old")])
    for number in range(GENERATIONS_MAX):
        recent.keep((number, "other"), [chunk(1, 0, f"text {number}")])
    assert recent.chunks(OLD, [(1, 0)]) == {}
    last = (GENERATIONS_MAX - 1, "other")
    assert recent.chunks(last, [(1, 0)])[1, 0].text == f"text {GENERATIONS_MAX - 1}"


def test_the_chunks_take_a_bounded_amount_of_memory() -> None:
    recent = Recent()
    size = RECENT_CHUNKS_BYTES_MAX // 16
    text = "x" * (size - CHUNK_OVERHEAD_BYTES)
    recent.keep(OLD, [chunk(1, ordinal, text) for ordinal in range(40)])
    kept = recent.chunks(OLD, [(1, ordinal) for ordinal in range(40)])
    assert list(kept) == [(1, ordinal) for ordinal in range(24, 40)]
