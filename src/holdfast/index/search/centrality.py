"""How often the names that a chunk defines are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.search.name_table import calls_of_living

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus


def centrality(corpus: Corpus) -> NDArray[np.float32]:
    """For each row, from 0 for never called to 1 for the most called of the corpus.

    Calls are divided among the definitions of a name, so a common name that many files define makes
    none of them central.
    """
    import numpy as np

    names = corpus.names
    segments = [part.segment for part in corpus.parts]
    if not segments:
        return np.zeros(0, dtype=np.float32)
    found = names.of_all(segments)
    total = len(names)  # Once: a concurrent search may add names.
    # Summed segment by segment: all names of a large tree at once take much memory.
    calls, defined = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.int64)
    definitions = []
    for named, segment, first in zip(found, segments, corpus.firsts, strict=True):
        living = corpus.alive[first : first + segment.rows]
        # As wide as an index: `at` is ten times slower if it has to convert.
        rows, terms = named.defined_in.astype(np.intp), named.defined.astype(np.intp)
        counts = named.calls
        if not living.all():
            counts = calls_of_living(segment, living)
            kept = living[rows]
            rows, terms = rows[kept], terms[kept]
        definitions.append((terms, rows, slice(first, first + segment.rows)))
        np.add.at(calls, named.numbers.astype(np.intp), counts.astype(np.int64))
        np.add.at(defined, terms, np.int64(1))
    np.maximum(defined, 1, out=defined)
    share = calls / defined
    value = np.log1p(share, out=share).astype(np.float32)
    out = np.zeros(corpus.rows, dtype=np.float32)
    for terms, rows, own in definitions:
        np.maximum.at(out[own], rows, value[terms])
    top = float(out.max(initial=0.0))
    if top:
        out /= np.float32(top)
    return out
