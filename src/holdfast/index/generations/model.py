"""The contents of a generation, and the interface of the backends that store them.

A generation is everything known about a tree at one time: its manifest, facts, postings and
vectors, and the marker that proves it complete. A backend lets one writer prepare the next
generation while any number of readers see the current one, and swaps them in one transaction.
`tests/index/generations/test_backends.py` checks every backend against the same requirements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from holdfast.files.snapshot import Entry, Snapshot

if TYPE_CHECKING:
    from holdfast.index.calls.link_segment import LinkSegment
    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.trigrams import KeptFile


class SourceFile(msgspec.Struct, frozen=True):
    """A file to prepare: its bytes, and the entry that describes them."""

    path: str
    source: bytes
    entry: Entry


class PreparedChunk(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A piece of a file, ready to be stored. `start` is its first byte in the file."""

    start_line: int
    end_line: int
    text: str
    symbol_id: str | None
    label: str | None
    kind: str
    start: int


class PreparedFile(msgspec.Struct, frozen=True, array_like=True):
    """A file with everything that is stored for it.

    `postings` is a packed segment with one row per chunk; `vectors` has one float32 row per chunk.
    `signatures` and `names` are for exact search, see `search.trigrams`. `links` has the terms by
    which call graphs find the file, see `calls.file_terms`, or is empty if not computed yet.
    `packed_facts` are the facts as they are stored, see `packing`, or empty likewise.
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
    links: bytes = b""
    packed_facts: bytes = b""


ChunkId = tuple[int, int]
"""The backend's id of a chunk: its file's number, and its position in the file."""


class StoredChunk(NamedTuple):
    """A chunk as read from the backend. A tuple, for speed: a search creates dozens."""

    id: ChunkId
    path: str
    language: str
    start_line: int
    end_line: int
    text: str
    symbol_id: str | None
    label: str | None
    kind: str


class Totals(msgspec.Struct, frozen=True):
    """The number of files and chunks of a generation."""

    files: int
    chunks: int


Identity = tuple[int, str]
"""The number of a generation and a random id, because numbers start again after a clear."""


class Reader(Protocol):
    """One generation, as of when the reader was opened. Read-only."""

    identity: Identity

    def snapshot(self) -> Snapshot: ...
    def snapshot_later(self) -> Callable[[], Snapshot]:
        """A function that makes the snapshot of what was read now, without the backend."""
        ...

    def totals(self) -> Totals: ...
    def corpus(self) -> Corpus:
        """The postings and vectors to rank; the same object for the same generation."""
        ...

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, StoredChunk]: ...
    def texts(self, ids: Sequence[ChunkId]) -> list[tuple[ChunkId, str]]: ...
    def kept_files(self) -> Iterable[KeptFile]: ...
    def chunks_of(self, path: str) -> list[StoredChunk]: ...
    def entry(self, path: str) -> Entry | None: ...
    def facts(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The facts of some files; raises DamagedBackend if they are damaged."""
        ...

    def all_facts(self) -> Iterable[tuple[str, bytes | None]]:
        """The facts of every file by path; None for facts that are missing or damaged."""
        ...

    def problems(self) -> Mapping[str, str]: ...
    def links(self, open_segments: Mapping[str, LinkSegment]) -> dict[str, LinkSegment]:
        """The undamaged segments of links, by digest.

        Segments in `open_segments` are not opened again.
        """
        ...

    def listings(self) -> bytes | None:
        """The stored listings of directories (`files/listing_store.py`), if there are any."""
        ...


class Writer(Protocol):
    """The next generation, invisible to readers until `publish`."""

    generation: int
    follows: Identity
    """The generation that this one is based on."""

    def snapshot(self) -> Snapshot: ...
    def totals(self) -> Totals: ...
    def start_over(self) -> None: ...
    def put(self, file: PreparedFile) -> bool:
        """Add a file; returns whether it replaced an older version."""
        ...

    def remove(self, path: str) -> bool:
        """Remove a file; returns whether it existed."""
        ...

    def restat(self, path: str, entry: Entry) -> None: ...
    def put_listings(self, data: bytes | None) -> None:
        """Store the listings of directories, in place of those before."""
        ...

    def publish(self, marker: str, taken_ns: int) -> Identity: ...


class Backend(Protocol):
    """Stores generations."""

    provider: str
    """The backend's name in the fingerprint."""
    probe_timeout_s: float

    def read_marker(self, root: str) -> object | None: ...
    def stamp(self, root: str) -> object:
        """A value that changes when the stored data changes."""
        ...

    def spot_check(self, root: str) -> None:
        """Raise DamagedBackend for destroyed data; the cost does not grow with the data."""
        ...

    def verify(self, root: str) -> None:
        """Read everything stored for a root; raises DamagedBackend at the first bad row."""
        ...

    def roots(self) -> list[str]: ...
    def reader(self, root: str) -> AbstractContextManager[Reader]: ...
    def writer(self, root: str) -> AbstractContextManager[Writer]: ...
    def check(self, root: str) -> None:
        """Raise BackendUnavailable if a writer could not start now. Changes nothing."""
        ...

    def check_format(self, root: str) -> None:
        """Raise NewerFormat for data that a newer version wrote."""
        ...

    def drop(self, root: str) -> None: ...
    def close(self) -> None: ...
