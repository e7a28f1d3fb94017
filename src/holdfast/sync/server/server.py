"""The server, without sockets, clocks, databases or threads.

An adapter feeds it: `connect` for a new peer, `Connection.receive` for each frame, `refresh` when
the requested time has come. It reads what is to be sent from `Connection.take`, in order, and
closes when `Connection.closing` says so. The space registry, the time, ids, tokens, the authority
and the way to the disk are passed in (`settings.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.sync.server.connection import Connection
from holdfast.sync.server.context import ServerContext
from holdfast.sync.server.settings import ServerSettings
from holdfast.sync.wire.close_codes import NORMAL, POLICY


class Server(ServerContext):
    """Spaces, sessions and connections."""

    def __init__(self, settings: ServerSettings) -> None:
        super().__init__(settings)
        self._serial = 0

    def crowded(self, principal: str) -> str | None:
        """Why another connection of this principal is refused; None if it is not."""
        usage = self.usages.get(principal)
        most = self.limits.connections_per_principal
        if usage is None or usage.connections < most:
            return None
        return f"{most} connections are open already; close some"

    def connect(
        self,
        on_output: Callable[[], None] = lambda: None,
        *,
        principal: str = "",
        until_ms: int | None = None,
    ) -> Connection:
        """A new peer. `on_output` is called when there is something for it to read.

        `principal` is whose limits it shares; at `until_ms` its credential expires.
        """
        self._serial += 1
        connection = Connection(self, self._serial, on_output, principal, until_ms)
        self.connections[connection] = None
        return connection

    def refresh(self) -> int | None:
        """Send what is due; returns when to call again in ms, or None: when `on_stale` is."""
        return self.notifier.refresh()

    def flush(self) -> None:
        """Send everything that changed, now."""
        self.notifier.flush()

    def sweep(self) -> None:
        """Forget sessions and challenges that have expired, and close what is no longer used."""
        now = self.clock_ms()
        for connection in list(self.connections):
            if connection.until_ms is not None and now >= connection.until_ms:
                connection.close(POLICY, "the credential has expired; connect again with a new one")
        self.registry.sweep(now)
        if self.challenges is not None:
            self.challenges.sweep(now)
        self.close_idle_spaces(now)

    def close(self) -> None:
        """End every connection, then every space."""
        for connection in list(self.connections):
            connection.close(NORMAL, "the server is stopping")
            connection.disconnected()
        for space in self.spaces.values():
            space.store.close()
        self.spaces.clear()
