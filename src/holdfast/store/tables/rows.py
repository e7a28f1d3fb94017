"""Stored rows as they are read, and whether they are what was written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from holdfast.ids import BranchName, LocalSeq, Seq, SessionId
from holdfast.store import checks
from holdfast.store.errors import DamagedStore
from holdfast.store.model import CommitKey
from holdfast.store.tables.database import Row


class RevisionRow(NamedTuple):
    """A stored revision, its data still encoded."""

    seq: Seq
    op_index: int
    op: Any
    data: str | None


revision_row = tuple.__new__
"""Creates a `RevisionRow` of four columns in a quarter of the time of calling the class; a read far
back creates one for each of its patches."""


class CommitRow(NamedTuple):
    """A stored commit, its JSON still encoded."""

    seq: Seq
    branch: BranchName
    session: SessionId
    local_seq: LocalSeq
    original: str
    resolution: str
    created_at: str = ""
    merged: str | None = None
    """Which branch it merged up to which seq, as `[name, seq]`."""
    chain: bytes = b""
    invocation_ref: str | None = None
    authorization_ref: str | None = None

    @property
    def key(self) -> CommitKey:
        return CommitKey(self.session, self.local_seq)

    @property
    def squashed(self) -> bool:
        """Whether its text was removed by retention; its digest is stored instead."""
        return self.original.startswith(SQUASHED)

    @property
    def digest(self) -> bytes:
        """The digest of its text as it was committed."""
        if self.squashed:
            return bytes.fromhex(self.original[len(SQUASHED) : len(SQUASHED) + 64])
        return checks.text_digest(self.original)

    def linked(self, previous: bytes) -> bytes:
        """Its hash in the chain, computed from its columns and the hash before it."""
        return checks.chain(
            previous,
            self.seq,
            self.branch,
            self.session,
            self.local_seq,
            self.digest,
            self.resolution,
            self.created_at,
        )


SQUASHED = '{"squashed":"'
"""How the text of a commit begins that retention removed; its SHA-256 follows, as hex."""

NewCommit = tuple[Seq, BranchName, SessionId, LocalSeq, str, str, str, str | None, bytes]
"""A commit to be stored: the columns with which a `CommitRow` begins."""


def is_linked(row: CommitRow, previous: bytes) -> bool:
    """Whether a commit's columns match its hash, given the hash before it."""
    try:
        return row.linked(previous) == row.chain
    except (ValueError, AttributeError, TypeError):  # a column of another type
        return False


def damaged_commit(seq: int) -> DamagedStore:
    return DamagedStore(f"the commit at seq {seq} is damaged: it does not match its hash")


def damaged_revision(id: str, seq: int) -> DamagedStore:
    return DamagedStore(
        f"the revision of {id} at seq {seq} is damaged: it does not match its checksum"
    )


def checked_revision(branch: str, id: str, row: Row, mask: int = 0) -> RevisionRow:
    """A revision read as (seq, op_index, op, data, crc), or `DamagedStore`.

    `mask` is the database's if the row is as it was stored.
    """
    seq, op_index, op, data, crc = row
    if checks.revision_crc(branch, id, seq, op_index, op, data) ^ mask != crc:
        raise damaged_revision(id, seq)
    return revision_row(RevisionRow, (seq, op_index, op, data))


def checked_revisions(
    branch: str, id: str, rows: Iterable[Row], mask: int
) -> Iterator[RevisionRow]:
    """The same for several revisions of one document, each when it is needed."""
    sum_of = checks.revision_crcs(branch, id)
    for seq, op_index, op, data, crc in rows:
        if sum_of(seq, op_index, op, data) ^ mask != crc:
            raise damaged_revision(id, seq)
        yield revision_row(RevisionRow, (seq, op_index, op, data))
