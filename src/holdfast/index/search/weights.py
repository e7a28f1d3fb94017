"""The weights of lanes and signals. Each can be switched off by name, for the ablation."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.index.search.query_analysis import Kind
from holdfast.index.search.roles import Role


class FieldWeights(msgspec.Struct, frozen=True):
    """BM25F: the weight of each field, and how strongly its length normalises it."""

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
    """BM25's k1: how quickly repetitions of a word stop counting."""

    def weights(self) -> tuple[float, ...]:
        """In the order of `Field`; callees are not searched."""
        return (
            self.name, self.owner, self.signature, self.doc, self.stem, self.directory, self.body,
            0.0,
        )  # fmt: skip

    def slopes(self) -> tuple[float, ...]:
        return (
            self.name_slope, 0.3, self.signature_slope, self.doc_slope, 0.3, 0.3, self.body_slope,
            0.0,
        )  # fmt: skip


class Shares(msgspec.Struct, frozen=True):
    """A weight for each kind of query."""

    symbol: float
    path: float
    error: float
    question: float
    mixed: float

    def of(self, kind: Kind) -> float:
        share: float = getattr(self, kind)
        return share


class Held(msgspec.Struct, frozen=True):
    """The factor for files of each role, unless the query asks for it."""

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

    @property
    def lowest(self) -> float:
        """The lowest factor of any role; 1 when roles are switched off."""
        lowest: float = min(getattr(self, one) for one in self.__struct_fields__)
        return lowest


class Weights(msgspec.Struct, frozen=True):
    """All weights of the ranking, in units of the best lexical score."""

    fields: FieldWeights = FieldWeights()
    lexical: float = 1.0
    dense: Shares = Shares(symbol=0.25, path=0.2, error=0.4, question=1.0, mixed=0.6)
    """The dense lane, relative to the lexical one."""

    stemmates: float = 0.5
    """A synonym or abbreviation of a query word."""
    prefix: float = 0.3
    """A word that only begins with a query word."""
    joined: float = 0.4
    """An identifier made of neighbouring words of the query."""

    definition: Shares = Shares(symbol=2.0, path=0.3, error=0.3, question=0.1, mixed=0.7)
    coverage: float = 0.4
    stem: float = 0.6
    file_coverage: float = 0.2
    file_words: Shares = Shares(symbol=0.0, path=0.0, error=0.3, question=0.3, mixed=0.3)
    """Zero for a symbol or a path: these ask for one place in the file."""
    file_meaning: float = 0.5
    """Relative to the weight of the dense lane."""
    coherence: float = 0.3
    central: Shares = Shares(symbol=0.2, path=0.0, error=0.2, question=0.2, mixed=0.2)
    changed: float = 0.05
    roles: Held = Held()
    older: float = 0.7
    """Factor for a file with a newer copy among the candidates, such as `v1beta1/` beside `v1/`."""
    header: float = 0.9
    """Factor for a C or C++ header with its source file among the candidates."""
    head: float = 0.9
    """Factor for the head of a class or other container, whose members are separate chunks."""
    brief: float = 0.85
    """Factor for functions of a few lines, and for equally short parts of headers."""
    prose: float = 0.85
    """Factor for chunks that are mostly doc comment, unless they are the head of a class."""
    declared: float = 0.6
    """Factor for a declaration whose body is a candidate too."""
    leader: float = 0.7
    """The share of the head's score from which on a function is promoted over it."""
    variant: float = 0.8
    """The share of a variant's score from which on the original file is put before it."""
    repeat: float = 0.8
    """Factor for each better-ranked chunk of the same file."""

    def of(self, signal: str, kind: Kind) -> float:
        """The weight of a signal for a kind of query."""
        weight: float | Shares = getattr(self, signal)
        return weight.of(kind) if isinstance(weight, Shares) else weight

    def without(self, signal: str) -> Weights:
        """The same weights with one lane or signal off."""
        off: object = 0.0
        if signal == "roles":
            off = Held(*(1.0 for _ in Held.__struct_fields__))
        elif signal in ("dense", "definition", "file_words", "central"):
            off = Shares(0.0, 0.0, 0.0, 0.0, 0.0)
        elif signal in (
            "older",
            "header",
            "head",
            "brief",
            "prose",
            "declared",
            "leader",
            "variant",
            "repeat",
        ):
            off = 1.0
        elif signal == "fields":
            off = FieldWeights(*(1.0 for _ in range(7)))
        elif signal not in SIGNALS:
            raise ValueError(f"unknown signal {signal!r}; expected one of {', '.join(SIGNALS)}")
        changes: dict[str, Any] = {signal: off}
        return replace(self, **changes)


SIGNALS: tuple[str, ...] = Weights.__struct_fields__
WEIGHTS = Weights()
