"""How much of a query's words each candidate has: in the chunk, in its file, in the file's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.index.search.fields import Field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.lexical import Lexical

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]


class Coverage(NamedTuple):
    """Shares of the query for each candidate, from 0 to 1; words count by their weight."""

    chunk: Floats
    """The share that is anywhere in the chunk."""
    file: Floats
    """The share that is anywhere in the chunk's file."""
    stem: Floats
    """The share that is in the file's name."""
    of_stem: Floats
    """The share of the file name's terms that the query has."""


def coverage_of(lexical: Lexical, corpus: Corpus, rows: Rows) -> Coverage:
    """The coverage of some rows. Callees are not searched, so they do not count."""
    import numpy as np

    place = np.full(corpus.rows, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    in_chunk, in_stem, stem_terms, here = np.zeros((4, len(rows)))
    in_file = np.zeros(len(corpus.files))
    total = 0.0
    for word in lexical.occurrences:
        total += word.weight
        at = place.take(word.rows)
        # Backwards, so that of several forms the first one, which counts most, is written last.
        found = np.flatnonzero((at >= 0) & (word.fields != Field.CALL))[::-1]
        here.fill(0.0)
        here[at[found]] = word.worths[found]
        in_chunk += word.weight * here
        found = found[word.fields[found] == Field.STEM]
        here.fill(0.0)
        here[at[found]] = word.worths[found]
        stem_terms += here
        in_stem += word.weight * here
        in_file += word.weight * (word.in_files > 0)
    total = total or 1.0
    lengths = np.maximum(corpus.lengths[rows, Field.STEM], 1)
    return Coverage(
        in_chunk / total,
        in_file[corpus.file_of[rows]] / total,
        in_stem / total,
        np.minimum(stem_terms / lengths, 1.0),
    )
