"""The web application of `holdfast serve`, composed of parts.

Each part is an ASGI application below one path. The checks for all parts are made here, so that no
part can forget them:

    Host         must be one of our names: a foreign name that resolves to us (DNS rebinding) is
                 refused
    Origin       if a browser sends one, it must be our own page or an allowed one
    credential   required by every part that is not marked as open; see below
    headers      a strict content security policy and similar headers, unless a part sets its own

| credential | how it is sent | what it opens |
|---|---|---|
| the token | `Authorization: Bearer TOKEN` | everything |
| the token | WebSocket subprotocol `holdfast.bearer.BASE64URL(TOKEN)` | sockets |
| a ticket for `sync` | `Authorization: Ticket TICKET` | sockets |
| a pass | `Authorization: Pass PASS`, signed by a key | `/mcp`, for repositories it may read |
| a ticket for `dashboard` | the cookie that `/?token=TOKEN` sets | parts with `cookie` |

Tickets are in `holdfast.credentials`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from urllib.parse import parse_qs, quote

from holdfast import system
from holdfast.credentials import (
    DASHBOARD_MS,
    Purpose,
    cookie_name,
    same,
    ticket,
    valid_until,
)
from holdfast.store.passes import principal_of
from holdfast.sync.io.websocket import (
    PRINCIPAL,
    UNTIL_MS,
    OriginPolicy,
    Receive,
    Scope,
    Send,
    deny,
    headers_of,
)

__all__ = [
    "Asgi",
    "Header",
    "Site",
    "SitePart",
    "answer",
    "answer_json",
    "body_of",
    "headers_of",
    "query_of",
]

Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]
Life = Callable[[], AbstractAsyncContextManager[None]]
Header = tuple[bytes, bytes]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
STRICT: tuple[Header, ...] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
)
"""Headers of every response, unless its part sets them."""

LEAVING: tuple[Header, ...] = ((b"connection", b"close"),)

BEARER_SUBPROTOCOL = "holdfast.bearer."
MISSING = "the token is missing or wrong"
HINT = (
    "send `Authorization: Bearer TOKEN`; the token is in HOLDFAST_HOME/token, and "
    "`holdfast serve --show-token` prints it"
)

log = logging.getLogger("holdfast.web")


@dataclass(frozen=True, slots=True)
class SitePart:
    """One application below one path; `/` serves all other paths."""

    path: str
    app: Asgi
    open: bool = False
    """Whether it answers without a credential. Host and Origin are still checked."""

    cookie: bool = False
    """Whether the dashboard's cookie is accepted as a credential."""

    passes: bool = False
    """Whether a signed pass is accepted; the part then decides what its principal may do."""

    socket: bool = False
    """Whether it accepts WebSockets; a part that only handles HTTP would fail on one."""

    life: Life | None = None
    """A context that is entered before the first request and left after the last."""

    drain: Callable[[float], Awaitable[None]] | None = None
    """Called before the server stops: finish current work within this many seconds."""

    def serves(self, path: str) -> bool:
        return self.path == "/" or path == self.path or path.startswith(self.path + "/")


@dataclass(frozen=True, slots=True)
class Admission:
    """An accepted credential: its principal, and when it expires, if it does."""

    principal: str | None = None
    """Connections of one principal share its limits; with None, those of one address do."""

    until_ms: int | None = None


OWNER, DASHBOARD = "the owner", "the dashboard"


class Site:
    """All parts as one ASGI application, behind one set of checks."""

    def __init__(
        self,
        parts: Sequence[SitePart],
        policy: OriginPolicy,
        token: str,
        now_ms: Callable[[], int] = system.now_ms,
        audience: str = "",
    ) -> None:
        self._audience = audience
        assert token, "a site without a token would be open to every program on the machine"
        self.parts = sorted(parts, key=lambda part: len(part.path), reverse=True)
        self._policy, self._token, self._now_ms = policy, token, now_ms
        self._draining = False

    async def drain(self, wait_s: float) -> None:
        """Let clients finish what they began; from now on `/healthz` answers 503."""
        self._draining = True
        work = [part.drain(wait_s) for part in self.parts if part.drain is not None]
        for failed in await asyncio.gather(*work, return_exceptions=True):
            if isinstance(failed, BaseException):
                log.error("a part did not finish before the server stopped: %s", failed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        headers = headers_of(scope)
        refusal = self._policy.refusal(headers)
        part = next((part for part in self.parts if part.serves(scope["path"])), None)
        admission = None if part is None else self._admit(part, scope, headers)
        if scope["type"] == "websocket":
            if refusal is None and (part is None or not part.socket):
                refusal = "there is no socket here; connect to /sync"
            if refusal is not None:
                await deny(scope, receive, send, 403, refusal)
            elif part is None or admission is None:
                await deny(scope, receive, send, 401, f"{MISSING}; {HINT}")
            else:
                admitted = {PRINCIPAL: admission.principal, UNTIL_MS: admission.until_ms}
                await part.app({**scope, **admitted}, receive, send)
            return
        # While draining, close connections: otherwise clients never switch to another server.
        send = _strict(send, LEAVING if self._draining else ())
        if refusal is not None:
            log.info("refused a request: %s", refusal)
            await answer_json(send, 403, {"error": refusal})
        elif part is None:
            await answer_json(send, 404, {"error": "there is no such page"})
        elif self._draining and part.path == "/healthz":
            await answer_json(send, 503, {"ok": False})
        elif admission is not None:
            await part.app({**scope, PRINCIPAL: admission.principal}, receive, send)
        elif part.cookie and self._is_invited(scope):
            await self._welcome(scope, send)
        else:
            await self._refuse(headers, send)

    # credentials

    def _admit(self, part: SitePart, scope: Scope, headers: Mapping[str, str]) -> Admission | None:
        """The accepted credential of a request to this part; None if it has none."""
        socket = scope["type"] == "websocket"
        kind, _, presented = headers.get("authorization", "").partition(" ")
        presented = presented.strip()
        if kind.lower() == "bearer" and same(presented, self._token):
            return Admission(OWNER)
        if socket and kind.lower() == "ticket" and self._until("sync", presented, scope):
            return Admission(OWNER)
        if socket and any(self._is_ours(offered) for offered in scope.get("subprotocols", ())):
            return Admission(OWNER)
        if part.passes and self._audience and kind.lower() == "pass":
            principal = principal_of(presented, self._audience, self._now_ms())
            return None if principal is None else Admission(*principal)
        # Browsers send an Origin with every WebSocket; without one it is not a browser.
        if part.cookie and (not socket or "origin" in headers):
            name = cookie_name(self._token, _port(scope))
            # The browser also sends cookies of other ports of the host, some of them malformed.
            for cookie in headers.get("cookie", "").split(";"):
                key, _, value = cookie.strip().partition("=")
                until_ms = self._until("dashboard", value, scope) if key == name else None
                if until_ms is not None:
                    return Admission(DASHBOARD, until_ms)
        return Admission() if part.open else None

    def _until(self, purpose: Purpose, presented: str, scope: Scope) -> int | None:
        return valid_until(presented, self._token, purpose, _port(scope), self._now_ms())

    def _is_ours(self, subprotocol: str) -> bool:
        """Whether a subprotocol carries the token."""
        token = base64.urlsafe_b64encode(self._token.encode()).rstrip(b"=").decode()
        return same(subprotocol, f"{BEARER_SUBPROTOCOL}{token}")

    def _is_invited(self, scope: Scope) -> bool:
        presented = query_of(scope).get("token")
        return scope["method"] == "GET" and presented is not None and same(presented, self._token)

    async def _welcome(self, scope: Scope, send: Send) -> None:
        """Set the cookie and redirect to the URL without the token, so that it is not visible."""
        port = _port(scope)
        value = ticket(self._token, "dashboard", port, self._now_ms() + DASHBOARD_MS)
        cookie = (
            f"{cookie_name(self._token, port)}={value}; Path=/; "
            f"Max-Age={DASHBOARD_MS // 1000}; HttpOnly; SameSite=Strict"
        )
        # Exactly one leading slash: `//name` would redirect to another host.
        path = "/" + quote(scope["path"].lstrip("/"), safe="/", errors="replace")
        headers = [(b"location", path.encode()), (b"set-cookie", cookie.encode())]
        await answer(send, 303, b"", headers)

    async def _refuse(self, headers: Mapping[str, str], send: Send) -> None:
        challenge = [(b"www-authenticate", b'Bearer realm="holdfast"')]
        if "text/html" in headers.get("accept", ""):
            text = (
                "This page needs the token, and a browser keeps it for a day.\n\n"
                "Open the address with the token that `holdfast serve` prints in a terminal. If it "
                "runs in the background, add\n/?token=TOKEN to the address of this page: TOKEN is "
                "in the file ~/.holdfast/token (or $HOLDFAST_HOME/token)\nof the machine and the "
                "user that the server runs as.\n"
            )
            kind = (b"content-type", b"text/plain; charset=utf-8")
            await answer(send, 401, text.encode(), [*challenge, kind])
        else:
            await answer_json(send, 401, {"error": MISSING, "hint": HINT}, challenge)

    # life

    async def _live(self, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as stack:
            await receive()
            try:
                for part in self.parts:
                    if part.life is not None:
                        await stack.enter_async_context(part.life())
            except Exception as error:
                log.exception("the server did not start")
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


def _port(scope: Scope) -> int:
    """The port on which a request arrived; 0 for a Unix socket."""
    server = scope.get("server")
    return int(server[1] or 0) if server else 0


def _strict(send: Send, more: Sequence[Header] = ()) -> Send:
    async def strictly(message: Scope) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            names = {name.lower() for name, _ in headers}
            added = [header for header in (*STRICT, *more) if header[0] not in names]
            message = {**message, "headers": [*headers, *added]}
        await send(message)

    return strictly


# what parts use


def query_of(scope: Scope) -> dict[str, str]:
    """The query parameters of a request; for a repeated name, the last value."""
    parameters = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return {name: values[-1] for name, values in parameters.items()}


async def answer(
    send: Send, status: int, body: bytes, headers: Iterable[Header] = (), *, head: bool = False
) -> None:
    """Send a complete response; for a HEAD request, without the body."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": b"" if head else body})


async def answer_json(
    send: Send, status: int, value: object, headers: Iterable[Header] = ()
) -> None:
    kind = (b"content-type", b"application/json")
    await answer(send, status, json.dumps(value).encode(), [kind, *headers])


async def body_of(receive: Receive, size_bytes_max: int) -> bytes | None:
    """The whole body; None if it is longer than allowed."""
    parts: list[bytes] = []
    size = 0
    while True:
        event = await receive()
        if event["type"] != "http.request":
            return None
        parts.append(event.get("body", b""))
        size += len(parts[-1])
        if size > size_bytes_max:
            return None
        if not event.get("more_body"):
            return b"".join(parts)
