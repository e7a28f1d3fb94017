"""A PostgreSQL that accepts connections and does not answer: every use ends with a deadline."""

import os
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from holdfast.errors import HoldfastError
from holdfast.index.generations.postgres.backend import PostgresBackend
from holdfast.postgresql import connect, maintenance
from holdfast.store.errors import StoreBusy, StoreFailed, StoreSilent
from holdfast.store.store import Store, open_store
from holdfast.sync.server.session_rows import SessionTable
from tests import fork_server
from tests.postgres import PostgresServer
from tests.sync.peers import commit, set_
from tests.sync.processes import Client, Served

HASTY = "connect_timeout=2&options=-c%20statement_timeout%3D1s"
"""Short deadlines in an address."""

END_S = 60
"""By when a command must have ended; its own deadlines are far shorter."""


def cli(home: Path, url: str, *words: str, index: bool = False) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "HOLDFAST_HOME": str(home),
        "HOLDFAST_DATABASE_URL": url,
        **({"HOLDFAST_INDEX_URL": url, "HOLDFAST_INDEX_NAMESPACE": "x"} if index else {}),
    }
    return fork_server.run(*words, env=environment)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port where connections are accepted by the system and never answered."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield listening.getsockname()[1]


@pytest.mark.shows("SEC-DATABASE-DEADLINES")
@pytest.mark.parametrize(
    "words",
    [
        ("memory", "get", "note:a"),
        ("doctor",),
        ("serve", "--port", "0"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_against_a_silent_server_ends_and_names_it(
    words: tuple[str, ...], silent_port: int, tmp_path: Path
) -> None:
    url = f"postgresql://me:secret@127.0.0.1:{silent_port}/db?connect_timeout=2"
    ended = cli(tmp_path, url, *words)
    said = ended.stdout + ended.stderr
    assert ended.returncode != 0, said
    assert f"no answer from 127.0.0.1:{silent_port} in time" in said
    for word in ("HOLDFAST_DATABASE_URL", "frozen"):
        assert word in said
    for word in ("secret", "Traceback"):
        assert word not in said


@pytest.mark.shows("SEC-DATABASE-DEADLINES")
def test_a_search_against_a_frozen_server_ends_and_names_it(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    tree, url = tmp_path / "tree", f"{postgres.url}&connect_timeout=2"
    tree.mkdir()
    (tree / "a.py").write_text("def needle():\n    return 1\n")
    made = cli(tmp_path / "home", url, "index", "create", str(tree), index=True)
    assert made.returncode == 0, made.stdout + made.stderr
    with postgres.frozen():
        ended = cli(tmp_path / "home", url, "search", "needle", "--path", str(tree), index=True)
    said = ended.stdout + ended.stderr
    assert ended.returncode != 0, said
    assert "in time" in said, said
    assert ".s.PGSQL." in said, said
    assert "HOLDFAST_INDEX_URL" in said, said
    assert "Traceback" not in said


@pytest.mark.shows("SEC-DATABASE-DEADLINES")
def test_open_connections_to_a_frozen_server_give_up_and_work_again_later(
    postgres: PostgresServer,
) -> None:
    url = f"{postgres.url}&{HASTY}"
    backend = PostgresBackend(url, 0, "frozen")
    backend.check("/root")
    sessions = SessionTable(url, "node")
    uses: dict[str, Callable[[Store], object]] = {
        "read": lambda store: store.read("note:a"),
        "graph": lambda store: store.query(
            {"roots": [{"id": "note:a", "selector": {"path": [], "schema": False}}]}
        ),
        "write": lambda store: store.transact("s", commit(1, set_("note:a", 1))),
    }
    for name, use in uses.items():
        with open_store(url, "did:key:frozen") as store:
            with postgres.frozen():
                with pytest.raises(StoreSilent) as refused:
                    use(store)
                assert "has not answered for 3 s" in str(refused.value), name
                assert ".s.PGSQL." in str(refused.value)
                assert "HOLDFAST_DATABASE_URL" in refused.value.hint
            assert store.newest_seq() == 0  # reconnected
    with postgres.frozen():
        with pytest.raises(HoldfastError, match=r"has not answered|no answer from"):
            backend.read_marker("/root")
        with pytest.raises(StoreSilent):
            sessions.announce("a")
    assert backend.read_marker("/root") is None
    backend.close()
    sessions.close()


@pytest.mark.shows("SEC-DATABASE-DEADLINES")
def test_a_slow_statement_is_cancelled_unless_it_is_maintenance(postgres: PostgresServer) -> None:
    url = f"{postgres.url}&{HASTY}"
    with open_store(url, "did:key:slow") as store:
        slow = "SELECT count(pg_sleep(1.2))"
        with pytest.raises(StoreFailed) as refused:
            store.engine.reading.rows(slow)
        assert "did not finish a statement within 1 s" in str(refused.value)
        assert "statement_timeout" in refused.value.hint
        with store.engine.reading.maintenance():
            assert store.engine.reading.rows(slow) == [(1,)]
        with pytest.raises(StoreFailed):
            store.engine.reading.rows(slow)
        with open_store(url, "did:key:slow") as other:
            other.engine.writing.begin()
            with pytest.raises(StoreBusy):
                store.engine.writing.begin()
            other.engine.writing.rollback()


@pytest.mark.shows("SEC-DATABASE-DEADLINES")
def test_deadlines_have_defaults_and_those_of_the_user_stay(postgres: PostgresServer) -> None:
    def settings(url: str) -> tuple[str, str]:
        with connect(url, "test") as connection:
            row = connection.execute(
                "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
            ).fetchone()
            assert row is not None
            with maintenance(connection):
                inside = connection.execute("SHOW statement_timeout").fetchone()
                assert inside == ("10min",)
            return row[0], row[1]

    assert settings(postgres.url) == ("30s", "20s")
    assert settings(f"{postgres.url}&options=-c%20statement_timeout%3D3min") == ("3min", "2min")


@pytest.mark.shows("SEC-DATABASE-LOOP")
def test_other_pages_answer_while_a_query_waits_for_a_frozen_database(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    served = Served(f"{postgres.url}&{HASTY}", home=str(tmp_path))
    try:
        client = Client(served.url, "s1")
        done = threading.Event()
        answers: list[str] = []

        def query() -> None:
            root = {"id": "note:a", "selector": {"path": [], "schema": False}}
            try:
                client.ask("graph.query", query={"roots": [root]})
            except ConnectionClosed as closed:
                answers.append(str(closed))
            done.set()

        token = (tmp_path / "token").read_text().strip()
        page = served.url.replace("ws:", "http:").replace("/sync", "/metrics")
        request = urllib.request.Request(page, headers={"Authorization": f"Bearer {token}"})
        with postgres.frozen():
            thread = threading.Thread(target=query, daemon=True)
            thread.start()
            # Another page answers although the query has no answer yet.
            with urllib.request.urlopen(request, timeout=END_S) as answer:
                assert answer.status == 200
            assert not done.is_set()
            assert done.wait(END_S)
        # The client may ask again, here or at another server.
        assert "has not answered" in answers[0]
    finally:
        served.stop()
