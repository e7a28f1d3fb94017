"""The answers of the memory tools. Documents and their values are any JSON."""

from __future__ import annotations

from typing import Any, Literal

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

    status: Literal["ok"]
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

    status: Literal["ok"]
    seq: int
    documents: tuple[DocumentRow, ...]
    total: int


class HistoryAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_history: commits, newest first."""

    status: Literal["ok"]
    entries: tuple[dict[str, Any], ...]


class CommitAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_commit."""

    status: Literal["ok"]
    seq: int
    branch: str
    ids: tuple[str, ...]


class BranchAnswer(Part, frozen=True, kw_only=True):
    """The answer of memory_branch; each action fills in its own members."""

    status: Literal["ok", "conflict"]
    message: str | None = None
    branches: tuple[dict[str, Any], ...] | None = None
    branch: dict[str, Any] | None = None
    differences: tuple[dict[str, Any], ...] | None = None
    conflicts: tuple[dict[str, Any], ...] | None = None
    operations: tuple[dict[str, Any], ...] | None = None
    seq: int | None = None
    merged: int | None = None
    dry_run: bool | None = None
