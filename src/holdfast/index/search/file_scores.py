"""Scores of whole files: BM25 and similarity of a file as one text.

Chunks are scored one by one, so a file that is entirely about the query would have no advantage
over a file with one matching chunk. These scores are added to every chunk of the file.

A file's rows are consecutive in one segment, so sums over them are taken in the same order whatever
else is indexed, and are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.index.search.lexical import idf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.lexical import Within

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

SATURATION = 4.0
"""BM25's k1 for files; higher than for chunks, because files are longer."""
CALIBRATED_ON = 10
FAINT = 10
"""The lowest 1/FAINT of the files count as not similar at all."""


def file_bm25(words: Sequence[Within], corpus: Corpus, files: Numbers) -> Floats:
    """BM25 of some files, each as one text, scaled to 1 for the best of them.

    `words` has the occurrences in these files.
    """
    import numpy as np

    scores = np.zeros(len(files))
    norms = corpus.file_norms[files]
    for word in words:
        weight = word.word.asked * idf(corpus.filled, word.word.files)
        frequency = word.in_files / norms
        scores += weight * (frequency / (frequency + SATURATION))
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores


def file_starts(corpus: Corpus) -> tuple[Numbers, Numbers]:
    """The first row of each file, and how many rows it has; they are consecutive."""
    import numpy as np

    first = np.zeros(len(corpus.files) + 1, dtype=np.int64)
    count = np.zeros(len(corpus.files) + 1, dtype=np.int64)
    file_of = corpus.file_of
    bounds = np.concatenate([[0], np.flatnonzero(file_of[1:] != file_of[:-1]) + 1, [corpus.rows]])
    # Rows that are not current have no file, which is the last of these.
    of_bounds = file_of[bounds[:-1]] if corpus.rows else np.empty(0, dtype=np.int64)
    first[of_bounds] = bounds[:-1]
    count[of_bounds] = bounds[1:] - bounds[:-1]
    return first[:-1], count[:-1]


def rows_of_files(corpus: Corpus, files: Numbers) -> tuple[Numbers, Numbers]:
    """All rows of some files, whose rows ascend too, and for each row its file's position."""
    import numpy as np

    starts, counts = corpus.derived(file_starts)
    count = counts.take(files)
    ends = np.cumsum(count)
    places = np.repeat(np.arange(len(files)), count)
    return np.arange(len(places)) + np.repeat(starts.take(files) - ends + count, count), places


def file_similarity(own: NDArray[np.float32], places: Numbers, files: int) -> Floats:
    """How similar some files are to a query's vector, scaled to 1 for the most similar of them.

    `own` has the similarities of their rows, and `places` which of the files each row belongs to.
    A file's similarity is the root mean square of its chunks', so similar chunks count more than
    many chunks.
    """
    import numpy as np

    squares = np.square(np.maximum(own, 0), dtype=np.float64)
    sums = np.bincount(places, weights=squares, minlength=files)
    counts = np.bincount(places, minlength=files)
    nearness = np.sqrt(sums / np.maximum(counts, 1))
    # With few files the last may be nearly as good as the first, so the scale starts at 0.
    few = len(nearness) < CALIBRATED_ON
    low = 0.0 if few else float(np.sort(nearness)[len(nearness) // FAINT])
    high = float(nearness.max())
    if high <= low:
        return np.zeros(files)
    return np.clip((nearness - low) / (high - low), 0.0, 1.0)
