"""Turn a file's bytes into everything a generation stores for it. Pure, and run in workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
from msgspec.structs import replace

from holdfast.files.policy import language_of, unfit
from holdfast.files.secrets import masked
from holdfast.index.calls.file_terms import packed_terms
from holdfast.index.embedding.provider import EmbeddingProvider, finite
from holdfast.index.facts import model as facts_of
from holdfast.index.facts.inline_tests import is_test_code
from holdfast.index.facts.model import MODULE, FileFacts
from holdfast.index.generations.model import PreparedChunk, PreparedFile, SourceFile
from holdfast.index.generations.packing import packed
from holdfast.index.search import trigrams
from holdfast.index.search.fields import fields_of
from holdfast.index.search.posting_segment import TEST_KIND
from holdfast.index.search.postings import Rows, postings
from holdfast.index.search.terms import WORD

Extract = Callable[[str, bytes], FileFacts]


def extract_facts(path: str, source: bytes) -> FileFacts:
    """`facts.extract.extract`, imported with the parser on first use.

    A process that several agents depend on has another process do the parsing.
    """
    from holdfast.index.facts import extractor

    if extractor.is_used():
        return extractor.extractor.extract(path, source)
    from holdfast.index.facts.extract import extract

    return extract(path, source)


PREPARED_VERSION = 6
"""The format of prepared files; part of their cache keys.

1: chunks with header and body words.
2: chunks, and postings by field.
3: files without an extension may be for a shell.
4: postings of a file have unsorted terms and another digest of a body; trigrams.
5: tests inside source files are marked.
6: secrets are masked.
"""


def prepare(file: SourceFile, extract: Extract) -> PreparedFile:
    """The prepared file, without vectors. A file that is not worth indexing has no chunks."""
    return prepare_many([file], extract)[0]


def prepare_many(
    files: Sequence[SourceFile], extract: Extract, *, stored: bool = False
) -> list[PreparedFile]:
    """The same for many files, which is faster than one by one; `stored` computes now what only
    storing them needs."""
    parsed = []
    for original in files:
        file = replace(original, source=masked(original.source))
        problem = unfit(file.source)
        if problem is not None:
            facts = FileFacts(file.path, language_of(file.path), "", 0, len(file.source))
            parsed.append(_Parsed(file, facts, problem, ()))
        else:
            facts = extract(file.path, file.source)
            parsed.append(_Parsed(file, facts, None, chunks_of(file.source, facts)))
    return _files(parsed, stored)


def with_vectors(file: PreparedFile, provider: EmbeddingProvider) -> PreparedFile:
    if not file.chunks:
        return file
    rows = provider.embed([embedded_text(file.path, chunk) for chunk in file.chunks])
    return replace_vectors(file, finite(provider.name, rows).tobytes())


def replace_vectors(file: PreparedFile, vectors: bytes) -> PreparedFile:
    return msgspec.structs.replace(file, vectors=vectors)


def without_parser(file: SourceFile, *, tried: bool) -> PreparedFile:
    """A file prepared without parsing it: its parsing killed a worker, or probably would."""
    from holdfast.index.facts import extract as extraction

    why = extraction.TOO_HARD if tried else extraction.NOT_PARSED
    return prepare(file, partial(extraction.extract, unparsed=why))


def gave_up(file: PreparedFile) -> bool:
    """Whether the file is kept as plain text because parsing it was given up or not tried."""
    if b"too_hard" not in file.facts:
        return False
    return any(problem.code == "too_hard" for problem in facts_of.decode(file.facts).problems)


def embedded_text(path: str, chunk: PreparedChunk) -> str:
    """The text of a chunk that is embedded: its path, its label and its content."""
    return f"{path}\n{chunk.label or ''}\n{chunk.text}"


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A file before its words are counted."""

    file: SourceFile
    facts: FileFacts
    problem: str | None
    chunks: tuple[PreparedChunk, ...]

    def rows(self) -> Rows:
        chunks = self.chunks
        return Rows(
            fields_of(self.facts, {chunk.start: chunk.text for chunk in chunks}),
            [(chunk.start_line, chunk.end_line) for chunk in chunks],
            self._kinds(),
        )

    def _kinds(self) -> list[str]:
        """The kind of each chunk; TEST_KIND for a test inside a source file."""
        owners = {chunk.span.start: chunk.owner for chunk in self.facts.chunks}
        return [
            TEST_KIND if is_test_code(self.facts, owners[chunk.start], chunk.text) else chunk.kind
            for chunk in self.chunks
        ]


def _files(parsed: Sequence[_Parsed], stored: bool) -> list[PreparedFile]:
    counted = iter(postings([one.rows() for one in parsed if one.chunks]))
    return [
        PreparedFile(
            one.file.path,
            one.file.entry,
            one.facts.language or language_of(one.file.path),
            one.problem,
            facts := facts_of.encode(one.facts),
            one.chunks,
            next(counted) if one.chunks else b"",
            b"",
            trigrams.signatures_of(one.chunks, one.file.entry.stat.size_bytes),
            trigrams.encode_names(one.facts.symbols),
            packed_terms(one.facts) if stored else b"",
            packed(facts) if stored else b"",
        )
        for one in parsed
    ]


def chunks_of(source: bytes, facts: FileFacts) -> tuple[PreparedChunk, ...]:
    """The chunks of a file that contain a word. Derived from facts and bytes, so not cached."""
    prepared = []
    for chunk in facts.chunks:
        span = chunk.span
        text = source[span.start : span.end].decode("utf-8", "replace")
        if WORD.search(text) is None:
            continue
        symbol = facts.symbols[chunk.owner] if chunk.owner != MODULE else None
        prepared.append(
            PreparedChunk(
                span.first_line,
                span.last_line,
                text,
                # A guessed symbol labels its chunk, but has no outline or call graph.
                symbol.id if symbol and not facts.guessed else None,
                symbol.qualified if symbol else None,
                symbol.kind if symbol else "module",
                span.start,
            )
        )
    return tuple(prepared)
