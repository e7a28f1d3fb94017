"""Tables of all spaces together, partitioned by space; and versions that meet on one database."""

import hashlib
from collections.abc import Iterator
from itertools import count

import psycopg
import pytest

from holdfast.store.errors import DamagedStore, StoreUpgraded
from holdfast.store.postgres import schema_name
from holdfast.store.store import Store, open_store
from holdfast.store.tables import TABLES
from holdfast.store.tables.partitions import PARTITIONS, STORE, VERSION
from holdfast.sync.server.session_rows import SessionTable
from tests.postgres import PostgresServer
from tests.store.bitflips import KEYS, SETTINGS, fill
from tests.store.harness import Writer, dump, set_
from tests.store.older import downgrade, mark

pytestmark = pytest.mark.service("postgres")

_NUMBERS = count(1)


@pytest.fixture
def space() -> str:
    return f"did:key:partition-{next(_NUMBERS)}"


@pytest.fixture
def ask(postgres: PostgresServer) -> Iterator[psycopg.Cursor]:
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        yield connection.cursor()


@pytest.mark.shows("STORE-PARTITIONS")
def test_every_table_is_partitioned_by_space_and_has_it_in_every_unique_key(
    postgres: PostgresServer, space: str, ask: psycopg.Cursor
) -> None:
    open_store(postgres.url, space).close()
    ask.execute(
        "SELECT relname, pg_get_partkeydef(oid), "
        "(SELECT count(*) FROM pg_inherits WHERE inhparent = pg_class.oid) "
        "FROM pg_class WHERE relkind = 'p' AND relnamespace = to_regnamespace(%s)",
        (STORE,),
    )
    found = {name: (key, parts) for name, key, parts in ask.fetchall()}
    assert found == dict.fromkeys(TABLES, ("HASH (space)", PARTITIONS))
    ask.execute(
        "SELECT indrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index "
        "JOIN pg_class ON pg_class.oid = indrelid "
        "WHERE indisunique AND relkind = 'p' AND relnamespace = to_regnamespace(%s)",
        (STORE,),
    )
    keys = ask.fetchall()
    assert len(keys) == len(TABLES) + 1
    assert all("(space, " in definition for _, definition in keys), keys


@pytest.mark.shows("STORE-PARTITIONS")
def test_the_rows_of_a_space_are_in_one_partition_and_in_no_other_space(
    postgres: PostgresServer, ask: psycopg.Cursor
) -> None:
    spaces = [f"did:key:apart-{n}" for n in range(2 * PARTITIONS)]
    dumps = {}
    for number, space in enumerate(spaces):
        with open_store(postgres.url, space) as store:
            write = Writer(store)
            for n in range(number % 3 + 1):
                write(set_(f"doc:{n}", {"of": space}))
            store.create_branch("draft")
            dumps[space] = dump(store)
    used = set()
    for space in spaces:
        with open_store(postgres.url, space, create=False) as store:
            assert dump(store) == dumps[space]
            assert store.verify().findings == []
        ask.execute(f"SELECT number FROM {STORE}.space WHERE name = %s", (space,))
        ((number,),) = ask.fetchall()
        places = set()
        for table in ("commit", "revision", "head", "branch"):
            ask.execute(
                f'SELECT DISTINCT tableoid::regclass::text FROM {STORE}."{table}" WHERE space = %s',
                (number,),
            )
            places |= {row[0].strip('"').rpartition("_")[2] for row in ask.fetchall()}
        assert len(places) == 1, "the partitions of a space have one number"
        used |= places
    assert len(used) > PARTITIONS // 2


@pytest.mark.shows("STORE-PARTITIONS")
def test_a_statement_of_a_space_looks_into_one_partition(
    postgres: PostgresServer, space: str
) -> None:
    with open_store(postgres.url, space) as store:
        Writer(store)(set_("doc:a", 1))
        plan = store.engine.reading.rows(
            "EXPLAIN SELECT seq FROM head WHERE branch = '' AND id = 'doc:a'"
        )
    text = "\n".join(line for (line,) in plan)
    assert text.count(" on head_") == 1, text


@pytest.mark.shows("STORE-PARTITIONS", "STORE-WRONG-SPACE")
@pytest.mark.parametrize(
    "table", ["branch", "blob_store", "commit", "head", "revision", "snapshot"]
)
def test_a_row_that_sits_in_the_wrong_space_is_noticed(
    postgres: PostgresServer, ask: psycopg.Cursor, table: str
) -> None:
    """A changed partition key takes a row out of its space: into another, or into none."""
    with (
        open_store(postgres.url, f"did:key:left-{table}", SETTINGS) as store,
        open_store(postgres.url, f"did:key:other-{table}", SETTINGS) as other,
    ):
        fill(store)
        Writer(other)(set_("doc:other", 1))
        own, into = (_number(each) for each in (store, other))
        ask.execute("SET session_replication_role = replica")
        key = ("space", *KEYS[table])
        ask.execute(f'SELECT {", ".join(key)} FROM {STORE}."{table}" WHERE space = %s', (own,))
        rows = ask.fetchall()
        where = " AND ".join(f"{column} = %s" for column in key)
        move = f'UPDATE {STORE}."{table}" SET space = %s WHERE {where}'
        noticed = 0
        for row in rows:
            for target in (1 << 40 | own, into):
                try:
                    ask.execute(move, (target, *row))
                except psycopg.errors.UniqueViolation:
                    continue  # the other space has a row of that key
                place = f"{table} {row} in space {target}"
                # A snapshot is a copy that its space does without.
                assert store.verify().findings or (table == "snapshot" and target == into), place
                assert other.verify().findings, place
                noticed += 1
                ask.execute(move, (own, target, *row[1:]))
        assert noticed >= len(rows)
        assert store.verify().findings == other.verify().findings == [], "all is as it was"


@pytest.mark.shows("STORE-WRONG-SPACE")
def test_what_came_from_another_space_is_refused_when_it_is_read(
    postgres: PostgresServer, ask: psycopg.Cursor
) -> None:
    """Two spaces with the same keys exchange their rows; each copy is sound in itself."""
    with (
        open_store(postgres.url, "did:key:mine") as mine,
        open_store(postgres.url, "did:key:theirs") as theirs,
    ):
        Writer(mine)(set_("doc:a", "mine"))
        Writer(theirs)(set_("doc:a", "theirs"))
        hash = mine.put_blob(b"bytes", "text/plain")
        one, two = _number(mine), _number(theirs)
        ask.execute("SET session_replication_role = replica")
        for table in ("revision", "head", "blob_store"):
            for space, into in ((one, -1), (two, one), (-1, two)):
                ask.execute(
                    f"UPDATE {STORE}.{table} SET space = %s WHERE space = %s", (into, space)
                )
    for name in ("did:key:mine", "did:key:theirs"):
        with (
            open_store(postgres.url, name) as store,
            pytest.raises(DamagedStore, match="does not match its checksum"),
        ):
            store.state("doc:a")
    with open_store(postgres.url, "did:key:theirs") as theirs:
        with pytest.raises(DamagedStore, match="its row does not match its checksum"):
            theirs.blob(hash)
        with pytest.raises(DamagedStore, match="does not match"):
            list(theirs.export("did:key:theirs"))


def _number(store: Store) -> int:
    return int(store.engine.reading.rows("SELECT space FROM branch WHERE name = ''")[0][0])


@pytest.mark.shows("STORE-ROLLING-UPGRADE")
def test_a_server_of_an_older_version_is_told_and_writes_nothing(
    postgres: PostgresServer, space: str
) -> None:
    """What a newer server does to a space while this one has it open: its version is another."""
    with open_store(postgres.url, space) as old, open_store(postgres.url, space) as newer:
        write = Writer(old)
        write(set_("doc:a", 1))
        before = dump(old)
        mark(newer, space, VERSION + 1, True)
        with pytest.raises(StoreUpgraded, match=f"version {VERSION + 1}") as refused:
            write(set_("doc:a", 2))
        assert "newer release" in (refused.value.hint or "")
        assert dump(old) == before, "it still reads"
        with pytest.raises(StoreUpgraded):
            open_store(postgres.url, space)
        mark(newer, space, VERSION, True)
        assert Writer(old, "after")(set_("doc:a", 3)).seq == 2


@pytest.mark.shows("STORE-ROLLING-UPGRADE")
def test_a_space_is_brought_up_to_date_while_another_server_reads_it(
    postgres: PostgresServer, space: str, ask: psycopg.Cursor
) -> None:
    with open_store(postgres.url, space) as store:
        write = Writer(store)
        for n in range(20):
            write(set_(f"doc:{n % 3}", {"n": n}))
        store.create_branch("draft")
        write(set_("doc:a", 1), branch="draft")
        before = dump(store)
    downgrade(postgres.url, space, 6)
    # As the server of the older version reads: by the schema of the space.
    ask.execute(f"SET search_path TO {schema_name(space)}")
    ask.execute('SELECT count(*) FROM "commit"')
    assert ask.fetchall() == [(21,)]
    with open_store(postgres.url, space) as store:
        assert dump(store) == before
        assert store.verify().findings == []
    ask.execute('SELECT count(*) FROM "commit"')
    assert ask.fetchall() == [(21,)]
    ask.execute("SELECT name FROM branch WHERE name = '' FOR UPDATE")
    assert ask.fetchall() == [("",)]


def test_a_space_whose_schema_was_dropped_starts_anew(
    postgres: PostgresServer, space: str, ask: psycopg.Cursor
) -> None:
    with open_store(postgres.url, space) as store:
        Writer(store)(set_("doc:a", 1))
    ask.execute(f"DROP SCHEMA {schema_name(space)} CASCADE")
    with open_store(postgres.url, space) as store:
        assert store.newest_seq() == 0
        assert Writer(store)(set_("doc:b", 1)).seq == 1


@pytest.mark.shows("STORE-PARTITIONS")
def test_stored_sessions_are_partitioned_and_those_of_a_plain_table_are_kept(
    postgres: PostgresServer, ask: psycopg.Cursor
) -> None:
    ask.execute("CREATE DATABASE plain_sessions")
    url = postgres.url.replace("/postgres?", "/plain_sessions?")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE public.holdfast_session (space text NOT NULL, id text NOT NULL, "
            "until_ms bigint NOT NULL, state text NOT NULL, PRIMARY KEY (space, id))"
        )
        digest = hashlib.sha256(b"token").hexdigest()
        row = ("s", "id", 2**50, f'{{"tokenDigest":"{digest}"}}')
        connection.execute("INSERT INTO holdfast_session VALUES (%s, %s, %s, %s)", row)
        for _ in "made", "found":
            table = SessionTable(url, "node")
            assert table.get("s", "id") == row
            table.close()
        kind = "SELECT relkind::text FROM pg_class WHERE relname = 'holdfast_session'"
        assert connection.execute(kind).fetchall() == [("p",)]
