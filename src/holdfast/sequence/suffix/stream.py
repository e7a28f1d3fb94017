"""Documents as one stream of token ids: the input of a segment."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.sequence.suffix import SEPARATOR
from holdfast.sequence.suffix.backends import SuffixBackend
from holdfast.sequence.tokens.families import family_of
from holdfast.sequence.tokens.lexer import LexerOptions, lex


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """The facts about a document in addition to its tokens: enough to notice a changed file."""

    path: str
    size: int
    mtime_ns: int
    digest: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document to be indexed: its facts and its bytes."""

    facts: DocumentFacts
    data: bytes


@dataclass(slots=True)
class TokenStream:
    """Token ids of documents one after another, a separator after each.

    Ids are indices into `words`, from 1. Arrays are any objects with the buffer protocol.
    """

    documents: list[DocumentFacts]
    words: list[bytes]
    tokens: Any
    starts: Any
    """Where each token begins in its document, in bytes; for a separator, the document's size."""
    firsts: Any
    """Where each document begins in the stream; one more for the end."""
    line_starts: Any
    """Where each line begins in its document, except the first."""
    line_firsts: Any
    """Where each document's lines begin in `line_starts`; one more for the end."""


DOCUMENTS_PER_STEP = 100
"""How many documents are lexed between two reports of progress."""


def stream_of(
    documents: Sequence[Document],
    options: LexerOptions,
    backend: SuffixBackend = SuffixBackend.PURE,
    progress: Callable[[int], None] = lambda _done: None,
) -> TokenStream:
    """Lex and intern documents; every backend gives the same stream.

    `progress` gets the number of documents that are done, now and then.
    """
    if backend is SuffixBackend.COMPILED:
        return _compiled_stream(documents, options)
    ids: dict[bytes, int] = {}
    tokens, starts, firsts = array("i"), array("i"), array("q", [0])
    line_starts, line_firsts = array("i"), array("q", [0])
    for number, document in enumerate(documents):
        if number % DOCUMENTS_PER_STEP == 0:
            progress(number)
        lexed = lex(document.data, family_of(document.facts.path), options)
        tokens.extend([ids.setdefault(text, len(ids) + 1) for text in lexed.texts])
        tokens.append(SEPARATOR)
        starts.extend(lexed.starts)
        starts.append(len(document.data))
        firsts.append(len(tokens))
        at = document.data.find(b"\n")
        while at >= 0:
            line_starts.append(at + 1)
            at = document.data.find(b"\n", at + 1)
        line_firsts.append(len(line_starts))
    facts = [document.facts for document in documents]
    return TokenStream(facts, list(ids), tokens, starts, firsts, line_starts, line_firsts)


def _compiled_stream(documents: Sequence[Document], options: LexerOptions) -> TokenStream:
    import numpy as np

    from holdfast.sequence.tokens import compiled

    source = b"".join([document.data for document in documents])
    bounds = np.zeros(len(documents) + 1, np.int64)
    np.cumsum([len(document.data) for document in documents], out=bounds[1:])
    families = np.array([family_of(document.facts.path) for document in documents], np.uint8)
    lexed = compiled.lex_all(source, bounds, families, options)
    newlines = np.flatnonzero(np.frombuffer(source, np.uint8) == 10)
    line_firsts = np.searchsorted(newlines, bounds).astype(np.int64)
    line_starts = (newlines + 1 - np.repeat(bounds[:-1], np.diff(line_firsts))).astype(np.int32)
    facts = [document.facts for document in documents]
    return TokenStream(
        facts, lexed.words, lexed.tokens, lexed.starts, lexed.firsts, line_starts, line_firsts
    )


def joined(streams: Iterable[tuple[TokenStream, Sequence[int]]]) -> TokenStream:
    """Merge the chosen documents of several streams into one."""
    ids: dict[bytes, int] = {}
    facts: list[DocumentFacts] = []
    tokens, starts, firsts = array("i"), array("i"), array("q", [0])
    line_starts, line_firsts = array("i"), array("q", [0])
    for stream, numbers in streams:
        old = stream.words
        remap: dict[int, int] = {SEPARATOR: SEPARATOR}
        for number in numbers:
            first, last = stream.firsts[number], stream.firsts[number + 1]
            run = list(stream.tokens[first:last])
            for token in set(run):
                if token not in remap:
                    remap[token] = ids.setdefault(old[token - 1], len(ids) + 1)
            tokens.extend([remap[token] for token in run])
            starts.extend(stream.starts[first:last])
            firsts.append(len(tokens))
            line_starts.extend(
                stream.line_starts[stream.line_firsts[number] : stream.line_firsts[number + 1]]
            )
            line_firsts.append(len(line_starts))
            facts.append(stream.documents[number])
    return TokenStream(facts, list(ids), tokens, starts, firsts, line_starts, line_firsts)
