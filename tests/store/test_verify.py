"""`verify` finds tampering by the invariant it breaks, and nothing in a sound space."""

from typing import Any

import pytest
from hypothesis import given, settings

from holdfast.ids import LocalSeq, SessionId
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from tests.scale import examples, size
from tests.store.bitflips import KEYS, fill
from tests.store.harness import Engines, Writer, delete_, dump, patch_, replace_, set_
from tests.store.histories import histories, play

SETTINGS = StoreSettings(snapshot_interval=2, snapshot_retention=0)


def filled(engines: Engines) -> Store:
    store = engines.open(settings=SETTINGS)
    write = Writer(store, "w")
    write(set_("doc:a", {"n": 0}), set_("doc:b", 0))
    for n in range(1, 6):
        write(patch_("doc:a", replace_("/value/n", n)))
    read = {"id": "doc:b", "path": ["value"], "seq": 1}
    write(set_("doc:c", 1), reads=[read])
    pending = {"id": "doc:b", "path": ["value"], "localSeq": [1], "basisSeq": 1}
    write(set_("doc:c", 2), pending=[pending])
    store.create_branch("draft", by=CommitKey(SessionId("keeper"), LocalSeq(1)))
    write(patch_("doc:a", replace_("/value/n", -1)), branch="draft")
    write(delete_("doc:b"))
    store.create_branch("plain")
    write(set_("doc:c", 3), branch="plain")
    store.create_branch("gone", "draft", by=CommitKey(SessionId("keeper"), LocalSeq(2)))
    store.delete_branch("gone", by=CommitKey(SessionId("keeper"), LocalSeq(3)))
    store.put_blob(b"bytes")
    return store


TAMPERING: dict[str, tuple[str, str | list[str]]] = {
    "a head before its time": ("INV-21", "UPDATE head SET seq = 5 WHERE id = 'doc:a'"),
    "a head at another operation": ("INV-21", "UPDATE head SET op_index = 1 WHERE id = 'doc:c'"),
    "a head that is gone": ("INV-21", "DELETE FROM head WHERE id = 'doc:c'"),
    "a head of nothing": ("INV-21", "INSERT INTO head VALUES ('', 'doc:z', 1, 0, 0)"),
    "a revision that is gone": ("INV-8", "DELETE FROM revision WHERE seq = 3"),
    "the newest revision gone": ("INV-21", "DELETE FROM revision WHERE id = 'doc:c' AND seq = 8"),
    "a revision too many": (
        "INV-8",
        "INSERT INTO revision VALUES ('', 'doc:c', 8, 1, 'delete', NULL, 8, 0)",
    ),
    "a revision with other data": (
        "INV-8",
        "UPDATE revision SET data = '{\"value\":9}' WHERE id = 'doc:c' AND seq = 8",
    ),
    "a revision of another kind": (
        "INV-8",
        "UPDATE revision SET op = 'delete', data = NULL WHERE id = 'doc:c' AND seq = 8",
    ),
    "a revision of another commit": (
        "INV-20",
        "UPDATE revision SET commit_seq = 2 WHERE id = 'doc:c' AND seq = 8",
    ),
    "a revision on another branch": (
        "INV-20",
        "UPDATE revision SET branch = 'draft' WHERE id = 'doc:c' AND seq = 8",
    ),
    "another snapshot": ("INV-9", 'UPDATE snapshot SET value = \'{"value":{"n":99}}\''),
    "a snapshot that is no text": ("INV-9", "UPDATE snapshot SET value = '{'"),
    "a snapshot where nothing was written": (
        "INV-9",
        "INSERT INTO snapshot VALUES ('', 'doc:a', 8, '{}', 0)",
    ),
    "a snapshot of nothing": ("INV-9", "INSERT INTO snapshot VALUES ('', 'doc:z', 8, '{}', 0)"),
    "a patch that does not apply": (
        "INV-9",
        'UPDATE revision SET data = \'[{"op":"remove","path":"/value/z"}]\' WHERE seq = 2',
    ),
    "a seq that is gone": (
        "INV-22",
        ["DELETE FROM revision WHERE seq = 12", 'DELETE FROM "commit" WHERE seq = 12'],
    ),
    "a gap": (
        "INV-22",
        ["DELETE FROM revision WHERE seq = 4", 'DELETE FROM "commit" WHERE seq = 4'],
    ),
    "a branch head too far": ("INV-22", "UPDATE branch SET head_seq = 99 WHERE name = ''"),
    "a branch head too near": ("INV-22", "UPDATE branch SET head_seq = 3 WHERE name = ''"),
    "a fork beyond its parent": ("INV-22", "UPDATE branch SET fork_seq = 99 WHERE name = 'draft'"),
    "a branch without a fork": ("INV-22", "UPDATE branch SET fork_seq = NULL WHERE name <> ''"),
    "a branch without a parent": (
        "INV-22",
        "UPDATE branch SET parent_branch = NULL WHERE name <> ''",
    ),
    "a branch in a circle": (
        "INV-22",
        "UPDATE branch SET parent_branch = 'draft' WHERE name = 'draft'",
    ),
    "a fork elsewhere": ("INV-22", "UPDATE branch SET fork_seq = 7 WHERE name = 'draft'"),
    "a fork elsewhere, unrecorded": (
        "INV-22",
        "UPDATE branch SET fork_seq = 10 WHERE name = 'plain'",
    ),
    "a creation at another time": (
        "INV-22",
        "UPDATE branch SET created_seq = 10 WHERE name = 'draft'",
    ),
    "a creation at another time, unrecorded": (
        "INV-22",
        "UPDATE branch SET created_seq = 12 WHERE name = 'plain'",
    ),
    "another parent": ("INV-22", "UPDATE branch SET parent_branch = '' WHERE name = 'gone'"),
    "a branch come back": (
        "INV-22",
        "UPDATE branch SET status = 'active', deleted_at = NULL WHERE name = 'gone'",
    ),
    "a branch neither here nor gone": (
        "INV-22",
        "UPDATE branch SET status = 'gone' WHERE name = 'plain'",
    ),
    "a branch deleted at no time": (
        "INV-22",
        "UPDATE branch SET status = 'deleted' WHERE name = 'plain'",
    ),
    "an active branch with an end": (
        "INV-22",
        "UPDATE branch SET deleted_at = 'now' WHERE name = 'plain'",
    ),
    "a default branch with a fork": ("INV-22", "UPDATE branch SET fork_seq = 1 WHERE name = ''"),
    "a default branch made later": ("INV-22", "UPDATE branch SET created_seq = 1 WHERE name = ''"),
    "a commit before the first": ("INV-22", 'UPDATE "commit" SET seq = 0 WHERE seq = 9'),
    "a creation of another branch": (
        "INV-22",
        "UPDATE \"commit\" SET branch = 'plain' WHERE seq = 9",
    ),
    "a commit on no branch": (
        "INV-22",
        "UPDATE \"commit\" SET branch = 'nowhere' WHERE seq = 9",
    ),
    "a creation that is no text": (
        "INV-8",
        "UPDATE \"commit\" SET original = original || 'x' WHERE seq = 9",
    ),
    "a document that is a number": (
        "INV-8",
        "UPDATE revision SET data = '1' WHERE id = 'doc:b' AND seq = 11",
    ),
    "an original that is no text": (
        "INV-8",
        "UPDATE \"commit\" SET original = '{' WHERE seq = 7",
    ),
    "an original of other operations": (
        "INV-8",
        "UPDATE \"commit\" SET original = replace(original, 'doc:c', 'doc:d') WHERE seq = 8",
    ),
    "an original for another branch": (
        "INV-8",
        'UPDATE "commit" SET original = '
        'replace(original, \'"localSeq":8\', \'"branch":"draft","localSeq":8\') WHERE seq = 8',
    ),
    "an original under another localSeq": (
        "INV-11",
        'UPDATE "commit" SET original = replace(original, \'"localSeq":7\', \'"localSeq":6\') '
        "WHERE seq = 7",
    ),
    "another localSeq": ("INV-11", 'UPDATE "commit" SET local_seq = 77 WHERE seq = 7'),
    "a resolution of another seq": (
        "INV-11",
        'UPDATE "commit" SET resolution = \'{"seq":1}\' WHERE seq = 7',
    ),
    "a resolution without its layers": (
        "INV-11",
        'UPDATE "commit" SET resolution = \'{"seq":8}\' WHERE seq = 8',
    ),
    "a resolution that is a list": (
        "INV-11",
        "UPDATE \"commit\" SET resolution = '[]' WHERE seq = 8",
    ),
    "a read that no longer holds": (
        "INV-1",
        'UPDATE "commit" SET original = replace(replace(original, \'"seq":1\', \'"seq":0\'), '
        "'X', 'X') WHERE seq = 7",
    ),
    "a basis that no longer holds": (
        "INV-1",
        'UPDATE "commit" SET original = replace(original, \'"localSeq":[1],"basisSeq":1\', '
        '\'"localSeq":[2],"basisSeq":0\'), '
        'resolution = \'{"seq":8,"resolvedPendingReads":[{"localSeq":2,"seq":2}]}\' WHERE seq = 8',
    ),
    "other bytes in a blob": ("INV-25", "UPDATE blob_store SET data = x'00'"),
    "another size of a blob": ("INV-25", "UPDATE blob_store SET size = 1"),
    "a signed write": (
        "INV-24",
        "INSERT INTO invocation (ref, iss, cmd, sub, invocation, created_at) "
        "VALUES ('r', 'i', 'c', 's', '{}', '')",
    ),
    "an authorization": (
        "INV-24",
        "INSERT INTO \"authorization\" VALUES ('r', '{}', '')",
    ),
}


@pytest.mark.shows(
    "STORE-VERIFY",
    "INV-1",
    "INV-8",
    "INV-9",
    "INV-11",
    "INV-20",
    "INV-21",
    "INV-22",
    "INV-24",
    "INV-25",
)
def test_tampering_is_found_by_the_invariant_it_breaks(engines: Engines) -> None:
    postgres = engines.url.startswith("postgresql")
    problems = []
    # On the disk `make quick` tries each third; all of them in memory.
    step = 1 if engines.url == "memory:" else size(1, 3)
    for name, (invariant, statements) in list(TAMPERING.items())[::step]:
        store = filled(engines)
        assert store.verify().findings == []
        writing = store.engine.writing
        if not postgres:
            writing.rows("PRAGMA foreign_keys=OFF")
        before = dump(store)
        for statement in [statements] if isinstance(statements, str) else statements:
            writing.run(statement.replace("x'00'", "'0'::bytea") if postgres else statement)
        if dump(store) == before:
            problems.append(f"{name}: nothing was changed")
        report = store.verify()
        found = {finding.invariant for finding in report.findings or []}
        if invariant not in found:
            problems.append(f"{name}: found {[str(f) for f in report.findings or []]}")
        if report.sound or report.to_wire()["sound"]:
            problems.append(f"{name}: called sound")
        if engines.url != "memory:":
            engines.close()
    assert not problems, "\n".join(problems)


@pytest.mark.shows(
    "STORE-VERIFY", "INV-1", "INV-9", "INV-20", "INV-21", "INV-22", "INV-23", "INV-24"
)
@given(history=histories)
@settings(max_examples=examples(150))
def test_nothing_is_found_in_a_sound_space(history: list[tuple[Any, ...]]) -> None:
    with open_store("memory:", "did:key:sound", StoreSettings(snapshot_interval=2)) as store:
        play(store, history)
        report = store.verify()
        assert report.findings == []
        assert report.commits == store.newest_seq()
        before = dump(store)
        store.verify()
        assert dump(store) == before, "looking changes nothing"


@pytest.mark.shows("INV-25")
def test_a_blob_advances_no_seq(store: Store) -> None:
    Writer(store)(set_("doc:a", 1))
    before = store.newest_seq()
    store.put_blob(b"bytes")
    assert store.newest_seq() == before
    assert store.verify().blobs == 1


@pytest.mark.shows("STORE-VERIFY")
def test_a_row_of_another_branch_or_document_is_found(engines: Engines) -> None:
    """Every row under the key of another one, where the database has no row of that key."""
    store = engines.open(settings=SETTINGS)
    fill(store)
    run, rows = store.engine.writing.run, store.engine.writing.rows
    run("SET session_replication_role = replica" if store.engine.writing.distant else "SELECT 1")
    moved = 0
    for table in ("revision", "head", "snapshot"):
        key = KEYS[table]
        found = rows(f"SELECT {', '.join(key)} FROM {table}")
        where = " AND ".join(f"{column} = ${n + 2}" for n, column in enumerate(key))
        for column in (0, 1):
            values = sorted({row[column] for row in found})
            update = f"UPDATE {table} SET {key[column]} = $1 WHERE {where}"
            for row in found:
                keys = [(*row[:column], value, *row[column + 1 :]) for value in values]
                there = next((key for key in keys if key not in found), None)
                if there is None:
                    continue
                run(update, (there[column], *row))
                assert store.verify().findings, f"{table} {row} as {there}"
                run(update, (row[column], *there))
                moved += 1
    assert moved > 40
    assert store.verify().findings == []


@pytest.mark.shows("INV-5", "STORE-VERIFY")
def test_a_commit_sent_again_after_a_refusal_is_counted_not_found_fault_with(store: Store) -> None:
    write = Writer(store, "w")
    write.local_seq = 4
    write(set_("doc:a", 1))
    write.local_seq = 1
    write(set_("doc:a", 2))
    report = store.verify()
    assert report.findings == []
    assert report.reordered == 1
