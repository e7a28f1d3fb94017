"""A writer of pi's session files, for tests and benchmarks of the reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.reading import meta as metas
from holdfast.reading.errors import NoSuchSession
from holdfast.reading.events import Hidden, Refreshed
from holdfast.reading.hosts import pi_entries
from holdfast.reading.hosts.lines import append_lines, loads
from holdfast.reading.hosts.pi_entries import STRICT, Rules
from holdfast.reading.result import Answer
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Tree, evidence_at


class PiSession:
    """A session in pi's format, in memory and, with a path, on disk.

    Entries are immutable; appending moves the leaf. With `wait_for_assistant` nothing is written
    before the first assistant message, as pi itself did up to 0.98. A write adds the newline that a
    crashed writer may have left out.
    """

    counts_when_recorded = False

    def __init__(
        self,
        session: str,
        cwd: str,
        *,
        path: str | None = None,
        now_ms: Callable[[], int],
        new_id: Callable[[], str],
        wait_for_assistant: bool = False,
        rules: Rules = STRICT,
    ) -> None:
        self.path = path
        self.id, self.cwd = session, cwd
        self.tree = Tree()
        self.leaf: str | None = None
        self.entries: list[dict[str, Any]] = []
        self._now_ms, self._new_id = now_ms, new_id
        self._wait = wait_for_assistant
        self._rules = rules
        self._written = 0
        self._generation = 0
        self._parent_session: str | None = None

    @classmethod
    def open(
        cls,
        path: str,
        *,
        now_ms: Callable[[], int],
        new_id: Callable[[], str],
        wait_for_assistant: bool = False,
        rules: Rules = STRICT,
    ) -> PiSession:
        """The session in this file, at the last of its entries."""
        try:
            with open(path, "rb") as file:
                lines = file.read().split(b"\n")
        except OSError as error:
            raise NoSuchSession(path, error.strerror or str(error)) from error
        header = pi_entries.parse_header(lines[0])
        if header is None:
            raise NoSuchSession(path, "it does not begin with a session header")
        session = cls(
            header.id,
            header.cwd,
            path=path,
            now_ms=now_ms,
            new_id=new_id,
            wait_for_assistant=wait_for_assistant,
            rules=rules,
        )
        for line in lines[1:]:
            raw = loads(line) if line.strip() else None
            if isinstance(raw, dict) and isinstance(raw.get("id"), str):
                session._add(raw)
        session._written = len(session.entries) + 1
        return session

    def evidence(self) -> Evidence | Doubt:
        """What the session proves at its leaf."""
        return evidence_at(self.tree, self.tree.number(self.leaf), self.id, self._generation)

    def append(self, kind: str, **fields: Any) -> str:
        """Add an entry below the leaf and move to it; returns its id."""
        entry = self._new_id()
        while self.tree.number(entry) != NO_ENTRY:
            entry = self._new_id()
        now = self._now_ms()
        raw = {"type": kind, "id": entry, "parentId": self.leaf, "timestamp": iso(now), **fields}
        self._add(raw)
        self._flush()
        return entry

    def append_read(self, content: list[dict[str, Any]], details: dict[str, Any] | None) -> str:
        """Add the result of a read."""
        message: dict[str, Any] = {
            "role": "toolResult",
            "toolCallId": f"call_{len(self.entries)}",
            "toolName": "read",
            "content": content,
        }
        if details is not None:
            message["details"] = details
        message.update(isError=False, timestamp=self._now_ms())
        return self.append("message", message=message)

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Note that an answer was delivered."""
        self.append_read(answer.content, answer.details)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Add an invalidation below the leaf."""
        self.append("custom", customType=metas.CUSTOM_TYPE, data=metas.refresh_json(event, at_ms))

    def navigate(self, entry: str | None, summary: str | None = None) -> str | None:
        """Move to an entry, or before the first; with a summary of the branch left behind."""
        if entry is not None and self.tree.number(entry) == NO_ENTRY:
            raise NoSuchSession(self.path or self.id, f"no entry {entry}")
        self.leaf = entry
        self._generation += 1
        if summary is None:
            return None
        return self.append("branch_summary", fromId=entry or "root", summary=summary)

    def fork(self, session: str, *, path: str | None = None, up_to: str | None = None) -> PiSession:
        """A new session with copies of these entries: all, or those on the path to `up_to`."""
        other = PiSession(
            session,
            self.cwd,
            path=path,
            now_ms=self._now_ms,
            new_id=self._new_id,
            wait_for_assistant=self._wait,
            rules=self._rules,
        )
        other._parent_session = self.path
        if up_to is None:
            kept = self.entries
        else:
            on_path = self.tree.path(self.tree.number(up_to))
            kept = [self.entries[number] for number in on_path]
        for raw in kept:
            other._add(raw)
        if up_to is None:
            other.leaf = self.leaf
        other._flush()
        return other

    def branch(self) -> list[str]:
        """Ids from the root to the leaf."""
        return [self.tree.ids[at] for at in self.tree.path(self.tree.number(self.leaf))]

    def _add(self, raw: dict[str, Any]) -> None:
        parent = raw.get("parentId")
        parent = parent if isinstance(parent, str) else None
        entry = pi_entries.from_object(raw, str(raw["id"]), parent, rules=self._rules)
        event = entry.event
        if isinstance(event, Hidden):
            event = pi_entries.hiding(self.tree, event)
        self.tree.add(entry.id, entry.parent, entry.kind, event, entry.served)
        self.entries.append(raw)
        self.leaf = entry.id

    def _flush(self) -> None:
        if self.path is None or (self._wait and not any(_is_assistant(e) for e in self.entries)):
            return
        lines: list[dict[str, Any]] = []
        if self._written == 0:
            header = {
                "type": "session",
                "version": 3,
                "id": self.id,
                "timestamp": iso(self._now_ms()),
                "cwd": self.cwd,
            }
            if self._parent_session is not None:
                header["parentSession"] = self._parent_session
            lines.append(header)
        lines += self.entries[max(0, self._written - 1) :]
        append_lines(self.path, [encode(line) for line in lines])
        self._written += len(lines)


def _is_assistant(raw: Mapping[str, Any]) -> bool:
    message = raw.get("message")
    return isinstance(message, Mapping) and message.get("role") == "assistant"


def encode(raw: Mapping[str, Any]) -> bytes:
    """One line in pi's own spelling."""
    text = json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def iso(ms: int) -> str:
    """A time as session files write it."""
    moment = datetime.fromtimestamp(ms / 1000, tz=UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"
