"""The journal of an edit: its format, and what is decided from the states of its files."""

import hashlib
import itertools

import pytest

from holdfast.files.edit_journal import (
    JOURNAL_VERSION,
    DamagedJournal,
    Journal,
    JournalFile,
    decode,
    digest,
)
from holdfast.files.edit_recovery import (
    Ask,
    Drop,
    Finish,
    Interrupted,
    State,
    choose,
    decide,
    state_of,
)

EDIT = Journal(
    "/work/shop",
    ".holdfast-12",
    (JournalFile("a.py", b"one\n", b"two\n"), JournalFile("in/b.py", b"", b"\xff\n")),
)
# One line per version that ever left this project: never edit one, add one.
FORMATS = {1: "f46941a95698ccae"}


@pytest.mark.shows("EDIT-JOURNAL-FORMAT")
def test_the_journal_changes_only_with_a_new_version() -> None:
    found = hashlib.sha256(EDIT.encode()).hexdigest()[:16]
    assert FORMATS.get(JOURNAL_VERSION) == found, (
        "an interrupted edit of an older version could no longer be finished: raise "
        f"JOURNAL_VERSION, add its line to the history, and this digest here: {found}"
    )


@pytest.mark.shows("EDIT-JOURNAL-FORMAT")
def test_a_journal_is_read_as_it_was_written() -> None:
    odd = JournalFile("\udcff name\n.py", b"\0\n\n", b"x")
    for journal in (EDIT, Journal("/r\udcff", ".p", (odd,)), Journal("/r", ".p", ())):
        assert decode(journal.encode(), "j") == journal


@pytest.mark.shows("EDIT-JOURNAL-FORMAT")
def test_a_journal_with_any_byte_changed_or_missing_is_refused() -> None:
    data = EDIT.encode()
    for at in range(len(data)):
        for bad in (data[:at], data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]):
            with pytest.raises(DamagedJournal):
                decode(bad, "j")
    with pytest.raises(DamagedJournal):
        decode(data + b"x", "j")


@pytest.mark.shows("EDIT-JOURNAL-FORMAT")
def test_a_journal_of_a_newer_version_is_named_as_such() -> None:
    newer = EDIT.encode().replace(b"journal 1 ", b"journal 2 ", 1)
    with pytest.raises(DamagedJournal, match="format 2; this version of Holdfast reads format 1"):
        decode(newer, "j")


@pytest.mark.shows("EDIT-JOURNAL-FORMAT")
@pytest.mark.parametrize("name", ["../a", "/a", "a//b", "a/./b", "", "a\0b"])
def test_a_journal_cannot_name_a_file_outside_its_root(name: str) -> None:
    good = EDIT.encode().partition(b"\n")[2].replace(b'"a.py"', b'"AA"')
    body = good.replace(b"AA", name.replace("\0", "\\u0000").encode())
    with pytest.raises(DamagedJournal, match="path below a root"):
        decode(b"holdfast-edit-journal 1 %s\n" % digest(body).encode() + body, "j")
    with pytest.raises(ValueError, match="path below a root"):
        JournalFile(name, b"", b"")


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_the_decision_follows_from_the_states_of_the_files() -> None:
    """The table of all states of three files, against the rules in words."""
    for states in itertools.product(State, repeat=3):
        files = dict(zip("abc", states, strict=True))
        plan = decide(files)
        unknown = {p for p, s in files.items() if s not in (State.BEFORE, State.AFTER)}
        if unknown:
            assert plan == Ask(tuple(sorted(unknown)))
        elif set(states) == {State.AFTER}:
            assert plan == Drop(written=True)
        elif set(states) == {State.BEFORE}:
            assert plan == Drop(written=False)
        else:
            left = tuple(p for p, s in files.items() if s is State.BEFORE)
            assert plan == Finish(left)


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_a_choice_never_writes_a_file_that_others_changed() -> None:
    files = {"a": State.BEFORE, "b": State.AFTER, "c": State.CHANGED, "d": State.MISSING}
    assert choose(files, "finish") == ("a",)
    assert choose(files, "undo") == ("b",)
    assert choose({**files, "e": State.UNREADABLE}, "finish") is None


def test_a_message_names_every_changed_file_and_the_first_of_the_others() -> None:
    before = {f"f{at:02}": State.BEFORE for at in range(25)}
    changed = {f"g{at:02}": State.CHANGED for at in range(25)}
    said = str(Interrupted("/r", {**before, **changed}))
    assert "f18, f19 and 5 more; changed since: g00" in said
    assert all(name in said for name in changed)


def test_a_file_that_the_edit_leaves_as_it_is_counts_as_written() -> None:
    assert state_of(b"x", b"x", b"x") is State.AFTER
    assert state_of(b"x", b"x", b"y") is State.BEFORE
    assert state_of(b"z", b"x", b"y") is State.CHANGED
