"""A small embedding for tests and comparison: hashed features, without a model file.

Each word has a fixed pseudo-random sparse vector, computed from hashes of the word and its letter
trigrams; a text is the weighted sum of its words. So `parser` is close to `parsing`, and a chunk to
a query with the same words or stems. It knows nothing about meaning: unlike the model of
`static.py` it does not relate `remove` and `delete`, so the dense lane gets a low weight with it.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.index.search.terms import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

DIMENSION = 256
_SIGN_SEED = 0x9E3779B9
_COMMON_WEIGHT = 0.15
_WORDS_MAX = 50_000
_TRIGRAM_SHARE = 0.6

_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        self this return def class function const let var if else elif for while in of and or not
        is none null true false import from export default public private static void int str string
        new try except catch finally raise throw with as async await lambda yield pass break
        continue the a an to be it on by end do then fi done local nil fn func pub impl use mut
        struct type enum bool float double char byte long object list dict args kwargs
        i j k n x y s t e
        """,
    )
)
"""Words that are common in all code."""


class HashedEmbedding:
    """Deterministic vectors from hashed words and trigrams."""

    name = "hashed"
    model = "hashed-features-v1"
    dimension = DIMENSION
    local = True

    def __init__(self) -> None:
        self._row_of: dict[str, int] = {}
        self._rows: NDArray[np.float32] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        counted = [Counter(words(text)) for text in texts]
        self._learn({word for counts in counted for word in counts})
        out = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        row_of, rows = self._row_of, self._rows
        for i, counts in enumerate(counted):
            if counts:
                assert rows is not None
                ids = np.fromiter(map(row_of.__getitem__, counts), np.intp, len(counts))
                n = np.fromiter(counts.values(), np.float32, len(counts))
                out[i] = (1 + np.log(n)) @ rows[ids]
        lengths = np.linalg.norm(out, axis=1, keepdims=True)
        lengths[lengths == 0] = 1.0
        normal: Vectors = out / lengths
        return normal

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])

    def _learn(self, met: set[str]) -> None:
        """Compute the vectors of new words."""
        import numpy as np

        new = sorted(word for word in met if word not in self._row_of)
        if not new:
            return
        if len(self._row_of) + len(new) > _WORDS_MAX:
            self._row_of, self._rows, new = {}, None, sorted(met)
        first = len(self._row_of)
        last = first + len(new)
        if self._rows is None or last > len(self._rows):
            # Doubled each time, so that rows are copied only a few times, not once per text.
            grown = np.zeros((max(1024, 2 * last), DIMENSION), dtype=np.float32)
            if self._rows is not None:
                grown[:first] = self._rows[:first]
            self._rows = grown
        self._rows[first:last] = _word_vectors(new)
        self._row_of.update((word, first + i) for i, word in enumerate(new))


def _word_vectors(new: list[str]) -> NDArray[np.float32]:
    """One row for each word: four signed components for the word and for each of its trigrams."""
    import numpy as np

    features: list[bytes] = []
    owners: list[int] = []
    weights: list[float] = []
    for i, word in enumerate(new):
        features.append(word.encode("utf-8", "surrogatepass"))
        owners.append(i)
        weights.append(1.0)
        if len(word) > 3:
            padded = f"<{word}>"
            trigrams = [padded[at : at + 3] for at in range(len(padded) - 2)]
            features += [f"#{t}".encode("utf-8", "surrogatepass") for t in trigrams]
            owners += [i] * len(trigrams)
            weights += [_TRIGRAM_SHARE / math.sqrt(len(trigrams))] * len(trigrams)
    n = len(features)
    places = np.fromiter(map(zlib.crc32, features), "<u4", n).view(np.uint8).reshape(n, 4)
    bits = np.fromiter((zlib.crc32(f, _SIGN_SEED) for f in features), "<u4", n)
    signs = ((bits[:, None] >> np.arange(4, dtype=np.uint32)) & 1).astype(np.float64) * 2 - 1
    flat = np.asarray(owners)[:, None] * DIMENSION + places
    values = signs * np.asarray(weights)[:, None]
    rows = np.bincount(flat.ravel(), values.ravel(), len(new) * DIMENSION)
    rows = rows.reshape(len(new), DIMENSION)
    scale = np.fromiter((_COMMON_WEIGHT if word in _COMMON else 1.0 for word in new), np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    lengths[lengths == 0] = 1.0
    return np.asarray(rows * (scale / lengths)[:, None], dtype=np.float32)
