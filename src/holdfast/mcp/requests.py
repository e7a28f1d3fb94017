"""The newest request of each conversation whose agent shows us its requests, and our additions.

The agent does not keep what we add to a request. So it is remembered here and added to every later
request at the same place: if earlier messages changed, the provider's cache would miss and the
model would be confused.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.agents.hooks import HookEvent, Outcome
from holdfast.home import Home
from holdfast.mcp.printed_answers import PrintedAnswers
from holdfast.mcp.request_log import RequestLog
from holdfast.reading.events import Printed
from holdfast.reading.hosts.detect import sidecar_path
from holdfast.reading.hosts.sidecar import Sidecar

CONVERSATIONS_MAX = 256


class Requests:
    """The most recently used conversations; one that was dropped proves nothing."""

    def __init__(self, home: Home, answers: PrintedAnswers) -> None:
        self._home, self._answers = home, answers
        self._logs: OrderedDict[tuple[str, str], tuple[RequestLog, threading.Lock]] = OrderedDict()
        self._turn = threading.Lock()

    @contextmanager
    def log(self, event: HookEvent) -> Iterator[RequestLog]:
        """The newest request of the conversation of an event, for one thread at a time."""
        key = (event.agent, event.session)
        with self._turn:
            if key not in self._logs:
                sidecar = Sidecar(sidecar_path(self._home, event.agent, event.session))
                self._logs[key] = (
                    RequestLog(event.session, sidecar, self._answers.lines),
                    threading.Lock(),
                )
            self._logs.move_to_end(key)
            while len(self._logs) > CONVERSATIONS_MAX:
                self._logs.popitem(last=False)
            log, lock = self._logs[key]
        with lock:
            yield log


def outcome_of(event: HookEvent, log: RequestLog) -> Outcome:
    """The changes to a request: earlier additions, and the text of dangling answers."""
    texts = {place: restored(lines) for place, lines in log.dangling.items()}
    notes = {
        place: log.notes[use.id]
        for place, use in enumerate(event.uses)
        if use.id is not None and use.id in log.notes
    }
    return Outcome(texts=texts, notes=notes)


def restored(lines: Printed) -> str:
    """The text that replaces a short answer whose lines are no longer in the context."""
    last = lines.first + len(lines.rows) - 1
    which = f"all {last} lines" if lines.whole else f"lines {lines.first}-{last}"
    head = f"[holdfast: {which} of {lines.path} as they were then]"
    return "\n".join((head, *(f"{n}: {row}" for n, row in enumerate(lines.rows, lines.first))))
