"""The protocol of session logs: what reading needs from an agent's session.

There is one adapter for each agent in `hosts/`. Whether an answer counts as seen is decided by the
adapter and nowhere else: the surface that delivered an answer calls `record` afterwards.

    our own log      the recorded entry counts from then on
    Claude Code,     the record goes into a file of ours and counts once the agent's own log shows
    Codex            exactly the text that was delivered
    pi               stores the metadata with the result in its own log: there is nothing to record
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard, runtime_checkable

from holdfast.reading.events import Pieced, Printed, Refreshed, Seen
from holdfast.reading.result import Answer
from holdfast.reading.tree import Doubt, Evidence, Tree
from holdfast.reading.trust import Ledger


class SessionLog(Protocol):
    """An agent's session, as far as reading needs it."""

    @property
    def tree(self) -> Tree:
        """The entries of the session."""
        ...

    @property
    def counts_when_recorded(self) -> bool:
        """Whether a recorded answer counts at once, so that the overlay must not count it too."""
        ...

    def evidence(self) -> Evidence | Doubt:
        """What the session proves at this moment."""
        ...

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Note in the session that the model's copy of a scope no longer counts."""
        ...

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Note that an answer was delivered, as the result of this call if its id is known."""
        ...


@runtime_checkable
class ShortAnswers(Protocol):
    """A log in which a short form of the agent's own result counts once the log shows it."""

    def record_short(
        self, event: Pieced, text: str, call: str, rule: str = "", saved_bytes: int = 0
    ) -> None:
        """Note what was sent instead of the result of this call, and what that saved."""
        ...

    def was_folded(self, path: str) -> bool:
        """Whether lines of a file were folded since the latest compaction, as far as is known.

        May count an answer that the model never got; never misses one that it was shown.
        """
        ...


@runtime_checkable
class ShownLines(Protocol):
    """A log in which lines printed by our other tools count once the log shows the answer."""

    def record_shown(self, lines: Sequence[Printed], text: str, call: str) -> None:
        """Note which lines of files the answer to this call printed as they are."""
        ...


def has_shown_lines(log: SessionLog | None) -> TypeGuard[ShownLines]:
    """Whether a log is a `ShownLines`: isinstance() of a protocol takes 10 us in Python 3.11."""
    return hasattr(type(log), "record_shown")


@runtime_checkable
class RecordedEdits(Protocol):
    """A log that may lack the place of an edit, which can be recorded separately."""

    def record_edit(self, events: Sequence[Seen], call: str) -> None:
        """Note what the edit of this call changed, and where."""
        ...


@runtime_checkable
class ShellFolders(Protocol):
    """A log that says where the agent's commands run."""

    def folder_of(self, call: str, command: str, cwd: str) -> str | None:
        """Where the command of this call ran, by the log; None when that is not certain."""
        ...


@runtime_checkable
class AnswerRoom(Protocol):
    """A log that shows how much of our long answers the agent passes on."""

    def answer_bytes_max(self) -> int | None:
        """The size that the shortest cut answer was cut to; None if none was cut."""
        ...


@runtime_checkable
class CompactionHistory(Protocol):
    """A log whose compactions have no parent, so that only it knows what was held before one."""

    def before_compaction(self) -> Ledger | None: ...

    def since_compaction(self) -> Ledger | None: ...


class UnreadableLog:
    """A session that cannot be read, and why: it proves nothing."""

    counts_when_recorded = False

    def __init__(self, why: str) -> None:
        self._why, self.tree = why, Tree()

    def evidence(self) -> Doubt:
        return Doubt(self._why)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Nothing to do: every read is answered in full."""

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Nothing to do: no answer can count."""
