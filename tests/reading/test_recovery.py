"""What is told and brought back after a compaction: the most needed first, within its budget."""

from __future__ import annotations

import pytest

from holdfast.reading import recovery
from holdfast.reading.events import Hunk, Patched, Printed
from holdfast.reading.recovery import Used, pick, to_text, used
from holdfast.reading.scope import Lines

LONG = tuple(f"row {n}" for n in range(1, 301))


def read(first: int, last: int) -> Printed:
    return Printed("/w/a.py", first, LONG[first - 1 : last], whole=(first, last) == (1, 300))


@pytest.mark.shows("RECOVERY-RANGES")
def test_a_long_file_read_whole_and_edited_comes_back_around_the_edit() -> None:
    edit = Patched("/w/a.py", (Hunk(100, ("row 100",), ("x", "y")),), frozenset({"x", "y"}))
    found = used("/w/a.py", [(read(1, 300), 10), (edit, 20)], 301)
    assert found.runs == (Lines(90, 111),)
    assert (found.edits, found.last) == (1, 20)


@pytest.mark.shows("RECOVERY-RANGES")
def test_ranges_that_were_asked_for_move_with_later_edits() -> None:
    edit = Patched("/w/a.py", (Hunk(10, (), ("x",) * 5),), frozenset("x"))
    found = used("/w/a.py", [(read(100, 200), 1), (edit, 2)], 101)
    assert found.runs == (Lines(1, 24), Lines(105, 205))


@pytest.mark.shows("RECOVERY-RANGES")
def test_a_small_file_and_one_without_narrower_use_come_back_whole() -> None:
    small = Printed("/w/a.py", 1, LONG[:30], whole=True)
    assert used("/w/a.py", [(small, 1), (read(5, 9), 2)], 30).runs == ()
    assert used("/w/a.py", [(read(5, 9), 1)], 5).runs == (Lines(5, 9),)
    assert used("/w/a.py", [(read(1, 300), 1)], 300).runs == ()


@pytest.mark.shows("RECOVERY-NOTE")
def test_edited_files_come_first_then_ranges_then_the_newest() -> None:
    files = [
        Used("/w/old.py", (), 0, 1, 80),
        Used("/w/new.py", (), 0, 9, 80),
        Used("/w/range.py", (Lines(3, 90),), 0, 2, 88),
        Used("/w/edited.py", (Lines(1, 20),), 2, 3, 300),
    ]
    text = to_text(files, lambda path: path == "/w/old.py", "/w", "recover() helps.")
    assert text is not None
    names = [line.split(":")[0] for line in text.splitlines()[1:]]
    assert names == ["- edited.py", "- range.py", "- new.py", "- old.py"]
    assert "- edited.py: lines 1-20, edited by you\n" in text
    assert text.endswith("- old.py: all 80 lines; changed on disk since")
    assert to_text([], lambda path: False, "/w", "") is None


@pytest.mark.shows("RECOVERY-NOTE")
def test_the_note_stays_within_its_tokens() -> None:
    files = [Used(f"/w/{'deep/' * 9}{n}.py", (Lines(1, 99),), 1, n, 99) for n in range(200)]
    text = to_text(files, lambda path: True, "/w", "recover() helps.")
    assert text is not None
    assert len(text.encode()) <= recovery.TOKENS_MAX * recovery.BYTES_PER_TOKEN
    assert " more files" in text.splitlines()[-1]


@pytest.mark.shows("RECOVERY-BUDGET")
def test_what_fits_the_budget_is_brought_back_and_the_rest_is_named() -> None:
    files = [
        Used("/w/a.py", (Lines(90, 111), Lines(250, 260)), 1, 5, 300),
        Used("/w/b.py", (), 0, 9, 300),
        Used("/w/gone.py", (), 0, 8, 300),
    ]
    rows = {"/w/a.py": LONG, "/w/b.py": LONG}
    pieces, rest = pick(files, rows.get, 300)
    assert [(p.path, p.first, len(p.rows)) for p in pieces] == [
        ("/w/a.py", 90, 22),
        ("/w/a.py", 250, 11),
    ]
    assert [file.path for file in rest] == ["/w/b.py"]
    pieces, rest = pick(files, rows.get, 100_000)
    assert rest == []
    assert pieces[-1].whole
