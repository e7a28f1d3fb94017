"""Two versions of a file in one list: either can be read off it again."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.dashboard.lines import joined, line_rows
from holdfast.reading.context import HeldFile, HeldText
from holdfast.reading.diff import removed_lines
from holdfast.reading.objects import digest_of
from holdfast.reading.scope import Lines

texts = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=12)


def always(answer: bool) -> Callable[[int], bool]:
    return lambda _: answer


@pytest.mark.shows("DASH-CONTEXT")
@given(texts, texts)
def test_both_versions_can_be_read_off_the_rows(old: list[str], new: list[str]) -> None:
    removed = removed_lines("\n".join(old), "\n".join(new))
    assert removed is not None
    rows = joined(old, new, removed, always(True))
    assert [(row.old, row.text) for row in rows if row.kind in " -"] == list(enumerate(old, 1))
    assert [(row.new, row.text) for row in rows if row.kind in " +"] == list(enumerate(new, 1))
    assert all(row.held == (row.kind != "+") for row in rows)


def held(path: Path, text: str, *runs: Lines) -> HeldFile:
    digest = digest_of(text.encode())
    return HeldFile(str(path), "changed", (HeldText(digest, runs, (), text.count("\n") + 1, 1),))


def test_lines_that_were_never_shown_are_not_said_to_be_held(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\nfour")
    found = line_rows(held(path, "one\ntwo\nthree\nfour", Lines(2, 3)), lambda _: None, 100)
    assert [row.held for row in found.rows] == [False, True, True, False]


def test_a_version_that_is_no_longer_kept_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("now")
    found = line_rows(held(path, "then", Lines(1, 1)), lambda _: None, 100)
    assert (found.rows, found.joined) == ((), False)
    assert found.missing == "the version that was read is no longer stored"


def test_of_a_file_that_is_gone_the_text_that_was_held_is_shown(tmp_path: Path) -> None:
    found = line_rows(held(tmp_path / "a.txt", "then", Lines(1, 1)), lambda _: b"then", 100)
    assert [(row.kind, row.text) for row in found.rows] == [("-", "then")]
