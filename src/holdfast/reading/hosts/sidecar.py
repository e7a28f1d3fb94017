"""Our records of a session whose log another program writes.

Claude Code and Codex write their transcripts themselves, so the metadata of our answers goes into a
file of our own beside them, one per session:

    {"v":1,"kind":"served","call":<call id>,"text_sha256":…,"meta":{…}}
    {"v":1,"kind":"invalidate","after":<call or entry id>,"data":{…}}
    {"v":3,"kind":"short","call":<call id>,"text_sha256":…,"path":…,"digest":…,"whole":…,
     "pieces":[[first line, lines, number before or null or 0 when folded],…],
     "rule":…,"saved_bytes":…}
    {"v":4,"kind":"edit","call":<call id>,"path":…,
     "made":[[[first line, [old lines], [new lines]],…],[lines written in full]] or
            [old text, new text, everywhere, [[first line, lines before, lines after],…]]}
    {"v":5,"kind":"shown","call":<call id>,"text_sha256":…,"excerpt":…,
     "lines":[[path, first line, [lines]],…]}

A record counts only where the transcript shows exactly the text it was made for: an agent may
shorten, replace or drop a result, and then the record proves nothing.

Format history
    1   first version
    2   `short`: our replacement for a result of the agent's own tool
    3   `short` may have folded lines, and has the rule and how much was saved
    4   `edit`: where an edit was made, for logs that do not record it
    5   `shown`: the lines of files that an answer of our other tools printed as they are
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from holdfast.reading import meta as metas
from holdfast.reading.events import (
    FOLDED,
    Event,
    Hunk,
    Patched,
    Piece,
    Pieced,
    Place,
    Printed,
    Refreshed,
    Replaced,
    Seen,
)
from holdfast.reading.hosts.lines import Follower, append_lines, loads
from holdfast.reading.meta import Meta
from holdfast.reading.result import Answer
from holdfast.reading.tree import Served

FORMAT_VERSION = 5
UNDERSTOOD = (1, 2, 3, 4, 5)


_Hunk = tuple[int, tuple[str, ...], tuple[str, ...]]


def text_digest(text: str) -> str:
    """The digest by which a record identifies its text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def texts_of(output: Any) -> Iterator[str]:
    """Every text that an output may carry: plain, in blocks, or as JSON of either."""
    if isinstance(output, str):
        yield output
        if output[:1] in ("{", "["):
            inner = loads(output.encode("utf-8", "surrogatepass"))
            if inner is not None and not isinstance(inner, str):
                yield from texts_of(inner)
    elif isinstance(output, list):
        blocks = [b.get("text") for b in output if isinstance(b, Mapping)]
        if len(blocks) == len(output) == 1 and isinstance(blocks[0], str):
            yield blocks[0]
    elif isinstance(output, Mapping):
        yield from texts_of(output.get("content"))


@dataclass(frozen=True, slots=True)
class Record:
    """The metadata of one answer, and the digest of its text."""

    meta: Meta
    text_sha256: str
    served_bytes: int
    truncated: bool

    def event(self) -> Event:
        return self.meta.event()

    def served(self) -> Served:
        m = self.meta
        return Served(
            m.mode, m.lines_total, m.first, m.last, m.size_bytes, self.served_bytes, self.truncated
        )


@dataclass(frozen=True, slots=True)
class ShortRecord:
    """What we sent instead of a result of the agent's own tool, and the digest of that text."""

    event: Pieced
    text_sha256: str
    rule: str = ""
    saved_bytes: int = 0

    @property
    def folds(self) -> bool:
        return any(piece.before == FOLDED for piece in self.event.pieces)


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """The lines of files that an answer printed as they are, and the digest of its text."""

    lines: tuple[Printed, ...]
    text_sha256: str


class Sidecar:
    """Our records of one session, followed as they grow."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.served: dict[str, Record] = {}
        self.short: dict[str, ShortRecord] = {}
        self.edits: dict[str, list[Patched | Replaced]] = {}
        self.shown: dict[str, ShownRecord] = {}
        self.refreshed: dict[str, list[Refreshed]] = {}
        self.version = 0
        """Incremented whenever something new was read."""
        self.touched: set[str] = set()
        """Calls and entries with new records; the adapter that has processed them clears it."""
        self._follower = Follower(self.path)

    def catch_up(self) -> None:
        """Read new records; a missing file has none. Raises OSError for other failures."""
        try:
            grown = self._follower.look()
        except FileNotFoundError:
            return
        if grown is None:
            return
        self.version += 1
        if grown.restarted:
            records = (self.served, self.short, self.edits, self.shown, self.refreshed)
            self.touched.update(*records)
            self.served.clear()
            self.short.clear()
            self.edits.clear()
            self.shown.clear()
            self.refreshed.clear()
        for line in grown.lines:
            self._take(loads(line))

    def _take(self, raw: object) -> None:
        if not isinstance(raw, Mapping) or raw.get("v") not in UNDERSTOOD:
            return
        if raw.get("kind") == "served":
            meta, call, digest = (
                metas.parse(raw.get("meta")),
                raw.get("call"),
                raw.get("text_sha256"),
            )
            size = raw.get("bytes")
            if meta is not None and isinstance(call, str) and isinstance(digest, str):
                size = size if isinstance(size, int) and not isinstance(size, bool) else 0
                self.touched.add(call)
                self.served[call] = Record(meta, digest, size, raw.get("truncated") is True)
        elif raw.get("kind") == "short":
            short, call, digest = _short(raw), raw.get("call"), raw.get("text_sha256")
            if short is not None and isinstance(call, str) and isinstance(digest, str):
                self.touched.add(call)
                saved, rule = raw.get("saved_bytes"), raw.get("rule")
                self.short[call] = ShortRecord(
                    short, digest, str(rule or ""), saved if _is_count(saved) else 0
                )
        elif raw.get("kind") == "edit":
            edit, call = _edit(raw), raw.get("call")
            if edit is not None and isinstance(call, str):
                self.touched.add(call)
                self.edits.setdefault(call, []).append(edit)
        elif raw.get("kind") == "shown":
            lines, call, digest = _printed(raw), raw.get("call"), raw.get("text_sha256")
            if lines is not None and isinstance(call, str) and isinstance(digest, str):
                self.touched.add(call)
                self.shown[call] = ShownRecord(lines, digest)
        elif raw.get("kind") == "invalidate":
            event, after = metas.parse_refresh(raw.get("data")), raw.get("after")
            if event is not None and isinstance(after, str):
                self.touched.add(after)
                self.refreshed.setdefault(after, []).append(event)

    def record(self, call: str, answer: Answer) -> None:
        """Record what this answer claims, under the id of the call it answers."""
        if answer.meta is None:
            return
        served = {
            "v": 1,
            "kind": "served",
            "call": call,
            "text_sha256": text_digest(answer.text),
            "bytes": len(answer.text.encode("utf-8", "surrogatepass")),
            "truncated": answer.truncation is not None,
            "meta": answer.meta.as_json(),
        }
        # Together: without the lines, the answer would prove more than it showed.
        shown = [_shown_record(call, answer.text, answer.printed)] if answer.printed else []
        self._append(*shown, served)

    def folded(self, path: str) -> list[tuple[str, ShortRecord]]:
        """The answers that folded lines of this file, with their calls."""
        records = self.short.items()
        return [(call, one) for call, one in records if one.event.path == path and one.folds]

    def record_short(
        self, call: str, event: Pieced, text: str, rule: str = "", saved_bytes: int = 0
    ) -> None:
        """Record what was sent instead of the result of this call."""
        self._append(
            {
                "v": 3,
                "kind": "short",
                "call": call,
                "text_sha256": text_digest(text),
                "path": event.path,
                "digest": event.digest,
                "whole": event.whole,
                "pieces": [list(piece) for piece in event.pieces],
                "rule": rule,
                "saved_bytes": saved_bytes,
            }
        )

    def record_edit(self, call: str, events: Sequence[Seen]) -> None:
        """Record where the edit of this call was made, if that is known completely."""
        edits = [one for one in events if isinstance(one, Patched | Replaced)]
        for one in edits if len(edits) == len(events) else ():
            details: list[Any]
            if isinstance(one, Patched):
                details = [[list(hunk) for hunk in one.hunks], sorted(one.written)]
            else:
                details = [one.old, one.new, one.every, [list(place) for place in one.places]]
            line = {"v": 4, "kind": "edit", "call": call, "path": one.path}
            self._append({**line, "made": details})

    def record_shown(self, call: str, text: str, lines: Sequence[Printed]) -> None:
        """Record the lines that the answer to this call printed; all are excerpts, or none is."""
        if lines:
            self._append(_shown_record(call, text, lines))

    def shown_events(self, call: str, digests: Collection[str]) -> tuple[Printed, ...]:
        """The lines that the answer to this call printed, if one of these digests is its text's."""
        answer = self.shown.get(call)
        return () if answer is None or answer.text_sha256 not in digests else answer.lines

    def refresh(self, event: Refreshed, at_ms: int, after: str) -> None:
        """Record a refresh that happened after this call or entry."""
        data = metas.refresh_json(event, at_ms)
        line = {"v": 1, "kind": "invalidate", "after": after, "data": data}
        self._append(line, durable=True)

    def _append(self, *raw: dict[str, Any], durable: bool = False) -> None:
        """Add records. Losing all of an answer is safe: then the answer proves nothing."""
        import msgspec

        os.makedirs(os.path.dirname(self.path) or ".", mode=0o700, exist_ok=True)
        append_lines(self.path, [msgspec.json.encode(one) for one in raw], durable=durable)


class SidecarRecords:
    """What a log does to record our answers, if it has a sidecar."""

    sidecar: Sidecar | None

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Note what an answer claims; it counts once the log shows its text."""
        if self.sidecar is not None and call is not None:
            self.sidecar.record(call, answer)

    def record_short(
        self, event: Pieced, text: str, call: str, rule: str = "", saved_bytes: int = 0
    ) -> None:
        """Note a short form of the agent's own result; it counts once the log shows its text."""
        if self.sidecar is not None:
            self.sidecar.record_short(call, event, text, rule, saved_bytes)

    def record_shown(self, lines: Sequence[Printed], text: str, call: str) -> None:
        """Note the lines that an answer printed; they count once the log shows its text."""
        if self.sidecar is not None:
            self.sidecar.record_shown(call, text, lines)


def _shown_record(call: str, text: str, lines: Sequence[Printed]) -> dict[str, Any]:
    """The record of the lines that an answer printed."""
    line = {"v": FORMAT_VERSION, "kind": "shown", "call": call, "excerpt": lines[0].excerpt}
    shown = [[one.path, one.first, list(one.rows)] for one in lines]
    return {**line, "text_sha256": text_digest(text), "lines": shown}


def _short(raw: Mapping[str, Any]) -> Pieced | None:
    """The short answer in a record, or None when any part of it is not valid."""
    path, digest, rows = raw.get("path"), raw.get("digest"), raw.get("pieces")
    if not (isinstance(path, str) and isinstance(digest, str) and isinstance(rows, list)):
        return None
    pieces = []
    for one in rows:
        if not isinstance(one, list) or len(one) != 3:
            return None
        first, lines, before = one
        is_start = before is None or before == FOLDED or _is_count(before)
        if not (_is_count(first) and _is_count(lines) and is_start and before is not False):
            return None
        pieces.append(Piece(first, lines, before))
    return Pieced(path, tuple(pieces), digest, raw.get("whole") is True) if pieces else None


def _edit(raw: Mapping[str, Any]) -> Patched | Replaced | None:
    """The edit in a record, or None when any part of it is not valid."""
    import msgspec

    path, change = raw.get("path"), raw.get("made")
    if not isinstance(path, str) or not isinstance(change, list):
        return None
    try:
        if len(change) == 2:
            hunks, written = msgspec.convert(change, tuple[list[_Hunk], list[str]])
            return Patched(path, tuple(Hunk(*hunk) for hunk in hunks), frozenset(written))
        old, new, every, places = msgspec.convert(
            change, tuple[str, str, bool, list[tuple[int, int, int]]]
        )
    except msgspec.ValidationError:
        return None
    return Replaced(path, old, new, every, tuple(Place(*place) for place in places))


def _printed(raw: Mapping[str, Any]) -> tuple[Printed, ...] | None:
    """The lines in a record, or None when any part of it is not valid."""
    import msgspec

    try:
        lines = msgspec.convert(raw.get("lines"), list[tuple[str, int, tuple[str, ...]]])
    except msgspec.ValidationError:
        return None
    if not all(rows and _is_count(first) for _, first, rows in lines):
        return None
    excerpt = raw.get("excerpt") is True
    return tuple(Printed(path, first, rows, excerpt=excerpt) for path, first, rows in lines)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 10**9
