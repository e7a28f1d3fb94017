"""The searchable fields of a chunk.

A word in a symbol's name says more than the same word in a body, so each field has a weight and a
length of its own. The names a chunk defines and the names of its owners are separate fields: the
second half of a long function is found by the function's name, but is not its definition.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import IntEnum
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from holdfast.index.facts.model import MODULE, FileFacts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.facts.model import Chunk

T = TypeVar("T")


class Field(IntEnum):
    """The fields, with their stored numbers."""

    NAME = 0
    """Names that the chunk defines."""
    OWNER = 1
    """Names of its owners: its class, its namespace, the function it continues."""
    SIGNATURE = 2
    DOC = 3
    STEM = 4
    """The file's name without extension."""
    DIRECTORY = 5
    BODY = 6
    CALL = 7
    """Names that the chunk calls. Not searched, but counted for centrality."""


FIELDS = len(Field)

SUMMED_ROWS = 512
"""Rows whose lengths are added to those of as many others at a time."""

SIGNATURE_CHARACTERS_MAX = 300
DOC_CHARACTERS_MAX = 2_000
DIRECTORIES_MAX = 4


class Fields(NamedTuple):
    """The text of each field of one chunk, in the order of `Field`."""

    name: str
    owner: str
    signature: str
    doc: str
    stem: str
    directory: str
    body: str
    call: str

    def texts(self) -> tuple[str, ...]:
        return self


def path_fields(path: str) -> tuple[str, str]:
    """The stem and the innermost directories of a path, as text."""
    directory, _, name = path.rpartition("/")
    stem, _ = os.path.splitext(name)
    near = directory.split("/")[-DIRECTORIES_MAX:]
    return stem.replace("-", "_").replace(".", "_"), " ".join(near).replace("-", "_")


def fields_of(facts: FileFacts, texts: Mapping[int, str]) -> list[Fields]:
    """The fields of a file's chunks that have a text; `texts` has them by first byte."""
    stem, directory = path_fields(facts.path)
    symbols = facts.symbols
    starts = [symbol.span.start for symbol in symbols]
    in_order = sorted(range(len(symbols)), key=starts.__getitem__)
    defined = _cut(facts.chunks, [starts[i] for i in in_order], in_order)
    calls = sorted(facts.calls, key=attrgetter("start"))
    called = _cut(facts.chunks, [call.start for call in calls], [call.name for call in calls])
    found = []
    for chunk, numbers, names in zip(facts.chunks, defined, called, strict=True):
        text = texts.get(chunk.span.start)
        if text is None:
            continue
        inside = [symbols[i] for i in numbers]
        found.append(
            Fields(
                " ".join([symbol.name for symbol in inside]),
                _owners(facts, chunk, numbers) if chunk.owner != MODULE else "",
                " ".join([symbol.signature[:SIGNATURE_CHARACTERS_MAX] for symbol in inside]),
                " ".join([symbol.doc[:DOC_CHARACTERS_MAX] for symbol in inside if symbol.doc]),
                stem,
                directory,
                text,
                " ".join(names),
            )
        )
    return found


def _cut(chunks: Sequence[Chunk], starts: Sequence[int], things: Sequence[T]) -> list[Sequence[T]]:
    """For each chunk, the things that start in it. Both are in file order."""
    found = []
    at = 0
    for chunk in chunks[:-1]:
        until = bisect_left(starts, chunk.span.end, at)
        found.append(things[at:until])
        at = until
    if chunks:
        found.append(things[at:])
    return found


def _owners(facts: FileFacts, chunk: Chunk, defined: Sequence[int]) -> str:
    names = []
    at = chunk.owner
    while at != MODULE:
        symbol = facts.symbols[at]
        if at not in defined:
            names.append(symbol.name)
        at = symbol.parent if symbol.parent < at else MODULE
    return " ".join(names)


def column_sums(lengths: NDArray[np.uint16]) -> NDArray[np.int64]:
    """The sum of each field over all rows. Wide rows are added much faster than narrow ones."""
    import numpy as np

    whole = len(lengths) - len(lengths) % SUMMED_ROWS
    found: NDArray[np.int64] = lengths[whole:].sum(axis=0, dtype=np.int64)
    wide = lengths[:whole].reshape(-1, SUMMED_ROWS * FIELDS).sum(axis=0, dtype=np.int64)
    found += wide.reshape(-1, FIELDS).sum(axis=0)
    return found
