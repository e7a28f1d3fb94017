"""Scale the lanes to each other, take the best rows, and diversify the final order.

The lanes' scores have different units, so each is scaled over its best candidates, from 0 for the
last of them to 1 for the first, before they are added.
"""

from __future__ import annotations

from heapq import heappop, heapreplace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.row_columns import Ties

    Floats = NDArray[np.float64]

SCALED_OVER = 200
FIRST_OF = 4
"""How many candidates are considered for each wanted one before all are."""
SAMPLED, SAMPLE_MIN = 16, 256
"""One score in this many is sampled to estimate the threshold of the best."""
SAMPLE_MAX = 4_096
"""Of many scores, fewer are sampled: an estimate of so many is good enough."""


def min_max_scaled(scores: NDArray[Any], pool: NDArray[Any]) -> Floats:
    """Scores scaled so that a pool's lowest is 0 and its highest 1, and clipped to that range."""
    import numpy as np

    if not len(pool):
        return np.zeros(len(scores))
    high = float(pool.max())
    low = float(pool.min()) if len(pool) >= SCALED_OVER else min(0.0, float(pool.min()))
    if high <= low:
        return np.where(scores >= high, 1.0, 0.0) if high > 0 else np.zeros(len(scores))
    return np.clip((scores.astype(np.float64) - low) / (high - low), 0.0, 1.0)


def top_rows(
    scores: NDArray[Any], ties: NDArray[np.int64] | Ties, limit: int, floor: float
) -> NDArray[np.int64]:
    """The rows with the highest scores above a floor, best first; ties by `ties`."""
    import numpy as np

    mark = _mark(scores, limit, floor)
    above = np.flatnonzero(scores > mark)
    if len(above) < limit and mark > floor:
        above = np.flatnonzero(scores > floor)
    some = scores.take(above)
    if len(above) > limit:
        # Keep all ties with the last one, so that the cut does not depend on the layout.
        place = len(above) - limit
        best = np.flatnonzero(some >= np.partition(some, place)[place])
        above, some = above.take(best), some.take(best)
    return above.take(np.lexsort((ties.take(above), -some))[:limit])


def _mark(scores: NDArray[Any], limit: int, floor: float) -> float:
    """A threshold at or above the floor that probably more than `limit` rows exceed."""
    import numpy as np

    step = SAMPLED * max(1, len(scores) // (SAMPLED * SAMPLE_MAX))
    some = scores[::step]
    # Twice as many as needed, so that it is rarely too few.
    place = len(some) - max(1, 2 * limit // step)
    if len(some) < SAMPLE_MIN or place <= len(some) // 2:
        return floor
    return max(floor, float(np.partition(some, place)[place]))


def diversified(
    scores: Floats,
    files: NDArray[np.int64],
    ties: NDArray[np.int64],
    wanted: int,
    repeat: float,
) -> list[tuple[int, float]]:
    """The best `wanted` candidates in order, each with its score at the time it was chosen.

    Every chosen chunk multiplies the scores of the other chunks of its file by `repeat`. A score
    that is not finite counts as 0, so that the loop always ends.
    """
    import numpy as np

    scores = np.where(np.isfinite(scores), scores, 0.0)
    order = np.lexsort((ties, -scores))
    some = order[: wanted * FIRST_OF]
    if 0 < len(some) < len(order):
        # Nearly always enough: positive scores only fall, so as long as the chosen ones are above
        # the others, no other can come before them.
        chosen = _chosen(scores, files, ties, some, wanted, repeat)
        if len(chosen) == wanted and 0 < scores[order[len(some)]] < chosen[-1][1]:
            return chosen
    return _chosen(scores, files, ties, order, wanted, repeat)


def _chosen(
    scores: Floats,
    files: NDArray[np.int64],
    ties: NDArray[np.int64],
    order: NDArray[np.int64],
    wanted: int,
    repeat: float,
) -> list[tuple[int, float]]:
    """The same of some candidates, which are ordered by score."""
    own = scores[order]
    # A sorted list is a heap.
    heap = list(zip((-own).tolist(), ties[order].tolist(), range(len(order)), strict=True))
    numbers: list[int] = order.tolist()
    current: list[float] = own.tolist()
    file_of: list[int] = files[order].tolist()
    # Most candidates are never near the top, so a score is updated only when it gets there:
    # `updated` is the number of chosen chunks of its file that it already accounts for.
    chosen_of: dict[int, int] = {}
    updated = [0] * len(current)
    chosen: list[tuple[int, float]] = []
    while heap and len(chosen) < wanted:
        negative, tie, best = heap[0]
        before = chosen_of.get(file_of[best], 0)
        for _ in range(before - updated[best]):
            current[best] *= repeat
        updated[best] = before
        # Scores only fall, so the top is the next one unless its own score has fallen.
        if current[best] < -negative:
            heapreplace(heap, (-current[best], tie, best))
            continue
        heappop(heap)
        chosen.append((numbers[best], current[best]))
        chosen_of[file_of[best]] = before + 1
    return chosen
