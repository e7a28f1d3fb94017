"""An open space: its connections, and who may use which of them when.

Commits that arrive together share one write to the disk. All readers use one connection in turn,
and do not wait for a commit. A write that is not a commit runs alone, between two batches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import StoreError
from holdfast.ids import BranchName, Seq
from holdfast.store import replay
from holdfast.store.batch import CommitRequest
from holdfast.store.engine import Engine
from holdfast.store.group import GroupCommit
from holdfast.store.model import Applied
from holdfast.store.settings import StoreSettings
from holdfast.store.tables import Database

if TYPE_CHECKING:
    from holdfast.store.branch_merge import Point

Made = TypeVar("Made")


class Space:
    """The state that all methods of a store share."""

    def __init__(
        self,
        writing: Database,
        reading: Database | None,
        settings: StoreSettings | None,
        clock: Callable[[], str],
        space: str,
        open_reader: Callable[[], Database] | None,
    ) -> None:
        self.space = space
        self._open_reader = open_reader
        self.when_closed: Callable[[], object] | None = None
        """Called once the files are closed."""
        reading = writing if reading is None else reading
        self.engine = Engine(writing, reading, settings or StoreSettings(), clock)
        self._group: GroupCommit[CommitRequest, Applied | StoreError] = GroupCommit(self._write)
        # One connection serves all readers in turn. A database in memory has only one connection,
        # shared with the writer; then reads wait for commits.
        self._reader = threading.RLock()
        self._shared = reading is writing

    def _write(self, requests: Any) -> list[Applied | StoreError]:
        if self._shared:
            with self._reader:
                return self.engine.transact(requests)
        return self.engine.transact(requests)

    @contextmanager
    def reading(self) -> Iterator[Engine]:
        """The engine, for several reads in a row; other readers wait."""
        with self._reader:
            yield self.engine

    @contextmanager
    def _at_one_moment(self) -> Iterator[None]:
        """All reads inside see one state of the space."""
        with self._reader:
            try:
                self.engine.reading.begin_reading()
                yield
            finally:
                self.engine.reading.rollback()

    def _point(self, name: str, seq: int | None) -> Point:
        from holdfast.store.branch_merge import Point, now

        point = now(self.engine.tables, BranchName(name))
        if seq is None:
            return point
        replay.check_range(point.branch, Seq(seq))
        return Point(point.branch, Seq(seq))

    def _exclusively(self, act: Callable[[], Made], long: bool = False) -> Made:
        def alone() -> Made:
            # The writer's lock first, then the reader's: the order that `_write` takes them in.
            with self._reader if self._shared else nullcontext():
                if not long:
                    return act()
                with self.engine.writing.maintenance():
                    return act()

        return self._group.exclusively(alone)

    def close(self) -> None:
        self._group.close()
        with self._reader:
            self.engine.close()
        if self.when_closed is not None:
            self.when_closed()
