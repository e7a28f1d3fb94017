"""Checksums of stored rows, and the hash chain over commits.

A row that was damaged at rest must not be believed. Every row of documents, heads, snapshots and
branches carries a CRC-32 of its columns, which finds every change of a single bit and of any 32
bits in a row. A commit carries more: a SHA-256 over its own columns and the hash of the commit
before it, so that the newest hash covers the whole history.

The chain covers the digest of a commit's text and not the text itself, so that it can still be
checked after old texts were removed (see `retention.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from zlib import crc32

GENESIS_CHAIN = bytes(32)
"""What the first commit's hash covers in place of a predecessor."""


def revision_crc(branch: str, id: str, seq: int, op_index: int, op: str, data: str | None) -> int:
    """The checksum of a revision. Its head stores the same one, which binds the two together."""
    return crc32(f"{branch}\0{id}\0{seq}\0{op_index}\0{op}\0{data}".encode())


def revision_crcs(branch: str, id: str) -> Callable[[int, int, str, str | None], int]:
    """`revision_crc` for many revisions of one document: what they share is summed once."""
    start = crc32(f"{branch}\0{id}\0".encode())

    def sum_of(seq: int, op_index: int, op: str, data: str | None) -> int:
        return crc32(f"{seq}\0{op_index}\0{op}\0{data}".encode(), start)

    return sum_of


def snapshot_crc(branch: str, id: str, seq: int, value: str) -> int:
    return crc32(f"{branch}\0{id}\0{seq}\0{value}".encode())


def branch_crc(
    name: str,
    parent: str | None,
    fork_seq: int | None,
    created_seq: int,
    status: str,
    created_at: str,
    deleted_at: str | None,
    oldest_seq: int,
) -> int:
    """The checksum of all columns but the newest change, which every commit updates."""
    return crc32(
        repr(
            (name, parent, fork_seq, created_seq, status, created_at, deleted_at, oldest_seq)
        ).encode(errors="surrogatepass")
    )


def branch_head_crc(name: str, head_seq: int) -> int:
    return crc32(f"{name}\0{head_seq}".encode())


def blob_crc(hash: str, content_type: str, size: int, put_at: str) -> int:
    """The checksum of the columns that describe a blob; its bytes are checked against its hash."""
    return crc32(f"{hash}\0{content_type}\0{size}\0{put_at}".encode())


def text_digest(original: str) -> bytes:
    """The digest of a commit's text; the chain contains it instead of the text."""
    return sha256(original.encode()).digest()


def chain(
    previous: bytes,
    seq: int,
    branch: str,
    session: str,
    local_seq: int,
    digest: bytes,
    resolution: str,
    created_at: str,
) -> bytes:
    """The hash of a commit, given that of the commit before it."""
    columns = f"{seq}\0{branch}\0{session}\0{local_seq}\0{created_at}\0{resolution}\0"
    return sha256(previous + columns.encode() + digest).digest()
