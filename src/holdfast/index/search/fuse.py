"""One ranking out of two lanes and the signals, and the places given out one by one.

The lanes' scores have nothing in common but their order, so each is stretched over its best
candidates, from 0 for the last of them to 1 for the first, before they are added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CALIBRATED_ON = 200


def stretched(scores: NDArray[Any], pool: NDArray[Any]) -> Floats:
    """Scores from 0 to 1, by the best and the last of a pool; what is outside is cut off."""
    import numpy as np

    if not len(pool):
        return np.zeros(len(scores))
    high = float(pool.max())
    low = float(pool.min()) if len(pool) >= CALIBRATED_ON else min(0.0, float(pool.min()))
    if high <= low:
        return np.where(scores >= high, 1.0, 0.0) if high > 0 else np.zeros(len(scores))
    return np.clip((scores.astype(np.float64) - low) / (high - low), 0.0, 1.0)


def best_rows(
    scores: NDArray[Any], ties: NDArray[np.int64], limit: int, floor: float
) -> NDArray[np.int64]:
    """The rows with the highest scores above a floor, best first; ties by place."""
    import numpy as np

    above = np.flatnonzero(scores > floor)
    if len(above) > limit:
        # All that tie with the last place stay in, so that the cut does not depend on layout.
        last = np.partition(scores[above], len(above) - limit)[len(above) - limit]
        above = above[scores[above] >= last]
    order = np.lexsort((ties[above], -scores[above]))
    return above[order][:limit]


def give_places(
    scores: Floats,
    files: NDArray[np.int64],
    ties: NDArray[np.int64],
    wanted: int,
    repeat: float,
    duplicate: float,
    alike: NDArray[np.bool_] | None,
) -> list[tuple[int, float]]:
    """Candidates in the order shown, with the score each had when its turn came.

    A chunk is worth less after a better one of its file, and after one that says the same, because
    the reader already has that. `alike[i, j]` tells near-duplicates.
    """
    import numpy as np

    # In the order of ties the first of the best is the one to show; what was shown is -inf.
    order = np.argsort(ties, kind="stable")
    left = scores[order].astype(np.float64)
    of = files[order]
    numbers = order.tolist()
    same: dict[int, NDArray[np.int64]] = {}
    has_alike = np.zeros(len(left), np.bool_)
    if alike is not None and duplicate != 1.0:
        has_alike |= alike.any(axis=1)
    places: list[tuple[int, float]] = []
    for _ in range(min(wanted, len(left))):
        best = int(left.argmax())
        places.append((numbers[best], float(left[best])))
        file = int(of[best])
        if file not in same:
            same[file] = np.flatnonzero(of == file)
        same[file] = rest = same[file][same[file] != best]
        left[best] = -np.inf
        if repeat != 1.0:
            left[rest] *= repeat
        if alike is not None and has_alike[numbers[best]]:
            near = np.flatnonzero(alike[numbers[best]][order])
            near = near[(of[near] != file) & (left[near] > -np.inf)]
            left[near] *= duplicate
    return places
