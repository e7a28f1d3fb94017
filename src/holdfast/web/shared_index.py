"""The team's shared rows over HTTP (`/index/…`), for machines without access to PostgreSQL.

The server stores bytes without checking them: the reader of a row does that. The token is required,
as for every part. Every answer contains the version of the interface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.errors import CodeIndexError
from holdfast.index.shared.http import VERSION_HEADER
from holdfast.index.shared.rows import CHECK_BYTES, KEY_BYTES, ROW_BYTES_MAX
from holdfast.index.shared.store import ASK_MAX, SHARED_VERSION, SharedStore
from holdfast.sync.io.websocket import Receive, Scope, Send
from holdfast.web.site import Asgi, Header, answer, answer_json, body_of, headers_of

if TYPE_CHECKING:
    from holdfast.app import App

BODY_BYTES_MAX = 128 * 1024 * 1024
_VERSION: Header = (VERSION_HEADER.lower().encode(), str(SHARED_VERSION).encode())
_KEYS = msgspec.msgpack.Decoder(list[bytes])
_ROWS = msgspec.msgpack.Decoder(list[tuple[bytes, bytes]])


def shared_index_page(app: App) -> Asgi:
    """The part of the site below `/index`; the first request opens the store."""
    opened: list[SharedStore] = []

    def store() -> SharedStore:
        if not opened:
            opened.append(app.open_shared_rows())
        return opened[0]

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        verb = scope["path"].removeprefix("/index/")
        if scope["method"] != "POST" or verb not in _VERBS:
            await answer_json(send, 404, {"error": "there is no such page"})
            return
        version = headers_of(scope).get(VERSION_HEADER.lower(), "")
        if version != str(SHARED_VERSION):
            error = f"this server has version {SHARED_VERSION} of the shared index"
            await answer_json(send, 409, {"error": error}, [_VERSION])
            return
        body = await body_of(receive, BODY_BYTES_MAX)
        if body is None:
            error = f"a request may have at most {BODY_BYTES_MAX} bytes"
            await answer_json(send, 413, {"error": error}, [_VERSION])
            return
        try:
            reply = await asyncio.to_thread(lambda: _VERBS[verb](store(), body))
        except (msgspec.DecodeError, ValueError) as error:
            await answer_json(send, 400, {"error": str(error)}, [_VERSION])
        except CodeIndexError as error:
            await answer_json(send, 503, {"error": str(error), "hint": error.hint}, [_VERSION])
        else:
            kind = (b"content-type", b"application/msgpack")
            await answer(send, 200, msgspec.msgpack.encode(reply), [_VERSION, kind])

    return serve


def _keys(body: bytes) -> list[bytes]:
    keys = _KEYS.decode(body)
    if len(keys) > ASK_MAX or any(len(key) != KEY_BYTES for key in keys):
        raise ValueError(f"expected at most {ASK_MAX} keys of {KEY_BYTES} bytes")
    return keys


def _put(store: SharedStore, body: bytes, replace: bool) -> int:
    rows = _ROWS.decode(body)
    for key, data in rows:
        if len(key) != KEY_BYTES or not CHECK_BYTES < len(data) <= ROW_BYTES_MAX:
            raise ValueError("a row has a key of 20 bytes and a content")
    store.put(rows, replace=replace)
    return len(rows)


_VERBS: dict[str, Callable[[SharedStore, bytes], Any]] = {
    "get": lambda store, body: list(store.get(_keys(body)).items()),
    "has": lambda store, body: list(store.has(_keys(body))),
    "put": lambda store, body: _put(store, body, replace=False),
    "replace": lambda store, body: _put(store, body, replace=True),
}
