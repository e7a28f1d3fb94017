"""The context map: what is held, what became of it, what a compaction took."""

from __future__ import annotations

import pytest

from holdfast.reading.answer import Current
from holdfast.reading.context import held_file, recovery, united, without
from holdfast.reading.errors import Unreadable
from holdfast.reading.objects import digest_of
from holdfast.reading.paths import Request
from holdfast.reading.scope import WHOLE, Lines, Scope
from holdfast.reading.session_log import UnreadableLog
from holdfast.reading.trust import Trust
from tests.reading.desk import Desk, numbered


def test_a_file_read_in_full_is_held_whole(desk: Desk) -> None:
    desk.write("a.txt", numbered(10))
    desk.read("a.txt")
    found = desk.reader.context(desk.session)
    (file,) = found.held
    assert (file.state, file.lines, file.stale_lines, file.lines_now) == ("current", 10, 0, 10)
    assert file.texts[0].whole
    assert found.tokens == file.tokens == -(-len(numbered(10) + "\n") // 4)


def test_runs_of_lines_are_joined_and_blocked_ones_left_out(desk: Desk) -> None:
    path = str(desk.write("a.txt", numbered(40)))
    desk.read("a.txt:1-5")
    desk.read("a.txt:6-9")
    desk.read("a.txt:20-30")
    (file,) = desk.reader.context(desk.session).held
    assert file.texts[0].runs == (Lines(1, 9), Lines(20, 30))
    desk.reader.refresh(Request("a.txt:22-23"), desk.session)
    (file,) = desk.reader.context(desk.session).held
    assert file.texts[0].runs == (Lines(1, 9), Lines(20, 21), Lines(24, 30))
    assert file.path == path


def test_lines_that_changed_on_disk_are_stale_by_their_old_numbers(desk: Desk) -> None:
    desk.write("a.txt", numbered(20))
    desk.read("a.txt")
    desk.write("a.txt", numbered(20).replace("line 7\n", "seven\nand more\n"))
    (file,) = desk.reader.context(desk.session).held
    assert (file.state, file.texts[0].stale, file.lines_now) == ("changed", (Lines(7, 7),), 21)


def test_a_change_outside_the_lines_held_leaves_them_current(desk: Desk) -> None:
    desk.write("a.txt", numbered(20))
    desk.read("a.txt:1-5")
    desk.write("a.txt", numbered(20).replace("line 17", "seventeen"))
    (file,) = desk.reader.context(desk.session).held
    assert (file.state, file.stale_lines) == ("current", 0)


@pytest.mark.shows("READ-CONTEXT")
@pytest.mark.parametrize(
    ("lines", "old", "new", "state"),
    [
        ("", "line 20", "line 20\nmore", "changed"),
        ("", "line 1\n", "zero\nline 1\n", "changed"),
        (":5-9", "line 1\n", "zero\nline 1\n", "changed"),
        (":5-9", "line 1\n", "", "changed"),
        (":5-9", "line 7\n", "line 7\nmore\n", "changed"),
        (":5-9", "line 9\n", "line 9\nmore\n", "current"),
        (":5-9", "line 20", "line 20\nmore", "current"),
    ],
    ids=["end", "start", "above", "removed above", "within", "just below", "below"],
)
def test_lines_that_moved_or_got_company_are_not_as_on_disk(
    desk: Desk, lines: str, old: str, new: str, state: str
) -> None:
    """A file with lines added to it, and none taken away, was said to be *as on disk*; so was a
    range whose line numbers had moved."""
    desk.write("a.txt", numbered(20))
    desk.read(f"a.txt{lines}")
    desk.write("a.txt", numbered(20).replace(old, new, 1))
    found = desk.reader.context(desk.session)
    assert (found.held[0].state, found.held[0].stale_lines) == (state, 0)
    text = found.to_text(str(desk.cwd))
    assert ("as on disk" in text) is (state == "current")
    assert ("[a.txt changed on disk" in text) is (state == "changed")
    assert found.to_wire()["held"][0]["state"] == state


def test_a_file_that_cannot_be_compared_is_not_gone(desk: Desk) -> None:
    """A file that had become a picture, or might not be read now, was *no longer on disk*."""
    path = desk.write("a.txt", numbered(3))
    desk.read("a.txt")
    desk.write("a.txt", b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + bytes(20))
    (file,) = desk.reader.context(desk.session).held
    assert (file.state, file.stale_lines, file.lines_now) == ("changed", 3, None)
    desk.write("a.txt", numbered(3))

    def refused(_: str) -> tuple[bytes, str]:
        raise Unreadable("EACCES", "permission denied", "access", str(path))

    desk.reader._read_file = refused
    (file,) = desk.reader.context(desk.session).held
    assert (file.state, file.stale_lines) == ("changed", 3)


def test_a_deleted_file_is_gone_and_everything_of_it_stale(desk: Desk) -> None:
    desk.write("a.txt", numbered(3))
    desk.read("a.txt")
    (desk.cwd / "a.txt").unlink()
    (file,) = desk.reader.context(desk.session).held
    assert (file.state, file.stale_lines, recovery(file)) == ("gone", 3, [])


def test_after_a_compaction_the_map_lists_what_was_lost_and_how_to_get_it_back(desk: Desk) -> None:
    desk.write("a.txt", numbered(30))
    desk.write("b.txt", numbered(30))
    desk.read("a.txt:4-9")
    desk.read("b.txt")
    entry = desk.session.append("compaction", summary="…", firstKeptEntryId="")
    desk.read("b.txt")
    found = desk.reader.context(desk.session)
    assert [file.path.rpartition("/")[2] for file in found.held] == ["b.txt"]
    assert [file.path.rpartition("/")[2] for file in found.lost] == ["a.txt"]
    text = found.to_text(str(desk.cwd))
    assert f"lost in the compaction {entry}:" in text
    assert '  read(path="a.txt", offset=4, limit=6)' in text.splitlines()


def test_without_proof_the_map_says_why_and_lists_nothing(desk: Desk) -> None:
    found = desk.reader.context(UnreadableLog("no session"))
    assert found.held == found.lost == ()
    assert found.to_text().startswith("[context] the session proves nothing now: no session")
    assert found.to_wire()["doubt"] == "no session"


def test_a_version_that_is_no_longer_kept_counts_as_stale_and_of_unknown_length() -> None:
    now = Current(b"new", digest_of(b"new"))
    file = held_file("/a", {WHOLE: Trust("0" * 64, 1)}, (), now, lambda digest: None)
    assert file is not None
    assert (file.texts[0].lines_total, file.texts[0].whole, file.state) == (None, True, "changed")
    assert recovery(file) == ['read(path="/a")']


def test_a_fresher_whole_replaces_older_runs() -> None:
    text = b"a\nb\nc"
    now = Current(text, digest_of(text))
    scopes: dict[Scope, Trust] = {Lines(1, 2): Trust("0" * 64, 1), WHOLE: Trust(now.digest, 2)}
    file = held_file("/a", scopes, (), now, lambda digest: None)
    assert file is not None
    assert [held.digest for held in file.texts] == [now.digest]


def test_runs_as_sets_of_lines() -> None:
    def numbers(runs: list[Lines]) -> set[int]:
        return {n for run in runs for n in range(run.first, run.last + 1)}

    some = [Lines(1, 3), Lines(4, 6), Lines(9, 9), Lines(2, 5)]
    holes = [Lines(2, 2), Lines(5, 20)]
    assert united(some) == [Lines(1, 6), Lines(9, 9)]
    assert numbers(without(united(some), holes)) == numbers(some) - numbers(holes)


@pytest.mark.shows("READ-MAP-NAMES")
def test_a_line_break_in_a_name_is_no_line_of_the_map(desk: Desk) -> None:
    """A repository could add lines that looked like ours, such as a call to make."""
    name = "a\n[context] session x\x1b[2J.txt"
    desk.write(name, numbered(3))
    desk.reader.read(Request(name), desk.session)
    found = desk.reader.context(desk.session)
    text = found.to_text(str(desk.cwd))
    assert len(found.held) == 1
    assert [line for line in text.split("\n") if line.startswith("[context]")] == [
        text.split("\n")[0]
    ]
    assert "\x1b" not in text
    assert "a\\n[context]" in text
