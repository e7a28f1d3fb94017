"""The servers of a simulation: one, or two that share the store and the stored sessions.

Announcements between them are late and sometimes lost. A session may come back at either; whoever
opened it last is its only writer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from holdfast.ids import SpaceId
from holdfast.store.graph import GraphLimits
from holdfast.sync.server.connection import Connection
from holdfast.sync.server.server import Server
from holdfast.sync.server.session_rows import Row, SessionRows
from holdfast.sync.server.session_store import SessionStore
from tests.simulation.actors import SPACE

if TYPE_CHECKING:
    from tests.simulation.network import Wire
    from tests.simulation.world import World


class MemoryRows(SessionRows):
    """Stored sessions that outlive the servers. The twin of the tables, by the plainest means."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.rows: dict[tuple[str, str], Row] = {}
        self.writes = 0

    def claim(self, row: Row, replaces: str | None, now_ms: int) -> bool:
        kept = self.rows.get(row[:2])
        if kept is not None and kept[2] > now_ms and _token(kept) != replaces:
            return False
        self._put(row)
        return True

    def renew(self, rows: Iterable[Row]) -> None:
        for row in rows:
            kept = self.rows.get(row[:2])
            if kept is None or _token(kept) == _token(row):
                self._put(row)

    def _put(self, row: Row) -> None:
        self.rows[row[:2]] = row
        self.writes += 1

    def get(self, space: str, id: str) -> Row | None:
        return self.rows.get((space, id))

    def has_other_token(self, space: str, id: str, digest: str) -> bool:
        kept = self.rows.get((space, id))
        return kept is not None and _token(kept) != digest

    def version(self) -> int | None:
        # As SQLite does, or as PostgreSQL, which does not know.
        return self.writes if self._world.seed % 2 else None

    def drop(self, keys: Iterable[tuple[str, str]]) -> None:
        for key in keys:
            self.rows.pop(key, None)
            self.writes += 1

    def sweep(self, now_ms: int) -> None:
        self.rows = {key: row for key, row in self.rows.items() if row[2] > now_ms}

    def announce(self, name: str) -> None:
        self._world.announce(lambda node: node.lose(name))

    def _ask(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        raise AssertionError("there is no SQL here")

    def _many(self, sql: str, rows: list[Any]) -> None:
        raise AssertionError("there is no SQL here")

    def close(self) -> None:
        pass


def _token(row: Row) -> str:
    _, _, rest = row[3].partition('"tokenDigest":"')
    return rest[:64]


class Node:
    """One server process: it can be killed, and another takes its place."""

    def __init__(self, world: World, rows: MemoryRows | None) -> None:
        self._world, self._rows = world, rows
        self.wires: dict[Wire, Connection] = {}
        self.doomed = False
        self._alarm = 0
        self.sessions: SessionStore | None = None
        self.server = self._started()

    def _started(self) -> Server:
        if self._rows is not None:
            self.sessions = SessionStore(self._rows, GraphLimits(), lambda: self._world.now_ms)
        server = Server(self._world.settings(self.sessions))
        server.notifier.on_stale = self.arm
        return server

    def arm(self, delay_ms: float = 5) -> None:
        self._alarm += 1
        number, server = self._alarm, self.server

        def ring() -> None:
            if server is self.server and number == self._alarm:
                again = server.refresh()
                self.deliver()
                if again is not None:
                    self.arm(max(1, again))

        self._world.time.after(delay_ms, ring)

    def deliver(self) -> None:
        """Hand what the server wants to send to the wires."""
        for wire, connection in list(self.wires.items()):
            for frame in connection.take():
                connection.sent(len(frame))
                wire.send("down", frame)
            if connection.closing is not None:
                wire.cut(connection.closing[0])

    def look(self) -> None:
        """Learn of commits that the other server made."""
        space = self.server.spaces.get(SpaceId(SPACE))
        if space is not None:
            space.advance()
            self.server.notifier.schedule()
            self.deliver()

    def lose(self, name: str) -> None:
        """Learn that the other server took a session over."""
        self.server.registry.lose(name)
        self.deliver()

    def save(self) -> None:
        """What was sent since the last time is stored, as the server does now and then."""
        if self.sessions is not None:
            self.sessions.save()

    def restart(self) -> None:
        """The process ends and another takes its place; only what is stored is still there."""
        self.doomed = False
        wires, self.wires = self.wires, {}
        self.server = self._started()
        for wire in wires:
            wire.cut()

    def has(self, connection: Connection) -> bool:
        return connection in self.wires.values()
