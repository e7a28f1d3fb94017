"""Holdfast's own session logs, kept in the store. Connects reading and store.

Each entry of a session is one document, numbered from 0 and written once. A commit requires that
its number is free, so entries that two processes append at once get different numbers. A log is
durable and shared between processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from holdfast.errors import StoreError
from holdfast.reading.errors import NoSuchSession
from holdfast.store.errors import ConflictError
from holdfast.store.store import Store

SPACE = "sessions"
"""The space that contains every session log of a home."""

NAMED_MAX = 6
"""How many sessions a hint names."""


class StoredLog:
    """One session's entries as documents `session:<name>/<number>`."""

    def __init__(self, store: Store, session: str, writer: str) -> None:
        self._store, self._session, self._writer = store, session, writer
        self._seen = 0
        self._local_seq = 0

    @property
    def session(self) -> str:
        return self._session

    def append(self, entry: Mapping[str, Any]) -> None:
        """Append one entry atomically; it is durable when this returns."""
        number = self._seen
        while True:
            _, number = self._from(number)
            try:
                self._write(number, entry)
            except ConflictError:
                # Another process took this number, or its entry was deleted: try the next one.
                number += 1
                continue
            return

    def _write(self, number: int, entry: Mapping[str, Any]) -> None:
        self._local_seq += 1
        id = self._id(number)
        self._store.transact(
            self._writer,
            {
                "localSeq": self._local_seq,
                "reads": {"confirmed": [{"id": id, "path": [], "seq": 0}], "pending": []},
                "operations": [{"op": "set", "id": id, "value": {"value": dict(entry)}}],
            },
        )

    def grown(self) -> tuple[bool, Iterable[Mapping[str, Any] | None]]:
        """The entries since the last call. A stored log is never replaced."""
        try:
            fresh, self._seen = self._from(self._seen)
        except StoreError as error:
            raise OSError(str(error)) from error
        return False, fresh

    def entries(self) -> Iterable[Mapping[str, Any]]:
        """Every entry, oldest first."""
        return self._from(0)[0]

    def _from(self, number: int) -> tuple[list[Mapping[str, Any]], int]:
        """The entries from a number on, and the number after the last of them.

        Numbers are assigned without gaps; the entry of a missing number was deleted.
        """
        states = self._store.scan(self._id(number), self._id(10**10 - 1))
        if states:
            number = int(states[-1].id.rpartition("/")[2]) + 1
        return [(state.document or {}).get("value", {}) for state in states], number

    def _id(self, number: int) -> str:
        return f"session:{self._session}/{number:010d}"


def names(store: Store, limit: int = 200) -> list[str]:
    """The sessions that have entries, by name, without reading them all."""
    names: list[str] = []
    first = "session:"
    while len(names) < limit and (one := store.scan(first, "session;", 1)):
        name = one[0].id.removeprefix("session:").rpartition("/")[0]
        names.append(name)
        first = f"session:{name}0"  # sorts after every `/<number>` of this session
    return names


def open_log(open_space: Callable[[str], Store], name: str, new_id: Callable[[], str]) -> StoredLog:
    """The log of a named session; a new one exists from its first entry on."""
    return StoredLog(open_space(SPACE), name, f"log-{new_id()}")


def begun_log(store: Store, name: str, writer: str) -> StoredLog:
    """The log of an existing session; raises NoSuchSession if it has no entries."""
    log = StoredLog(store, name, writer)
    if not store.scan(log._id(0), log._id(10**10 - 1), 1):
        raise no_such_session(name, names(store))
    return log


def no_such_session(name: str, names: Sequence[str] = ()) -> NoSuchSession:
    """The error for a session without entries, with a hint that names existing ones."""
    from difflib import get_close_matches

    error = NoSuchSession(name, "nothing was read in it")
    near = get_close_matches(name, names, 1)
    more = ", …" if len(names) > NAMED_MAX else ""
    others = f"there are: {', '.join(names[:NAMED_MAX])}{more}; " if names else ""
    others = f"did you mean --session {near[0]}? " if near else others
    error.hint = f"{others}holdfast read PATH --session {name} begins it"
    return error
