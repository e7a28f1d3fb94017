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


class CallEdgeLine(Part, frozen=True):
    """A call from or to a symbol: the other symbol, and the line of the call."""

    node: CallNode
    file: str
    line: int
    confidence: float
    reason: str
    text: str | None = None


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


class ImpactTest(Part, frozen=True):
    """A test that reaches changed symbols."""

    file: str
    symbol_label: str
    line: int
    reaches: tuple[str, ...]


class ExploredSymbol(Part, frozen=True, kw_only=True):
    """One symbol, and what is around it. `text` is its source, folded where it is long."""

    symbol: CallNode
    signature: str
    doc: str = ""
    text: str = ""
    folded: bool = False
    members: tuple[CallNode, ...] = ()
    callers: tuple[CallEdgeLine, ...] = ()
    callees: tuple[CallEdgeLine, ...] = ()
    unresolved_calls: int = 0
    references: tuple[ReferencePlace, ...] = ()
    counts: tuple[KindCount, ...] = ()
    undecided: int = 0
    implementations: tuple[CallNode, ...] = ()
    tests: tuple[ImpactTest, ...] = ()
    complete: bool = True


class ExploreAnswer(Part, frozen=True, kw_only=True):
    """The answer of explore: everything about the symbols of a name, in one answer."""

    status: Status
    reason: str | None = None
    path: str
    symbol: str
    found: tuple[ExploredSymbol, ...] = ()
    others: tuple[CallNode, ...] = ()
    """Symbols of the name that are not explored here."""
    message: str | None = None
    hints: Hints | None = None
    indexing: IndexingProgress | None = None


class ImpactedSymbol(Part, frozen=True, kw_only=True):
    """A symbol that a change touches, and what depends on it."""

    symbol_label: str
    kind: str
    file: str
    line: int
    change: str
    symbol_id: str | None = None
    callers: tuple[CallNode, ...] = ()
    more_callers: int = 0
    references: tuple[ReferencePlace, ...] = ()
    more_references: int = 0
    broken: tuple[ReferencePlace, ...] = ()
    """Mentions of a removed symbol that mean nothing else now."""


class ImpactAnswer(Part, frozen=True, kw_only=True):
    """The answer of impact: what changed since a revision, and what depends on it."""

    status: Status
    reason: str | None = None
    path: str
    since: str
    commit: str = ""
    files: tuple[str, ...] = ()
    symbols: tuple[ImpactedSymbol, ...] = ()
    total: int = 0
    tests: tuple[ImpactTest, ...] = ()
    unread: tuple[str, ...] = ()
    complete: bool = True
    message: str | None = None
    hints: Hints | None = None
    indexing: IndexingProgress | None = None


class SymbolEditDoubt(Part, frozen=True):
    """A place that is in doubt: it is changed only when it was confirmed."""

    file: str
    line: int
    why: str
    text: str


class SymbolEditAnswer(Part, frozen=True, kw_only=True):
    """The preview of an edit of a symbol, or what was applied."""

    status: Status
    reason: str | None = None
    path: str
    symbol: str
    action: str
    applied: bool
    diff: str = ""
    token: str = ""
    files: tuple[str, ...] = ()
    places: int = 0
    doubts: tuple[SymbolEditDoubt, ...] = ()
    notes: tuple[str, ...] = ()
    message: str | None = None
    hints: Hints | None = None
    indexing: IndexingProgress | None = None
