"""Several `holdfast serve` on one PostgreSQL: restarts and kills that no client notices."""

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPResponse
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed

import holdfast
from holdfast.store.store import open_store
from holdfast.sync.wire.close_codes import RESTARTING
from tests.postgres import PostgresServer
from tests.sync.peers import root, set_, watch
from tests.sync.processes import WAIT_S, Client, Served
from tests.web.http_agent import HttpAgent, events, metrics

pytestmark = pytest.mark.service("postgres")

_SPACES = count(1)


@pytest.fixture
def space() -> str:
    return f"fleet-{next(_SPACES)}"


class Fleet:
    """Servers that share a database and, by their home, a token."""

    def __init__(self, postgres: PostgresServer, home: Path, nodes: int, *options: str) -> None:
        self._postgres, self._home, self._options = postgres, home, options
        self.nodes = [self._start() for _ in range(nodes)]

    def _start(self, port: int = 0) -> Served:
        options = [*self._options, *(["--port", str(port)] if port else [])]
        # The directory of the test is one that agents may ask about.
        return Served(
            self._postgres.url,
            *options,
            home=str(self._home),
            cwd=self._home.parent,
            HOLDFAST_DATABASE_URL=self._postgres.url,
        )

    @property
    def urls(self) -> list[str]:
        return [node.url for node in self.nodes]

    @property
    def bases(self) -> list[str]:
        return [f"http://{urlsplit(url).netloc}" for url in self.urls]

    @property
    def token(self) -> str:
        return self.nodes[0].token

    def restart(self, number: int) -> None:
        """As an update would: SIGTERM, wait for its end, start again at the same address."""
        node = self.nodes[number]
        port = urlsplit(node.url).port
        assert port is not None
        node.stop()
        self.nodes[number] = self._start(port)

    def stop(self) -> None:
        for node in self.nodes:
            if node.process.returncode is None:
                node.stop()


@pytest.fixture
def fleet(postgres: PostgresServer, tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(postgres, tmp_path / "home", 2)
    yield made
    made.stop()


def commits_of(postgres: PostgresServer, space: str) -> int:
    store = open_store(postgres.url, space)
    try:
        return int(store.newest_seq())
    finally:
        store.close()


class Worker(threading.Thread):
    """A client that commits, reads and watches until it is told to stop; nothing may fail."""

    def __init__(self, fleet: Fleet, space: str, name: str) -> None:
        super().__init__(name=name)
        self._urls, self._token, self._space = fleet.urls, fleet.token, space
        self.done = threading.Event()
        self.committed = 0
        self.landed: set[int] = set()
        self.failed: BaseException | None = None
        self.moved = threading.Condition()

    def run(self) -> None:
        try:
            with holdfast.connect(
                self._urls, self._space, token=self._token, session=f"of-{self.name}"
            ) as space:
                while not self.done.is_set():
                    number = self.committed + 1
                    id = f"{self.name}:{number % 5}"
                    self.landed.add(space.put(id, {"value": {"n": number}}).seq)
                    found = space.query({"roots": [{"id": id, "selector": {"path": []}}]})
                    assert found["entities"][0]["document"]["value"]["n"] >= number
                    if number % 5 == 1:
                        space.sync(id)
                    with self.moved:
                        self.committed = number
                        self.moved.notify_all()
        except BaseException as error:
            self.failed = error
            with self.moved:
                self.moved.notify_all()

    def advance(self, by: int = 5) -> None:
        """Wait until it has done so much more."""
        with self.moved:
            wanted = self.committed + by
            reached = self.moved.wait_for(
                lambda: self.committed >= wanted or self.failed is not None, WAIT_S
            )
        if self.failed is not None:
            raise self.failed
        assert reached, f"{self.name} stands still at {self.committed}"

    def end(self) -> None:
        self.done.set()
        self.join(WAIT_S)
        if self.failed is not None:
            raise self.failed


def sources(tree: Path, files: int) -> Path:
    """A tree that takes a while to index."""
    tree.mkdir()
    for number in range(files):
        body = "".join(f"def f{number}_{n}(a):\n    return a + {n}\n\n\n" for n in range(20))
        (tree / f"m{number}.py").write_text(body)
    return tree


@pytest.mark.shows("FLEET-ROLLING")
def test_a_rolling_restart_fails_no_call_of_a_client_that_knows_every_address(
    postgres: PostgresServer, tmp_path: Path, space: str
) -> None:
    fleet = Fleet(postgres, tmp_path / "home", 3)
    workers = [Worker(fleet, space, f"worker{n}") for n in range(4)]
    try:
        for worker in workers:
            worker.start()
        for number in range(3):
            for worker in workers:
                worker.advance()
            fleet.restart(number)
        for worker in workers:
            worker.advance()
    finally:
        for worker in workers:
            worker.end()
        fleet.stop()
    landed = set[int]().union(*(worker.landed for worker in workers))
    assert len(landed) == sum(worker.committed for worker in workers)
    assert commits_of(postgres, space) == len(landed), "no commit landed twice or was lost"


@pytest.mark.shows("FLEET-KILL")
def test_a_killed_server_loses_nothing_and_its_clients_go_on_at_another(
    postgres: PostgresServer, fleet: Fleet, space: str
) -> None:
    workers = [Worker(fleet, space, f"worker{n}") for n in range(3)]
    try:
        for worker in workers:
            worker.start()
            worker.advance()
        fleet.nodes[0].kill()
        for worker in workers:
            worker.advance()
    finally:
        for worker in workers:
            worker.end()
    landed = set[int]().union(*(worker.landed for worker in workers))
    assert len(landed) == sum(worker.committed for worker in workers)
    assert commits_of(postgres, space) == len(landed)


@pytest.mark.shows("FLEET-DRAIN")
def test_a_server_that_is_told_to_stop_sends_its_clients_elsewhere(
    fleet: Fleet, space: str
) -> None:
    client = Client(fleet.urls[0], "S", ["coverage"], space=space)
    client.ask("session.watch.set", watches=[watch("w", root("x"))])
    assert client.transact(1, set_("x", 1))["ok"]["seq"] == 1
    client.effect()
    fleet.nodes[0].process.send_signal(signal.SIGTERM)
    with pytest.raises(ConnectionClosed) as closed:
        client.receive()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == RESTARTING
    assert "another" in closed.value.rcvd.reason
    # The session is where it was: the other server knows what the client has, and sends no more.
    back = Client(fleet.urls[1], capabilities=["coverage"], space=space)
    answer = back.open("S", token=client.token, seen=1)["ok"]
    assert answer["resumed"] is True
    assert not (answer.get("sync") or {}).get("upserts")
    fleet.nodes[0].stop()


@pytest.mark.shows("FLEET-AGENT")
def test_an_agents_session_goes_on_at_another_server(
    fleet: Fleet, tmp_path: Path, space: str
) -> None:
    """The other server answered 404, and agents do not all start a session again."""
    agent = HttpAgent(fleet.bases, fleet.token)
    agent.start()
    note = {"op": "set", "id": "note:a", "value": {"value": {"text": "kept"}}}
    said = agent.call("memory_commit", {"space": space, "operations": [note]})
    assert not said.get("isError"), said
    fleet.nodes[0].kill()
    found = agent.call("memory_get", {"space": space, "id": "note:a"})
    assert "kept" in json.dumps(found)
    assert agent.moves == 1
    with agent.stream() as stream:
        assert stream.status == 405
    agent.close()


def indexing(agent: HttpAgent, tree: Path) -> tuple[HTTPResponse, list[bytes]]:
    """A call that is running: its response, and what has come of it."""
    arguments = {"action": "create", "path": str(tree), "wait": 60}
    asked = {"name": "manage_index", "arguments": arguments, "_meta": {"progressToken": "p"}}
    call = {"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": asked}
    response = agent.post(call)
    lines: list[bytes] = []
    while b"notifications/progress" not in (lines[-1] if lines else b""):
        lines.append(response.readline())
        assert lines[-1], b"".join(lines)
    return response, lines


@pytest.mark.shows("FLEET-BUSY")
def test_a_server_without_room_refuses_by_name_and_another_answers(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    fleet = Fleet(postgres, tmp_path / "home", 2, "--calls", "1")
    try:
        first = HttpAgent(fleet.bases[:1], fleet.token)
        first.start()
        second, third = (HttpAgent(fleet.bases, fleet.token) for _ in range(2))
        response, _ = indexing(first, sources(tmp_path / "tree", 400))
        refused = third.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
        assert (refused.status, refused.getheader("retry-after")) == (503, "1")
        assert json.loads(refused.read())["name"] == "ServerBusy"
        figures = metrics(fleet.bases[0], fleet.token)
        assert figures["holdfast_calls_in_flight"] == 1
        assert figures["holdfast_calls_refused_total"] >= 1
        second.start()
        assert not second.call("list_codebases", {}).get("isError")
        assert second.refusals > 0
        response.read()
        for agent in (first, second, third):
            agent.close()
    finally:
        fleet.stop()


@pytest.mark.shows("FLEET-DRAIN")
def test_a_call_in_flight_is_finished_and_open_streams_do_not_hold_the_server(
    fleet: Fleet, tmp_path: Path
) -> None:
    tree = sources(tmp_path / "tree", 400)
    agent = HttpAgent(fleet.bases[:1], fleet.token)
    agent.start()
    with ExitStack() as stack:
        stack.callback(agent.close)
        stream = agent.stream()
        stack.callback(stream.close)
        assert stream.status == 200
        response, lines = indexing(agent, tree)
        fleet.nodes[0].process.send_signal(signal.SIGTERM)
        lines += response.readlines()
        answers = list(events(b"".join(lines)))
        assert "result" in answers[-1], answers[-1]
        assert not answers[-1]["result"].get("isError"), answers[-1]
        assert stream.read() is not None  # it has an end
    assert fleet.nodes[0].process.wait(WAIT_S) == -signal.SIGTERM
    fleet.nodes[0].stop()
