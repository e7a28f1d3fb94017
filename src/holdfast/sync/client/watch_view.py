"""The documents that a session watches, in order.

A view has every document of the watch union, sorted by branch and id. A sync changes a few of
them, so the order is kept by inserting and removing, never by sorting everything again.

Listeners receive whole snapshots, or the syncs as they came.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from msgspec import UNSET

from holdfast.ids import GENESIS, BranchName, EntityId, Seq
from holdfast.store.model import Document
from holdfast.sync.wire.messages import Sync

Key = tuple[BranchName, EntityId]

Event = TypeVar("Event")


@dataclass(frozen=True, slots=True)
class Entity:
    """A watched document as of `seq`; None at seq 0 never existed, None later was deleted."""

    branch: BranchName
    id: EntityId
    seq: Seq
    document: Document | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a session watches, at one moment."""

    server_seq: Seq
    entities: tuple[Entity, ...]


class WatchView:
    """The documents of one session's watch union."""

    def __init__(self) -> None:
        self.server_seq = GENESIS
        self.closed = False
        self._order: list[Key] = []
        self._entities: dict[Key, Entity] = {}
        self._snapshots: list[Callable[[Snapshot | None], None]] = []
        self._syncs: list[Callable[[Sync | None], None]] = []

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Every entity, by branch and id."""
        return tuple([self._entities[key] for key in self._order])

    def get(self, id: str, branch: str = "") -> Entity | None:
        return self._entities.get((BranchName(branch), EntityId(id)))

    def __len__(self) -> int:
        return len(self._order)

    def snapshot(self) -> Snapshot:
        return Snapshot(self.server_seq, self.entities)

    def apply(self, sync: Sync) -> None:
        """Apply a sync: upserts, then removes. An entity never goes back to an older seq."""
        for upsert in sync.upserts:
            key = (BranchName(upsert.branch), EntityId(upsert.id))
            present = self._entities.get(key)
            if present is None:
                self._order.insert(bisect_left(self._order, key), key)
            elif present.seq > upsert.seq:
                continue
            gone = upsert.deleted is True or upsert.doc is UNSET
            document = None if gone else upsert.doc
            self._entities[key] = Entity(*key, Seq(upsert.seq), document)
        for remove in sync.removes:
            key = (BranchName(remove.branch), EntityId(remove.id))
            if self._entities.pop(key, None) is not None:
                del self._order[bisect_left(self._order, key)]
        self.server_seq = Seq(max(self.server_seq, sync.to_seq))
        self._emit(sync)

    def subscribe(self, listener: Callable[[Snapshot | None], None]) -> Callable[[], None]:
        """Send whole snapshots to `listener`, and None at the end; the result unsubscribes."""
        return _subscribe(self._snapshots, listener, self.closed)

    def subscribe_sync(self, listener: Callable[[Sync | None], None]) -> Callable[[], None]:
        """Send syncs to `listener` as they come, and None at the end; the result unsubscribes."""
        return _subscribe(self._syncs, listener, self.closed)

    def close(self) -> None:
        """End both streams."""
        if self.closed:
            return
        self.closed = True
        snapshots, self._snapshots = self._snapshots, []
        syncs, self._syncs = self._syncs, []
        for on_snapshot in snapshots:
            on_snapshot(None)
        for on_sync in syncs:
            on_sync(None)

    def _emit(self, sync: Sync) -> None:
        if self.closed or not (sync.upserts or sync.removes):
            return
        if self._snapshots:
            snapshot = self.snapshot()
            for on_snapshot in list(self._snapshots):
                on_snapshot(snapshot)
        for on_sync in list(self._syncs):
            on_sync(sync)


def _subscribe(
    listeners: list[Callable[[Event | None], None]],
    listener: Callable[[Event | None], None],
    closed: bool,
) -> Callable[[], None]:
    if closed:
        listener(None)
        return lambda: None
    listeners.append(listener)

    def unsubscribe() -> None:
        if listener in listeners:
            listeners.remove(listener)

    return unsubscribe
