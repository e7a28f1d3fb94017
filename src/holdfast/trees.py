"""The token segments of a source tree, built from the same file listing as the code index.

Files, index and sequence meet here. Every lifecycle action of the index passes the snapshot it
published to `SegmentUpdater`, which brings the segments of the tree to the same state, so a tree
that is indexed and watched also has fresh segments. A tree without an index gets its segments when
they are first needed.

Every query checks the files again: by stat, and by reading those that were modified about when the
segments were last updated. A match is only reported in text that a file contains now.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import HOME_HINT, HoldfastError, UsageError
from holdfast.files.listing import TreeListing
from holdfast.files.snapshot import (
    Snapshot,
    Stat,
    as_known,
    compressed,
    covered,
    not_searched,
    stamp_of,
)
from holdfast.sequence.errors import SegmentTooNew
from holdfast.sequence.segment_paths import segments_directory
from holdfast.sequence.segment_store import Progress, SegmentStore, document_facts
from holdfast.sequence.suffix.stream import Document, DocumentFacts
from holdfast.sequence.tokens.families import BY_NAME, family_of
from holdfast.sequence.tokens.lexer import CODE_ONLY, LexerOptions, lex
from holdfast.tree_texts import read_texts

if TYPE_CHECKING:
    from holdfast.sequence.locate import LocateAnswer

BINARY = "binary"
"""Used as the digest of a binary file, which is stored without tokens to avoid reading it again."""

CREATED_BYTES_MAX = 32_000_000
"""A larger tree gets its segments from the first query that needs them: making them takes about
ten times the size of the sources in memory."""

ALL_OPTIONS = tuple(
    LexerOptions(comments=comments, whitespace=whitespace)
    for comments in (False, True)
    for whitespace in (False, True)
)


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A tree and its segments, as of the moment it was opened."""

    root: Path
    segments: SegmentStore
    files: Mapping[str, Stat]
    unreadable: frozenset[str] = frozenset()
    """Files and directories that could not be read."""
    too_large: int = 0
    """How many files were skipped because of their size."""
    unnameable: int = 0
    """How many files and directories were skipped because their names are not UTF-8."""

    def not_searched(self) -> str | None:
        """Which files an answer does not cover; None if it covers all."""
        return not_searched(self.unreadable, self.too_large, self.unnameable)


def segment_store_of(
    sequence_root: Path, root: Path, options: LexerOptions = CODE_ONLY
) -> SegmentStore:
    """The segment store of a tree for one set of lexer options."""
    return SegmentStore(segments_directory(sequence_root, root, options), options)


def opened(
    root: Path,
    listing: TreeListing,
    sequence_root: Path,
    options: LexerOptions,
    progress: Progress,
) -> SourceTree:
    """Update the segments of a tree that was just listed, and open them."""
    walk, taken_ns = listing.walk, listing.taken_ns
    unreadable = set(walk.unreadable)
    try:
        store = segment_store_of(sequence_root, root, options)
        update_segments(store, root, walk.stats, unreadable, taken_ns, progress)
    except (OSError, SegmentTooNew) as error:
        # Segments of a newer version are not overwritten, and a read-only home is not written.
        if isinstance(error, OSError) and error.errno not in READ_ONLY:
            raise UsageError(
                f"{sequence_root} cannot be written: {error.strerror}", HOME_HINT
            ) from error
        # Build them for this command only: slower, with the same answer.
        store = _temporary_store(root, options)
        unreadable = set(walk.unreadable)
        update_segments(store, root, walk.stats, unreadable, taken_ns, progress)
    skipped = walk.skipped
    return SourceTree(
        root, store, walk.stats, compressed(unreadable), skipped["large"], skipped["unnameable"]
    )


READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
"""The errors of a home directory that can be read but not written."""


def _temporary_store(root: Path, options: LexerOptions) -> SegmentStore:
    """A segment store in a temporary directory, which is deleted together with the object."""
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
    """Bring the segments to the state of these files; adds unreadable ones to `unreadable`.

    Files that cannot be read are removed from the segments, because a match in them could not be
    verified.
    """
    entries = store.known()
    stale = [
        path
        for path, stat in sorted(stats.items())
        if not as_known(entries.get(path), stat, store.taken_ns)
    ]
    gone = [path for path in entries if path not in stats]
    if not stale and not gone:
        return
    documents = list(_documents(root, stale, gone, unreadable, progress))
    store.refresh(documents, gone, progress, taken_ns=taken_ns)


def _documents(
    root: Path, paths: list[str], gone: list[str], unreadable: set[str], progress: Progress
) -> Iterator[Document]:
    for path, stat, text in read_texts(root, paths, gone, unreadable, progress):
        if text is None:
            yield Document(DocumentFacts(path, stat.size_bytes, stamp_of(stat), BINARY), b"")
        else:
            yield Document(document_facts(path, stat.size_bytes, stamp_of(stat), text), text)


def no_progress(_step: str, _done: int, _total: int) -> None:
    """A progress callback that does nothing."""


@dataclass(frozen=True, slots=True)
class SegmentUpdater:
    """Updates the segments of a tree with each generation of its index.

    Segments without comments are created if needed, unless the tree is so large that the first
    `locate` or `clones` has to create them; others are only updated where a query has created them.
    Errors are ignored here: the next query updates the segments and reports them.
    """

    sequence_root: Path

    def __call__(self, root: str, snapshot: Snapshot) -> None:
        entries = snapshot.entries
        if snapshot.unreadable:
            # A snapshot keeps the old entries of files that could not be read; leave these out.
            entries = {
                path: entry
                for path, entry in entries.items()
                if not covered(path, snapshot.unreadable)
            }
        small = sum([stat.size_bytes for stat, _ in entries.values()]) <= CREATED_BYTES_MAX
        for options in ALL_OPTIONS:
            try:
                store = segment_store_of(self.sequence_root, Path(root), options)
                if (options == CODE_ONLY and small) or store.directory.is_dir():
                    stats = {path: entry.stat for path, entry in entries.items()}
                    update_segments(store, Path(root), stats, set(), snapshot.taken_ns, no_progress)
            except (OSError, HoldfastError):
                continue


def locate_snippet(
    tree: SourceTree,
    source: bytes,
    options: LexerOptions = CODE_ONLY,
    *,
    language: str | None = None,
    file: str | None = None,
    copies: int = 20,
    explained: bool = False,
    check: Callable[[], None] = lambda: None,
) -> LocateAnswer:
    """Look up a snippet in a tree; used by the command, the tool and the dashboard.

    The snippet's language is `language`, else that of the file name `file`, else the most common
    one of the tree.
    """
    from holdfast.sequence.locate import locate

    family = snippet_family(language, file, tree.files)
    return locate(
        tree.segments.corpus,
        source,
        lex(source, family, options),
        root=str(tree.root),
        copies=copies,
        explained=explained,
        not_searched=tree.not_searched(),
        check=check,
    )


def snippet_family(language: str | None, file: str | None, paths: Iterable[str]) -> int:
    """The lexer family of a language, or of a file, or else the most common one of `paths`."""
    if language is not None:
        if language in BY_NAME:
            return BY_NAME[language]
        family = family_of(f"snippet.{language}")
        if family == 0 and language not in ("txt", "md"):
            raise UsageError(
                f"unknown language {language!r}",
                f"use a file suffix, or one of: {', '.join(BY_NAME)}",
            )
        return family
    if file is not None:
        return family_of(file)
    counts: dict[int, int] = {}
    for path in paths:
        family = family_of(path)
        counts[family] = counts.get(family, 0) + (family != 0)
    return max(counts, key=lambda family: counts[family], default=0)
