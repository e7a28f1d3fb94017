"""Hits that say the same, shown once.

Vendored copies, generated variants and tests made by hand from one pattern repeat each other. Of
hits that are alike the best one is shown, and it names the others: nothing is lost, and the room is
left to what differs. Alike are two texts that have the same words in the same order, or nearly the
same trigrams; short texts are alike only if they are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from holdfast.index.search import trigrams
from holdfast.index.search.terms import WORD

ALIKE = 0.92
"""The share of trigrams that two texts have in common, of those either has."""
CHARACTERS_MIN = 200


def folded(texts: Sequence[str]) -> list[int]:
    """For each text, the place of the first one that it is like; its own if there is none."""
    leaders: list[int] = []
    bits: dict[int, int] = {}
    places: list[int] = []
    by_words: dict[bytes, int] = {}
    rows = trigrams.signatures(texts)
    width = trigrams.WIDTH
    for i, text in enumerate(texts):
        words = " ".join(WORD.findall(text))
        key = hashlib.blake2b(
            (words or text).encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()
        same = by_words.setdefault(key, i)
        if same != i:
            places.append(places[same])
            continue
        row = int.from_bytes(rows[i * width : (i + 1) * width], "big")
        place = i
        if len(text) >= CHARACTERS_MIN:
            for leader in leaders:
                if _alike(row, bits[leader], len(text), len(texts[leader])):
                    place = leader
                    break
            else:
                leaders.append(i)
                bits[i] = row
        places.append(place)
    return places


def _alike(row: int, other: int, length: int, other_length: int) -> bool:
    if min(length, other_length) < ALIKE * max(length, other_length):
        return False
    both = (row & other).bit_count()
    return both >= ALIKE * (row | other).bit_count()
