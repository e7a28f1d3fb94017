"""Decides how to answer a hook event: opens the session and the files, and asks `reading`.

    after the agent's own read     a short form of it, when the session proves what is held
    after its own *unchanged*      the text, unless the session proves that it is held
    after a failed edit            the file's current text
    after any call of ours         one line when held lines changed on disk, once
    after a compaction             what was held, the most needed first

Without proof the agent's own result stays as it is.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.agents.hooks import (
    EditCall,
    HookEvent,
    Moment,
    Outcome,
    PatchCall,
    ReadCall,
    ShellCall,
    ToolUse,
    adapter_of,
)
from holdfast.mcp.binding import mentions
from holdfast.mcp.hook_protocol import ANSWER_S, hook_seconds
from holdfast.mcp.hook_state import (
    PATHS_MAX,
    Bindings,
    Changes,
    Notices,
    Turns,
    absolute,
    paths_of,
    rows_of,
)
from holdfast.mcp.requests import Requests, outcome_of
from holdfast.reading import native, recovery, stale_lines
from holdfast.reading.errors import NoSuchSession
from holdfast.reading.hosts.sidecar import text_digest
from holdfast.reading.native import Short
from holdfast.reading.native_reader import NativeReader, OwnRead, OwnShell
from holdfast.reading.session_log import (
    CompactionHistory,
    RecordedEdits,
    ShellFolders,
    ShortAnswers,
    ShownLines,
    UnreadableLog,
)
from holdfast.reading.tree import Doubt, Evidence

if TYPE_CHECKING:
    from holdfast.mcp.host_context import HostContext
    from holdfast.mcp.request_log import RequestLog
    from holdfast.reading.focus import Signals
    from holdfast.reading.reader import Reader
    from holdfast.reading.session_log import SessionLog
    from holdfast.reading.trust import Ledger

WAIT_S_MAX, LOOK_EVERY_S = 1.0, 0.004
"""How long to wait for a call that the log does not show yet; also at most half the time there is
for an answer."""


SEARCH = "holdfast search "
"""How a command of our search begins in an agent's shell. Anything after it shows in the output."""


class HookDecision:
    """Answers events with what the host has open."""

    def __init__(self, context: HostContext) -> None:
        self._context = context
        self._notices, self._turns, self._changes = Notices(), Turns(), Changes()
        self._requests, self._bindings = (
            Requests(context.home, context.shown),
            Bindings(context.home),
        )
        environment = getattr(context.app, "environment", {})
        self._wait_s = min(WAIT_S_MAX, hook_seconds(environment, ANSWER_S) / 2)
        # Importing the help for failed edits takes longer than a hook may take.
        threading.Thread(target=_warm_up, name="holdfast warm-up", daemon=True).start()

    def decide(self, event: HookEvent) -> Outcome:
        """What to do; an empty outcome leaves the agent's own result as it is."""
        if not event.cwd:
            return Outcome()
        reader = self._context.reader(event.cwd, self._context.app.user_home)
        self._bindings.note(event, self._context.app.clock.now_ms())
        if event.moment is Moment.REQUEST:
            return self._request(event, reader)
        if event.moment is Moment.AFTER_COMPACTION:
            self._turns.forget(event)
            with self._log(event, None) as log:
                return Outcome(note=_recovery(reader, log, event))
        if event.moment is Moment.AFTER_TOOL:
            return self._after_tool(event, reader)
        if event.moment is Moment.AFTER_BATCH:
            return self._after_batch(event, reader)
        if event.moment is Moment.BEFORE_TOOL:
            return Outcome(notes=_patch_help(event, reader))
        return Outcome()

    # one result, before the model sees it

    def _after_tool(self, event: HookEvent, reader: Reader) -> Outcome:
        if event.has_batches:
            self._changes.add(event)
            self._record_edits(event)
            self._notices.read(event)
        outcome = self._read(event, reader)
        if outcome or event.has_batches or event.log is None:
            return outcome  # notices are added after the batch, or to the next request
        with self._log(event, event.uses[0].id) as log:
            evidence = log.evidence()
            if isinstance(evidence, Doubt):
                return outcome
            return Outcome(note=self._notices.lines(event, reader, evidence.ledger))

    def _read(self, event: HookEvent, reader: Reader) -> Outcome:
        use = event.uses[0]
        if use.failed:
            return Outcome(notes=_edit_help(event, reader))
        if not isinstance(use.call, ReadCall | ShellCall) or use.id is None:
            return Outcome()
        if isinstance(use.call, ShellCall) and not _may_print_a_file(use.call.command):
            self._note_search(use, use.call, event)
            return Outcome()
        with self._log(event, use.id) as log:
            doubt = isinstance(self._waited(log), Doubt)
            if doubt or self._changes.touch(event) or _changes_beside(log, use, event):
                return self._unproven(use, event, reader)
            if event.only_logged_calls and not self._is_logged(event, use.id):
                return Outcome()
            if use.claims_unchanged:
                return self._claimed(use, event, reader, log)
            return self._shortened(use, event, reader, log)

    def _note_search(self, use: ToolUse, call: ShellCall, event: HookEvent) -> None:
        """Record the lines that our search printed in the agent's shell.

        They count if the log shows exactly the text that the search returned.
        """
        if use.id is None or use.text is None or not call.command.startswith(SEARCH):
            return
        text = use.text.strip()
        lines = self._context.shown.lines(text_digest(text))
        if lines and event.log is not None:
            with self._log(event, use.id) as log:
                if isinstance(log, ShownLines):
                    log.record_shown(lines, text, use.id)

    def _record_edits(self, event: HookEvent) -> None:
        """Record where a subagent's edit was made, which its transcript lacks."""
        if event.subagent is None:
            return
        for use in event.uses:
            if isinstance(use.call, EditCall) and isinstance(use.result, Mapping) and use.id:
                from holdfast.reading.hosts.claude_results import edit

                with self._log(event, use.id) as log:
                    if isinstance(log, RecordedEdits):
                        log.record_edit(edit(use.result, ""), use.id)

    def _unproven(self, use: ToolUse, event: HookEvent, reader: Reader) -> Outcome:
        """Without evidence, only replace the agent's own claim that a file is unchanged."""
        return self._text(use, event, reader) if use.claims_unchanged else Outcome()

    def _claimed(self, use: ToolUse, event: HookEvent, reader: Reader, log: SessionLog) -> Outcome:
        assert isinstance(use.call, ReadCall)
        path = absolute(use.call.path, event.cwd)
        evidence = log.evidence()
        if isinstance(evidence, Evidence) and self._holds(use.call, path, reader, evidence):
            return Outcome()
        return self._text(use, event, reader)

    def _holds(self, call: ReadCall, path: str, reader: Reader, evidence: Evidence) -> bool:
        rows = rows_of(reader, path)
        if rows is None:
            return False
        first = call.first or 1
        lines = rows[first - 1 :]
        if call.count is not None:
            lines = lines[: call.count]
        view = evidence.ledger.view(path, reader.objects.load)
        if lines and lines[-1] == "":
            lines = lines[:-1]  # the empty row after the last newline is not a line
        if view.named == (first, first + len(lines) - 1):
            return False  # our short answer promised the text for a repeated call
        options = native.Options(horizon=evidence.horizon, now=evidence.seen_bytes)
        return native.holds(view, first, lines, options)

    def _text(self, use: ToolUse, event: HookEvent, reader: Reader) -> Outcome:
        assert isinstance(use.call, ReadCall)
        rows = rows_of(reader, absolute(use.call.path, event.cwd))
        if rows is None:
            return Outcome()
        first = use.call.first or 1
        lines = rows[first - 1 :]
        if use.call.count is not None:
            lines = lines[: use.call.count]
        return Outcome(texts={0: "\n".join(lines)})

    def _shortened(
        self, use: ToolUse, event: HookEvent, reader: Reader, log: SessionLog
    ) -> Outcome:
        if use.text is None:
            return Outcome()
        size = len(use.text.encode("utf-8", "surrogatepass"))
        call: OwnRead | OwnShell
        if isinstance(use.call, ReadCall):
            rows = tuple(use.text.split("\n"))
            path = absolute(use.call.path, event.cwd)
            call = OwnRead(path, use.first, rows, size + 5 * len(rows))
        else:
            assert isinstance(use.call, ShellCall)
            folder: str | None = event.cwd
            if isinstance(log, ShellFolders):
                log.evidence()  # the agent may have logged the call since the last read
                folder = log.folder_of(use.id or "", use.call.command, event.cwd)
            if folder is None:
                return Outcome()
            call = OwnShell(use.call.command, folder, use.text, trimmed=use.trimmed)
        focuser = self._focuser(use, event, reader, log)
        answer = NativeReader(reader).answer(call, log, again=event.again, focuser=focuser)
        if not isinstance(answer, Short) or use.id is None:
            return Outcome()
        outcome = Outcome(replacements={0: answer.text}, pieces={0: answer.pieces})
        adapter = adapter_of(event.agent)
        text = None if adapter is None else adapter.shown_text(event, outcome)
        if text is None or not isinstance(log, ShortAnswers):
            return Outcome()
        log.record_short(answer.record, text, use.id, answer.kind, answer.saved_bytes)
        return outcome

    def _focuser(
        self, use: ToolUse, event: HookEvent, reader: Reader, log: SessionLog
    ) -> native.Focuser | None:
        """The focuser for this result; None unless focus is on and the whole file was read."""
        presets = reader.settings.focus_of(event.agent)
        if presets is None or not isinstance(use.call, ReadCall) or not use.is_whole:
            return None
        if use.call.first is not None or use.call.count is not None:
            return None
        from holdfast.file_focus import focuser, outliner
        from holdfast.reading.history.conversation import conversation_of

        def signals(path: str, rows: Sequence[str]) -> Signals:
            return conversation_of(log).signals(path, rows)

        outline = outliner(lambda: self._context.index)
        return focuser(presets, signals, outline, subagent=event.subagent is not None)

    # all results of a turn, as the model gets them

    def _after_batch(self, event: HookEvent, reader: Reader) -> Outcome:
        note = None
        if event.batch:
            with self._log(event, event.batch[-1]) as log:
                evidence = log.evidence()
                if isinstance(evidence, Doubt) and self._notices.may_say(event):
                    evidence = self._waited(log)
                if isinstance(evidence, Evidence):
                    note = self._notices.lines(event, reader, evidence.ledger)
                else:
                    self._notices.watch(event)
        self._changes.ended(event)
        self._turns.ended(event, self._context.app.clock.monotonic())
        return Outcome(notes=_edit_help(event, reader), note=note)

    # a request, before it is sent

    def _request(self, event: HookEvent, reader: Reader) -> Outcome:
        with self._requests.log(event) as log:
            log.number = None
            log.show(event.uses, event.cwd, reader.objects.load)
            log.messages = event.messages
            if isinstance(log.evidence(), Doubt):
                return Outcome()
            for place, text in _edit_help(event, reader, frozenset(log.notes)).items():
                log.notes[str(event.uses[place].id)] = text
            evidence = log.evidence()
            last = next((use.id for use in reversed(event.uses) if use.id is not None), None)
            if isinstance(evidence, Evidence) and last is not None:
                alone = replace(event, uses=())  # the request shows what this turn did
                note = self._notices.lines(alone, reader, evidence.ledger)
                if note is not None:
                    log.notes[last] = "\n\n".join(filter(None, (log.notes.get(last), note)))
            log.number = event.request
            return replace(outcome_of(event, log), request=event.request)

    # the session

    def _is_logged(self, event: HookEvent, call: str) -> bool:
        """Whether the log has this call itself, not just a script that made it."""
        clock = self._context.app.clock
        deadline = clock.monotonic() + self._wait_s
        assert event.log is not None
        while not mentions(event.log, call):
            if clock.monotonic() > deadline:
                return False
            time.sleep(LOOK_EVERY_S)
        return True

    def _waited(self, log: SessionLog) -> Evidence | Doubt:
        """What the log proves, once it shows the pending call."""
        clock = self._context.app.clock
        deadline = clock.monotonic() + self._wait_s
        while True:
            evidence = log.evidence()
            if isinstance(evidence, Evidence) or clock.monotonic() > deadline:
                return evidence
            if isinstance(log, UnreadableLog):
                return evidence  # waiting would not help
            time.sleep(LOOK_EVERY_S)

    @contextmanager
    def _log(self, event: HookEvent, call: str | None) -> Iterator[SessionLog]:
        """The log of the conversation, at this call."""
        from holdfast.reading.hosts.claude_code import ClaudeCodeLog

        if event.log is None:
            with self._requests.log(event) as newest:
                if event.moment is not Moment.AFTER_TOOL or _is_answered(event, newest):
                    yield newest
                else:
                    yield UnreadableLog("the latest request was not answered in time")
            return
        opened = self._opened(event.agent, event.log)
        if opened is None:
            yield UnreadableLog("the agent has not written its log yet")
            return
        log, lock = opened
        with lock:
            if isinstance(log, ClaudeCodeLog):
                log.sidechain = event.subagent is not None
                before = log.call, log.newest_leaf
                log.call, log.newest_leaf = call, call is None
                log.after = self._turns.before(event, self._context.app.clock.monotonic())
                log.now_s = None if call is None else self._context.app.clock.now_s()
                try:
                    yield log
                finally:
                    log.call, log.newest_leaf = before
                    log.after, log.now_s = (), None
            else:
                yield log

    def _opened(self, agent: str, path: str) -> tuple[SessionLog, threading.RLock] | None:
        """The log; None before the agent has written it, as at its first calls."""
        try:
            return self._context.sessions.adapter(agent, path)
        except NoSuchSession:
            return None


def _changes_beside(log: SessionLog, use: ToolUse, event: HookEvent) -> bool:
    """Whether, by the log, another call of the same message changes this call's file."""
    from holdfast.reading.hosts.claude_code import ClaudeCodeLog

    if not isinstance(log, ClaudeCodeLog):
        return False
    changed = log.changed_beside(use.id or "")
    return bool(changed) and any(path in changed for path in paths_of(use.call, event.cwd))


def _is_answered(event: HookEvent, newest: RequestLog) -> bool:
    """Whether the agent received our answer to the newest request."""
    return event.request is not None and event.request == newest.number


def _warm_up() -> None:
    from holdfast.edits import explain

    explain("first line\nsecond line\n", "second lines", "")


def _allowed_text(reader: Reader) -> Callable[[str], str | None]:
    """A function that reads a file for edit help; None for files the user marked sensitive."""
    from holdfast.edits.help import read_text

    sensitive = reader.settings.sensitive

    def allowed(path: str) -> str | None:
        if sensitive.covers(path) or sensitive.covers(os.path.realpath(path)):
            return None
        return read_text(path)

    return allowed


def _edit_help(event: HookEvent, reader: Reader, calls: Collection[str] = ()) -> dict[int, str]:
    """The help for each failed edit, by index; not for these `calls`."""
    from holdfast.edits import Attempt, failure_of, help_text

    texts = {}
    for at, use in enumerate(event.uses):
        if (
            not isinstance(use.call, EditCall)
            or not use.failed
            or use.id in calls
            or failure_of(use.text or "") is None
        ):
            continue
        edits = (use.call, *use.call.more)
        tried = [Attempt(one.path, one.old, one.everywhere) for one in edits]
        text = help_text(tried, event.cwd, _allowed_text(reader))
        if text is not None:
            texts[at] = text
    return texts


def _patch_help(event: HookEvent, reader: Reader) -> dict[int, str]:
    """The help for each patch that would fail, by index."""
    from holdfast.edits import help_text, patch_attempts

    texts = {}
    for at, use in enumerate(event.uses):
        if isinstance(use.call, PatchCall):
            text = help_text(patch_attempts(use.call.patch), event.cwd, _allowed_text(reader))
            if text is not None:
                texts[at] = text
    return texts


def _recovery(reader: Reader, log: SessionLog, event: HookEvent) -> str | None:
    ledger = ledger_before(log, at_compaction=True)
    files = used_files(ledger, reader)

    def changed(path: str) -> bool:
        rows = rows_of(reader, path)
        live = ledger.view(path, reader.objects.load).live(0, None)
        return rows is None or bool(stale_lines.changed(live, rows))

    call = "recover(tokens=4000) brings back the lines you used in one call."
    return recovery.to_text(files, changed, event.cwd, call)


def ledger_before(log: SessionLog, *, at_compaction: bool) -> Ledger:
    """What was held before the latest compaction.

    `at_compaction`: the agent has just reported it, and its log does not show it yet. Then what was
    shown up to the leaf is what will be lost.
    """
    from holdfast.reading.reader import before_compaction
    from holdfast.reading.trust import Ledger

    evidence = log.evidence()
    if isinstance(evidence, Doubt):
        return Ledger()
    if at_compaction:
        ledger = log.since_compaction() if isinstance(log, CompactionHistory) else None
        ledger = ledger or evidence.ledger
        if any(True for _ in ledger.seen_paths()):
            return ledger
    return before_compaction(log, evidence)


def used_files(ledger: Ledger, reader: Reader) -> list[recovery.Used]:
    """What the model did with each file of which it saw some lines, or that it changed."""
    out = []
    for path in list(ledger.seen_paths())[-PATHS_MAX:]:
        view, history = ledger.view(path, reader.objects.load), ledger.history(path)
        if view.lines or recovery.was_seen(history):
            out.append(recovery.used(path, history, len(view.lines)))
    return out


def _may_print_a_file(command: str) -> bool:
    """Whether `reading` recognises this command; checked before any file is opened."""
    from holdfast.reading import shell

    return shell.parse(command, "/") is not None
