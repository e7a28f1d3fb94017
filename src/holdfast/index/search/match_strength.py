"""How well the best results match a query, from 0 to 1, independent of the rest of the tree.

The scores of a ranking are relative: the best of many bad results has the best score. Two values
are absolute: the share of the query's words that a chunk has, where words that occur nowhere count
too, and the similarity of its vector. Their mean is the strength of a match; a definition of the
requested symbol is a match by itself.

Of 228 labelled questions about 14 trees none is below `WEAK` (the weakest has 0.30); nearly
all of 140 nonsense queries on the same trees are. Of questions about other programs half are,
because they share words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.index.search.candidates import Candidates

WEAK = 0.28
"""Below this strength nothing matches well."""
LOOKED_AT = 10


def match_strength(candidates: Candidates, order: Sequence[int]) -> float:
    """The strength of the best match among the first results; `order` lists them, best first."""
    best = list(order[:LOOKED_AT])
    if not best:
        return 0.0
    lexical = candidates.lexical
    known = sum(word.weight for word in lexical.occurrences)
    asked = known + lexical.missing
    strength = float(candidates.coverage.chunk[best].max()) * known / asked if asked else 0.0
    if candidates.dense is not None:
        near = candidates.similarities[best]
        strength = (strength + max(0.0, float(near.max()))) / 2
    if candidates.analyzed.kind == "symbol":
        defined = candidates.spread(*candidates.definitions)[best]
        strength = max(strength, float(defined.max()))
    return min(1.0, strength)
