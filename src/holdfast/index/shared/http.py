"""Shared rows on a `holdfast serve`: a few kinds of requests, each with a deadline.

    POST /index/get, /index/has, /index/put, /index/replace    MessagePack in, MessagePack out

Every request has the version of the interface; a server with another version answers with its own,
and is then not used. Proxies in the environment are ignored: the address is the server itself.
"""

from __future__ import annotations

import http.client
import ssl
import threading
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from holdfast.index.shared.store import SHARED_VERSION, SharedUnavailable

DEADLINE_S = 20.0
ANSWER_BYTES_MAX = 512 * 1024 * 1024
VERSION_HEADER = "Holdfast-Index-Version"


class HttpShared:
    """Shared rows on a remote `holdfast serve`."""

    def __init__(self, url: str, token: str, deadline_s: float = DEADLINE_S) -> None:
        parts = urlsplit(url)
        self._secure, self._host = parts.scheme == "https", parts.hostname or ""
        self._port, self._path = parts.port, parts.path.rstrip("/")
        self._token, self._deadline_s = token, deadline_s
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
                connection.request("POST", path, body, headers)
                response = connection.getresponse()
                answer = response.read(ANSWER_BYTES_MAX + 1)
                if len(answer) > ANSWER_BYTES_MAX:
                    raise http.client.HTTPException("the answer is too long")
                return response.status, response.getheader(VERSION_HEADER), answer
            except (OSError, http.client.HTTPException, ssl.SSLError) as error:
                self._drop()
                # A kept connection may have been closed by the server meanwhile.
                if not reused or attempt == 2:
                    text = str(error) or type(error).__name__
                    raise SharedUnavailable(
                        f"cannot reach {self.name}: {text}", "check HOLDFAST_INDEX_URL"
                    ) from error
        raise AssertionError("unreachable")

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
