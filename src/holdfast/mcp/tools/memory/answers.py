"""The answers of the memory tools as agents get them. Documents and their values are any JSON."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from holdfast.answers import Part


class _Row(Part, frozen=True, forbid_unknown_fields=True):
    """Made of the JSON form of the store, which must have these members and no others."""


class LinkAnswer(Part, frozen=True, kw_only=True):
    """A link from a document to code, and whether the code has changed since."""

    at: str
    path: str
    symbol: str | None = None
    sha256: str | None = None
    root: str | None = None
    format: int | None = None
    state: str
    why: str
    lines: tuple[int, int] | None = None


class DocumentAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_get."""

    status: str
    id: str
    branch: str
    seq: int
    document: Any
    links: tuple[LinkAnswer, ...] = ()


class DocumentRow(Part, frozen=True):
    """One of several documents."""

    id: str
    seq: int
    document: Any
    author: CommitAuthor | None = None
    drifted: tuple[str, ...] = ()


class DocumentsAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_query."""

    status: str
    seq: int
    documents: tuple[DocumentRow, ...]
    total: int


class WrittenDocument(_Row, frozen=True):
    """What a commit did to a document."""

    op: str
    id: str


class CommitAuthor(_Row, frozen=True):
    """Who wrote a commit, as the writer said."""

    user: str | None = None
    agent: str | None = None
    session: str | None = None


class CommitEntry(_Row, frozen=True):
    """One commit."""

    seq: int
    branch: str
    session_id: str
    local_seq: int
    created_at: str
    kind: str
    operations: tuple[WrittenDocument, ...]
    author: CommitAuthor | None = None


class HistoryAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_history: commits, newest first."""

    status: str
    entries: tuple[CommitEntry, ...]


class CommitAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_commit."""

    status: str
    seq: int
    branch: str
    ids: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class NoteAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_note."""

    status: str
    id: str
    seq: int


class BranchRow(_Row, frozen=True):
    """A branch and where it was forked."""

    name: str
    parent_branch: str | None
    fork_seq: int | None
    created_seq: int
    head_seq: int
    status: str


class ChangeRow(_Row, frozen=True):
    """A path where two documents differ; a side that has nothing there is left out."""

    path: str
    before: Any = UNSET
    after: Any = UNSET


class DifferenceRow(_Row, frozen=True):
    """How a document differs between two branches."""

    id: str
    kind: str
    changes: tuple[ChangeRow, ...]


class ConflictRow(_Row, frozen=True):
    """A path that both branches changed; a side that has nothing there is left out."""

    id: str
    path: str
    source_value: Any = UNSET
    target_value: Any = UNSET
    ancestor_value: Any = UNSET


class OperationRow(_Row, frozen=True):
    """A write that a merge would make."""

    op: str
    id: str
    value: Any = UNSET
    patches: Any = UNSET


class BranchAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_branch; each action has its own members."""

    status: str
    message: str | None = None
    branches: tuple[BranchRow, ...] | None = None
    branch: BranchRow | None = None
    differences: tuple[DifferenceRow, ...] | None = None
    conflicts: tuple[ConflictRow, ...] | None = None
    operations: tuple[OperationRow, ...] | None = None
    seq: int | None = None
    merged: int | None = None
    closed: bool | None = None
    changes: tuple[dict[str, Any], ...] | None = None
    dry_run: bool | None = None
