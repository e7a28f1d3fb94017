"""Our own session log: entries with parents, in any log that can append and iterate.

    {"v":1,"id":…,"parent":…,"kind":"read","at":…,"text":…,"meta":{…}}

Entry kinds: `message`, `read`, `refresh`, `compaction`, `context_edit`, and any other, which is
kept and ignored. `move` is not part of the tree: it says where the leaf is now, so that a
session resumes exactly where it was. Every appended entry moves the leaf to itself.

Format history
    1   first version
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import msgspec

from holdfast.files.regular import open_regular
from holdfast.reading import meta as metas
from holdfast.reading.errors import NoSuchSession
from holdfast.reading.events import Barrier, Event, Hidden, Refreshed
from holdfast.reading.hosts.lines import Follower, append_lines
from holdfast.reading.hosts.pi_entries import STRICT, read_event
from holdfast.reading.result import Answer
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Served, Tree, evidence_at

FORMAT_VERSION = 1


class EntryLog(Protocol):
    """Where a native session keeps its entries. Appends are durable when they return."""

    @property
    def session(self) -> str:
        """The session's id."""
        ...

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add one entry at the end, whole or not at all."""
        ...

    def grown(self) -> tuple[bool, Iterable[Mapping[str, Any] | None]]:
        """Entries since the last call, None for each that is damaged.

        The flag is True when the log was replaced and the entries are all of it. Raises OSError
        when the log cannot be read.
        """
        ...

    def entries(self) -> Iterable[Mapping[str, Any]]:
        """Every complete entry from the first on, including those already returned."""
        ...


class FileLog:
    """A log in a file of JSON lines; any number of processes may append.

    The first line names the format and the session.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._follower = Follower(self.path)
        self._begun = False
        self._session = self._read_header()

    @classmethod
    def create(cls, path: str | os.PathLike[str], session: str) -> FileLog:
        """Start a log in a file that does not exist yet."""
        name = os.fspath(path)
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        append_lines(name, [msgspec.json.encode(_header(session))])
        return cls(name)

    def _read_header(self) -> str:
        try:
            with open(open_regular(self.path), "rb") as file:
                line = file.readline(4096)
            raw = msgspec.json.decode(line)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise NoSuchSession(self.path, str(error)) from error
        if not isinstance(raw, dict) or raw.get("format") != "holdfast-session":
            raise NoSuchSession(self.path, "its first line is not a session header")
        if raw.get("v") != FORMAT_VERSION or not isinstance(raw.get("session"), str):
            raise NoSuchSession(self.path, f"format version {raw.get('v')!r} is not known")
        return str(raw["session"])

    @property
    def session(self) -> str:
        return self._session

    def append(self, entry: Mapping[str, Any]) -> None:
        append_lines(self.path, [msgspec.json.encode(entry)])

    def entries(self) -> Iterable[Mapping[str, Any]]:
        with open(open_regular(self.path), "rb") as file:
            file.readline()
            for line in file:
                entry = _decoded(line)
                if entry is not None:
                    yield entry

    def grown(self) -> tuple[bool, Iterable[Mapping[str, Any] | None]]:
        growth = self._follower.look()
        if growth is None:
            return False, ()
        lines = growth.lines
        entries = [_decoded(line) for line in lines if line.strip()]
        if growth.tail.strip():
            # An incomplete entry counts as damaged; its line is read again once it is complete.
            entries.append(None)
        if growth.restarted or not self._begun:
            # Only the first line of the file is the header.
            entries, self._begun = entries[1:], True
        return growth.restarted, entries


def _header(session: str) -> dict[str, Any]:
    return {"format": "holdfast-session", "v": FORMAT_VERSION, "session": session}


def _decoded(line: bytes) -> Mapping[str, Any] | None:
    try:
        raw = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


class NativeSession:
    """Our own session over a log: the tree, the leaf, and the verbs that append."""

    counts_when_recorded = True

    def __init__(
        self, log: EntryLog, *, now_ms: Callable[[], int], new_id: Callable[[], str]
    ) -> None:
        self.log = log
        self.tree = Tree()
        self.leaf: str | None = None
        self._now_ms, self._new_id = now_ms, new_id
        self._generation = 0
        self._doubt: str | None = None

    def evidence(self) -> Evidence | Doubt:
        """What the log proves now."""
        try:
            self.catch_up()
        except OSError as error:
            return Doubt(f"the session log cannot be read: {error.strerror or error}")
        if self._doubt is not None:
            return Doubt(self._doubt)
        leaf = self.tree.number(self.leaf)
        return evidence_at(self.tree, leaf, self.log.session, self._generation)

    def catch_up(self) -> None:
        """Read the entries that were appended since, by any process."""
        restarted, entries = self.log.grown()
        if restarted:
            self.tree, self.leaf, self._doubt = Tree(), None, None
            self._generation += 1
        for entry in entries:
            self._take(entry)

    def _take(self, raw: Mapping[str, Any] | None) -> None:
        entry = None if raw is None else raw.get("id")
        if raw is None or not isinstance(entry, str) or not entry:
            self._doubt = "the last entry of the session log is damaged or half written"
            return
        kind, parent = str(raw.get("kind")), raw.get("parent")
        self._doubt = None
        if kind == "move":
            target = raw.get("to")
            self.leaf = target if isinstance(target, str) else None
            self._generation += 1
            if target is not None and self.tree.number(self.leaf) == NO_ENTRY:
                self._doubt = "the session moved to an entry that is not in its log"
            return
        event, served = _event(raw, kind)
        self.tree.add(entry, parent if isinstance(parent, str) else None, kind, event, served)
        self.leaf = entry

    # Verbs

    def append(self, kind: str, **fields: Any) -> str:
        """Add an entry below the leaf and move to it; returns its id."""
        self.catch_up()
        entry = self._new_id()
        while self.tree.number(entry) != NO_ENTRY:
            entry = self._new_id()
        head = {"v": FORMAT_VERSION, "id": entry, "parent": self.leaf, "kind": kind}
        self.log.append({**head, "at": self._now_ms(), **fields})
        self.catch_up()
        return entry

    def say(self, role: str, text: str) -> str:
        """Add a message of the user or the assistant."""
        return self.append("message", role=role, text=text)

    def append_read(self, answer: Answer) -> str:
        """Add the result of a read."""
        # Without metadata an answer claims nothing: it is an image, or text that is never kept.
        fields: dict[str, Any] = {"text": "" if answer.meta is None else answer.text}
        if answer.meta is not None:
            fields["meta"] = answer.meta.as_json()
        if answer.truncation is not None:
            fields["printed_lines"] = answer.truncation.lines_printed
        return self.append("read", **fields)

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Note that an answer was delivered; from then on it counts."""
        self.append_read(answer)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Note that the model's copy of a scope no longer counts."""
        self.append("refresh", data=metas.refresh_json(event, at_ms))

    def compact(self, summary: str) -> str:
        """Note that a summary replaced everything before it."""
        return self.append("compaction", summary=summary)

    def edit_context(self, target: str, replacement: str | None = None) -> str:
        """Note that an entry was removed from the context, or replaced by another text."""
        return self.append("context_edit", target=target, replacement=replacement)

    def move(self, entry: str | None) -> None:
        """Move the leaf to another entry, or before the first; the next entry becomes its child."""
        self.catch_up()
        if entry is not None and self.tree.number(entry) == NO_ENTRY:
            raise NoSuchSession(self.log.session, f"no entry {entry}")
        self.log.append({"v": FORMAT_VERSION, "id": self._new_id(), "kind": "move", "to": entry})
        self.catch_up()

    def fork(self, log: EntryLog, up_to: str | None = None) -> NativeSession:
        """A new session that begins with copies of the path to `up_to`, or to the leaf."""
        self.catch_up()
        ids = {self.tree.ids[at] for at in self.tree.path(self.tree.number(up_to or self.leaf))}
        for entry in self.log.entries():
            if entry.get("id") in ids and entry.get("kind") != "move":
                log.append(entry)
        other = NativeSession(log, now_ms=self._now_ms, new_id=self._new_id)
        other.catch_up()
        return other


def _event(raw: Mapping[str, Any], kind: str) -> tuple[Event | None, Served | None]:
    if raw.get("v") != FORMAT_VERSION:
        # Written by a later version, so its meaning is unknown.
        return Barrier(), None
    if kind == "compaction":
        return Barrier(), None
    if kind == "context_edit":
        target = raw.get("target")
        return (Hidden((target,)) if isinstance(target, str) and target else Barrier()), None
    if kind == "refresh":
        return metas.parse_refresh(raw.get("data")), None
    if kind == "read":
        text, printed = raw.get("text"), raw.get("printed_lines")
        shown = text if isinstance(text, str) else ""
        truncation = None if printed is None else {"outputLines": printed}
        return read_event(raw.get("meta"), truncation, shown, rules=STRICT)
    return None, None
