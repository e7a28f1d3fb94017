"""Fold near-duplicate hits, so that each text is shown once.

Vendored copies, generated variants and tests written after one pattern repeat each other. The best
of them is shown and names the others. Two texts are near-duplicates if they differ in white space
only or, unless they are short, have nearly the same trigrams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from holdfast.index.search import trigrams

ALIKE = 0.92
"""Two texts are near-duplicates from this Jaccard similarity of their trigrams on."""
CHARACTERS_MIN = 200
LOOKED_AT, LOOK_ALIKE = (120, 240), 64
"""How many characters are read to get the first or last letters, more if needed, and how many
letters are compared.
"""
COMPARED_MAX = 40
"""How many texts are compared by trigrams; further ones are folded only if equal."""


def folded(texts: Sequence[str], compared: int = COMPARED_MAX) -> list[int]:
    """For each text, the position of the first near-duplicate; its own if there is none.

    Only the first `compared` texts are compared by trigrams, at most COMPARED_MAX.
    """
    places = _same_words(texts)
    long = [
        i
        for i, text in enumerate(texts[: min(compared, COMPARED_MAX)])
        if places[i] == i and len(text) >= CHARACTERS_MIN
    ]
    followers: set[int] = set()
    for leader, at in sorted(_alike([texts[i] for i in long])) if len(long) > 1 else ():
        if leader not in followers and at not in followers:
            followers.add(at)
            places[long[at]] = long[leader]
    return [places[place] for place in places]


def _same_words(texts: Sequence[str]) -> list[int]:
    """For each text, the first one that differs in white space only."""
    places = list(range(len(texts)))
    # Equal texts begin and end alike, which is a quick test that few other texts pass.
    groups: Iterable[list[int]] = (places[:],)
    for look in (_first_letters, _last_letters, _letters):
        groups = [alike for some in groups for alike in _by(look, texts, some)]
    for same in groups:
        for place in same:
            places[place] = same[0]
    return places


def _by(look: Callable[[str], str], texts: Sequence[str], places: list[int]) -> list[list[int]]:
    """Positions of texts with the same key, where there are several."""
    groups: dict[str, list[int]] = {}
    for place in places:
        groups.setdefault(look(texts[place]), []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def _letters(text: str) -> str:
    return "".join(text.split())


def _first_letters(text: str) -> str:
    begins = ""
    for size in (*LOOKED_AT, len(text)):
        begins = _letters(text[:size])
        if len(begins) >= LOOK_ALIKE:
            break
    return begins[:LOOK_ALIKE]


def _last_letters(text: str) -> str:
    ends = ""
    for size in (*LOOKED_AT, len(text)):
        ends = _letters(text[-size:])
        if len(ends) >= LOOK_ALIKE:
            break
    return ends[-LOOK_ALIKE:]


def _alike(texts: Sequence[str]) -> set[tuple[int, int]]:
    """Pairs of texts, in order, with nearly the same trigrams."""
    import numpy as np

    # Only texts of similar length can be near-duplicates, which rules out most pairs.
    lengths = np.array([len(text) for text in texts], dtype=np.float64)
    near = np.minimum.outer(lengths, lengths) >= ALIKE * np.maximum.outer(lengths, lengths)
    one, other = np.nonzero(near)
    before = np.flatnonzero(one < other)
    one, other = one[before], other[before]
    if not len(one):
        return set()
    rows = np.frombuffer(trigrams.signatures(texts), dtype=np.uint8).reshape(-1, trigrams.WIDTH)
    sizes = trigrams.bits_set(rows)
    both = trigrams.bits_set(rows[one] & rows[other])
    alike = both >= ALIKE * (sizes[one] + sizes[other] - both)
    return set(zip(one[alike].tolist(), other[alike].tolist(), strict=True))
