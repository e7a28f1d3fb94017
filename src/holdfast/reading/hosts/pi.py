"""pi's session files: read them while pi writes, and write sessions of our own.

The active leaf of a file is its last line. Moves within the tree leave no trace in it, but a tool
call cannot happen before something was appended at the new place. A half-written or damaged last
line means that the real leaf is unknown: no trust until it is whole.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from holdfast.reading import meta as metas
from holdfast.reading.errors import NoSuchSession
from holdfast.reading.events import Hidden, Refreshed
from holdfast.reading.hosts import pi_entries
from holdfast.reading.hosts.lines import Follower, append_lines, loads
from holdfast.reading.hosts.pi_entries import STRICT, Entry, Header, Rules
from holdfast.reading.result import Answer
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Tree, evidence_at

_FEW = 8
"""Fewer new lines than this are decoded one by one."""


class PiLog:
    """A session file that pi writes; we only read. Cheap to ask again: it reads what is new."""

    counts_when_recorded = False

    def __init__(self, path: str | os.PathLike[str], *, rules: Rules = STRICT) -> None:
        self.path = os.fspath(path)
        self.rules = rules
        self.header: Header | None = None
        self.tree = Tree()
        self.leaf = NO_ENTRY
        self._follower = Follower(self.path)
        self._doubt: str | None = None
        self._whole_tail = False
        self._not_a_session = False

    def evidence(self) -> Evidence | Doubt:
        """What the file proves now."""
        try:
            self._catch_up()
        except OSError as error:
            return Doubt(f"the session file cannot be read: {error.strerror or error}")
        if self.header is None:
            return Doubt("the file does not begin with a session header")
        if self._doubt is not None:
            return Doubt(self._doubt)
        return evidence_at(self.tree, self.leaf, self.header.id)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Refused: pi would neither see an entry of ours nor continue from it."""
        from holdfast.reading.errors import NotOurs

        raise NotOurs(self.path)

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Nothing to do: pi keeps the metadata beside the result in its own log."""

    def _catch_up(self) -> None:
        grown = self._follower.look()
        if grown is None:
            return
        if self._whole_tail and not grown.restarted:
            # The last line got its newline or was extended: read the file again rather than guess.
            self._follower = Follower(self.path)
            grown = self._follower.look()
            assert grown is not None, "a first look always finds the file"
            self._reset()
        elif grown.restarted:
            self._reset()
        lines = [line for line in grown.lines if line.strip()]
        if grown.tail.strip():
            lines.append(grown.tail)
            self._whole_tail = True
        if self.header is None:
            lines = self._after_header(lines)
        if self.header is None:
            return
        if self.header.version >= 2 and len(lines) < _FEW:
            self._take(pi_entries.parse_entry(line, rules=self.rules) for line in lines)
        elif self.header.version >= 2:
            with _many(len(lines)):
                self._take(pi_entries.parse_entries(lines, rules=self.rules))
        else:
            for line in lines:
                self._take([self._unnamed(line)])

    def _reset(self) -> None:
        self.header, self.tree, self.leaf = None, Tree(), NO_ENTRY
        self._doubt, self._whole_tail, self._not_a_session = None, False, False

    def _after_header(self, lines: list[bytes]) -> list[bytes]:
        """The lines after the header, which is the first that is JSON at all."""
        for number, line in enumerate(lines):
            if self._not_a_session:
                break
            self.header = pi_entries.parse_header(line)
            if self.header is not None:
                return lines[number + 1 :]
            self._not_a_session = loads(line) is not None
        return []

    def _take(self, entries: Iterable[Entry | None]) -> None:
        """Add entries. What cannot be placed leaves a doubt that the next good one removes."""
        tree, damaged, leaf = self.tree, False, self.leaf
        for entry in entries:
            damaged = entry is None
            if entry is not None:
                edits = type(entry.event) is Hidden
                leaf = pi_entries.add(tree, entry) if edits else tree.add(*entry)
                self._doubt = None
        self.leaf = leaf
        if damaged:
            self._doubt = "the last line of the session file is damaged or half written"

    def _unnamed(self, line: bytes) -> Entry | None:
        """An entry of version 1, which has no ids: the next in a row.

        After a damaged line, which may have been a compaction, a new row begins.
        """
        raw = loads(line)
        if not isinstance(raw, Mapping):
            return None
        goes_on = self.leaf != NO_ENTRY and self._doubt is None
        parent = self.tree.ids[self.leaf] if goes_on else None
        return pi_entries.from_object(raw, f"line-{len(self.tree)}", parent, rules=self.rules)


@contextlib.contextmanager
def _many(count: int) -> Iterator[None]:
    """Pause garbage collection, which would scan thousands of new entries repeatedly."""
    pause = count > 1000 and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()


class PiSession:
    """A session in pi's format that this program owns, in memory and, with a path, on disk.

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
        pi_entries.add(self.tree, entry)
        self.entries.append(raw)
        self.leaf = entry.id

    def _flush(self) -> None:
        if self.path is None or (self._wait and not any(_is_assistant(e) for e in self.entries)):
            return
        lines: list[dict[str, Any]] = []
        if self._written == 0:
            header = {
                "type": "session",
                "version": pi_entries.VERSION,
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
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(ms / 1000, tz=UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"
