"""Find the rows whose vectors have nearly the same signs as a query's.

Comparing a vector costs a read of all its bytes; its signs are an eighth of that, and few rows pass
two filters over them: first those that agree in most signs, then those of them that agree where
the query's numbers are large. Only the vectors of the rows that are left are compared.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holdfast.index.search.fusion import SAMPLE_MIN, SAMPLED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_ONCE = 8_192
"""Rows whose signs are compared at a time: few enough for the processor's cache."""
_PACKED, _EACH_BYTE, _TOP_BYTE = 4, 0x01010101, 24
_ALL_DIFFER = 256
"""The bits of a row of `_PACKED` words."""


def count_differences(
    signs: NDArray[np.uint64], asked: NDArray[np.uint64], out: NDArray[np.int16]
) -> None:
    """Write to `out` in how many bits each row differs, a block of rows at a time."""
    import numpy as np

    words, rows = len(asked), min(AT_ONCE, len(signs))
    # Repeated for every row of a block: arrays of the same shape are compared in one loop.
    repeated = np.tile(asked, rows)
    differ, counts = np.empty_like(repeated), np.empty(rows * words, dtype=np.uint8)
    sums = np.empty(rows, dtype=np.uint32)
    flat = signs.reshape(-1)
    for at in range(0, len(signs), AT_ONCE):
        into = out[at : at + AT_ONCE]
        size = len(into) * words
        some = flat[at * words : at * words + size]
        np.bitwise_xor(some, repeated[:size], out=differ[:size])
        count = np.bitwise_count(differ[:size], out=counts[:size])
        if words != _PACKED:
            np.add.reduce(count.reshape(-1, words), axis=1, dtype=np.int16, out=into)
            continue
        # The four counts of a row are the bytes of one number: a product adds them in its highest.
        packed = count.view(np.uint32)
        total = np.multiply(packed, np.uint32(_EACH_BYTE), out=sums[: len(into)])
        total >>= np.uint32(_TOP_BYTE)
        into[:] = total
        if not total.all():
            # 256 is one more than a byte holds, and then 0 although there are differences.
            into[(total == 0) & (packed > 0)] = _ALL_DIFFER


def fewest_differences(apart: NDArray[np.int16], most: int, wanted: int) -> NDArray[np.int64]:
    """The rows with the fewest differences, below `most`; all ties with the last are kept.

    So the result does not depend on the order of the rows.
    """
    import numpy as np

    some = apart[::SAMPLED]
    if len(some) >= SAMPLE_MIN:
        # Probably twice as many as wanted; the exact limit is then found among these.
        counts = np.cumsum(np.bincount(some, minlength=most + 1))
        limit = int(np.searchsorted(counts, 2 * wanted // SAMPLED))
        near = np.flatnonzero(apart <= min(limit, most - 1))
        if len(near) >= wanted:
            found = apart.take(near)
            return near.take(np.flatnonzero(found <= _limit(found, most, wanted)))
    return np.flatnonzero(apart <= min(_limit(apart, most, wanted), most - 1))


def _limit(apart: NDArray[np.int16], most: int, wanted: int) -> int:
    """How many differences the wanted number of rows have at most."""
    import numpy as np

    counts = np.cumsum(np.bincount(apart, minlength=most + 1))
    return int(np.searchsorted(counts, min(wanted, len(apart))))


def lost_weight(
    signs: NDArray[np.uint64], asked: NDArray[np.uint64], levels: NDArray[np.float32]
) -> NDArray[np.int32]:
    """How much of the query's vector has another sign in each row, in integers.

    Counting signs takes the many small numbers of a vector as important as the few large ones.
    """
    import numpy as np

    weights = np.zeros(len(asked) * 64, dtype=np.float32)
    weights[: len(levels)] = np.abs(levels)
    # For each byte of signs, what each of its 256 values costs; exact, as sums of small integers.
    costs = (weights.reshape(-1, 8) @ _bits_of_bytes()).astype(np.int32)
    differ = np.ascontiguousarray(np.bitwise_xor(signs, asked).view(np.uint8).T)
    lost = np.zeros(len(signs), dtype=np.int32)
    for byte, cost in zip(differ, costs, strict=True):
        lost += cost.take(byte)
    return lost


@cache
def _bits_of_bytes() -> NDArray[np.float32]:
    """The eight bits of each byte, as columns."""
    import numpy as np

    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return np.ascontiguousarray(bits.T.astype(np.float32))
