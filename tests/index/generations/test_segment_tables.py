"""Stored tables of a segment are those that follow from it, or they are not used."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.index.generations.segment_files import (
    ENDING_OF_TABLES,
    SegmentFiles,
    StoredSegment,
)
from holdfast.index.search import term_tables
from holdfast.index.search.centrality import centrality
from holdfast.index.search.corpus import Corpus, Part
from holdfast.index.search.file_table import File
from holdfast.index.search.posting_segment import PostingSegment
from holdfast.index.search.term_tables import Names, names_of
from tests.index.generations.test_segment_files import DIMENSION, in_memory
from tests.index.search import plain


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SegmentFiles:
    monkeypatch.setattr(term_tables, "ROWS_MIN", 1)
    return SegmentFiles(tmp_path / "root.segments")


def tables_of(files: SegmentFiles, stored: StoredSegment) -> Path:
    return files._path(stored.digest, ENDING_OF_TABLES)


def same(found: Names, made: Names) -> bool:
    return [column.tolist() for column in found] == [column.tolist() for column in made]


def corpus_of(several: list[PostingSegment]) -> Corpus:
    parts, number = [], 0
    for segment in several:
        slots = int(segment.slots.max()) + 1
        parts.append(
            Part(segment, [File(n, f"f{n}.py", "python") for n in range(number, number + slots)])
        )
        number += slots
    return Corpus(parts)


@pytest.mark.shows("INDEX-SEGMENT-TABLES")
def test_stored_tables_are_those_that_follow_from_the_segment(files: SegmentFiles) -> None:
    made = in_memory()
    found = files.open(files.write(made), DIMENSION)
    stored = found.stored_tables
    assert stored is not None
    names, starts = stored.names(), stored.starts()
    assert names is not None
    assert same(names, names_of(made))
    assert starts is not None
    assert starts.terms == len(made.terms)
    assert starts.places.tolist() == made.block_starts.places.tolist()
    for term in [*made.terms, "absent", "", "=", "\U0010ffff"]:
        assert found.entries(term) == made.entries(term)


@pytest.mark.shows("INDEX-SEGMENT-TABLES")
def test_names_are_central_by_stored_tables_as_by_the_plain_count(files: SegmentFiles) -> None:
    made = [in_memory(), in_memory(30), in_memory(7)]
    stored = [files.open(files.write(segment), DIMENSION) for segment in made]
    central = centrality(corpus_of(stored))
    assert central.tolist() == centrality(corpus_of(made)).tolist()
    assert central.tolist() == pytest.approx(plain.centrality(corpus_of(made)).tolist())


@pytest.mark.shows("INDEX-SEGMENT-TABLES")
def test_no_wrong_bit_of_the_tables_is_used(files: SegmentFiles) -> None:
    made = in_memory()
    stored = files.write(made)
    path, names = tables_of(files, stored), names_of(made)
    whole = path.read_bytes()
    for at in [*range(96), *range(96, len(whole), 97), len(whole) - 1]:
        data = bytearray(whole)
        data[at] ^= 4
        path.write_bytes(data)
        tables = files.open(stored, DIMENSION).stored_tables
        assert tables is not None
        found, starts = tables.names(), tables.starts()
        assert found is None or starts is None
        assert found is None or same(found, names)
        assert starts is None or starts.places.tolist() == made.block_starts.places.tolist()
    for wrong in (b"", whole[:40], whole[:-1], whole + b"\0"):
        path.write_bytes(wrong)
        tables = files.open(stored, DIMENSION).stored_tables
        assert tables is not None
        assert (tables.names(), tables.starts()) == (None, None)


@pytest.mark.shows("INDEX-SEGMENT-TABLES")
def test_tables_of_another_segment_are_not_used_and_missing_ones_are_written_one_by_one(
    files: SegmentFiles,
) -> None:
    made = in_memory()
    stored, other = files.write(made), files.write(in_memory(30))
    for one in (stored, other):
        tables_of(files, one).rename(tables_of(files, one).with_suffix(".aside"))
    tables_of(files, other).with_suffix(".aside").rename(tables_of(files, stored))
    tables = files.open(stored, DIMENSION).stored_tables
    assert tables is not None
    assert (tables.names(), tables.starts()) == (None, None)
    tables_of(files, stored).unlink()
    for expected in (None, stored, other):
        assert [files.open(one, DIMENSION).stored_tables is None for one in (stored, other)] == {
            None: [True, True], stored: [False, True], other: [False, False],
        }[expected]  # fmt: skip
        assert files.open(stored, DIMENSION).entries("load") == made.entries("load")
        files.add_tables([stored, other], DIMENSION)
    files.keep_only({other.digest})
    assert not tables_of(files, stored).exists()
    assert tables_of(files, other).exists()
