"""Session files of OpenCode, Gemini and Qwen: for inspecting a session, never for answering.

The logs of these agents do not record what the model is shown at a call: OpenCode prunes at request
time, Gemini and Qwen compress without logging it. Where an agent lets us see its requests, those
decide (`mcp/request_log.py`). Here the log is read as a conversation, so that `holdfast context`
and `holdfast session show` can report what was read, changed, and lost in a compaction.
"""

from __future__ import annotations

import os
import sqlite3

from holdfast.reading.errors import NotOurs
from holdfast.reading.events import Barrier, Event, Hidden, Printed, Refreshed
from holdfast.reading.history import opencode
from holdfast.reading.history.readers import contexts_at
from holdfast.reading.history.reads import changes, shown
from holdfast.reading.history.steps import (
    Blanked,
    Called,
    Compacted,
    Context,
    Returned,
    Said,
    Step,
)
from holdfast.reading.hosts import calls
from holdfast.reading.result import Answer
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Tree, evidence_at


class HistoryLog:
    """One session file, read again when it changed."""

    counts_when_recorded = False

    def __init__(self, path: str, *, looking: bool) -> None:
        self.path, self._looking = path, looking
        self.tree = Tree()
        self._stamp: tuple[int, int] | None = None
        self._evidence_count = 0

    def evidence(self) -> Evidence | Doubt:
        """What the conversation shows; nothing is proven for an answer."""
        if not self._looking:
            return Doubt("the log of this agent does not record what the model is shown")
        try:
            status = os.stat(self.path)
            if (status.st_mtime_ns, status.st_size) != self._stamp:
                self.tree = tree_of(_newest(self.path))
                self._stamp = (status.st_mtime_ns, status.st_size)
        except (OSError, sqlite3.Error) as error:
            return Doubt(f"the session cannot be read: {error}")
        last = len(self.tree) - 1 if len(self.tree) else NO_ENTRY
        self._evidence_count += 1
        return evidence_at(self.tree, last, os.path.basename(self.path), self._evidence_count)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Refused: the log is the agent's to write."""
        raise NotOurs(self.path)

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Nothing to do: no answer counts here."""


def _newest(path: str) -> Context:
    """The conversation in a file; for a database, the one that changed last."""
    if path.endswith(".db"):
        contexts = list(opencode.sessions(path, newest=True))
    else:
        contexts = contexts_at(path)
    if not contexts:
        raise OSError("it has no conversation that is understood")
    return contexts[0]


def tree_of(context: Context) -> Tree:
    """The conversation as one chain of entries."""
    tree = Tree()
    for number, step in enumerate(context.steps):
        kind, events = _events(step)
        name = step.id if isinstance(step, Returned) else f"step-{number}"
        text = step.text if isinstance(step, Said | Returned) else ""
        size = len(text.encode("utf-8", "surrogatepass"))
        for count, event in enumerate(events or [None]):
            entry = name if not count else f"{name}/{count}"
            tree.add(entry, tree.ids[-1] if tree.ids else None, kind, event, None, size)
            size = 0
    return tree


def _events(step: Step) -> tuple[str, list[Event]]:
    match step:
        case Compacted():
            return "compaction", [Barrier()]
        case Blanked(targets):
            return "blanked", [Hidden(targets)]
        case Returned():
            return "result", _file_events(step)
        case Said(role):
            return role, []
        case Called():
            return "call", []


def _file_events(step: Returned) -> list[Event]:
    read = shown(step)
    if read is not None:
        return [Printed(read.path, read.first, read.rows, read.whole)]
    out: list[Event] = []
    for change in changes(step):
        if change.old is None:
            out.append(calls.write(change.path, change.new))
        else:
            one = {"oldText": change.old, "newText": change.new, "replaceAll": change.every}
            out += calls.edits(change.path, [one])
    return out
