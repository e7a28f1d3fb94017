"""pi's session files, read while pi writes them.

The active leaf of a file is its last line. Moving within the tree writes nothing, but a tool call
cannot happen before something was appended at the new place. A half-written or damaged last line
means that the real leaf is unknown: no trust until the line is complete.
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterable, Iterator, Mapping

from holdfast.reading.events import Hidden, Pieced, Refreshed
from holdfast.reading.hosts import pi_entries
from holdfast.reading.hosts.lines import Follower, loads
from holdfast.reading.hosts.pi_entries import STRICT, Entry, Header, Rules
from holdfast.reading.hosts.pi_lines import PiCalls
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.result import Answer
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Tree, evidence_at

_FEW = 8
"""Fewer new lines than this are decoded one by one."""


class PiLog:
    """A session file that pi writes and we only read. Later calls read only what is new."""

    counts_when_recorded = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        sidecar: Sidecar | None = None,
        *,
        rules: Rules = STRICT,
    ) -> None:
        self.path = os.fspath(path)
        self.sidecar = sidecar
        self.rules = rules
        self.header: Header | None = None
        self.tree = Tree()
        self.leaf = NO_ENTRY
        self._follower = Follower(self.path)
        self._doubt: str | None = None
        self._whole_tail = False
        self._not_a_session = False
        self._calls = PiCalls(sidecar)

    def evidence(self) -> Evidence | Doubt:
        """What the file proves now."""
        try:
            if self.sidecar is not None:
                self.sidecar.catch_up()
            self._catch_up()
        except OSError as error:
            return Doubt(f"the session file cannot be read: {error.strerror or error}")
        if self.header is None:
            return Doubt("the file does not begin with a session header")
        if self._doubt is not None:
            return Doubt(self._doubt)
        return evidence_at(self.tree, self.leaf, self.header.id)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Refused: pi would not see our entry, nor continue from it."""
        from holdfast.reading.errors import NotOurs

        raise NotOurs(self.path)

    def record_short(
        self, event: Pieced, text: str, call: str, rule: str = "", saved_bytes: int = 0
    ) -> None:
        """Note a short form of pi's own result; it counts once the session shows its text."""
        if self.sidecar is not None:
            self.sidecar.record_short(call, event, text, rule, saved_bytes)

    def was_folded(self, path: str) -> bool:
        """Whether a read of this file was ever folded in this session."""
        if self.sidecar is None:
            return True
        self.sidecar.catch_up()
        return bool(self.sidecar.folded(path))

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Nothing to do: pi stores the metadata with the result in its own log."""

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
            self._take([pi_entries.parse_entry(line, rules=self.rules) for line in lines], lines)
        elif self.header.version >= 2:
            with _many(len(lines)):
                self._take(pi_entries.parse_entries(lines, rules=self.rules), lines)
        else:
            for line in lines:
                self._take([self._unnamed(line)], [line])

    def _reset(self) -> None:
        self.header, self.tree, self.leaf = None, Tree(), NO_ENTRY
        self._doubt, self._whole_tail, self._not_a_session = None, False, False
        self._calls = PiCalls(self.sidecar)

    def _after_header(self, lines: list[bytes]) -> list[bytes]:
        """The lines after the header, which is the first line that is JSON."""
        for number, line in enumerate(lines):
            if self._not_a_session:
                break
            self.header = pi_entries.parse_header(line)
            if self.header is not None:
                return lines[number + 1 :]
            self._not_a_session = loads(line) is not None
        return []

    def _take(self, entries: Iterable[Entry | None], lines: list[bytes]) -> None:
        """Add entries. One that cannot be placed sets a doubt, which the next good one clears."""
        tree, damaged, leaf = self.tree, False, self.leaf
        cwd = "" if self.header is None else self.header.cwd
        for entry, line in zip(entries, lines, strict=True):
            damaged = entry is None
            if entry is not None:
                # Not `_replace`: a long log has tens of thousands of entries.
                name, parent, kind, event, served = entry
                if event is None:
                    event = self._calls.event(line, cwd)
                if type(event) is Hidden:
                    event = pi_entries.hiding(tree, event)
                leaf = tree.add(name, parent, kind, event, served, len(line))
                self._doubt = None
        self.leaf = leaf
        if damaged:
            self._doubt = "the last line of the session file is damaged or half written"

    def _unnamed(self, line: bytes) -> Entry | None:
        """An entry of version 1, which has no ids: the child of the entry before it.

        After a damaged line, which may have been a compaction, a new chain begins.
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
