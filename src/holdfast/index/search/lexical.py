"""Words as programmers use them, and BM25 over them.

`parseHTTPResponse` is asked for as "http response" and as "parseHTTPResponse", so an identifier
counts as itself and as its parts. The score is the one SQLite's FTS5 computes, written out, so that
every backend and the overlay of unsaved changes rank on one scale.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

K1, B = 1.2, 0.75
HEADER_WEIGHT = 3.0
"""How much more a word in the header (path, symbol, signature) counts than one in the body."""

WORD_CHARACTERS_MAX = 64

_WORD = re.compile(r"\w+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+|[^\W\dA-Za-z_]+")

_MEMO_MAX = 200_000


class _Memo(dict[str, str]):
    """Each word as met in text -> the words it counts as, apart by spaces."""

    def __missing__(self, word: str) -> str:
        if len(self) > _MEMO_MAX:
            self.clear()
        split = self[word] = " ".join(_split(word))
        return split


_memo = _Memo()


def spaced_words(text: str) -> str:
    """The words of a text in order, apart by single spaces.

    Each identifier counts, then its parts if it has several. All in C, because every byte of a
    tree passes through here.
    """
    joined = " ".join(map(_memo.__getitem__, _WORD.findall(text)))
    if "  " in joined or joined[:1] == " " or joined[-1:] == " ":
        return " ".join(joined.split())
    return joined


def words(text: str) -> list[str]:
    """The words of a text in order, as a list."""
    return spaced_words(text).split()


def _split(word: str) -> tuple[str, ...]:
    if len(word) > WORD_CHARACTERS_MAX:
        return ()
    whole = word.strip("_").lower()
    if not whole:
        return ()
    parts = [part.lower() for part in _PARTS.findall(word)]
    return (whole,) if parts == [whole] else (whole, *parts)


_ASIDE = frozenset(
    re.findall(
        r"\w+",
        """
        a an the and or of to in on at by for from with as is are was be been it its this that
        these those how where what which who when why does do did done can could should would
        will i we you they there here into than then so if not no any all some
        """,
    )
)
"""Words of a question that say nothing about code."""


def query_words(query: str) -> list[str]:
    """The distinct words to look for, in the order asked; those that say little only if alone."""
    asked = list(dict.fromkeys(words(query)))
    return [word for word in asked if word not in _ASIDE] or asked


@dataclass(frozen=True, slots=True)
class TermStats:
    """What BM25 must know of a corpus: how many chunks, how long on average, which words where."""

    chunks: int
    average_length: float
    containing: Mapping[str, int]

    def weight(self, word: str) -> float:
        """How much a word tells; as FTS5 has it, never zero or less."""
        n = self.containing.get(word, 0)
        idf = math.log((self.chunks - n + 0.5) / (n + 0.5)) if self.chunks > n else 0.0
        return idf if idf > 0 else 1e-6


def weighted_counts(header: Sequence[str], body: Sequence[str]) -> dict[str, float]:
    """How often each word occurs in a chunk, a header's words counting more."""
    counts: dict[str, float] = dict(Counter(body))
    for word, n in Counter(header).items():
        counts[word] = counts.get(word, 0) + HEADER_WEIGHT * n
    return counts


def score(
    query: Iterable[str], counts: Mapping[str, float], length: int, stats: TermStats
) -> float:
    """BM25 of one chunk for a query; 0 when it has none of the words."""
    average = stats.average_length or 1.0
    total = 0.0
    for word in query:
        frequency = counts.get(word, 0.0)
        if frequency:
            norm = K1 * (1 - B + B * length / average)
            total += stats.weight(word) * frequency * (K1 + 1) / (frequency + norm)
    return total
