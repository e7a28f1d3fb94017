"""The confidence of an edge: the share of edges with its reason that a type checker agrees with.

The figures are the output of `python -m bench.calls` for the packages that it names, by language
family and reason. A reason with fewer than 40 judged edges takes the share of all such reasons
together. Languages without a type checker here keep the estimate that the resolver computes step by
step.
"""

from __future__ import annotations

HIGHEST = 0.99
"""The upper bound: a finite sample cannot show more."""

MEASURED: dict[str, dict[str, float]] = {
    "python": {
        "self": 0.99,
        "import": 0.99,
        "same file": 0.99,
        "field type": 0.99,
        "assigned from a call": 0.99,
        "declared type": 0.99,
        "same scope": 0.99,
        "inherited": 0.99,
        "super": 0.99,
        "assigned name": 0.99,
        "re-export": 0.99,
        "property": 0.99,
    },
    "js": {
        "import": 0.99,
        "same file": 0.99,
        "this": 0.99,
        "re-export": 0.99,
        "same scope": 0.99,
        "assigned from a call": 0.99,
        "inherited": 0.99,
        "field type": 0.99,
        "assigned name": 0.99,
        "super": 0.99,
        "declared type": 0.99,
        "alias": 0.99,
        "element": 0.99,
        "object literal": 0.98,
    },
}
RARE = {"python": 0.97, "js": 0.97}
"""For reasons with few judged edges: nearly all of them agree, but the sample is small."""
RAN: dict[str, dict[str, tuple[int, int]]] = {
    "python": {
        "passed as an argument": (69, 72),
        "called back": (19, 19),
        "decorated": (12, 12),
        "inherited constructor": (6, 6),
        "overridden in a subclass": (6, 7),
        "defined in a subclass": (4, 6),
        "run by the constructor": (3, 3),
        "name by its beginning": (2, 2),
        "defined or imported": (4, 6),
        "one of several": (96, 116),
        "held in a variable": (0, 1),
    },
    "js": {
        "passed as an argument": (32, 32),
        "called back": (20, 23),
        "inherited constructor": (1, 1),
        "overridden in a subclass": (3, 3),
        "one of several": (45, 56),
        "held in a variable": (7, 14),
    },
}
"""Right edges and all edges of reasons that a type checker judges rarely.

They were judged by programs whose calls were recorded while they ran, and by the few answers of
type checkers. A call of a variable whose value is unknown reaches a function without a name.
"""
FEW = 5
"""With fewer edges than this in one language, those of both count."""


def _share(family: str, reason: str) -> float:
    """One right and one wrong edge are added, because the samples are small."""
    if reason == "held in a variable":
        return 0.55  # the variable is named, not the function it holds: hardly more than a guess
    own = RAN[family].get(reason, (0, 0))
    both = [table.get(reason, (0, 0)) for table in RAN.values()]
    right, edges = own if own[1] >= FEW else (sum(r for r, _ in both), sum(n for _, n in both))
    return round((right + 1) / (edges + 2), 2)


VALUES = {
    family: {reason: _share(family, reason) for table in RAN.values() for reason in table}
    for family in RAN
}


def calibrated(family: str, reason: str, estimate: float) -> float:
    """The confidence to report for an edge."""
    measured = MEASURED.get(family)
    if measured is None:
        return round(estimate, 3)
    values = VALUES[family]
    found = measured.get(reason) or values.get(reason)
    if found is None:
        plain = reason.removesuffix(", inherited")
        found = measured.get(plain) or values.get(plain)
    return min(HIGHEST, found if found is not None else RARE[family])
