"""The parts of a replica: confirmed documents, layers of own commits, and notifications.

visible = confirmed ⊕ layer ⊕ layer ⊕ …
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from holdfast.ids import GENESIS, BranchName, EntityId, LocalSeq, Seq
from holdfast.store import delta, patch
from holdfast.store.delta import MISSING, ValueChange
from holdfast.store.errors import PatchError
from holdfast.store.model import Document, Operation
from holdfast.sync.client.outbox import Base
from holdfast.sync.client.reads import Basis

Key = tuple[BranchName, EntityId]

Kind = Literal["commit", "revert", "integrate", "pull", "reset", "load"]


@dataclass(frozen=True, slots=True)
class Manner:
    """What the server supports, which decides what a replica may conclude.

    `layered`: the server understands reads that name every layer. `covered`: `toSeq` promises that
    all watched changes up to it were sent. `cascade`: refuse dependants here, with their cause.
    """

    layered: bool = True
    covered: bool = True
    cascade: bool = True
    shapes: bool = True


SOUND = Manner()
ORIGINAL = Manner(layered=False, covered=False, cascade=False, shapes=False)
"""The protocol's first version: scalar pending reads, accepted layers folded at once."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One commit's writes to one document, in order. `landed` is its seq once it is accepted."""

    local_seq: LocalSeq
    operations: tuple[Operation, ...]
    landed: Seq | None = None
    orphaned: bool = False

    @property
    def replaces(self) -> bool:
        """Whether the result does not depend on what is below."""
        return any(operation.op != "patch" for operation in self.operations)

    def over(self, document: Document | None) -> Document | None:
        """The document with this layer on top; `PatchError` if it does not apply."""
        operations = self.operations
        for place in range(len(operations) - 1, 0, -1):
            if operations[place].op != "patch":
                operations = operations[place:]
                break
        for operation in operations:
            match operation.op:
                case "set":
                    document = operation.data
                case "delete":
                    document = None
                case "patch":
                    document = patch.apply_to_document(document, operation.data)
        return document


@dataclass(slots=True)
class Record:
    """One document: what is confirmed, and the layers above, oldest first."""

    seq: Seq = GENESIS
    document: Document | None = None
    watched: bool = False
    layers: list[Layer] = field(default_factory=list)

    @classmethod
    def based_on(cls, base: Base) -> Record:
        """A record as restored from an outbox."""
        layers = [
            Layer(LocalSeq(local_seq), tuple(Operation(*op) for op in operations), Seq(seq))
            for local_seq, seq, operations in base.landed
        ]
        return cls(Seq(base.seq), base.document, layers=layers)

    def base(self, branch: BranchName, id: EntityId) -> Base:
        """The durable part of it, for an outbox."""
        landed = tuple(
            (layer.local_seq, layer.landed, [list(operation) for operation in layer.operations])
            for layer in self.layers
            if layer.landed is not None and not layer.orphaned
        )
        return Base(branch, id, self.seq, self.document, landed)

    def visible(self) -> Document | None:
        return self._replayed()[0]

    @property
    def basis(self) -> Basis:
        """What a read of this document depends on.

        A layer that does not apply was not shown, so it is not named. If it lands after all, on a
        document we have not seen, it is a write like any other, and the read was stale.
        """
        applied = self._replayed()[1]
        return Basis(self.seq, tuple(x.local_seq for x in applied if not x.orphaned))

    def _replayed(self) -> tuple[Document | None, list[Layer]]:
        document, applied = self.document, []
        for layer in self.layers:
            try:
                document = layer.over(document)
            except PatchError:
                continue
            applied.append(layer)
        return document, applied


@dataclass(frozen=True)
class Notification:
    """Something happened to visible documents: what each was before and is after."""

    kind: Kind
    documents: Mapping[Key, tuple[Document | None, Document | None]]
    reason: Exception | None = None
    source: object = None

    @cached_property
    def changes(self) -> dict[Key, list[ValueChange]]:
        """For each document the smallest paths that differ; unchanged documents are left out."""
        changes = {}
        for key, (before, after) in self.documents.items():
            differing = delta.changes(
                MISSING if before is None else before, MISSING if after is None else after
            )
            if differing:
                changes[key] = differing
        return changes

    @property
    def ids(self) -> list[EntityId]:
        """The documents that look different now, by id."""
        return sorted({id for _, id in self.changes})


Listener = Callable[[Notification], None]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A commit that is reverted, and why."""

    local_seq: LocalSeq
    error: Exception
