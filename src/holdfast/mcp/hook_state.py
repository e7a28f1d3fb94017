"""State between the events of one context: its latest turn, and the notices it got.

A context is a conversation, or one of its subagents. The state is in memory and may be lost: then
we wait for a call to appear in the log, and a notice may be repeated.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from types import UnionType
from typing import TYPE_CHECKING

from holdfast.agents.hooks import Call, EditCall, HookEvent, PatchCall, ShellCall, WriteCall
from holdfast.edits import patch_attempts
from holdfast.errors import HoldfastError
from holdfast.home import Home
from holdfast.reading import native, recovery, shell, stale_lines
from holdfast.reading.hosts import bindings
from holdfast.reading.hosts.bindings import Binding

if TYPE_CHECKING:
    from holdfast.reading.reader import Reader
    from holdfast.reading.trust import Ledger

WRITTEN_S = 0.15
"""After this time an agent has written its pending log lines."""
CONTEXTS_MAX = 256
PATHS_MAX = 400

Context = tuple[str, str]


class Turns:
    """The calls of the latest turn of each context, as the agent reported them.

    An agent writes its log some 100 ms late, and a result must not wait for that. It is enough to
    know the previous turn of the same prompt: a conversation is rewound, forked or resumed only by
    another prompt, and the agent reports a compaction. The lines of that turn are already written.
    """

    def __init__(self) -> None:
        self._latest: OrderedDict[Context, tuple[str, tuple[str, ...], float]] = OrderedDict()
        self._turn = threading.Lock()

    def ended(self, event: HookEvent, now: float) -> None:
        with self._turn:
            self._latest[context_of(event)] = (event.turn, event.batch, now)
            self._latest.move_to_end(context_of(event))
            while len(self._latest) > CONTEXTS_MAX:
                self._latest.popitem(last=False)

    def forget(self, event: HookEvent) -> None:
        with self._turn:
            self._latest.pop(context_of(event), None)

    def before(self, event: HookEvent, now: float) -> tuple[str, ...]:
        """The calls of the turn before this event; empty unless that is certain."""
        with self._turn:
            turn, calls, at = self._latest.get(context_of(event), ("", (), 0.0))
        return calls if turn and turn == event.turn and now - at >= WRITTEN_S else ()


def context_of(event: HookEvent) -> Context:
    """The key of an event's context: a conversation, or one of its subagents."""
    return event.session, event.subagent or ""


class Changes:
    """The files that each context changed in the current turn.

    The log does not show these changes yet, and results of the same turn may come after them: so
    nothing is claimed about these files until the turn has ended.
    """

    def __init__(self) -> None:
        self._paths: OrderedDict[Context, set[str]] = OrderedDict()
        self._turn = threading.Lock()

    def add(self, event: HookEvent) -> None:
        """Note what the calls of an event change."""
        changes = [use.call for use in event.uses if isinstance(use.call, CHANGING)]
        paths = {path for call in changes for path in paths_of(call, event.cwd)}
        if not paths:
            return
        with self._turn:
            self._paths.setdefault(context_of(event), set()).update(paths)
            while len(self._paths) > CONTEXTS_MAX:
                self._paths.popitem(last=False)

    def ended(self, event: HookEvent) -> None:
        with self._turn:
            self._paths.pop(context_of(event), None)

    def touch(self, event: HookEvent) -> bool:
        """Whether a call of this event names a file that the same turn changed."""
        with self._turn:
            changed = self._paths.get(context_of(event), set())
            return any(
                path in changed for use in event.uses for path in paths_of(use.call, event.cwd)
            )


CHANGING = EditCall | WriteCall | PatchCall


class Bindings:
    """Records which conversations send hook events, for the dashboard; not at every event."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._noted: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._turn = threading.Lock()

    def note(self, event: HookEvent, now_ms: int) -> None:
        """Store where the conversation's log is. A subagent belongs to its parent's binding."""
        if event.log is None or event.subagent is not None:
            return
        key = (event.agent, event.session)
        with self._turn:
            if now_ms - self._noted.get(key, -BINDING_MS) < BINDING_MS:
                return
            self._noted[key] = now_ms
            while len(self._noted) > CONTEXTS_MAX:
                self._noted.popitem(last=False)
        binding = Binding(
            event.agent, event.session, event.log, event.cwd, None, event.name, now_ms
        )
        with suppress(OSError):
            bindings.write(self._home, binding)


BINDING_MS = 60_000


class Notices:
    """Which changes on disk each context was notified of."""

    def __init__(self) -> None:
        self._notified: OrderedDict[Context, dict[str, tuple[int, int, int]]] = OrderedDict()
        self._unlogged: OrderedDict[Context, dict[str, tuple[int, int, int]]] = OrderedDict()
        """Files of turns that the log did not show: worth a look at it, and no more is known."""
        self._read: OrderedDict[Context, dict[str, tuple[int, int, int]]] = OrderedDict()
        """Files that the current turn read, as they were just after that."""
        self._turn = threading.Lock()

    def read(self, event: HookEvent) -> None:
        """Note the state of the files that were just read."""
        states = {path: _state(path) for path in _own_paths(event)}
        with self._turn:
            _of_context(self._read, event).update(states)

    def may_say(self, event: HookEvent) -> bool:
        """Whether a file that may be held changed since it was last checked."""
        key = context_of(event)
        with self._turn:
            states = {**self._notified.get(key, {}), **self._unlogged.get(key, {})}
        return any(_state(path) != state for path, state in states.items())

    def watch(self, event: HookEvent) -> None:
        """Note the files of a turn that the log does not show yet, so that their next change is
        worth waiting for the log."""
        key = context_of(event)
        with self._turn:
            known = {*self._notified.get(key, ()), *self._unlogged.get(key, ())}
            read = self._only_read(event)
        # All of them: one wait for each change, if the log does not come.
        states = {path: _state(path) for path in known | _own_paths(event)}
        with self._turn:
            _of_context(self._unlogged, event).update(states | read)

    def lines(self, event: HookEvent, reader: Reader, ledger: Ledger) -> str | None:
        """One line for each held file that changed, unless the context was already notified."""
        own = _own_paths(event)
        with self._turn:
            states = _of_context(self._notified, event)
            read = self._only_read(event)
            self._unlogged.pop(context_of(event), None)  # the log shows these turns now
        # The log does not show yet how this turn read or changed its files. If another program
        # changed one after it was read, the next turn says so, and waits for the log if it has to.
        moved = {path: state for path, state in read.items() if _state(path) != state}
        if moved:
            with self._turn:
                _of_context(self._unlogged, event).update(moved)
        out = []
        for path in list(ledger.seen_paths())[-PATHS_MAX:]:
            state = _state(path)
            if path in own:
                if path not in moved:
                    states[path] = state
                continue
            if states.get(path) == state:
                continue
            first_look = path not in states
            states[path] = state
            live = ledger.view(path, reader.objects.load).live(0, None)
            rows = rows_of(reader, path)
            if rows is None and (first_look or state != GONE):
                continue
            line = stale_lines.notice(recovery.shown(path, event.cwd), live, rows)
            if line is not None:
                out.append(line)
        return "\n".join(out) or None

    def _only_read(self, event: HookEvent) -> dict[str, tuple[int, int, int]]:
        """The files that this turn read and did not change, as they were just after the read."""
        changing = _own_paths(event, CHANGING)
        read = self._read.pop(context_of(event), {})
        return {path: state for path, state in read.items() if path not in changing}


def _of_context(
    known: OrderedDict[Context, dict[str, tuple[int, int, int]]], event: HookEvent
) -> dict[str, tuple[int, int, int]]:
    """The states of an event's context; those of the contexts seen longest ago are dropped."""
    states = known.setdefault(context_of(event), {})
    known.move_to_end(context_of(event))
    while len(known) > CONTEXTS_MAX:
        known.popitem(last=False)
    return states


def _own_paths(event: HookEvent, kinds: type | UnionType = object) -> set[str]:
    """The files that calls of these kinds name."""
    uses = (use for use in event.uses if isinstance(use.call, kinds))
    return {path for use in uses for path in paths_of(use.call, event.cwd)}


def paths_of(call: Call, cwd: str) -> list[str]:
    """The files that a call of the agent's own tools reads or changes, as far as it names them."""
    if isinstance(call, PatchCall):
        return [absolute(attempt.path, cwd) for attempt in patch_attempts(call.patch)]
    if isinstance(call, ShellCall):
        command = shell.parse(call.command, cwd)
        return [] if command is None else [command.path]
    path = getattr(call, "path", None)
    return [] if path is None else [absolute(path, cwd)]


GONE = (0, 0, 0)


def _state(path: str) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return GONE
    return status.st_mtime_ns, status.st_size, status.st_ino


def rows_of(reader: Reader, path: str) -> Sequence[str] | None:
    """The lines of a file; None if the file may not be shown."""
    from holdfast.reading.answer import Current

    try:
        text = reader.current(path)
    except (HoldfastError, OSError):
        return None
    return native.shown_rows(text.data) if isinstance(text, Current) else None


def absolute(path: str, cwd: str) -> str:
    return os.path.normpath(os.path.join(cwd, path))
