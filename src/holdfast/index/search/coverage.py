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


_CALL, _STEM = int(Field.CALL), int(Field.STEM)


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

    place_of = np.full(corpus.rows, -1, dtype=np.int32)
    place_of[rows] = np.arange(len(rows))
    in_chunk, in_stem, stem_terms = np.zeros((3, len(rows)))
    in_file = np.zeros(len(words[0].in_files) if words else len(rows))
    here, of_stem = _by_word(words, place_of, len(rows))
    total = 0.0
    for number, word in enumerate(words):
        weight = word.word.weight
        total += weight
        in_chunk += weight * here[number]
        in_file += weight * (word.in_files > 0)
        if of_stem is not None:
            stem_terms += of_stem[number]
            in_stem += weight * of_stem[number]
    in_file = in_file.take(places) if words else in_file
    total = total or 1.0
    lengths = np.maximum(corpus.lengths[rows][:, Field.STEM], 1)
    return Coverage(
        in_chunk / total,
        in_file / total,
        in_stem / total,
        np.minimum(stem_terms / lengths, 1.0),
    )


def _by_word(
    words: Sequence[Within], place_of: NDArray[np.int32], rows: int
) -> tuple[Floats, Floats | None]:
    """What each word counts in each of the rows, and in the names of their files, if in any."""
    import numpy as np

    if not words:
        return np.zeros((0, rows)), None
    at = np.concatenate([word.rows for word in words])
    place = place_of.take(at)
    fields = np.concatenate([word.fields for word in words])
    # Backwards, so that of several forms the first one, which counts most, is written last.
    found = np.flatnonzero((place >= 0) & (fields != _CALL))[::-1]
    cells = place + np.arange(0, len(words) * rows, rows).repeat([len(word.rows) for word in words])
    cells, fields = cells.take(found), fields.take(found)
    worths = np.concatenate([word.worths for word in words]).take(found)
    here = np.zeros((len(words), rows))
    here.reshape(-1)[cells] = worths
    stems = np.flatnonzero(fields == _STEM)
    if not len(stems):
        return here, None
    of_stem = np.zeros((len(words), rows))
    of_stem.reshape(-1)[cells.take(stems)] = worths.take(stems)
    return here, of_stem
