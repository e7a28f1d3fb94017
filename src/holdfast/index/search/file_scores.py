"""A file as one text: what all of its chunks say together about a query.

Chunks are compared one by one, so a file that is about the question from end to end has no more
to show than one with a single lucky chunk. Here the file answers as a whole, once by its words
and once by its meaning; every chunk of it has a share in that.

A file lies in one segment, its rows in order. So sums over it are taken in the same order whatever
else is indexed, and come out the same to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.search.lexical import idf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.lexical import Lexical

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

SATURATION = 4.0
"""How soon more of the same word adds nothing: later than in a chunk, for files are longer."""
CALIBRATED_ON = 10
FAINT = 10
"""One in so many of the files sets the mark from which nearness counts."""


def file_bm25(lexical: Lexical, corpus: Corpus, files: Numbers) -> Floats:
    """BM25 of some files, each as one text, from 0 to 1 for the best of them."""
    import numpy as np

    scores = np.zeros(len(files))
    norms = corpus.file_norms[files]
    for word in lexical.occurrences:
        weight = word.asked * idf(corpus.filled, int(np.count_nonzero(word.in_files)))
        frequency = word.in_files[files] / norms
        scores += weight * (frequency / (frequency + SATURATION))
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores


def file_similarity(
    vector: NDArray[np.float32], near: NDArray[np.float32], corpus: Corpus, files: Numbers
) -> Floats:
    """How near some files are to a question's vector, from 0 to 1 for the nearest of them.

    A file's nearness is the root mean square of its chunks': near ones count more than many.
    `near` has that of all rows, where all were compared.
    """
    import numpy as np

    of = np.full(len(corpus.files) + 1, -1, dtype=np.int64)
    of[files] = np.arange(len(files))
    places = of.take(corpus.file_of)
    rows = np.flatnonzero(places >= 0)
    places = places.take(rows)
    own = near.take(rows) if corpus.exhaustive else corpus.nearness_of(vector, rows)
    squares = np.square(np.maximum(own, 0), dtype=np.float64)
    sums = np.bincount(places, weights=squares, minlength=len(files))
    counts = np.bincount(places, minlength=len(files))
    nearness = np.sqrt(sums / np.maximum(counts, 1))
    # Of a few files the last may be nearly as good as the first: none is the mark.
    few = len(nearness) < CALIBRATED_ON
    low = 0.0 if few else float(np.sort(nearness)[len(nearness) // FAINT])
    high = float(nearness.max())
    if high <= low:
        return np.zeros(len(files))
    return np.clip((nearness - low) / (high - low), 0.0, 1.0)
