"""The token sequences of a source tree, from the same look at its files as the code index.

Where files, index and sequence meet. Every lifecycle action of the index hands the snapshot it
published to `SegmentUpdater`, which brings the tree's segments to the same state; so a tree that is
indexed and watched has segments that are fresh too. A tree that is not indexed has segments of its
own, made when they are first asked for.

Whoever asks looks again all the same: by stat, and by reading what was touched about when the last
look was taken. A match is only reported in text that was read from the file as it is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import HOME_HINT, HoldfastError, UsageError
from holdfast.files import disk
from holdfast.files.policy import Policy
from holdfast.files.snapshot import RACY_NS, Snapshot, Stat, compressed, covered
from holdfast.sequence.segment_store import Progress, SegmentStore, document_facts
from holdfast.sequence.suffix.stream import Document, DocumentFacts
from holdfast.sequence.tokens.families import BY_NAME, family_of
from holdfast.sequence.tokens.lexer import CODE_ONLY, LexerOptions
from holdfast.sequence.tokens.text import text_of

BINARY = "binary"
"""The digest of a file that is no text: it is known, so that it is not read again, and empty."""

ALL_OPTIONS = tuple(
    LexerOptions(comments=comments, whitespace=whitespace)
    for comments in (False, True)
    for whitespace in (False, True)
)


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree and its segments, as fresh as the look that opened it."""

    root: Path
    segments: SegmentStore
    files: Mapping[str, Stat]
    unreadable: frozenset[str] = frozenset()
    """Files and directories that could not be read, so that nothing is known of them now."""
    too_large: int = 0
    """How many files were left out because of their size."""
    unnameable: int = 0
    """How many files and directories were left out because no text can name them."""

    def not_searched(self) -> str | None:
        """What a negative answer does not speak of, if anything."""
        said = []
        if self.unreadable:
            shown = ", ".join(sorted(self.unreadable)[:3])
            more = ", …" if len(self.unreadable) > 3 else ""
            said.append(f"{len(self.unreadable)} could not be read ({shown}{more})")
        if self.too_large:
            said.append(f"{self.too_large} are too large")
        if self.unnameable:
            said.append(f"{self.unnameable} with names that are not UTF-8")
        return f"not searched: {'; '.join(said)}" if said else None

    def notes(self) -> dict[str, str]:
        """The same as a member of an answer; none if everything was searched."""
        note = self.not_searched()
        return {"notSearched": note} if note else {}


def segment_store_of(
    sequence_root: Path, root: Path, options: LexerOptions = CODE_ONLY
) -> SegmentStore:
    """The segments of a tree, read in one way."""
    name = "".join(flag for flag, on in (("c", options.comments), ("w", options.whitespace)) if on)
    directory = SegmentStore.directory_of(sequence_root, root)
    return SegmentStore(directory.with_name(directory.name + ("-" + name if name else "")), options)


def open_tree(
    root: Path,
    sequence_root: Path,
    options: LexerOptions,
    progress: Progress,
    now_ns: Callable[[], int],
    policy: Policy | None = None,
) -> Tree:
    """Look at the tree, take over what changed since the last time, and open its segments."""
    root = root.resolve()
    taken_ns = now_ns()
    try:
        found = disk.walk(os.fspath(root), policy)
    except disk.TreeMissing as error:
        said = "is not a directory" if root.exists() else "does not exist"
        raise UsageError(f"{root} {said}", "name a directory that exists") from error
    store = segment_store_of(sequence_root, root, options)
    unreadable = set(found.unreadable)
    try:
        update_segments(store, root, found.stats, unreadable, taken_ns, progress)
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise UsageError(
                f"{sequence_root} cannot be written: {error.strerror}", HOME_HINT
            ) from error
        # Made for this once: slower, and the same answer.
        store = _unkept(root, options)
        unreadable = set(found.unreadable)
        update_segments(store, root, found.stats, unreadable, taken_ns, progress)
    skipped = found.skipped
    return Tree(
        root, store, found.stats, compressed(unreadable), skipped["large"], skipped["unnameable"]
    )


READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
"""What a home says that may be looked at and not be changed."""


def _unkept(root: Path, options: LexerOptions) -> SegmentStore:
    """Segments for which there is no place to stay; they go when nobody has them open."""
    import shutil
    import tempfile
    import weakref

    directory = tempfile.mkdtemp(prefix="holdfast-")
    store = segment_store_of(Path(directory), root, options)
    weakref.finalize(store, shutil.rmtree, directory, ignore_errors=True)
    return store


def update_segments(
    store: SegmentStore,
    root: Path,
    stats: Mapping[str, Stat],
    unreadable: set[str],
    taken_ns: int,
    progress: Progress,
) -> None:
    """Bring the segments to the state of these files. Adds to `unreadable` what it cannot read.

    What cannot be read is dropped from the segments: nothing may match in text nobody can check.
    """
    known = store.known()
    stale = [
        path
        for path, stat in sorted(stats.items())
        if not _as_known(known.get(path), stat, store.taken_ns)
    ]
    gone = [path for path in known if path not in stats]
    if not stale and not gone:
        return
    documents = list(_documents(root, stale, gone, unreadable, progress))
    store.refresh(documents, gone, progress, taken_ns=taken_ns)


def _as_known(known: tuple[int, int] | None, stat: Stat, taken_ns: int) -> bool:
    """Whether a file can be taken to hold what it held; see `files.snapshot.unchanged`."""
    stamp = stamp_of(stat)
    return known == (stat.size_bytes, stamp) and stamp < taken_ns - RACY_NS


def stamp_of(stat: Stat) -> int:
    """The later of the modification and the change time: a rewrite moves it, whatever it hides."""
    return max(stat.mtime_ns, stat.ctime_ns)


def _documents(
    root: Path, paths: list[str], gone: list[str], unreadable: set[str], progress: Progress
) -> Iterator[Document]:
    for number, path in enumerate(paths):
        if number % 200 == 0:
            progress("reading files", number, len(paths))
        try:
            data, stat = disk.read_file(os.fspath(root), path)
        except FileNotFoundError:
            gone.append(path)
            continue
        except OSError:
            gone.append(path)
            unreadable.add(path)
            continue
        text = text_of(data)
        if text is None:
            yield Document(DocumentFacts(path, stat.size_bytes, stamp_of(stat), BINARY), b"")
        else:
            yield Document(document_facts(path, stat.size_bytes, stamp_of(stat), text), text)
    progress("reading files", len(paths), len(paths))


def no_progress(_step: str, _done: int, _total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class SegmentUpdater:
    """Brings the segments of a tree along with each generation of its index.

    The plain reading is made if need be; others only where somebody asked for them before. Trouble
    here is not the index's: whoever asks next looks again and says what is wrong.
    """

    sequence_root: Path

    def __call__(self, root: str, snapshot: Snapshot) -> None:
        # What could not be read is carried over in a snapshot; nobody can check it now.
        stats = {
            path: entry.stat
            for path, entry in snapshot.entries.items()
            if not covered(path, snapshot.unreadable)
        }
        for options in ALL_OPTIONS:
            try:
                store = segment_store_of(self.sequence_root, Path(root), options)
                if options == CODE_ONLY or store.directory.is_dir():
                    update_segments(store, Path(root), stats, set(), snapshot.taken_ns, no_progress)
            except (OSError, HoldfastError):
                continue


def snippet_family(language: str | None, file: str | None, paths: Iterable[str]) -> int:
    """The family of a snippet: as asked, as its file says, or most common among these paths."""
    if language is not None:
        if language in BY_NAME:
            return BY_NAME[language]
        family = family_of(f"snippet.{language}")
        if family == 0 and language not in ("txt", "md"):
            raise UsageError(
                f"{language!r} is no language we know",
                f"a file suffix, or one of: {', '.join(BY_NAME)}",
            )
        return family
    if file is not None:
        return family_of(file)
    counts: dict[int, int] = {}
    for path in paths:
        family = family_of(path)
        counts[family] = counts.get(family, 0) + (family != 0)
    return max(counts, key=lambda family: counts[family], default=0)
