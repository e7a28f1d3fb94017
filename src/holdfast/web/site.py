"""The web application of `holdfast serve`, put together from parts.

Each part is an ASGI application below one path. The checks for all pages are made here, so no part
can forget them:

    Host     must be a name of ours: a foreign name made to point at us (DNS rebinding) is refused
    Origin   if a browser sends one it must be our own page, or one that was allowed
    token    asked for by every part that does not say it is open: `Authorization: Bearer …`, or
             the cookie that opening `/?token=…` once leaves in a browser
    headers  a strict content security policy and its relatives, unless a part sets its own

    /sync      documents, live (WebSocket); the protocol itself authenticates clients
    /blobs     bytes by their hash
    /mcp       the tools, for agents
    /healthz   is it alive; open
    /metrics   numbers without names; open
    /          the dashboard
"""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from urllib.parse import parse_qs, quote

from holdfast.sync.io.websocket import OriginPolicy, Receive, Scope, Send
from holdfast.web.token import cookie_name, page_token

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

log = logging.getLogger("holdfast.web")


@dataclass(frozen=True, slots=True)
class SitePart:
    """One application below one path; `/` serves all other paths."""

    path: str
    app: Asgi
    open: bool = False
    """Whether it is served without the token. Host and Origin are checked in any case."""

    life: Life | None = None
    """A context that is entered before the first request and left after the last."""

    def serves(self, path: str) -> bool:
        return self.path == "/" or path == self.path or path.startswith(self.path + "/")


class Site:
    """All parts as one ASGI application. Host, Origin and token are checked here."""

    def __init__(self, parts: Sequence[SitePart], doors: OriginPolicy, token: str) -> None:
        assert token, "a site without a token would be open to every program on the machine"
        self.parts = sorted(parts, key=lambda part: len(part.path), reverse=True)
        self._doors, self._token = doors, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        headers = headers_of(scope)
        refusal = self._doors.refusal(headers)
        part = next((part for part in self.parts if part.serves(scope["path"])), None)
        if scope["type"] == "websocket":
            if refusal is None and (part is None or part.path == "/"):
                refusal = "not here: /sync"
            if refusal is None and part is not None and not (part.open or self._knows(headers)):
                refusal = "the token is missing or wrong"
            if refusal is not None or part is None:
                log.info("refused a connection: %s", refusal)
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": refusal})
                return
            await part.app(scope, receive, send)
            return
        send = _strict(send)
        if refusal is not None:
            log.info("refused a request: %s", refusal)
            await answer_json(send, 403, {"error": refusal})
        elif part is None:
            await answer_json(send, 404, {"error": "there is no such page"})
        elif part.open or self._knows(headers):
            await part.app(scope, receive, send)
        elif self._is_invited(scope):
            await self._welcome(scope, send)
        else:
            await self._refuse(headers, send)

    # the token

    def _knows(self, headers: Mapping[str, str]) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _same(given.strip(), self._token):
            return True
        # Cookies of other programs on this host arrive too, and some are malformed.
        ours = f"{cookie_name(self._token)}={page_token(self._token)}"
        return any(_same(one.strip(), ours) for one in headers.get("cookie", "").split(";"))

    def _is_invited(self, scope: Scope) -> bool:
        given = query_of(scope).get("token")
        return scope["method"] == "GET" and given is not None and _same(given, self._token)

    async def _welcome(self, scope: Scope, send: Send) -> None:
        """Set the cookie and redirect to the address without the token, where it could be seen."""
        ours = f"{cookie_name(self._token)}={page_token(self._token)}"
        cookie = f"{ours}; Path=/; HttpOnly; SameSite=Strict"
        # Exactly one leading slash: `//name` would redirect to another host.
        path = "/" + quote(scope["path"].lstrip("/"), safe="/", errors="replace")
        headers = [(b"location", path.encode()), (b"set-cookie", cookie.encode())]
        await answer(send, 303, b"", headers)

    async def _refuse(self, headers: Mapping[str, str], send: Send) -> None:
        challenge = [(b"www-authenticate", b'Bearer realm="holdfast"')]
        if "text/html" in headers.get("accept", ""):
            text = "This page needs the token: open the address that `holdfast serve` printed.\n"
            kind = (b"content-type", b"text/plain; charset=utf-8")
            await answer(send, 401, text.encode(), [*challenge, kind])
        else:
            error = {
                "error": "the token is missing or wrong",
                "hint": "send it as `Authorization: Bearer …`; `holdfast serve --show-token` "
                "prints it",
            }
            await answer_json(send, 401, error, challenge)

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


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _strict(send: Send) -> Send:
    async def strictly(message: Scope) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            more = [header for header in STRICT if header[0] not in names]
            message = {**message, "headers": [*given, *more]}
        await send(message)

    return strictly


# what parts use


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request by their names in lower case."""
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }


def query_of(scope: Scope) -> dict[str, str]:
    """The parameters of a request's address; the last of each name."""
    found = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return {name: values[-1] for name, values in found.items()}


async def answer(
    send: Send, status: int, body: bytes, headers: Iterable[Header] = (), *, head: bool = False
) -> None:
    """One whole answer. A HEAD gets everything but the body."""
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
