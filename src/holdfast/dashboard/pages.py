"""The dashboard as an ASGI application: files of the page, and questions as JSON.

What changes by itself comes through `/sync`; here are only the page's own files, which are shipped
with the package, and questions, which each call what a command calls. Nothing is inline and nothing
comes from elsewhere, so the policy can be strict: scripts and styles from us, and no one else.

Who may ask is who may connect to `/sync`: the same Host and Origin rules; and a page of another
site may not even try (`Sec-Fetch-Site`).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any
from urllib.parse import parse_qsl

from holdfast.errors import HoldfastError
from holdfast.sync.websocket import Doors, Receive, Scope, Send

log = logging.getLogger("holdfast.dashboard")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""Scripts, styles and connections from this server alone; no text ever becomes markup."""

HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
)

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}

BODY_BYTES_MAX = 1 << 20

Question = Callable[[Mapping[str, str]], Any]
"""From the members of a request to the answer."""

SAME_SITE = ("same-origin", "none", "")


class Dashboard:
    """`/`, `/assets/…` and `/api/…`."""

    def __init__(
        self,
        doors: Doors,
        questions: Mapping[str, Question],
        refusal: Callable[[Mapping[str, str]], str | None] = lambda headers: None,
    ) -> None:
        """`refusal` says why a peer that came through the doors may not ask; None if it may."""
        self._doors, self._questions, self._refusal = doors, questions, refusal
        self._files = _assets()

    def serves(self, path: str) -> bool:
        """Whether a path is one of ours."""
        return path == "/" or path.startswith(("/assets/", "/api/"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "the dashboard speaks HTTP; what is live comes by /sync"
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        refusal = self._doors.refusal(headers)
        if refusal is not None:
            await _answer(send, 403, {"error": refusal, "hint": "see --allow-host"})
        elif scope["path"].startswith("/api/"):
            await self._ask(scope, headers, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            await _answer(send, 405, {"error": "a page is only read"})
        else:
            await self._page(scope, headers, send)

    # files

    async def _page(self, scope: Scope, headers: Mapping[str, str], send: Send) -> None:
        name = "index.html" if scope["path"] == "/" else scope["path"].removeprefix("/assets/")
        found = self._files.get(name)
        if found is None:
            await _answer(send, 404, {"error": "there is no such page"})
            return
        kind, body, tag = found
        extra = [("etag", tag), ("cache-control", "no-cache"), ("content-type", kind)]
        if headers.get("if-none-match") == tag:
            await _send(send, 304, extra, b"")
            return
        await _send(send, 200, extra, b"" if scope["method"] == "HEAD" else body, len(body))

    # questions

    async def _ask(
        self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send
    ) -> None:
        if headers.get("sec-fetch-site", "") not in SAME_SITE:
            await _answer(send, 403, {"error": "a page of another site may not ask"})
            return
        refusal = self._refusal(headers)
        if refusal is not None:
            await _answer(send, 401, {"error": refusal})
            return
        question = self._questions.get(scope["path"].removeprefix("/api/"))
        if question is None:
            await _answer(send, 404, {"error": "there is no such question"})
            return
        members = await _members(scope, receive)
        if isinstance(members, str):
            await _answer(send, 400, {"error": members})
            return
        status, body = await asyncio.to_thread(_asked, question, members)
        await _answer(send, status, body)


def _asked(question: Question, members: Mapping[str, str]) -> tuple[int, Any]:
    try:
        return 200, question(members)
    except HoldfastError as error:
        return 400, {"error": str(error), "hint": error.hint or None}
    except OSError as error:
        return 500, {"error": error.strerror or str(error)}
    except Exception:
        log.exception("a question could not be answered")
        return 500, {"error": "this went wrong here; the server's log says how"}


async def _members(scope: Scope, receive: Receive) -> dict[str, str] | str:
    """What was asked, from the address or from a JSON body; or what is wrong with it."""
    if scope["method"] == "GET":
        return dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    if scope["method"] != "POST":
        return "ask with GET, or with POST and a JSON object"
    body = b""
    while True:
        event = await receive()
        if event["type"] != "http.request":
            return "the question was cut off"
        body += event.get("body", b"")
        if len(body) > BODY_BYTES_MAX:
            return f"a question has at most {BODY_BYTES_MAX} bytes"
        if not event.get("more_body"):
            break
    try:
        made = json.loads(body)
    except ValueError:
        return "the body is not JSON"
    if not isinstance(made, dict):
        return "the body is not an object"
    return {str(name): str(value) for name, value in made.items()}


def _assets() -> dict[str, tuple[str, bytes, str]]:
    """Every file of the page: its kind, its bytes, its tag."""
    found = {}
    for file in (resources.files(__package__) / "assets").iterdir():
        suffix = file.name.rpartition(".")[2]
        if suffix in KINDS:
            body = file.read_bytes()
            found[file.name] = (KINDS[suffix], body, f'"{hashlib.sha256(body).hexdigest()[:20]}"')
    return found


async def _answer(send: Send, status: int, body: Any) -> None:
    text = json.dumps(body, ensure_ascii=False, default=str).encode("utf-8", "replace")
    kind = [("content-type", "application/json"), ("cache-control", "no-store")]
    await _send(send, status, kind, text)


async def _send(
    send: Send, status: int, extra: list[tuple[str, str]], body: bytes, length: int | None = None
) -> None:
    size = len(body) if length is None else length
    headers = [*HEADERS, *extra, ("content-length", str(size))]
    if status == 304:
        headers = [*HEADERS, *extra]
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        }
    )
    await send({"type": "http.response.body", "body": body})
