"""Scale the lanes to each other, take the best rows, and diversify the final order.

The lanes' scores have different units, so each is scaled over its best candidates, from 0 for the
last of them to 1 for the first, before they are added.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heapreplace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SCALED_OVER = 200
SAMPLED, SAMPLE_MIN = 16, 256
"""One score in this many is sampled to estimate the threshold of the best."""


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
    scores: NDArray[Any], ties: NDArray[np.int64], limit: int, floor: float
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

    some = scores[::SAMPLED]
    # Twice as many as needed, so that it is rarely too few.
    place = len(some) - max(1, 2 * limit // SAMPLED)
    if len(some) < SAMPLE_MIN or place <= len(some) // 2:
        return floor
    return max(floor, float(np.partition(some, place)[place]))


def diversified(
    scores: Floats,
    files: NDArray[np.int64],
    ties: NDArray[np.int64],
    wanted: int,
    repeat: float,
    duplicate: float,
    alike: Iterable[tuple[int, int]],
) -> list[tuple[int, float]]:
    """Candidates in the order shown, with the score each had when its turn came.

    A chunk is worth less after a better one of its file, and after one that says the same, because
    the reader already has that. `alike` are pairs of near-duplicates, each both ways.
    """
    import numpy as np

    scores = np.where(np.isfinite(scores), scores, 0.0)
    order = np.lexsort((ties, -scores))
    # A sorted list is a heap.
    heap = list(zip((-scores[order]).tolist(), ties[order].tolist(), order.tolist(), strict=True))
    left: list[float] = scores.tolist()
    of: list[int] = files.tolist()
    twins: dict[int, list[int]] = {}
    for one, other in alike:
        twins.setdefault(one, []).append(other)
    # Most candidates never come near their turn, so each pays for those of its file that were
    # shown before it when it is looked at.
    shown_of: dict[int, int] = {}
    paid = [0] * len(left)

    def settle(number: int, owed: int) -> None:
        for _ in range(owed - paid[number]):
            left[number] *= repeat
        paid[number] = owed

    # Scores only fall. So the top of the heap is the next one, if it still has that score; else it
    # goes back in with the one it has.
    shown: set[int] = set()
    places: list[tuple[int, float]] = []
    while heap and len(places) < wanted:
        score, tie, best = heap[0]
        file = of[best]
        owed = shown_of.get(file, 0)
        if paid[best] != owed:
            settle(best, owed)
        worth = left[best]
        if worth < -score:
            heapreplace(heap, (-worth, tie, best))
            continue
        heappop(heap)
        places.append((best, worth))
        shown.add(best)
        for number in twins.get(best, ()):
            if of[number] != file and number not in shown:
                settle(number, shown_of.get(of[number], 0))
                left[number] *= duplicate
        shown_of[file] = owed + 1
    return places
