"""Shared rows on a `holdfast serve`: a few kinds of requests, each with a deadline.

    POST /index/get, /index/has, /index/put, /index/replace    MessagePack in, MessagePack out

Every request has the version of the interface; a server with another version answers with its own,
and is then not used. An answer has to begin within the deadline and then arrive at a least rate, so
that a server which sends a byte now and then holds no build up. Proxies in the environment are
ignored: the address is the server itself.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec

from holdfast import system
from holdfast.index.shared.store import SHARED_VERSION, SharedUnavailable

DEADLINE_S = 20.0
RATE_MIN = 64 * 1024
"""Bytes a second: a longer answer may take as much longer."""
READ_BYTES = 256 * 1024
ANSWER_BYTES_MAX = 512 * 1024 * 1024
VERSION_HEADER = "Holdfast-Index-Version"


class HttpShared:
    """Shared rows on a remote `holdfast serve`."""

    def __init__(
        self,
        url: str,
        token: str,
        deadline_s: float = DEADLINE_S,
        clock: Callable[[], float] = system.monotonic,
    ) -> None:
        parts = urlsplit(url)
        self._secure, self._host = parts.scheme == "https", parts.hostname or ""
        self._port, self._path = parts.port, parts.path.rstrip("/")
        self._token, self._deadline_s, self._clock = token, deadline_s, clock
        self.name = f"{parts.scheme}://{self._host}{f':{self._port}' if self._port else ''}"
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return dict(self._ask("get", list(keys), list[tuple[bytes, bytes]])) if keys else {}

    def has(self, keys: Sequence[bytes]) -> frozenset[bytes]:
        return frozenset(self._ask("has", list(keys), list[bytes])) if keys else frozenset()

    def put(self, rows: Iterable[tuple[bytes, bytes]], *, replace: bool = False) -> None:
        self._ask("replace" if replace else "put", list(rows), int)

    def ping(self) -> None:
        self._ask("has", [], list[bytes])

    def _ask(self, verb: str, value: object, kind: Any) -> Any:
        body = msgspec.msgpack.encode(value)
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/msgpack",
            VERSION_HEADER: str(SHARED_VERSION),
        }
        with self._lock:
            status, version, answer = self._request(f"{self._path}/index/{verb}", body, headers)
        if status == 401:
            raise SharedUnavailable(
                f"{self.name} refuses the token", "set HOLDFAST_INDEX_TOKEN to the server's token"
            )
        if status == 404 or version is None:
            raise SharedUnavailable(
                f"{self.name} has no shared index",
                "check HOLDFAST_INDEX_URL",
            )
        if version != str(SHARED_VERSION):
            raise SharedUnavailable(
                f"{self.name} speaks version {version[:9]} of the shared index, and this is "
                f"version {SHARED_VERSION}",
                "bring both to the same version of holdfast",
            )
        if status != 200:
            reason = answer[:200].decode("utf-8", "replace")
            raise SharedUnavailable(f"{self.name} answers {status}: {reason}")
        try:
            return msgspec.msgpack.decode(answer, type=kind)
        except (msgspec.DecodeError, ValueError) as error:
            raise SharedUnavailable(f"{self.name} sent an answer that is not one") from error

    def _request(
        self, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, str | None, bytes]:
        for attempt in (1, 2):
            reused = self._connection is not None
            try:
                connection = self._connection or self._connect()
                self._connection = connection
                return self._exchange(connection, path, body, headers)
            except (OSError, http.client.HTTPException, ssl.SSLError) as error:
                self._drop()
                # A kept connection may have been closed by the server meanwhile.
                if not reused or attempt == 2:
                    text = str(error) or type(error).__name__
                    raise SharedUnavailable(
                        f"cannot reach {self.name}: {text}", "check HOLDFAST_INDEX_URL"
                    ) from error
        raise AssertionError("unreachable")

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        path: str,
        body: bytes,
        headers: dict[str, str],
    ) -> tuple[int, str | None, bytes]:
        begun = self._clock()
        allowed_s = self._deadline_s + len(body) / RATE_MIN
        # The socket's own timeout begins again with every byte.
        cut = threading.Timer(allowed_s, _shut, (connection,))
        cut.daemon = True
        cut.start()
        try:
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            if self._clock() - begun >= allowed_s:
                raise TimeoutError("timed out") from error
            raise
        finally:
            cut.cancel()
        if self._clock() - begun >= allowed_s:
            raise TimeoutError("timed out")  # Headers that were cut off can look complete.
        parts, size = [], 0
        while part := response.read1(READ_BYTES):
            parts.append(part)
            size += len(part)
            if size > ANSWER_BYTES_MAX:
                raise http.client.HTTPException("the answer is too long")
            if self._clock() - begun > allowed_s + size / RATE_MIN:
                raise TimeoutError(f"timed out after {size:,} bytes of the answer")
        if response.length:
            raise http.client.HTTPException("the answer was cut off")
        return response.status, response.getheader(VERSION_HEADER), b"".join(parts)

    def _connect(self) -> http.client.HTTPConnection:
        if self._secure:
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._deadline_s)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._deadline_s)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        with self._lock:
            self._drop()


def _shut(connection: http.client.HTTPConnection) -> None:
    """End a wait for a server, from another thread."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)
