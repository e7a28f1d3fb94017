"""Which credential opens which route: asked of every route that the application has."""

import asyncio
import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app import App
from holdfast.credentials import (
    DASHBOARD_MS,
    SYNC_MS,
    authorization,
    cookie_name,
    ticket,
    token_of,
    valid_until,
)
from holdfast.dashboard.service import DashboardService
from holdfast.errors import UsageError
from holdfast.home import Home
from holdfast.sync.io.endpoint import ServeOptions, SyncService
from holdfast.sync.io.websocket import SUBPROTOCOL, OriginPolicy, Scope, host_name
from holdfast.system import Clock
from holdfast.web import Site, SitePart
from holdfast.web.compose import site
from tests.web.test_site import BEARER, TOKEN, Answer, hello

PORT = 7433
OPEN = {"/healthz"}
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW")


class TestClock(Clock):
    """A clock that a test moves."""

    __test__ = False

    def __init__(self) -> None:
        self.ms = 1_700_000_000_000

    def now_ms(self) -> int:
        return self.ms


def request(
    app: Site,
    path: str,
    headers: dict[str, str] | None = None,
    method: str = "GET",
    port: int = PORT,
    body: bytes = b"",
) -> Answer:
    """One request as it arrives on a port."""
    path, _, query = path.partition("?")
    sent: list[Any] = []
    named = {"host": f"127.0.0.1:{port}", **(headers or {})}
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "server": ("127.0.0.1", port),
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], found, b"".join(m.get("body", b"") for m in sent[1:]))


def dial(
    app: Site,
    path: str,
    headers: dict[str, str] | None = None,
    subprotocols: tuple[str, ...] = (),
    port: int = PORT,
) -> dict[str, Any]:
    """How the handshake of a WebSocket is answered."""
    sent: list[Any] = []
    named = {"host": f"127.0.0.1:{port}", **(headers or {})}
    scope: Scope = {
        "type": "websocket",
        "path": path,
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "subprotocols": list(subprotocols),
        "server": ("127.0.0.1", port),
        "extensions": {"websocket.http.response": {}},
    }
    events = iter([{"type": "websocket.connect"}])

    async def receive() -> Any:
        return next(events, {"type": "websocket.disconnect", "code": 1005})

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    first: dict[str, Any] = sent[0]
    return first


def served(
    tmp_path: Path, token: str = TOKEN, clock: Clock | None = None, **options: Any
) -> tuple[Site, SyncService]:
    app = App(home=tmp_path / "home", clock=clock or Clock())
    service = SyncService(ServeOptions(store=str(tmp_path / "home" / "spaces"), **options))
    SITES.append(site(app, service, OriginPolicy(), token))
    return SITES[-1], service


SITES: list[Site] = []


@pytest.fixture(autouse=True)
def dashboards_end() -> Iterator[None]:
    """A page that is opened starts the dashboard, which ends with its server."""
    yield
    while SITES:
        (page,) = (part for part in SITES.pop().parts if part.path == "/")
        asyncio.run(_ended(page))


async def _ended(page: SitePart) -> None:
    assert page.life is not None
    async with page.life():
        pass


def routes(whole: Site, tmp_path: Path) -> list[str]:
    """A path below every part of the application, and every question of the dashboard."""
    service = DashboardService(App(home=tmp_path / "other"), watch_trees=False)
    try:
        questions = [f"/api/{name}" for name in service.questions()]
    finally:
        service.stop()
    assert "/api/file" in questions
    below = [f"{part.path.rstrip('/')}/x" for part in whole.parts]
    return [*(part.path for part in whole.parts), *below, "/assets/app.js", *questions]


def cookie_of(app: Site, port: int = PORT, token: str = TOKEN) -> dict[str, str]:
    invited = request(app, f"/?token={token}", port=port)
    assert invited.status == 303
    return {"cookie": invited.headers["set-cookie"].partition(";")[0]}


@pytest.mark.shows("SEC-CREDENTIAL")
def test_no_route_but_healthz_answers_without_a_credential(tmp_path: Path) -> None:
    whole, service = served(tmp_path)
    assert {part.path for part in whole.parts if part.open} == OPEN
    wrong: list[dict[str, str]] = [
        {},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Ticket {TOKEN}"},
    ]
    for path in routes(whole, tmp_path):
        if path in OPEN or path.partition("/x")[0] in OPEN:
            continue
        for method in METHODS:
            for headers in wrong:
                assert request(whole, path, headers, method).status == 401, (method, path)
        for headers in wrong:
            refused = dial(whole, path, headers)
            assert refused["type"] == "websocket.http.response.start", path
            assert refused["status"] in (401, 403), path
    assert request(whole, "/healthz").json == {"ok": True}
    assert request(whole, "/healthz/x").status == 404
    service.server.close()


@pytest.mark.shows("SEC-CREDENTIAL")
def test_sockets_are_taken_by_sync_alone(tmp_path: Path) -> None:
    """Elsewhere they met a page that cannot answer one: status 500 and a traceback in the log,
    at `/healthz` for everyone."""
    whole, service = served(tmp_path)
    for path in routes(whole, tmp_path):
        if path not in ("/sync", "/sync/x"):
            for headers in ({}, BEARER):
                assert dial(whole, path, headers).get("status") == 403, path
    service.server.close()


@pytest.mark.shows("SEC-CREDENTIAL")
def test_the_token_opens_every_route(tmp_path: Path) -> None:
    whole, service = served(tmp_path)
    opened = {"/sync": 426, "/blobs/x": 404, "/metrics": 200, "/": 200, "/assets/app.js": 200}
    assert {path: request(whole, path, BEARER).status for path in opened} == opened
    assert dial(whole, "/sync", BEARER)["type"] == "websocket.accept"
    service.server.close()


@pytest.mark.shows("SEC-CREDENTIAL")
def test_a_browser_page_may_carry_the_token_in_a_subprotocol(tmp_path: Path) -> None:
    """JavaScript cannot set the headers of a WebSocket. The answer never repeats the token."""
    whole, service = served(tmp_path)
    carried = base64.urlsafe_b64encode(TOKEN.encode()).rstrip(b"=").decode()
    opened = dial(whole, "/sync", {}, (SUBPROTOCOL, f"holdfast.bearer.{carried}"))
    assert (opened["type"], opened["subprotocol"]) == ("websocket.accept", SUBPROTOCOL)
    for offered in ((SUBPROTOCOL,), (SUBPROTOCOL, f"holdfast.bearer.{carried}x"), (carried,)):
        assert dial(whole, "/sync", {}, offered)["status"] == 401
    service.server.close()


@pytest.mark.shows("SEC-CREDENTIAL")
@pytest.mark.parametrize("option", ["open_sync", "require_signature"])
def test_a_peer_without_a_token_may_sync_where_the_user_said_so(
    tmp_path: Path, option: str
) -> None:
    options: dict[str, Any] = {option: True}
    whole, service = served(tmp_path, **options)
    assert dial(whole, "/sync")["type"] == "websocket.accept"
    assert {part.path for part in whole.parts if part.open} == {*OPEN, "/sync"}
    for path in ("/metrics", "/mcp", "/blobs/x", "/", "/api/file"):
        assert request(whole, path).status == 401
    service.server.close()


# the cookie


@pytest.mark.shows("SEC-COOKIE")
def test_the_cookie_opens_the_dashboard_and_nothing_else(tmp_path: Path) -> None:
    """It opened /mcp: a program on another port of this host, which browsers send it to, could
    call every tool."""
    whole, service = served(tmp_path)
    cookie = cookie_of(whole)
    data = b"bytes"
    blob = f"/blobs/{hashlib.sha256(data).hexdigest()}"
    assert request(whole, "/", cookie).status == 200
    assert request(whole, "/assets/app.js", cookie).status == 200
    assert request(whole, "/api/nothing", cookie).status == 404
    for path in ("/mcp", "/metrics", blob):
        for method in METHODS:
            assert request(whole, path, cookie, method, body=data).status == 401, (method, path)
    assert dial(whole, "/mcp", cookie)["status"] == 403
    assert request(whole, "/healthz", cookie).json == {"ok": True}
    page = {**cookie, "origin": f"http://127.0.0.1:{PORT}"}
    assert dial(whole, "/sync", page)["type"] == "websocket.accept"
    assert dial(whole, "/sync", cookie)["status"] == 401, "only a browser's page names its origin"
    service.server.close()


@pytest.mark.shows("SEC-COOKIE")
def test_the_cookie_of_one_server_is_useless_at_another(tmp_path: Path) -> None:
    whole, service = served(tmp_path)
    other, another = served(tmp_path / "other", token=TOKEN[::-1])
    cookie = cookie_of(whole)
    assert request(whole, "/", cookie).status == 200
    assert request(whole, "/", cookie, port=PORT + 1).status == 401, "the same home, another port"
    assert request(other, "/", cookie).status == 401
    value = cookie["cookie"].partition("=")[2]
    for port, token, app in ((PORT + 1, TOKEN, whole), (PORT, TOKEN[::-1], other)):
        renamed = {"cookie": f"{cookie_name(token, port)}={value}"}
        assert request(app, "/", renamed, port=port).status == 401
    for one in (service, another):
        one.server.close()


@pytest.mark.shows("SEC-COOKIE")
def test_the_cookie_expires_and_cannot_be_prolonged(tmp_path: Path) -> None:
    clock = TestClock()
    whole, service = served(tmp_path, clock=clock)
    invited = request(whole, f"/?token={TOKEN}").headers["set-cookie"]
    for attribute in ("HttpOnly", "SameSite=Strict", f"Max-Age={DASHBOARD_MS // 1000}"):
        assert attribute in invited
    cookie = {"cookie": invited.partition(";")[0]}
    name, _, value = cookie["cookie"].partition("=")
    until, _, proof = value.partition(".")
    assert int(until) == clock.ms + DASHBOARD_MS
    for forged in (
        f"{int(until) + 1}.{proof}",
        f"{until}.{proof[::-1]}",
        f"x.{proof}",
        f"-1.{proof}",
    ):
        assert request(whole, "/", {"cookie": f"{name}={forged}"}).status == 401
    clock.ms += DASHBOARD_MS - 1
    again = request(whole, "/", cookie)
    assert again.status == 200
    assert "set-cookie" not in again.headers
    clock.ms += 1
    assert request(whole, "/", cookie).status == 401
    page = {**cookie, "origin": f"http://127.0.0.1:{PORT}"}
    assert dial(whole, "/sync", page)["status"] == 401
    service.server.close()


@pytest.mark.shows("SEC-COOKIE")
def test_a_socket_that_the_cookie_opened_ends_when_it_expires() -> None:
    from tests.sync.peers import World

    world = World()
    lasting = world.server.connect()
    expiring = world.server.connect(until_ms=world.server.clock_ms() + 1_000)
    world.server.sweep()
    assert expiring.closing is None
    world.now += 1_000
    world.server.sweep()
    assert expiring.closing is not None
    assert "expired" in expiring.closing[1]
    assert lasting.closing is None
    world.close()


# tickets and the token of the home


@pytest.mark.shows("SEC-TICKET")
def test_a_ticket_is_good_for_its_purpose_its_port_and_its_time(tmp_path: Path) -> None:
    clock = TestClock()
    whole, service = served(tmp_path, clock=clock)

    def status(made: str, path: str = "/sync") -> str:
        return str(dial(whole, path, {"authorization": f"Ticket {made}"})["type"])

    good = ticket(TOKEN, "sync", PORT, clock.ms + SYNC_MS)
    assert status(good) == "websocket.accept"
    for other in (
        ticket(TOKEN, "sync", PORT + 1, clock.ms + SYNC_MS),
        ticket(TOKEN, "dashboard", PORT, clock.ms + SYNC_MS),
        ticket(TOKEN[::-1], "sync", PORT, clock.ms + SYNC_MS),
        ticket(TOKEN, "sync", PORT, clock.ms),
    ):
        assert status(other) != "websocket.accept"
    for path in ("/mcp", "/metrics", "/", "/blobs/x", "/sync"):
        assert request(whole, path, {"authorization": f"Ticket {good}"}).status == 401
    clock.ms += SYNC_MS
    assert status(good) != "websocket.accept"
    service.server.close()


@pytest.mark.shows("SEC-TICKET")
def test_the_token_of_the_home_is_proven_and_never_sent(tmp_path: Path) -> None:
    """A program of another user may listen on the port that a client was told to use."""
    home = {"HOLDFAST_HOME": str(tmp_path)}
    assert authorization("127.0.0.1", PORT, None, home, 5) is None, "there is no token yet"
    token = token_of(Home(tmp_path))
    for host in ("localhost", "127.0.0.1", "::1"):
        sent = authorization(host, PORT, None, home, 5)
        assert sent is not None
        assert token not in sent
        assert valid_until(sent.removeprefix("Ticket "), token, "sync", PORT, 5) == 5 + SYNC_MS
    for elsewhere in ("memory.example", "10.0.0.7", None, "127.0.0.1.evil.example"):
        named = {**home, "HOLDFAST_TOKEN": "x"}
        assert authorization(elsewhere, PORT, None, home, 5) is None
        assert authorization(elsewhere, PORT, "named", home, 5) == "Bearer named"
        assert authorization(elsewhere, PORT, None, named, 5) == "Bearer x"
    (tmp_path / "token").chmod(0o644)
    with pytest.raises(UsageError, match="other users may read"):
        authorization("localhost", PORT, None, home, 5)


@pytest.mark.shows("SEC-TICKET")
@given(st.text(max_size=80))
def test_a_text_that_is_not_a_ticket_is_not_valid(text: str) -> None:
    assert valid_until(text, TOKEN, "sync", PORT, 0) is None


# Host and Origin


@pytest.mark.shows("SEC-HOST")
@pytest.mark.parametrize(
    "host",
    [
        "evil@localhost",
        "evil:x@localhost:7433",
        "localhost@evil",
        "localhost:7433, evil.example",
        "evil.example, localhost",
        "localhost/",
        "localhost:7433/path",
        "localhost?x",
        "localhost#x",
        " localhost",
        "localhost ",
        "localhost:",
        "localhost:port",
        "localhost:123456",
        "localhost\\evil",
        "localhost\x00",
        "http://localhost",
        "[::1",
        "::1",
        "[::1]x",
        "[localhost]",
        "\u017focalhost",
        "localhost.",
    ],
)
def test_a_host_that_is_not_exactly_a_name_of_ours_is_refused(host: str) -> None:
    assert OriginPolicy().refusal({"host": host}) is not None


@pytest.mark.shows("SEC-HOST")
def test_a_second_host_or_origin_is_refused() -> None:
    app = Site([SitePart("/", hello, open=True)], OriginPolicy(), TOKEN)

    def status(*headers: tuple[bytes, bytes]) -> int:
        sent: list[Any] = []
        scope: Scope = {
            "type": "http",
            "method": "GET",
            "path": "/",
            "query_string": b"",
            "headers": list(headers),
        }

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(app(scope, receive, send))
        return int(sent[0]["status"])

    ours, page = (b"host", b"localhost:7433"), (b"origin", b"http://localhost:7433")
    assert status(ours) == status(ours, page) == 200
    assert status(ours, (b"host", b"evil.example")) == 403
    assert status((b"host", b"evil.example"), ours) == 403
    assert status(ours, page, (b"origin", b"http://evil.example")) == 403
    assert status(ours, (b"origin", b"http://evil.example"), page) == 403


NAMES = st.sampled_from(["localhost", "127.0.0.1", "[::1]", "evil.example", "@", ":", "7433", "/"])
PIECES = st.lists(st.one_of(NAMES, st.characters()), max_size=6).map("".join)


@pytest.mark.shows("SEC-HOST")
@given(PIECES, st.one_of(st.none(), PIECES))
def test_whatever_host_and_origin_are_only_ours_pass(host: str, origin: str | None) -> None:
    """Judged by a slower reading: take off the port, then compare with the three names."""
    headers = {"host": host} if origin is None else {"host": host, "origin": origin}
    if OriginPolicy().refusal(headers) is None:
        name, colon, port = host.lower().rpartition(":")
        if not colon or host.endswith("]"):
            name, port = host.lower(), "0"
        assert name in ("localhost", "127.0.0.1", "[::1]")
        assert port.isascii()
        assert port.isdigit()
        if origin is not None:
            assert origin.lower().partition("://")[::2] in (
                ("http", host.lower()),
                ("https", host.lower()),
            )


@pytest.mark.shows("SEC-HOST")
@given(st.from_regex(r"[A-Za-z0-9.-]{1,20}(:[0-9]{1,5})?", fullmatch=True))
def test_ordinary_names_are_read_as_such(host: str) -> None:
    assert host_name(host.lower()) == host.lower().partition(":")[0]
