"""Answers of questions that only the dashboard has; the others return the answers of verbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.answers import Part

if TYPE_CHECKING:
    from holdfast.sequence.locate import LocateAnswer
    from holdfast.store.history import LogEntry


class Answer(Protocol):
    """What a question returns."""

    def to_wire(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class LocatedSnippet:
    """The answer of `locate`, with its text."""

    answer: LocateAnswer

    def to_wire(self) -> dict[str, Any]:
        from holdfast.sequence.locate import as_text

        return {**self.answer.to_wire(), "text": as_text(self.answer)}


class LanguageFiles(Part, frozen=True):
    """How many files of a tree have a language."""

    language: str
    files: int


class CodebaseFacts(Part, frozen=True, kw_only=True):
    """What a tree has, and what its index takes on disk."""

    languages: tuple[LanguageFiles, ...]
    source_bytes: int
    index_bytes: int | None
    segments_bytes: int


class NamedPlace(Part, frozen=True, kw_only=True):
    """A file or a symbol of a tree, for the palette."""

    root: str
    file: str
    symbol_id: str | None = None
    symbol_label: str | None = None


class NamedPlaces(Part, frozen=True):
    """What the typed words name."""

    places: tuple[NamedPlace, ...]


class Done(Part, frozen=True, kw_only=True):
    """What an action did."""

    message: str
    id: str | None = None
    seq: int | None = None


class SessionEntry(Part, frozen=True, kw_only=True):
    """An entry of a session log, its place in the tree, and what it did."""

    id: str
    parent: str | None
    kind: str
    depth: int
    holds: int
    sent_tokens: int | None
    plain_tokens: int | None
    path: str | None = None
    scope: str | None = None
    mode: str | None = None
    barrier: bool | None = None
    hides: tuple[str, ...] | None = None
    at: str | int | float | None
    said: str | None
    active: bool
    leaf: bool


class SessionTree(Part, frozen=True):
    """The newest entries of a session; `doubt` is why it proves nothing, if it does not."""

    entries: tuple[SessionEntry, ...]
    total: int
    doubt: str | None


class Line(Part, frozen=True):
    """A line of the version that the session has, of the file now, or of both."""

    kind: str
    old: int | None
    new: int | None
    text: str
    held: bool


class HeldLines(Part, frozen=True, kw_only=True):
    """A file that a session has, beside the file as it is now."""

    path: str
    state: str
    joined: bool
    rows: tuple[Line, ...]
    total: int | None = None
    missing: str | None = None


class DocumentTitle(Part, frozen=True):
    """A document in a list."""

    id: str
    seq: int
    branch: str
    title: str


class DocumentList(Part, frozen=True):
    """The documents of a branch."""

    total: int
    documents: tuple[DocumentTitle, ...]


@dataclass(frozen=True, slots=True)
class LogEntries:
    """Commits, newest first."""

    entries: list[LogEntry]

    def to_wire(self) -> dict[str, Any]:
        return {"entries": [entry.to_wire() for entry in self.entries]}


class LinkState(Part, frozen=True, kw_only=True):
    """A link from a document to code, and whether the code has changed since."""

    id: str
    at: str
    state: str
    why: str
    lines: tuple[int, int] | None
    now: str | None
    path: str
    symbol: str | None = None
    sha256: str | None = None
    root: str | None = None
    format: int | None = None


class LinkStates(Part, frozen=True):
    """Every link to code in the documents of a branch."""

    links: tuple[LinkState, ...]


class HealthFinding(Part, frozen=True):
    """One check of the doctor."""

    about: str
    state: str
    said: str
    fix: str | None


class HealthAnswer(Part, frozen=True):
    """Every check of the doctor; `status` is "wrong" if any is."""

    status: str
    findings: tuple[HealthFinding, ...]
