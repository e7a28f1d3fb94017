"""How much of a query's words each candidate has: in each field, in the chunk, in its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.index.search.fields import FIELDS, Field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.lexical import Lexical

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]


class FieldCoverage(NamedTuple):
    """Shares from 0 to 1; words count by their weight. The first two have a row for each field."""

    of_query: Floats
    """The share of the query that is in the field."""
    of_field: Floats
    """The share of the field's terms that the query asks for."""
    chunk: Floats
    """The share of the query that is anywhere in the chunk."""
    file: Floats
    """The share of the query that is anywhere in the chunk's file."""


def field_coverage(lexical: Lexical, corpus: Corpus, rows: Rows) -> FieldCoverage:
    """The coverage of some rows. Callees are not searched, so they do not count."""
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
        # Backwards, so that of several forms the first one, which counts most, is written last.
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
    return FieldCoverage(
        found / total,
        np.minimum(matched / lengths, 1.0),
        anywhere / total,
        in_file[corpus.file_of[rows]] / total,
    )
