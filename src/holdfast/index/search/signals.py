"""What speaks for a candidate beside the lanes: for each row a number from 0 to 1."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holdfast.index.search.fields import FIELDS, Field
from holdfast.index.search.posting_segment import EXACT, KINDS
from holdfast.index.search.terms import parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.lexical import Lexical
    from holdfast.index.search.query_analysis import AnalyzedQuery

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

_LESS = frozenset({"module", "constant", "variable", "key", "property", "section", "namespace"})
"""Kinds of chunks whose names are seldom what is asked for."""
LESS_SHARE = 0.7
OWNER_MISSING = 0.4
"""What is left of a definition whose owner is not the one asked for."""


def definitions(analyzed: AnalyzedQuery, corpus: Corpus) -> tuple[Rows, Floats]:
    """Rows that define what is asked for by name, and how surely."""
    import numpy as np

    rows: list[Rows] = []
    worths: list[Floats] = []

    def add(term: str, share: float, owner: str = "") -> None:
        at, packed = corpus.entries(EXACT + term)
        if not len(at):
            return
        at = at[packed >> 5 == Field.NAME]
        worth = np.full(len(at), share)
        worth *= _kind_shares()[corpus.kinds[at]]
        if owner:
            named = np.zeros(corpus.rows, dtype=np.bool_)
            for form in (EXACT + owner, owner, parts(owner)[0] if parts(owner) else owner):
                found, fields = corpus.entries(form)
                field = fields >> 5
                near = (field == Field.NAME) | (field == Field.OWNER) | (field == Field.STEM)
                named[found[near]] = True
            worth[~named[at]] *= OWNER_MISSING
        rows.append(at)
        worths.append(worth)

    for name in analyzed.names:
        add(name.name, 1.0, name.owner)
    for joined in analyzed.joins:
        add(joined, 0.8)
    if analyzed.kind in ("question", "mixed") and not analyzed.names:
        # One word may be the very name, though it seldom is.
        for word in analyzed.words:
            add(word.text.lower(), 0.35)
    if not any(map(len, rows)):
        return np.empty(0, np.int64), np.empty(0)
    at, worth = np.concatenate(rows), np.concatenate(worths)
    order = np.lexsort((-worth, at))
    at, worth = at[order], worth[order]
    first = np.ones(len(at), dtype=np.bool_)
    np.not_equal(at[1:], at[:-1], out=first[1:])
    return at[first], worth[first]


@cache
def _kind_shares() -> Floats:
    """What is left of a definition of each kind, by the kind's stored number."""
    import numpy as np

    shares = np.ones(256)
    shares[[number for number, kind in enumerate(KINDS) if kind in _LESS]] = LESS_SHARE
    return shares


def stem_matches(analyzed: AnalyzedQuery, corpus: Corpus) -> tuple[Rows, Floats]:
    """Rows of files whose name is asked for, as a path or as a name."""
    import numpy as np

    asked = dict.fromkeys(analyzed.stems, 1.0)
    for name in analyzed.names:
        asked.setdefault(name.name, 0.6)
        if name.owner:
            asked.setdefault(name.owner, 0.8)
    for joined in analyzed.joins:
        asked.setdefault(joined, 0.8)
    rows, worths = [], []
    for term, share in asked.items():
        at, packed = corpus.entries(EXACT + term)
        if len(at):
            at = at[packed >> 5 == Field.STEM]
            rows.append(at)
            worths.append(np.full(len(at), share))
    if not rows:
        return np.empty(0, np.int64), np.empty(0)
    return np.concatenate(rows), np.concatenate(worths)


def agreements(lexical: Lexical, corpus: Corpus, rows: Rows) -> dict[str, Floats]:
    """How much of the query, by weight, each field of the rows has; and how much of the field.

    `coverage` is the share found anywhere in the chunk, `file_coverage` anywhere in its file.
    """
    import numpy as np

    place = np.full(corpus.rows, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    found = np.zeros((FIELDS, len(rows)))
    matched = np.zeros((FIELDS, len(rows)))
    anywhere = np.zeros(len(rows))
    in_file = np.zeros(len(corpus.files))
    here = np.empty((FIELDS, len(rows)))
    total = 0.0
    for word in lexical.occurrences:
        total += word.weight
        at = place.take(word.rows)
        # From the last on, so that the form that counts most is the one that stays.
        near = np.flatnonzero(at >= 0)[::-1]
        here.fill(0.0)
        here.reshape(-1)[word.fields[near] * np.int64(len(rows)) + at[near]] = word.worths[near]
        here[Field.CALL] = 0.0
        matched += here
        here *= word.weight
        found += here
        anywhere += here.max(axis=0)
        in_file += word.weight * (word.in_files > 0)
    total = total or 1.0
    lengths = np.maximum(corpus.lengths[rows].T, 1)
    share = found / total
    whole = np.minimum(matched / lengths, 1.0)
    return {
        "coverage": anywhere / total,
        "file_coverage": in_file[corpus.file_of[rows]] / total,
        "name": share[Field.NAME] * (0.5 + 0.5 * whole[Field.NAME]),
        "documentation": share[Field.DOC],
        "stem": share[Field.STEM] * (0.5 + 0.5 * whole[Field.STEM]),
        "directory": share[Field.DIRECTORY],
    }


def centrality(corpus: Corpus) -> NDArray[np.float32]:
    """How much each row is called, by name: 0 for never, 1 for the most called of the corpus.

    Calls are shared out among the definitions of a name, so that a name used everywhere for
    different things makes none of them central.
    """
    import numpy as np

    names = corpus.callables
    found = [
        (names.of(part.segment), first)
        for first, part in zip(corpus.firsts, corpus.parts, strict=True)
    ]
    total = len(names)  # Another search may add to them meanwhile.
    calls, defined = np.zeros(total), np.zeros(total)
    definitions = []
    for named, first in found:
        called = named.called[corpus.alive[named.called_in + first]]
        rows = named.defined_in + first
        living = corpus.alive[rows]
        definitions.append((named.defined[living], rows[living]))
        calls += np.bincount(called, minlength=total)
        defined += np.bincount(definitions[-1][0], minlength=total)
    worth = np.log1p(calls / np.maximum(defined, 1)).astype(np.float32)
    out = np.zeros(corpus.rows, dtype=np.float32)
    for terms, rows in definitions:
        np.maximum.at(out, rows, worth[terms])
    top = float(out.max(initial=0.0))
    return out / np.float32(top) if top else out
