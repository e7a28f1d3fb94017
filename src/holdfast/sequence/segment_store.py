"""The segments of one tree on disk: base, mid and delta.

A change does not rewrite the base. The old text of a document is marked deleted in its segment, and
the new text goes into the delta, which is small and built anew. A delta that has grown is merged
into mid, and a mid that has grown, or a base with many deletions, into a new base. The manifest
lists the segments and the deletions and is replaced atomically, so a reader sees the tree before or
after a change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

from holdfast.locks import take_lock
from holdfast.sequence.corpus import TokenCorpus
from holdfast.sequence.errors import SegmentDamaged, SegmentTooNew
from holdfast.sequence.segment_paths import segments_directory
from holdfast.sequence.suffix.backends import BYTES_PER_TOKEN, SuffixBackend, choose
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import Document, DocumentFacts, TokenStream, joined, stream_of
from holdfast.sequence.tokens.lexer import CODE_ONLY, LEXER_VERSION, LexerOptions

MANIFEST_VERSION = 4
"""1: segments by file name, deleted documents, stamps of files that were only touched.
2: when the files were listed, so that files modified about then are read again.
3: a checksum: a lost deletion would bring old text back.
4: the segments have no secrets of UTF-16 and UTF-32 files.

A new version of the segments needs a new version of the manifest too."""

LOCK_S = 900.0
"""How long another process may hold the write lock; the first build sorts the whole tree."""
DELTA_TOKENS_MAX = 100_000
MID_TOKENS_MIN = 1_000_000
"""Mid is merged into the base when it exceeds this and a quarter of the base."""

DELETED_TOKENS_MIN = 200_000

Progress = Callable[[str, int, int], None]


def _silent(_step: str, _done: int, _total: int) -> None: ...


@dataclass(slots=True)
class _StoredSegment:
    live: LiveSegment
    file: str


class SegmentStore:
    """The segments of one tree in one directory, which can be deleted at any time."""

    def __init__(
        self,
        directory: Path,
        options: LexerOptions = CODE_ONLY,
        backend: SuffixBackend | None = None,
    ) -> None:
        self.directory = directory
        self.options = options
        self.backend = backend
        self._stored: list[_StoredSegment] = []
        self._touched: dict[str, tuple[int, int]] = {}
        self._where: dict[str, tuple[LiveSegment, int]] = {}
        self._loaded: tuple[int, int, int] | None = None
        self.taken_ns = 0
        """When the files were listed; 0 if unknown."""
        self.problem: str = ""
        """Why the files on disk could not be used; empty if they could."""
        self._load()

    @staticmethod
    def directory_of(home: Path, tree: Path) -> Path:
        """The directory for the segments of a tree."""
        return segments_directory(home, tree)

    @property
    def corpus(self) -> TokenCorpus:
        """The segments to search; raises SegmentDamaged if one of their files was truncated."""
        self._check_sizes()
        return TokenCorpus([stored.live for stored in self._stored])

    def known(self) -> dict[str, tuple[int, int]]:
        """Every document with the size and the time stamp of its file."""
        stamps: dict[str, tuple[int, int]] = {}
        for path, (live, number) in self._where.items():
            facts = live.segment.documents[number]
            stamps[path] = self._touched.get(path, (facts.size, facts.mtime_ns))
        return stamps

    def digest(self, path: str) -> str | None:
        """The digest of the text of a document."""
        at = self._where.get(path)
        return None if at is None else at[0].segment.documents[at[1]].digest

    def refresh(
        self,
        documents: Iterable[Document],
        removed: Iterable[str],
        progress: Progress = _silent,
        *,
        taken_ns: int = 0,
    ) -> TokenCorpus:
        """Add new and changed documents and drop removed ones; returns the updated corpus.

        `taken_ns` is when the listing of the files began that found these changes.
        """
        documents, removed = list(documents), list(removed)
        with self._locked():
            return self._refresh(documents, removed, progress, taken_ns)

    def _refresh(
        self, documents: list[Document], removed: list[str], progress: Progress, taken_ns: int
    ) -> TokenCorpus:
        fresh = []
        changed = taken_ns != self.taken_ns
        self.taken_ns = taken_ns
        for document in documents:
            if self.digest(document.facts.path) == document.facts.digest:
                self._touched[document.facts.path] = (document.facts.size, document.facts.mtime_ns)
                changed = True
            else:
                fresh.append(document)
        gone = [*removed, *(document.facts.path for document in fresh)]
        for path in gone:
            self._touched.pop(path, None)
            at = self._where.pop(path, None)
            if at is not None:
                at[0].delete(at[1])
                changed = True
        if fresh:
            self._place(fresh, progress)
        if fresh or changed:
            self._save()
        return self.corpus

    def compact(self, progress: Progress = _silent) -> TokenSegment | None:
        """Merge everything into one segment; None if there are no documents."""
        if len(self._stored) == 1 and not self._stored[0].live.deleted:
            return self._stored[0].live.segment
        with self._locked():
            if not self._where:
                return None
            if len(self._stored) > 1 or self._stored[0].live.deleted:
                self._merge(range(len(self._stored)), None, progress)
                self._save()
            return self._stored[0].live.segment

    # Internals

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the write lock, with the state of the last writer loaded."""
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.directory / "lock").open("wb") as lock:
            take_lock(lock.fileno(), str(self.directory), LOCK_S)
            for temporary in self.directory.glob(".*.[0-9]*"):
                temporary.unlink(missing_ok=True)  # left behind by a writer that was killed
            if self._stamp() != self._loaded:
                self._load()
            self._check_sizes()
            yield

    def _check_sizes(self) -> None:
        for stored in self._stored:
            stored.live.segment.check_size()

    def _stamp(self) -> tuple[int, int, int] | None:
        """Identifies the current version of the manifest."""
        try:
            status = (self.directory / "manifest.json").stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _place(self, fresh: Sequence[Document], progress: Progress) -> None:
        size = sum(len(document.data) for document in fresh)
        backend = self.backend or choose(size // BYTES_PER_TOKEN)
        total = len(fresh)
        progress("reading tokens", 0, total)
        stream = stream_of(
            fresh, self.options, backend, lambda done: progress("reading tokens", done, total)
        )
        progress("reading tokens", total, total)
        count = len(stream.tokens)
        sizes = [stored.live.tokens for stored in self._stored]
        if not sizes or count + sum(sizes[1:]) > max(MID_TOKENS_MIN, sizes[0] // 4):
            self._merge(range(len(sizes)), stream, progress)
        elif count + sum(sizes[2:]) > DELTA_TOKENS_MAX:
            self._merge(range(1, len(sizes)), stream, progress)
        else:
            if len(sizes) < 2:
                # The delta is always the third segment; mid may be empty.
                self._add(TokenStream([], [], [], [], [0], [], [0]), SuffixBackend.PURE)
            self._merge(range(2, len(sizes)), stream, progress)
        base = self._stored[0].live
        gone, size = len(base.segment) - base.tokens, len(base.segment)
        # Opening a segment marks every deleted token, so their number must stay bounded.
        if gone > min(0.4 * size, max(DELETED_TOKENS_MIN, 0.15 * size)):
            self._merge(range(len(self._stored)), None, progress)

    def _merge(self, numbers: range, stream: TokenStream | None, progress: Progress) -> None:
        """Merge the documents of these segments and of `stream` into one segment."""
        parts = [self._stored[number].live for number in numbers]
        sources = [(live.segment.stream(), live.living()) for live in parts if live.living()]
        if stream is not None and not sources:
            merged = stream
        else:
            if stream is not None:
                sources.append((stream, range(len(stream.documents))))  # type: ignore[arg-type]
            merged = joined(sources)
        total = len(merged.tokens)
        progress("sorting suffixes", 0, total)
        del self._stored[numbers.start :]
        self._add(merged, self.backend or choose(total))
        progress("sorting suffixes", total, total)

    def _add(self, stream: TokenStream, backend: SuffixBackend) -> None:
        if not len(stream.tokens):
            backend = SuffixBackend.PURE
            stream = stream_of([], self.options)
        segment = build(stream, backend)
        name = f"{self._serial():08d}.segment"
        live = LiveSegment(segment.write(self.directory / name))
        self._stored.append(_StoredSegment(live, name))
        self._index(live)

    def _serial(self) -> int:
        serials = [int(path.stem) for path in self.directory.glob("[0-9]*.segment")]
        return max(serials, default=0) + 1

    def _index(self, live: LiveSegment) -> None:
        for number in live.living():
            self._where[live.segment.documents[number].path] = (live, number)

    def _save(self) -> None:
        manifest: dict[str, Any] = {
            "format": MANIFEST_VERSION,
            "lexer": LEXER_VERSION,
            "reading": [self.options.comments, self.options.whitespace],
            "segments": [
                {"file": stored.file, "deleted": sorted(stored.live.deleted)}
                for stored in self._stored
            ],
            "touched": self._touched,
            "taken_ns": self.taken_ns,
        }
        manifest["check"] = _checksum(manifest)
        temporary = self.directory / f".manifest.{os.getpid()}"
        temporary.write_text(json.dumps(manifest), encoding="utf-8")
        temporary.replace(self.directory / "manifest.json")
        self._loaded = self._stamp()
        files = {stored.file for stored in self._stored}
        for path in self.directory.glob("*.segment"):
            if path.name not in files:
                path.unlink(missing_ok=True)

    def _load(self) -> None:
        """Load the files if all of them are usable; otherwise start empty, to be rebuilt.

        If a writer replaces the segments while they are opened, they are opened again.
        """
        for _ in range(3):
            self.problem = ""
            self._stored, self._touched, self._where = [], {}, {}
            self.taken_ns = 0
            self._loaded = self._stamp()
            self._load_once()
            if not self.problem or self._stamp() == self._loaded:
                return

    def _load_once(self) -> None:
        try:
            manifest: dict[str, Any] = json.loads(
                (self.directory / "manifest.json").read_text(encoding="utf-8")
            )
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError) as error:
            self.problem = f"the manifest is unreadable: {error}"
            return
        if not isinstance(manifest, dict):
            self.problem = "the manifest is not a JSON object"
            return
        _refuse_newer(self.directory, manifest)
        expected = (
            MANIFEST_VERSION,
            LEXER_VERSION,
            [self.options.comments, self.options.whitespace],
        )
        versions = (manifest.get("format"), manifest.get("lexer"), manifest.get("reading"))
        if versions != expected:
            self.problem = "the segments have another format or other lexer options"
            return
        if manifest.pop("check", None) != _checksum(manifest):
            self.problem = "the manifest does not match its checksum"
            return
        stored: list[_StoredSegment] = []
        try:
            for entry in manifest["segments"]:
                live = LiveSegment(TokenSegment.open(self.directory / Path(entry["file"]).name))
                for number in entry["deleted"]:
                    live.delete(number)
                stored.append(_StoredSegment(live, entry["file"]))
            touched = {path: (size, stamp) for path, (size, stamp) in manifest["touched"].items()}
            taken_ns = int(manifest["taken_ns"])
        except (OSError, KeyError, ValueError, TypeError, IndexError) as error:
            self.problem = f"a segment is unreadable: {error}"
            return
        except (SegmentDamaged, SegmentTooNew) as error:
            # The manifest has this version, so the version number of the segment is damaged.
            self.problem = str(error)
            return
        self._stored, self._touched, self.taken_ns = stored, touched, taken_ns
        for entry_live in stored:
            self._index(entry_live.live)


def _refuse_newer(directory: Path, manifest: dict[str, Any]) -> None:
    """Raise SegmentTooNew for files of a newer version: rebuilding would overwrite them.

    Only if the checksum is correct: a wrong bit is damage, not a newer version.
    """
    unchecked = {name: value for name, value in manifest.items() if name != "check"}
    if manifest.get("check") != _checksum(unchecked):
        return
    for name, newest in (("format", MANIFEST_VERSION), ("lexer", LEXER_VERSION)):
        version = manifest.get(name)
        if isinstance(version, int) and version > newest:
            raise SegmentTooNew(str(directory), version)


def _checksum(manifest: dict[str, Any]) -> int:
    """The checksum of a manifest."""
    return crc32(json.dumps(manifest, sort_keys=True).encode("ascii"))


def document_facts(path: str, size: int, stamp_ns: int, data: bytes) -> DocumentFacts:
    """The facts of a document with these bytes."""
    return DocumentFacts(path, size, stamp_ns, sha256(data).hexdigest())
