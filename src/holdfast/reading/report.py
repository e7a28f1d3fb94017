"""The JSON form of the answers of `context` and `status`, from which schemas are derived."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from holdfast.answers import Part

State = Literal["current", "changed", "gone"]
"""The state of a file on disk, compared with the text that was read."""


class TextReport(Part, frozen=True):
    """Lines held of one version of a file."""

    digest: str
    whole: bool
    lines: tuple[tuple[int, int], ...]
    stale: tuple[tuple[int, int], ...]
    lines_total: int | None


class FileReport(Part, frozen=True):
    """What is held, or was lost, of one file."""

    path: str
    state: State
    lines: int
    stale_lines: int
    lines_now: int | None
    tokens: int
    texts: tuple[TextReport, ...]


class ContextReport(Part, frozen=True):
    """What the context holds, and what the latest compaction took from it."""

    session: str | None
    boundary: Annotated[str, Meta(description="since when: root, or the latest compaction")]
    doubt: Annotated[str | None, Meta(description="why nothing is proven")]
    tokens: int
    held: tuple[FileReport, ...]
    lost: tuple[FileReport, ...]


class Window(Part, frozen=True):
    """The entries of a session that trust is replayed from."""

    entries: int
    start: int


class Saved(Part, frozen=True):
    """What plain reads would have sent on top."""

    bytes: int
    tokens: int


class StatusReport(Part, frozen=True):
    """What a session holds and has saved."""

    scopes: int
    files: int
    window: Window
    modes: dict[str, int]
    saved: Saved
    store: str
    doubt: str | None
