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
        "called back": (19, 20),
        "called back on an event": (0, 1),
        "decorated": (19, 19),
        "inherited constructor": (15, 15),
        "overridden in a subclass": (32, 37),
        "super past an unknown class": (0, 0),
        "abstract": (0, 1),
        "defined in a subclass": (4, 6),
        "run by the constructor": (8, 8),
        "overridden in every subclass": (1, 11),
        "name by its beginning": (2, 2),
        "defined or imported": (4, 6),
        "any element": (23, 23),
        "one of several": (102, 156),
        "held in a variable": (0, 2),
    },
    "js": {
        "passed as an argument": (44, 46),
        "called back": (31, 31),
        "called back on an event": (1, 7),
        "inherited constructor": (8, 8),
        "overridden in a subclass": (25, 30),
        "overridden in every subclass": (4, 15),
        "any element": (26, 29),
        "one of several": (58, 101),
        "held in a variable": (7, 14),
    },
}
"""Right edges and all edges of reasons that a type checker judges rarely.

They were judged by programs whose calls were recorded while they ran, and by the few answers of
type checkers. A call of a variable whose value is unknown reaches a function without a name.
"""
FIXED = {
    "held in a variable": 0.55,  # the variable is named, not the function it holds
    "called back on an event": 0.55,  # the line registers the function, another line runs it
    "super past an unknown class": 0.65,  # as one of several
    "may have been replaced": 0.6,  # other code deletes, replaces or moves it
    "overridden in every subclass": 0.6,  # a type checker names it, most programs run others
    "abstract": 0.55,  # a type checker names it, but what runs is an override
}
"""Hardly more than a guess, although most are named for a reason."""
FEW = 5
"""With fewer edges than this in one language, those of both count."""


def _share(family: str, reason: str) -> float:
    """One right and one wrong edge are added, because the samples are small."""
    if reason in FIXED:
        return FIXED[reason]
    own = RAN[family].get(reason, (0, 0))
    both = [table.get(reason, (0, 0)) for table in RAN.values()]
    right, edges = own if own[1] >= FEW else (sum(r for r, _ in both), sum(n for _, n in both))
    return round((right + 1) / (edges + 2), 2)


_REASONS = {*FIXED, *(reason for table in RAN.values() for reason in table)}
VALUES = {family: {reason: _share(family, reason) for reason in _REASONS} for family in RAN}


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
