"""The segments of one tree on disk: base, mid and delta.

A change never rewrites the base. The document's old text is marked deleted wherever it is, its new
text goes into the delta, and the delta, being small, is made again. A delta that has grown is
folded into mid, and a mid that has grown, or a base with many deletions, into a new base. The
manifest names the segments and the deletions and is replaced in one step, so a reader sees the tree
before a change or after it.
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

from holdfast.sequence.corpus import Corpus
from holdfast.sequence.errors import SegmentDamaged, SegmentTooNew
from holdfast.sequence.suffix.backends import Backend, choose
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import Document, DocumentFacts, Stream, joined, stream_of
from holdfast.sequence.tokens.lexer import CODE_ONLY, LEXER_VERSION, LexerOptions

try:
    import fcntl
except ImportError:  # not on Windows, where two writers can make each other start anew
    fcntl = None  # type: ignore[assignment]

MANIFEST_VERSION = 3
"""1: segments by file name, deleted documents, stamps of files that were only touched.
2: when the tree was looked at, so that files touched about then are read again.
3: a check of the rest: a document that is deleted no more would be found as it was."""

DELTA_TOKENS_MAX = 100_000
MID_TOKENS_MIN = 1_000_000
"""Mid is folded into the base when it is larger than this and than a quarter of the base."""

DELETED_TOKENS_MIN = 200_000

_BYTES_PER_TOKEN = 4  # a guess for choosing a backend before anything is lexed

Progress = Callable[[str, int, int], None]


def _silent(_step: str, _done: int, _total: int) -> None: ...


@dataclass(slots=True)
class _StoredSegment:
    live: LiveSegment
    file: str


class SegmentStore:
    """The segments of one tree, kept in one directory. Everything here can be deleted."""

    def __init__(
        self,
        directory: Path,
        options: LexerOptions = CODE_ONLY,
        backend: Backend | None = None,
    ) -> None:
        self.directory = directory
        self.options = options
        self.backend = backend
        self._stored: list[_StoredSegment] = []
        self._touched: dict[str, tuple[int, int]] = {}
        self._where: dict[str, tuple[LiveSegment, int]] = {}
        self._loaded: tuple[int, int, int] | None = None
        self.taken_ns = 0
        """When the files were looked at; 0 when nobody said."""
        self.problem: str = ""
        """Why what was on disk could not be used, if so."""
        self._load()

    @staticmethod
    def directory_of(home: Path, tree: Path) -> Path:
        """Where the segments of a tree live below the sequence root."""
        return home / sha256(os.fsencode(tree)).hexdigest()[:16]

    @property
    def corpus(self) -> Corpus:
        return Corpus([stored.live for stored in self._stored])

    def known(self) -> dict[str, tuple[int, int]]:
        """Every living document with the size and the stamp its file had."""
        found: dict[str, tuple[int, int]] = {}
        for path, (live, number) in self._where.items():
            facts = live.segment.documents[number]
            found[path] = self._touched.get(path, (facts.size, facts.mtime_ns))
        return found

    def digest(self, path: str) -> str | None:
        """The digest of the text a living document had."""
        at = self._where.get(path)
        return None if at is None else at[0].segment.documents[at[1]].digest

    def refresh(
        self,
        documents: Iterable[Document],
        removed: Iterable[str],
        progress: Progress = _silent,
        *,
        taken_ns: int = 0,
    ) -> Corpus:
        """Take over changed and new documents and drop removed ones; searchable on return.

        `taken_ns` is when the look at the tree began that found these changes.
        """
        documents, removed = list(documents), list(removed)
        with self._alone():
            return self._refresh(documents, removed, progress, taken_ns)

    def _refresh(
        self, documents: list[Document], removed: list[str], progress: Progress, taken_ns: int
    ) -> Corpus:
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
        """One segment of every living document, or None when there is none."""
        if len(self._stored) == 1 and not self._stored[0].live.deleted:
            return self._stored[0].live.segment
        with self._alone():
            if not self._where:
                return None
            if len(self._stored) > 1 or self._stored[0].live.deleted:
                self._fold(range(len(self._stored)), None, progress)
                self._save()
            return self._stored[0].live.segment

    # Inside

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Be the only writer, starting from what the last one left."""
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.directory / "lock").open("wb") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
                for left in self.directory.glob(".*.[0-9]*"):
                    left.unlink(missing_ok=True)  # of a writer that was killed: only we write now
            if self._stamp() != self._loaded:
                self._load()
            yield

    def _stamp(self) -> tuple[int, int, int] | None:
        """What tells one manifest from the next."""
        try:
            found = (self.directory / "manifest.json").stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _place(self, fresh: Sequence[Document], progress: Progress) -> None:
        size = sum(len(document.data) for document in fresh)
        backend = self.backend or choose(size // _BYTES_PER_TOKEN)
        progress("reading tokens", 0, size)
        stream = stream_of(fresh, self.options, backend)
        progress("reading tokens", size, size)
        count = len(stream.tokens)
        sizes = [stored.live.tokens for stored in self._stored]
        if not sizes or count + sum(sizes[1:]) > max(MID_TOKENS_MIN, sizes[0] // 4):
            self._fold(range(len(sizes)), stream, progress)
        elif count + sum(sizes[2:]) > DELTA_TOKENS_MAX:
            self._fold(range(1, len(sizes)), stream, progress)
        else:
            if len(sizes) < 2:
                # The delta is always the third, so that mid can be told from it.
                self._add(Stream([], [], [], [], [0], [], [0]), Backend.PURE)
            self._fold(range(2, len(sizes)), stream, progress)
        base = self._stored[0].live
        gone, size = len(base.segment) - base.tokens, len(base.segment)
        # Every opening marks what is deleted, token by token, so that must not grow for ever.
        if gone > min(0.4 * size, max(DELETED_TOKENS_MIN, 0.15 * size)):
            self._fold(range(len(self._stored)), None, progress)

    def _fold(self, numbers: range, stream: Stream | None, progress: Progress) -> None:
        """Replace these segments by one of their living documents and those of `stream`."""
        kept = [self._stored[number].live for number in numbers]
        sources = [(live.segment.stream(), live.living()) for live in kept if live.living()]
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

    def _add(self, stream: Stream, backend: Backend) -> None:
        if not len(stream.tokens):
            backend = Backend.PURE
            stream = stream_of([], self.options)
        segment = build(stream, backend)
        name = f"{self._serial():08d}.segment"
        live = LiveSegment(segment.write(self.directory / name))
        self._stored.append(_StoredSegment(live, name))
        self._index(live)

    def _serial(self) -> int:
        taken = [int(path.stem) for path in self.directory.glob("[0-9]*.segment")]
        return max(taken, default=0) + 1

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
        manifest["check"] = _check(manifest)
        temporary = self.directory / f".manifest.{os.getpid()}"
        temporary.write_text(json.dumps(manifest), encoding="utf-8")
        temporary.replace(self.directory / "manifest.json")
        self._loaded = self._stamp()
        named = {stored.file for stored in self._stored}
        for path in self.directory.glob("*.segment"):
            if path.name not in named:
                path.unlink(missing_ok=True)

    def _load(self) -> None:
        """Take what is on disk if all of it can be used, otherwise nothing: it is rebuilt.

        A writer may replace the segments while they are being opened; then they are opened again.
        """
        for _ in range(3):
            self.problem = ""
            self._stored, self._touched, self._where = [], {}, {}
            self.taken_ns = 0
            self._loaded = self._stamp()
            self._take()
            if not self.problem or self._stamp() == self._loaded:
                return

    def _take(self) -> None:
        try:
            manifest: dict[str, Any] = json.loads(
                (self.directory / "manifest.json").read_text(encoding="utf-8")
            )
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            self.problem = f"the manifest cannot be read: {error}"
            return
        if not isinstance(manifest, dict):
            self.problem = "the manifest is not one"
            return
        wanted = (MANIFEST_VERSION, LEXER_VERSION, [self.options.comments, self.options.whitespace])
        found = (manifest.get("format"), manifest.get("lexer"), manifest.get("reading"))
        if found != wanted:
            self.problem = "the segments were made in another way"
            return
        if manifest.pop("check", None) != _check(manifest):
            self.problem = "the manifest was changed"
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
            self.problem = f"a segment cannot be read: {error}"
            return
        except (SegmentDamaged, SegmentTooNew) as error:
            self.problem = str(error)
            return
        self._stored, self._touched, self.taken_ns = stored, touched, taken_ns
        for entry_live in stored:
            self._index(entry_live.live)


def _check(manifest: dict[str, Any]) -> int:
    """A number that tells this manifest from one with a wrong bit in it."""
    return crc32(json.dumps(manifest, sort_keys=True).encode("ascii"))


def document_facts(path: str, size: int, stamp_ns: int, data: bytes) -> DocumentFacts:
    """The facts of a document whose bytes were just read."""
    return DocumentFacts(path, size, stamp_ns, sha256(data).hexdigest())
