"""The lexical lane: BM25F, one score for every row of a corpus.

Each asked word gathers its occurrences from all fields, each worth what its field is worth, into
one frequency, and only then saturates. So a word that stands in the name and in the body counts
more than in one of them, and not as two words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.index.search.fields import Field
from holdfast.index.search.understand import Question
from holdfast.index.search.weights import Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus

PREFIX_CHARACTERS_MIN = 3
SPARSE = 8
"""A word with fewer entries than one for so many rows is added where it stands only."""
PREFIX_ENTRIES_MAX = 20_000
"""A beginning that so many words share tells nothing."""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where one asked word stands, in any of its forms: entries, and what each form is worth."""

    rows: NDArray[np.int64]
    fields: NDArray[np.uint8]
    worths: NDArray[np.float32]
    """Never rising: the word itself, then its other forms, those that count most first."""
    in_files: NDArray[np.float64]
    """How often it stands in each file, by what each entry adds to its chunk's frequency: count,
    field and form together. Above 0 where a field that is searched has it."""
    weight: float
    """The word's own weight: how much it tells (idf) by how much it was asked for."""
    asked: float


@dataclass(frozen=True, slots=True)
class Lexical:
    """Scores of all rows, and the occurrences they were made of."""

    scores: NDArray[np.float64]
    occurrences: list[Occurrences]


def rank_lexical(question: Question, corpus: Corpus, weights: Weights) -> Lexical:
    """BM25F of every row; 0 where none of the words stands."""
    import numpy as np

    scores = np.zeros(corpus.rows, dtype=np.float64)
    worth_of = corpus.field_worths(weights.fields.weights(), weights.fields.slopes())
    found: list[Occurrences] = []
    for forms, asked in _forms(question, weights):
        gathered = _gather(corpus, forms)
        if gathered is None:
            continue
        rows, packed, worths, exact_rows = gathered
        fields = packed >> np.uint8(5)
        value = worth_of(rows, fields)
        value *= packed & np.uint8(31)
        value *= worths
        frequency = np.bincount(rows, weights=value, minlength=corpus.rows)
        containing = exact_rows or int(np.count_nonzero(frequency))
        weight = asked * idf(corpus.chunks, containing)
        if len(rows) * SPARSE < corpus.rows:
            at = np.flatnonzero(frequency > 0)
            frequency = frequency.take(at)
            scores[at] += weight * (frequency / (frequency + weights.fields.saturation))
        else:
            scores += weight * (frequency / (frequency + weights.fields.saturation))
        in_files: NDArray[np.float64] = np.bincount(
            corpus.file_of.take(rows), weights=value, minlength=len(corpus.files)
        ).astype(np.float64, copy=False)
        found.append(Occurrences(rows, fields, worths, in_files, weight, asked))
    return Lexical(scores, found)


def idf(chunks: int, containing: int) -> float:
    """How much a word tells that stands in so many of the chunks; never zero or less."""
    import math

    return math.log(1.0 + (chunks - containing + 0.5) / (containing + 0.5))


Form = tuple[str, bool, float]
"""A term, whether it stands for all that begin with it, and what it counts."""


def _forms(question: Question, weights: Weights) -> list[tuple[list[Form], float]]:
    forms: list[tuple[list[Form], float]] = []
    for word in question.words:
        others: list[Form] = []
        if weights.stemmates:
            others += [(other, False, weights.stemmates) for other in word.others]
        if weights.prefix and len(word.term) >= PREFIX_CHARACTERS_MIN:
            others.append((word.term, True, weights.prefix))
        others.sort(key=lambda form: -form[2])
        assert not others or others[0][2] <= 1.0, "no form counts more than the word itself"
        forms.append(([(word.term, False, 1.0), *others], 1.0))
    if weights.joined:
        forms += [([(term, False, 1.0)], weights.joined) for term in question.joins]
    return forms


def _gather(
    corpus: Corpus, forms: Sequence[Form]
) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.float32], int] | None:
    """All entries of a word's forms, and how many rows have its first form."""
    import numpy as np

    rows, counts, worths = [], [], []
    exact = 0
    for number, (term, prefix, worth) in enumerate(forms):
        at, packed = corpus.entries(term, prefix=prefix)
        if not len(at) or (prefix and len(at) > PREFIX_ENTRIES_MAX):
            continue
        if number == 0:
            searched = at.take(np.flatnonzero(packed < Field.CALL << 5))
            # Entries of one term are in the order of rows within each segment.
            exact = int(np.count_nonzero(searched[1:] != searched[:-1])) + 1 if len(searched) else 0
        rows.append(at)
        counts.append(packed)
        worths.append(np.full(len(at), worth, dtype=np.float32))
    if not rows:
        return None
    if len(rows) == 1:
        return rows[0], counts[0], worths[0], exact
    return np.concatenate(rows), np.concatenate(counts), np.concatenate(worths), exact
