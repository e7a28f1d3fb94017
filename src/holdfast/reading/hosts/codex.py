"""Codex's rollouts: a straight line of items, with our metadata in a sidecar.

Codex has no read tool. Files are read through the shell, whose commands are recognised
strictly, edited by `apply_patch`, and read through our tool, whose answers the sidecar has by call
id. `compacted` replaces all earlier history: a barrier. A rollback drops the last turns from the
history; it is not certain which items those were, so it is a barrier too. The rollout of a fork, or
after a rewind, has only what follows, and a compaction may keep results. In these cases the model
may see more of a file than counts here, so the place of a patch, which has no line numbers, is
unknown.

An output counts only if the model saw all of it. Older versions keep outputs whole in the rollout,
but the model gets them cut in the middle if they exceed the turn's limit, and a resumed session is
cut again by the limit at that time. So there a longer output proves nothing, and when the limit
shrinks, nothing before it counts. Versions since 0.166 keep the text as the model saw it, with a
notice where it was cut; the two ends of a command's output count (`codex_cut`). A cut answer of a
tool does not: the model is sent a little less of it than the rollout has. No answer counts before
the rollout shows it. The output of a script that the model wrote proves nothing: the script may
have dropped a part.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.reading.errors import NotOurs
from holdfast.reading.events import (
    LINES,
    Barrier,
    Event,
    Forgotten,
    Patched,
    Refreshed,
    Seen,
)
from holdfast.reading.hosts import calls, codex_cut
from holdfast.reading.hosts.lines import Follower, loads, objects
from holdfast.reading.hosts.sidecar import Sidecar, SidecarRecords, text_digest, texts_of
from holdfast.reading.shell import unwrapped
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Served, Tree, evidence_at

_OUTPUTS = ("function_call_output", "custom_tool_call_output", "mcp_tool_call_output")
_REWRITTEN = ("thread_rolled_back", "thread-rolled-back", "thread_rollback", "context_compacted")

_HEAD = re.compile(r"Wall time: [0-9.]+ seconds\nOutput:(?:\n|\Z)")
"""What Codex writes above the answer of a tool, in the same text or in a separate block."""

OUTPUT_BYTES = 10_000
"""The output limit when the rollout does not state one: the smallest of any model."""
_BYTES_PER_TOKEN = 4
_AS_SEEN_SINCE = (0, 166)
"""The version since which a rollout keeps outputs as the model saw them."""
_UNCUT = 1 << 40

_EXIT = re.compile(r"(?:Exit code: |Process exited with code )(-?[0-9]+)\n")
_TOKENS = re.compile(r"^Original token count: ([0-9]{1,9})$", re.MULTILINE)
_BODY = re.compile(r"\A(?:[A-Z][A-Za-z ]*: ?[^\n]*\n|Process exited [^\n]*\n)*Output:\n")
"""The header above the output of a command."""


class _Item(NamedTuple):
    """One line of the rollout, as far as it matters."""

    name: str
    kind: str
    barrier: bool = False
    texts: frozenset[str] = frozenset()
    events: tuple[Seen, ...] = ()
    size: int = 0


class CodexLog(SidecarRecords):
    """One rollout file, read as it grows."""

    counts_when_recorded = False

    def __init__(self, path: str | os.PathLike[str], sidecar: Sidecar | None = None) -> None:
        self.path = os.fspath(path)
        self.sidecar = sidecar
        self.tree = Tree()
        self._follower = Follower(self.path)
        self._session: str | None = None
        self._items: list[_Item] = []
        self._calls: set[str] = set()
        self._pending: dict[str, tuple[str, Any]] = {}
        self._cwd = ""
        self._partial = False
        """Whether the model may see more than what counts here."""
        self._least = OUTPUT_BYTES
        """The limit where a turn does not state one."""
        self._torn = False
        self._built = 0
        self._room = OUTPUT_BYTES
        self._questions = 0
        self._cut_to: int | None = None

    def evidence(self) -> Evidence | Doubt:
        """What the rollout proves at its end."""
        try:
            self._catch_up()
            if self.sidecar is not None:
                self.sidecar.catch_up()
        except OSError as error:
            return Doubt(f"the rollout cannot be read: {error.strerror or error}")
        if self._torn:
            return Doubt("the last line of the rollout is damaged or half written")
        if self._session is None:
            return Doubt("the rollout does not begin with its session")
        self._build()
        last = len(self.tree) - 1 if len(self.tree) else NO_ENTRY
        self._questions += 1
        return evidence_at(self.tree, last, self._session, self._questions)

    def was_folded(self, path: str) -> bool:
        """Whether a read of this file was ever folded in this session."""
        if self.sidecar is None:
            return True
        self.sidecar.catch_up()
        return bool(self.sidecar.folded(path))

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Note a refresh in the sidecar, after the newest item."""
        if self.sidecar is None or isinstance(self.evidence(), Doubt):
            raise NotOurs(self.path)
        after = self._items[-1].name if self._items else "start"
        self.sidecar.refresh(event, at_ms, after)

    def answer_bytes_max(self) -> int | None:
        """The size that Codex cut an answer of a tool to; it depends on the model."""
        with contextlib.suppress(OSError):
            self._catch_up()
        return self._cut_to

    def folder_of(self, call: str, command: str, cwd: str) -> str | None:
        """The directory where this command runs; a call may name one other than the agent's."""
        name, request = self._pending.get(call, ("", None))
        arguments = _arguments(request)
        if name not in _SHELLS or not isinstance(arguments, Mapping) or not self._cwd:
            return None
        return self._folder(arguments)

    def _folder(self, arguments: Mapping[str, Any]) -> str:
        workdir = arguments.get("workdir")
        return os.path.join(self._cwd, workdir) if isinstance(workdir, str) else self._cwd

    def _catch_up(self) -> None:
        grown = self._follower.look()
        if grown is None:
            return
        if grown.restarted:
            self._session, self._items, self._calls, self._pending = None, [], set(), {}
            self.tree, self._built, self._partial = Tree(), 0, False
            self._room = self._least = OUTPUT_BYTES
            self._cut_to = None
        self._torn = bool(grown.tail.strip())
        for line in grown.lines:
            if line.strip():
                for raw in objects(line) or [None]:
                    self._take(raw)

    def _take(self, raw: object) -> None:
        if not isinstance(raw, Mapping):
            # A lost line may have been a compaction: nothing before it is certain.
            self._items.append(_Item(f"line-{len(self._items)}", "damaged", True))
            return
        payload = raw.get("payload")
        payload = payload if isinstance(payload, Mapping) else {}
        kind = str(raw.get("type"))
        if isinstance(payload.get("cwd"), str) and kind in ("session_meta", "turn_context"):
            self._cwd = str(payload["cwd"])
        if kind == "session_meta":
            if self._session is None:
                session = payload.get("id")
                self._session = session if isinstance(session, str) else None
                self._partial = raw.get("ordinal") not in (None, 0)
                if _version(payload.get("cli_version")) >= _AS_SEEN_SINCE:
                    self._room = self._least = _UNCUT
            return
        if self._session is None:
            return
        item = _Item(f"line-{len(self._items)}", kind)
        if kind == "compacted" or (kind == "event_msg" and payload.get("type") in _REWRITTEN):
            item = item._replace(barrier=True)
            self._partial = kind != "compacted" or _keeps_results(payload)
        elif kind == "turn_context":
            room = _room_of(payload.get("truncation_policy"), self._least)
            item, self._room = item._replace(barrier=room < self._room), room
        elif kind == "response_item":
            item = self._response(item, payload)
        self._items.append(item)

    def _response(self, item: _Item, payload: Mapping[str, Any]) -> _Item:
        call = payload.get("call_id")
        size = _size(payload.get("output", payload.get("content", payload.get("arguments", ""))))
        if payload.get("type") not in _OUTPUTS:
            if isinstance(call, str):
                request = payload.get("arguments", payload.get("input"))
                self._pending.setdefault(call, (str(payload.get("name")), request))
            return item._replace(size=size)
        if not isinstance(call, str) or call in self._calls:
            return item._replace(size=size)
        self._calls.add(call)
        output = payload.get("output")
        name, request = self._pending.pop(call, ("", None))
        if size > self._room:
            # The edit happened, and of a read the model saw some lines, which may be newer.
            events = tuple(
                Forgotten(one.path) for one in self._file_events(name, request, output, force=True)
            )
            return item._replace(name=call, events=events, size=size)
        if isinstance(output, list) and codex_cut.is_cut(calls.text_of(output) or ""):
            self._cut_to = min(size, self._cut_to or size)
        texts = frozenset(map(text_digest, _texts(output)))
        return _Item(call, item.kind, False, texts, self._file_events(name, request, output), size)

    def _file_events(
        self, name: str, value: Any, output: Any, *, force: bool = False
    ) -> tuple[Seen, ...]:
        """The events about lines of files in the output of this call."""
        text, code = _output_of(output)
        if text is None or (code not in (0, None) and not force):
            return ()
        if name == "apply_patch" and isinstance(value, str):
            fields = _arguments(value) if value[:1] == "{" else {"input": value}
            patch = fields.get("input") if isinstance(fields, Mapping) else None
            applied = force or text.startswith("Success") or code == 0
            changes = calls.patch(patch, self._cwd) if isinstance(patch, str) and applied else None
            return self._placed(changes or ())
        arguments = _arguments(value)
        if name not in _SHELLS or not isinstance(arguments, Mapping):
            return ()
        command = arguments.get("command", arguments.get("cmd"))
        if isinstance(command, list):
            if command[:1] == ["apply_patch"] and len(command) == 2:
                return self._placed(calls.patch(str(command[1]), self._cwd) or ())
            command = unwrapped(command)
        cwd = self._folder(arguments)
        if code != 0:
            return ()
        cut = codex_cut.ends(text, _tokens_of(output)) if self._least == _UNCUT else None
        if cut is not None:
            return calls.shell_ends(command, cwd, *cut)
        printed = calls.shell_read(command, cwd, text)
        return () if printed is None else (printed,)

    def _placed(self, changes: Sequence[Seen]) -> tuple[Seen, ...]:
        """The changes; a patch whose place cannot be found reliably makes us forget its file."""
        if not self._partial:
            return tuple(changes)
        return tuple(Forgotten(c.path) if isinstance(c, Patched) else c for c in changes)

    def _build(self) -> None:
        """Bring the tree up to date; rebuild it when the sidecar has new records for old items."""
        if self.sidecar is not None and self.sidecar.touched:
            if any(self.tree.number(name) != NO_ENTRY for name in self.sidecar.touched):
                self.tree, self._built = Tree(), 0
            self.sidecar.touched.clear()
        for item in self._items[self._built :]:
            name = item.name
            event: Event | None = Barrier() if item.barrier else None
            served: Served | None = None
            record = None if self.sidecar is None else self.sidecar.served.get(name)
            if record is not None and record.text_sha256 in item.texts:
                event, served = record.event(), record.served()
            self._chain(name, item.kind, event, served, item.size)
            if self.sidecar is not None:
                for count, one in enumerate(self.sidecar.shown_events(name, item.texts)):
                    self._chain(f"{name}/shown-{count}{LINES}", item.kind, one, None)
            self._chain_events(item)
            if self.sidecar is not None:
                for count, refreshed in enumerate(self.sidecar.refreshed.get(name, ())):
                    self._chain(f"{name}/refresh-{count}", "refresh", refreshed, None)
        self._built = len(self._items)

    def _chain_events(self, item: _Item) -> None:
        short = None if self.sidecar is None else self.sidecar.short.get(item.name)
        if short is not None and short.text_sha256 in item.texts:
            self._chain(f"{item.name}{LINES}", item.kind, short.event, None)
            return
        for count, one in enumerate(item.events):
            event = Forgotten(one.path) if calls.is_short(one) else one
            self._chain(f"{item.name}/{count}{LINES}", item.kind, event, None)

    def _chain(
        self, name: str, kind: str, event: Event | None, served: Served | None, size: int = 0
    ) -> None:
        parent = self.tree.ids[-1] if len(self.tree) else None
        self.tree.add(name, parent, kind, event, served, size)


def _keeps_results(payload: Mapping[str, Any]) -> bool:
    """Whether a compaction may have left more than messages in the history."""
    history = payload.get("replacement_history")
    if not isinstance(history, list):
        return history is not None
    return any(not isinstance(one, Mapping) or one.get("type") not in _TEXTS for one in history)


_TEXTS = ("message", "reasoning", "compaction", "compaction_summary")
"""Items of a history that do not show lines of a file themselves."""
_SHELLS = ("shell", "shell_command", "exec_command", "local_shell", "container.exec")


def _version(text: object) -> tuple[int, int]:
    match = re.match(r"([0-9]{1,6})\.([0-9]{1,6})", text) if isinstance(text, str) else None
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _arguments(value: object) -> Any:
    """The arguments of a call, which are JSON in a string; None if they are not.

    The string may have escaped halves of surrogate pairs.
    """
    return loads(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else None


def _output_of(output: Any) -> tuple[str | None, int | None]:
    """What a command printed, and its exit code if the output states one."""
    if isinstance(output, list):
        output = calls.text_of(output)
    if isinstance(output, str) and output[:1] == "{":
        inner = loads(output.encode("utf-8", "surrogatepass"))
        output = inner if isinstance(inner, Mapping) else output
    if isinstance(output, Mapping):
        details = output.get("metadata")
        code = details.get("exit_code") if isinstance(details, Mapping) else None
        text = output.get("output", output.get("content"))
        is_number = isinstance(code, int) and not isinstance(code, bool)
        return (text if isinstance(text, str) else None), (code if is_number else None)
    if not isinstance(output, str):
        return None, None
    head = _BODY.match(output)
    if head is None:
        return output, None
    match = _EXIT.search(head[0])
    return output[head.end() :], int(match[1]) if match else None


def _tokens_of(output: Any) -> int | None:
    """The size that Codex states above an output, before it was cut."""
    text = calls.text_of(output) if isinstance(output, list) else output
    head = _BODY.match(text) if isinstance(text, str) else None
    match = None if head is None else _TOKENS.search(head[0])
    return None if match is None else int(match[1])


def _texts(output: Any) -> Iterator[str]:
    """Every text that an output may carry, with and without the header that Codex adds."""
    yield from texts_of(output)
    text, code = _output_of(output)
    if text is not None and code == 0:
        yield text.strip()  # the output of a command
    if isinstance(output, str) and (head := _HEAD.match(output)):
        yield from texts_of(output[head.end() :])
    elif isinstance(output, list) and len(output) > 1:
        first = output[0].get("text") if isinstance(output[0], Mapping) else None
        if isinstance(first, str) and _HEAD.fullmatch(first):
            yield from texts_of(output[1:])


def _room_of(policy: object, least: int) -> int:
    """How many bytes of an output the model is sent, by the truncation policy of a turn."""
    limit = policy.get("limit") if isinstance(policy, Mapping) else None
    if isinstance(limit, bool) or not isinstance(limit, int) or not isinstance(policy, Mapping):
        return least
    match policy.get("mode"):
        case "bytes":
            return limit
        case "tokens":
            return limit * _BYTES_PER_TOKEN
        case _:
            return least


def _size(output: object) -> int:
    """The size in bytes of an output as sent to the model: text as it is, the rest as JSON."""
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return len(text.encode("utf-8", "surrogatepass"))
