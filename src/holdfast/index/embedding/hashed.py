"""The default embedding: hashed features, in code, with nothing to download.

Each word has a fixed pseudo-random sparse vector, made from a hash of the word and of its letter
trigrams; a text is the weighted sum of its words. So `parser` lies near `parsing`, and a chunk near
a question that shares words or stems with it. It knows nothing of meaning: it cannot tell that
`remove` and `delete` are alike. It is a stand-in until a trained static model ships, and it is
weighted lightly when lanes are fused.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.index.search.lexical import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

DIMENSION = 256
_SPIKES = 6
_WORDS_MAX = 20_000
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
"""Words that are everywhere in code and say little."""


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

        out = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for i, text in enumerate(texts):
            counts = Counter(words(text))
            if not counts:
                continue
            ids = self._ids(counts)
            weights = np.fromiter(
                (
                    (1 + math.log(n)) * (0.15 if word in _COMMON else 1.0)
                    for word, n in counts.items()
                ),
                dtype=np.float32,
                count=len(counts),
            )
            assert self._rows is not None
            out[i] = weights @ self._rows[ids]
        lengths = np.linalg.norm(out, axis=1, keepdims=True)
        lengths[lengths == 0] = 1.0
        normal: Vectors = out / lengths
        return normal

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])

    def _ids(self, counts: Counter[str]) -> NDArray[np.intp]:
        """Which rows hold these words' vectors, making those that are missing."""
        import numpy as np

        if self._rows is None:
            self._rows = np.zeros((1024, DIMENSION), dtype=np.float32)
        if len(self._row_of) + len(counts) > _WORDS_MAX:
            self._row_of.clear()
        for word in counts:
            if word not in self._row_of:
                row = len(self._row_of)
                if row == len(self._rows):
                    self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
                self._rows[row] = _word_vector(word)
                self._row_of[word] = row
        row_of = self._row_of
        return np.fromiter((row_of[word] for word in counts), dtype=np.intp, count=len(counts))


def _word_vector(word: str) -> NDArray[np.float32]:
    import numpy as np

    vector = np.zeros(DIMENSION, dtype=np.float32)
    _spike(vector, word, 1.0)
    padded = f"<{word}>"
    trigrams = [padded[i : i + 3] for i in range(len(padded) - 2)] if len(word) > 3 else []
    for trigram in trigrams:
        _spike(vector, f"#{trigram}", _TRIGRAM_SHARE / math.sqrt(len(trigrams)))
    length = float(np.linalg.norm(vector)) or 1.0
    return vector / np.float32(length)


def _spike(vector: NDArray[np.float32], feature: str, weight: float) -> None:
    seed = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
    for _ in range(_SPIKES):
        seed = (seed * 1_664_525 + 1_013_904_223) & 0xFFFFFFFF
        vector[(seed >> 8) % DIMENSION] += weight if seed >> 31 else -weight
