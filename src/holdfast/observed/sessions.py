"""Sessions as the dashboard shows them, and the tokens they saved. Logs are read incrementally."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from holdfast.errors import HoldfastError
from holdfast.home import Home
from holdfast.ids import MAIN, EntityId
from holdfast.observed import Values
from holdfast.observed.logs import FileTimes, TimedLog
from holdfast.reading.hosts import bindings
from holdfast.reading.hosts.bindings import Binding
from holdfast.reading.hosts.native import NativeSession
from holdfast.reading.meta import MODES
from holdfast.reading.savings import estimate
from holdfast.reading.session_log import SessionLog, UnreadableLog
from holdfast.reading.tree import NO_ENTRY, Doubt, Served, Tree
from holdfast.sessions import StoredLog
from holdfast.store.store import Store

BYTES_PER_TOKEN = 4

HOUR_MS = 3_600_000
HOURS_MAX = 24 * 90
"""Savings are summed by the hour and shown for 90 days."""

AGENT_SESSIONS_MAX = 24
"""Only the newest sessions of agents are shown, because each is a file to read."""


@dataclass(slots=True)
class ObservedSession:
    """One session: its tree and the times and texts of its entries."""

    host: SessionLog
    log: TimedLog | FileTimes
    kind: str = "native"
    title: str = ""

    @property
    def tree(self) -> Tree:
        return self.host.tree


@dataclass(slots=True)
class SessionObserver:
    """Observes Holdfast's own sessions and those that hooks reported; reads only additions."""

    store: Store
    now_ms: Callable[[], int]
    home: Home | None = None
    """Where agents' hooks report their sessions; None observes only our own."""
    _sessions: dict[str, ObservedSession] = field(default_factory=dict)

    def names(self) -> list[str]:
        """The names of Holdfast's own sessions, without reading their entries."""
        names: list[str] = []
        first, last = EntityId("session:"), EntityId("session;")
        with self.store.reading() as engine:
            # One query per session: skip from its first entry to after its last.
            while heads := engine.tables.heads_between(MAIN, first, last, 1):
                name = heads[0][0].removeprefix("session:").rpartition("/")[0]
                names.append(name)
                first = EntityId(f"session:{name}/~")
        return names

    def of_agents(self) -> dict[str, Binding]:
        """The newest sessions that agents' hooks reported, by name."""
        if self.home is None:
            return {}
        newest = bindings.read_all(self.home)[:AGENT_SESSIONS_MAX]
        return {
            f"{binding.host}.{binding.session}": binding
            for binding in newest
            if os.path.isfile(binding.transcript)
        }

    def all_names(self) -> list[str]:
        return [*self.names(), *self.of_agents()]

    def follow(self, name: str) -> ObservedSession:
        """A session with all entries read. Callers must not append to it."""
        session = self._sessions.get(name)
        if session is None:
            bound = self.of_agents().get(name)
            session = self._sessions[name] = (
                self._own(name) if bound is None else self._bound(bound)
            )
        if isinstance(session.log, FileTimes):
            session.log.catch_up()
        session.host.evidence()
        return session

    def _own(self, name: str) -> ObservedSession:
        log = TimedLog(StoredLog(self.store, name, "observer"))
        return ObservedSession(NativeSession(log, now_ms=self.now_ms, new_id=lambda: ""), log)

    def _bound(self, bound: Binding) -> ObservedSession:
        from holdfast.reading.hosts import detect

        assert self.home is not None
        host = detect.open_host(
            bound.transcript,
            self.home,
            now_ms=self.now_ms,
            new_id=lambda: "",
            kind=bound.host,
            newest_leaf=True,
        )
        title = f"{os.path.basename(bound.cwd.rstrip('/')) or bound.host} {bound.session[:8]}"
        return ObservedSession(host, FileTimes(bound.transcript), bound.host, title)

    def observe(self) -> tuple[dict[str, Values], list[Values]]:
        """Each session by name, and the savings of all sessions by hour."""
        by_name: dict[str, Values] = {}
        hours: dict[int, list[Served]] = {}
        for name in self.all_names():
            try:
                observed = self.follow(name)
            except (HoldfastError, OSError) as error:
                by_name[name] = _unreadable(name, error)
                continue
            by_name[name] = _session_values(name, observed)
            tree = observed.tree
            for number, served in tree.served.items():
                at = observed.log.at.get(tree.ids[number], 0)
                hours.setdefault(at // HOUR_MS, []).append(served)
        newest = sorted(hours)[-HOURS_MAX:]
        return by_name, [
            {"at": _iso(hour * HOUR_MS), **_cost(hours[hour])} for hour in newest if hour > 0
        ]


def _unreadable(name: str, error: Exception) -> Values:
    host = name.partition(".")[0]
    return {
        **_session_values(
            name, ObservedSession(UnreadableLog(str(error)), FileTimes(os.devnull), host, name)
        ),
        "doubt": str(error),
    }


def _session_values(name: str, observed: ObservedSession) -> Values:
    evidence = observed.host.evidence()
    tree = observed.tree
    times = [time for time in observed.log.at.values() if time]
    values: Values = {
        "name": observed.title or name,
        "host": observed.kind,
        "startedAt": _iso(min(times)) if times else None,
        "lastAt": _iso(max(times)) if times else None,
        "entries": len(tree),
        "compactions": sum(kind == "compaction" for kind in tree.kinds),
        "branches": len(tree) - len({p for p in tree.parents if p != NO_ENTRY}),
        "doubt": evidence.why if isinstance(evidence, Doubt) else None,
        "leaf": None,
        "boundary": "root",
        "files": 0,
        "scopes": 0,
        **_cost(tree.served.values()),
    }
    if not isinstance(evidence, Doubt):
        ledger = evidence.ledger
        paths = list(ledger.paths())
        values |= {
            "leaf": evidence.leaf,
            "boundary": evidence.boundary,
            "files": len(paths),
            "scopes": sum(len(ledger.scopes(path)) for path in paths),
        }
    return values


def _cost(answers: Iterable[Served]) -> Values:
    """The tokens that these answers sent and saved."""
    answers = list(answers)
    saved = estimate(answers)
    sent = sum(answer.served_bytes for answer in answers)
    return {
        "reads": len(answers),
        "modes": {mode: saved.counts[mode] for mode in MODES},
        "savedTokens": saved.tokens,
        "sentTokens": -(-sent // BYTES_PER_TOKEN),
    }


def _iso(ms: int) -> str:
    return (
        datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    )
