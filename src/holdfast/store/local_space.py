"""A space for programs: documents that are put, updated, and changed in transactions.

`Store` takes commits as the protocol writes them. A program wants `put`, `update` and a `with`
block, as the client of a server has them; here they work on a store without a server.

    with holdfast.open_space("notes.sqlite") as space:
        space.put("note:plan", {"title": "Ship 1.0", "done": 0})
        with space.transaction() as tx:
            tx.write("note:plan", ["done"], tx.read("note:plan", ["done"]) + 1)

A transaction depends on every document that it read or changed. It may be refused although what it
used did not change, if another part of the same document did; it never overwrites what it has not
seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast import system
from holdfast.errors import UsageError
from holdfast.ids import MAIN
from holdfast.store.errors import ConflictError
from holdfast.store.store import Store, open_store

if TYPE_CHECKING:
    from holdfast.store.branch_merge import DocumentDiff
    from holdfast.store.model import Applied, Branch, CommitKey, State

ATTEMPTS = 100
_MISSING: Any = object()


class Transaction:
    """Reads and writes that land together or not at all; made by `Space.transaction`."""

    def __init__(self, space: Space, branch: str) -> None:
        self._space, self._branch = space, branch
        self._states: dict[str, State | None] = {}
        self._values: dict[str, Any] = {}
        self._written: dict[str, None] = {}
        self.ended = False

    def read(self, id: str, path: Sequence[str | int] = (), default: Any = None) -> Any:
        """The value of a document, or the part at a path; `default` if there is none."""
        value = self._value(id)
        for name in path:
            value = _member(value, name)
            if value is _MISSING:
                return default
        return default if value is _MISSING else deepcopy(value)

    def write(self, id: str, path: Sequence[str | int], value: Any) -> None:
        """Set the value of a document (path `[]`), or a part of it; missing objects are created."""
        if not path:
            self._value(id)
            self._values[id] = deepcopy(value)
        else:
            whole = self._value(id)
            whole = {} if whole is _MISSING else whole
            place = whole
            for name in path[:-1]:
                inner = _member(place, name)
                if inner is _MISSING:
                    inner = {}
                    _set(place, name, inner)
                place = inner
            _set(place, path[-1], deepcopy(value))
            self._values[id] = whole
        self._written[id] = None

    def delete(self, id: str) -> None:
        """Delete a document; its history stays."""
        self._value(id)
        self._values[id] = _MISSING
        self._written[id] = None

    def commit(self) -> Applied | None:
        """Land the writes; None if there are none. Raises `ConflictError` when a read changed."""
        self._end()
        if not self._written:
            return None
        operations: list[dict[str, Any]] = []
        for id in self._written:
            value, before = self._values[id], self._states[id]
            if value is _MISSING:
                operations.append({"op": "delete", "id": id})
                continue
            rest = {} if before is None or before.document is None else before.document
            operations.append({"op": "set", "id": id, "value": {**rest, "value": value}})
        reads: list[dict[str, Any]] = [
            {"id": id, "path": [], "seq": 0 if state is None else state.seq}
            for id, state in self._states.items()
        ]
        return self._space.commit(operations, reads, self._branch)

    def abort(self) -> None:
        """End without a commit."""
        self._end()

    def _end(self) -> None:
        if self.ended:
            raise UsageError("the transaction has ended", "begin another one")
        self.ended = True

    def _value(self, id: str) -> Any:
        if self.ended:
            raise UsageError("the transaction has ended", "begin another one")
        if id not in self._states:
            state = self._states[id] = self._space.store.state(id, self._branch)
            document = None if state is None else state.document
            self._values[id] = _MISSING if document is None else document.get("value", _MISSING)
        return self._values[id]

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if self.ended:
            return
        if kind is None:
            self.commit()
        else:
            self.abort()


class Space:
    """Documents on branches, each with a value; made by `holdfast.open_space`."""

    def __init__(self, store: Store, session: str) -> None:
        self.store = store
        """The store itself, for everything that this class does not offer."""
        self._session = session
        self._local_seq = 0

    def get(self, id: str, default: Any = None, branch: str = MAIN, at: int | None = None) -> Any:
        """The value of a document now, or as it was at a seq."""
        document = self.store.read(id, branch, at)
        return default if document is None else document.get("value", default)

    def put(self, id: str, value: Any, branch: str = MAIN) -> Applied:
        """Write the value of a document, whatever was there."""
        return self.commit([{"op": "set", "id": id, "value": {"value": value}}], (), branch)

    def update(
        self, id: str, change: Callable[[Any], Any], branch: str = MAIN, default: Any = None
    ) -> Any:
        """Replace a value by the result of `change`; tried again if another writer was faster."""
        for attempt in range(ATTEMPTS):
            with self.transaction(branch) as tx:
                value = change(tx.read(id, (), default))
                tx.write(id, [], value)
                try:
                    tx.commit()
                except ConflictError:
                    if attempt == ATTEMPTS - 1:
                        raise
                    continue
                return value
        raise AssertionError("the last attempt returns or raises")

    def delete(self, id: str, branch: str = MAIN) -> Applied:
        """Delete a document; its history stays."""
        return self.commit([{"op": "delete", "id": id}], (), branch)

    def transaction(self, branch: str = MAIN) -> Transaction:
        """Read and write together. A `with` block commits when it ends without an exception."""
        return Transaction(self, branch)

    def commit(
        self,
        operations: Sequence[Mapping[str, Any]],
        reads: Sequence[Mapping[str, Any]] = (),
        branch: str = MAIN,
    ) -> Applied:
        """Land operations in the form of the protocol."""
        message = {
            "localSeq": self._key().local_seq,
            "branch": branch,
            "reads": {"confirmed": list(reads), "pending": []},
            "operations": list(operations),
        }
        return self.store.transact(self._session, message)

    def _key(self) -> CommitKey:
        from holdfast.ids import LocalSeq, SessionId
        from holdfast.store.model import CommitKey

        self._local_seq += 1
        return CommitKey(SessionId(self._session), LocalSeq(self._local_seq))

    # branches

    def branch(self, name: str, parent: str = MAIN) -> Branch:
        """Fork a branch."""
        return self.store.create_branch(name, parent, by=self._key())

    def diff(self, branch: str) -> list[DocumentDiff]:
        """How a branch differs from where it was forked."""
        return self.store.diff(branch)

    def merge(self, branch: str, into: str = MAIN) -> Applied | None:
        """Merge a branch; None if there is nothing to merge. Raises `MergeClash` for conflicts."""
        return self.store.merge(self._key(), branch, into)

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Space:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_space(
    url: str | Path = "memory:",
    space: str = "local",
    *,
    new_id: Callable[[], str] = system.new_id,
) -> Space:
    """Open a space without a server: a directory, a `.sqlite` file, `memory:` or `postgresql://…`.

    With a server, use `connect`.
    """
    return Space(open_store(url, space), f"python-{new_id()}")


def _member(value: Any, name: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(name, _MISSING)
    if isinstance(value, list) and isinstance(name, int) and -len(value) <= name < len(value):
        return value[name]
    return _MISSING


def _set(place: Any, name: str | int, value: Any) -> None:
    is_member = isinstance(place, dict) and isinstance(name, str)
    is_item = isinstance(place, list) and isinstance(name, int) and -len(place) <= name < len(place)
    if not is_member and not is_item:
        raise UsageError(f"there is no place {name!r} in a {type(place).__name__}")
    place[name] = value
