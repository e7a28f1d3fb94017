"""How often the names that a chunk defines are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus


def centrality(corpus: Corpus) -> NDArray[np.float32]:
    """For each row, from 0 for never called to 1 for the most called of the corpus.

    Calls are divided among the definitions of a name, so a name that many files use for different
    things makes none of them central.
    """
    import numpy as np

    names = corpus.names
    found = [
        (names.of(part.segment), first)
        for first, part in zip(corpus.firsts, corpus.parts, strict=True)
    ]
    total = len(names)  # Once: a concurrent search may add names.
    calls, defined = np.zeros(total), np.zeros(total)
    definitions = []
    for entries, first in found:
        called = entries.called[corpus.alive[entries.called_in + first]]
        rows = entries.defined_in + first
        living = corpus.alive[rows]
        definitions.append((entries.defined[living], rows[living]))
        calls += np.bincount(called, minlength=total)
        defined += np.bincount(definitions[-1][0], minlength=total)
    value = np.log1p(calls / np.maximum(defined, 1)).astype(np.float32)
    out = np.zeros(corpus.rows, dtype=np.float32)
    for terms, rows in definitions:
        np.maximum.at(out, rows, value[terms])
    top = float(out.max(initial=0.0))
    return out / np.float32(top) if top else out
