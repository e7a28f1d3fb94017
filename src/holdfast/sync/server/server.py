"""The server without sockets, clocks, databases or threads of its own.

An adapter feeds it: `connect` for a new peer, `Connection.receive` for each frame, `refresh` when
the time it asked for has come. It reads what is to be sent from `Connection.take`, in order, and
closes when `Connection.closing` says so. The space registry, the time, ids, tokens, the authority
and the way to the disk are passed in (`settings.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.sync.server.connection import Connection
from holdfast.sync.server.context import ServerContext
from holdfast.sync.server.settings import ServerSettings
from holdfast.sync.wire.close_codes import NORMAL


class Server(ServerContext):
    """Spaces, sessions and connections."""

    def __init__(self, settings: ServerSettings) -> None:
        super().__init__(settings)
        self._serial = 0

    def connect(self, on_output: Callable[[], None] = lambda: None) -> Connection:
        """A new peer. `on_output` is called when there is something for it to read."""
        self._serial += 1
        connection = Connection(self, self._serial, on_output)
        self.connections[connection] = None
        return connection

    def refresh(self) -> int | None:
        """Send what is due. In how many ms to call again; None: when `notifier.on_stale` is."""
        return self.notifier.refresh()

    def flush(self) -> None:
        """Send everything that changed, now."""
        self.notifier.flush()

    def sweep(self) -> None:
        """Forget sessions and challenges that have expired."""
        now = self.clock_ms()
        self.registry.sweep(now)
        if self.challenges is not None:
            self.challenges.sweep(now)

    def close(self) -> None:
        """End every connection, then every space."""
        for connection in list(self.connections):
            connection.close(NORMAL, "the server is stopping")
            connection.disconnected()
        for space in self.spaces.values():
            space.store.close()
        self.spaces.clear()
