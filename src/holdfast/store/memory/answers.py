"""What the verbs of memory return. Each answer is frozen; `to_wire()` is its JSON form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.ids import Seq
from holdfast.store.model import Applied, Branch, State

if TYPE_CHECKING:
    from holdfast.store.branch_merge import DocumentDiff
    from holdfast.store.history import LogEntry
    from holdfast.store.merge import Clash


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document, or what it has at `pointer`."""

    state: State
    pointer: str
    part: Any

    def to_wire(self) -> dict[str, Any]:
        return {**self.state.to_wire(), "document": self.part}


@dataclass(frozen=True, slots=True)
class MissingDocument:
    """There is no such document, at the seq if one was asked for."""

    id: str
    seq: int | None

    def __str__(self) -> str:
        return f"there is no {self.id}" + ("" if self.seq is None else f" at seq {self.seq}")


@dataclass(frozen=True, slots=True)
class MissingPart:
    """The document exists, but has nothing at `pointer`."""

    id: str
    pointer: str
    likely: str | None = None
    """The same place inside `value`, if there is something there."""

    def __str__(self) -> str:
        suggestion = "" if self.likely is None else f"; did you mean {self.likely}?"
        return f"{self.id} has nothing at {self.pointer}{suggestion}"


@dataclass(frozen=True, slots=True)
class DocumentList:
    """Documents of a branch, by id, as of one seq."""

    states: tuple[State, ...]
    more: bool = False

    def to_wire(self) -> list[dict[str, Any]]:
        return [state.to_wire() for state in self.states]


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """One result of a search for documents."""

    id: str
    seq: int
    document: Any

    def to_wire(self) -> dict[str, Any]:
        return {"id": self.id, "seq": self.seq, "document": self.document}


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """One page of the documents that match a search; `total` counts all pages."""

    newest_seq: Seq
    documents: tuple[FoundDocument, ...]
    total: int

    @property
    def more(self) -> bool:
        return self.total > len(self.documents)

    def to_wire(self) -> dict[str, Any]:
        return {
            "seq": self.newest_seq,
            "documents": [document.to_wire() for document in self.documents],
            "total": self.total,
        }


@dataclass(frozen=True, slots=True)
class History:
    """Commits, newest first, perhaps only those that wrote document `id`."""

    id: str | None
    entries: tuple[LogEntry, ...]
    more: bool
    """Whether there are older ones."""

    def to_wire(self) -> list[dict[str, Any]]:
        return [entry.to_wire() for entry in self.entries]


@dataclass(frozen=True, slots=True)
class Branches:
    """Every branch of a space, deleted ones too, by name."""

    branches: tuple[Branch, ...]
    merged: frozenset[str] = frozenset()
    """The closed branches that were merged completely."""

    def to_wire(self) -> list[dict[str, Any]]:
        return [branch.to_wire() for branch in self.branches]


@dataclass(frozen=True, slots=True)
class BranchCreated:
    """A branch that was forked."""

    branch: Branch

    def to_wire(self) -> dict[str, Any]:
        return self.branch.to_wire()


@dataclass(frozen=True, slots=True)
class BranchDeleted:
    """A branch that no longer accepts writes."""

    branch: Branch

    def to_wire(self) -> dict[str, Any]:
        return self.branch.to_wire()


@dataclass(frozen=True, slots=True)
class BranchDiff:
    """Every document that differs between two points."""

    documents: tuple[DocumentDiff, ...]

    def to_wire(self) -> list[dict[str, Any]]:
        return [document.to_wire() for document in self.documents]


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge that was committed; `applied` is None when there was nothing to merge."""

    source: str
    target: str
    applied: Applied | None
    closed: bool = False
    """Whether the source branch no longer accepts writes."""

    def to_wire(self) -> dict[str, Any] | None:
        if self.applied is None:
            return None
        return {**self.applied.to_wire(), "merged": self.source, "closed": self.closed}


@dataclass(frozen=True, slots=True)
class MergePreview:
    """What a merge would write."""

    operations: tuple[dict[str, Any], ...]

    def to_wire(self) -> dict[str, Any]:
        return {"operations": list(self.operations), "conflicts": []}


@dataclass(frozen=True, slots=True)
class MergeConflicts:
    """The places that both branches changed; nothing was written."""

    source: str
    target: str
    clashes: tuple[Clash, ...]
    operations: tuple[dict[str, Any], ...]

    def to_wire(self) -> dict[str, Any]:
        return {
            "operations": list(self.operations),
            "conflicts": [clash.to_wire() for clash in self.clashes],
        }
