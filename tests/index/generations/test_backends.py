"""What every backend must do: one suite, the embedded backend and a real PostgreSQL.

The twin is a dictionary of prepared files, each a segment of its own; `tests/index/search` holds
the ranking of segments itself against brute force.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.files.snapshot import Entry, Stat
from holdfast.index.building.prepare import extract_facts, prepare, with_vectors
from holdfast.index.embedding.hashed import DIMENSION, HashedEmbedding
from holdfast.index.errors import BackendUnavailable, DamagedBackend, NewerFormat
from holdfast.index.generations.model import Backend, PreparedFile, SourceFile
from holdfast.index.generations.postgres import tables as postgres_tables
from holdfast.index.generations.postgres.backend import PostgresBackend
from holdfast.index.generations.sqlite import tables
from holdfast.index.generations.sqlite.backend import SqliteBackend
from holdfast.index.search.corpus import Corpus, Part
from holdfast.index.search.file_table import File
from holdfast.index.search.lexical import rank_lexical
from holdfast.index.search.query_analysis import analyze
from holdfast.index.search.weights import WEIGHTS
from tests.index import double
from tests.index.search.samples import prepared_segment
from tests.index.wire import manage_index
from tests.index.world import World
from tests.postgres import PostgresServer
from tests.scale import examples

ROOT = "/somewhere/repo"
PROVIDER = HashedEmbedding()
numbers = itertools.count()


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    made: Backend
    if request.param == "sqlite":
        made = SqliteBackend(tmp_path / "roots", DIMENSION)
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        made = PostgresBackend(server.url, DIMENSION, f"test {next(numbers)}")
    assert made.provider == request.param
    yield made
    made.close()


def prepared(path: str, text: str) -> PreparedFile:
    entry = Entry(Stat(len(text), 1, 1), f"digest of {text}")
    return with_vectors(prepare(SourceFile(path, text.encode(), entry), double.extract), PROVIDER)


A = prepared("a.py", "def parseHTTP(request):\n    return send_request(request)\n")
B = prepared("b.py", "def send_request(request):\n    pass\n\ndef other():\n    pass\n")


CHANGED_B = prepared("b.py", "def send_request(request):\n    return parse_http(request)\n")


def publish(backend: Backend, *files: PreparedFile, marker: str = "{}", whole: bool = True) -> None:
    with backend.writer(ROOT) as writer:
        if whole:
            writer.start_over()
        for file in files:
            writer.put(file)
        writer.publish(marker, 7)


def twin(files: dict[str, PreparedFile]) -> Corpus:
    """One segment for each file, in no order that a backend would have."""
    parts = []
    for number, (path, file) in enumerate(sorted(files.items(), reverse=True)):
        if file.chunks:
            parts.append(
                Part(prepared_segment(file, DIMENSION), [File(number, path, file.language)])
            )
    return Corpus(parts)


def ranked(corpus: Corpus, query: str) -> list[tuple[str, int, float, float]]:
    """Every chunk with its score in both lanes, by path and place."""
    lexical = rank_lexical(analyze(query), corpus, WEIGHTS).scores
    dense = corpus.nearness(PROVIDER.embed_query(query)[0])
    return sorted(
        (corpus.files[corpus.file_of[i]].path, int(corpus.ordinals[i]), lexical[i], dense[i])
        for i in range(corpus.rows)
        if corpus.alive[i]
    )


def check(backend: Backend, files: dict[str, PreparedFile], queries: list[str]) -> None:
    """The backend holds exactly these files and ranks them as brute force does."""
    with backend.reader(ROOT) as reader:
        assert dict(reader.snapshot().entries) == {p: f.entry for p, f in files.items()}
        totals = reader.totals()
        assert (totals.files, totals.chunks) == (
            len(files), sum(len(f.chunks) for f in files.values()),
        )  # fmt: skip
        for path, file in files.items():
            assert reader.entry(path) == file.entry
            assert reader.facts([path]) == {path: file.facts}
            stored = reader.chunks_of(path)
            assert [(c.start_line, c.text, c.symbol_id) for c in stored] == [
                (c.start_line, c.text, c.symbol_id) for c in file.chunks
            ]
        assert dict(reader.all_facts()) == {p: f.facts for p, f in files.items()}
        kept = {file.path: file for file in reader.kept_files()}
        assert kept.keys() == files.keys()
        for path, file in files.items():
            assert (kept[path].signatures, kept[path].names) == (file.signatures, file.names)
            ids = [(kept[path].number, ordinal) for ordinal in range(kept[path].chunks)]
            assert reader.texts(ids) == [
                (identity, chunk.text) for identity, chunk in zip(ids, file.chunks, strict=True)
            ]
        for query in queries:
            # To the last bit: the order must not depend on how rows came to lie.
            assert ranked(reader.corpus(), query) == ranked(twin(files), query)


def counting(real: Callable[..., Any], calls: list[int]) -> Callable[..., Any]:
    def counted(*given: Any) -> Any:
        calls.append(1)
        return real(*given)

    return counted


@pytest.mark.shows("INDEX-BACKEND-FOLLOWS")
def test_a_backend_that_stays_open_reads_only_what_changed(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module(type(backend).__module__)
    whole: list[int] = []
    for name in ("opened", "opened_listed"):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, counting(getattr(module, name), whole))
    queries = ["send request", "parse http"]
    # So many that nothing is merged for being mostly dead.
    rest = {f"c{n}.py": prepared(f"c{n}.py", f"def call_{n}(): ...\n") for n in range(12)}
    publish(backend, A, B, *rest.values())
    check(backend, {"a.py": A, "b.py": B, **rest}, queries)
    for put in (CHANGED_B, B):
        publish(backend, put, whole=False)
        check(backend, {"a.py": A, "b.py": put, **rest}, queries)
    with backend.writer(ROOT) as writer:
        writer.remove("a.py")
        writer.publish("m", 7)
    publish(backend, whole=False)
    check(backend, {"b.py": B, **rest}, queries)
    assert len(whole) == 1, "only the first time"
    publish(backend, B)
    check(backend, {"b.py": B}, queries)
    assert len(whole) == 2


@pytest.mark.shows("INDEX-BACKEND-ABSENT")
def test_an_absent_root_has_no_marker_and_nothing_to_read(backend: Backend) -> None:
    assert backend.read_marker(ROOT) is None
    assert backend.roots() == []
    with pytest.raises(BackendUnavailable), backend.reader(ROOT):
        pass
    backend.drop(ROOT)


@pytest.mark.shows("INDEX-BACKEND-PUBLISH")
def test_a_published_generation_is_there_with_its_marker(backend: Backend) -> None:
    publish(backend, A, B, marker='{"kind":"x"}')
    assert backend.read_marker(ROOT) == '{"kind":"x"}'
    assert backend.roots() == [ROOT]
    check(backend, {"a.py": A, "b.py": B}, ["send request", "parse http", "nothing here"])
    with backend.reader(ROOT) as reader:
        assert reader.snapshot().taken_ns == 7


@pytest.mark.shows("INDEX-BACKEND-ATOMIC")
def test_the_previous_generation_serves_until_the_next_is_published(backend: Backend) -> None:
    publish(backend, A, marker="first")
    with backend.writer(ROOT) as writer:
        writer.start_over()
        writer.put(B)
        # Another session, while the next generation is being written.
        assert backend.read_marker(ROOT) == "first"
        check(backend, {"a.py": A}, ["parse"])
        writer.publish("second", 8)
    assert backend.read_marker(ROOT) == "second"
    check(backend, {"b.py": B}, ["send"])


@pytest.mark.shows("INDEX-BACKEND-ATOMIC")
def test_a_reader_sees_one_generation_to_its_end(backend: Backend) -> None:
    publish(backend, A)
    with backend.reader(ROOT) as reader:
        first = reader.identity
        publish(backend, B)
        assert set(reader.snapshot().entries) == {"a.py"}
        assert reader.identity == first
    with backend.reader(ROOT) as reader:
        assert reader.identity != first
        assert set(reader.snapshot().entries) == {"b.py"}


@pytest.mark.shows("INDEX-BACKEND-ATOMIC")
@pytest.mark.parametrize("how", ["raised", "never published"])
def test_an_unfinished_generation_leaves_no_trace(backend: Backend, how: str) -> None:
    publish(backend, A, marker="first")

    def break_off() -> None:
        with backend.writer(ROOT) as writer:
            writer.start_over()
            writer.put(B)
            if how == "raised":
                raise MemoryError

    if how == "raised":
        with pytest.raises(MemoryError):
            break_off()
    else:
        break_off()
    assert backend.read_marker(ROOT) == "first"
    check(backend, {"a.py": A}, ["parse"])


@pytest.mark.shows("INDEX-BACKEND-DROP")
def test_a_dropped_root_is_gone_and_can_be_made_again(backend: Backend) -> None:
    publish(backend, A, marker="first")
    with backend.reader(ROOT) as reader:
        before = reader.identity
    backend.drop(ROOT)
    assert backend.read_marker(ROOT) is None
    assert backend.roots() == []
    publish(backend, B, marker="again")
    check(backend, {"b.py": B}, ["send request"])
    with backend.reader(ROOT) as reader:
        assert reader.identity != before


@pytest.mark.shows("INDEX-BACKEND-RESTAT")
def test_a_touched_file_keeps_its_content(backend: Backend) -> None:
    publish(backend, A)
    touched = Entry(Stat(5, 6, 7), A.entry.digest)
    with backend.writer(ROOT) as writer:
        writer.restat("a.py", touched)
        writer.publish("m", 9)
    with backend.reader(ROOT) as reader:
        assert reader.entry("a.py") == touched


names = st.sampled_from(["load", "save", "parse_http", "sendRequest", "total"])
sources = st.lists(
    st.builds(lambda n, c: f"def {n}(x):\n    return {c}(x)\n", names, names), max_size=3
).map("\n".join)
steps = st.lists(
    st.tuples(
        st.sampled_from(["a.py", "b/c.py", "d.py"]), st.none() | sources
    ),
    max_size=6,
)  # fmt: skip


@pytest.mark.shows("INDEX-BACKEND-INCREMENTAL", "INDEX-RANK-TWIN")
@settings(
    max_examples=examples(15),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(generations=st.lists(steps, min_size=1, max_size=3))
def test_changes_on_top_of_changes_equal_a_build_from_nothing(
    backend: Backend, generations: list[list[tuple[str, str | None]]]
) -> None:
    backend.drop(ROOT)
    files: dict[str, PreparedFile] = {}
    for number, changes in enumerate(generations):
        with backend.writer(ROOT) as writer:
            for path, text in changes:
                if text is None:
                    writer.remove(path)
                    files.pop(path, None)
                else:
                    files[path] = prepared(path, text)
                    writer.put(files[path])
            writer.publish(f"marker {number}", number)
        assert backend.read_marker(ROOT) == f"marker {number}"
        check(backend, files, ["load total", "parse http", "send"])


@pytest.mark.shows("INDEX-BACKEND-RESTART")
def test_postgresql_may_stop_and_start_again(postgres: PostgresServer) -> None:
    backend = PostgresBackend(postgres.url, DIMENSION, "restart")
    publish(backend, A, marker="first")
    postgres.stop()
    try:
        for _ in range(2):
            with pytest.raises(BackendUnavailable):
                backend.read_marker(ROOT)
            with pytest.raises(BackendUnavailable), backend.reader(ROOT):
                pass
            with pytest.raises(BackendUnavailable):
                backend.check(ROOT)
    finally:
        postgres.start()
    assert backend.read_marker(ROOT) == "first"
    check(backend, {"a.py": A}, ["parse"])

    def write_across_a_restart() -> None:
        with backend.writer(ROOT) as writer:
            writer.put(B)
            postgres.stop()
            postgres.start()
            writer.publish("second", 1)

    with pytest.raises(BackendUnavailable):
        write_across_a_restart()
    assert backend.read_marker(ROOT) == "first"
    check(backend, {"a.py": A}, ["parse"])
    backend.close()


@pytest.mark.shows("INDEX-BACKEND-PUBLISH")
def test_a_writer_says_which_generation_it_follows(backend: Backend) -> None:
    """Numbers begin anew after a clear, so that only the random word tells two first ones apart."""
    follows = []
    for _ in range(2):
        publish(backend, A)
        with backend.reader(ROOT) as reader, backend.writer(ROOT) as writer:
            assert writer.follows == reader.identity
            follows.append(writer.follows)
        backend.drop(ROOT)
    assert follows[0][0] == follows[1][0] == 1
    assert follows[0] != follows[1]


@pytest.mark.shows("INDEX-BACKEND-PUBLISH")
def test_names_may_hold_what_text_in_a_database_may_not(backend: Backend) -> None:
    """One heading with a NUL, past the bytes that tell a binary file, failed the whole run."""
    source = b"# one\n\n" + b"words and words\n" * 600 + b"\n# two\0three\n\nmore\n"
    entry = Entry(Stat(len(source), 1, 1), hashlib.sha256(source).hexdigest())
    file = with_vectors(prepare(SourceFile("a.md", source, entry), extract_facts), PROVIDER)
    assert any("\0" in (chunk.label or "") for chunk in file.chunks)
    publish(backend, file)
    with backend.reader(ROOT) as reader:
        assert len(reader.chunks_of("a.md")) == len(file.chunks)


@pytest.mark.shows("INDEX-BACKEND-RESTART")
def test_a_lost_answer_to_the_last_step_is_not_told_as_nothing_done(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may have done it; the hint said that nothing was changed."""
    import psycopg

    backend = PostgresBackend(postgres.url, DIMENSION, "lost")
    real = psycopg.Connection.execute

    def lost(connection: Any, query: Any, *rest: Any, **more: Any) -> Any:
        if query == "COMMIT":
            real(connection, query)
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return real(connection, query, *rest, **more)

    monkeypatch.setattr(psycopg.Connection, "execute", lost)
    with pytest.raises(BackendUnavailable, match="may have been published") as caught:
        publish(backend, A, marker='{"is": "there"}')
    assert "nothing was changed" not in caught.value.hint
    monkeypatch.undo()
    assert backend.read_marker(ROOT) == '{"is": "there"}'
    backend.close()


@pytest.mark.shows("INDEX-BACKEND-DROP")
def test_a_generation_is_not_published_into_a_root_that_is_gone(postgres: PostgresServer) -> None:
    """Two hosts with homes of their own share a server: one cleared the root while the other was
    taking its last file out, and the second said that it had published."""
    backend = PostgresBackend(postgres.url, DIMENSION, "gone")
    publish(backend, A)
    with backend.writer(ROOT) as writer:
        backend.drop(ROOT)
        with pytest.raises(BackendUnavailable, match="cleared"):
            writer.publish("{}", 1)
    backend.close()


@pytest.mark.shows("INDEX-NEWER-FORMAT")
def test_an_index_file_of_a_newer_format_is_neither_read_nor_replaced(world: World) -> None:
    # A create with an older version used to drop the tables of a newer one.
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    (path,) = (world.home / "index" / "roots").glob("*.sqlite")
    world.backend.inner.close()
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version={tables.SCHEMA_VERSION + 1}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(BackendUnavailable, match="has format"):
        world.backend.inner.read_marker(world.root)
    for action in ("create", "reindex"):
        manage_index(world.index, action, world.root)
        status = manage_index(world.index, "status", world.root)
        assert "has format" in status["humanText"]
    world.backend.inner.close()
    assert path.read_bytes() == before


@pytest.mark.shows("DAMAGE-NEWER")
def test_tables_of_a_newer_version_on_a_server_are_neither_read_nor_dropped(
    postgres: PostgresServer,
) -> None:
    """A writer dropped the tables of any other version, a newer one included."""
    import psycopg

    backend = PostgresBackend(postgres.url, DIMENSION, "newer")
    publish(backend, A)
    backend.close()
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"COMMENT ON SCHEMA {backend._schema} IS 'holdfast index 99'")
    later = PostgresBackend(postgres.url, DIMENSION, "newer")
    for act in (later.read_marker, later.check, later.check_format, later.verify):
        with pytest.raises(NewerFormat, match="format 99"):
            act(ROOT)
    with pytest.raises(NewerFormat), later.writer(ROOT):
        pass
    later.close()
    version = postgres_tables.SCHEMA_VERSION
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"COMMENT ON SCHEMA {backend._schema} IS 'holdfast index {version}'")
    again = PostgresBackend(postgres.url, DIMENSION, "newer")
    again.spot_check(ROOT)
    again.verify(ROOT)
    assert again.read_marker(ROOT) == backend.read_marker(ROOT)
    again.close()
    backend.close()


@pytest.mark.shows("INDEX-PARTITIONS")
def test_the_tables_on_a_server_are_partitioned_by_root_and_have_it_in_every_key(
    postgres: PostgresServer,
) -> None:
    import psycopg

    backend = PostgresBackend(postgres.url, DIMENSION, "parts")
    roots = [f"/tree/{n}" for n in range(12)]
    for root in roots:
        with backend.writer(root) as writer:
            writer.put(A)
            writer.put(B)
            writer.publish("{}", 1)
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {backend._schema}")
        parted = connection.execute(
            "SELECT relname, pg_get_partkeydef(oid) FROM pg_class WHERE relkind = 'p' "
            "AND relnamespace = %s::regnamespace",
            (backend._schema,),
        ).fetchall()
        tables = {"file", "chunk", "segment", "trigram", "change", "link"}
        assert dict(parted) == dict.fromkeys(tables, "HASH (root_id)")
        keys = connection.execute(
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class "
            "ON pg_class.oid = indrelid WHERE indisunique AND relkind = 'p' "
            "AND relnamespace = %s::regnamespace",
            (backend._schema,),
        ).fetchall()
        assert len(keys) == len(tables) + 1
        assert all("(root_id" in definition for (definition,) in keys), keys
        counted = "SELECT root_id, count(DISTINCT tableoid) FROM chunk GROUP BY root_id"
        assert [n for _, n in connection.execute(counted)] == [1] * len(roots)
        used = "SELECT count(DISTINCT tableoid) FROM chunk"
        assert connection.execute(used).fetchall()[0][0] > 1
        backend.drop(roots[0])
        left = "SELECT count(DISTINCT root_id) FROM {}"
        for table in sorted(tables):
            assert connection.execute(left.format(table)).fetchall() == [(len(roots) - 1,)], table
    for root in roots[1:]:
        backend.verify(root)
    backend.close()


SERVER_COLUMNS = {
    "root": "generation taken_ns run marker files chunks root_check",
    "file": "path digest size_bytes mtime_ns ctime_ns language problem chunk_count segment_id "
    "slot facts stat_check place_check facts_check",
    "chunk": "ordinal start_line end_line symbol_id label kind text chunk_check",
    "segment": "digest rows postings vectors",
    "trigram": "signatures names trigram_check",
    "link": "place digest files size_bytes data_check run link_check data",
}


@pytest.mark.shows("DAMAGE-ROWS-POSTGRES")
def test_no_value_on_a_server_can_change_unnoticed(postgres: PostgresServer) -> None:
    import psycopg

    backend = PostgresBackend(postgres.url, DIMENSION, "damage")
    publish(backend, A, B)
    backend.verify(ROOT)
    unnoticed = []
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {backend._schema}")
        every = {
            (table, column)
            for table, column in connection.execute(
                "SELECT table_name, column_name FROM information_schema.columns "
                "WHERE table_schema = %s AND table_name !~ '_[0-9]+$'",
                (backend._schema,),
            )
        }
        named = {(t, c) for t, columns in SERVER_COLUMNS.items() for c in columns.split()}
        # Numbers of rows, which the server itself keeps consistent, and the optional notes.
        links = {("root", "id"), ("root", "path"), ("file", "id"), ("file", "root_id"),
                 ("chunk", "file_id"), ("segment", "id"), ("segment", "root_id"),
                 ("chunk", "root_id"), ("trigram", "root_id"), ("trigram", "file_id"),
                 ("link", "root_id")}  # fmt: skip
        assert {(t, c) for t, c in every if t != "change"} == named | links
        for table, column in sorted(named):
            ((kind,),) = connection.execute(
                "SELECT data_type FROM information_schema.columns "
                "WHERE table_schema = %s AND table_name = %s AND column_name = %s",
                (backend._schema, table, column),
            ).fetchall()
            other = {"bigint": "777777", "text": "'other'"}.get(kind, "'other'::bytea")
            connection.execute("BEGIN")
            connection.execute(
                f"UPDATE {table} SET {column} = {other} "
                f"WHERE ctid = (SELECT min(ctid) FROM {table})"
            )
            connection.execute("COMMIT")
            try:
                backend.verify(ROOT)
                unnoticed.append((table, column))
            except (DamagedBackend, BackendUnavailable):
                pass
            publish(backend, A, B)  # A writer rebuilds it, whatever is damaged.
            backend.verify(ROOT)
    backend.close()
    assert unnoticed == []


@pytest.mark.shows("DAMAGE-SPOT")
@pytest.mark.parametrize("table", ["chunk", "segment", "file"])
def test_an_emptied_table_is_noticed_at_a_glance(
    backend: Backend, table: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    publish(backend, A, B)
    backend.spot_check(ROOT)
    if isinstance(backend, PostgresBackend):
        import psycopg

        server: PostgresServer = request.getfixturevalue("postgres")
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"DELETE FROM {backend._schema}.{table}")
    else:
        backend.close()
        (path,) = (tmp_path / "roots").glob("*.sqlite")
        with apsw.Connection(str(path)) as on_disk:
            on_disk.execute(f"DELETE FROM {table}")
        on_disk.close()
    with pytest.raises(DamagedBackend):
        backend.spot_check(ROOT)


@pytest.mark.shows("DAMAGE-SPOT")
def test_a_glance_reads_as_many_rows_of_a_large_tree_as_of_a_small_one(tmp_path: Path) -> None:
    def read(count: int) -> int:
        backend = SqliteBackend(tmp_path / str(count), DIMENSION)
        publish(backend, *(prepared(f"f{n}.py", f"def f_{n}(): ...\n") for n in range(count)))
        with backend.reader(ROOT) as reader:
            rows: list[object] = []

            def noted(cursor: object, row: Any) -> Any:
                rows.append(row)
                return row

            reader._connection.row_trace = noted
            reader.spot_check()
            reader._connection.row_trace = None
        backend.close()
        return len(rows)

    assert read(40) == read(160) > 40
