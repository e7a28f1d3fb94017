"""What we said in a session whose file is not ours to write.

Claude Code and Codex write their transcripts themselves, so the metadata of our answers goes into a
file of our own beside them, one per session:

    {"v":1,"kind":"served","call":<call id>,"text_sha256":…,"meta":{…}}
    {"v":1,"kind":"invalidate","after":<call or entry id>,"data":{…}}

A record counts only where the transcript shows exactly the text it was made for: an agent may
shorten, replace or drop a result, and then the record proves nothing.

Format history
    1   first version
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.reading import meta as metas
from holdfast.reading.events import Event, Refreshed
from holdfast.reading.hosts.lines import Follower, append_lines, loads
from holdfast.reading.meta import Meta
from holdfast.reading.result import Answer
from holdfast.reading.tree import Served

FORMAT_VERSION = 1


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


class Sidecar:
    """Our records of one session, followed as they grow."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.served: dict[str, Record] = {}
        self.refreshed: dict[str, list[Refreshed]] = {}
        self.version = 0
        """Grows whenever something new was read."""
        self.touched: set[str] = set()
        """Calls and entries with new records; the adapter that has processed them clears it."""
        self._follower = Follower(self.path)

    def catch_up(self) -> None:
        """Read what is new; a missing file has nothing. Raises OSError for other trouble."""
        try:
            grown = self._follower.look()
        except FileNotFoundError:
            return
        if grown is None:
            return
        self.version += 1
        if grown.restarted:
            self.touched.update(self.served, self.refreshed)
            self.served.clear()
            self.refreshed.clear()
        for line in grown.lines:
            self._take(loads(line))

    def _take(self, raw: object) -> None:
        if not isinstance(raw, Mapping) or raw.get("v") != FORMAT_VERSION:
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
        elif raw.get("kind") == "invalidate":
            event, after = metas.parse_refresh(raw.get("data")), raw.get("after")
            if event is not None and isinstance(after, str):
                self.touched.add(after)
                self.refreshed.setdefault(after, []).append(event)

    def record(self, call: str, answer: Answer) -> None:
        """Keep what this answer claims, under the id of the call it answers."""
        if answer.meta is None:
            return
        self._append(
            {
                "v": FORMAT_VERSION,
                "kind": "served",
                "call": call,
                "text_sha256": text_digest(answer.text),
                "bytes": len(answer.text.encode("utf-8", "surrogatepass")),
                "truncated": answer.truncation is not None,
                "meta": answer.meta.as_json(),
            }
        )

    def refresh(self, event: Refreshed, at_ms: int, after: str) -> None:
        """Keep a refresh that happened after this call or entry."""
        data = metas.refresh_json(event, at_ms)
        self._append({"v": FORMAT_VERSION, "kind": "invalidate", "after": after, "data": data})

    def _append(self, raw: dict[str, Any]) -> None:
        import msgspec

        os.makedirs(os.path.dirname(self.path) or ".", mode=0o700, exist_ok=True)
        append_lines(self.path, [msgspec.json.encode(raw)])
