"""A generation of a commit, as rows that a team shares. Pure.

    manifest    every file with the digest of its content, and where its postings are
    segments    postings and vectors of all files, in parts
    kept        signatures and names for exact search, in parts
    links       by which names files are found for calls, in parts; a generation works without
    facts       the rows of single files (`rows.py`), read when an answer needs them

Its key is a hash of the repository, a directory in it, the commit and the settings that it was made
with. It has no text: readers cut chunks from their own files, whose digests must be those of the
manifest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from holdfast.index.calls.file_terms import LINKS_VERSION
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.marker import Marker
from holdfast.index.shared.rows import key_of
from holdfast.index.shared.team_marker import TEAM_RUN

GENERATION_VERSION = 1
"""The format of a manifest; part of its key.

1: repository, prefix, commit, first commit, files, segments, parts of kept, totals, time.
"""

LINKS_ROW_VERSION = 1
"""The format of the row about links; part of its key.

1: the segments, oldest first: digest, size and number of parts of each.
"""

PART_BYTES = 8 * 1024 * 1024


class SharedFile(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A file of a generation; `segment` is -1 for one without chunks."""

    path: str
    digest: str
    size: int
    language: str
    problem: str | None
    chunks: int
    segment: int
    slot: int


class SharedSegment(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A segment of postings and vectors, by its digest; `postings` is the postings' length."""

    digest: str
    postings: int
    parts: int


class Manifest(msgspec.Struct, array_like=True, frozen=True):
    """Everything that describes a shared generation."""

    repository: str
    prefix: str
    commit: str
    first_commit: str | None
    files: tuple[SharedFile, ...]
    segments: tuple[SharedSegment, ...]
    kept_parts: int
    chunks: int
    completed_at: str


class Kept(msgspec.Struct, array_like=True, gc=False):
    """The signatures and names of some files, in the order of the manifest."""

    files: list[tuple[bytes | None, bytes | None]]


class SharedLinks(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A segment of links, by its digest."""

    digest: str
    size: int
    parts: int


class Known(msgspec.Struct, array_like=True, gc=False):
    """The stored facts about a repository: the first commit of its history."""

    first_commit: str | None


encode = msgspec.msgpack.Encoder().encode
manifest_of = msgspec.msgpack.Decoder(Manifest).decode
kept_of = msgspec.msgpack.Decoder(Kept).decode
links_of = msgspec.msgpack.Decoder(list[SharedLinks]).decode
known_of = msgspec.msgpack.Decoder(Known).decode


def generation_key(repository: str, prefix: str, commit: str, settings: Fingerprint) -> bytes:
    """The key of a manifest; `repository` is the key of an identity."""
    text = json.dumps(settings.to_wire(), sort_keys=True)
    return key_of("generation", str(GENERATION_VERSION), repository, prefix, commit, text)


def repository_key(repository: str) -> bytes:
    return key_of("repository", repository)


def links_key(files: Iterable[SharedFile]) -> bytes:
    """The key of the row about the links of a list of files."""
    version = f"{LINKS_ROW_VERSION}.{LINKS_VERSION}"
    return key_of("links of", version, kept_name(files))


def part_keys(kind: str, name: str, parts: int) -> list[bytes]:
    return [key_of(kind, name, str(number)) for number in range(parts)]


def parts_of(data: bytes) -> list[bytes]:
    return [data[at : at + PART_BYTES] for at in range(0, len(data), PART_BYTES)] or [b""]


def kept_name(files: Iterable[SharedFile]) -> str:
    """A hash that names the signatures of a list of files."""
    hasher = hashlib.sha256()
    for file in files:
        hasher.update(f"{file.path}\0{file.digest}\0".encode("utf-8", "surrogatepass"))
    return hasher.hexdigest()


def kept_batches(
    files: Sequence[tuple[bytes | None, bytes | None]],
) -> Iterator[list[tuple[bytes | None, bytes | None]]]:
    batch: list[tuple[bytes | None, bytes | None]] = []
    size = 0
    for signatures, names in files:
        batch.append((signatures, names))
        size += len(signatures or b"") + len(names or b"")
        if size >= PART_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def marker_of(manifest: Manifest, root: str, settings: Fingerprint) -> Marker:
    """The completion marker of a root that uses a shared generation."""
    return Marker(
        root, settings, len(manifest.files), manifest.chunks, manifest.completed_at,
        TEAM_RUN + manifest.commit,
    )  # fmt: skip
