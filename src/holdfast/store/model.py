"""The nouns of the store: commits and what they read, revisions, heads, branches.

A commit arrives as the JSON object a client sent. `Commit.parse` turns it into types once; after
that nothing in the store looks into raw messages. Members it does not know stay in `original` and
are otherwise ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from holdfast.ids import MAIN, BranchName, EntityId, LocalSeq, Seq, SessionId
from holdfast.store.errors import NotPermitted, TransactionError
from holdfast.store.pointer import Path

Document = dict[str, Any]
"""A stored document: a JSON object; by convention `value` is its payload, `source` its origin."""

OpKind = Literal["set", "patch", "delete"]

NAME_BYTES_MAX = 1024
"""The longest id, branch name or session id that both engines can index."""

_LISTS = (list, tuple)
"""Accepted list types, as one constant because every parse checks several."""

GENESIS = Seq(0)
"""Before the first commit."""

DELETED = "deleted"
ACTIVE = "active"


new_tuple = tuple.__new__
"""Creates a named tuple from all its members in half the time of calling its class; a commit
creates several."""


class Operation(NamedTuple):
    """One write of a commit. `data` is the document of a set, the list of a patch, or None."""

    op: OpKind
    id: EntityId
    data: Any = None


class ConfirmedRead(NamedTuple):
    """The session read `path` of `id` as of `seq`.

    A shape read saw which members exist, not their values.
    """

    id: EntityId
    path: Path
    seq: Seq
    branch: BranchName | None = None
    shape: bool = False


@dataclass(frozen=True, slots=True)
class PendingRead:
    """The session read `path` of `id` through its own commits `layers`, above seq `basis`.

    The legacy form has one layer and no basis. It cannot detect a write below the layer, so our
    client never sends it.
    """

    id: EntityId
    path: Path
    layers: tuple[LocalSeq, ...]
    basis: Seq | None = None
    shape: bool = False
    legacy: bool = False


class Commit(NamedTuple):
    """Operations that land together or not at all, and the reads they depend on."""

    local_seq: LocalSeq
    operations: tuple[Operation, ...]
    confirmed: tuple[ConfirmedRead, ...] = ()
    pending: tuple[PendingRead, ...] = ()
    branch: BranchName = MAIN

    @classmethod
    def parse(cls, message: Any) -> Commit:
        """The typed form of a client's commit object."""
        if not isinstance(message, dict):
            raise TransactionError("a commit must be a JSON object")
        operations = message.get("operations")
        if not isinstance(operations, _LISTS) or not operations:
            raise TransactionError("memory v2 commit requires at least one operation")
        reads = message.get("reads")
        if reads is not None and not isinstance(reads, dict):
            raise TransactionError("commit.reads is not an object")
        local_seq = _whole(message.get("localSeq"), "commit.localSeq", least=1)
        parsed = tuple([_operation(entry) for entry in operations])
        confirmed: tuple[ConfirmedRead, ...] = ()
        pending: tuple[PendingRead, ...] = ()
        if reads:
            entries = _entries(reads, "confirmed")
            if entries:
                confirmed = tuple([_confirmed(entry) for entry in entries])
            entries = _entries(reads, "pending")
            if entries:
                pending = tuple([_pending(entry) for entry in entries])
        branch = _text(message.get("branch", ""), "commit.branch")
        return new_tuple(cls, (local_seq, parsed, confirmed, pending, branch))


class Revision(NamedTuple):
    """One stored write, identified by branch, document, seq and index in the commit."""

    branch: BranchName
    id: EntityId
    seq: Seq
    op_index: int
    op: OpKind
    data: Any

    def to_wire(self) -> dict[str, Any]:
        return _revision_wire(*self)


def _revision_wire(
    branch: BranchName, id: EntityId, seq: Seq, op_index: int, op: OpKind, data: Any
) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "id": id,
        "branch": branch,
        "seq": seq,
        "opIndex": op_index,
        "commitSeq": seq,
        "op": op,
    }
    if op == "set":
        wire["document"] = data
    elif op == "patch":
        wire["patches"] = data
    return wire


class Applied(NamedTuple):
    """An accepted commit, and the seq it landed at."""

    seq: Seq
    commit: Commit
    replayed: bool = False

    @property
    def branch(self) -> BranchName:
        return self.commit.branch

    @property
    def revisions(self) -> tuple[Revision, ...]:
        """The revisions that the commit wrote; built on demand, because few callers need them."""
        branch, seq = self.commit.branch, self.seq
        return tuple(
            [
                Revision(branch, id, seq, index, op, data)
                for index, (op, id, data) in enumerate(self.commit.operations)
            ]
        )

    @property
    def ids(self) -> list[EntityId]:
        """The documents that the commit wrote, in its order."""
        return [id for _, id, _ in self.commit.operations]

    def to_wire(self) -> dict[str, Any]:
        branch, seq = self.commit.branch, self.seq
        return {
            "seq": seq,
            "branch": branch,
            "revisions": [
                _revision_wire(branch, id, seq, index, op, data)
                for index, (op, id, data) in enumerate(self.commit.operations)
            ],
        }


Problem = tuple[str, str]
"""The message and the hint of a refusal."""


class Guard(NamedTuple):
    """A document of the default branch that decides whether a write is permitted.

    The caller has already checked the document as of `seq`. If it was written since, `judge` is
    called again in the transaction that would land the write.
    """

    id: EntityId
    seq: Seq
    judge: Callable[[Document | None], Problem | None]

    def hold(self, document: Document | None) -> None:
        """Raise why the write may not land."""
        problem = self.judge(document)
        if problem is not None:
            raise NotPermitted(*problem)


class State(NamedTuple):
    """A document at a seq: its newest revision there, and its content."""

    id: EntityId
    branch: BranchName
    seq: Seq
    op_index: int
    op: OpKind
    document: Document | None

    def to_wire(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "branch": self.branch,
            "seq": self.seq,
            "opIndex": self.op_index,
            "op": self.op,
            "document": self.document,
        }


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of history: its own revisions, and below them its parent's up to `fork_seq`."""

    name: BranchName
    parent: BranchName | None
    fork_seq: Seq | None
    created_seq: Seq
    head_seq: Seq
    status: str = ACTIVE
    created_at: str = ""
    deleted_at: str | None = None
    oldest_seq: Seq = GENESIS
    """The oldest seq it can be read at: what was before was removed by retention."""

    @property
    def first_seq(self) -> Seq:
        """The oldest seq this branch can be read or forked at."""
        least = Seq(0) if self.name == MAIN else self.created_seq
        return max(least, self.oldest_seq)

    def to_wire(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "parentBranch": self.parent,
            "forkSeq": self.fork_seq,
            "createdSeq": self.created_seq,
            "headSeq": self.head_seq,
            "status": self.status,
        }


class CommitKey(NamedTuple):
    """The key of a commit, known before it lands."""

    session: SessionId
    local_seq: LocalSeq


def lifecycle_of(message: Any) -> Mapping[str, Any] | None:
    """The branch change of a stored commit, if it is a lifecycle commit.

    A client's commit has operations; one that also has a member of this name is still a commit.
    """
    if not isinstance(message, Mapping) or "operations" in message:
        return None
    if not isinstance(message.get("branchLifecycle"), Mapping):
        return None
    act: Mapping[str, Any] = message["branchLifecycle"]
    return act


def _entries(reads: Mapping[str, Any], kind: str) -> Sequence[Any]:
    entries = reads.get(kind, ())
    if not isinstance(entries, _LISTS):
        raise TransactionError(f"commit.reads.{kind} is not a list")
    return entries


# These return `Any`, and the caller's annotation says which kind of number or name it is: calling a
# `NewType` for each would take a tenth of the time of parsing a commit.


def _whole(value: Any, what: str, least: int = 0) -> Any:
    if type(value) is int and least <= value <= 2**53 - 1:
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 2**53 - 1:
        raise TransactionError(f"{what} is not a whole number of at least {least}")
    return value


def _text(value: Any, what: str) -> Any:
    if not isinstance(value, str):
        raise TransactionError(f"{what} is not a string")
    return value


def _id(entry: Any, what: str) -> EntityId:
    if not isinstance(entry, dict):
        raise TransactionError(f"{what} is not an object")
    name: Any = entry.get("id")
    # Most ids pass here: calling a function for each takes a measurable part of a commit.
    if type(name) is not str or not name.isascii() or len(name) > 64 or not name or "\0" in name:
        problem = name_problem(name)
        if problem:
            raise TransactionError(f"{what}.id is not a document id: it {problem}")
    id: EntityId = name
    return id


def name_problem(name: Any) -> str:
    """Why this is not a valid id, branch or session; empty if it is."""
    if type(name) is str and name.isascii() and 0 < len(name) <= NAME_BYTES_MAX:
        return "has a NUL character" if "\0" in name else ""
    if name == "":
        return "is empty"
    problem = text_problem(name)
    if problem:
        return problem
    size = len(name) if name.isascii() else len(name.encode())
    return f"is longer than {NAME_BYTES_MAX} bytes" if size > NAME_BYTES_MAX else ""


def text_problem(text: Any) -> str:
    """Why an engine could not compare this with a name; empty if both can."""
    if not isinstance(text, str):
        return "is not a string"
    if "\0" in text:
        return "has a NUL character"
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "has a lone surrogate"
    return ""


def _path(entry: Mapping[str, Any], what: str) -> Path:
    path = entry.get("path", ())
    if not isinstance(path, _LISTS):
        raise TransactionError(f"{what}.path is not a list of strings")
    for token in path:
        if not isinstance(token, str):
            raise TransactionError(f"{what}.path is not a list of strings")
    return tuple(path)


def _operation(entry: Any) -> Operation:
    name = _id(entry, "operation")
    kind = entry.get("op")
    if kind == "set":
        value = entry.get("value")
        if not isinstance(value, dict):
            raise TransactionError(
                "set operations require explicit document objects",
                hint='wrap a payload as {"value": …}',
            )
        return new_tuple(Operation, ("set", name, value))
    if kind == "patch":
        patches = entry.get("patches")
        if not isinstance(patches, list):
            raise TransactionError("a patch operation needs a list of patches")
        return new_tuple(Operation, ("patch", name, patches))
    if kind == "delete":
        return Operation("delete", name)
    spelling = kind if isinstance(kind, str) else f"a {type(kind).__name__}"
    raise TransactionError(f"unknown operation: {spelling}", hint="known: set, patch, delete")


def _confirmed(entry: Any) -> ConfirmedRead:
    name = _id(entry, "confirmed read")
    branch = entry.get("branch")
    return ConfirmedRead(
        name,
        _path(entry, "confirmed read"),
        _whole(entry.get("seq"), "confirmed read.seq"),
        None if branch is None else _text(branch, "confirmed read.branch"),
        entry.get("nonRecursive") is True,
    )


def _pending(entry: Any) -> PendingRead:
    name = _id(entry, "pending read")
    local_seqs = entry.get("localSeq")
    layers = local_seqs if isinstance(local_seqs, list) else [local_seqs]
    if not layers:
        raise TransactionError("pending read.localSeq must not be empty")
    basis = entry.get("basisSeq")
    return PendingRead(
        id=name,
        path=_path(entry, "pending read"),
        layers=tuple([_whole(n, "pending read.localSeq", least=1) for n in layers]),
        basis=None if basis is None else _whole(basis, "pending read.basisSeq"),
        shape=entry.get("nonRecursive") is True,
        legacy=basis is None and not isinstance(local_seqs, list),
    )
