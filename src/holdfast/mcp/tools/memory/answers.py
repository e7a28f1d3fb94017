"""The answers of the memory tools as agents get them. Documents and their values are any JSON."""

from __future__ import annotations

from typing import Any

from holdfast.answers import Part


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


class DocumentsAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_query."""

    status: str
    seq: int
    documents: tuple[DocumentRow, ...]
    total: int


class HistoryAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_history: commits, newest first."""

    status: str
    entries: tuple[dict[str, Any], ...]


class CommitAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_commit."""

    status: str
    seq: int
    branch: str
    ids: tuple[str, ...]


class BranchAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_branch; each action has its own members."""

    status: str
    message: str | None = None
    branches: tuple[dict[str, Any], ...] | None = None
    branch: dict[str, Any] | None = None
    differences: tuple[dict[str, Any], ...] | None = None
    conflicts: tuple[dict[str, Any], ...] | None = None
    operations: tuple[dict[str, Any], ...] | None = None
    seq: int | None = None
    merged: int | None = None
    dry_run: bool | None = None
