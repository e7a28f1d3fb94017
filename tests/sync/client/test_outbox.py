"""The outbox file: what it holds survives, and only one process holds it."""

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.sync.client.outbox import (
    FORMAT,
    Base,
    OutboxInUse,
    Remembered,
    SqliteOutbox,
    UnknownOutbox,
)

SPACE = "did:key:outbox"


def commit(local_seq: int) -> dict[str, object]:
    operation = {"op": "set", "id": "of:a", "value": {"value": local_seq}}
    return {"localSeq": local_seq, "reads": {}, "operations": [operation]}


@pytest.mark.shows("SYNC-OUTBOX")
def test_what_was_written_down_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "outbox.db"
    first = SqliteOutbox(path, SPACE)
    assert (first.session(), first.next_local_seq(), first.commits()) == (None, 1, [])
    first.opened("s", "token")
    for n in (1, 2, 3):
        first.add(commit(n))
    first.remove(2)  # type: ignore[arg-type]
    first.close()
    again = SqliteOutbox(path, SPACE)
    assert again.session() == Remembered("s", "token")
    assert again.commits() == [commit(1), commit(3)]
    assert again.next_local_seq() == 4
    again.remove(3)  # type: ignore[arg-type]
    assert again.next_local_seq() == 4
    again.close()


@pytest.mark.shows("SYNC-OUTBOX", "SYNC-OUTBOX-SHOWN")
def test_the_documents_below_patches_stay_as_long_as_a_commit_needs_them(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    first = SqliteOutbox(path, SPACE)
    one = Base("", "of:a", 3, {"value": 1}, ((1, 4, [["patch", "of:a", [{"op": "remove"}]]]),))
    newer, other = Base("", "of:a", 5, {"value": 2}), Base("draft", "of:b", 0, None)
    first.add(commit(2), [one])
    first.add(commit(3), [one, other])
    first.add(commit(4), [newer])
    first.add(commit(5))
    first.close()
    again = SqliteOutbox(path, SPACE)
    assert again.bases() == [newer, other]
    again.add(commit(6), [newer])
    kept = {2: 2, 3: 1, 4: 1, 6: 1, 5: 0}
    for local_seq, left in kept.items():
        again.remove(local_seq)  # type: ignore[arg-type]
        assert len(again.bases()) == left, local_seq
    again.add(commit(7), [one])
    assert again.bases() == [one]
    again.close()


@pytest.mark.shows("SYNC-OUTBOX")
def test_a_file_of_the_first_format_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    made = SqliteOutbox(path, SPACE)
    made.add(commit(1))
    made._db.execute("DROP TABLE base")
    made._db.execute("UPDATE meta SET value = '1' WHERE name = 'format'")
    made.close()
    again = SqliteOutbox(path, SPACE)
    assert (again.commits(), again.bases()) == ([commit(1)], [])
    assert again._meta("format") == str(FORMAT)
    again.close()


@pytest.mark.shows("SYNC-OUTBOX")
def test_it_survives_a_process_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    program = (
        "import os, signal\n"
        "from holdfast.sync.client.outbox import SqliteOutbox\n"
        f"box = SqliteOutbox({str(path)!r}, {SPACE!r})\n"
        f"box.add({commit(1)!r})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert done.returncode == -9
    again = SqliteOutbox(path, SPACE)
    assert again.commits() == [commit(1)]
    again.close()


def test_a_second_owner_is_refused(tmp_path: Path) -> None:
    first = SqliteOutbox(tmp_path / "outbox.db", SPACE)
    with pytest.raises(OutboxInUse, match="open in another process"):
        SqliteOutbox(tmp_path / "outbox.db", SPACE)
    first.close()


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, and long enough to be sure of that\n" * 9)
    with pytest.raises(UnknownOutbox, match="not a database"):
        SqliteOutbox(tmp_path / "text", SPACE)
    SqliteOutbox(tmp_path / "outbox.db", SPACE).close()
    with pytest.raises(UnknownOutbox, match="it belongs to did:key:outbox"):
        SqliteOutbox(tmp_path / "outbox.db", "did:key:other")


def test_another_format_is_refused(tmp_path: Path) -> None:
    made = SqliteOutbox(tmp_path / "outbox.db", SPACE)
    made._db.execute("UPDATE meta SET value = '999' WHERE name = 'format'")
    made.close()
    with pytest.raises(UnknownOutbox, match=f"its format is 999, not {FORMAT}"):
        SqliteOutbox(tmp_path / "outbox.db", SPACE)


def test_the_format_changes_only_with_its_number(tmp_path: Path) -> None:
    made = SqliteOutbox(tmp_path / "outbox.db", SPACE)
    tables = made._db.execute("SELECT sql FROM sqlite_schema ORDER BY name").fetchall()
    made.close()
    version: int = FORMAT
    assert version == 2
    assert [" ".join(str(row[0]).split()) for row in tables] == [
        "CREATE TABLE base ( branch TEXT NOT NULL, id TEXT NOT NULL, last INTEGER NOT NULL, "
        "state TEXT NOT NULL, PRIMARY KEY (branch, id) ) WITHOUT ROWID",
        "CREATE INDEX base_last ON base (last)",
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        'CREATE TABLE pending (local_seq INTEGER PRIMARY KEY, "commit" TEXT NOT NULL)',
        "CREATE TABLE session ( one INTEGER PRIMARY KEY CHECK (one = 1), "
        "session_id TEXT NOT NULL, token TEXT )",
    ]
