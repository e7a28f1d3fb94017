"""The verbs for an agent's own reads: how to answer one, and how to record the answer.

`native` decides from values, which this module loads: the file's bytes by the same rules as our own
read (sensitive names, the bounds of the workspace), the view from the session's log. Every failure
here is a `Pass`: the agent's own result is always right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.errors import HoldfastError
from holdfast.reading import native, shell
from holdfast.reading.answer import Current
from holdfast.reading.events import Printed
from holdfast.reading.native import AGAIN, Decision, Focuser, Options, Pass, Result, Short
from holdfast.reading.reader import Reader
from holdfast.reading.result import Answer
from holdfast.reading.session_log import SessionLog, ShortAnswers
from holdfast.reading.tree import Doubt, Evidence
from holdfast.reading.trust import Ledger
from holdfast.reading.view import View


@dataclass(frozen=True, slots=True)
class OwnRead:
    """A result of the agent's read tool: lines of a file, without the numbers it adds."""

    path: str
    """Absolute."""
    first: int
    rows: tuple[str, ...]
    size_bytes: int
    """The size of the result as the model would see it."""
    row_bytes: int = 0
    """The bytes the tool adds to each row, such as a number, also to our rows."""


@dataclass(frozen=True, slots=True)
class OwnShell:
    """A shell command that succeeded, and what it printed."""

    command: str
    cwd: str
    output: str
    trimmed: bool = False
    """The agent cuts white space off both ends of an output."""


class NativeReader:
    """Answers an agent's own reads from what its session proves."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def answer(
        self,
        call: OwnRead | OwnShell,
        log: SessionLog,
        *,
        again: str = AGAIN,
        focuser: Focuser | None = None,
    ) -> Decision:
        """Decide how to present the result of this call to the model. Never raises for the file.

        Pass a `focuser` only for a whole read; the first one of a file may then be folded.
        """
        path = call.path if isinstance(call, OwnRead) else None
        read = None
        if isinstance(call, OwnShell):
            read = shell.parse(call.command, call.cwd)
            if read is None:
                return Pass("not a command that prints lines of one file")
            path = read.path
        assert path is not None, "every call has a path by now"
        evidence = log.evidence()
        if isinstance(evidence, Doubt):
            return Pass(evidence.why)
        current = self._current(path)
        if isinstance(current, str):
            return Pass(current)
        if isinstance(call, OwnRead):
            result: Result | None = Result(
                path, call.first, call.rows, call.size_bytes, call.row_bytes
            )
        else:
            assert read is not None, "a command was parsed above"
            result = native.of_shell(read, call.output, current.data, trimmed=call.trimmed)
        if result is None:
            return Pass("the output is not what the file holds now")
        options = _options(evidence, again)
        if focuser is not None and is_first(evidence.ledger, log, path):
            options = replace(options, focuser=focuser)
        decision = native.decide(
            self._view(evidence, path), result, current.data, current.digest, options
        )
        if isinstance(decision, Short) and not self._reader.keep(current):
            return Pass("the text could not be stored for later comparison")
        return decision

    def record(self, log: SessionLog, call: str, short: Short) -> None:
        """Note that `short` was sent instead of the result of this call.

        Called before the agent can show it; it counts only if the log then shows its text.
        """
        if isinstance(log, ShortAnswers):
            log.record_short(short.record, short.text, call, short.kind, short.saved_bytes)

    def _view(self, evidence: Evidence, path: str) -> View:
        return evidence.ledger.view(path, self._reader.objects.load)

    def _current(self, path: str) -> Current | str:
        try:
            current = self._reader.current(path)
        except (HoldfastError, OSError) as error:
            return f"the file cannot be compared: {error}"
        return "the file is not kept" if isinstance(current, Answer) else current


def is_first(ledger: Ledger, log: SessionLog, path: str) -> bool:
    """Whether this context has not read or changed any of a file yet, in full or folded.

    Lines that a search showed are not a read of the file.
    """
    history = (event for event, _ in ledger.history(path))
    if not all(isinstance(one, Printed) and one.excerpt for one in history):
        return False
    if not isinstance(log, ShortAnswers):
        return False
    return not log.was_folded(path)


def _options(evidence: Evidence, again: str) -> Options:
    return Options(horizon=evidence.horizon, now=evidence.seen_bytes, again=again)
