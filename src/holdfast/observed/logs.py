"""Times and texts of session entries, which the session tree does not keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from holdfast.reading.hosts.lines import Follower, loads
from holdfast.sessions import StoredLog


class TimedLog:
    """A session log that also keeps the time and text of each entry."""

    def __init__(self, log: StoredLog) -> None:
        self._log = log
        self.at: dict[str, int] = {}
        self.texts: dict[str, str] = {}

    @property
    def session(self) -> str:
        return self._log.session

    def append(self, entry: Mapping[str, Any]) -> None:
        raise AssertionError("an observer does not write")

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
                    self.texts[entry["id"]] = f"{who}: {text}" if isinstance(who, str) else text
        return restarted, fresh


class FileTimes:
    """The times of entries in an agent's session file, as far as its lines contain them.

    Agents name entries differently, so a line counts for every id in it.
    """

    def __init__(self, path: str) -> None:
        self._follower = Follower(path)
        self.at: dict[str, int] = {}
        self.texts: dict[str, str] = {}

    def catch_up(self) -> None:
        try:
            lines = self._follower.look()
        except OSError:
            return  # reading the session reports it
        for line in () if lines is None else lines.lines:
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
    """A timestamp of an agent in milliseconds; 0 if it is not one."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if not isinstance(text, str):
        return 0
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return 0
