"""The files of a root's segments, beside its tables.

The tables say which segments a generation has, and have a CRC-32 of every BLOCK_BYTES bytes of each
file. So a file can be mapped into memory and checked only where it is read, and any change to a
file is noticed.

Beside a large segment is a file with tables that follow from it (`search/term_tables.py`). It has
checks of its own and may be missing.

A file is named by its digest and complete before the tables name it. Files that no generation names
any more are removed when the next one is published; the files of the previous generation stay until
then, for readers that have just started. A process that has a file open keeps it.
"""

from __future__ import annotations

import os
import sys
from array import array
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from holdfast.index.errors import HOME_HINT, BackendUnavailable, DamagedBackend
from holdfast.index.search import posting_segment as segments
from holdfast.index.search import term_tables
from holdfast.index.search.mapped_segment import MappedSegment, file_of
from holdfast.index.search.term_tables import StoredTables

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.generations.link_files import LinkRow
    from holdfast.index.search.posting_segment import PostingSegment

_BLOCK_BITS = 12
BLOCK_BYTES = 1 << _BLOCK_BITS
READ_BYTES = 1 << 20
FEW_LEFT = 8
"""When fewer than one in so many blocks of a range are unchecked, they are all checked."""
ENDING, ENDING_OF_TABLES = ".segment", ".tables"


class StoredSegment(msgspec.Struct, frozen=True):
    """The table row of a segment: its file's name and size, and the checks of its blocks."""

    digest: str
    rows: int
    size_bytes: int
    checks: bytes


class CheckedFile:
    """A file mapped into memory, whose blocks are checked when they are first needed."""

    def __init__(self, path: Path, size_bytes: int, checks: bytes) -> None:
        import numpy as np

        try:
            with open(path, "rb") as file:
                if os.fstat(file.fileno()).st_size != size_bytes:
                    raise DamagedBackend("a segment of the index is truncated")
                self.data = mmap(file.fileno(), size_bytes, access=ACCESS_READ)
        except FileNotFoundError as error:
            raise DamagedBackend("a segment of the index is missing") from error
        except (OSError, ValueError) as error:
            raise BackendUnavailable(f"cannot read {path}: {error}", HOME_HINT) from error
        self._checks = array("I", checks[: len(checks) // 4 * 4])
        if sys.byteorder == "big":
            self._checks.byteswap()
        # A bytearray is searched faster than an array; many ranges at once need the array.
        self._seen = bytearray(-(-size_bytes // BLOCK_BYTES))
        self._seen_array = np.frombuffer(self._seen, dtype=np.bool_)
        if len(checks) != len(self._seen) * 4:
            raise DamagedBackend("a segment of the index is damaged: checks are missing")

    def check_size(self) -> None:
        """Raise DamagedBackend if the file was truncated since it was mapped.

        Reading past the end of a mapped file kills the process (SIGBUS), so this is checked before
        each query and before a block is read for the first time. We never shorten a published file;
        another program that does so during a query still kills the process.
        """
        if self.data.size() < len(self.data):
            raise DamagedBackend("a segment of the index was truncated while it was open")

    def need(self, start: int, stop: int) -> None:
        if start >= stop:
            return
        first, end = start // BLOCK_BYTES, (stop - 1) // BLOCK_BYTES + 1
        first = self._seen.find(0, first, end)
        if first >= 0:
            self._check([block for block in range(first, end) if not self._seen[block]])

    def need_each(self, starts: NDArray[np.int64], width: int) -> None:
        import numpy as np

        if not len(starts) or not width:
            return
        low = int(starts.min()) >> _BLOCK_BITS
        high = ((int(starts.max()) + width - 1) >> _BLOCK_BITS) + 1
        if self._seen.find(0, low, high) < 0:
            return
        first = starts >> _BLOCK_BITS
        last = (starts + (width - 1)) >> _BLOCK_BITS
        for step in range(int((last - first).max()) + 1):
            blocks = np.minimum(first + step, last) if step else first
            seen = self._seen_array.take(blocks)
            if not seen.all():
                self._check(set(blocks[~seen].tolist()))
        self._finish(low, high)

    def _finish(self, low: int, high: int) -> None:
        """Check the last few blocks of a range too, so that later needs are met at once."""
        left = self._seen.count(0, low, high)
        if left * FEW_LEFT > high - low:
            return
        at = self._seen.find(0, low, high)
        while at >= 0:
            # A damaged block is told to the reader that needs it.
            with suppress(DamagedBackend):
                self._check((at,))
            at = self._seen.find(0, at + 1, high)

    def _check(self, blocks: Iterable[int]) -> None:
        self.check_size()
        with memoryview(self.data) as data:
            seen, checks = self._seen, self._checks
            for block in blocks:
                at = block << _BLOCK_BITS
                if crc32(data[at : at + BLOCK_BYTES]) != checks[block]:
                    raise DamagedBackend("a segment of the index is damaged: its checksum differs")
                seen[block] = True


class SegmentFiles:
    """The segments of one root, in a directory of their own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def write(self, segment: PostingSegment) -> StoredSegment:
        """Write a segment's file and return the row that the tables must store."""
        data = file_of(segment)
        name = self.write_data(data)
        self._write_tables(segment, name)
        with memoryview(data) as view:
            checks = b"".join(
                crc32(view[at : at + BLOCK_BYTES]).to_bytes(4, "little")
                for at in range(0, len(data), BLOCK_BYTES)
            )
        return StoredSegment(name, segment.rows, len(data), checks)

    def write_data(self, data: bytes) -> str:
        """Write a file of these bytes; returns its name."""
        from holdfast.index.generations.segments import digest

        name = digest(data, b"")
        self._write(self._path(name), data)
        return name

    def _write_tables(self, segment: PostingSegment, name: str) -> None:
        if segment.rows >= term_tables.ROWS_MIN:
            with suppress(BackendUnavailable):
                self._write(self._path(name, ENDING_OF_TABLES), term_tables.encode(segment, name))

    def add_tables(self, stored: Iterable[StoredSegment], dimension: int) -> None:
        """Write the tables of a segment that has none: an older version wrote it. Of one only,
        so that no sync takes much longer."""
        for one in stored:
            missing = not self._path(one.digest, ENDING_OF_TABLES).exists()
            if missing and one.rows >= term_tables.ROWS_MIN:
                with suppress(DamagedBackend):  # told to the reader that needs it
                    self._write_tables(self.open(one, dimension), one.digest)
                return

    def _tables(self, name: str) -> StoredTables | None:
        """The stored tables of a segment, if there are any."""
        try:
            return StoredTables(self._path(name, ENDING_OF_TABLES).read_bytes(), name)
        except OSError:
            return None

    def _write(self, path: Path, data: bytes) -> None:
        unfinished = path.with_suffix(".new")
        try:
            self._directory.mkdir(mode=0o700, exist_ok=True)
            with open(os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as f:
                f.write(data)
            os.replace(unfinished, path)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            text = f"cannot write a segment of the index: {error.strerror or error}"
            raise BackendUnavailable(text, "make room, then try again") from error

    def mapped(self, name: str, size_bytes: int, check: int) -> mmap:
        """A mapped file; raises DamagedBackend if it is damaged.

        It is read once to check it, which does not map its pages.
        """
        path = self._path(name)
        try:
            with open(path, "rb") as file:
                checksum = 0
                while block := file.read(READ_BYTES):
                    checksum = crc32(block, checksum)
                if checksum != check or file.tell() != size_bytes:
                    raise DamagedBackend("a segment of the index is damaged: its checksum differs")
                return mmap(file.fileno(), size_bytes, access=ACCESS_READ)
        except FileNotFoundError as error:
            raise DamagedBackend("a segment of the index is missing") from error
        except (OSError, ValueError) as error:
            raise BackendUnavailable(f"cannot read {path}: {error}", HOME_HINT) from error

    def mapped_links(self, one: LinkRow) -> mmap:
        """The file of a segment of links, mapped."""
        return self.mapped(one.digest, one.size_bytes, one.check)

    def open(self, stored: StoredSegment, dimension: int) -> PostingSegment:
        """A stored segment; DamagedBackend is raised if it is missing, or when a bad block
        is read.
        """
        path = self._path(stored.digest)
        file = CheckedFile(path, stored.size_bytes, stored.checks)
        segment = MappedSegment(file, dimension, lambda: self._tables(stored.digest))
        if segment.rows != stored.rows:
            raise DamagedBackend("a segment of the index has another number of chunks")
        return segment

    def verify(self, stored: StoredSegment, dimension: int) -> None:
        """Read all of a segment; raises DamagedBackend if a byte differs."""
        file = CheckedFile(self._path(stored.digest), stored.size_bytes, stored.checks)
        file.need(0, stored.size_bytes)
        segments.usable_scales(self.open(stored, dimension).scales)

    def size_of(self, name: str) -> int | None:
        """The size of a file; None if it does not exist."""
        try:
            return self._path(name).stat().st_size
        except (OSError, DamagedBackend):
            return None

    def check_size(self, stored: StoredSegment) -> None:
        """Raise DamagedBackend if a segment's file is missing or has another size."""
        try:
            size = self._path(stored.digest).stat().st_size
        except OSError as error:
            raise DamagedBackend("a segment of the index is missing") from error
        if size != stored.size_bytes:
            raise DamagedBackend(f"a segment of the index has {size} of {stored.size_bytes} bytes")

    def keep_only(self, names: Collection[str]) -> None:
        """Remove all files except these; files that cannot be removed are left."""
        for name in self._names():
            if name.removesuffix(ENDING).removesuffix(ENDING_OF_TABLES) not in names:
                with suppress(OSError):
                    (self._directory / name).unlink(missing_ok=True)

    def flush(self) -> None:
        """Wait until the files are on disk, so that tables on disk never name missing files."""
        for name in self._names():
            with suppress(OSError), open(self._directory / name, "rb") as file:
                os.fsync(file.fileno())

    def stamp(self) -> object:
        """A value that changes when a file is changed, added or removed."""
        try:
            with os.scandir(self._directory) as files:
                entries = [(entry.name, entry.stat()) for entry in files]
        except OSError:
            return None
        return tuple(sorted((n, s.st_mtime_ns, s.st_size, s.st_ino) for n, s in entries))

    def remove(self) -> None:
        for name in self._names():
            (self._directory / name).unlink(missing_ok=True)
        with suppress(OSError):
            self._directory.rmdir()

    def _names(self) -> list[str]:
        try:
            return os.listdir(self._directory)
        except FileNotFoundError:
            return []

    def _path(self, digest: str, ending: str = ENDING) -> Path:
        # A damaged row may name anything.
        if not digest.isalnum():
            raise DamagedBackend("a segment of the index has a damaged name")
        return self._directory / f"{digest}{ending}"
