"""The outbox: commits without a verdict, stored so that a restart does not lose them.

An outbox belongs to one session of one space. A commit is stored before it is sent and
removed once its outcome is known. After a restart the same session sends what is left, in order;
the server recognises what it already has by session and localSeq, so nothing lands twice.

A patch cannot be shown without the document below it, and after a restart no document is known yet.
So the documents that patches were made on are stored too, as they were confirmed then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from holdfast.errors import SyncError
from holdfast.ids import LocalSeq
from holdfast.store import codec

FORMAT: Final = 2
"""The outbox file. 1: tables meta, session, pending. 2: table base, the documents below patches."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The session an outbox belongs to."""

    session_id: str
    token: str | None


@dataclass(frozen=True, slots=True)
class Base:
    """A document below commits without a verdict: confirmed at `seq`, None if there was none.

    `landed` has own commits that are durable and not yet part of the confirmed document: the
    operations of each on this document, its localSeq and its seq.
    """

    branch: str
    id: str
    seq: int
    document: Any
    landed: tuple[tuple[int, int, Sequence[Any]], ...] = ()

    def to_wire(self) -> list[Any]:
        landed = [[local_seq, seq, list(ops)] for local_seq, seq, ops in self.landed]
        return [self.seq, self.document, landed]

    @classmethod
    def from_wire(cls, branch: str, id: str, wire: Any) -> Base:
        seq, document, landed = wire
        return cls(branch, id, seq, document, tuple((n, at, ops) for n, at, ops in landed))


class Outbox(Protocol):
    """Stores the commits and the id of a session."""

    def session(self) -> Remembered | None: ...

    def opened(self, session_id: str, token: str | None) -> None: ...

    def next_local_seq(self) -> int: ...

    def commits(self) -> list[dict[str, Any]]: ...

    def add(self, commit: Mapping[str, Any], bases: Sequence[Base] = ()) -> None:
        """Store a commit, and the documents that its patches were made on."""

    def bases(self) -> list[Base]:
        """The documents that the stored commits were made on."""

    def used(self, local_seq: LocalSeq) -> None: ...

    def remove(self, local_seq: LocalSeq) -> None: ...

    def close(self) -> None: ...


class NoOutbox:
    """Stores nothing: commits live as long as the process."""

    def session(self) -> Remembered | None:
        return None

    def opened(self, session_id: str, token: str | None) -> None:
        pass

    def next_local_seq(self) -> int:
        return 1

    def commits(self) -> list[dict[str, Any]]:
        return []

    def add(self, commit: Mapping[str, Any], bases: Sequence[Base] = ()) -> None:
        pass

    def bases(self) -> list[Base]:
        return []

    def used(self, local_seq: LocalSeq) -> None:
        pass

    def remove(self, local_seq: LocalSeq) -> None:
        pass

    def close(self) -> None:
        pass


class OutboxInUse(SyncError):
    """Raised when another process has this outbox open: two owners would undo each other."""

    hint = "close the other client, or give this one its own outbox"

    def __init__(self, path: Path) -> None:
        super().__init__(f"the outbox {path} is open in another process")
        self.path = path


class UnknownOutbox(SyncError):
    """Raised when a file is not an outbox of this space, or of a newer version."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} cannot be used as an outbox: {reason}")
        self.path, self.reason = path, reason


_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS session (
    one INTEGER PRIMARY KEY CHECK (one = 1), session_id TEXT NOT NULL, token TEXT
);
CREATE TABLE IF NOT EXISTS pending (local_seq INTEGER PRIMARY KEY, "commit" TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS base (
    branch TEXT NOT NULL, id TEXT NOT NULL, last INTEGER NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (branch, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS base_last ON base (last);
"""


class SqliteOutbox:
    """An outbox in a SQLite file, owned by one process at a time."""

    def __init__(self, path: Path | str, space: str, unified: bool = False) -> None:
        import apsw

        self.path = Path(path)
        self._unified = unified
        self._written: dict[Any, tuple[int, tuple[int, ...]]] = {}
        """Which version of a base is in the file, by branch and id."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._db = apsw.Connection(str(self.path))
        try:
            # Exclusive while the outbox is open: a second process must not send the same commits.
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            with self._db:
                self._db.execute(_SCHEMA)
                self._claim(space)
        except apsw.BusyError:
            self._db.close()
            raise OutboxInUse(self.path) from None
        except apsw.NotADBError:
            self._db.close()
            raise UnknownOutbox(self.path, "it is not a database") from None
        except BaseException:
            self._db.close()
            raise

    def _claim(self, space: str) -> None:
        for name, value in (("format", str(FORMAT)), ("space", space), ("next", "1")):
            self._db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, value))
        # Format 1 had no bases; its commits are shown where they need none.
        self._db.execute(
            "UPDATE meta SET value = ? WHERE name = 'format' AND value = '1'", (str(FORMAT),)
        )
        if self._meta("format") != str(FORMAT):
            raise UnknownOutbox(self.path, f"its format is {self._meta('format')}, not {FORMAT}")
        if self._meta("space") != space:
            raise UnknownOutbox(self.path, f"it belongs to {self._meta('space')}")

    def _meta(self, name: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        assert row is not None
        return str(row[0])

    def session(self) -> Remembered | None:
        row = self._db.execute("SELECT session_id, token FROM session").fetchone()
        return None if row is None else Remembered(row[0], row[1])

    def opened(self, session_id: str, token: str | None) -> None:
        self._db.execute("INSERT OR REPLACE INTO session VALUES (1, ?, ?)", (session_id, token))

    def next_local_seq(self) -> int:
        return int(self._meta("next"))

    def commits(self) -> list[dict[str, Any]]:
        rows = self._db.execute('SELECT "commit" FROM pending ORDER BY local_seq')
        return [codec.decode(row[0], self._unified) for row in rows]  # type: ignore[misc]

    def add(self, commit: Mapping[str, Any], bases: Sequence[Base] = ()) -> None:
        local_seq = commit["localSeq"]
        text = codec.encode(dict(commit), self._unified)
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO pending VALUES (?, ?)", (local_seq, text))
            for base in bases:
                self._add_base(base, local_seq)
            self.used(LocalSeq(local_seq))

    def _add_base(self, base: Base, local_seq: int) -> None:
        key = (base.branch, base.id)
        version = (base.seq, tuple(n for n, _, _ in base.landed))
        if self._written.get(key) == version:
            # The same document as for the commit before; it may be large.
            sql = "UPDATE base SET last = ? WHERE branch = ? AND id = ?"
            self._db.execute(sql, (local_seq, *key))
            return
        state = codec.encode(base.to_wire(), self._unified)
        self._db.execute(
            "INSERT OR REPLACE INTO base VALUES (?, ?, ?, ?)", (*key, local_seq, state)
        )
        self._written[key] = version

    def bases(self) -> list[Base]:
        rows = self._db.execute("SELECT branch, id, state FROM base ORDER BY branch, id")
        return [
            Base.from_wire(branch, id, codec.decode(state, self._unified))
            for branch, id, state in rows
        ]

    def used(self, local_seq: LocalSeq) -> None:
        self._db.execute(
            "UPDATE meta SET value = ? WHERE name = 'next' AND CAST(value AS INTEGER) <= ?",
            (str(local_seq + 1), local_seq),
        )

    def remove(self, local_seq: LocalSeq) -> None:
        with self._db:
            self._db.execute("DELETE FROM pending WHERE local_seq = ?", (local_seq,))
            # A base whose last commit is older than all pending ones is below none of them.
            oldest = self._db.execute("SELECT min(local_seq) FROM pending").fetchall()[0][0]
            gone = self._db.execute(
                "DELETE FROM base WHERE last < ? RETURNING branch, id",
                (2**62 if oldest is None else oldest,),
            )
            for key in gone.fetchall():
                self._written.pop(key, None)

    def close(self) -> None:
        self._db.close()
