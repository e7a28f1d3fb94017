"""When the entries of a session were made, and what was said in it: what its tree does not keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from holdfast.reading.hosts.lines import Follower, loads
from holdfast.sessions import StoredLog


class Watched:
    """A session's log that also remembers when each entry was made, and what was said."""

    def __init__(self, log: StoredLog) -> None:
        self._log = log
        self.at: dict[str, int] = {}
        self.said: dict[str, str] = {}

    @property
    def session(self) -> str:
        return self._log.session

    def append(self, entry: Mapping[str, Any]) -> None:
        raise AssertionError("an observer only looks")

    def entries(self) -> Iterable[Mapping[str, Any]]:
        return self._log.entries()

    def grown(self) -> tuple[bool, Iterable[Mapping[str, Any] | None]]:
        restarted, fresh = self._log.grown()
        fresh = list(fresh)
        for entry in fresh:
            if entry is not None and isinstance(entry.get("id"), str):
                at = entry.get("at")
                self.at[entry["id"]] = at if isinstance(at, int) else 0
                text = entry.get("summary") or (
                    entry.get("text") if entry.get("kind") == "message" else None
                )
                if isinstance(text, str):
                    who = entry.get("role")
                    self.said[entry["id"]] = f"{who}: {text}" if isinstance(who, str) else text
        return restarted, fresh


class Times:
    """When the entries of an agent's own session file were made, as far as its lines say.

    Agents differ in what they call an entry; a line is taken for every id it has.
    """

    def __init__(self, path: str) -> None:
        self._follower = Follower(path)
        self.at: dict[str, int] = {}
        self.said: dict[str, str] = {}

    def catch_up(self) -> None:
        try:
            found = self._follower.look()
        except OSError:
            return  # the session itself will say so
        for line in () if found is None else found.lines:
            raw = loads(line) if line.strip() else None
            if isinstance(raw, dict):
                self._take(raw)

    def _take(self, raw: Mapping[str, Any]) -> None:
        payload = raw.get("payload")
        named = (raw, payload) if isinstance(payload, Mapping) else (raw,)
        ids = [part.get(name) for part in named for name in ("uuid", "id", "call_id")]
        at = _ms_of(raw.get("timestamp"))
        for id in ids:
            if isinstance(id, str) and at:
                self.at[id] = at


def _ms_of(text: object) -> int:
    """A time as agents write it, in milliseconds; 0 if it is none."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if not isinstance(text, str):
        return 0
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return 0
