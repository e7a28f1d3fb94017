"""Find the definition of each function that a C or C++ header only declares.

The doc comment of a function is in the header and its code in another file, so a query matches the
header but asks for the code. The definition has the same name and is in a source file with the
header's name, or in the only source file that defines that name.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from holdfast.index.search.chunk_kinds import is_function
from holdfast.index.search.fields import Field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.file_table import Files

    Numbers = NDArray[np.int64]

DECLARING = (".h", ".hh", ".hpp", ".hxx")
DEFINING = (".c", ".cc", ".cpp", ".cxx", ".m", ".mm")
_PRIVATE = re.compile(r"(?:_p|_priv|_private|_internal|_impl|_details)\Z")
"""What the name of a private header has after the name of its source file."""
_EITHER = (*DECLARING, *DEFINING)
_OTHER, _DECLARES, _DEFINES = range(3)
_LAST = frozenset({ending[-1] for ending in _EITHER} | {ending[-1].upper() for ending in _EITHER})
"""The last letters of these endings, to tell most files at once."""


def definition_rows(corpus: Corpus) -> NDArray[np.int32]:
    """For each row that declares a function, the row where its body begins; else -1."""
    import numpy as np

    out = np.full(corpus.rows, -1, dtype=np.int32)
    parts, stems, count = _parts_of_files(corpus.files)
    if _DECLARES not in parts or _DEFINES not in parts:
        return out
    found = []
    for begin, each in zip(corpus.firsts, corpus.parts, strict=True):
        own = slice(begin, begin + each.segment.rows)
        # Rows that are not current have no file, which is the last of `parts`.
        asked = parts[corpus.file_of[own]] != _OTHER
        asked &= is_function(corpus.kinds[own])
        if asked.any():
            named = corpus.names.of(each.segment)
            known = asked[named.defined_in]
            rows = named.defined_in[known].astype(np.int64) + begin
            found.append((named.defined[known].astype(np.int64), rows))
    if not found:
        return out
    terms, rows = (np.concatenate(column) for column in zip(*found, strict=True))
    part = parts[corpus.file_of[rows]]
    # A header with more than the doc comment and the signature has the code itself.
    lengths = corpus.lengths[rows].astype(np.int64)
    said = lengths[:, Field.DOC] + lengths[:, Field.SIGNATURE]
    declares = (part == _DECLARES) & (lengths[:, Field.BODY] <= said)
    asking, of_term = rows[declares], terms[declares]
    defines = part == _DEFINES
    terms, rows = terms[defines], rows[defines]
    files = corpus.file_of[rows]
    # By name, file and position: the first row of a run is where a body begins.
    order = np.lexsort((corpus.ties[rows], terms))
    terms, rows, files = terms[order], rows[order], files[order]
    first = np.ones(len(rows), dtype=np.bool_)
    first[1:] = (terms[1:] != terms[:-1]) | (files[1:] != files[:-1])
    terms, rows, files = terms[first], rows[first], files[first]
    low, high = np.searchsorted(terms, of_term), np.searchsorted(terms, of_term, "right")
    only = high - low == 1
    _give(corpus, out, asking[only], rows[low[only]])
    wide = np.int64(count + 1)
    keys = terms * wide + stems[files]
    order = np.lexsort((corpus.ties[rows], keys))
    keys, rows = keys[order], rows[order]
    wanted = of_term * wide + stems[corpus.file_of[asking]]
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if len(keys):
        same = keys[at] == wanted
        _give(corpus, out, asking[same], rows[at[same]])
    return out


class _Parts(NamedTuple):
    """Which of some files are headers or source files, and the number of each one's stem."""

    parts: NDArray[np.int8]
    stems: NDArray[np.int64]
    numbers: dict[str, int]


def _parts_of_paths(paths: Iterable[str]) -> _Parts:
    import numpy as np

    parts, stems = array("b"), array("q")
    numbers: dict[str, int] = {}
    for path in paths:
        part, stem = _part(path) if path[-1:] in _LAST else (_OTHER, "")
        parts.append(part)
        stems.append(-1 if part == _OTHER else numbers.setdefault(stem, len(numbers)))
    return _Parts(np.array(parts, dtype=np.int8), np.array(stems, dtype=np.int64), numbers)


def _parts_of_files(files: Files) -> tuple[NDArray[np.int8], NDArray[np.int64], int]:
    """For each file, and last for none, whether it is a header or a source file and the number of
    its stem; and how many stems there are."""
    import numpy as np

    parts = np.full(len(files) + 1, _OTHER, dtype=np.int8)
    stems = np.full(len(files) + 1, -1, dtype=np.int64)
    # Those of the list are the same after every sync.
    known = files.table.derived(_parts_of_paths)
    listed = np.flatnonzero(files.places < files.table.first_other)
    parts[listed] = known.parts[files.places[listed]]
    stems[listed] = known.stems[files.places[listed]]
    count, more = len(known.numbers), dict[str, int]()
    for at in np.flatnonzero(files.places >= files.table.first_other).tolist():
        parts[at], stem = _part(files.path(at))
        if parts[at] != _OTHER:
            number = known.numbers.get(stem)
            stems[at] = more.setdefault(stem, count + len(more)) if number is None else number
    return parts, stems, count + len(more)


def with_source(paths: Sequence[str]) -> list[bool]:
    """Which paths are headers with a source file of the same name among the others.

    `loader_p.h` is the private header of `loader.cpp`.
    """
    told = [_part(path) for path in paths]
    sources = {stem for part, stem in told if part == _DEFINES}
    return [
        part == _DECLARES and (stem in sources or _PRIVATE.sub("", stem) in sources)
        for part, stem in told
    ]


def is_declaring(path: str) -> bool:
    """Whether a path is a header's."""
    return _part(path)[0] == _DECLARES


def _give(corpus: Corpus, into: NDArray[np.int32], asking: Numbers, places: Numbers) -> None:
    """Record definitions; a row with several names gets the first definition in the tree."""
    import numpy as np

    order = np.argsort(-corpus.ties[places], kind="stable")
    into[asking[order]] = places[order]


@lru_cache(maxsize=65536)
def _part(path: str) -> tuple[int, str]:
    """Whether a file is a header or a source file, and its stem."""
    if not path.lower().endswith(_EITHER):
        return _OTHER, ""
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, ending = name.rpartition(".")
    if dot + ending in DECLARING:
        return _DECLARES, stem
    return (_DEFINES, stem) if dot + ending in DEFINING else (_OTHER, "")
