"""Finds the conversation that a call belongs to; unless it is proven, every read is the baseline.

A candidate comes from `--session`, from a hook's binding for the agent that started us, or from the
agent's process and environment, which point to a log. Only the first is enough by itself. For the
others something in the call must be found in the log:

    Claude Code   names its pending call in `_meta`; a call's id is unique, so the transcript that
                  contains that call, unanswered, is this conversation
    Codex         names its thread in `_meta`; the rollout's own name ends with it. Without that,
                  the nearest ancestor that is an agent must be a codex process that has exactly
                  one rollout open, and this call must be pending in that rollout

An agent may write its log shortly after it calls, so we wait briefly for a call that is not there
yet. Without proof the result is `Unbound`, with the reason; nothing is guessed.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from holdfast import system
from holdfast.files.regular import open_regular
from holdfast.home import Home
from holdfast.mcp.caller import Caller
from holdfast.mcp.rendezvous import process
from holdfast.reading.hosts import bindings

if TYPE_CHECKING:
    from holdfast.reading.events import Printed
    from holdfast.reading.result import Answer
    from holdfast.reading.session_log import SessionLog

TOOL_USE_ID = "claudecode/toolUseId"
THREAD_ID = "threadId"
LEAF = "holdfast/leaf"
"""The entry that pi is at, as our extension reports it."""
DIALECT = "holdfast/dialect"
"""How pi's own read counts lines, which depends on its version."""
WAIT_S, LOOK_EVERY_S = 0.25, 0.02
CANDIDATES_MAX = 8
ADAPTERS_MAX = 128
TAIL_BYTES = 1 << 20
LAUNCHERS = frozenset({"sh", "bash", "dash", "zsh", "fish", "env", "uv", "uvx", "pipx"})
"""Programs between an agent and us that are not agents themselves."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")


@dataclass(frozen=True, slots=True)
class Bound:
    """The conversation, and how it was identified."""

    log: SessionLog
    kind: str
    session: str
    how: str
    call: str | None = None
    turn: AbstractContextManager[object] = field(default_factory=contextlib.nullcontext)
    """Held while the log is used: an adapter serves one thread at a time."""

    def record(self, answer: Answer) -> None:
        """Note that an answer was delivered."""
        with self.turn:
            self.log.record(answer, self.call)

    def record_shown(self, lines: Sequence[Printed], text: str) -> None:
        """Note which lines of files an answer with this text printed as they are."""
        from holdfast.reading.session_log import ShownLines

        with self.turn:
            if isinstance(self.log, ShownLines) and self.call is not None:
                self.log.record_shown(lines, text, self.call)


@dataclass(frozen=True, slots=True)
class Unbound:
    """Why the conversation is not known for certain."""

    why: str


class Sessions:
    """The logs of every conversation that calls came from."""

    def __init__(
        self,
        home: Home,
        open_session: Callable[[str, str | None], SessionLog],
        *,
        wait_s: float = WAIT_S,
        monotonic: Callable[[], float] = system.monotonic,
        now_s: Callable[[], float] | None = None,
    ) -> None:
        self._home, self._open_session, self._now_s = home, open_session, now_s
        self._wait_s, self._monotonic = wait_s, monotonic
        self._adapters: OrderedDict[tuple[str, str], tuple[SessionLog, threading.RLock]] = (
            OrderedDict()
        )
        self._turn = threading.Lock()

    @contextlib.contextmanager
    def of(
        self, caller: Caller, meta: Mapping[str, Any], tool: str, arguments: Mapping[str, Any]
    ) -> Iterator[Bound | Unbound]:
        """The conversation a call belongs to, for the time of one answer.

        An adapter serves one call at a time, so calls of one conversation take turns.
        """
        from holdfast.errors import HoldfastError

        try:
            result = self._find(caller, meta, tool, arguments)
        except (HoldfastError, OSError) as error:
            result = Unbound(str(error))
        if isinstance(result, Unbound):
            yield result
            return
        bound, lock = result
        bound = replace(bound, turn=lock)
        with lock:
            from holdfast.reading.hosts.claude_code import ClaudeCodeLog
            from holdfast.reading.hosts.pi import PiLog

            if isinstance(bound.log, ClaudeCodeLog):
                bound.log.call = bound.call
                bound.log.now_s = None if self._now_s is None else self._now_s()
            leaf = _text(meta.get(LEAF))
            if isinstance(bound.log, PiLog) and leaf is None and LEAF in meta:
                yield Unbound("pi did not say which entry it is at")
                return
            if isinstance(bound.log, PiLog) and leaf is not None:
                from holdfast.reading.hosts.pi_bridge import PiBridge

                bound = replace(bound, log=PiBridge(bound.log, leaf))
            yield bound

    def _find(
        self, caller: Caller, meta: Mapping[str, Any], tool: str, arguments: Mapping[str, Any]
    ) -> tuple[Bound, threading.RLock] | Unbound:
        call = _text(meta.get(TOOL_USE_ID))
        if caller.session is not None:
            return self._named(caller.session, caller.host, call)
        if call is not None:
            return self._holding_call(caller, call)
        thread = _text(meta.get(THREAD_ID))
        if thread is not None:
            return self._thread(caller, thread, tool, arguments)
        rollout = _open_rollout(caller) if _may_be_codex(caller, meta) else None
        if rollout is not None:
            return self._rollout(rollout, tool, arguments)
        if any(one.is_called("claude") for one in caller.ancestors):
            return Unbound("Claude Code did not name the pending call, so the leaf is a guess")
        return Unbound("nothing identifies the conversation this call belongs to")

    def _named(
        self, session: str, kind: str | None, call: str | None
    ) -> tuple[Bound, threading.RLock]:
        from holdfast.reading.hosts import detect

        if not detect.is_name(session):
            kind = kind or detect.detect(session)
            host, lock = self.adapter(kind, session)
            return Bound(host, kind, _stem(session), "named by --session", call), lock
        name = detect.checked_name(session)
        host, lock = self.adapter("native", name)
        return Bound(host, "native", name, "named by --session", call), lock

    def _holding_call(self, caller: Caller, call: str) -> tuple[Bound, threading.RLock] | Unbound:
        """The transcript in which this call is pending."""
        deadline = self._monotonic() + self._wait_s
        while True:
            candidates = list(dict.fromkeys(self._with_subagents(caller)))
            for path, how in candidates:
                if mentions(path, call):
                    host, lock = self.adapter("claude-code", path)
                    return Bound(host, "claude-code", _stem(path), how, call), lock
            if not candidates:
                return Unbound("no transcript of Claude Code is known for this process")
            if self._monotonic() > deadline:
                return Unbound("the pending call is not in any known transcript")
            time.sleep(LOOK_EVERY_S)

    def _transcripts(self, caller: Caller) -> Iterator[tuple[str, str]]:
        above = {(one.pid, one.start) for one in caller.ancestors}
        bound = [b for b in bindings.read_all(self._home) if b.host == "claude-code"]
        for binding in bound:
            # Over HTTP there is no process to compare: only the call decides.
            if binding.agent in above or not above:
                yield binding.transcript, "a hook of this agent named it, and it holds the call"
        projects = os.path.join(
            caller.environment.get("CLAUDE_CONFIG_DIR") or os.path.join(caller.home, ".claude"),
            "projects",
        )
        session = caller.environment.get("CLAUDE_CODE_SESSION_ID", "")
        if _ID.match(session):
            for path in glob.glob(f"{glob.escape(projects)}/*/{session}.jsonl"):
                yield path, "the agent's environment named it, and it holds the call"
        where = caller.environment.get("CLAUDE_PROJECT_DIR") or caller.cwd
        if where is not None:
            folder = os.path.join(projects, re.sub(r"[^A-Za-z0-9]", "-", where))
            for path in _newest(folder):
                yield path, "it is a transcript of this project and holds the call"

    def _with_subagents(self, caller: Caller) -> Iterator[tuple[str, str]]:
        """The candidates, followed by the newest subagents of each."""
        transcripts = list(dict.fromkeys(self._transcripts(caller)))[:CANDIDATES_MAX]
        yield from transcripts
        for path, _ in transcripts:
            for below in _newest(os.path.join(path.removesuffix(".jsonl"), "subagents")):
                yield below, "it is the transcript of a subagent and holds the call"

    def _thread(
        self, caller: Caller, thread: str, tool: str, arguments: Mapping[str, Any]
    ) -> tuple[Bound, threading.RLock] | Unbound:
        if not _ID.match(thread):
            return Unbound("the thread id that Codex sent is not valid")
        sessions = os.path.join(_codex_home(caller), "sessions")
        files = glob.glob(f"{glob.escape(sessions)}/**/rollout-*-{thread}.jsonl", recursive=True)
        if len(files) != 1:
            how_many = "no rollout" if not files else f"{len(files)} rollouts"
            return Unbound(f"there is {how_many} for the thread that Codex named")
        host, lock = self.adapter("codex", files[0])
        pending = pending_call(files[0], tool, arguments)
        how = "Codex named its thread, and the rollout is of that thread"
        return Bound(host, "codex", thread, how, pending), lock

    def _rollout(
        self, rollout: str, tool: str, arguments: Mapping[str, Any]
    ) -> tuple[Bound, threading.RLock] | Unbound:
        """The rollout that our codex ancestor has open, if this call is pending in it."""
        deadline = self._monotonic() + self._wait_s
        while (pending := pending_call(rollout, tool, arguments)) is None:
            if self._monotonic() > deadline:
                return Unbound("this call is not pending in the rollout of the codex process above")
            time.sleep(LOOK_EVERY_S)
        host, lock = self.adapter("codex", rollout)
        how = "the codex process above us holds this rollout open, and the call is pending in it"
        return Bound(host, "codex", _stem(rollout), how, pending), lock

    def adapter(self, kind: str, name: str) -> tuple[SessionLog, threading.RLock]:
        """The adapter of a log. It is reused, because it has already read most of the log."""
        with self._turn:
            adapter = self._adapters.get((kind, name))
            if adapter is None:
                adapter = self._open_session(name, kind), threading.RLock()
                self._adapters[kind, name] = adapter
                while len(self._adapters) > ADAPTERS_MAX:
                    self._adapters.popitem(last=False)
            self._adapters.move_to_end((kind, name))
            return adapter


def pending_call(rollout: str, tool: str, arguments: Mapping[str, Any]) -> str | None:
    """The one unanswered call of our tool with these arguments; None if there is none or several.

    Codex does not name the pending call, but writes it to the rollout before it calls us.
    """
    calls: dict[str, None] = {}
    for line in _tail(rollout):
        try:
            raw = json.loads(line)
        except (ValueError, RecursionError):
            continue
        payload = raw.get("payload") if isinstance(raw, dict) else None
        if not isinstance(payload, dict) or not isinstance(payload.get("call_id"), str):
            continue
        kind, call = str(payload.get("type")), str(payload["call_id"])
        if kind.endswith("_output"):
            calls.pop(call, None)
        elif kind == "function_call" and _is_ours(payload, tool, arguments):
            calls[call] = None
    return next(iter(calls)) if len(calls) == 1 else None


def _is_ours(payload: Mapping[str, Any], tool: str, arguments: Mapping[str, Any]) -> bool:
    name = str(payload.get("name"))
    if name != tool and not name.endswith(f"__{tool}"):
        return False
    try:
        call_arguments = json.loads(str(payload.get("arguments")))
    except (ValueError, RecursionError):
        return False
    # Null is the same as absent, and an absent argument may have got its default since.
    return isinstance(call_arguments, dict) and all(
        value is None or (key in arguments and arguments[key] == value)
        for key, value in call_arguments.items()
    )


def _tail(path: str) -> list[bytes]:
    try:
        with open(open_regular(path), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read().split(b"\n")
    except OSError:
        return []
    return lines if size <= TAIL_BYTES else lines[1:]


def mentions(path: str, call: str) -> bool:
    """Whether the end of a log contains this call's id: a quick check before the adapter's."""
    needle = call.encode()
    return any(needle in line for line in _tail(path))


def _newest(folder: str) -> list[str]:
    try:
        entries = [e for e in os.scandir(folder) if e.name.endswith(".jsonl")]
        entries.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
    except OSError:
        return []
    return [entry.path for entry in entries[:CANDIDATES_MAX]]


def _may_be_codex(caller: Caller, meta: Mapping[str, Any]) -> bool:
    """Whether the call shows no sign of coming from an agent other than Codex."""
    return (
        (not caller.client or "codex" in caller.client.lower())
        and TOOL_USE_ID not in meta
        and LEAF not in meta
    )


def _open_rollout(caller: Caller) -> str | None:
    """The one rollout that the agent which started us has open, if that agent is Codex.

    Shells and package runners are skipped. Any other program between Codex and us may be an agent
    that Codex started, with a separate context.
    """
    agent = next((one for one in caller.ancestors if one.name not in LAUNCHERS), None)
    if agent is None or not agent.is_called("codex"):
        return None
    now = process(agent.pid)
    if now is None or now["start"] != agent.start:
        return None  # It ended, and another process may have its id.
    open_files = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{agent.pid}/fd"):
            with contextlib.suppress(OSError):
                open_files.add(os.readlink(entry.path))
    rollouts = [
        path
        for path in open_files
        if os.path.basename(path).startswith("rollout-") and path.endswith(".jsonl")
    ]
    return rollouts[0] if len(rollouts) == 1 else None


def _codex_home(caller: Caller) -> str:
    return caller.environment.get("CODEX_HOME") or os.path.join(caller.home, ".codex")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and _ID.match(value) else None


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
