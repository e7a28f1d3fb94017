"""Notifications of commits that other servers made to the same PostgreSQL.

Every commit is announced in its own transaction. The announcement names only the space: the
listener reads the log, which has no gaps, so an announcement that is lost or late costs time and
never a change. After a break in the connection every space is checked.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.store.errors import StoreUnreachable
from holdfast.store.postgres import CHANNEL, reached
from holdfast.sync.server.session_rows import TAKEOVERS

if TYPE_CHECKING:
    import psycopg

RETRY_S = 1.0

log = logging.getLogger("holdfast.sync")


class Listener:
    """Listens for one server, in its own thread.

    `committed` is called with the schema of every commit's space, and with "" when some may have
    been missed; `taken` with the name of every session that another node took over.
    """

    def __init__(
        self,
        url: str,
        node: str,
        committed: Callable[[str], None],
        taken: Callable[[str], None],
    ) -> None:
        self._url, self._node = url, node
        self._committed, self._taken = committed, taken
        self._closed = threading.Event()
        self._listening = threading.Event()
        self._connection: psycopg.Connection | None = None
        self._thread = threading.Thread(target=self._run, name="holdfast-listen", daemon=True)

    def start(self, timeout_s: float = 10.0) -> None:
        """Start, and wait until announcements are received, or until the timeout."""
        self._thread.start()
        self._listening.wait(timeout_s)

    def _run(self) -> None:
        import psycopg

        while not self._closed.is_set():
            try:
                self._listen()
            except (psycopg.Error, StoreUnreachable) as error:
                if not self._closed.is_set():
                    log.warning("not receiving announcements of other servers: %s", error)
                    self._closed.wait(RETRY_S)

    def _listen(self) -> None:
        with reached(self._url, "holdfast-listen") as connection:
            self._connection = connection
            connection.execute(f"LISTEN {CHANNEL}")
            connection.execute(f"LISTEN {TAKEOVERS}")
            self._listening.set()
            self._committed("")  # commits from before it was listening
            while not self._closed.is_set():
                for notice in connection.notifies(timeout=1.0):
                    self._dispatch(notice.channel, notice.payload)

    def _dispatch(self, channel: str, payload: str) -> None:
        if channel == CHANNEL:
            self._committed(payload)
            return
        node, _, name = payload.partition(":")
        if node != self._node:
            self._taken(name)

    def close(self) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)
        if self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
