"""Publish a generation for the team: only if the tree is exactly as committed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.files import disk
from holdfast.files.git import open_repository
from holdfast.files.identity import RepositoryIdentity
from holdfast.files.snapshot import Entry
from holdfast.index.building.build_tools import extractor_name
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.gate import Open
from holdfast.index.generations.link_files import checked, placed
from holdfast.index.generations.model import Reader
from holdfast.index.generations.segments import digest as segment_digest
from holdfast.index.search import posting_segment
from holdfast.index.search.corpus import Part
from holdfast.index.search.segment_merge import merge
from holdfast.index.search.trigrams import KeptFile
from holdfast.index.shared import generation as shared
from holdfast.index.shared import rows
from holdfast.index.shared.generation import Manifest, SharedFile, SharedLinks, SharedSegment
from holdfast.index.shared.store import SharedStore
from holdfast.index.shared.work import CommittedBlobs
from holdfast.text import counted

ROWS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Published:
    """A generation that the team has now; `new` is false if it already had it."""

    manifest: Manifest
    new: bool
    replaced: int = 0
    """How many rows of it were damaged, and are replaced now."""

    def sentence(self) -> str:
        verb = "Published" if self.new else "The team already has"
        files = counted(len(self.manifest.files), "file")
        mended = f"; {counted(self.replaced, 'damaged row')} replaced" if self.replaced else ""
        return (
            f"{verb} commit {self.manifest.commit[:12]} of {self.manifest.repository}: "
            f"{files}{mended}."
        )


@dataclass(frozen=True, slots=True)
class NotPublished:
    """Why nothing was published, and what to do."""

    why: str
    hint: str = ""

    def sentence(self) -> str:
        return f"{self.why} ({self.hint})" if self.hint else self.why


def publish(
    index: CodeIndex, gate: Open, identity: RepositoryIdentity, *, accept_history: bool = False
) -> Published | NotPublished:
    """Publish the generation of a root to the team, if the tree is that of its commit."""
    assert index.shared is not None, "publishing needs a shared index"
    store, seal, root = index.shared.store, index.shared.seal, gate.record.root
    if gate.record.options.custom_extensions or gate.record.options.ignore_patterns:
        return NotPublished(
            "the index was made with extensions or ignore patterns of its own",
            "a team's generation has the usual files; put patterns into .holdfastignore",
        )
    refused = _history(store, seal, identity, accept_history)
    if refused is not None:
        return refused
    key = shared.generation_key(identity.key, identity.prefix, identity.head, index.runtime())
    known_already = key in store.has([key])
    rows_of = _Rows(store, seal, check_facts=known_already)
    with index.backend.reader(root) as reader:
        blobs = CommittedBlobs(Path(root), identity.head)
        left = uncommitted(Path(root), reader, blobs)
        # Afterwards, so that what was compared with the commit is what is in the index.
        fresh = index.check_freshness(gate.record, reader)
        differing = fresh.added + fresh.modified + len(fresh.gone) + fresh.beyond
        if differing or not fresh.whole:
            return NotPublished(
                f"{counted(max(differing, 1), 'file')} changed since the index was made",
                "run: holdfast index sync",
            )
        if left:
            return _not_committed(Path(root), left, identity.head)
        absent = [path for path in blobs if not os.path.lexists(os.path.join(root, path))]
        if absent:
            return NotPublished(
                f"{counted(len(absent), 'file')} of commit {identity.head[:12]}, first "
                f"{min(absent)!r}, {'is' if len(absent) == 1 else 'are'} not in the work tree",
                "publish from a clean and whole checkout: git stash, git sparse-checkout disable",
            )
        manifest = _manifest(index, reader, identity, rows_of)
    rows_of.replace(key, shared.encode(manifest))
    if identity.first_commit is not None:
        known = shared.Known(identity.first_commit)
        rows_of.replace(shared.repository_key(identity.key), shared.encode(known))
    return Published(manifest, not known_already, rows_of.replaced)


class _Rows:
    """Writes the rows of a generation that the team does not have, or has damaged.

    Readers refuse a row with a wrong checksum, also one of another secret. It stays for good unless
    it is replaced here.
    """

    def __init__(self, store: SharedStore, seal: rows.Seal, *, check_facts: bool) -> None:
        self._store, self._seal, self._check_facts = store, seal, check_facts
        self.replaced = 0
        """How many rows were damaged."""

    def put(self, key: bytes, value: bytes) -> None:
        stored = self._store.get([key]).get(key)
        if stored is not None:
            if self._seal.open(key, stored) is not None:
                return
            self.replaced += 1
        self.replace(key, value)

    def replace(self, key: bytes, value: bytes) -> None:
        self._store.put([(key, self._seal.close(key, value))], replace=True)

    def missing_facts(self, keys: Sequence[bytes]) -> frozenset[bytes]:
        """Which rows about files have to be written.

        Their checksums are read only if the commit was published before: a reader makes the facts
        of a file itself, and the next build replaces a damaged row.
        """
        if not self._check_facts:
            return frozenset(keys) - self._store.has(keys)
        stored = self._store.get(keys)
        sound = {key for key, data in stored.items() if self._seal.open(key, data) is not None}
        self.replaced += len(stored) - len(sound)
        return frozenset(keys) - sound

    def put_facts(self, made: Sequence[tuple[bytes, bytes]]) -> None:
        self._store.put([(key, self._seal.close(key, row)) for key, row in made], replace=True)


def _history(
    store: SharedStore, seal: rows.Seal, identity: RepositoryIdentity, accept: bool
) -> NotPublished | None:
    """Refuse a repository with the same name but another first commit."""
    key = shared.repository_key(identity.key)
    stored = store.get([key]).get(key)
    value = None if stored is None else seal.open(key, stored)
    first = None if value is None else shared.known_of(value).first_commit
    if accept or identity.agrees(first):
        return None
    assert first is not None
    assert identity.first_commit is not None
    return NotPublished(
        f"the team knows {identity.name} with the first commit {first[:12]}, and this repository "
        f"begins with {identity.first_commit[:12]}: another repository, or a rewritten history",
        "name it under [repositories] in settings.toml, or pass --accept-history",
    )


def _not_committed(root: Path, left: Sequence[str], head: str) -> NotPublished:
    is_or_are = "is" if len(left) == 1 else "are"
    why = (
        f"{counted(len(left), 'file')} of the index, first {left[0]!r}, {is_or_are} not as in "
        f"commit {head[:12]}"
    )
    with open_repository(root) as repository:
        others = {} if repository is None else repository.within_others(left)
    if len(others) == len(left):
        top = others[left[0]].rstrip("/")
        return NotPublished(
            f"{why}: in the submodule or repository {top!r} of its own",
            "publish from a clone without submodules; members index theirs on top",
        )
    return NotPublished(
        why,
        "commit or remove them, or publish from a clean clone; with LFS, from one that has the "
        "pointers (GIT_LFS_SKIP_SMUDGE=1)",
    )


def uncommitted(root: Path, reader: Reader, blobs: CommittedBlobs) -> list[str]:
    """The files of a generation whose content is not in the commit, which may not be HEAD now."""
    with open_repository(root) as repository:
        changes = None if repository is None else repository.changes_since(blobs.commit)
        unchecked = None if repository is None or changes is None else repository.unchecked()
    if changes is None or unchecked is None:
        return ["?"]
    paths = []
    for path in sorted(reader.snapshot().entries):
        if path in blobs and path not in changes and path not in unchecked:
            continue
        # Git compares times first; the content decides.
        if path not in blobs or not _is_content(blobs, root, path):
            paths.append(path)
    return paths


def _is_content(blobs: CommittedBlobs, root: Path, path: str) -> bool:
    """Whether a file is as in the commit; not if it became a pipe, a link or something huge."""
    try:
        source, _ = disk.read_file(str(root), path)
    except OSError:
        return False
    return blobs.is_content(path, source)


def _manifest(
    index: CodeIndex,
    reader: Reader,
    identity: RepositoryIdentity,
    rows_of: _Rows,
) -> Manifest:
    """The manifest of a generation; stores everything it refers to."""
    places: dict[str, tuple[int, int]] = {}
    segments: list[SharedSegment] = []
    for part in reader.corpus().parts:
        current = [(slot, file) for slot, file in enumerate(part.files) if file is not None]
        if current:
            places |= {file.path: (len(segments), slot) for slot, file in current}
            segments.append(_put_segment(_of_current_files(part), rows_of))
    entries = reader.snapshot().entries
    stored_files = reader.kept_files()
    files, signatures = [], []
    for one in sorted(stored_files, key=lambda file: file.path):
        entry = entries.get(one.path)
        if entry is None:
            raise DamagedBackend(f"the index has no entry of {one.path!r}")
        files.append(_file(one, entry, *places.get(one.path, (-1, 0))))
        signatures.append((one.signatures, one.names))
    _put_facts(index, reader, files, signatures, rows_of)
    name = shared.kept_name(files)
    parts = 0
    for parts, batch in enumerate(shared.kept_batches(signatures), 1):
        key = shared.part_keys("kept", name, parts)[-1]
        rows_of.put(key, shared.encode(shared.Kept(batch)))
    _put_links(reader, files, rows_of)
    return Manifest(
        identity.name, identity.prefix, identity.head, identity.first_commit, tuple(files),
        tuple(segments), parts, sum(file.chunks for file in files), index.timestamp(),
    )  # fmt: skip


def _file(file: KeptFile, entry: Entry, segment: int, slot: int) -> SharedFile:
    size = entry.stat.size_bytes
    return SharedFile(
        file.path, entry.digest, size, file.language, file.problem, file.chunks, segment, slot
    )


def _of_current_files(part: Part) -> posting_segment.PostingSegment:
    """A segment without the rows of files from before a change: they may not be committed."""
    slots = [None if file is None else slot for slot, file in enumerate(part.files)]
    if None not in slots:
        return part.segment
    return merge([(part.segment, slots)], part.segment.dimension)


def _put_segment(segment: posting_segment.PostingSegment, rows_of: _Rows) -> SharedSegment:
    data, vectors = posting_segment.pack(segment), posting_segment.pack_vectors(segment)
    name = segment_digest(data, vectors)
    return SharedSegment(name, len(data), _put_parts("segment", name, data + vectors, rows_of))


def _put_links(reader: Reader, files: list[SharedFile], rows_of: _Rows) -> None:
    """Store the links of a generation, if it has any.

    A segment that also has files from before a change is left out: they may not be committed.
    """
    segments = list(reader.links({}).values())
    slots, _ = placed(segments, checked((file.path, file.digest) for file in files))
    link_rows = []
    for segment, paths in zip(segments, slots, strict=True):
        if None in paths:
            continue
        data = bytes(segment.data)
        name = segment_digest(data, b"")
        parts = _put_parts("links", name, data, rows_of)
        link_rows.append(SharedLinks(name, len(data), parts))
    if link_rows:
        rows_of.replace(shared.links_key(files), shared.encode(link_rows))


def _put_parts(kind: str, name: str, data: bytes, rows_of: _Rows) -> int:
    """Store a segment in parts, those that are missing or damaged; returns how many it has."""
    parts = shared.parts_of(data)
    keys = shared.part_keys(kind, name, len(parts))
    for key, part in zip(keys, parts, strict=True):
        rows_of.put(key, part)
    return len(parts)


def _put_facts(
    index: CodeIndex,
    reader: Reader,
    files: list[SharedFile],
    signatures: list[tuple[bytes | None, bytes | None]],
    rows_of: _Rows,
) -> None:
    extractor = extractor_name(index.extract)
    for at in range(0, len(files), ROWS_AT_ONCE):
        some = files[at : at + ROWS_AT_ONCE]
        keys = [rows.facts_key(file.path, file.digest, extractor) for file in some]
        missing = rows_of.missing_facts(keys)
        facts = reader.facts([file.path for file in some])
        fact_rows = []
        for file, key, (signed, names) in zip(
            some, keys, signatures[at : at + ROWS_AT_ONCE], strict=True
        ):
            if key in missing and signed is not None and names is not None:
                row = rows.FactsRow(file.language, file.problem, facts[file.path], signed, names)
                fact_rows.append((key, rows.encoded_facts(row)))
        rows_of.put_facts(fact_rows)
