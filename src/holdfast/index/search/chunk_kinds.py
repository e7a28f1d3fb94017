"""Kinds of chunks that matter to ranking: heads of classes, functions, short functions.

The head of a file or class describes what its members do, so it often matches a query better than
the member that answers it. A function of the file that matches nearly as well is promoted over the
head: the file keeps its rank, and the reader sees code.

A function of three lines mostly delegates, and a short part of a header only declares. With so few
words they are also similar to many queries.

A member of an interface, an annotation or a documented option is mostly doc comment: it says at
length what other code does, so it often matches a query better than that code.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holdfast.index.search.fields import Field
from holdfast.index.search.posting_segment import KINDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_HEADS = frozenset(
    {"class", "interface", "trait", "struct", "union", "enum", "object", "namespace"}
)


_FUNCTIONS = frozenset({"function", "method", "constructor"})
BRIEF_LINES = 3
PROSE_SHARE = 0.5
"""Up to how many words of code for each word of its doc comment a chunk is prose."""
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".d.ts", ".pyi")


def is_header(path: str) -> bool:
    return path.endswith(HEADERS)


def _among(kinds: frozenset[str]) -> NDArray[np.bool_]:
    """For each stored kind number, whether it is one of these."""
    import numpy as np

    return np.array([kind in kinds for kind in KINDS] + [False] * (256 - len(KINDS)))


@cache
def _head_kinds() -> NDArray[np.bool_]:
    return _among(_HEADS)


@cache
def _function_kinds() -> NDArray[np.bool_]:
    return _among(_FUNCTIONS)


def is_container(kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which chunks are the head of a class, a namespace or another container."""
    return _head_kinds()[kinds]


def is_function(kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which chunks are functions, methods or constructors."""
    return _function_kinds()[kinds]


def is_short(
    kinds: NDArray[np.uint8], lines: NDArray[np.int64], in_header: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which chunks are functions, or parts of a header, of at most three lines."""
    short = lines[:, 1] - lines[:, 0] < BRIEF_LINES
    return short & (in_header | _function_kinds()[kinds])


def is_prose(kinds: NDArray[np.uint8], lengths: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Which chunks have at least twice as many words of doc comment as of code.

    The head of a class is not one of them: its code is in other chunks.
    """
    import numpy as np

    words = lengths.astype(np.int64)
    doc = words[:, Field.DOC]
    # The body is the whole text of the chunk.
    code = words[:, Field.BODY] - doc - words[:, Field.SIGNATURE]
    mostly: NDArray[np.bool_] = (doc > 0) & (code <= PROSE_SHARE * doc)
    return mostly & ~is_container(kinds)


def promote_functions(
    scores: Floats,
    files: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    ties: NDArray[np.int64],
    share: float,
) -> Floats:
    """Scores after swapping the best chunk of a file, if it is a head, with the best other chunk.

    The other chunk needs at least `share` of the head's score. A file keeps its set of scores.
    """
    import numpy as np

    head = is_container(kinds) | (kinds == KINDS.index("module"))
    order = np.lexsort((ties, -scores, files))
    first = np.ones(len(order), dtype=np.bool_)
    np.not_equal(files[order][1:], files[order][:-1], out=first[1:])
    leaders = order[first]
    # Sorted by file and score, so the first of a file's others is its best.
    others = order[~head[order]]
    begins = np.ones(len(others), dtype=np.bool_)
    np.not_equal(files[others][1:], files[others][:-1], out=begins[1:])
    best = np.full(int(files.max(initial=-1)) + 1, -1, dtype=np.int64)
    best[files[others[begins]]] = others[begins]
    rivals = best[files[leaders]]
    swap = head[leaders] & (rivals >= 0)
    swap[swap] = scores[rivals[swap]] >= share * scores[leaders[swap]]
    out = scores.copy()
    out[leaders[swap]], out[rivals[swap]] = scores[rivals[swap]], scores[leaders[swap]]
    return out
