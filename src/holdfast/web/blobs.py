"""`/blobs/<hash>?space=NAME`: blobs by their hash.

A blob is named by its SHA-256, in hexadecimal or in the store's own form. It never changes, so
clients may cache it forever. Its bytes are not trusted: a browser may only save them, or show them
as an image or as plain text.

    GET, HEAD   the bytes; a GET with one `Range: bytes=…` gets that part
    PUT         store the bytes; refused unless their hash is the name
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from holdfast.errors import StoreError, UsageError
from holdfast.ids import SpaceId
from holdfast.store import roots
from holdfast.store.errors import InvalidBlob, UnknownSpace
from holdfast.store.hashing import REFERENCE_PREFIX, reference_text
from holdfast.store.store import Store
from holdfast.sync.io.websocket import Receive, Scope, Send
from holdfast.sync.server.space import Space
from holdfast.sync.wire.errors import LimitReached
from holdfast.web.site import Asgi, Header, answer, answer_json, body_of, headers_of, query_of

if TYPE_CHECKING:
    from holdfast.sync.io.endpoint import SyncService

SIZE_BYTES_MAX = 64 * 1024 * 1024
DEFAULT_SPACE = "local"

_HEX = re.compile(r"[0-9a-f]{64}\Z")
_KIND = re.compile(r"[ -~]+\Z")
"""Valid header values: the content type was set by the client that stored the blob."""
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.ASCII)
_SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp", "text/plain")


def blob_name(text: str) -> str:
    """The store's name of a blob, given that name or its SHA-256 in hexadecimal."""
    if _HEX.match(text):
        return reference_text(REFERENCE_PREFIX + bytes.fromhex(text))
    return text


def blobs(service: SyncService) -> Asgi:
    """The part of a site that serves the blobs of a server's spaces."""

    async def opened(space: str, *, make: bool) -> Space | None:
        """The space; None if it does not exist and `make` is false."""
        open_space = service.server.spaces.get(SpaceId(space))
        if open_space is None and not make and not service.options.on_postgres:
            roots.guard(space)
            path = roots.resolve(service.options.store, space)
            if path is None or not path.exists():
                return None
        try:
            return await service.space(SpaceId(space), create=make)
        except UnknownSpace:
            return None

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        name = blob_name(scope["path"].removeprefix("/blobs/"))
        space = query_of(scope).get("space", DEFAULT_SPACE)
        method = scope["method"]
        if method not in ("GET", "HEAD", "PUT"):
            await answer_json(
                send, 405, {"error": f"{method} is not supported; use GET, HEAD or PUT"}
            )
            return
        try:
            blobs = await opened(space, make=method == "PUT")
            if blobs is None:
                await answer_json(send, 404, {"error": f"there is no space {space}"})
                return
            with blobs.pinned() as store:
                if method == "PUT":
                    await _put(store, name, scope, receive, send)
                else:
                    await _get(store, name, scope, send)
        except LimitReached as error:
            await answer_json(send, 429, {"error": str(error), "hint": error.hint})
        except (StoreError, UsageError) as error:
            await answer_json(send, 400, {"error": str(error), "hint": error.hint})

    return serve


def byte_range(header: str, size: int) -> slice | None:
    """The part of `size` bytes that a Range header requests; None if it is not a single range.

    An empty slice means that the range is outside the bytes.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or match[1] == match[2] == "":
        return None
    if not match[1]:
        length = min(int(match[2]), size)
        return slice(size - length, size)
    first = int(match[1])
    last = size - 1 if not match[2] else min(int(match[2]), size - 1)
    if match[2] and int(match[2]) < first:
        return None  # not a valid range, so it is ignored
    return slice(first, max(first, last + 1))


async def _get(store: Store, name: str, scope: Scope, send: Send) -> None:
    head = scope["method"] == "HEAD"
    try:
        data, kind = await asyncio.to_thread(store.blob, name)
    except InvalidBlob as error:
        await answer_json(send, 404, {"error": str(error)})
        return
    if not _KIND.match(kind):
        kind = "application/octet-stream"
    etag = f'"{name}"'
    is_inline = kind.partition(";")[0].strip().lower() in _SHOWN
    headers: list[Header] = [
        (b"content-type", kind.encode()),
        (b"content-disposition", b"inline" if is_inline else b"attachment"),
        (b"content-security-policy", b"default-src 'none'; sandbox"),
        (b"cache-control", b"private, max-age=31536000, immutable"),
        (b"etag", etag.encode("ascii", "replace")),
        (b"accept-ranges", b"bytes"),
    ]
    request_headers = headers_of(scope)
    part = None
    if "range" in request_headers and not head and request_headers.get("if-range", etag) == etag:
        part = byte_range(request_headers["range"], len(data))
    if part is None:
        await answer(send, 200, data, headers, head=head)
    elif part.start >= part.stop or part.start >= len(data):
        unsatisfied = (b"content-range", f"bytes */{len(data)}".encode())
        await answer(send, 416, b"", [unsatisfied])
    else:
        place = f"bytes {part.start}-{part.stop - 1}/{len(data)}"
        await answer(send, 206, data[part], [*headers, (b"content-range", place.encode())])


async def _put(store: Store, name: str, scope: Scope, receive: Receive, send: Send) -> None:
    data = await body_of(receive, SIZE_BYTES_MAX)
    if data is None:
        error = {"error": f"a blob may have at most {SIZE_BYTES_MAX} bytes"}
        await answer_json(send, 413, error)
        return
    kind = headers_of(scope).get("content-type", "application/octet-stream")
    blob = await asyncio.to_thread(store.put_blob, data, kind, name)
    await answer_json(send, 200, {"hash": blob, "size": len(data)})
