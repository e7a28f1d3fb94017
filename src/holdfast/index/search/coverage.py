"""How much of a query's words each candidate has: in the chunk, in its file, in the file's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.index.search.fields import Field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.lexical import Within

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


def coverage_of(words: Sequence[Within], corpus: Corpus, rows: Rows, places: Rows) -> Coverage:
    """The coverage of some rows, which ascend. Callees are not searched, so they do not count.

    `words` has the occurrences in the files of these rows, and `places` the number of each row's
    file among them.
    """
    import numpy as np

    wanted = np.zeros(corpus.rows, dtype=np.bool_)
    wanted[rows] = True
    place_of = np.empty(corpus.rows, dtype=np.int32)  # only of these rows
    place_of[rows] = np.arange(len(rows))
    in_chunk, in_stem, stem_terms, in_file, here = np.zeros((5, len(rows)))
    total = 0.0
    for word in words:
        weight = word.word.weight
        total += weight
        is_here = wanted.take(word.rows)
        is_here &= word.fields != Field.CALL
        # Backwards, so that of several forms the first one, which counts most, is written last.
        found = np.flatnonzero(is_here)[::-1]
        at, worths = place_of.take(word.rows.take(found)), word.worths.take(found)
        here.fill(0.0)
        here[at] = worths
        in_chunk += weight * here
        of_stem = np.flatnonzero(word.fields.take(found) == Field.STEM)
        if len(of_stem):
            here.fill(0.0)
            here[at.take(of_stem)] = worths.take(of_stem)
            stem_terms += here
            in_stem += weight * here
        in_file += weight * (word.in_files.take(places) > 0)
    total = total or 1.0
    lengths = np.maximum(corpus.lengths[rows][:, Field.STEM], 1)
    return Coverage(
        in_chunk / total,
        in_file / total,
        in_stem / total,
        np.minimum(stem_terms / lengths, 1.0),
    )
