"""A backend for roots that use a generation of the team, and for those with their own.

A root with a team's generation has a small file in the home: which generation it uses, and the
times and sizes of the files that matched it. Everything else is in rows of the team, with a local
copy. When the root gets its own generation, the file is removed.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from holdfast.errors import CodeIndexError
from holdfast.files.snapshot import Entry, Snapshot, Stat
from holdfast.index.building.build_tools import extractor_name
from holdfast.index.building.prepare import Extract
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.generations import marker as markers
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.leases import root_key
from holdfast.index.generations.model import Backend, Identity, Reader, Writer
from holdfast.index.generations.segments import OpenCorpus, check_digest, opened
from holdfast.index.search import posting_segment
from holdfast.index.shared import generation as shared
from holdfast.index.shared.cached_rows import CachedRows
from holdfast.index.shared.generation import Manifest
from holdfast.index.shared.team_reader import TeamReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.posting_segment import PostingSegment

POINTER_VERSION = 1
"""The format of the file of a root: 1: root, key, stats of the files that agree, time, head."""

OPEN_MAX = 4


class Pointer(msgspec.Struct, array_like=True):
    """Which generation a root uses, and the stats of the files that matched it."""

    version: int
    root: str
    key: bytes
    stats: dict[str, tuple[int, int, int]]
    taken_ns: int
    head: str
    """The commit that was checked out at that time."""
    differing: int


_pointer = msgspec.msgpack.Decoder(Pointer).decode
NOT_THERE = (0, 0, 0)


class TeamBackend:
    """A backend for both kinds of roots."""

    def __init__(
        self,
        own: Backend,
        directory: Path,
        cache: CachedRows,
        runtime: Callable[[], Fingerprint],
        dimension: int,
        extract: Callable[[], Extract],
    ) -> None:
        self._own, self._directory, self.cache = own, directory, cache
        self._runtime, self._dimension, self._extract = runtime, dimension, extract
        self.provider, self.probe_timeout_s = own.provider, own.probe_timeout_s
        self.answers_at_once = getattr(own, "answers_at_once", False)
        self._lock = threading.Lock()
        self._manifests: OrderedDict[bytes, Manifest] = OrderedDict()
        self._corpora: OrderedDict[bytes, OpenCorpus] = OrderedDict()

    # The file of a root.

    def _path(self, root: str) -> Path:
        return self._directory / f"{root_key(root)}.team"

    def pointer(self, root: str) -> Pointer | None:
        """The generation of the team that a root uses; None if it has its own, or none."""
        try:
            pointer = _pointer(self._path(root).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, ValueError) as error:
            raise DamagedBackend(f"the team's file of {root} is damaged: {error}") from error
        return pointer if pointer.version == POINTER_VERSION and pointer.root == root else None

    def use(self, pointer: Pointer) -> None:
        """Make a root use a generation of the team."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(pointer.root)
        aside = path.with_suffix(".new")
        with open(os.open(aside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.msgpack.encode(pointer))
        aside.replace(path)

    def _leave(self, root: str) -> None:
        self._path(root).unlink(missing_ok=True)

    # Data of the team.

    def manifest(self, key: bytes, *, ask: bool = True) -> Manifest | None:
        """The manifest under a key; None if the team does not have it or it is damaged."""
        with self._lock:
            known = self._manifests.get(key)
        if known is not None:
            return known
        value = self.cache.get([key], ask=ask).get(key)
        if value is None:
            return None
        try:
            manifest = shared.manifest_of(value)
        except (msgspec.DecodeError, ValueError):
            return None
        with self._lock:
            self._manifests[key] = manifest
            while len(self._manifests) > OPEN_MAX:
                self._manifests.popitem(last=False)
        return manifest

    def corpus(self, key: bytes, manifest: Manifest) -> Corpus:
        with self._lock:
            known = self._corpora.get(key)
        if known is not None:
            return known.corpus
        digests = {number: one.digest for number, one in enumerate(manifest.segments)}
        files = [
            (number, file.path, file.language, file.segment, file.slot)
            for number, file in enumerate(manifest.files)
            if file.segment >= 0
        ]
        before = {
            name: one for c in list(self._corpora.values()) for name, one in c.segments.items()
        }
        corpus = opened(digests, files, before, lambda number: self._segment(manifest, number))
        with self._lock:
            self._corpora[key] = corpus
            while len(self._corpora) > OPEN_MAX:
                self._corpora.popitem(last=False)
        return corpus.corpus

    def _segment(self, manifest: Manifest, number: int) -> PostingSegment:
        one = manifest.segments[number]
        data = self.cache.whole(shared.part_keys("segment", one.digest, one.parts))
        if data is None:
            raise BackendUnavailable(
                "a segment of the team's generation is missing, damaged or cannot be fetched now",
                "with the team's server, publish the commit again; without it, run: holdfast index "
                "reindex",
            )
        postings, vectors = data[: one.postings], data[one.postings :]
        check_digest(postings, vectors, one.digest)
        return posting_segment.unpack(postings, vectors, self._dimension)

    def fetch(self, key: bytes, manifest: Manifest) -> None:
        """Copy what a search needs into the home; raises if a segment is missing or damaged."""
        self.corpus(key, manifest)
        keys = shared.part_keys("kept", shared.kept_name(manifest.files), manifest.kept_parts)
        for one in keys:
            self.cache.get([one])

    # Reading.

    def _used(self, root: str) -> tuple[Pointer, Manifest] | None:
        pointer = self.pointer(root)
        if pointer is None:
            return None
        manifest = self.manifest(pointer.key)
        if manifest is None:
            raise DamagedBackend("the manifest of the team's generation is gone")
        return pointer, manifest

    def read_marker(self, root: str) -> object | None:
        used = self._used(root)
        if used is None:
            return self._own.read_marker(root)
        pointer, manifest = used
        settings = self._runtime()
        key = shared.generation_key(
            _identity_key(manifest), manifest.prefix, manifest.commit, settings
        )
        if key != pointer.key:
            return None  # Made with other settings: it has to be fetched or built again.
        return markers.encode(shared.marker_of(manifest, root, settings))

    def stamp(self, root: str) -> object:
        pointer = self.pointer(root)
        if pointer is None:
            return self._own.stamp(root)
        return pointer.key, pointer.taken_ns

    def spot_check(self, root: str) -> None:
        used = self._used(root)
        if used is None:
            self._own.spot_check(root)

    def verify(self, root: str) -> None:
        used = self._used(root)
        if used is None:
            self._own.verify(root)
            return
        pointer, manifest = used
        with self._lock:
            self._corpora.pop(pointer.key, None)
        self.corpus(pointer.key, manifest)

    def roots(self) -> list[str]:
        roots = []
        with suppress(FileNotFoundError):
            for name in sorted(os.listdir(self._directory)):
                if name.endswith(".team"):
                    with suppress(OSError, msgspec.DecodeError, ValueError):
                        roots.append(_pointer((self._directory / name).read_bytes()).root)
        return sorted({*roots, *self._own.roots()})

    @contextmanager
    def reader(self, root: str) -> Iterator[Reader]:
        used = self._used(root)
        if used is None:
            with self._own.reader(root) as reader:
                yield reader
            return
        pointer, manifest = used
        extract = self._extract()
        identity: Identity = (pointer.taken_ns, pointer.key.hex())
        yield TeamReader(
            root, identity, manifest, _snapshot(pointer, manifest), self.cache,
            lambda: self.corpus(pointer.key, manifest), extract, extractor_name(extract),
        )  # fmt: skip

    # Writing.

    @contextmanager
    def writer(self, root: str) -> Iterator[Writer]:
        with self._own.writer(root) as writer:
            yield writer
        if _has_marker(self._own, root):
            self._leave(root)

    def check(self, root: str) -> None:
        self._own.check(root)

    def check_format(self, root: str) -> None:
        if self.pointer(root) is None:
            self._own.check_format(root)

    def drop(self, root: str) -> None:
        self._leave(root)
        self._own.drop(root)

    def close(self) -> None:
        self.cache.close()
        self._own.close()


def _has_marker(own: Backend, root: str) -> bool:
    try:
        return own.read_marker(root) is not None
    except CodeIndexError:
        return False


def _identity_key(manifest: Manifest) -> str:
    from holdfast.files.identity import key_of

    return key_of(manifest.repository)


def _snapshot(pointer: Pointer, manifest: Manifest) -> Snapshot:
    """The manifest with this machine's times; files that never matched are read by every check."""
    entries = {
        file.path: Entry(Stat(*pointer.stats.get(file.path, NOT_THERE)), file.digest)
        for file in manifest.files
    }
    return Snapshot(entries, pointer.taken_ns)
