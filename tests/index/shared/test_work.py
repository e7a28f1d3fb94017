"""Work that one machine did serves the others: taken if it is right, done again if it is not."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from holdfast.errors import CodeIndexError
from holdfast.index.errors import NewerFormat
from holdfast.index.generations.model import Reader
from holdfast.index.settings import shared_of
from holdfast.index.shared import work
from holdfast.index.shared.http import HttpShared
from holdfast.index.shared.postgres import PostgresShared, tables
from holdfast.index.shared.rows import KEY_BYTES, Seal
from holdfast.index.shared.store import (
    SharedReadOnly,
    SharedStore,
    SharedUnavailable,
    SqliteShared,
)
from holdfast.index.tools.manage import manage_index
from holdfast.postgresql import connect
from tests.files.hostile_git import git
from tests.fork_server import Forked
from tests.index.shared.team import Machine, MemoryRows, clone, made_repository
from tests.postgres import PostgresServer

numbers = count()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return made_repository(tmp_path / "shop")


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, postgres: PostgresServer
) -> Iterator[SharedStore]:
    made: SharedStore = MemoryRows()
    if request.param == "sqlite":
        made = SqliteShared(tmp_path / "shared.sqlite")
    elif request.param == "postgres":
        made = PostgresShared(postgres.url, f"shared_{next(numbers)}")
    yield made
    made.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address and the token of a real `holdfast serve`."""
    home = tmp_path / "server"
    environment = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_INDEX_URL": ""}
    environment["PYTHONUNBUFFERED"] = "1"
    words = ("serve", "--port", "0", "--json", "--show-token")
    started = Forked("holdfast.cli.main", *words, env=environment, cwd=Path.cwd())
    try:
        text = ""
        while not text.rstrip().endswith("}"):
            line = started.stdout.readline()
            assert line, "the server ended"
            text += line
        yield json.loads(text)["dashboard"].split("?")[0].rstrip("/"), (home / "token").read_text()
    finally:
        started.terminate()
        started.wait()
        started.close()


@pytest.mark.shows("TEAM-WORK-SHARED", "TEAM-WORK-ALONE")
def test_work_is_shared_behind_holdfast_serve(
    tmp_path: Path, repository: Path, server: tuple[str, str]
) -> None:
    url, token = server
    settings = {"HOLDFAST_INDEX_URL": url, "HOLDFAST_INDEX_TOKEN": token.strip()}

    def machine(name: str, **more: str) -> Machine:
        made = Machine(tmp_path / name, None)
        made.index.shared = shared_of({**settings, **more})
        return made

    assert "10 given" in machine("first").create(repository)
    fresh = machine("fresh")
    assert "10 of 10 files taken" in fresh.create(repository)
    assert fresh.extracted == []
    refused = machine("stranger", HOLDFAST_INDEX_TOKEN="wrong").create(repository)
    assert "refuses the token" in refused
    assert "works alone" in refused
    other = HttpShared(url, token.strip())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.index.shared.http.SHARED_VERSION", 99)
        with pytest.raises(SharedUnavailable, match="speaks version 1"):
            other.ping()
    with pytest.raises(SharedUnavailable, match="20 bytes"):
        other.put([(b"short", b"x" * 40)])
    other.close()


def contents(machine: Machine, root: Path) -> object:
    """Everything that a generation stores, without when and where."""

    def of(reader: Reader) -> object:
        paths = sorted(reader.snapshot().entries)
        chunks = [[c[3:] for c in reader.chunks_of(path)] for path in paths]
        kept = sorted(
            (f.path, f.language, f.problem, f.signatures, f.names) for f in reader.kept_files()
        )
        return paths, chunks, kept, sorted(reader.facts(paths).items()), reader.totals()

    with machine.index.backend.reader(str(root)) as reader:
        return of(reader)


@pytest.mark.shows("TEAM-WORK-SHARED")
def test_a_fresh_machine_makes_no_fact_that_the_team_has(
    tmp_path: Path, repository: Path, store: SharedStore
) -> None:
    first = Machine(tmp_path / "first", store)
    text = first.create(repository)
    assert "0 of 10 files taken" in text
    assert "10 given" in text
    fresh = Machine(tmp_path / "fresh", store)
    there = clone(repository, tmp_path / "elsewhere")
    text = fresh.create(there)
    assert fresh.extracted == []
    assert "10 of 10 files taken" in text
    alone = Machine(tmp_path / "alone", None)
    alone.create(there)
    assert len(alone.extracted) == 10
    assert contents(fresh, there) == contents(alone, there)
    found = [machine.search(there, "add item to the cart") for machine in (fresh, alone)]
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.shows("TEAM-WORK-CHECKED")
def test_a_damaged_or_wrong_row_is_refused_and_made_again(tmp_path: Path, repository: Path) -> None:
    """Every kind of damage, and rows of another file with a checksum that is right."""
    store = MemoryRows()
    Machine(tmp_path / "first", store).create(repository)
    sound = dict(store.rows)
    keys = sorted(sound)
    alone = Machine(tmp_path / "alone", None)
    alone.create(repository)
    seed = 11
    dice = random.Random(seed)
    damages: dict[str, Callable[[bytes], bytes]] = {
        "a flipped bit": lambda data: _flipped(data, dice),
        "cut short": lambda data: data[: dice.randrange(len(data))],
        "empty": lambda data: b"",
        "something else": lambda data: dice.randbytes(100),
    }
    for name, damage in damages.items():
        store.rows = {key: damage(data) for key, data in sound.items()}
        machine = Machine(tmp_path / name.replace(" ", ""), store)
        text = machine.create(repository)
        assert len(machine.extracted) == 10, (seed, name)
        assert "10 damaged or wrong rows refused and replaced" in text, (seed, name)
        assert contents(machine, repository) == contents(alone, repository), (seed, name)
        assert store.rows == sound, (seed, name)  # the rows were replaced
    # Another file's row under this key, with a checksum that agrees: it does not fit the file.
    seal = Seal()
    values = {key: bytes(seal.open(key, data) or b"") for key, data in sound.items()}
    shuffled = keys[1:] + keys[:1]
    store.rows = {
        key: seal.close(key, values[other]) for key, other in zip(keys, shuffled, strict=True)
    }
    machine = Machine(tmp_path / "shuffled", store)
    machine.create(repository)
    assert len(machine.extracted) == 10
    assert contents(machine, repository) == contents(alone, repository)


def _flipped(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


@pytest.mark.shows("TEAM-WORK-CHECKED")
def test_with_a_secret_only_rows_of_its_holders_count(tmp_path: Path, repository: Path) -> None:
    store = MemoryRows()
    Machine(tmp_path / "stranger", store).create(repository)
    member = Machine(tmp_path / "member", store, secret="s3cret")
    assert "10 damaged or wrong rows refused" in member.create(repository)
    other = Machine(tmp_path / "other", store, secret="s3cret")
    assert "10 of 10 files taken" in other.create(repository)


@pytest.mark.shows("TEAM-WORK-PRIVATE")
def test_only_committed_content_is_given(tmp_path: Path, repository: Path) -> None:
    (repository / "src" / "cart.py").write_text("def private_plan():\n    return 1\n")
    (repository / "src" / "untracked.py").write_text("def not_yet():\n    return 1\n")
    store = MemoryRows()
    machine = Machine(tmp_path / "home", store)
    text = machine.create(repository)
    assert "9 given" in text  # ten committed files, one of them changed
    given = b"".join(store.rows.values())
    assert b"private_plan" not in given
    assert b"not_yet" not in given
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "more")
    later = Machine(tmp_path / "later", store)
    assert "9 of 11 files taken" in later.create(repository)
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def plain_tree():\n    return 1\n")
    machine.create(plain)
    assert b"plain_tree" not in b"".join(store.rows.values())


@pytest.mark.shows("TEAM-WORK-PRIVATE")
def test_secrets_are_masked_before_anything_is_given(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    root = made_repository(
        tmp_path / "shop", {"a.py": f'TOKEN = "{secret}"\n\ndef use():\n    return TOKEN\n'}
    )
    store = MemoryRows()
    Machine(tmp_path / "first", store).create(root)
    assert store.rows
    assert secret.encode() not in b"".join(store.rows.values())
    fresh = Machine(tmp_path / "fresh", store)
    fresh.create(root)
    assert fresh.extracted == []


@pytest.mark.shows("TEAM-WORK-ALONE")
def test_without_the_server_it_works_alone_and_says_so(tmp_path: Path, repository: Path) -> None:
    store = MemoryRows()
    store.fails = "no route to host"
    machine = Machine(tmp_path / "home", store)
    text = machine.create(repository)
    assert "memory cannot be used now, so this machine works alone: no route to host" in text
    assert len(machine.extracted) == 10
    (repository / "src" / "cart.py").write_text("def changed():\n    return 1\n")
    synced = manage_index(machine.index, "sync", str(repository))
    assert "works alone" in synced.human_text
    assert [warning.code for warning in synced.warnings] == ["SHARED_INDEX_AWAY"]
    store.fails = ""
    other = Machine(tmp_path / "home", store)
    status = manage_index(other.index, "status", str(repository)).human_text
    assert "Shared index: memory answers." in status


@pytest.mark.shows("TEAM-WORK-ALONE")
def test_a_server_that_is_down_frozen_or_newer_is_named(
    tmp_path: Path, repository: Path, postgres: PostgresServer
) -> None:
    gone = PostgresShared("postgresql://127.0.0.1:1/x")
    text = Machine(tmp_path / "gone", gone).create(repository)
    assert "postgresql://127.0.0.1:1 cannot be used now" in text
    assert "HOLDFAST_INDEX_URL" in text
    schema = f"shared_{next(numbers)}"
    with connect(postgres.url, "test") as connection:
        for statement in tables(schema):
            connection.execute(statement)
        connection.execute(f"COMMENT ON SCHEMA {schema} IS 'holdfast shared index 99'")
    newer = PostgresShared(postgres.url, schema)
    with pytest.raises(NewerFormat):
        newer.ping()
    text = Machine(tmp_path / "newer", newer).create(repository)
    assert "format 99" in text
    assert "update holdfast" in text
    foreign = f"shared_{next(numbers)}"
    with connect(postgres.url, "test") as connection:
        connection.execute(f"CREATE SCHEMA {foreign}")
    with pytest.raises(SharedUnavailable, match="not a shared index"):
        PostgresShared(postgres.url, foreign).ping()


@pytest.mark.shows("TEAM-WORK-SHARED")
@pytest.mark.parametrize("how", ["granted", "read-only sessions"])
def test_a_role_that_may_only_read_takes_and_does_not_give(
    tmp_path: Path,
    repository: Path,
    postgres: PostgresServer,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was told that it works alone, and after the first refused row it did."""
    schema = f"shared_{next(numbers)}"
    owner = PostgresShared(postgres.url, schema)
    Machine(tmp_path / "owner", owner).create(repository)
    role = f"reader_{next(numbers)}"
    with connect(postgres.url, "test") as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
        if how != "granted":  # As on a replica.
            connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}")
            connection.execute(f"ALTER ROLE {role} SET default_transaction_read_only = on")
            connection.execute(f"UPDATE {schema}.work SET used = CURRENT_DATE - 1")
    reading = PostgresShared(postgres.url.replace("postgres@", f"{role}@"), schema)
    machine = Machine(tmp_path / "reader", reading)
    assert "10 of 10 files taken" in machine.create(repository)
    with pytest.raises(SharedReadOnly, match=r"permission denied|read-only transaction") as refused:
        reading.put([(b"k" * KEY_BYTES, b"value")])
    assert refused.value.hint == "use a role that may write"

    # One file in each request, and every row is sent at once.
    monkeypatch.setattr(work, "BATCH_FILES", 1)
    monkeypatch.setattr(work, "GIVE_BYTES", 1)
    (repository / "a_new.py").write_text("def a_new():\n    return 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "new")
    other = Machine(tmp_path / "other", reading)
    text = other.create(repository)
    assert "10 of 11 files taken" in text
    assert "1 prepared here, 0 given (this role may only read)" in text
    assert other.extracted == ["a_new.py"]
    assert not manage_index(other.index, "reindex", str(repository)).warnings


@pytest.mark.shows("TEAM-WORK-ALONE")
def test_connections_that_a_restart_of_the_server_ended_are_not_used(
    postgres: PostgresServer,
) -> None:
    """A host that stays worked alone once for each of them, with the server there."""
    schema = f"shared_{next(numbers)}"
    store = PostgresShared(postgres.url, schema)
    key = b"k" * KEY_BYTES
    with store._session(), store._session():  # as two builds at once
        pass
    store.put([(key, b"value")])
    with connect(postgres.url, "test") as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'holdfast shared index' AND pid <> pg_backend_pid()"
        )
    assert store.get([key]) == {key: b"value"}
    assert store.has([key]) == {key}
    store.close()


@pytest.mark.shows("TEAM-WORK-SHARED")
def test_the_stores_keep_what_the_simplest_one_keeps(store: SharedStore) -> None:
    seed = 5
    dice = random.Random(seed)
    twin = MemoryRows()
    keys = [dice.randbytes(KEY_BYTES) for _ in range(12)]
    for _ in range(40):
        rows = [(dice.choice(keys), dice.randbytes(dice.randrange(50))) for _ in range(1)]
        replace = dice.random() < 0.5
        for each in (store, twin):
            each.put(rows, replace=replace)
        asked = dice.sample(keys, 5)
        assert dict(store.get(asked)) == twin.get(asked), seed
        assert store.has(asked) == twin.has(asked), seed
    assert store.get([]) == {}


@pytest.mark.shows("TEAM-WORK-KEPT")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_above_the_limit_what_was_not_used_for_longest_is_removed(
    kind: str, tmp_path: Path, postgres: PostgresServer
) -> None:
    schema, limit = f"shared_{next(numbers)}", 10_000
    keys = [bytes([n]) * KEY_BYTES for n in range(20)]
    row = bytes(936)  # with its share of 64 bytes: ten rows are the limit

    def opened(bytes_max: int | None) -> SharedStore:
        if kind == "sqlite":
            return SqliteShared(tmp_path / "shared.sqlite", bytes_max)
        return PostgresShared(postgres.url, schema, bytes_max)

    def a_day_passes() -> None:
        if kind == "sqlite":
            import apsw

            apsw.Connection(str(tmp_path / "shared.sqlite")).execute(
                "UPDATE used SET day = day - 1"
            )
        else:
            with connect(postgres.url, "test") as connection:
                connection.execute(f"UPDATE {schema}.work SET used = used - 1")

    store = opened(limit)
    for key in keys[:10]:
        store.put([(key, row)])
    assert store.has(keys) == frozenset(keys[:10]), "that is not more than the limit"
    a_day_passes()
    assert set(store.get(keys[3:6])) == set(keys[3:6])
    store.put([(keys[10], row)])
    left = store.has(keys)
    assert len(left) == 8
    assert left > {*keys[3:6], keys[10]}
    store.close()
    store = opened(None)
    store.put([(key, row) for key in keys])
    assert store.has(keys) == frozenset(keys), "without a limit nothing is removed"
    store.close()


@pytest.mark.shows("TEAM-WORK-KEPT")
def test_tables_without_the_day_of_use_are_given_it_and_older_machines_go_on(
    postgres: PostgresServer,
) -> None:
    schema, keys = f"shared_{next(numbers)}", [bytes([n]) * KEY_BYTES for n in range(3)]
    with connect(postgres.url, "test") as connection:
        for statement in tables(schema):
            connection.execute(statement)
        connection.execute(f"ALTER TABLE {schema}.work DROP COLUMN used")
        connection.execute(f"INSERT INTO {schema}.work VALUES ($1, $2)", (keys[0], b"before"))
        store = PostgresShared(postgres.url, schema, 1 << 20)
        assert store.get(keys) == {keys[0]: b"before"}
        # As a machine without this setting and without this column in mind gives its work.
        put = f"INSERT INTO {schema}.work SELECT * FROM unnest($1::bytea[], $2::bytea[])"
        connection.execute(put, ([keys[1]], [b"older"]))
    store.put([(keys[2], b"newer")])
    assert store.get(keys) == {keys[0]: b"before", keys[1]: b"older", keys[2]: b"newer"}
    store.close()


def test_a_newer_file_is_not_used(tmp_path: Path) -> None:
    import apsw

    path = tmp_path / "shared.sqlite"
    apsw.Connection(str(path)).execute("PRAGMA user_version=99")
    with pytest.raises(CodeIndexError, match="format 99"):
        SqliteShared(path).ping()
