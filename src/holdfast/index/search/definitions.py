"""Rows that define a name the query asks for, and rows of files that are called so."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holdfast.index.search.fields import Field
from holdfast.index.search.posting_segment import EXACT, KINDS
from holdfast.index.search.terms import parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.query_analysis import AnalyzedQuery

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

_MINOR_KINDS = frozenset(
    {"module", "constant", "variable", "key", "property", "section", "namespace"}
)
"""Kinds of chunks whose names are seldom the ones asked for."""
MINOR_KIND = 0.7
OTHER_OWNER = 0.4
"""How certain a definition is when its owner is not the one in the query."""
JOINED_WORDS = 0.8
SINGLE_WORD = 0.35
"""A word of a natural question may be a symbol's name, although it seldom is."""
STEM_OF_NAME, STEM_OF_OWNER = 0.6, 0.8


def defined_rows(analyzed: AnalyzedQuery, corpus: Corpus) -> tuple[Rows, Floats]:
    """Rows that define an asked name, each once, and how certain that is, from 0 to 1."""
    import numpy as np

    rows: list[Rows] = []
    certainties: list[Floats] = []

    def add(term: str, certainty: float, owner: str = "") -> None:
        at, packed = corpus.entries(EXACT + term)
        if not len(at):
            return
        at = at[packed >> 5 == Field.NAME]
        certain = np.full(len(at), certainty)
        certain *= _by_kind()[corpus.kinds[at]]
        if owner:
            certain[~_belongs_to(owner, corpus)[at]] *= OTHER_OWNER
        rows.append(at)
        certainties.append(certain)

    for name in analyzed.names:
        add(name.name, 1.0, name.owner)
    for joined in analyzed.joins:
        add(joined, JOINED_WORDS)
    if analyzed.kind in ("question", "mixed") and not analyzed.names:
        for word in analyzed.words:
            add(word.text.lower(), SINGLE_WORD)
    if not any(map(len, rows)):
        return np.empty(0, np.int64), np.empty(0)
    at, certain = np.concatenate(rows), np.concatenate(certainties)
    order = np.lexsort((-certain, at))
    at, certain = at[order], certain[order]
    first = np.ones(len(at), dtype=np.bool_)
    np.not_equal(at[1:], at[:-1], out=first[1:])
    return at[first], certain[first]


def _belongs_to(owner: str, corpus: Corpus) -> NDArray[np.bool_]:
    """For every row, whether its symbol, its owner or its file has this name."""
    import numpy as np

    named = np.zeros(corpus.rows, dtype=np.bool_)
    for form in (EXACT + owner, owner, parts(owner)[0] if parts(owner) else owner):
        rows, packed = corpus.entries(form)
        field = packed >> 5
        near = (field == Field.NAME) | (field == Field.OWNER) | (field == Field.STEM)
        named[rows[near]] = True
    return named


@cache
def _by_kind() -> Floats:
    """How certain a definition of each kind is, by the kind's stored number."""
    import numpy as np

    certainty = np.ones(256)
    minor = [number for number, kind in enumerate(KINDS) if kind in _MINOR_KINDS]
    certainty[minor] = MINOR_KIND
    return certainty


def rows_of_named_files(analyzed: AnalyzedQuery, corpus: Corpus) -> tuple[Rows, Floats]:
    """Rows of files whose name is in the query, as a path or as a symbol, and how certain."""
    import numpy as np

    asked = dict.fromkeys(analyzed.stems, 1.0)
    for name in analyzed.names:
        asked.setdefault(name.name, STEM_OF_NAME)
        if name.owner:
            asked.setdefault(name.owner, STEM_OF_OWNER)
    for joined in analyzed.joins:
        asked.setdefault(joined, JOINED_WORDS)
    rows, certainties = [], []
    for term, certainty in asked.items():
        at, packed = corpus.entries(EXACT + term)
        if len(at):
            at = at[packed >> 5 == Field.STEM]
            rows.append(at)
            certainties.append(np.full(len(at), certainty))
    if not rows:
        return np.empty(0, np.int64), np.empty(0)
    return np.concatenate(rows), np.concatenate(certainties)
