"""The lexical lane: BM25F, one score for every row of a corpus.

The occurrences of a query word are summed over all fields, each times its field's weight, and
saturate only then. So a word in both name and body counts more than in one of them, but not as two
words.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from holdfast.index.bounded_cache import BoundedCache
from holdfast.index.search.fields import Field
from holdfast.index.search.query_analysis import AnalyzedQuery
from holdfast.index.search.weights import FieldWeights, Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus, FieldWorths

PREFIX_CHARACTERS_MIN = 3
SPARSE = 2
"""A word with less than one entry per this many rows is added row by row, not by a full pass."""
FEW = 16
"""With less than one entry per this many rows, its rows are sorted instead."""
PREFIX_ENTRIES_MAX = 20_000
"""A prefix with more entries than this is too common to be searched for."""
_CALLS = Field.CALL << 5
"""Entries from here on are callees, which are not searched."""


class Occurrences(NamedTuple):
    """The entries of one query word in all its forms: those of the word itself come first, then
    those of forms that count less and less."""

    rows: NDArray[np.uint32]
    packed: NDArray[np.uint8]
    """The field of each entry, and its count in the lowest five bits."""
    values: NDArray[np.float32]
    """What each entry adds to the frequency: its count, times the weights of field and form."""
    ends: tuple[int, ...]
    """Where the entries of each form end."""
    worths: NDArray[np.float32]
    """The weight of each form."""
    files: int
    """The number of files with the word in a searched field."""
    weight: float
    """The word's weight: its idf times its weight in the query."""
    asked: float


class Within(NamedTuple):
    """The entries of a word in some files only, in the same order."""

    rows: NDArray[np.int64]
    fields: NDArray[np.uint8]
    worths: NDArray[np.float32]
    """The weight of the entry's form."""
    in_files: NDArray[np.float64]
    """The word's weighted frequency in each of the files (count, field and form together). Above 0
    in every file with the word in a searched field."""
    word: Occurrences


class Lexical(msgspec.Struct, frozen=True):
    """The scores of all rows, and the occurrences they were computed from."""

    scores: NDArray[np.float64]
    occurrences: list[Occurrences]
    missing: float = 0.0
    """The weight of the query's words that occur nowhere."""

    def within(
        self, rows: NDArray[np.int64], places: NDArray[np.int64], files: int
    ) -> list[Within]:
        """The occurrences in some files, of which `rows` has all rows, ascending, and `places` the
        number of each one's file, below `files`."""
        import numpy as np

        words = self.occurrences
        if not words:
            return []
        place_of = np.full(len(self.scores), -1, dtype=np.int32)
        place_of[rows] = places
        # All words at once: most have few entries, so the number of steps is what takes time.
        every = np.concatenate([word.rows for word in words])
        place = place_of.take(every)
        at = np.flatnonzero(place >= 0)
        here, place = every.take(at).astype(np.int64), place.take(at)
        fields = np.concatenate([word.packed for word in words]).take(at) >> np.uint8(5)
        values = np.concatenate([word.values for word in words]).take(at)
        forms, words_end = [], [0]
        end = 0
        for word in words:
            forms += [end + form for form in word.ends]
            end = forms[-1]
            words_end.append(len(forms))
        cuts = [0, *at.searchsorted(forms).tolist()]
        worths = np.concatenate([word.worths for word in words])
        worths = worths.repeat([high - low for low, high in pairwise(cuts)])
        bounds = [cuts[end] for end in words_end]
        which = np.arange(len(words)).repeat([high - low for low, high in pairwise(bounds)])
        sums = _sums(which * files + place, values, len(words) * files).reshape(-1, files)
        return [
            Within(here[low:high], fields[low:high], worths[low:high], in_files, word)
            for word, in_files, (low, high) in zip(words, sums, pairwise(bounds), strict=True)
        ]


def rank_lexical(analyzed: AnalyzedQuery, corpus: Corpus, weights: Weights) -> Lexical:
    """BM25F of every row; 0 where none of the words occurs."""
    import numpy as np

    scores = np.zeros(corpus.rows, dtype=np.float64)
    worth_of = corpus.field_worths(weights.fields.weights(), weights.fields.slopes())
    found: list[Occurrences] = []
    missing = 0.0
    for word in _words(analyzed, weights):
        key = (corpus.serial, word, weights.fields)
        scored = _recent.get(key)
        if scored is None:
            scored = _score(corpus, word, worth_of, weights.fields.saturation)
            if scored is None:
                # Joined words are guesses: most of them occur nowhere.
                missing += idf(corpus.chunks, 0) if word.asked == 1.0 else 0.0
                continue
            _recent.put(key, scored, scored.size_bytes)
        if isinstance(scored.there, slice):
            scores += scored.part
        else:
            # Quicker than to read, add and write all at once; each row is there once.
            np.add.at(scores, scored.there.astype(np.intp), scored.part)
        found.append(scored.occurrences)
    return Lexical(scores, found, missing)


class _Scored(NamedTuple):
    """A word's occurrences and what it adds to the scores of which rows."""

    occurrences: Occurrences
    there: NDArray[np.uint32] | slice
    part: NDArray[np.float64]

    @property
    def size_bytes(self) -> int:
        arrays = (*self.occurrences[:3], self.part)
        there = 0 if isinstance(self.there, slice) else self.there.nbytes
        return there + sum([array.nbytes for array in arrays])


RECENT_BYTES_MAX = 24 << 20
_recent: BoundedCache[tuple[int, _Word, FieldWeights], _Scored] = BoundedCache(RECENT_BYTES_MAX)
"""The scores of recent words, by corpus: the next question is often about the same things."""


def _score(corpus: Corpus, word: _Word, worth_of: FieldWorths, saturation: float) -> _Scored | None:
    """The score of one word; None if it occurs nowhere."""
    import numpy as np

    gathered = _gather(corpus, word)
    if gathered is None:
        return None
    rows, packed, forms, exact_rows = gathered
    value = worth_of(rows, packed >> np.uint8(5))
    value *= packed & np.uint8(31)
    at = 0
    for entries, _, share in forms:
        value[at : at + entries] *= np.float32(share)
        at += entries
    there, frequency = _frequencies(rows, value, corpus.rows)
    is_there = frequency > 0
    containing = exact_rows or int(np.count_nonzero(is_there))
    weight = word.asked * idf(corpus.chunks, containing)
    part = frequency + saturation
    np.divide(frequency, part, out=part)
    part *= weight
    holding = np.flatnonzero(is_there)
    files = corpus.file_of.take(holding if isinstance(there, slice) else there.take(holding))
    sizes, worths, _ = zip(*forms, strict=True)
    occurrences = Occurrences(
        rows.astype(np.uint32),
        packed,
        value,
        tuple(accumulate(sizes)),
        np.array(worths, dtype=np.float32),
        # The rows of a file are consecutive.
        int(np.count_nonzero(files[1:] != files[:-1])) + min(len(files), 1),
        weight,
        word.asked,
    )
    if not isinstance(there, slice):
        return _Scored(occurrences, there.astype(np.uint32), part)
    return _Scored(occurrences, there, part)


def _frequencies(
    rows: NDArray[np.int64], values: NDArray[np.float32], total: int
) -> tuple[NDArray[np.int64] | slice, NDArray[np.float64]]:
    """The sum of the values of each row, and which rows these are: of all, or of those that occur.

    Values are added in their order either way, so the sums are the same to the last bit.
    """
    import numpy as np

    if len(rows) * FEW < total:
        order = np.argsort(rows, kind="stable")
        in_order = rows.take(order)
        first = np.ones(len(rows), dtype=np.bool_)
        np.not_equal(in_order[1:], in_order[:-1], out=first[1:])
        return in_order[first], _sums(np.cumsum(first) - 1, values.take(order))
    sums = _sums(rows, values, total)
    if len(rows) * SPARSE < total:
        there = np.flatnonzero(sums > 0)
        return there, sums.take(there)
    return slice(None), sums


def _sums(
    places: NDArray[Any], values: NDArray[np.float32], places_min: int = 0
) -> NDArray[np.float64]:
    """The sum of the values at each place."""
    import numpy as np

    sums = np.bincount(places, weights=values, minlength=places_min)
    return sums.astype(np.float64, copy=False)  # Without values they would be integers.


def idf(chunks: int, containing: int) -> float:
    """Inverse document frequency of a word; always positive."""
    import math

    return math.log(1.0 + (chunks - containing + 0.5) / (containing + 0.5))


class _Word(NamedTuple):
    """A word to look for, its other forms, and the weight of longer words that begin with it."""

    term: str
    asked: float
    others: tuple[str, ...] = ()
    stemmates: float = 0.0
    prefix: float = 0.0


def _words(analyzed: AnalyzedQuery, weights: Weights) -> list[_Word]:
    words = [
        _Word(
            word.term,
            1.0,
            tuple(word.others) if weights.stemmates else (),
            weights.stemmates,
            weights.prefix if len(word.term) >= PREFIX_CHARACTERS_MIN else 0.0,
        )
        for word in analyzed.words
    ]
    if weights.joined:
        words += [_Word(term, weights.joined) for term in analyzed.joins]
    return words


def _gather(
    corpus: Corpus, word: _Word
) -> tuple[NDArray[np.int64], NDArray[np.uint8], list[tuple[int, float, float]], int] | None:
    """All entries of a word: rows, packed fields, the forms in their order, exact rows.

    A form has its number of entries, its weight and what an occurrence counts: the word itself is
    also among the words that begin with it, so its entries have both weights.
    The last number is how many rows have the word itself.
    """
    import numpy as np

    prefix = word.prefix
    if prefix and corpus.is_common(word.term, PREFIX_ENTRIES_MAX):
        prefix = 0.0
    rows, packed, own = corpus.with_longer(word.term, prefix=prefix > 0)
    others = [(*corpus.entries(term), word.stemmates, word.stemmates) for term in word.others]
    others = [piece for piece in others if len(piece[0])]
    itself = (rows[:own], packed[:own], 1.0, 1.0 + prefix)
    longer = (rows[own:], packed[own:], prefix, prefix)
    pieces = [itself, *sorted([*others, longer], key=lambda piece: -piece[2])]
    forms = [(len(piece[0]), piece[2], piece[3]) for piece in pieces if len(piece[0])]
    if not forms:
        return None
    # The entries of a term are ordered by row.
    searched, is_searched = itself[0], itself[1] < _CALLS
    if not is_searched.all():
        searched = searched[is_searched]
    exact = int(np.count_nonzero(searched[1:] != searched[:-1])) + 1 if len(searched) else 0
    if others:
        rows = np.concatenate([piece[0] for piece in pieces])
        packed = np.concatenate([piece[1] for piece in pieces])
    return rows, packed, forms, exact
