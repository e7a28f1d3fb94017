"""Codex's rollouts: a straight line of items, with our metadata in a sidecar.

Codex has no read tool of its own. Files are read through the shell, whose output is not an anchor,
and through our tool, whose answers the sidecar knows by call id. `compacted` replaces all earlier
history: a barrier. A rollback drops the last turns from the history; which items that were is not
certain enough to build on, so it is a barrier too.

An output counts only if it is exactly the text we sent and the model saw all of it. A rollout
keeps outputs whole, but what goes to the model is cut in the middle where it is longer than the
turn allows, and a session that is resumed is cut anew by what is allowed then. So an output longer
than that proves nothing, and when the limit shrinks, nothing before it counts. For the same reason
no answer counts before the rollout shows it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.reading.errors import NotOurs
from holdfast.reading.events import Barrier, Event, Pieced, Refreshed
from holdfast.reading.hosts.lines import Follower, loads
from holdfast.reading.hosts.sidecar import Sidecar, text_digest, texts_of
from holdfast.reading.result import Answer
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Served, Tree, evidence_at

_OUTPUTS = ("function_call_output", "custom_tool_call_output", "mcp_tool_call_output")
_REWRITTEN = ("thread_rolled_back", "thread-rolled-back", "thread_rollback", "context_compacted")

_HEAD = re.compile(r"Wall time: [0-9.]+ seconds\nOutput:(?:\n|\Z)")
"""What Codex writes above the answer of a tool, in the same text or in a block of its own."""

OUTPUT_BYTES = 10_000
"""The output limit when the rollout does not state one: the smallest of any model."""
_BYTES_PER_TOKEN = 4


class CodexLog:
    """One rollout file, read as it grows."""

    counts_when_recorded = False

    def __init__(self, path: str | os.PathLike[str], sidecar: Sidecar | None = None) -> None:
        self.path = os.fspath(path)
        self.sidecar = sidecar
        self.tree = Tree()
        self._follower = Follower(self.path)
        self._session: str | None = None
        self._items: list[tuple[str, str, bool, frozenset[str]]] = []
        self._calls: set[str] = set()
        self._torn = False
        self._built = 0
        self._room = OUTPUT_BYTES
        self._asked = 0

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
        self._asked += 1
        return evidence_at(self.tree, last, self._session, self._asked)

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Note what an answer claims; it counts once the rollout shows its text."""
        if self.sidecar is not None and call is not None:
            self.sidecar.record(call, answer)

    def record_short(self, event: Pieced, text: str, call: str) -> None:
        """Note a short form of the agent's own result; it counts once the log shows its text."""
        if self.sidecar is not None:
            self.sidecar.record_short(call, event, text)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Note a refresh in the sidecar, after the newest item."""
        if self.sidecar is None or isinstance(self.evidence(), Doubt):
            raise NotOurs(self.path)
        after = self._items[-1][0] if self._items else "start"
        self.sidecar.refresh(event, at_ms, after)

    def _catch_up(self) -> None:
        grown = self._follower.look()
        if grown is None:
            return
        if grown.restarted:
            self._session, self._items, self._calls = None, [], set()
            self.tree, self._built = Tree(), 0
            self._room = OUTPUT_BYTES
        self._torn = bool(grown.tail.strip())
        for line in grown.lines:
            if line.strip():
                self._take(loads(line))

    def _take(self, raw: object) -> None:
        if not isinstance(raw, Mapping):
            # A lost line may have been a compaction: nothing before it is certain.
            self._items.append((f"line-{len(self._items)}", "damaged", True, frozenset()))
            return
        payload = raw.get("payload")
        payload = payload if isinstance(payload, Mapping) else {}
        kind = str(raw.get("type"))
        if kind == "session_meta":
            if self._session is None:
                session = payload.get("id")
                self._session = session if isinstance(session, str) else None
            return
        if self._session is None:
            return
        name, barrier, texts = f"line-{len(self._items)}", False, frozenset[str]()
        if kind == "compacted" or (kind == "event_msg" and payload.get("type") in _REWRITTEN):
            barrier = True
        elif kind == "turn_context":
            room = _room_of(payload.get("truncation_policy"))
            barrier, self._room = room < self._room, room
        elif kind == "response_item" and payload.get("type") in _OUTPUTS:
            call = payload.get("call_id")
            if isinstance(call, str) and call not in self._calls:
                self._calls.add(call)
                name, output = call, payload.get("output")
                if _size(output) <= self._room:
                    texts = frozenset(map(text_digest, _texts(output)))
        self._items.append((name, kind, barrier, texts))

    def _build(self) -> None:
        """Bring the tree up to date; anew when the sidecar grew by something about older items."""
        if self.sidecar is not None and self.sidecar.touched:
            if any(self.tree.number(name) != NO_ENTRY for name in self.sidecar.touched):
                self.tree, self._built = Tree(), 0
            self.sidecar.touched.clear()
        for name, kind, barrier, texts in self._items[self._built :]:
            event: Event | None = Barrier() if barrier else None
            served: Served | None = None
            record = None if self.sidecar is None else self.sidecar.served.get(name)
            if record is not None and record.text_sha256 in texts:
                event, served = record.event(), record.served()
            self._chain(name, kind, event, served)
            if self.sidecar is not None:
                for count, refreshed in enumerate(self.sidecar.refreshed.get(name, ())):
                    self._chain(f"{name}/refresh-{count}", "refresh", refreshed, None)
        self._built = len(self._items)

    def _chain(self, name: str, kind: str, event: Event | None, served: Served | None) -> None:
        parent = self.tree.ids[-1] if len(self.tree) else None
        self.tree.add(name, parent, kind, event, served)


def _texts(output: Any) -> Iterator[str]:
    """Every text that an output may carry, with what Codex writes above it and without."""
    yield from texts_of(output)
    if isinstance(output, str) and (head := _HEAD.match(output)):
        yield from texts_of(output[head.end() :])
    elif isinstance(output, list) and len(output) > 1:
        first = output[0].get("text") if isinstance(output[0], Mapping) else None
        if isinstance(first, str) and _HEAD.fullmatch(first):
            yield from texts_of(output[1:])


def _room_of(policy: object) -> int:
    """How many bytes of an output the model is sent, as the context of a turn says it."""
    limit = policy.get("limit") if isinstance(policy, Mapping) else None
    if isinstance(limit, bool) or not isinstance(limit, int) or not isinstance(policy, Mapping):
        return OUTPUT_BYTES
    match policy.get("mode"):
        case "bytes":
            return limit
        case "tokens":
            return limit * _BYTES_PER_TOKEN
        case _:
            return OUTPUT_BYTES


def _size(output: object) -> int:
    """The bytes an output takes on its way to the model; of anything but a text, as JSON."""
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return len(text.encode("utf-8", "surrogatepass"))
