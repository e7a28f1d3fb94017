"""Build the postings of files: their terms, counted by chunk and field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from holdfast.index.search import posting_segment as segments
from holdfast.index.search.fields import FIELDS, Field, Fields
from holdfast.index.search.posting_segment import COUNT_MAX, LENGTH_MAX, number_of_kind
from holdfast.index.search.vocabulary import shared_vocabulary, vocabulary_lock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EXACT_FIELDS = frozenset({Field.NAME, Field.STEM, Field.CALL})
_PLACE_BITS, _TERM_BITS = 24, 24
_PLACE, _TERM = (1 << _PLACE_BITS) - 1, (1 << _TERM_BITS) - 1
_FILE_SHIFT = _PLACE_BITS + _TERM_BITS


@dataclass(frozen=True, slots=True)
class Rows:
    """The chunks of a file that have a text: their fields, lines and kinds."""

    fields: Sequence[Fields]
    lines: Sequence[tuple[int, int]]
    kinds: Sequence[str]


def postings(files: Sequence[Rows]) -> list[bytes]:
    """The postings of each file, packed. Many files at once are much faster than one by one."""
    import numpy as np

    texts = list(chain.from_iterable([one.texts() for file in files for one in file.fields]))
    counts = np.array([len(file.fields) for file in files], dtype=np.int64)
    bounds = np.append(0, np.cumsum(counts))
    # The position of each text: its file, and its row and field in that file.
    of_texts = np.repeat((np.arange(len(files)) << _FILE_SHIFT) - bounds[:-1] * FIELDS,
                         counts * FIELDS) + np.arange(len(texts))  # fmt: skip
    with vocabulary_lock:
        vocabulary = shared_vocabulary()
        words = vocabulary.words(texts)
        in_field = words.places % FIELDS
        spread = np.flatnonzero(in_field != Field.CALL)
        places = words.places[spread]
        terms, sizes = vocabulary.terms_of(words.numbers[spread])
        named = np.flatnonzero(_fields_in(_EXACT_FIELDS)[in_field])
        exact = vocabulary.exact_of(words.numbers[named])
        names = vocabulary.names
    keys = np.concatenate((terms, exact)).astype(np.int64) << _PLACE_BITS
    keys += np.concatenate((np.repeat(of_texts[places], sizes), of_texts[words.places[named]]))
    keys.sort()
    first = run_starts(keys)
    entries, times = keys[first], np.diff(first, append=len(keys))
    starts = run_starts(entries >> _PLACE_BITS)
    found = list(map(names.__getitem__, ((entries[starts] >> _PLACE_BITS) & _TERM).tolist()))
    files_at = np.searchsorted(entries, np.arange(len(files) + 1) << _FILE_SHIFT)
    terms_at = np.searchsorted(starts, files_at).tolist()
    of_files = files_at.tolist()
    starts = np.append(starts, len(entries))
    place = entries & _PLACE
    rows = (place // FIELDS).astype(np.uint32)
    packed = ((place % FIELDS) << 5 | np.minimum(times, COUNT_MAX)).astype(np.uint8)
    lengths = np.minimum(np.bincount(places, sizes, minlength=len(texts)), LENGTH_MAX)
    lengths = lengths.astype(np.uint16).reshape(-1, FIELDS)
    digests = words.digests[Field.BODY :: FIELDS]
    made = []
    at = 0
    for number, file in enumerate(files):
        n = len(file.fields)
        low, high = of_files[number : number + 2]
        some = slice(terms_at[number], terms_at[number + 1])
        own = np.append(starts[some], high) - low
        made.append(
            segments.pack_file(
                np.fromiter(chain.from_iterable(file.lines), dtype=np.uint32, count=2 * n),
                np.fromiter(map(number_of_kind, file.kinds), dtype=np.uint8, count=n),
                lengths[at : at + n],
                digests[at : at + n],
                "\n".join(found[some]).encode("utf-8", "surrogatepass"),
                own.astype(np.uint32),
                rows[low:high],
                packed[low:high],
            )
        )
        at += n
    return made


def _fields_in(fields: frozenset[Field]) -> NDArray[np.bool_]:
    import numpy as np

    return np.array([field in fields for field in Field])


def run_starts(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first position of each value of a sorted array."""
    import numpy as np

    fresh = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=fresh[1:])
    return np.flatnonzero(fresh)
