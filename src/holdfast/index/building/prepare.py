"""From a file's bytes to everything a generation keeps of it. Pure, and run in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from holdfast.files.policy import language_of, unfit
from holdfast.index.embedding.provider import EmbeddingProvider, finite
from holdfast.index.facts import model as facts_of
from holdfast.index.facts.inline_tests import is_test_code
from holdfast.index.facts.model import MODULE, FileFacts
from holdfast.index.generations.model import PreparedChunk, PreparedFile, SourceFile
from holdfast.index.search import trigrams
from holdfast.index.search.fields import fields_of
from holdfast.index.search.posting_segment import TEST_KIND
from holdfast.index.search.postings import Rows, postings
from holdfast.index.search.terms import WORD

Extract = Callable[[str, bytes], FileFacts]


def extract_facts(path: str, source: bytes) -> FileFacts:
    """`facts.extract.extract`, loaded with the parser by the first file that needs it."""
    from holdfast.index.facts.extract import extract

    return extract(path, source)


PREPARED_VERSION = 5
"""What `prepare` makes of facts; part of the key under which its results are kept.

1: chunks with header and body words.
2: chunks, and postings by field.
3: files without an extension may be for a shell.
4: postings of a file have their terms in no order, and another digest of a body; trigrams.
5: tests that stand among code are marked.
"""


def prepare(job: SourceFile, extract: Extract) -> PreparedFile:
    """The file without vectors. Bytes not worth indexing give a file without chunks."""
    return prepare_many([job], extract)[0]


def prepare_many(jobs: Sequence[SourceFile], extract: Extract) -> list[PreparedFile]:
    """The same for many files, which takes less than one by one."""
    given = []
    for job in jobs:
        problem = unfit(job.source)
        if problem is not None:
            facts = FileFacts(job.path, language_of(job.path), "", 0, len(job.source))
            given.append(_Parsed(job, facts, problem, ()))
        else:
            facts = extract(job.path, job.source)
            given.append(_Parsed(job, facts, None, chunks_of(job.source, facts)))
    return _files(given)


def prepare_with_vectors(
    job: SourceFile, extract: Extract, provider: EmbeddingProvider
) -> PreparedFile:
    """The file with its vectors; for providers that run here."""
    return with_vectors(prepare(job, extract), provider)


def with_vectors(file: PreparedFile, provider: EmbeddingProvider) -> PreparedFile:
    if not file.chunks:
        return file
    rows = provider.embed([embedded_text(file.path, chunk) for chunk in file.chunks])
    return replace_vectors(file, finite(provider.name, rows).tobytes())


def replace_vectors(file: PreparedFile, vectors: bytes) -> PreparedFile:
    return msgspec.structs.replace(file, vectors=vectors)


def without_parser(job: SourceFile) -> PreparedFile:
    """A file whose parsing ended its process: as where the parser itself gives it up."""
    from holdfast.index.facts import extract as extraction

    return prepare(job, partial(extraction.extract, parsed=False))


def embedded_text(path: str, chunk: PreparedChunk) -> str:
    """What a provider is given of a chunk: where it is, what it is called, what it says."""
    return f"{path}\n{chunk.label or ''}\n{chunk.text}"


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A file before its words are counted."""

    job: SourceFile
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
        """What each chunk is of; a test that stands among code is nothing but that."""
        owners = {chunk.span.start: chunk.owner for chunk in self.facts.chunks}
        return [
            TEST_KIND if is_test_code(self.facts, owners[chunk.start], chunk.text) else chunk.kind
            for chunk in self.chunks
        ]


def _files(given: Sequence[_Parsed]) -> list[PreparedFile]:
    packed = iter(postings([parsed.rows() for parsed in given if parsed.chunks]))
    return [
        PreparedFile(
            parsed.job.path,
            parsed.job.entry,
            parsed.facts.language or language_of(parsed.job.path),
            parsed.problem,
            facts_of.encode(parsed.facts),
            parsed.chunks,
            next(packed) if parsed.chunks else b"",
            b"",
            trigrams.signatures_of(parsed.chunks, parsed.job.entry.stat.size_bytes),
            trigrams.encode_names(parsed.facts.symbols),
        )
        for parsed in given
    ]


def chunks_of(source: bytes, facts: FileFacts) -> tuple[PreparedChunk, ...]:
    """The chunks of a file that have a word. Facts and bytes say it all, so they are not kept."""
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
                # A guessed symbol names its chunk, and is no symbol to ask more about.
                symbol.id if symbol and not facts.guessed else None,
                symbol.qualified if symbol else None,
                symbol.kind if symbol else "module",
                span.start,
            )
        )
    return tuple(prepared)
