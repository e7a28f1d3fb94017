"""A segment in a file is the segment in memory, and no byte of it is believed unchecked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from holdfast.index.building.memory_budget import processes_within
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.segment_files import BLOCK_BYTES, SegmentFiles, StoredSegment
from holdfast.index.search import posting_segment as segments
from holdfast.index.search.posting_segment import PostingSegment
from holdfast.index.search.segment_merge import merge
from tests.index.search.samples import PROVIDER, prepared, prepared_segment

DIMENSION = PROVIDER.dimension
WORDS = ["load", "parse", "send", "größe", "queue", "retry", "token", "lease"]


def in_memory(files: int = 40) -> PostingSegment:
    parts = []
    for number in range(files):
        word, other = WORDS[number % len(WORDS)], WORDS[number * 7 % len(WORDS)]
        text = f"def {word}_{number}(x):\n    return {other}(x) + {number}\n\n" * 3
        file = prepared(f"{word}{number}.py", text)
        parts.append((prepared_segment(file, DIMENSION), [number]))
    return merge(parts, DIMENSION)


@pytest.fixture
def files(tmp_path: Path) -> SegmentFiles:
    return SegmentFiles(tmp_path / "root.segments")


def path_of(files: SegmentFiles, stored: StoredSegment) -> Path:
    return files._path(stored.digest)


@pytest.mark.shows("INDEX-SEGMENT-FILES")
def test_a_segment_in_a_file_is_the_one_in_memory(files: SegmentFiles) -> None:
    made = in_memory()
    stored = files.write(made)
    found = files.open(stored, DIMENSION)
    assert (found.rows, found.dimension, found.terms) == (made.rows, DIMENSION, made.terms)
    for term in [*made.terms, "absent", "", "=", "\U0010ffff", "größe"]:
        assert found.entries(term) == made.entries(term)
        assert found.entries_of_prefix(term) == made.entries_of_prefix(term)
        (rows, counts), (as_rows, as_counts) = (s.run(*s.entries(term)) for s in (found, made))
        assert np.array_equal(rows, as_rows)
        assert np.array_equal(counts, as_counts)
    some = np.array([3, 1, made.rows - 1, 3])
    assert np.array_equal(found.vector_rows(some), made.vectors[some])
    assert np.array_equal(found.signs, made.signs)
    assert np.array_equal(found.exact_terms[0], made.exact_terms[0])
    assert np.array_equal(found.exact_terms[1], made.exact_terms[1])
    assert segments.pack(found) == segments.pack(made)
    assert segments.pack_vectors(found) == segments.pack_vectors(made)


@pytest.mark.shows("INDEX-SEGMENT-FILES")
def test_a_wrong_bit_is_noticed_by_what_reads_it_and_by_nothing_else(files: SegmentFiles) -> None:
    made = in_memory()
    stored = files.write(made)
    path = path_of(files, stored)
    whole = path.read_bytes()
    for at in range(0, len(whole), BLOCK_BYTES // 2):
        data = bytearray(whole)
        data[at] ^= 4
        path.write_bytes(data)
        with pytest.raises(DamagedBackend):
            files.verify(stored, DIMENSION)
        with pytest.raises(DamagedBackend):
            read_all(files, stored)
    # The vectors of the last rows are damaged, and a question about the first ones is answered.
    data = bytearray(whole)
    at = whole.index(made.vectors[-1].tobytes())
    data[at] ^= 1
    path.write_bytes(data)
    found = files.open(stored, DIMENSION)
    first = np.array([0])
    assert np.array_equal(found.vector_rows(first), made.vectors[first])
    with pytest.raises(DamagedBackend):
        found.vector_rows(np.array([made.rows - 1]))


def read_all(files: SegmentFiles, stored: StoredSegment) -> None:
    found = files.open(stored, DIMENSION)
    segments.pack(found)
    segments.pack_vectors(found)
    assert len(found.signs) == found.rows
    # Only the bytes between two parts are left, which nothing reads.
    files.verify(stored, DIMENSION)


@pytest.mark.shows("INDEX-SEGMENT-FILES")
def test_a_file_that_is_missing_short_or_another_is_refused(files: SegmentFiles) -> None:
    stored, other = files.write(in_memory()), files.write(in_memory(30))
    for wrong in (
        replace(stored, digest=other.digest),
        replace(stored, digest="0" * 32),
        replace(stored, digest="../" + stored.digest),
        replace(stored, rows=stored.rows + 1),
        replace(stored, checks=stored.checks[:-4]),
        replace(stored, size_bytes=stored.size_bytes - 1),
    ):
        with pytest.raises(DamagedBackend):
            files.open(wrong, DIMENSION)
    path = path_of(files, stored)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedBackend, match="truncated"):
        files.open(stored, DIMENSION)
    with pytest.raises(DamagedBackend, match="bytes"):
        files.check_size(stored)


@pytest.mark.shows("INDEX-SEGMENT-FILES")
def test_files_that_no_generation_names_are_removed_and_stay_with_those_that_read_them(
    files: SegmentFiles,
) -> None:
    made = in_memory()
    old, new = files.write(made), files.write(in_memory(30))
    reading = files.open(old, DIMENSION)
    before = files.stamp()
    files.keep_only({new.digest})
    assert files.stamp() != before
    assert segments.pack(reading) == segments.pack(made)
    with pytest.raises(DamagedBackend, match="missing"):
        files.open(old, DIMENSION)
    files.open(new, DIMENSION)
    files.remove()
    assert files.stamp() is None


@pytest.mark.shows("INDEX-MEMORY-SETTING")
@pytest.mark.parametrize(
    ("megabytes", "cores", "workers"),
    [(300, 8, 1), (800, 8, 2), (800, 1, 1), (1600, 8, 5), (8000, 4, 4)],
)
def test_the_memory_setting_decides_how_many_processes_build(
    megabytes: int, cores: int, workers: int
) -> None:
    assert processes_within(megabytes << 20, cores) == workers
