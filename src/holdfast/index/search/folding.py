"""Hits that say the same, shown once.

Vendored copies, generated variants and tests made by hand from one pattern repeat each other. Of
hits that are alike the best one is shown, and it names the others: nothing is lost, and the room is
left to what differs. Alike are two texts that differ in white space only or, if they are not short,
have nearly the same trigrams.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.index.search import trigrams

ALIKE = 0.92
"""The share of trigrams that two texts have in common, of those either has."""
CHARACTERS_MIN = 200
COMPARED_MAX = 40
"""How many texts are compared by trigrams; beyond, only what is the same is folded."""


def folded(texts: Sequence[str]) -> list[int]:
    """For each text, the place of the first one that it is like; its own if there is none."""
    by_words: dict[str, int] = {}
    places = [by_words.setdefault("".join(text.split()), i) for i, text in enumerate(texts)]
    long = [
        i
        for i, text in enumerate(texts[:COMPARED_MAX])
        if places[i] == i and len(text) >= CHARACTERS_MIN
    ]
    leaders: list[int] = []
    alike = _alike([texts[i] for i in long]) if len(long) > 1 else [[False]]
    for at, i in enumerate(long):
        leader = next((before for before in leaders if alike[at][before]), None)
        if leader is None:
            leaders.append(at)
        else:
            places[i] = long[leader]
    return [places[place] for place in places]


def _alike(texts: Sequence[str]) -> list[list[bool]]:
    """Which of some texts have nearly the same trigrams as which."""
    import numpy as np

    rows = np.frombuffer(trigrams.signatures(texts), dtype=np.uint8).reshape(-1, trigrams.WIDTH)
    both = np.stack([trigrams.bits_set(rows & row) for row in rows])
    sizes = np.diagonal(both)
    either = sizes[:, None] + sizes[None, :] - both
    lengths = np.array([len(text) for text in texts], dtype=np.float64)
    near = np.minimum.outer(lengths, lengths) >= ALIKE * np.maximum.outer(lengths, lengths)
    found: list[list[bool]] = ((both >= ALIKE * either) & near).tolist()
    return found
