"""Hook events in one form for every agent, and the outcomes of handling them.

An agent's hook passes its own payload; the agent's module turns it into a `HookEvent`, and turns
the `Outcome` back into the reply that the agent expects. The decisions between the two are the same
for all agents and are in `reading`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from holdfast.reading.pieces import Run


class Moment(Enum):
    """When a hook runs."""

    BEFORE_TOOL = "before a tool runs"
    AFTER_TOOL = "after a tool ran, before the model sees the result"
    AFTER_BATCH = "after all calls of a turn: the results are as the model gets them"
    REQUEST = "the model is about to be sent a request; the uses are all that it shows"
    AFTER_COMPACTION = "the conversation was just compacted"
    SESSION_START = "a conversation starts, or is resumed"


@dataclass(frozen=True, slots=True)
class ReadCall:
    """The agent's own read of a file, or of `count` lines of it from line `first`."""

    path: str
    first: int | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class ShellCall:
    """A command for the shell; only `reading` decides whether it prints a file."""

    command: str


@dataclass(frozen=True, slots=True)
class EditCall:
    """A replacement of text in one file."""

    path: str
    old: str
    new: str
    everywhere: bool = False
    more: tuple[EditCall, ...] = ()
    """Further replacements of the same call."""


@dataclass(frozen=True, slots=True)
class WriteCall:
    """A file written whole."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class PatchCall:
    """A patch of one or more files, as text."""

    patch: str


@dataclass(frozen=True, slots=True)
class OwnCall:
    """A call of one of our own tools."""

    name: str


Call = ReadCall | ShellCall | EditCall | WriteCall | PatchCall | OwnCall


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call, with its result when it has one."""

    call: Call
    id: str | None = None
    """The agent's own id of the call, as its log names it."""
    text: str | None = None
    """The text of the result: the lines of a read without numbers, or a command's output."""
    first: int = 1
    """The number of the first line of a read's text."""
    is_whole: bool = False
    """Whether the agent reports that a read's text is the whole file."""
    claims_unchanged: bool = False
    """Whether the agent's own cache answered that the file is unchanged, without the text."""
    failed: bool = False
    trimmed: bool = False
    """Whether the agent cuts blank lines off the start and white space off the end of an output."""
    shown: str | None = None
    """The whole result as the model is shown it, when `text` has only the file's lines."""
    result: Any = None
    """The result as the agent passed it, needed for the reply."""


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One call of a hook."""

    agent: str
    """claude-code, codex, opencode, pi, gemini or qwen; also the kind of the session log."""
    moment: Moment
    session: str
    """The agent's id of the conversation; together with `subagent` it identifies one context."""
    log: str | None
    """The file with the conversation, absolute; None when the agent shows its requests instead."""
    cwd: str
    uses: tuple[ToolUse, ...] = ()
    subagent: str | None = None
    name: str = ""
    """The agent's own name of the event, which some replies must repeat."""
    turn: str = ""
    """Identifies the user's prompt: while it stays the same, the conversation has only grown."""
    batch: tuple[str, ...] = ()
    """The ids of all calls of a turn, also of tools that we do not handle."""
    has_batches: bool = False
    """Whether the agent reports all calls of a turn together; notices are sent then."""
    only_logged_calls: bool = False
    """Whether a result may be replaced only if the log has its call: a replacement for a call made
    by a script would break the script."""
    request: int | None = None
    """A request's own number; for a result, the number of the latest request that was answered."""
    messages: tuple[tuple[str, str], ...] = ()
    """For a request, the latest texts of user and assistant, each with its role."""
    again: str = "same call again prints all"
    """The hint that tells this agent's model how to get the text that a short answer leaves out."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to do; an empty outcome leaves everything as it is."""

    replacements: Mapping[int, str] = field(default_factory=dict)
    """Index in `uses` -> the text that the model is shown instead of the result."""
    pieces: Mapping[int, tuple[Run, ...]] = field(default_factory=dict)
    """Index in `uses` -> its replacement in parts, for an agent that numbers lines."""
    texts: Mapping[int, str] = field(default_factory=dict)
    """Index in `uses` -> the whole text, sent instead of a claim that it is unchanged."""
    notes: Mapping[int, str] = field(default_factory=dict)
    """Index in `uses` -> text added to the result, such as help for a failed edit."""
    note: str | None = None
    """Text added to the results, such as a list of what a compaction removed."""

    request: int | None = None
    """The number of the request that was processed; without it, its answer may have been lost."""

    def __bool__(self) -> bool:
        content = self.replacements or self.texts or self.notes or self.note
        return bool(content) or self.request is not None


class Adapter(Protocol):
    """Translates one agent's payloads and replies. Pure; each agent's hook module is one."""

    def event_of(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """The event in a payload; None for events that we do not handle."""

    def shown_text(self, event: HookEvent, outcome: Outcome) -> str | None:
        """How the agent's log will show the replacement of the first result; None if it cannot be
        replaced."""

    def reply_to(self, event: HookEvent, outcome: Outcome) -> dict[str, Any]:
        """The hook's reply; an empty one leaves the agent's own result as it is."""
