"""How much each lane and signal weighs. Every one has a name, so that it can be left out alone."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from holdfast.index.search.query_analysis import Kind
from holdfast.index.search.roles import Role


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """BM25F: what a word counts in each field, and how much a long field takes from it."""

    name: float = 3.0
    owner: float = 0.8
    signature: float = 0.8
    doc: float = 2.0
    stem: float = 2.0
    directory: float = 1.0
    body: float = 1.0

    name_slope: float = 0.5
    signature_slope: float = 0.5
    doc_slope: float = 0.5
    body_slope: float = 0.4

    saturation: float = 2.0
    """BM25's k1: how soon more of the same word adds nothing."""

    def weights(self) -> tuple[float, ...]:
        """In the order of `Field`; names of callees are not searched."""
        return (
            self.name, self.owner, self.signature, self.doc, self.stem, self.directory, self.body,
            0.0,
        )  # fmt: skip

    def slopes(self) -> tuple[float, ...]:
        return (
            self.name_slope, 0.3, self.signature_slope, self.doc_slope, 0.3, 0.3, self.body_slope,
            0.0,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shares:
    """A weight for each kind of query."""

    symbol: float
    path: float
    error: float
    question: float
    mixed: float

    def of(self, kind: Kind) -> float:
        share: float = getattr(self, kind)
        return share


@dataclass(frozen=True, slots=True)
class Held:
    """What is left of a score in a file of each role that was not asked for."""

    test: float = 0.25
    example: float = 0.35
    document: float = 0.45
    generated: float = 0.35
    vendored: float = 0.4
    legacy: float = 0.5
    benchmark: float = 0.4
    declaration: float = 0.7
    barrel: float = 0.95
    build: float = 0.8
    data: float = 0.5

    def of(self, role: Role) -> float:
        share: float = getattr(self, role, 1.0)
        return share


@dataclass(frozen=True, slots=True)
class Weights:
    """The whole ranking. Signals are in units of the best lane score, which is 1."""

    fields: FieldWeights = FieldWeights()
    lexical: float = 1.0
    dense: Shares = Shares(symbol=0.25, path=0.2, error=0.4, question=1.0, mixed=0.6)
    """The dense lane beside a lexical one of 1."""

    stemmates: float = 0.5
    """What a word counts that programmers write for the asked one."""
    prefix: float = 0.3
    """What a word counts that only begins with the asked one."""
    joined: float = 0.4
    """What an identifier counts that is made of neighbouring words of the query."""

    definition: Shares = Shares(symbol=2.0, path=0.3, error=0.3, question=0.1, mixed=0.7)
    coverage: float = 0.4
    name: float = 0.1
    documentation: float = 0.1
    stem: float = 0.6
    directory: float = 0.15
    file_coverage: float = 0.2
    file_words: Shares = Shares(symbol=0.0, path=0.0, error=0.3, question=0.3, mixed=0.3)
    """The file as one text, by its words. A name or a path asks for one place in it."""
    file_meaning: float = 0.5
    """The file as one text, by its meaning: beside a dense lane of 1."""
    coherence: float = 0.2
    central: Shares = Shares(symbol=0.2, path=0.0, error=0.2, question=0.2, mixed=0.2)
    changed: float = 0.05
    roles: Held = Held()
    head: float = 0.9
    """What is left of a score for the head of a class or the like, whose members are chunks."""
    brief: float = 0.85
    """What is left of a score for a function of a few lines, or as much of a header."""
    declared: float = 0.6
    """What is left of a score for a declaration, whose body has all of it."""
    leader: float = 0.7
    """A function comes before the head of its file or class, if it has so much of its score."""
    repeat: float = 0.8
    """What is left of a score for each better chunk of the same file."""
    duplicate: float = 0.4
    """What is left of a score for a chunk that says the same as a better one."""

    def without(self, signal: str) -> Weights:
        """The same ranking with one lane or signal off."""
        off: object = 0.0
        if signal == "roles":
            off = Held(*(1.0 for _ in fields(Held)))
        elif signal in ("dense", "definition", "file_words", "central"):
            off = Shares(0.0, 0.0, 0.0, 0.0, 0.0)
        elif signal in ("head", "brief", "declared", "leader", "repeat", "duplicate"):
            off = 1.0
        elif signal == "fields":
            off = FieldWeights(*(1.0 for _ in range(7)))
        elif signal not in SIGNALS:
            raise ValueError(f"there is no signal {signal!r}; one of: {', '.join(SIGNALS)}")
        changes: dict[str, Any] = {signal: off}
        return replace(self, **changes)


SIGNALS: tuple[str, ...] = tuple(one.name for one in fields(Weights))
WEIGHTS = Weights()
