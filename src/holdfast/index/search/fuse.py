"""One ranking out of several, by reciprocal rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

RRF_K = 60


def fuse(lanes: Iterable[tuple[float, list[int]]]) -> dict[int, float]:
    """Scores of chunks from lanes of (weight, ids best first)."""
    scores: dict[int, float] = {}
    for weight, ids in lanes:
        for rank, identity in enumerate(ids, 1):
            scores[identity] = scores.get(identity, 0.0) + weight / (RRF_K + rank)
    return scores


def best_first(scores: Mapping[int, float]) -> list[int]:
    """Ids by score, then by id."""
    return sorted(scores, key=lambda identity: (-scores[identity], identity))
