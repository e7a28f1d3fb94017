"""Which chunk stands for its file, and which says little.

The head of a file or of a class says in prose what its members do, so it often matches a question
better than the member that is asked for. Within its file such a head makes way for a function that
matches nearly as well: the file keeps its place, and the reader sees the code.

A function of three lines, or as much of a header, mostly passes on or declares what is done
elsewhere. Having few words it is also near to many questions.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

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
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".d.ts", ".pyi")


def _among(kinds: frozenset[str]) -> NDArray[np.bool_]:
    """For each stored number of a kind, whether it is one of these."""
    import numpy as np

    return np.array([kind in kinds for kind in KINDS] + [False] * (256 - len(KINDS)))


@cache
def _head_kinds() -> NDArray[np.bool_]:
    return _among(_HEADS)


@cache
def _function_kinds() -> NDArray[np.bool_]:
    return _among(_FUNCTIONS)


def is_container(kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which chunks belong to something that has members, and to none of these."""
    return _head_kinds()[kinds]


def is_function(kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which chunks are functions, methods or constructors."""
    return _function_kinds()[kinds]


def is_short(
    kinds: NDArray[np.uint8], lines: NDArray[np.int64], in_header: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which chunks are functions, or parts of a header, of a few lines."""
    short = lines[:, 1] - lines[:, 0] < BRIEF_LINES
    return short & (in_header | _function_kinds()[kinds])


def promote_functions(
    scores: Floats,
    files: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    ties: NDArray[np.int64],
    share: float,
) -> Floats:
    """Scores in which the first chunk of a file, if a head, has changed places with a function.

    That is the file's best chunk which is no head, if it has at least `share` of the score. The
    scores of a file stay the same, as a set.
    """
    import numpy as np

    head = is_container(kinds) | (kinds == KINDS.index("module"))
    order = np.lexsort((ties, -scores, files))
    first = np.ones(len(order), dtype=np.bool_)
    np.not_equal(files[order][1:], files[order][:-1], out=first[1:])
    leaders = order[first]
    # Sorted by file and then by score: the first of each file's others is the best of them.
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
