"""A build's exchange of prepared files with the team.

A run requests the rows of a batch of files before they are parsed, and uploads the rows that it had
to make. Only files whose content is in the checked-out commit are uploaded: uncommitted and
untracked content never leaves the machine. Secrets are masked first (`prepare.py`), so a row has
none that the policy finds.

A store that fails is not used again in this run: the build continues without it and reports that.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.errors import CodeIndexError
from holdfast.files.git import open_repository
from holdfast.files.secrets import masked
from holdfast.index.generations.model import PreparedFile, SourceFile
from holdfast.index.shared import rows
from holdfast.index.shared.store import SharedReadOnly, SharedStore
from holdfast.text import counted

BATCH_FILES = 128
BATCH_BYTES = 4 * 1024 * 1024
GIVE_BYTES = 4 * 1024 * 1024
ROWS_OF_FILE = 2


@dataclass(frozen=True, slots=True)
class SharedIndex:
    """The team's store from the settings, and the seal that checks its rows."""

    store: SharedStore
    seal: rows.Seal = field(default_factory=rows.Seal)
    runs: dict[str, SharedRun] = field(default_factory=dict)
    """The last run of each root in this process."""
    failures: dict[str, CodeIndexError] = field(default_factory=dict)
    """How the store failed just before the next run of a root, which then does not ask it."""

    def run(self, root: str, maker: str, dimension: int) -> SharedRun:
        blobs = CommittedBlobs(Path(root))

        def committed(file: SourceFile) -> bool:
            return blobs.is_content(file.path, file.source)

        begun = SharedRun(self.store, self.seal, maker, dimension, committed)
        failure = self.failures.pop(root, None)
        if failure is not None:
            begun.fail(failure)
        self.runs[root] = begun
        return begun

    def sentence(self, root: str) -> str:
        """What the last run took and gave, or whether the store can be reached."""
        last = self.runs.get(root)
        if last is not None:
            return last.sentence()
        return self.failure() or f"Shared index: {self.store.name} answers."

    def failure(self) -> str | None:
        """Ask whether the store can be reached; why not, if it cannot."""
        try:
            self.store.ping()
        except CodeIndexError as error:
            return away(self.store.name, error)
        return None

    def close(self) -> None:
        self.store.close()


def away(name: str, error: CodeIndexError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    return f"Shared index: {name} cannot be used now, so this machine works alone: {error}{hint}."


class SharedRun:
    """One build's use of the team's rows."""

    def __init__(
        self,
        store: SharedStore,
        seal: rows.Seal,
        maker: str,
        dimension: int,
        committed: Callable[[SourceFile], bool],
    ) -> None:
        self._store, self._seal, self._maker = store, seal, maker
        self._extractor, self._dimension = maker.split("/")[0], dimension
        self._committed = committed
        self._giving: list[tuple[bytes, bytes]] = []
        self._mending: list[tuple[bytes, bytes]] = []
        self._size = 0
        self._givable: dict[str, str] = {}
        self._refused_paths: set[str] = set()
        self.files_taken = self.files_given = self.rows_refused = self.files_requested = 0
        self.failure: str | None = None
        self._read_only = False

    def take(self, files: Sequence[SourceFile]) -> dict[str, PreparedFile]:
        """The files that the team has prepared, by path; rows that fail a check are left out."""
        self.files_requested += len(files)
        for file in files:
            if self._committed(file):
                self._givable[file.path] = file.entry.digest
        if self.failure is not None:
            return {}
        keys = {file.path: self._keys(file.path, file.entry.digest) for file in files}
        rows = self._get([key for pair in keys.values() for key in pair])
        taken = {}
        for file in files:
            stored = [(key, rows[key]) for key in keys[file.path] if key in rows]
            if len(stored) < ROWS_OF_FILE:
                continue
            prepared = self._opened(file, stored)
            if prepared is None:
                self.rows_refused += 1
                self._refused_paths.add(file.path)
            else:
                taken[file.path] = prepared
                self._givable.pop(file.path, None)
        self.files_taken += len(taken)
        return taken

    def _opened(
        self, file: SourceFile, stored: Sequence[tuple[bytes, bytes]]
    ) -> PreparedFile | None:
        facts, ranking = (self._seal.open(key, data) for key, data in stored)
        if facts is None or ranking is None:
            return None
        return rows.opened_file(facts, ranking, file, masked(file.source), self._dimension)

    def give(self, file: PreparedFile) -> None:
        """Queue the rows of a file for upload, if it is committed. It must have its vectors."""
        if self._givable.pop(file.path, None) != file.entry.digest:
            return
        if self.failure is not None or self._read_only:
            return
        facts, ranking = self._keys(file.path, file.entry.digest)
        mend = file.path in self._refused_paths
        target = self._mending if mend else self._giving
        for key, value in ((facts, rows.facts_row(file)), (ranking, rows.ranking_row(file))):
            target.append((key, self._seal.close(key, value)))
            self._size += len(value)
        self.files_given += 1
        if self._size >= GIVE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Upload the queued rows; also called at the end of a build."""
        giving, mending = self._giving, self._mending
        self._giving, self._mending, self._size = [], [], 0
        if self.failure is not None:
            return
        try:
            if giving:
                self._store.put(giving)
            if mending:
                self._store.put(mending, replace=True)
        except SharedReadOnly:
            self._read_only = True
            self.files_given -= (len(giving) + len(mending)) // ROWS_OF_FILE
        except CodeIndexError as error:
            self.fail(error)

    def _keys(self, path: str, digest: str) -> tuple[bytes, bytes]:
        return (
            rows.facts_key(path, digest, self._extractor),
            rows.ranking_key(path, digest, self._maker),
        )

    def _get(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        try:
            return self._store.get(keys)
        except CodeIndexError as error:
            self.fail(error)
            return {}

    def fail(self, error: CodeIndexError) -> None:
        """Continue without the store."""
        self.failure = away(self._store.name, error)

    def sentence(self) -> str:
        if self.failure is not None:
            return self.failure
        if not self.files_requested:
            return f"Shared index: {self._store.name}; nothing had to be prepared."
        count = self.files_requested - self.files_taken
        only = " (this role may only read)" if self._read_only else ""
        parts = [
            f"{self.files_taken:,} of {counted(self.files_requested, 'file')} taken from "
            f"{self._store.name}",
            f"{count:,} prepared here, {self.files_given:,} given{only}",
        ]
        if self.rows_refused:
            then = "" if self._read_only else " and replaced"
            parts.append(f"{counted(self.rows_refused, 'damaged or wrong row')} refused{then}")
        return f"Shared index: {'; '.join(parts)}."


def batches(files: Iterable[SourceFile]) -> Iterator[list[SourceFile]]:
    """Files in batches, each large enough for one request."""
    batch: list[SourceFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.source)
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class CommittedBlobs:
    """The contents of a commit, by path below a directory; read from git on first use."""

    def __init__(self, root: Path, commit: str = "HEAD") -> None:
        self._root, self.commit = root, commit
        self._blobs: dict[str, bytes] | None = None

    @property
    def _names(self) -> dict[str, bytes]:
        if self._blobs is None:
            self._blobs = _blobs(self._root, self.commit)
        return self._blobs

    def __contains__(self, path: str) -> bool:
        return path in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def is_content(self, path: str, source: bytes) -> bool:
        """Whether the commit has these bytes at this path."""
        name = self._names.get(path)
        return name is not None and name == blob_name(source, len(name))


def blob_name(source: bytes, length: int) -> bytes:
    """The git object name of a content, in a repository with names of this length."""
    hashed = hashlib.sha1(usedforsecurity=False) if length == 40 else hashlib.sha256()
    hashed.update(b"blob %d\0" % len(source))
    hashed.update(source)
    return hashed.hexdigest().encode()


def _blobs(root: Path, commit: str) -> dict[str, bytes]:
    """The object names of the files in a commit, below a directory."""
    with open_repository(root) as repository:
        listed = None if repository is None else repository.run("ls-tree", "-r", "-z", commit)
    blobs = {}
    for line in (listed or b"").split(b"\0"):
        head, tab, path = line.partition(b"\t")
        fields = head.split(b" ")
        if tab and fields[1] == b"blob":
            blobs[os.fsdecode(path)] = fields[2]
    return blobs
