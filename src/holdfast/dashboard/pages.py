"""The pages: files that are shipped with the package, and questions answered as JSON.

Live state comes through `/sync`; this module serves only the page's own files and its questions,
each of which calls the function of a command. Nothing is inline or from another host, so the policy
can be strict: only our own scripts and styles, and text never becomes markup (trusted types). Host,
Origin and token are checked before a request gets here; requests from pages of other sites are also
refused here (`Sec-Fetch-Site`).
"""

from __future__ import annotations

import asyncio
import hashlib
import html
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from importlib import resources
from urllib.parse import parse_qsl

from holdfast.dashboard.answers import Answer
from holdfast.errors import HoldfastError
from holdfast.live import SPACE
from holdfast.sync.io.websocket import Receive, Scope, Send
from holdfast.web.site import answer, answer_json, body_of, headers_of

log = logging.getLogger("holdfast.dashboard")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}

BODY_BYTES_MAX = 1 << 20
SAME_SITE = ("same-origin", "none", "")
ACTIONS = frozenset({"sync", "memory/note"})
"""The questions that change something; they require a POST."""

Question = Callable[[Mapping[str, str]], Answer]
"""Answers a request with these parameters."""

Questions = Callable[[], Mapping[str, Question]]
"""Returns the questions by path below /api/; called at the first request."""

Life = Callable[[], AbstractAsyncContextManager[None]]


class Pages:
    """`/`, `/assets/…` and `/api/…` as an ASGI application."""

    def __init__(
        self,
        questions: Questions,
        life: Life | None = None,
        visited: Callable[[], object] = lambda: None,
        space: str = SPACE,
    ) -> None:
        """`visited` is called, in a thread, when the page is opened; `space` has the live
        documents."""
        self._questions, self.life, self._visited = questions, life, visited
        self._files = _assets(space)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "the dashboard serves HTTP; live data comes through /sync"
        headers = headers_of(scope)
        if scope["path"].startswith("/api/"):
            await self._ask(scope, headers, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            await answer_json(send, 405, {"error": "only GET and HEAD are allowed"})
        else:
            await self._page(scope, headers, send)

    # files

    async def _page(self, scope: Scope, headers: Mapping[str, str], send: Send) -> None:
        name = "index.html" if scope["path"] == "/" else scope["path"].removeprefix("/assets/")
        file = self._files.get(name)
        if file is None:
            await answer_json(send, 404, {"error": "there is no such page"})
            return
        if name == "index.html":
            asyncio.get_running_loop().run_in_executor(None, self._visited)
        kind, body, tag = file
        extra = [
            (b"etag", tag.encode()),
            (b"cache-control", b"no-cache"),
            (b"content-type", kind.encode()),
            (b"content-security-policy", POLICY.encode()),
        ]
        if headers.get("if-none-match") == tag:
            await answer(send, 304, b"", extra)
            return
        await answer(send, 200, body, extra, head=scope["method"] == "HEAD")

    # questions

    async def _ask(
        self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send
    ) -> None:
        if headers.get("sec-fetch-site", "") not in SAME_SITE:
            await answer_json(send, 403, {"error": "requests from other sites are not allowed"})
            return
        members = await _members(scope, receive)
        if isinstance(members, str):
            await answer_json(send, 400, {"error": members})
            return
        name = scope["path"].removeprefix("/api/")
        if name in ACTIONS and scope["method"] != "POST":
            await answer_json(send, 405, {"error": f"{name} changes something; use POST"})
            return
        status, body = await asyncio.to_thread(_answer, self._questions, name, members)
        await answer(send, status, body, [(b"content-type", b"application/json")])


def _answer(questions: Questions, name: str, members: Mapping[str, str]) -> tuple[int, bytes]:
    status, body = 200, {}  # type: tuple[int, Mapping[str, object]]
    try:
        question = questions().get(name)
        if question is None:
            status, body = 404, {"error": f"there is no question {name}"}
        else:
            body = question(members).to_wire()
    except HoldfastError as error:
        status, body = 400, {"error": str(error), "hint": error.hint or None}
    except OSError as error:
        status, body = 500, {"error": error.strerror or str(error)}
    except Exception:
        log.exception("a question could not be answered")
        status, body = 500, {"error": "internal error; see the server's log"}
    # A file name may not be valid Unicode; such characters become question marks.
    return status, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


async def _members(scope: Scope, receive: Receive) -> dict[str, str] | str:
    """The parameters, from the URL or from a JSON body; or an error message."""
    if scope["method"] in ("GET", "HEAD"):
        return dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    if scope["method"] != "POST":
        return "use GET, or POST with a JSON object"
    body = await body_of(receive, BODY_BYTES_MAX)
    if body is None:
        return f"the body has more than {BODY_BYTES_MAX} bytes"
    try:
        members = json.loads(body)
    except (ValueError, RecursionError):
        return "the body is not JSON"
    if not isinstance(members, dict):
        return "the body is not an object"
    return {str(name): str(value) for name, value in members.items()}


def _assets(space: str) -> dict[str, tuple[str, bytes, str]]:
    """Every file of the page: its content type, its bytes, its ETag."""
    attribute = f'data-space="{html.escape(space)}"'.encode()
    assets = {}
    for file in (resources.files(__package__) / "assets").iterdir():
        suffix = file.name.rpartition(".")[2]
        if suffix in KINDS:
            body = file.read_bytes().replace(b'data-space="holdfast"', attribute)
            tag = hashlib.sha256(body).hexdigest()[:20]
            assets[file.name] = (KINDS[suffix], body, f'"{tag}"')
    return assets
