"""The files of a corpus by their places in a list are the same as a list of them."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterable

import numpy as np
import pytest

from holdfast.files.path_columns import PathColumns, in_order
from holdfast.index.search.file_table import File, Files, FileTable, SlotFiles, in_one_table
from tests.scale import seeds

LANGUAGES, NAMES = ["python", "go"], "xyz"


class Columns:
    """A list of files, as the index stores it."""

    def __init__(self, files: list[File]) -> None:
        paths = [file.path for file in files]
        self._files = [files[at] for at in in_order(paths)]
        self.paths = PathColumns.of([file.path for file in self._files])
        self.numbers = array("q", [file.number for file in self._files])
        order = sorted(range(len(files)), key=lambda at: self._files[at].path)
        self.by_path = array("i", order)

    def language(self, place: int) -> str:
        return self._files[place].language

    def __len__(self) -> int:
        return len(self._files)

    def file(self, place: int) -> File:
        return self._files[place]


def some_files(rng: random.Random, first: int, count: int) -> list[File]:
    made = {
        f"{rng.choice(['', 'a/', 'a-b/', 'a/b/'])}{rng.choice('xyz')}{n}.py" for n in range(count)
    }
    return [File(first + n, path, rng.choice(LANGUAGES)) for n, path in enumerate(sorted(made))]


def lengths_of(paths: Iterable[str]) -> list[int]:
    return [len(path) for path in paths]


def check(files: Files, expected: list[File]) -> None:
    assert list(files) == expected == files[:]
    assert [files.path(at) for at in range(len(files))] == [file.path for file in expected]
    assert [files.number(at) for at in range(len(files))] == [file.number for file in expected]
    lengths = files.table.derived(lengths_of)
    for place, file in zip(files.places.tolist(), expected, strict=True):
        assert place >= files.table.first_other or lengths[place] == len(file.path)
    order = files.table.order(files.places).tolist()
    assert [expected[at].path for at in order] == sorted(file.path for file in expected)
    some = {file.number for file in expected[::3]} | {-5}
    assert files.with_numbers(some) == [file.path for file in expected[::3]]


@pytest.mark.shows("INDEX-FILE-LIST")
@pytest.mark.parametrize("seed", seeds(6))
def test_files_by_place_are_a_list_of_files_after_any_changes(seed: int) -> None:
    rng = random.Random(seed)
    listed = Columns(some_files(rng, 1, 30))
    later = [file._replace(number=100 + n) for n, file in enumerate(some_files(rng, 1, 4))]
    places = rng.sample(range(len(listed) + len(later)), 20)
    table = FileTable(listed, later)
    files = Files(table, np.array(places, dtype=np.int64))
    expected = [listed.file(at) if at < len(listed) else later[at - len(listed)] for at in places]
    for turn in range(6):
        check(files, expected)
        gone = {file.path for file in rng.sample(expected, 4)}
        gone_places = files.table.places_of(gone)
        left = ~np.isin(files.places, gone_places)
        more = some_files(rng, 1000 * (turn + 1), rng.randrange(5))
        order = files.table.order(files.places[left])
        known = files.table.derived(lengths_of)
        files = files.table.followed_by(files.places[left], more)
        assert files.table.derived(lengths_of) is known, "computed once for a list"
        expected = [file for file in expected if file.path not in gone] + more
        news = np.arange(len(files) - len(more), len(files))
        inserted = files.table.inserted(files.places, order, news).tolist()
        assert sorted(inserted) == list(range(len(files)))
        assert [files.path(at) for at in inserted] == sorted(file.path for file in expected)


def test_files_of_lists_are_put_into_one_table() -> None:
    one, two = File(1, "b", "go"), File(2, "a", "go")
    slots = in_one_table([[None, one], [two, None, None]])
    assert [list(each) for each in slots] == [[None, one], [two, None, None]]
    assert slots[0].table is slots[1].table
    assert in_one_table(slots) == slots, "they are in one already"
    other = SlotFiles(FileTable(None, [one]), np.array([0]))
    mixed = in_one_table([slots[1], other])
    assert [list(each) for each in mixed] == [[two, None, None], [one]]
    assert list(slots[0].without(np.array([1], dtype=np.uint32))) == [None, None]
    assert in_one_table([]) == []
