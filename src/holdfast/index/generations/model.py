"""What a generation holds, and what a backend must do to keep one.

A generation is everything known of a tree at one time: its manifest, facts, postings, vectors, and
the marker that says it is whole. A backend lets one writer prepare the next generation while any
number of readers see the last one, and swaps them in one transaction. `tests/index/contract.py` is
the same list of demands as tests; every backend passes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from holdfast.files.snapshot import Entry, Snapshot
from holdfast.index.search.trigrams import KeptFile

if TYPE_CHECKING:
    from holdfast.index.search.corpus import Corpus


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to prepare: its bytes, and the entry that describes them."""

    path: str
    source: bytes
    entry: Entry


class PreparedChunk(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A piece of a file, ready to be kept. `start` is its first byte in the file."""

    start_line: int
    end_line: int
    text: str
    symbol_id: str | None
    label: str | None
    kind: str
    start: int


class PreparedFile(msgspec.Struct, frozen=True, array_like=True):
    """A file with everything known of it.

    `postings` is a segment with one row for each chunk, packed; `vectors` holds one float32 row for
    each. `signatures` and `names` are what exact search looks at, see `search.trigrams`.
    """

    path: str
    entry: Entry
    language: str
    problem: str | None
    facts: bytes
    chunks: tuple[PreparedChunk, ...]
    postings: bytes
    vectors: bytes
    signatures: bytes = b""
    names: bytes = b""


ChunkId = tuple[int, int]
"""What the backend calls a chunk: its file's number, and which chunk of the file it is."""


class StoredChunk(NamedTuple):
    """A chunk as it comes back. A tuple: a search makes dozens."""

    id: ChunkId
    path: str
    language: str
    start_line: int
    end_line: int
    text: str
    symbol_id: str | None
    label: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Totals:
    """How much a generation holds."""

    files: int
    chunks: int


Identity = tuple[int, str]
"""Which generation this is: its number and a random word; numbers begin anew after a clear."""


class Reader(Protocol):
    """One generation, as it was when the reader was opened. Has no verb that writes."""

    identity: Identity

    def snapshot(self) -> Snapshot: ...
    def totals(self) -> Totals: ...
    def corpus(self) -> Corpus:
        """Postings and vectors, to rank over; the same object for as long as it holds."""
        ...

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]: ...
    def texts(self, ids: Sequence[ChunkId]) -> list[tuple[ChunkId, str]]: ...
    def kept_files(self) -> Iterable[KeptFile]: ...
    def chunks_of(self, path: str) -> list[StoredChunk]: ...
    def entry(self, path: str) -> Entry | None: ...
    def facts(self, paths: Iterable[str]) -> dict[str, bytes]: ...
    def all_facts(self) -> Iterable[tuple[str, bytes]]: ...
    def problems(self) -> Mapping[str, str]: ...


class Writer(Protocol):
    """The next generation, seen by nobody until `publish`."""

    generation: int
    follows: Identity
    """Which generation this one is made from; none, if it is the first."""

    def snapshot(self) -> Snapshot: ...
    def totals(self) -> Totals: ...
    def start_over(self) -> None: ...
    def put(self, file: PreparedFile) -> None: ...
    def remove(self, path: str) -> None: ...
    def restat(self, path: str, entry: Entry) -> None: ...
    def publish(self, marker: str, taken_ns: int) -> Identity: ...


class Backend(Protocol):
    """Where generations are kept."""

    provider: str
    """The backend's name in the fingerprint."""
    probe_timeout_s: float

    def read_marker(self, root: str) -> object | None: ...
    def roots(self) -> list[str]: ...
    def reader(self, root: str) -> AbstractContextManager[Reader]: ...
    def writer(self, root: str) -> AbstractContextManager[Writer]: ...
    def check(self, root: str) -> None:
        """Raise BackendUnavailable when a writer could not begin now; change nothing."""
        ...

    def drop(self, root: str) -> None: ...
    def close(self) -> None: ...
