"""One door for all parts: names, origins, the token, strict headers, blobs, numbers."""

import asyncio
import hashlib
import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast.app import App
from holdfast.credentials import token_of
from holdfast.errors import UsageError
from holdfast.home import Home
from holdfast.ids import SpaceId
from holdfast.sync.io.endpoint import ServeOptions, SyncService
from holdfast.sync.io.websocket import OriginPolicy, Receive, Scope, Send
from holdfast.web import Site, SitePart, answer
from holdfast.web.compose import site
from holdfast.web.site import POLICY

TOKEN = "a-token-that-is-long-enough-to-be-one"
BEARER = {"authorization": f"Bearer {TOKEN}"}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def asked(
    app: Site, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
) -> Answer:
    path, _, query = path.partition("?")
    given = {"host": "127.0.0.1:7433", **(headers or {})}
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start = sent[0]
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], found, b"".join(m.get("body", b"") for m in sent[1:]))


def ask(
    app: Site, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
) -> Answer:
    return asyncio.run(asked(app, method, path, headers, body))


async def connected(app: Site, path: str, headers: dict[str, str]) -> dict[str, Any]:
    """The first thing that a WebSocket is told."""
    scope: Scope = {
        "type": "websocket",
        "path": path,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    first: dict[str, Any] = sent[0]
    return first


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        return
    await answer(send, 200, b"hello", [(b"content-type", b"text/plain")])


def small_site(*, origins: tuple[str, ...] = ()) -> Site:
    parts = [
        SitePart("/", hello, cookie=True),
        SitePart("/free", hello, open=True, socket=True),
        SitePart("/shut", hello, socket=True),
    ]
    return Site(parts, OriginPolicy(origins=origins), TOKEN)


@pytest.mark.shows("MCP-WEB-HOST")
@pytest.mark.parametrize("path", ["/", "/free", "/shut", "/nowhere"])
def test_a_name_that_is_not_ours_is_refused_before_anything_else(path: str) -> None:
    """A page of evil.example whose name was made to point at us asks with its own name."""
    for host in ("evil.example", "evil.example:7433", "127.0.0.1.evil.example", "", "[::1"):
        assert ask(small_site(), "GET", path, {**BEARER, "host": host}).status == 403
    for host in ("localhost:7433", "127.0.0.1", "[::1]:7433"):
        assert ask(small_site(), "GET", path, {**BEARER, "host": host}).status == 200


@pytest.mark.shows("MCP-WEB-ORIGIN")
def test_a_page_from_elsewhere_is_refused_and_our_own_is_not() -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:9999", "file://"):
        headers = {**BEARER, "origin": origin}
        assert ask(small_site(), "GET", "/free", headers).status == 403
        shut = asyncio.run(connected(small_site(), "/free", {"host": "127.0.0.1:7433", **headers}))
        assert shut["type"] == "websocket.close"
    own = {**BEARER, "origin": "http://127.0.0.1:7433"}
    assert ask(small_site(), "GET", "/shut", own).status == 200
    listed = small_site(origins=("https://board.example",))
    assert ask(listed, "GET", "/free", {"origin": "https://board.example"}).status == 200


@pytest.mark.shows("MCP-WEB-TOKEN")
def test_a_part_that_is_not_open_wants_the_token() -> None:
    app = small_site()
    assert ask(app, "GET", "/free").status == 200
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {TOKEN}"},
                    {"authorization": f"Bearer {TOKEN}x"}, {"cookie": f"holdfast={TOKEN}"},
                    {"cookie": "holdfast=; =;;"}):  # fmt: skip
        refused = ask(app, "GET", "/shut", headers)
        assert refused.status == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert TOKEN not in refused.body.decode()
    assert ask(app, "GET", "/shut", BEARER).status == 200
    closed = asyncio.run(connected(app, "/shut", {"host": "localhost"}))
    assert closed["type"] == "websocket.close"
    opened = asyncio.run(connected(app, "/shut", {"host": "localhost", **BEARER}))
    assert opened["type"] == "websocket.accept"


@pytest.mark.shows("MCP-WEB-COOKIE")
def test_opening_the_printed_address_leaves_a_cookie_and_takes_the_token_out_of_it() -> None:
    app = small_site()
    invited = ask(app, "GET", f"/?token={TOKEN}")
    assert invited.status == 303
    assert invited.headers["location"] == "/"
    cookie = invited.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie, "another port's program may see it; the token is worth more"
    name = cookie.partition(";")[0]
    assert ask(app, "GET", "/", {"cookie": name}).status == 200
    assert ask(app, "GET", f"/?token={TOKEN[:-1]}").status == 401
    assert ask(app, "POST", f"/?token={TOKEN}").status == 401
    elsewhere = ask(app, "GET", f"//evil.example/?token={TOKEN}")
    assert elsewhere.headers["location"] == "/evil.example/"


@pytest.mark.shows("MCP-WEB-HEADERS")
@pytest.mark.parametrize("path", ["/", "/free", "/shut"])
def test_every_answer_has_the_strict_headers_refusals_too(path: str) -> None:
    for headers in ({}, BEARER, {"host": "evil.example"}):
        found = ask(small_site(), "GET", path, headers).headers
        assert found["content-security-policy"] == POLICY
        assert found["x-content-type-options"] == "nosniff"
        assert found["cache-control"] == "no-store"
        assert "unsafe" not in POLICY
        assert "http" not in POLICY


@pytest.mark.shows("MCP-WEB-TOKEN-FILE")
def test_the_token_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    token = token_of(Home(home))
    assert token_of(Home(home)) == token
    assert stat.S_IMODE((home / "token").stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["token"]
    (home / "token").chmod(0o644)
    with pytest.raises(UsageError, match="other users may read"):
        token_of(Home(home))
    (home / "token").unlink()
    (home / "token").write_text("short\n")
    (home / "token").chmod(0o600)
    with pytest.raises(UsageError, match="does not contain a token"):
        token_of(Home(home))


# the parts of `holdfast serve`


def served(tmp_path: Path) -> tuple[Site, SyncService]:
    app = App(home=tmp_path / "home")
    service = SyncService(ServeOptions(store=str(tmp_path / "home" / "spaces")))
    return site(app, service, OriginPolicy(), TOKEN), service


@pytest.mark.shows("MCP-WEB-HEALTH", "SEC-HEALTH")
def test_health_is_open_and_names_nothing_and_metrics_need_the_token(tmp_path: Path) -> None:
    whole, service = served(tmp_path)
    with service.server.space(_space("private-name")).store as store:
        assert ask(whole, "GET", "/healthz").json == {"ok": True}
        assert ask(whole, "HEAD", "/healthz").body == b""
        assert ask(whole, "GET", "/metrics").status == 401
        text = ask(whole, "GET", "/metrics", BEARER).body.decode()
        assert "holdfast_spaces_open 1" in text
        assert "private-name" not in text
        assert ask(whole, "GET", "/metrics/x", BEARER).status == 404
        assert ask(whole, "GET", "/").status == 401
        assert ask(whole, "GET", "/blobs/x").status == 401
        assert store.newest_seq() == 0


def _space(name: str) -> Any:
    return name


@pytest.mark.shows("MCP-WEB-BLOBS")
def test_bytes_come_back_under_their_hash_and_under_no_other(tmp_path: Path) -> None:
    whole, service = served(tmp_path)
    data = b"<script>alert(1)</script>"
    name = hashlib.sha256(data).hexdigest()
    path = f"/blobs/{name}?space=pictures"
    assert ask(whole, "GET", path, BEARER).status == 404
    assert not list(tmp_path.rglob("pictures*")), "asking makes no space"
    wrong = ask(whole, "PUT", path, BEARER, b"other bytes")
    assert wrong.status == 400
    kept = ask(whole, "PUT", path, {**BEARER, "content-type": "text/html"}, data)
    assert kept.status == 200
    for spelled in (name, kept.json["hash"]):
        found = ask(whole, "GET", f"/blobs/{spelled}?space=pictures", BEARER)
        assert (found.status, found.body) == (200, data)
        assert found.headers["content-disposition"] == "attachment"
        assert "sandbox" in found.headers["content-security-policy"]
    assert ask(whole, "DELETE", path, BEARER).status == 405
    assert ask(whole, "GET", f"/blobs/{name}?space=..%2F..", BEARER).status == 400
    service.server.close()


@pytest.mark.shows("WEB-BLOB-RANGE")
def test_a_part_of_a_blob_is_served_alone(tmp_path: Path) -> None:
    """`Range` was ignored, and a client that went on with a download got all of it again."""
    whole, service = served(tmp_path)
    data = bytes(range(100))
    path = f"/blobs/{hashlib.sha256(data).hexdigest()}?space=pictures"
    ask(whole, "PUT", path, BEARER, data)
    first = ask(whole, "GET", path, BEARER)
    assert (first.status, first.headers["accept-ranges"]) == (200, "bytes")
    for asked, part in {
        "bytes=0-9": (0, 9),
        "bytes=90-": (90, 99),
        "bytes=-10": (90, 99),
        "bytes=-1000": (0, 99),
        "bytes=95-1000": (95, 99),
        "bytes=99-99": (99, 99),
    }.items():
        found = ask(whole, "GET", path, {**BEARER, "range": asked})
        assert (found.status, found.body) == (206, data[part[0] : part[1] + 1]), asked
        assert found.headers["content-range"] == f"bytes {part[0]}-{part[1]}/100"
        assert found.headers["etag"] == first.headers["etag"]
    for asked in ("bytes=100-", "bytes=100-200", "bytes=-0"):
        found = ask(whole, "GET", path, {**BEARER, "range": asked})
        assert (found.status, found.headers["content-range"]) == (416, "bytes */100"), asked
    for asked in ("bytes=9-3", "bytes=-", "bytes=0-1,5-6", "lines=1-2", "bytes=a-b"):
        assert ask(whole, "GET", path, {**BEARER, "range": asked}).status == 200, asked
    other = {**BEARER, "range": "bytes=0-9", "if-range": '"another"'}
    assert ask(whole, "GET", path, other).body == data
    same = {**other, "if-range": first.headers["etag"]}
    assert ask(whole, "GET", path, same).body == data[:10]
    assert ask(whole, "HEAD", path, {**BEARER, "range": "bytes=0-9"}).status == 200
    service.server.close()


@pytest.mark.shows("MCP-WEB-COOKIE")
@pytest.mark.parametrize(
    "others", ['a={"x": 1}', "bad name=1", "half", "=;;", 'q="unended', "x=é", "holdfast=other"]
)
def test_cookies_of_other_programs_lock_nobody_out(others: str) -> None:
    """All ports of a host share their cookies; one of another program that was no cookie by the
    book (JSON, say) made the dashboard ask for its token for ever."""
    app = small_site()
    ours = ask(app, "GET", f"/?token={TOKEN}").headers["set-cookie"].partition(";")[0]
    for cookies in (f"{others}; {ours}", f"{ours}; {others}"):
        assert ask(app, "GET", "/", {"cookie": cookies}).status == 200
    assert ask(app, "GET", "/", {"cookie": others}).status == 401


@pytest.mark.shows("MCP-WEB-COOKIE")
def test_two_servers_of_one_machine_each_keep_their_visitors() -> None:
    """They had one cookie: whoever opened the second was a stranger to the first."""
    one, other = (
        small_site(),
        Site([SitePart("/", hello, cookie=True)], OriginPolicy(), TOKEN[::-1]),
    )
    jar = {}
    for app, token in ((one, TOKEN), (other, TOKEN[::-1])):
        cookie = ask(app, "GET", f"/?token={token}").headers["set-cookie"]
        name, _, value = cookie.partition(";")[0].partition("=")
        jar[name] = value
    cookies = {"cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
    assert [ask(app, "GET", "/", cookies).status for app in (one, other)] == [200, 200]


@pytest.mark.shows("MCP-WEB-COOKIE")
@pytest.mark.parametrize(
    ("path", "leads"),
    [
        ("/\\evil.example", "/%5Cevil.example"),
        ("/a\r\nx-evil: 1", "/a%0D%0Ax-evil%3A%201"),
        ("/ü b", "/%C3%BC%20b"),
    ],
)
def test_an_address_leads_to_a_page_of_ours_whatever_is_in_it(path: str, leads: str) -> None:
    """A line break in it ended in a traceback, and a backslash is a slash to a browser."""
    invited = ask(small_site(), "GET", f"{path}?token={TOKEN}")
    assert invited.headers["location"] == leads


@pytest.mark.shows("MCP-WEB-HEADERS")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_socket_asked_as_a_page_says_what_it_is(tmp_path: Path, method: str) -> None:
    """`curl http://127.0.0.1:7433/sync` got a 500 and left a traceback in the log."""
    whole, service = served(tmp_path)
    assert ask(whole, method, "/sync").status == 401
    found = ask(whole, method, "/sync", BEARER)
    assert found.status == 426
    assert found.headers["upgrade"] == "websocket"
    assert "ws://" in found.json["hint"]
    service.server.close()


@pytest.mark.shows("MCP-WEB-BLOBS")
def test_a_kind_that_is_no_kind_is_not_sent_as_a_header(tmp_path: Path) -> None:
    whole, service = served(tmp_path)
    store = service.server.space(SpaceId("local")).store
    kept = store.put_blob(b"x", "text/html\r\nx-evil: 1")
    found = ask(whole, "GET", f"/blobs/{kept}", BEARER)
    assert (found.status, found.headers["content-type"]) == (200, "application/octet-stream")
    service.server.close()
