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
        "field type": 0.96,
        "assigned from a call": 0.99,
        "declared type": 0.99,
        "same scope": 0.99,
        "inherited": 0.99,
        "super": 0.99,
        "assigned name": 0.98,
        "re-export": 0.99,
    },
    "js": {
        "import": 0.99,
        "same file": 0.99,
        "this": 0.99,
        "re-export": 0.99,
        "same scope": 0.99,
        "assigned from a call": 0.97,
        "inherited": 0.99,
        "field type": 0.99,
        "assigned name": 0.97,
        "super": 0.99,
        "declared type": 0.99,
        "alias": 0.99,
        "element": 0.99,
        "object literal": 0.98,
    },
}
RARE = {"python": 0.97, "js": 0.97}
"""For reasons with few judged edges: nearly all of them agree, but the sample is small."""
RAN = {
    "passed as an argument": (85, 88),
    "called back": (35, 37),
    "decorated": (8, 8),
    "inherited constructor": (4, 4),
    "defined in a subclass": (4, 4),
    "name by its beginning": (2, 2),
    "defined or imported": (1, 1),
    "held in a variable": (0, 5),
}
"""Right edges and all edges of reasons that a type checker judges rarely.

They were judged by programs whose calls were recorded while they ran, and by the few answers of
type checkers. A call of a variable whose value is unknown reaches a function without a name.
"""
VALUES = {reason: round((right + 1) / (edges + 2), 2) for reason, (right, edges) in RAN.items()}
"""Their confidence: one right and one wrong edge more, because the samples are small."""
VALUES["held in a variable"] = 0.55
"""The variable is named, not the function that it holds: hardly more than a guess."""


def calibrated(family: str, reason: str, estimate: float) -> float:
    """The confidence to report for an edge."""
    measured = MEASURED.get(family)
    if measured is None:
        return round(estimate, 3)
    found = measured.get(reason) or VALUES.get(reason)
    if found is None:
        plain = reason.removesuffix(", inherited")
        found = measured.get(plain) or VALUES.get(plain)
    return min(HIGHEST, found if found is not None else RARE[family])
