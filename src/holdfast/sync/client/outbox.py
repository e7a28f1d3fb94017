"""The outbox: commits without a verdict, stored so that a restart does not lose them.

An outbox belongs to one session of one space. A commit is stored before it is sent and
removed once its outcome is known. After a restart the same session sends what is left, in order;
the server recognises what it already has by session and localSeq, so nothing lands twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from holdfast.errors import SyncError
from holdfast.ids import LocalSeq
from holdfast.store import codec

FORMAT: Final = 1
"""The outbox file. 1: tables meta, session, pending."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The session an outbox belongs to."""

    session_id: str
    token: str | None


class Outbox(Protocol):
    """Stores the commits and the id of a session."""

    def session(self) -> Remembered | None: ...

    def opened(self, session_id: str, token: str | None) -> None: ...

    def next_local_seq(self) -> int: ...

    def commits(self) -> list[dict[str, Any]]: ...

    def add(self, commit: Mapping[str, Any]) -> None: ...

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

    def add(self, commit: Mapping[str, Any]) -> None:
        pass

    def used(self, local_seq: LocalSeq) -> None:
        pass

    def remove(self, local_seq: LocalSeq) -> None:
        pass

    def close(self) -> None:
        pass


class OutboxInUse(SyncError):
    """Raised when another process has this outbox open: two owners would undo each other."""

    hint = "close the other client, or give this one an outbox of its own"

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
"""


class SqliteOutbox:
    """An outbox in a SQLite file of its own, owned by one process at a time."""

    def __init__(self, path: Path | str, space: str, unified: bool = False) -> None:
        import apsw

        self.path = Path(path)
        self._unified = unified
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._db = apsw.Connection(str(self.path))
        try:
            # Exclusive for as long as we live: a second process must not send the same commits.
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

    def add(self, commit: Mapping[str, Any]) -> None:
        local_seq = commit["localSeq"]
        text = codec.encode(dict(commit), self._unified)
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO pending VALUES (?, ?)", (local_seq, text))
            self.used(LocalSeq(local_seq))

    def used(self, local_seq: LocalSeq) -> None:
        self._db.execute(
            "UPDATE meta SET value = ? WHERE name = 'next' AND CAST(value AS INTEGER) <= ?",
            (str(local_seq + 1), local_seq),
        )

    def remove(self, local_seq: LocalSeq) -> None:
        self._db.execute("DELETE FROM pending WHERE local_seq = ?", (local_seq,))

    def close(self) -> None:
        self._db.close()
