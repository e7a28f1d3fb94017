"""The store on SQLite: the schema, the connection and its durability.

`apsw` is preferred because it bundles a current SQLite: versions before 3.51.3 can corrupt a
write-ahead log in a rare race, and Python's is often older. Without `apsw` the standard library's
module is used, with a warning.

`synchronous=FULL`: a commit is on disk when it is acknowledged. In WAL mode, reads continue while a
commit is written.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from holdfast import system
from holdfast.errors import HOME_HINT, StoreError
from holdfast.store import wal
from holdfast.store.errors import DamagedStore, StoreBusy, StoreFailed
from holdfast.store.roots import is_made
from holdfast.store.sqlite_driver import BUSY_MS, PAGE_HINT, SqliteDriver
from holdfast.store.tables import SCHEMA_VERSION, Row
from holdfast.store.upgrade import OLDEST, seal_branches, upgrade

# Tables without rowids and pages of 4 KiB: one b-tree and few bytes per write. The indexes that
# would repeat a primary key are left out. A commit is looked up by both parts of its key, so their
# order is free. localSeq is first: then sessions that write at the same time share pages of that
# index. With the session first, each would change a separate page in every batch.
_SCHEMA = """
CREATE TABLE "commit" (
  seq INTEGER NOT NULL PRIMARY KEY,
  branch TEXT NOT NULL DEFAULT '',
  session_id TEXT NOT NULL,
  local_seq INTEGER NOT NULL,
  chain BLOB NOT NULL,
  invocation_ref TEXT REFERENCES invocation (ref),
  authorization_ref TEXT REFERENCES "authorization" (ref),
  original JSON NOT NULL,
  resolution JSON NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  merged TEXT,
  UNIQUE (local_seq, session_id)
);
CREATE INDEX commit_merged ON "commit" (seq) WHERE merged IS NOT NULL;
CREATE TABLE revision (
  branch TEXT NOT NULL DEFAULT '',
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  op_index INTEGER NOT NULL,
  op TEXT NOT NULL,
  data JSON,
  commit_seq INTEGER NOT NULL REFERENCES "commit" (seq),
  crc INTEGER NOT NULL,
  PRIMARY KEY (branch, id, seq, op_index)
) WITHOUT ROWID;
CREATE TABLE head (
  branch TEXT NOT NULL,
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  op_index INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (branch, id)
) WITHOUT ROWID;
CREATE TABLE snapshot (
  branch TEXT NOT NULL DEFAULT '',
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  value JSON NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (branch, id, seq)
) WITHOUT ROWID;
CREATE TABLE branch (
  name TEXT NOT NULL PRIMARY KEY,
  parent_branch TEXT REFERENCES branch (name),
  fork_seq INTEGER,
  created_seq INTEGER NOT NULL DEFAULT 0,
  head_seq INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'active',
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  deleted_at TEXT,
  oldest_seq INTEGER NOT NULL DEFAULT 0,
  crc INTEGER NOT NULL DEFAULT 0,
  head_crc INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE invocation (
  ref TEXT NOT NULL PRIMARY KEY,
  iss TEXT NOT NULL,
  aud TEXT,
  cmd TEXT NOT NULL,
  sub TEXT NOT NULL,
  invocation JSON NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID;
CREATE TABLE "authorization" (
  ref TEXT NOT NULL PRIMARY KEY,
  "authorization" JSON NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID;
CREATE TABLE blob_store (
  hash TEXT NOT NULL PRIMARY KEY,
  data BLOB NOT NULL,
  content_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  put_at TEXT NOT NULL DEFAULT '',
  crc INTEGER NOT NULL
);
INSERT INTO branch (name, created_at) VALUES ('', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
"""

_PRAGMAS = (
    "PRAGMA synchronous=FULL",
    "PRAGMA cache_size=-64000",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA mmap_size=268435456",
    "PRAGMA foreign_keys=ON",
    # 16 MB between checkpoints: a page that many commits change is written to the file once.
    "PRAGMA wal_autocheckpoint=4000",
)

MEMORY = ":memory:"


def make_private(path: Path) -> None:
    """Create a file and its missing directories, accessible to this user only.

    Done before SQLite would create it with wider permissions.
    """
    try:
        missing = []
        for directory in path.parents:
            if directory.is_dir():
                break
            missing.append(directory)
        for directory in reversed(missing):
            directory.mkdir(mode=0o700, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        elif not may_write(path):
            raise StoreFailed(f"cannot write to {path}", hint=HOME_HINT)
    except OSError as error:
        hint = _HINTS.get(error.errno or 0, "choose another path, or set HOLDFAST_HOME")
        reason = error.strerror or str(error)
        raise StoreFailed(f"cannot open {path}: {reason.lower()}", hint=hint) from error


_HINTS = {
    errno.EMFILE: "too many files are open: close some, or allow more with ulimit -n",
    errno.ENFILE: "too many files are open on this machine: close some programs",
    errno.ENOSPC: "free some space, then try again",
}


def may_write(path: Path) -> bool:
    """Whether this user may write a file and its directory, which SQLite needs even to read."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


class SqliteDatabase:
    """One connection to one space's file.

    A missing file is created, unless `missing` returns an error to raise instead. A frozen database
    refuses writes.
    """

    distant = False
    mask = 0  # a file has one space

    def __init__(
        self,
        path: Path | None,
        missing: Callable[[], StoreError] | None = None,
        frozen: bool = False,
    ) -> None:
        self.path, self._missing = path, missing
        if path is not None and missing is None:
            make_private(path)
        elif path is not None and missing is not None and not is_made(path):
            raise missing()
        self._driver = SqliteDriver(MEMORY if path is None else str(path), create=missing is None)
        # Bound directly to the driver: every statement of every commit passes here.
        self.rows: Callable[..., list[Row]] = self._driver.rows
        self.run_many = self._driver.many
        self.version = self._driver.version
        try:
            if path is not None and path.stat().st_size == 0:
                self._driver.check_pages()  # before the first page is written
            self._enable_wal()
            self._check_log()
            for pragma in _PRAGMAS:
                self.rows(pragma)
            self._prepare_schema()
            if frozen:
                self.rows("PRAGMA query_only=ON")
        except BaseException:
            self.close()
            raise

    def _enable_wal(self, clock: Callable[[], float] = system.monotonic) -> None:
        """Switch to WAL mode. SQLite's busy timeout does not apply here, so this retries."""
        give_up = clock() + BUSY_MS / 1000
        while True:
            try:
                self.rows("PRAGMA journal_mode=WAL")
                return
            except StoreBusy:
                if clock() > give_up:
                    raise
                time.sleep(0.002)

    def _check_log(self) -> None:
        """Refuse a write-ahead log with a flipped bit: SQLite would drop the commits behind it."""
        if self.path is None:
            return
        log = self.path.with_name(self.path.name + "-wal")
        problem = ""
        for _ in range(3):
            try:
                size = log.stat().st_size
            except OSError:
                return
            if size <= wal.HEADER:
                return
            # NOOP: only to learn how many frames SQLite accepts.
            frames = max(self.rows("PRAGMA wal_checkpoint(NOOP)")[0][1], 0)
            problem = wal.damage(log, frames)
            # Another process may be writing right now; then the next check gives another result.
            if not problem:
                return
        raise DamagedStore(
            f"the write-ahead log of {self.path.name} is damaged: {problem}",
            hint=f"the commits in it would be lost; restore {log} from a backup, or delete it to "
            "go on without them",
        )

    def _prepare_schema(self) -> None:
        version = self.rows("PRAGMA user_version")[0][0]
        if version == SCHEMA_VERSION:
            return
        # Referenced tables are replaced; their rows are the same afterwards.
        self.rows("PRAGMA foreign_keys=OFF")
        self.begin()
        try:
            # Another process may have created the tables meanwhile.
            version = self.rows("PRAGMA user_version")[0][0]
            if version == 0 and not self.tables():
                if self._missing is not None:
                    # The process that created the file ended before it created the tables.
                    raise self._missing()
                self._create()
            elif OLDEST <= version < SCHEMA_VERSION:
                now = self.rows("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')")[0][0]
                upgrade(self, self._create, version, now)
            elif version != SCHEMA_VERSION:
                raise DamagedStore(
                    f"{self.path} is not a store of version {SCHEMA_VERSION}",
                    hint="export it with the version that wrote it, then import the export",
                )
            self.rows(f"PRAGMA user_version={SCHEMA_VERSION}")
            self.commit()
        except BaseException:
            self.rollback()
            raise
        finally:
            self.rows("PRAGMA foreign_keys=ON")
        if 0 < version < SCHEMA_VERSION:
            self._add_page_checks()

    def _create(self) -> None:
        self._run_all(_SCHEMA.split(";\n"))
        seal_branches(self)

    def _add_page_checks(self) -> None:
        """Write every page of an upgraded file with a checksum; `gc` does it if this cannot."""
        with suppress(StoreBusy, StoreFailed):
            self._driver.check_pages()
            self.rows("VACUUM")

    def _run_all(self, statements: Iterable[str]) -> None:
        for statement in statements:
            if statement.strip():
                self.rows(statement)

    def tables(self) -> list[str]:
        rows = self.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return [row[0] for row in rows]

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        self._driver.rows(sql, parameters)

    def begin(self) -> None:
        self._driver.rows("BEGIN IMMEDIATE", ())

    def together(self) -> AbstractContextManager[object]:
        return nullcontext()

    def maintenance(self) -> AbstractContextManager[object]:
        return nullcontext()

    def begin_reading(self) -> None:
        self._driver.rows("BEGIN", ())

    def commit(self) -> None:
        self._driver.rows("COMMIT", ())

    def rollback(self) -> None:
        if self._driver.in_transaction():
            self._driver.rows("ROLLBACK", ())

    def close(self) -> None:
        self._driver.close()

    def replace_tables(self, tables: Sequence[str]) -> None:
        """Remove tables from the schema without reading them, and create them again.

        The `compact` that follows frees their pages.
        """
        self.rows("PRAGMA writable_schema=ON")
        try:
            for table in tables:
                self.rows("DELETE FROM sqlite_master WHERE tbl_name = $1", (table,))
            # A changed schema version makes every connection read the schema again.
            at = self.rows("PRAGMA schema_version")[0][0]
            self.rows(f"PRAGMA schema_version={at + 1}")
        finally:
            self.rows("PRAGMA writable_schema=RESET")
        for table in tables:
            start = _SCHEMA.index(f"CREATE TABLE {table} ")
            self.rows(_SCHEMA[start : _SCHEMA.index(";\n", start)])

    def structure_problems(self) -> list[str]:
        """What SQLite finds wrong with the file: pages, b-trees, indexes, the write-ahead log."""
        problems = [row[0] for row in self.rows("PRAGMA integrity_check(20)") if row[0] != "ok"]
        if self.path is not None and not self._driver.checks_pages():
            problems.append("the pages of the file have no checksums; run: holdfast memory gc")
        return problems

    def _lasting_damage(self) -> str:
        """What is wrong with pages that are in use; empty if nothing is."""
        try:
            rows = self.rows("PRAGMA integrity_check(1000)")
        except DamagedStore as damage:
            return str(damage).removeprefix("the database file is damaged: ")
        lines = [line for (text,) in rows for line in text.split("\n")]
        used = [line for line in lines if not line.endswith("never used")]
        return next((line for line in used if line != "ok" and not line.startswith("***")), "")

    @contextmanager
    def _unverified(self) -> Iterator[None]:
        """Inside, pages are read whether they match their checksums or not."""
        self.rows("PRAGMA checksum_verification=OFF")
        try:
            yield
        finally:
            self.rows("PRAGMA checksum_verification=ON")

    def compact(self) -> None:
        """Give free pages back to the file system and empty the write-ahead log.

        Damaged indexes are rebuilt. Damaged data never gets a valid checksum.
        """
        self._driver.check_pages()
        try:
            self.rows("VACUUM")
        except DamagedStore:
            if self._lasting_damage():
                # An index can be rebuilt from its table.
                with self._unverified():
                    self.rows("REINDEX")
                # Pages that were read without being checked must not stay in the cache.
                self.rows("PRAGMA shrink_memory")
            damage = self._lasting_damage()
            if damage:
                raise DamagedStore(f"the database file is damaged: {damage}", PAGE_HINT) from None
            # The pages of replaced tables are read only to be overwritten.
            with self._unverified():
                self.rows("VACUUM")
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")


class SqliteFile:
    """A small SQLite file beside the spaces. One thread at a time.

    It is not synced on every write: recent writes may be lost in a power failure.
    """

    def __init__(self, path: Path) -> None:
        make_private(path)
        self._driver = SqliteDriver(str(path))
        self._lock = threading.Lock()
        self.rows("PRAGMA journal_mode=WAL")
        self.rows("PRAGMA synchronous=NORMAL")

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with self._lock:
            return self._driver.rows(sql, parameters)

    def many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row in one transaction."""
        with self._lock:
            self._driver.rows("BEGIN IMMEDIATE", ())
            try:
                self._driver.many(sql, parameters)
                self._driver.rows("COMMIT", ())
            except BaseException:
                if self._driver.in_transaction():
                    self._driver.rows("ROLLBACK", ())
                raise

    def close(self) -> None:
        self._driver.close()
