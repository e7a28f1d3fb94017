"""Count the terms of many texts with array operations.

The obvious way is a regular expression and a dictionary. But a tree has a million words, and
creating a Python object for each takes longer than parsing the tree. So words stay bytes: a
translation table turns non-word characters into zeros, a polynomial hash is computed for each word,
and a hash table maps it to the word's number. Only a word that is new to this process becomes a
string, once, to be split into its terms.

A 64-bit hash identifies its word: among a million different words, the chance of a collision is one
in forty million.
"""

from __future__ import annotations

import threading
import zlib
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from holdfast.index.search.terms import WORD, compact, split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT = "="
"""Prefix of unstemmed terms for the names of symbols, files and callees: `=parser` and `=parsing`
differ, although both have the same stem."""

_LETTERS = bytes(c if chr(c).isalnum() or chr(c) == "_" else 0 for c in range(128)) + bytes(128)
_BASE = 0x9E3779B97F4A7C15
_MIX = 0xD6E8FEB86659FD93
_TABLE_BITS = 18
_BLOCK_BYTES = 65_536
_WORDS_MAX = 60_000
"""With more words than this the vocabulary is cleared: it takes most of the memory."""


class Words(msgspec.Struct, frozen=True):
    """The words of some texts: the number of each word, and the position of its text."""

    numbers: NDArray[np.int32]
    places: NDArray[np.int64]
    digests: NDArray[np.uint32]
    """For each text a hash of its words in order, ignoring what is between them."""


@lru_cache(maxsize=1)
def _powers(bits: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The powers of the base, and their inverses."""
    import numpy as np

    bases = np.full((2, 1 << bits), _BASE, dtype=np.uint64)
    bases[1] = pow(_BASE, -1, 1 << 64)
    bases[:, 0] = 1
    powers = np.cumprod(bases, axis=1, dtype=np.uint64)
    return powers[0], powers[1]


def _bits(size: int) -> int:
    return max(_BLOCK_BYTES + 16_384, size).bit_length()


def word_hashes(letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A polynomial hash of each word; characters between words must be zeros."""
    import numpy as np

    powers, inverses = _powers(_bits(len(letters)))
    found: NDArray[np.uint64] = np.add.reduceat(letters * powers[: len(letters)], starts)
    found *= inverses[starts]
    return found


class _Terms(dict[str, int]):
    """Terms, numbered in order of appearance."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self.names)
        self.names.append(term)
        return number


class _Others(dict[str, int]):
    """Numbers of the non-ASCII words; ASCII words are identified by hashes."""

    def __init__(self, number: Callable[[str], int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, word: str) -> int:
        number = self[word] = self._number(word)
        return number


class Vocabulary:
    """Assigns numbers to words and to their terms, in order of appearance."""

    def __init__(self) -> None:
        import numpy as np

        self._terms = _Terms()
        self.names = self._terms.names
        """Terms by number."""
        self._words: list[str] = []
        self._others = _Others(self._number)
        self._of_hash: dict[int, int] = {}
        # The terms of all words, concatenated, and the start of each word's.
        self._flat = array("i")
        self._starts = array("i", [0])
        self._exact = array("i")
        # A cache by a part of the hash; `_of_hash` has all words.
        self._hashes = np.zeros(1 << _TABLE_BITS, dtype=np.uint64)
        self._met = np.zeros(1 << _TABLE_BITS, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._words)

    def _number(self, word: str) -> int:
        """The number of a new word."""
        self._add([word])
        return len(self._words) - 1

    def _add(self, words: Sequence[str]) -> None:
        """Assign the next numbers to new words."""
        term, at = self._terms.__getitem__, len(self._flat)
        flat: list[int] = []
        starts: list[int] = []
        for word in words:
            flat += map(term, split(word))
            starts.append(at + len(flat))
        self._words += words
        self._flat.fromlist(flat)
        self._starts.fromlist(starts)
        self._exact.fromlist([-1] * len(words))

    def words(self, texts: Sequence[str]) -> Words:
        """The words of texts, and a digest of each text."""
        import numpy as np

        found: list[Words] = []
        at = 0
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        ends = np.cumsum(sizes + 1)
        while at < len(texts):
            done = int(ends[at - 1]) if at else 0
            until = max(at + 1, int(np.searchsorted(ends, done + _BLOCK_BYTES)))
            block = "\0".join(texts[at:until])
            if block.isascii():
                found.append(self._plain(at, block, ends[at:until] - done))
            else:
                found += self._other(at, texts[at:until])
            at = until
        if len(found) == 1:
            return found[0]
        return Words(
            np.concatenate([np.empty(0, np.int32), *[words.numbers for words in found]]),
            np.concatenate([np.empty(0, np.int64), *[words.places for words in found]]),
            np.concatenate([np.empty(0, np.uint32), *[words.digests for words in found]]),
        )

    def _other(self, first: int, texts: Sequence[str]) -> list[Words]:
        """The same for texts with non-ASCII words, which are handled one by one."""
        import numpy as np

        plain = list(texts)
        numbers: list[int] = []
        places: list[int] = []
        digests = np.zeros(len(texts), dtype=np.uint32)
        for place, text in enumerate(texts):
            if text.isascii():
                continue
            words = WORD.findall(text)
            others = [word for word in words if not word.isascii()]
            if others:
                plain[place] = " ".join([word for word in words if word.isascii()])
                numbers += map(self._others.__getitem__, others)
                places += [first + place] * len(others)
                digests[place] = zlib.crc32(" ".join(others).encode("utf-8", "surrogatepass"))
            else:
                plain[place] = text.encode("ascii", "replace").decode()
        sizes = np.fromiter(map(len, plain), dtype=np.int64, count=len(plain))
        rest = self._plain(first, "\0".join(plain), np.cumsum(sizes + 1))
        return [
            Words(np.array(numbers, np.int32), np.array(places, np.int64), digests[:0]),
            Words(rest.numbers, rest.places, rest.digests ^ digests),
        ]

    def _plain(self, first: int, joined: str, ends: NDArray[np.int64]) -> Words:
        """The same for joined ASCII texts; `ends` are the positions after each text."""
        import numpy as np

        raw = f"\0{joined}\0".encode().translate(_LETTERS)
        letters = np.frombuffer(raw, dtype=np.uint8)
        inside = letters != 0
        starts = np.flatnonzero(inside[1:] > inside[:-1]) + 1
        limits = np.zeros(len(ends) + 1, dtype=np.int64)
        limits[1:] = np.searchsorted(starts, ends)
        places = np.repeat(np.arange(first, first + len(ends)), np.diff(limits))
        if not len(starts):
            return Words(np.empty(0, np.int32), places, np.zeros(len(ends), np.uint32))
        hashes = word_hashes(letters, starts)
        powers, _ = _powers(_bits(len(raw)))
        slots = (hashes * np.uint64(_MIX)) >> np.uint64(64 - _TABLE_BITS)
        numbers = self._met[slots]
        missed = np.flatnonzero(self._hashes[slots] != hashes)
        if len(missed):
            # A new word usually occurs several times.
            values, first_at, same = np.unique(
                hashes[missed], return_index=True, return_inverse=True
            )
            found = self._looked_up(raw, starts[missed[first_at]].tolist(), values.tolist())
            numbers[missed] = np.array(found, dtype=np.int32)[same]
            self._hashes[slots[missed]] = hashes[missed]
            self._met[slots[missed]] = numbers[missed]
        # Mixed, because a sum of sums would not notice letters moving between words.
        mixed = (hashes ^ (hashes >> np.uint64(32))) * np.uint64(_MIX)
        sums = np.zeros(len(starts) + 1, dtype=np.uint64)
        np.cumsum(mixed * powers[np.arange(len(starts)) - limits[places - first]], out=sums[1:])
        digests = (sums[limits[1:]] - sums[limits[:-1]]) >> np.uint64(32)
        return Words(numbers, places, digests.astype(np.uint32))

    def _looked_up(self, raw: bytes, starts: list[int], hashes: list[int]) -> list[int]:
        known, ends = self._of_hash, raw.index
        found = list(map(known.get, hashes))
        new = [at for at, number in enumerate(found) if number is None]
        number = len(self._words)
        self._add([raw[starts[at] : ends(0, starts[at])].decode() for at in new])
        for at in new:
            found[at] = known[hashes[at]] = number
            number += 1
        return found  # type: ignore[return-value]

    def terms_of(self, words: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The terms of words, in order, and the number of terms of each word."""
        import numpy as np

        starts = np.frombuffer(self._starts, dtype=np.int32)
        flat = np.frombuffer(self._flat, dtype=np.int32)
        first = starts[words].astype(np.int64)
        sizes = starts[1:][words] - first
        shifts = np.repeat(first - np.cumsum(sizes) + sizes, sizes)
        shifts += np.arange(len(shifts))
        return flat[shifts], sizes

    def exact_of(self, words: NDArray[np.int32]) -> NDArray[np.int32]:
        """The unstemmed term of each word."""
        import numpy as np

        exact = np.frombuffer(self._exact, dtype=np.int32)
        found: NDArray[np.int32] = exact[words]
        unknown = found < 0
        if unknown.any():
            for number in set(words[unknown].tolist()):
                exact[number] = self._terms[EXACT + compact(self._words[number])]
            found = exact[words]
        return found


_vocabulary: Vocabulary | None = None
vocabulary_lock = threading.Lock()
"""Guards the shared vocabulary."""


def shared_vocabulary() -> Vocabulary:
    """The vocabulary of this process; replaced when it has grown too large."""
    global _vocabulary
    if _vocabulary is None or len(_vocabulary) > _WORDS_MAX:
        _vocabulary = Vocabulary()
    return _vocabulary
