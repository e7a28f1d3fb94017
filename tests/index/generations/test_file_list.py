"""The list of all files in one value says what the tables say, or is not used."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest
from msgspec.structs import replace as changed_struct

from holdfast.files.snapshot import Entry, Stat
from holdfast.index.embedding.hashed import DIMENSION
from holdfast.index.generations import file_list
from holdfast.index.generations.file_list import ListedManifest
from holdfast.index.generations.sqlite import file_lists, tables
from holdfast.index.generations.sqlite.backend import SqliteBackend
from tests.index.generations.test_backends import ROOT, prepared
from tests.scale import seeds

PATHS = [f"part{n % 3}/file_{n}.py" for n in range(24)]


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SqliteBackend]:
    made = SqliteBackend(tmp_path, DIMENSION)
    yield made
    made.close()


def connection_of(backend: SqliteBackend) -> apsw.Connection:
    backend._wait_for_checkpoint()
    return apsw.Connection(str(backend._path(ROOT)))


def put(writer: Any, path: str, text: str) -> None:
    file = prepared(path, text)
    stat = Stat(len(text), abs(hash(text)) % 10**9, 5)
    writer.put(changed_struct(file, entry=replace_stat(file.entry, stat)))


def replace_stat(entry: Entry, stat: Stat) -> Entry:
    return entry._replace(stat=stat)


def check(backend: SqliteBackend) -> tuple[int, bool]:
    """The list and the tables agree; how many files changed since it was written, and if it is
    used."""
    connection = connection_of(backend)
    run = str(tables.meta(connection)["run"])
    stored = file_lists.stored(connection, run)
    whole = tables.snapshot(connection)
    assert file_lists.snapshot(connection) == whole
    manifest = file_lists.manifest(connection)
    if isinstance(manifest, ListedManifest):
        made = manifest().entries
        assert list(made.items()) == [(path, made[path]) for path in made]
        for path in [*PATHS, "missing.py"]:
            assert made.get(path) == whole.entries.get(path)
            assert (path in made) == (path in whole.entries)
    listed = file_lists.rows_of(file_lists.placed_files(connection))
    assert listed == sorted(tables.placed_files(connection))
    file_lists.verify(connection)
    connection.close()
    with backend.reader(ROOT) as reader:
        living = reader.corpus().files
    assert {(file.number, file.path) for file in living} == {row[:2] for row in listed}
    return (0 if stored is None else len(stored[1])), stored is not None


@pytest.mark.shows("INDEX-FILE-LIST")
@pytest.mark.parametrize("seed", seeds(4))
def test_the_list_says_what_the_tables_say_after_any_changes(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(file_list, "CHANGED_MIN", 9)
    rng = random.Random(seed)
    most = 0
    with backend.writer(ROOT) as writer:
        writer.start_over()
        for path in PATHS[:12]:
            put(writer, path, f"def made_{rng.random()}(): ...\n")
        writer.publish("m", 7)
    assert check(backend) == (0, True)
    for _ in range(25):
        with backend.writer(ROOT) as writer:
            before = writer.snapshot().entries
            for path in rng.sample(PATHS, rng.randrange(3)):
                kind = rng.choice(["put", "put", "remove", "touch"])
                known = before.get(path)
                if kind == "put":
                    put(writer, path, f"def made_{rng.random()}(): ...\n")
                elif kind == "remove":
                    writer.remove(path)
                elif known is not None:
                    times = Stat(known.stat.size_bytes, rng.randrange(10**9), 8)
                    writer.restat(path, replace_stat(known, times))
            writer.publish("m", 7)
        changed, is_used = check(backend)
        assert is_used
        most = max(most, changed)
    assert 0 < most <= 9, "it was written again"


@pytest.mark.shows("INDEX-FILE-LIST")
def test_the_list_of_another_generation_is_not_used(backend: SqliteBackend) -> None:
    """As a program leaves it that does not know the list."""
    with backend.writer(ROOT) as writer:
        put(writer, PATHS[0], "def one(): ...\n")
        writer.publish("m", 7)
    connection = connection_of(backend)
    values = tables.meta(connection) | {"run": "another"}
    tables.put_meta(connection, values)
    connection.close()
    assert check(backend) == (0, False)
    with backend.writer(ROOT) as writer:
        put(writer, PATHS[1], "def two(): ...\n")
        writer.publish("m", 7)
    assert check(backend) == (0, True)


@pytest.mark.shows("INDEX-FILE-LIST")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE file_list SET data = x'00'",
        "UPDATE file_list SET data = x'00' WHERE key = 'files'",
        "UPDATE file_list SET data = x'90' WHERE key = 'use'",
        "UPDATE file_list SET list_check = list_check + 1",
        "DELETE FROM file_list WHERE key = 'files'",
        "DELETE FROM file_list WHERE key = 'use'",
        "DROP TABLE file_list",
    ],
)
def test_a_damaged_list_is_not_used(backend: SqliteBackend, statement: str) -> None:
    with backend.writer(ROOT) as writer:
        put(writer, PATHS[0], "def one(): ...\n")
        writer.publish("m", 7)
    connection = connection_of(backend)
    connection.execute(statement)
    assert file_lists.stored(connection, str(tables.meta(connection)["run"])) is None
    assert file_lists.snapshot(connection) == tables.snapshot(connection)
    assert file_lists.placed_files(connection) == tables.placed_files(connection)
    connection.close()
    with backend.writer(ROOT) as writer:
        put(writer, PATHS[1], "def two(): ...\n")
        writer.publish("m", 7)
    with backend.reader(ROOT) as reader:
        assert set(reader.snapshot().entries) == set(PATHS[:2])


@pytest.mark.shows("INDEX-FILE-LIST")
def test_a_list_of_another_version_is_not_used() -> None:
    data = file_list.encode([(1, "a.py", "00", 1, 2, 3)], [(1, "a.py", "python", None, None)])
    found = file_list.decode(data)
    assert found is not None
    assert found.entries(()) == {"a.py": Entry(Stat(1, 2, 3), "00")}
    assert list(found.segments) == [-1]
    newer = msgspec.structs.replace(found._stored, version=file_list.VERSION + 1)
    assert file_list.decode(msgspec.msgpack.encode(newer)) is None
    assert file_list.decode(b"\x90") is None
