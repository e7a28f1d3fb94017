"""After a refusal: what is like it and there, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ReadingError
from holdfast.reading.errors import Aborted, BadRange, BeyondEnd, Unreadable
from holdfast.reading.suggest import Suggestion, listed, suggestion

TREE = {
    "/": ["src/", "README.md"],
    "/src": ["cart.py", "Catalog.py", "deep/", ".hidden"],
    "/src/deep": ["total.py"],
    "/empty": [],
}


def names(folder: str) -> list[str]:
    return TREE.get(folder, [])


def missing(path: str) -> ReadingError:
    return Unreadable("ENOENT", "no such file or directory", "access", path)


@pytest.mark.shows("READ-SUGGEST")
@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/src/crat.py", "/src/cart.py"),
        ("/src/catalog.py", "/src/Catalog.py"),
        ("/scr/cart.py", "/src/cart.py"),
        ("/srcc/dep/totals.py", "/src/deep/total.py"),
        ("/src/crat.py:3-5", "/src/cart.py"),
        ("/src/../src/crat.py", "/src/cart.py"),
        ("/deep/total.py", "/src/deep/total.py"),
        ("/cart.py:2", "/src/cart.py"),
        ("/src/quite-another.txt", None),
        ("/src/b.py", None),
        ("/nowhere/at/all", None),
    ],
)
def test_a_name_that_is_not_there_suggests_one_that_is(path: str, meant: str | None) -> None:
    found = suggestion(missing(path), path, names)
    assert (None if found is None else found.path) == meant


@pytest.mark.shows("READ-SUGGEST")
def test_the_other_refusals_suggest_lines_and_files_that_are_there() -> None:
    folder = Unreadable("EISDIR", "illegal operation on a directory", "read", None)
    assert suggestion(folder, "/src", names) == Suggestion("a file in it", "/src/Catalog.py")
    assert suggestion(folder, "/empty", names) is None
    end = suggestion(BeyondEnd(9, 6), "/src/cart.py", names)
    assert end == Suggestion("its last lines", "/src/cart.py", 1)
    assert suggestion(BeyondEnd(9999, 500), "/a", names) == Suggestion("its last lines", "/a", 401)
    assert suggestion(BadRange("x"), "/a", names) == Suggestion("all of it", "/a")
    assert suggestion(Aborted(), "/a", names) is None
    assert suggestion(Unreadable("EACCES", "", "open", "/a"), "/a", names) is None


@given(st.text(alphabet="abc/.", max_size=12))
def test_what_is_suggested_is_there(path: str) -> None:
    path = "/" + path
    found = suggestion(missing(path), path, names)
    if found is not None:
        folder, _, name = found.path.rstrip("/").rpartition("/")
        assert name in [one.rstrip("/") for one in names(folder or "/")]


def test_a_directory_is_listed_or_empty(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    (tmp_path / "b").mkdir()
    assert sorted(listed(str(tmp_path))) == ["a", "b/"]
    assert listed(str(tmp_path / "a")) == listed("\0") == listed(str(tmp_path / "none")) == []
