"""Files that are variants of another file, from their names.

`TraceableMailer` beside `Mailer` is a kind of mailer: when the query does not say *traceable*, the
plain one is meant, although the variant has the same words and often more of them. `MailerRegistry`
is not a kind of mailer, because the last word of a name says what it is. So only words in front
make a variant. If the query names a symbol, words after the name do too: `ListView_Header.cs` has a
part of `ListView`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from holdfast.index.search.fields import path_fields
from holdfast.index.search.terms import parts, stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.query_analysis import AnalyzedQuery

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

FILES_COMPARED = 40
"""How many of the best files are compared with each other."""

NameParts = tuple[str, ...]


def originals_first(
    scores: Floats, files: Rows, paths: Sequence[str], analyzed: AnalyzedQuery, share: float
) -> Floats:
    """Scores after swapping the best chunks of a variant and of its original.

    `files` has the file of each candidate as a position in `paths`. The original must score less
    than the variant, but at least `share` of its score. Each file is swapped once at most.
    """
    import numpy as np

    best = np.full(len(paths), -np.inf)
    np.maximum.at(best, files, scores)
    order = np.argsort(-best, kind="stable")[:FILES_COMPARED].tolist()
    by_folder: dict[str, list[int]] = {}
    for file in order:
        by_folder.setdefault(paths[file].rpartition("/")[0], []).append(file)
    words = words_of(analyzed)
    out = scores
    for together in by_folder.values():
        for variant, original in _pairs(together, paths, words, analyzed.kind == "symbol"):
            if best[variant] > best[original] >= share * best[variant]:
                out = scores.copy() if out is scores else out
                one, other = (_first_best(scores, files, file) for file in (variant, original))
                out[one], out[other] = scores[other], scores[one]
                best[[variant, original]] = -np.inf
    return out


def _pairs(
    files: list[int], paths: Sequence[str], words: frozenset[str], is_symbol: bool
) -> list[tuple[int, int]]:
    if len(files) < 2:
        return []
    names = [(file, name_parts(paths[file])) for file in files]
    asked = [named for named in names if not words.isdisjoint(named[1])]
    return [
        (variant, original)
        for variant, longer in (names if asked else ())
        for original, shorter in asked
        if len(longer) > len(shorter) and is_variant(longer, shorter, words, is_symbol)
    ]


def is_variant(
    name: NameParts, original: NameParts, words: frozenset[str], is_symbol: bool = False
) -> bool:
    """Whether a name is `original` with more words, none of which is in the query.

    The original must have a word of the query: otherwise the query is not about the name.
    """
    more = len(name) - len(original)
    if more <= 0 or not original or words.isdisjoint(original):
        return False
    if name[more:] == original:
        return words.isdisjoint(name[:more])
    behind = name[: len(original)] == original
    return is_symbol and behind and words.isdisjoint(name[len(original) :])


def words_of(analyzed: AnalyzedQuery) -> frozenset[str]:
    """The terms of the query's words and of their synonyms."""
    found: set[str] = set()
    for word in analyzed.words:
        found.add(word.term)
        found.update(word.others)
    return frozenset(found)


@lru_cache(maxsize=65536)
def name_parts(path: str) -> NameParts:
    """The stemmed words of a file's name without its extension."""
    return tuple(stem(part) for part in parts(path_fields(path)[0]))


def _first_best(scores: Floats, files: Rows, file: int) -> int:
    import numpy as np

    mine = np.flatnonzero(files == file)
    return int(mine[np.argmax(scores[mine])])
