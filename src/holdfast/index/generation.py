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
from typing import TYPE_CHECKING, Protocol

from holdfast.files.snapshot import Entry, Snapshot
from holdfast.index.search.lexical import TermStats
from holdfast.index.search.trigrams import KeptFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A piece of a file, ready to be kept. `header` and `body` are words apart by spaces."""

    start_line: int
    end_line: int
    text: str
    symbol_id: str | None
    label: str | None
    kind: str
    header: str
    body: str


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file with everything known of it. `vectors` holds one float32 row for each chunk."""

    path: str
    entry: Entry
    language: str
    problem: str | None
    facts: bytes
    chunks: tuple[PreparedChunk, ...]
    vectors: bytes


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as it comes back."""

    id: int
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


Ranked = list[tuple[int, float]]
"""Chunk ids with scores, best first; ties by id."""


Identity = tuple[int, str]
"""Which generation this is: its number and a random word; numbers begin anew after a clear."""


class Reader(Protocol):
    """One generation, as it was when the reader was opened. Has no verb that writes."""

    identity: Identity

    def snapshot(self) -> Snapshot: ...
    def totals(self) -> Totals: ...
    def rank_lexical(self, words: Sequence[str], limit: int) -> Ranked: ...
    def rank_dense(self, vector: NDArray[np.float32], limit: int) -> Ranked: ...
    def term_stats(self, words: Sequence[str]) -> TermStats: ...
    def paths(self, ids: Iterable[int]) -> dict[int, str]: ...
    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]: ...
    def texts(self, ids: Sequence[int]) -> list[tuple[int, str]]: ...
    def chunks_of(self, path: str) -> list[StoredChunk]: ...
    def kept_files(self) -> Iterable[KeptFile]: ...
    def entry(self, path: str) -> Entry | None: ...
    def facts(self, paths: Iterable[str]) -> dict[str, bytes]: ...
    def all_facts(self) -> Iterable[tuple[str, bytes]]: ...
    def problems(self) -> Mapping[str, str]: ...


class Writer(Protocol):
    """The next generation, seen by nobody until `publish`."""

    generation: int

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
