"""`Store`: an open space, and the methods other packages call.

A store may be used from several threads. Commits that arrive together share one write to the disk,
and reads do not wait for them. Its methods are in `verbs/`, by subject.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from holdfast import system
from holdfast.errors import UsageError
from holdfast.store import roots
from holdfast.store.errors import UnknownSpace
from holdfast.store.settings import StoreSettings
from holdfast.store.tables import Database
from holdfast.store.verbs.branches import BranchVerbs
from holdfast.store.verbs.documents import DocumentVerbs
from holdfast.store.verbs.history import HistoryVerbs
from holdfast.store.verbs.maintenance import MaintenanceVerbs


class Store(BranchVerbs, DocumentVerbs, HistoryVerbs, MaintenanceVerbs):
    """One space: documents on branches, written in transactions."""

    def __init__(
        self,
        writing: Database,
        reading: Database | None = None,
        settings: StoreSettings | None = None,
        clock: Callable[[], str] | None = None,
        space: str = "",
        open_reader: Callable[[], Database] | None = None,
    ) -> None:
        super().__init__(writing, reading, settings, clock or utc_now, space, open_reader)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_store(
    url: str | Path,
    space: str,
    settings: StoreSettings | None = None,
    clock: Callable[[], str] | None = None,
    create: bool = True,
    copies: bool = True,
) -> Store:
    """Open a space: a directory or file (SQLite), `memory:`, or `postgresql://…`.

    A missing space is created, unless `create` is false: then this raises `UnknownSpace`. To only
    read a space, open it with `create=False`: where this user may not write, that opens a temporary
    copy, and every write is refused. With `copies=False` opening it is refused instead.
    """
    text = str(url)
    roots.guard(space)
    if text.startswith(("postgresql://", "postgres://")):
        from holdfast.store.postgres import PostgresDatabase

        return _store_of(
            PostgresDatabase(text, space, create),
            lambda: PostgresDatabase(text, space, create=False),
            settings,
            clock,
            space,
        )
    path = roots.resolve(url, space)
    if path is None and not text.lower().startswith("memory:"):
        # Kept in memory, its data would be lost without warning.
        raise UsageError(
            f"unknown kind of store: {text.partition(':')[0]}:…",
            "use a directory, a file, memory: or postgresql://…, as in HOLDFAST_DATABASE_URL",
        )
    from holdfast.store.sqlite import SqliteDatabase, may_write

    def unknown() -> UnknownSpace:
        return UnknownSpace(space, [name for name in roots.spaces(url) if name != space])

    if path is None:
        if not create:
            raise unknown()
        return Store(SqliteDatabase(None), None, settings, clock, space)
    if not create and copies and roots.is_made(path) and not may_write(path):
        import weakref

        from holdfast.store.copies import copy_of

        copy = copy_of(path)
        try:
            store = _store_of(
                SqliteDatabase(copy.path, unknown, frozen=True),
                lambda: SqliteDatabase(copy.path, unknown, frozen=True),
                settings,
                clock,
                space,
            )
        except BaseException:
            copy.discard()
            raise
        store.when_closed = weakref.finalize(store, copy.discard)
        return store
    return _store_of(
        SqliteDatabase(path, None if create else unknown),
        # The first connection opened or created it; if it is missing now, it was deleted.
        lambda: SqliteDatabase(path, unknown),
        settings,
        clock,
        space,
    )


def _store_of(
    writing: Database,
    open_reader: Callable[[], Database],
    settings: StoreSettings | None,
    clock: Callable[[], str] | None,
    space: str,
) -> Store:
    """A store with its second connection open; if that fails, the first is closed."""
    try:
        reading = open_reader()
    except BaseException:
        writing.close()
        raise
    return Store(writing, reading, settings, clock, space, open_reader)


def utc_now(now_ms: Callable[[], int] = system.now_ms) -> str:
    """The time in the stored format: UTC, ISO 8601, milliseconds."""
    milliseconds = now_ms()
    return f"{_second(milliseconds // 1_000)}.{milliseconds % 1_000:03d}Z"


@lru_cache(maxsize=2)
def _second(epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch))
