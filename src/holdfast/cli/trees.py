"""A source tree opened for sequence search: looked at, brought up to date, ready to ask.

Where files and sequence meet for the commands of this package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.app import App
from holdfast.errors import UsageError
from holdfast.files import listing
from holdfast.files.listing import FileStat, Listing, ListingChanges, changes
from holdfast.sequence.shelf import Progress, Shelf, facts_of
from holdfast.sequence.suffix.stream import Document, Facts
from holdfast.sequence.tokens.lexer import Reading
from holdfast.sequence.tokens.text import text_of

BINARY = "binary"
"""The digest of a file that is no text: it is known, so that it is not read again, and empty."""


def home() -> Path:
    """Where Holdfast keeps what it derives."""
    return App.from_environment().home


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree and its segments, as fresh as the snapshot."""

    root: Path
    shelf: Shelf
    snapshot: Listing
    changes: ListingChanges


def open_tree(root: Path, sequence_root: Path, reading: Reading, progress: Progress) -> Tree:
    """Look at the tree, take over what changed since the last time, and open its segments."""
    root = root.resolve()
    looked = listing.list_files(root)
    name = "".join(flag for flag, on in (("c", reading.comments), ("w", reading.whitespace)) if on)
    directory = Shelf.directory_of(sequence_root, root)
    shelf = Shelf(directory.with_name(directory.name + ("-" + name if name else "")), reading)
    before = {path: FileStat(size, stamp) for path, (size, stamp) in shelf.known().items()}
    difference = changes(before, looked.files)
    if difference:
        paths = [*difference.added, *difference.changed]
        gone: list[str] = list(difference.removed)
        documents = list(_documents(root, looked, paths, gone, progress))
        try:
            shelf.refresh(documents, gone, progress)
        except OSError as error:
            raise UsageError(
                f"{sequence_root} cannot be written: {error.strerror}",
                "set HOLDFAST_HOME to a directory that you may write",
            ) from error
    return Tree(root, shelf, looked, difference)


def _documents(
    root: Path, looked: Listing, paths: list[str], gone: list[str], progress: Progress
) -> Iterator[Document]:
    for number, path in enumerate(paths):
        if number % 200 == 0:
            progress("reading files", number, len(paths))
        data = listing.read(root, path)
        if data is None:
            gone.append(path)
            continue
        stat = looked.files[path]
        # The size and the stamp are those of the look: a file that changed since will differ again.
        text = text_of(data)
        if text is None:
            yield Document(Facts(path, stat.size, stat.stamp_ns, BINARY), b"")
        else:
            yield Document(facts_of(path, stat.size, stat.stamp_ns, text), text)
    progress("reading files", len(paths), len(paths))


def progress_on_terminal() -> Progress:
    """A progress line on standard error, when a person can see it."""
    if not sys.stderr.isatty():
        return lambda _step, _done, _total: None

    def show(step: str, done: int, total: int) -> None:
        share = 100 * done // total if total else 100
        print(f"\r\x1b[K{step} {share} %", end="" if share < 100 else "\r\x1b[K", file=sys.stderr)
        sys.stderr.flush()

    return show
