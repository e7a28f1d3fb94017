"""A transaction: reads and writes against one stable snapshot, then one commit.

From its first read until it ends, changes from the server wait: confirmed documents do not change.
Other transactions of the same program may commit meanwhile. So before anything is sent, every
document that this one read is compared with what it was, and a difference fails the commit here.

    tx.read(id, path)     a path into the whole document: ("value", "title")
    tx.read_value(id, …)  the same, below `value`
    tx.commit()           shown at once; the outcome is the server's verdict
    tx.abort()            roll back

A `with` block commits when it ends cleanly and rolls back when it raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.ids import MAIN, BranchName, EntityId
from holdfast.store.delta import MISSING
from holdfast.store.pointer import ROOT, Path
from holdfast.store.values import same
from holdfast.sync.client import documents, minimal_operation
from holdfast.sync.client.errors import (
    NotFound,
    ReadOnlyDocument,
    StorageTransactionInconsistent,
    TransactionComplete,
    TypeMismatch,
    WriteIsolationError,
)
from holdfast.sync.client.immutable import Freezer
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.outgoing_values import storable
from holdfast.sync.client.reads import Read, is_inline
from holdfast.sync.wire import inline

if TYPE_CHECKING:
    from holdfast.sync.client.commits import Landed
from holdfast.sync.client.space_session import SpaceSession

VALUE = "value"


@dataclass(slots=True)
class _Working:
    """A document in this transaction: as it was first seen, as it is now, where it was written."""

    before: Any
    after: Any
    written: set[Path] = field(default_factory=set)


DocumentPlace = tuple[str, BranchName, EntityId]


class Transaction:
    """One attempt. It ends with `commit` or `abort`.

    As a `with` block it commits on a clean exit, unless it was ended inside, and rolls back on an
    exception. The exit does not wait for the server: `outcome` is the verdict.

    It reads any branch of its spaces, and writes to one branch of one space.
    """

    def __init__(
        self,
        session: SpaceSession,
        branch: str = MAIN,
        others: Iterable[SpaceSession] = (),
        source: object = None,
    ) -> None:
        self._session = session
        self._sessions = {str(one.space): one for one in (*others, session)}
        self._branch = BranchName(branch)
        self._source = self if source is None else source
        self._working: dict[DocumentPlace, _Working] = {}
        self._reads: dict[tuple[str, Read], None] = {}
        self._writing: tuple[str, BranchName] | None = None
        self._freezer = Freezer()
        self._holding = False
        self._ended = ""
        self.outcome: Outcome[Landed | None] | None = None
        """The verdict of the commit; None until there is a commit."""

    @property
    def unwatched(self) -> list[tuple[EntityId, BranchName]]:
        """Documents of its own space that it used and that no watch keeps up to date."""
        space, view = str(self._session.space), self._session.view
        return [
            (id, branch)
            for where, branch, id in self._working
            if where == space and not is_inline(id) and view.get(id, branch) is None
        ]

    # reading

    def read(
        self,
        id: str,
        path: Sequence[str] = ROOT,
        *,
        shape: bool = False,
        space: str | None = None,
        branch: str | None = None,
    ) -> Any:
        """The value at a path of the whole document, frozen; `MISSING` if there is none.

        With `shape` the commit depends only on which members exist, not on their values.
        """
        place = self._place(id, space, branch)
        at = tuple(path)
        working = self._open(place)
        if not is_inline(id):
            on = None if place[1] == self._branch else place[1]
            self._reads[place[0], Read(EntityId(id), at, shape, branch=on)] = None
        return self._freezer.freeze(documents.get(working.after, at, id))

    def read_value(self, id: str, path: Sequence[str] = ROOT, **where: Any) -> Any:
        """Like `read`, below the document's `value`."""
        return self.read(id, (VALUE, *path), **where)

    def get(self, id: str, path: Sequence[str] = ROOT, default: Any = None, **where: Any) -> Any:
        """Like `read_value`, with a default for whatever does not exist."""
        try:
            value = self.read_value(id, path, **where)
        except (NotFound, TypeMismatch):
            return default
        return default if value is MISSING else value

    # writing

    def write(
        self,
        id: str,
        path: Sequence[str],
        value: Any,
        *,
        space: str | None = None,
        branch: str | None = None,
    ) -> None:
        """Put a value at a path of the whole document; `MISSING` removes. Creates missing parents.

        Raises `InvalidValue`, with the place, for a value that a document cannot have.
        """
        place = self._place(id, space, branch)
        if is_inline(id):
            raise ReadOnlyDocument(id)
        target = place[:2]
        if self._writing is not None and self._writing != target:
            raise WriteIsolationError(_named(self._writing), _named(target))
        if target[1] != self._branch:
            raise WriteIsolationError(_named((target[0], self._branch)), _named(target))
        at = tuple(path)
        if not at and value is not MISSING and not isinstance(value, dict):
            raise TypeMismatch(id, at, "not an object")
        if value is not MISSING:
            value = storable(value, at, self._sessions[place[0]].client.unified)
        working = self._open(place)
        if value is MISSING and documents.peek(working.after, at) is MISSING:
            return
        if same(documents.peek(working.after, at), value):
            return
        after = documents.put(working.after, at, value, id)
        if value is MISSING:
            after = self._pruned(working, after, at, id)
        self._writing = target
        if at and at[-1] == "-" and isinstance(documents.peek(after, at[:-1]), list):
            at = (*at[:-1], str(len(documents.peek(after, at[:-1])) - 1))
        working.after = after
        working.written.add(at)

    def write_value(self, id: str, path: Sequence[str], value: Any, **where: Any) -> None:
        """Like `write`, below the document's `value`."""
        self.write(id, (VALUE, *path), value, **where)

    def delete(self, id: str, **where: Any) -> None:
        """Remove the document."""
        self.write(id, ROOT, MISSING, **where)

    def _pruned(self, working: _Working, after: Any, at: Path, id: str) -> Any:
        """The document without containers that were created for something removed again."""
        for depth in range(len(at) - 1, 0, -1):
            above = at[:depth]
            made_here = documents.peek(working.before, above) is MISSING
            empty = documents.peek(after, above) in ({}, [])
            if not made_here or not empty or above in working.written:
                break
            after = documents.put(after, above, MISSING, id)
        return after

    # ending

    @property
    def ended(self) -> bool:
        return bool(self._ended)

    def operations(self) -> list[minimal_operation.Drafted]:
        """The operations that would be committed now."""
        drafted = [
            minimal_operation.operation(id, working.before, working.after, working.written)
            for (_, _, id), working in self._working.items()
            if working.written
        ]
        return [operation for operation in drafted if operation is not None]

    def commit(self, extra: Mapping[str, Any] | None = None) -> Outcome[Landed | None]:
        """Show and send. The outcome is the verdict; None if there was nothing to commit."""
        self._check_open()
        try:
            self.outcome = self._submit(extra)
        except HoldfastError as error:
            self.outcome = Outcome.failed(error)
        finally:
            self._end("committed")
        return self.outcome

    def abort(self) -> None:
        """Roll back: end without a commit. A transaction that has ended stays as it is."""
        if not self._ended:
            self._end("aborted")

    def _submit(self, extra: Mapping[str, Any] | None) -> Outcome[Landed | None]:
        operations = self.operations()
        if not operations:
            return Outcome.of(None)
        for (space, branch, id), working in self._working.items():
            if not _alike(working.before, self._visible((space, branch, id))):
                return Outcome.failed(StorageTransactionInconsistent(id))
        assert self._writing is not None
        space, branch = self._writing
        reads = [read for there, read in self._reads if there == space]
        for operation in operations:
            # The position of a splice depends on the length that was read.
            reads += [
                Read(EntityId(operation["id"]), (*array, documents.LENGTH))
                for array in minimal_operation.splices(operation)
            ]
        verdict: Outcome[Any] = self._sessions[space].commit(
            operations, reads, branch, self._source, extra
        )
        return verdict

    def _end(self, how: str) -> None:
        self._ended = how
        if self._holding:
            self._holding = False
            for session in self._sessions.values():
                session.replica.end_hold()

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is not None:
            self.abort()
        elif not self._ended:
            outcome = self.commit()
            if outcome.settled:
                outcome.result()  # a commit that failed before it was sent

    # inside

    def _check_open(self) -> None:
        if self._ended:
            raise TransactionComplete(self._ended)

    def _place(self, id: str, space: str | None, branch: str | None) -> DocumentPlace:
        self._check_open()
        name = str(self._session.space) if space is None else space
        if name not in self._sessions:
            raise NotFound(id, ())
        on = self._branch if branch is None else BranchName(branch)
        return name, on, EntityId(id)

    def _open(self, place: DocumentPlace) -> _Working:
        if not self._holding:
            self._holding = True
            for session in self._sessions.values():
                session.replica.begin_hold()
        working = self._working.get(place)
        if working is None:
            document = self._visible(place)
            working = self._working[place] = _Working(document, document)
        return working

    def _visible(self, place: DocumentPlace) -> Any:
        space, branch, id = place
        if is_inline(id):
            return inline.document(id)
        document = self._sessions[space].replica.visible(id, branch)
        return MISSING if document is None else document


def _named(target: tuple[str, BranchName]) -> str:
    space, branch = target
    return f"branch {branch} of {space}" if branch else space


def _alike(one: Any, other: Any) -> bool:
    if one is MISSING or other is MISSING:
        return one is other
    return same(one, other)
