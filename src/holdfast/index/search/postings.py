"""What the chunks of a file can be found by: its terms, counted by chunk and field."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from holdfast.index.search import counting
from holdfast.index.search import segment as segments
from holdfast.index.search.fields import FIELDS, Field, Fields
from holdfast.index.search.segment import COUNT_MAX, LENGTH_MAX, number_of_kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EXACT_FIELDS = frozenset({Field.NAME, Field.STEM, Field.CALL})


def postings(
    fields: Sequence[Fields], lines: Sequence[tuple[int, int]], kinds: Sequence[str]
) -> bytes:
    """The postings of one file, packed."""
    import numpy as np

    n = len(fields)
    texts = list(chain.from_iterable([one.texts() for one in fields]))
    with counting.lock:
        vocabulary = counting.vocabulary()
        words = vocabulary.words(texts)
        in_field = words.places % FIELDS
        spread = np.flatnonzero(in_field != Field.CALL)
        places = words.places[spread]
        terms, sizes = vocabulary.terms_of(words.numbers[spread])
        named = np.flatnonzero(_fields_in(_EXACT_FIELDS)[in_field])
        exact = vocabulary.exact_of(words.numbers[named])
        names = vocabulary.names
    keys = np.concatenate((terms, exact)).astype(np.int64) << 32
    keys |= np.concatenate((np.repeat(places, sizes), words.places[named]))
    keys.sort()
    first = run_starts(keys)
    entries, counts = keys[first], np.diff(first, append=len(keys))
    of_terms = run_starts(entries >> 32)
    found = map(names.__getitem__, (entries[of_terms] >> 32).tolist())
    place = entries & 0xFFFFFFFF
    lengths = np.bincount(places, sizes, minlength=n * FIELDS)
    return segments.pack_file(
        np.fromiter(chain.from_iterable(lines), dtype=np.uint32, count=2 * n),
        np.fromiter(map(number_of_kind, kinds), dtype=np.uint8, count=n),
        np.minimum(lengths, LENGTH_MAX).astype(np.uint16),
        words.digests[Field.BODY :: FIELDS],
        "\n".join(found).encode("utf-8", "surrogatepass"),
        np.append(of_terms, len(entries)).astype(np.uint32),
        (place // FIELDS).astype(np.uint32),
        ((place % FIELDS) << 5 | np.minimum(counts, COUNT_MAX)).astype(np.uint8),
    )


def _fields_in(fields: frozenset[Field]) -> NDArray[np.bool_]:
    import numpy as np

    return np.array([field in fields for field in Field])


def run_starts(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each value of a sorted array stands for the first time."""
    import numpy as np

    fresh = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=fresh[1:])
    return np.flatnonzero(fresh)
