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
    """The coverage of some rows, which ascend. Callees are not searched, so they do not count."""
    import numpy as np

    wanted = np.zeros(corpus.rows, dtype=np.bool_)
    wanted[rows] = True
    files = corpus.file_of.take(rows)
    in_chunk, in_stem, stem_terms, in_file, here = np.zeros((5, len(rows)))
    total = 0.0
    for word in lexical.occurrences:
        total += word.weight
        # Backwards, so that of several forms the first one, which counts most, is written last.
        found = np.flatnonzero(wanted.take(word.rows))[::-1]
        fields = word.fields.take(found)
        found = found[fields != Field.CALL]
        fields = fields[fields != Field.CALL]
        at, worths = rows.searchsorted(word.rows.take(found)), word.worths.take(found)
        here.fill(0.0)
        here[at] = worths
        in_chunk += word.weight * here
        of_stem = fields == Field.STEM
        if of_stem.any():
            here.fill(0.0)
            here[at[of_stem]] = worths[of_stem]
            stem_terms += here
            in_stem += word.weight * here
        in_file += word.weight * (word.in_files.take(files) > 0)
    total = total or 1.0
    lengths = np.maximum(corpus.lengths[rows, Field.STEM], 1)
    return Coverage(
        in_chunk / total,
        in_file / total,
        in_stem / total,
        np.minimum(stem_terms / lengths, 1.0),
    )
