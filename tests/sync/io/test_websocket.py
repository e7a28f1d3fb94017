"""The server as a process, over real sockets."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from holdfast.sync.io.websocket import OriginPolicy
from tests.sync.peers import FLAGS, root, set_, upserts, watch
from tests.sync.processes import WAIT_S, Client, Served, bearer, home_of


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(home_of(tmp_path))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for tests that commit nothing."""
    server = Served(home_of(tmp_path_factory.mktemp("one")))
    yield server
    server.stop()


@pytest.mark.shows("SYNC-SERVE", "W5", "W6", "SYNC-4.10")
def test_a_commit_reaches_a_watcher_over_real_sockets(served: Served) -> None:
    writer, watcher = Client(served.url, "A"), Client(served.url, "B")
    first = watcher.ask("session.watch.set", watches=[watch("w", root("a"))])
    assert upserts(first["ok"]["sync"]) == [("a", 0)]
    assert writer.transact(1, set_("a", 1))["ok"]["seq"] == 1
    assert upserts(watcher.effect()) == [("a", 1)]
    watcher.close()
    writer.close()


@pytest.mark.shows("SYNC-SERVE", "SYNC-4.1-ORDER")
def test_pipelined_commits_are_all_answered_in_order(served: Served) -> None:
    client = Client(served.url, "A")
    for number in range(1, 201):
        client.send(
            {
                "type": "transact",
                "requestId": f"t{number}",
                "space": client.space,
                "sessionId": "A",
                "commit": {"localSeq": number, "operations": [set_(f"d{number % 7}", number)]},
            }
        )
    answers = [client.receive() for _ in range(200)]
    assert [answer["requestId"] for answer in answers] == [f"t{n}" for n in range(1, 201)]
    assert [answer["ok"]["seq"] for answer in answers] == list(range(1, 201))
    client.close()


@pytest.mark.shows("SYNC-BRANCHES", "SYNC-4.1-ORDER")
def test_branches_over_real_sockets_are_answered_in_order(served: Served) -> None:
    client = Client(served.url, "A", ["branches"])
    command = {"space": client.space, "sessionId": "A"}
    one = {"localSeq": 1, "operations": [set_("a", 1)]}
    on_it = {"localSeq": 3, "branch": "draft", "operations": [set_("a", 2)]}
    for message in (
        {"type": "transact", "requestId": "1", "commit": one},
        {"type": "branch.create", "requestId": "2", "localSeq": 2, "name": "draft"},
        {"type": "transact", "requestId": "3", "commit": on_it},
        {"type": "branch.create", "requestId": "4", "localSeq": 9, "name": "draft"},
        {"type": "branch.list", "requestId": "5"},
    ):
        client.send({**message, **command})
    answers = [client.receive() for _ in range(5)]
    assert [answer["requestId"] for answer in answers] == ["1", "2", "3", "4", "5"]
    assert [answer["ok"]["seq"] for answer in answers[:3]] == [1, 2, 3]
    assert answers[3]["error"]["name"] == "TransactionError"
    assert len(answers[4]["ok"]["branches"]) == 2


@pytest.mark.shows("SYNC-KEPT", "W14")
def test_what_was_acknowledged_survives_kill_and_sessions_resume(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    first = Served(home)
    client = Client(first.url, "A", ["coverage"])
    client.ask("session.watch.set", watches=[watch("w", root("a"), root("b"))])
    for number in range(1, 21):
        assert client.transact(number, set_("a", number))["ok"]["seq"] == number
    first.kill()
    second = Served(home)
    back = Client(second.url, capabilities=["coverage"])
    answer = back.open("A", token=client.token, seen=0)["ok"]
    assert answer["serverSeq"] == 20
    assert answer["resumed"] is True
    assert ("a", 20) in upserts(answer["sync"])
    assert back.transact(20, set_("a", 20))["ok"]["seq"] == 20
    assert back.transact(21, set_("b", 1))["ok"]["seq"] == 21
    second.stop()


@pytest.mark.shows("SYNC-KEPT", "W14")
def test_a_server_that_is_stopped_keeps_its_sessions(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    first = Served(home)
    client = Client(first.url, "A", ["coverage"])
    client.transact(1, set_("a", 1))
    client.ask("session.watch.set", watches=[watch("w", root("a"))])
    first.stop()
    second = Served(home)
    back = Client(second.url, capabilities=["coverage"])
    answer = back.open("A", token=client.token, seen=1)["ok"]
    assert answer["resumed"] is True
    back.transact(2, set_("a", 2))
    assert upserts(back.effect()) == [("a", 2)]
    second.stop()


@pytest.mark.shows("SYNC-4.1-BINARY")
def test_a_binary_frame_closes_with_1003(one_server: Served) -> None:
    client = Client(one_server.url, "A")
    client.socket.send(b"\x00\x01")
    assert _closing_code(client) == 1003


@pytest.mark.shows("SYNC-4.1-BEFORE-HELLO", "W18")
def test_too_much_before_hello_closes_with_1009(one_server: Served) -> None:
    with connect(
        one_server.url, compression=None, additional_headers=bearer(one_server.url)
    ) as socket:
        socket.send("x" * (1 << 20) + "x")
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=WAIT_S)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


def _status(url: str, **headers: str) -> int:
    """The HTTP status with which a handshake is refused."""
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(url, additional_headers=bearer(url) | headers, open_timeout=WAIT_S),
    ):
        pass
    return refused.value.response.status_code


def _status_as(url: str, host: str) -> int:
    """The HTTP status of a handshake that calls the server by this name."""
    address = urlsplit(url)
    asking = HTTPConnection(address.hostname or "", address.port, timeout=WAIT_S)
    asking.putrequest("GET", address.path, skip_host=True)
    handshake = {
        "Host": host,
        **bearer(url),
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    for name, value in handshake.items():
        asking.putheader(name, value)
    asking.endheaders()
    status = asking.getresponse().status
    asking.close()
    return status


def _closing_code(client: Client) -> int:
    with pytest.raises(ConnectionClosed) as closed:
        client.receive()
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1"])
@pytest.mark.shows("SYNC-ORIGIN")
def test_a_page_from_elsewhere_is_refused_before_hello(one_server: Served, origin: str) -> None:
    assert _status(one_server.url, Origin=origin) == 403


@pytest.mark.shows("SYNC-HOST")
def test_a_name_that_is_not_ours_is_refused(one_server: Served) -> None:
    assert _status_as(one_server.url, "rebound.example") == 403
    assert _status_as(one_server.url, "localhost") == 101


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"host": "localhost:7433"}, True),
        ({"host": "[::1]:7433"}, True),
        ({"host": "127.0.0.1"}, True),
        ({"host": "example.org"}, False),
        ({"host": ""}, False),
        ({"host": "[bad"}, False),
        ({"host": "localhost:7433", "origin": "http://localhost:7433"}, True),
        ({"host": "localhost:7433", "origin": "http://localhost:9"}, False),
        ({"host": "localhost:7433", "origin": "file://localhost:7433"}, False),
        ({"host": "localhost:7433", "origin": "https://app.example"}, True),
        ({"host": "localhost:7433", "origin": "https://app.example.evil"}, False),
    ],
)
@pytest.mark.shows("SYNC-ORIGIN", "SYNC-HOST")
def test_who_may_connect(headers: dict[str, str], allowed: bool) -> None:
    policy = OriginPolicy(origins=["https://app.example/"])
    assert (policy.refusal(headers) is None) is allowed


@pytest.mark.shows("SYNC-SERVE", "SEC-HEALTH")
def test_healthz_says_only_that_we_are_well_and_more_to_the_owner(served: Served) -> None:
    client = Client(served.url, "A")
    client.transact(1, set_("a", 1))
    page = served.url.replace("ws://", "http://").replace("/sync", "/healthz")
    with urllib.request.urlopen(page, timeout=WAIT_S) as answer:
        assert json.loads(answer.read()) == {"ok": True}
    asking = urllib.request.Request(page, headers=bearer(served.url))
    with urllib.request.urlopen(asking, timeout=WAIT_S) as answer:
        health = json.loads(answer.read())
    assert (health["ok"], health["problems"]) == (True, [])
    assert (health["connections"], health["sessions"], health["spaces"]) == (1, 1, 1)
    assert client.space not in json.dumps(health)
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(page.replace("healthz", "elsewhere"), timeout=WAIT_S)
    client.close()


@pytest.mark.shows("SYNC-SERVE")
def test_another_path_is_not_here(one_server: Served) -> None:
    assert _status(one_server.url.replace("/sync", "/other")) == 403


def test_the_greeting_is_the_documented_one(one_server: Served) -> None:
    client = Client(one_server.url)
    assert client.hello == {"type": "hello.ok", "protocol": "memory/v2", "flags": FLAGS}
    client.close()
