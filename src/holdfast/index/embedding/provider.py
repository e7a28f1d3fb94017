"""The interface of an embedding, and embedding many texts with retries.

A provider returns a vector for every text or raises. A batch that is too large is halved; a
transient failure is retried a few times; any other failure fails the run. A run never continues
with vectors missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.index.errors import EmbeddingFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

BATCH_TEXTS = 64
TRIES = 4
BACKOFF_S = 0.5
COMPONENT_MAX = 1e15
"""Sums of products of numbers up to this are finite in 32-bit floats."""
NOT_FINITE = f"a vector has a number that is not finite or above {COMPONENT_MAX:g}"


class EmbeddingProvider(Protocol):
    """Text to vectors. `local` providers need no network and run in the parsing processes."""

    name: str
    model: str
    dimension: int
    local: bool

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text, in order; float32, normalised."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The vector of a query, as one row."""
        ...


class BatchTooLarge(Exception):
    """Raised by a provider when a batch is too large; a smaller one may succeed."""


class TransientFailure(Exception):
    """Raised by a provider for a failure worth a retry: busy, timed out, unreachable."""


def embed_all(
    provider: EmbeddingProvider,
    texts: Sequence[str],
    progress: Callable[[int], None] = lambda done: None,
    sleep: Callable[[float], None] = time.sleep,
    batch_texts: int = BATCH_TEXTS,
) -> Vectors:
    """Vectors for all texts, or EmbeddingFailed."""
    import numpy as np

    rows = np.empty((len(texts), provider.dimension), dtype=np.float32)
    start, size = 0, max(1, batch_texts)
    tries = 0
    while start < len(texts):
        batch = texts[start : start + size]
        try:
            vectors = provider.embed(batch)
        except BatchTooLarge as error:
            if len(batch) == 1:
                raise EmbeddingFailed(provider.name, f"one text is too large: {error}") from error
            size = max(1, len(batch) // 2)
            continue
        except TransientFailure as error:
            tries += 1
            if tries >= TRIES:
                raise EmbeddingFailed(provider.name, f"{error} (tried {tries} times)") from error
            sleep(BACKOFF_S * 2 ** (tries - 1))
            continue
        except EmbeddingFailed:
            raise
        except Exception as error:
            raise EmbeddingFailed(provider.name, f"{type(error).__name__}: {error}") from error
        if vectors.shape != (len(batch), provider.dimension):
            raise EmbeddingFailed(
                provider.name,
                f"expected {(len(batch), provider.dimension)} numbers, got {vectors.shape}",
            )
        rows[start : start + len(batch)] = normalised(finite(provider.name, vectors))
        start += len(batch)
        tries = 0
        progress(start)
    return rows


def finite(provider: str, vectors: Vectors) -> Vectors:
    """The same vectors, or EmbeddingFailed if they are not usable."""
    if not usable(vectors):
        raise EmbeddingFailed(provider, NOT_FINITE)
    return vectors


def usable(vectors: NDArray[Any]) -> bool:
    """Whether all numbers are finite, and small enough for products to be finite."""
    import numpy as np

    # A comparison with NaN is false.
    return bool((np.abs(vectors) <= COMPONENT_MAX).all())


def usable_bytes(vectors: bytes | memoryview) -> bool:
    """The same for stored float32 numbers."""
    import numpy as np

    return usable(np.frombuffer(vectors, dtype=np.float32))


def normalised(vectors: Vectors) -> Vectors:
    """The rows normalised to length one; zeros stay zeros."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    normal: Vectors = np.asarray(vectors / lengths, dtype=np.float32)
    return normal
