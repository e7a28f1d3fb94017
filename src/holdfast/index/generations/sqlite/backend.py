"""Generations on SQLite: one file for each root, and the only SQL of the embedded backend.

The next generation is prepared inside one write transaction. Meanwhile readers see the last
committed state, and SQLite rolls back an open transaction after a crash. So the old generation is
served until the new one is committed together with its marker.

Postings and vectors are stored in segments (`generations/segments.py`), each in a file of its own
that is mapped into memory, once for all generations that share it. This module opens files and
manages connections; `tables` has the tables, `reader` and `writer` work on one generation.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from holdfast.errors import CodeIndexError
from holdfast.file_times import touched
from holdfast.index.errors import HOME_HINT, BackendUnavailable, DamagedBackend
from holdfast.index.generations import change_log
from holdfast.index.generations.leases import root_key
from holdfast.index.generations.model import Identity
from holdfast.index.generations.segment_files import SegmentFiles
from holdfast.index.generations.segments import (
    ListedFiles,
    OpenCorpus,
    followed,
    opened,
    opened_listed,
)
from holdfast.index.generations.sqlite import file_lists, tables
from holdfast.index.generations.sqlite.chunks import Recent
from holdfast.index.generations.sqlite.reader import SqliteReader
from holdfast.index.generations.sqlite.readonly import frozen, is_frozen

if TYPE_CHECKING:
    from holdfast.index.generations.sqlite.writer import SqliteWriter
    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.posting_segment import PostingSegment

OPEN_MAX = 4
"""The postings of this many roots stay open."""


class SqliteBackend:
    """The embedded backend, which needs no server."""

    provider = "sqlite"
    probe_timeout_s = 2.0
    answers_at_once = True

    def __init__(self, directory: Path, dimension: int) -> None:
        self._directory, self._dimension = directory, dimension
        self._lock = threading.Lock()
        self._open: OrderedDict[str, tuple[Identity, OpenCorpus]] = OrderedDict()
        self._opening: dict[str, threading.Lock] = {}
        self._idle: dict[str, list[tuple[int, apsw.Connection]]] = {}
        self._checkpointing: threading.Thread | None = None
        self._paths: dict[str, Path] = {}
        self._recent = Recent()

    def _path(self, root: str) -> Path:
        path = self._paths.get(root)
        if path is None:
            path = self._paths[root] = self._directory / f"{root_key(root)}.sqlite"
        return path

    def _files(self, root: str) -> SegmentFiles:
        return SegmentFiles(self._path(root).with_suffix(".segments"))

    # Reading.

    def read_marker(self, root: str) -> object | None:
        with self._reading(root) as connection:
            if connection is None:
                return None
            with tables.translated():
                marker: object = tables.meta(connection).get("marker")
            return marker

    def stamp(self, root: str) -> object:
        path = self._path(root)
        log = touched(path.with_name(path.name + "-wal"))
        return touched(path), log, self._files(root).stamp()

    def spot_check(self, root: str) -> None:
        with self.reader(root) as reader:
            reader.spot_check()
            self._check_size(root, reader.size_bytes())

    def _check_size(self, root: str, expected: int) -> None:
        """Raise DamagedBackend if the file is too short, unless a log still has its last pages."""
        path = self._path(root)
        log, file = touched(path.with_name(path.name + "-wal")), touched(path)
        if file is not None and (log is None or not log.size_bytes) and file.size_bytes < expected:
            raise DamagedBackend(f"an index file has {file.size_bytes} of {expected} bytes")

    def verify(self, root: str) -> None:
        with self.reader(root) as reader:
            reader.verify(self._dimension)

    def roots(self) -> list[str]:
        try:
            names = sorted(os.listdir(self._directory))
        except FileNotFoundError:
            return []
        except OSError as error:
            text = f"cannot read {self._directory}: {error}"
            raise BackendUnavailable(text, HOME_HINT) from error
        roots = []
        for name in names:
            if not name.endswith(".sqlite"):
                continue
            with suppress(CodeIndexError, OSError), tables.translated():
                # Skip files that cannot be read.
                with _opened(self._directory / name) as connection:
                    current = tables.check_version(connection)
                    root = tables.meta(connection).get("root") if current else None
                if isinstance(root, str):
                    roots.append(root)
        return roots

    @contextmanager
    def reader(self, root: str) -> Iterator[SqliteReader]:
        with self._reading(root) as connection:
            if connection is None:
                raise BackendUnavailable(f"nothing is stored for {root}")
            with tables.translated():
                yield SqliteReader(connection, self._corpus, root, self._files(root), self._recent)

    @contextmanager
    def _reading(self, root: str) -> Iterator[apsw.Connection | None]:
        """A read-only connection in a read transaction, so that all queries see one generation;
        None when the root has no file of this version."""
        path = self._path(root)
        try:
            inode = path.stat().st_ino
        except FileNotFoundError:
            yield None
            return
        if is_frozen(path):
            with tables.translated(), frozen(path) as connection:
                yield connection if tables.check_version(connection) else None
            return
        # A connection is used by one caller at a time and kept for the next one: opening it takes
        # longer than most queries.
        with self._lock:
            idle = self._idle.setdefault(root, [])
            while idle and idle[-1][0] != inode:
                idle.pop()[1].close()
            lent = idle.pop()[1] if idle else None
        with tables.translated():
            connection = lent if lent is not None else self._connect(path)
        try:
            with tables.translated():
                connection.execute("BEGIN")
                current = tables.check_version(connection)
            if not current:
                connection.close()
                yield None
                return
            yield connection
            with tables.translated():
                connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.setdefault(root, []).append((inode, connection))

    def _connect(self, path: Path) -> apsw.Connection:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(tables.BUSY_MS)
        connection.execute("PRAGMA mmap_size=1073741824")
        return connection

    def _corpus(self, root: str, connection: apsw.Connection, identity: Identity) -> Corpus:
        known = self._known(root)
        if known is not None and known[0] == identity:
            return known[1].corpus
        with self._lock:
            opening = self._opening.setdefault(root, threading.Lock())
        # One reader opens a generation and the others wait: opening it twice would not be faster.
        with opening:
            known = self._known(root)
            if known is None or known[0] != identity:
                known = identity, self._opened(root, connection, identity, known)
                with self._lock:
                    self._open[root] = known
                    while len(self._open) > OPEN_MAX:
                        self._open.popitem(last=False)
        return known[1].corpus

    def _known(self, root: str) -> tuple[Identity, OpenCorpus] | None:
        """The open generation of a root; raises DamagedBackend if a file of it was truncated."""
        with self._lock:
            known = self._open.get(root)
            if known is not None:
                try:
                    for segment in known[1].segments.values():
                        segment.check_size()
                except DamagedBackend:
                    del self._open[root]
                    raise
                self._open.move_to_end(root)
            return known

    def _opened(
        self,
        root: str,
        connection: apsw.Connection,
        identity: Identity,
        known: tuple[Identity, OpenCorpus] | None,
    ) -> OpenCorpus:
        """Open a generation, from the one that is open already if possible."""
        stored = tables.stored_segments(connection)
        digests = {number: segment.digest for number, segment in stored.items()}
        files = self._files(root)

        def load(number: int) -> PostingSegment:
            return files.open(stored[number], self._dimension)

        notes = change_log.decode(tables.meta(connection).get("changes"))
        change = change_log.leading(notes, known[0], identity) if known is not None else None
        if known is not None and change is not None:
            added = [file for n in change.added for file in tables.placed_files(connection, n)]
            return followed(known[1], change, added, load, digests)
        before = known[1].segments if known is not None else {}
        placed = file_lists.placed_files(connection)
        if isinstance(placed, ListedFiles):
            return opened_listed(digests, placed, before, load)
        return opened(digests, placed, before, load)

    # Writing.

    def check(self, root: str) -> None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise BackendUnavailable(
                f"cannot write to {self._directory}: {error}", HOME_HINT
            ) from error
        if not os.access(self._directory, os.W_OK):
            raise BackendUnavailable(f"cannot write to {self._directory}", HOME_HINT)
        self.check_format(root)

    def check_format(self, root: str) -> None:
        # A damaged file has no format; it may be replaced.
        with suppress(DamagedBackend), self._reading(root):
            pass

    @contextmanager
    def writer(self, root: str) -> Iterator[SqliteWriter]:
        self.check(root)
        self._wait_for_checkpoint()
        with tables.translated():
            writer = self._begin_writer(root)
            try:
                yield writer
            except (*tables.DAMAGED, DamagedBackend):
                if writer.started_over:
                    self._unlink(root)  # A rebuild would reuse damaged pages of the old file.
                raise
            finally:
                self._checkpoint_later(writer.end(), self._files(root))

    def _checkpoint_later(self, connection: apsw.Connection, files: SegmentFiles) -> None:
        thread = threading.Thread(
            target=_checkpoint, args=(connection, files), name="holdfast checkpoint"
        )
        try:
            thread.start()
        except RuntimeError:
            # No thread could be started; the generation is published in any case.
            _checkpoint(connection, files)
        else:
            self._checkpointing = thread

    def _wait_for_checkpoint(self) -> None:
        # The next writer may fork, which is safe only without other threads.
        checkpointing, self._checkpointing = self._checkpointing, None
        if checkpointing is not None:
            checkpointing.join()

    def _begin_writer(self, root: str) -> SqliteWriter:
        """A writer in its transaction; on a new file if the old one is damaged."""
        try:
            connection = self._connected(root)
            try:
                return self._writer_on(connection, root)
            except BaseException:
                connection.close()
                raise
        except (*tables.DAMAGED, DamagedBackend, apsw.ReadOnlyError) as error:
            if isinstance(error, apsw.ReadOnlyError) and not os.access(self._path(root), os.W_OK):
                raise
            return self._writer_on(self._new_file(root), root)

    def _writer_on(self, connection: apsw.Connection, root: str) -> SqliteWriter:
        from holdfast.index.generations.sqlite.writer import SqliteWriter

        return SqliteWriter(
            connection, root, self._dimension, self._files(root), lambda: self._new_file(root)
        )

    def _connected(self, root: str) -> apsw.Connection:
        path = self._path(root)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        return tables.prepared(path)

    def _new_file(self, root: str) -> apsw.Connection:
        """A new file. The old one only had derived data, which is rebuilt."""
        self._unlink(root)
        return self._connected(root)

    def drop(self, root: str) -> None:
        self._wait_for_checkpoint()
        try:
            self._unlink(root)
        except OSError as error:
            raise BackendUnavailable(f"cannot remove the index of {root}: {error}") from error
        with self._lock:
            self._open.pop(root, None)

    def _unlink(self, root: str) -> None:
        path = self._path(root)
        for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
            name.unlink(missing_ok=True)
        self._files(root).remove()

    def close(self) -> None:
        self._wait_for_checkpoint()
        with self._lock:
            for idle in self._idle.values():
                for _, connection in idle:
                    connection.close()
            self._idle.clear()


@contextmanager
def _opened(path: Path) -> Iterator[apsw.Connection]:
    """A connection for one query, also where the directory is read-only."""
    if is_frozen(path):
        with frozen(path) as connection:
            yield connection
        return
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        yield connection
    finally:
        connection.close()


def _checkpoint(connection: apsw.Connection, files: SegmentFiles) -> None:
    """Checkpoint the write-ahead log and close the connection; done in the background.

    Readers see the published generation already, and the log survives a crash. If a reader is in
    the way or the disk is full, the log is checkpointed later.
    """
    try:
        connection.set_busy_timeout(0)
        files.flush()
        with suppress(apsw.Error):
            # The first pass does not block writers, and leaves little to do for the second.
            tables.rows(connection, "PRAGMA wal_checkpoint(PASSIVE)")
            tables.rows(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
