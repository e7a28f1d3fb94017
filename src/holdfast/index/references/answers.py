"""The answers about references, as frozen types."""

from __future__ import annotations

from holdfast.answers import Part
from holdfast.index.answers import CallNode, Hints, IndexingProgress, Status


class ReferencePlace(Part, frozen=True):
    """One place that refers to a symbol. `symbol_label` is what it stands in, say a function."""

    file: str
    line: int
    kind: str
    confidence: float
    reason: str
    text: str
    symbol_id: str
    symbol_label: str


class KindCount(Part, frozen=True):
    """How many references of one kind there are, shown or not."""

    kind: str
    count: int


class ReferencesAnswer(Part, frozen=True, kw_only=True):
    """The answer of references. `undecided` counts mentions whose receiver has no known type."""

    status: Status
    reason: str | None = None
    path: str
    symbol: str
    relation: str
    definitions: tuple[CallNode, ...] = ()
    references: tuple[ReferencePlace, ...] = ()
    implementations: tuple[CallNode, ...] = ()
    counts: tuple[KindCount, ...] = ()
    total: int = 0
    undecided: int = 0
    undecided_places: tuple[ReferencePlace, ...] = ()
    unread: tuple[str, ...] = ()
    complete: bool = True
    warnings: tuple[str, ...] = ()
    message: str | None = None
    hints: Hints | None = None
    indexing: IndexingProgress | None = None
