"""The driver for SQLite: apsw, with the store's own errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any

from holdfast.errors import HOME_HINT, StoreError
from holdfast.store.errors import DamagedStore, KeyTaken, StoreBusy, StoreClosed, StoreFailed
from holdfast.store.tables import Row

BUSY_MS = 5_000
ROOM_BYTES_MIN = 64 * 1024
FULL_HINT = "free some space, then try again, or set HOLDFAST_HOME to a directory on another disk"

PAGE_HINT = (
    "run: holdfast memory verify; then memory gc, which rebuilds derived data, or memory export "
    "and import into a new space, or restore a backup"
)

PAGE_CHECK_BYTES = 8
"""The room for a checksum at the end of every page."""


@cache
def page_checks() -> str | None:
    """The VFS that writes and checks a checksum in every page; None if apsw came without it."""
    import apsw

    path = os.path.join(os.path.dirname(apsw.__file__), "sqlite_extra_binaries", "cksumvfs")
    usual = apsw.vfs_names()[0]
    loader = apsw.Connection(":memory:")
    try:
        loader.enable_load_extension(True)
        loader.load_extension(path)
    except (apsw.Error, AttributeError):
        return None
    finally:
        loader.close()
    # Loading it makes it the default VFS, also for other users of SQLite in this process.
    apsw.set_default_vfs(usual)
    return "cksmvfs"


class SqliteDriver:
    """An open database file; a missing one is created only if `create`."""

    def __init__(self, name: str, create: bool = True) -> None:
        import apsw

        self._errors, self._name = apsw, name
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self._vfs = None if name == ":memory:" else page_checks()
        try:
            self._connection = apsw.Connection(name, flags=flags, vfs=self._vfs)
        except apsw.Error as error:
            raise self._named(error) from error
        self._connection.set_busy_timeout(BUSY_MS)
        # One plan per statement. Otherwise SQLite plans a join again for each set of bound values,
        # which takes longer than the join itself.
        self._connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        # Cursors that are not in use. Creating one for each statement takes as long as binding and
        # running a short one; a list, because two threads may run statements at the same time.
        self._cursors: list[Any] = []

    def check_pages(self) -> None:
        """Reserve room for a checksum in every page; an existing file needs a VACUUM afterwards."""
        if self._vfs is not None:
            self._connection.reserve_bytes("main", PAGE_CHECK_BYTES)

    def checks_pages(self) -> bool:
        """Whether pages carry checksums; true where this machine cannot have them."""
        return self._vfs is None or self._connection.reserve_bytes("main") == PAGE_CHECK_BYTES

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        try:
            try:
                cursor = self._cursors.pop()
            except IndexError:
                cursor = self._connection.cursor()
            result: list[Row] = cursor.execute(_numbered(sql), parameters).fetchall()
            self._cursors.append(cursor)
            return result
        except self._errors.Error as error:
            raise self._named(error) from error
        except UnicodeDecodeError as error:
            raise DamagedStore(f"the database has a text that is not UTF-8: {error}") from error

    def many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        rows = list(parameters)
        try:
            if len(rows) == 1:
                self._connection.execute(_numbered(sql), rows[0])
                return
            if not _is_of_rows(sql):
                self._connection.executemany(_numbered(sql), rows)
                return
            for start in range(0, len(rows), _TOGETHER):
                chunk = rows[start : start + _TOGETHER]
                statement = _rows_together(sql, len(chunk))
                self._connection.execute(statement, list(chain.from_iterable(chunk)))
        except self._errors.Error as error:
            raise self._named(error) from error

    def _named(self, error: Exception) -> StoreError:
        if isinstance(error, self._errors.BusyError):
            return StoreBusy(BUSY_MS)
        # Closing a connection closes its cursors.
        if isinstance(error, (self._errors.ConnectionClosedError, self._errors.CursorClosedError)):
            return StoreClosed()
        if isinstance(error, self._errors.CorruptError | self._errors.NotADBError):
            return DamagedStore(f"the database file is damaged: {error}")
        if getattr(error, "extendedresult", 0) == self._errors.SQLITE_IOERR_DATA:
            return DamagedStore(
                "the database file is damaged: a page does not match its checksum", PAGE_HINT
            )
        if isinstance(error, self._errors.FullError) or (
            # Opening a database needs room for its shared memory, even for reading.
            isinstance(error, self._errors.IOError) and _is_full(self._name)
        ):
            return StoreFailed(f"the disk is full: {error}", hint=FULL_HINT)
        if isinstance(error, self._errors.CantOpenError):
            return _unopened(error)
        if getattr(error, "extendedresult", 0) == self._errors.SQLITE_CONSTRAINT_UNIQUE:
            return KeyTaken(f"the database failed: {error}")
        if isinstance(error, self._errors.ReadOnlyError):
            return StoreFailed("this space is read-only", hint=HOME_HINT)
        return StoreFailed(f"the database failed: {error}")

    def version(self) -> int:
        """A number that changes with every commit of this connection and of any other.

        Others' commits show once this connection has begun a transaction.
        """
        return self._connection.data_version()

    def in_transaction(self) -> bool:
        try:
            return self._connection.in_transaction
        except self._errors.ConnectionClosedError:
            return False

    def close(self) -> None:
        self._connection.close()


def _is_full(name: str) -> bool:
    """Whether the file system of a file has no room for a few more pages."""
    try:
        status = os.statvfs(os.path.dirname(os.path.abspath(name)))
    except OSError:
        return False
    return (
        status.f_bavail * status.f_frsize < ROOM_BYTES_MIN or status.f_favail == 0 < status.f_files
    )


def _unopened(error: Exception) -> StoreFailed:
    """The error for a file that cannot be opened. SQLite gives no reason; the hint has two."""
    return StoreFailed(
        f"the database cannot be opened: {error}",
        hint="too many files may be open (ulimit -n), or its directory is not writable",
    )


_TOGETHER = 64
"""The most rows that one statement inserts: fewer statements, and fewer switches to other threads
of this process."""


@lru_cache(maxsize=256)
def _is_of_rows(sql: str) -> bool:
    """Whether a statement only inserts rows; then several can be joined into one."""
    beside = re.split(r"VALUES \([^)]*\)", sql, maxsplit=1)[-1]
    return sql.startswith("INSERT") and "$" not in beside


@lru_cache(maxsize=512)
def _rows_together(sql: str, count: int) -> str:
    """A single-row INSERT as one of several rows."""
    before, values, after = re.split(r"VALUES (\([^)]*\))", sql, maxsplit=1)
    width = max(int(number) for number in re.findall(r"\$(\d+)", values))

    def row(place: int) -> str:
        return re.sub(r"\$(\d+)", lambda m: f"?{place * width + int(m[1])}", values)

    return f"{before}VALUES {', '.join(row(n) for n in range(count))}{after}"


@lru_cache(maxsize=256)
def _numbered(sql: str) -> str:
    """A statement with parameters in SQLite's form: `?1` for `$1`."""
    return sql.replace("$", "?")
