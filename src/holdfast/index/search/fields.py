"""What can be found of a chunk: its words by where they stand.

A word in a symbol's name says more than the same word in a body, so each place is a field with a
weight and a length of its own. What a chunk defines, and what it belongs to, are told apart: the
second half of a long function is found by the function's name, and is not its definition.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from holdfast.index.facts import MODULE, FileFacts

if TYPE_CHECKING:
    from holdfast.index.facts import Chunk


class Field(IntEnum):
    """Where a word stands. The numbers are stored."""

    NAME = 0
    """Names that the chunk defines."""
    OWNER = 1
    """Names of what the chunk belongs to: its class, its namespace, a function it is a part of."""
    SIGNATURE = 2
    DOC = 3
    STEM = 4
    """The file's name without its ending."""
    DIRECTORY = 5
    BODY = 6
    CALL = 7
    """Names that the chunk calls. Not searched; what is called from many places is central."""


FIELDS = len(Field)

SIGNATURE_CHARACTERS_MAX = 300
DOC_CHARACTERS_MAX = 2_000
DIRECTORIES_MAX = 4


@dataclass(frozen=True, slots=True)
class Fields:
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
        return (
            self.name,
            self.owner,
            self.signature,
            self.doc,
            self.stem,
            self.directory,
            self.body,
            self.call,
        )


def path_fields(path: str) -> tuple[str, str]:
    """The stem of a path and its innermost directories, as text."""
    directory, _, name = path.rpartition("/")
    stem, _ = os.path.splitext(name)
    near = directory.split("/")[-DIRECTORIES_MAX:]
    return stem.replace("-", "_").replace(".", "_"), " ".join(near).replace("-", "_")


def fields_of(facts: FileFacts, texts: Mapping[int, str]) -> list[Fields]:
    """The fields of the chunks of a file that have a text; `texts` are those by first byte."""
    stem, directory = path_fields(facts.path)
    defined = _defined(facts)
    calls = _calls(facts)
    found = []
    for number, chunk in enumerate(facts.chunks):
        text = texts.get(chunk.span.start)
        if text is None:
            continue
        inside = [facts.symbols[i] for i in defined[number]]
        owners = _owners(facts, chunk, set(defined[number]))
        found.append(
            Fields(
                " ".join(symbol.name for symbol in inside),
                owners,
                " ".join(symbol.signature[:SIGNATURE_CHARACTERS_MAX] for symbol in inside),
                " ".join(symbol.doc[:DOC_CHARACTERS_MAX] for symbol in inside if symbol.doc),
                stem,
                directory,
                text,
                " ".join(calls[number]),
            )
        )
    return found


def _defined(facts: FileFacts) -> list[list[int]]:
    """For each chunk the symbols that start in it. Chunks and symbols are in the file's order."""
    found: list[list[int]] = [[] for _ in facts.chunks]
    if not facts.chunks:
        return found
    at, last = 0, len(facts.chunks) - 1
    for index in sorted(range(len(facts.symbols)), key=lambda i: facts.symbols[i].span.start):
        start = facts.symbols[index].span.start
        while at < last and facts.chunks[at].span.end <= start:
            at += 1
        found[at].append(index)
    return found


def _calls(facts: FileFacts) -> list[list[str]]:
    found: list[list[str]] = [[] for _ in facts.chunks]
    if not facts.chunks:
        return found
    at, last = 0, len(facts.chunks) - 1
    for call in sorted(facts.calls, key=lambda call: call.start):
        while at < last and facts.chunks[at].span.end <= call.start:
            at += 1
        found[at].append(call.name)
    return found


def _owners(facts: FileFacts, chunk: Chunk, defined: set[int]) -> str:
    names = []
    at = chunk.owner
    while at != MODULE:
        symbol = facts.symbols[at]
        if at not in defined:
            names.append(symbol.name)
        at = symbol.parent if symbol.parent < at else MODULE
    return " ".join(names)
