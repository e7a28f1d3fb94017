"""Sessions as they are shown: each read once, then only what was added; and what they saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from holdfast.errors import HoldfastError
from holdfast.home import Home
from holdfast.ids import MAIN, EntityId
from holdfast.observed import Values
from holdfast.observed.logs import Times, Watched
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
"""Savings are told by the hour, for a quarter of a year."""

AGENT_SESSIONS_MAX = 24
"""Of agents' own sessions the newest are shown; each is a file that must be read."""


@dataclass(slots=True)
class Observed:
    """One session, followed: its tree, when its entries were made, and what was said in it."""

    host: SessionLog
    log: Watched | Times
    kind: str = "native"
    title: str = ""

    @property
    def tree(self) -> Tree:
        return self.host.tree


@dataclass(slots=True)
class Sessions:
    """Sessions of our own, and those of agents that told us of theirs; each read once, then only
    what was added."""

    store: Store
    now_ms: Callable[[], int]
    home: Home | None = None
    """Where agents' hooks leave word of their sessions; None looks at our own alone."""
    _known: dict[str, Observed] = field(default_factory=dict)

    def names(self) -> list[str]:
        """The names of our own sessions, without reading their entries."""
        names: list[str] = []
        first, last = EntityId("session:"), EntityId("session;")
        with self.store.reading() as engine:
            # One look per session: from its first entry we go on behind its last.
            while found := engine.tables.heads_between(MAIN, first, last, 1):
                name = found[0][0].removeprefix("session:").rpartition("/")[0]
                names.append(name)
                first = EntityId(f"session:{name}/~")
        return names

    def of_agents(self) -> dict[str, Binding]:
        """Sessions of other programs that their hooks told us of, the newest, by name."""
        if self.home is None:
            return {}
        newest = bindings.read_all(self.home)[:AGENT_SESSIONS_MAX]
        return {
            f"{found.host}.{found.session}": found
            for found in newest
            if os.path.isfile(found.transcript)
        }

    def all_names(self) -> list[str]:
        return [*self.names(), *self.of_agents()]

    def follow(self, name: str) -> Observed:
        """A session, caught up. Others must not append through it."""
        known = self._known.get(name)
        if known is None:
            bound = self.of_agents().get(name)
            known = self._known[name] = self._own(name) if bound is None else self._bound(bound)
        if isinstance(known.log, Times):
            known.log.catch_up()
        known.host.evidence()
        return known

    def _own(self, name: str) -> Observed:
        log = Watched(StoredLog(self.store, name, "observer"))
        return Observed(NativeSession(log, now_ms=self.now_ms, new_id=lambda: ""), log)

    def _bound(self, bound: Binding) -> Observed:
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
        return Observed(host, Times(bound.transcript), bound.host, title)

    def observe(self) -> tuple[dict[str, Values], list[Values]]:
        """Each session by name, and what all of them saved hour by hour."""
        seen: dict[str, Values] = {}
        hours: dict[int, list[Served]] = {}
        for name in self.all_names():
            try:
                observed = self.follow(name)
            except (HoldfastError, OSError) as error:
                seen[name] = _unreadable(name, error)
                continue
            seen[name] = _session_values(name, observed)
            tree = observed.tree
            for number, served in tree.served.items():
                at = observed.log.at.get(tree.ids[number], 0)
                hours.setdefault(at // HOUR_MS, []).append(served)
        newest = sorted(hours)[-HOURS_MAX:]
        return seen, [
            {"at": _iso(hour * HOUR_MS), **_cost(hours[hour])} for hour in newest if hour > 0
        ]


def _unreadable(name: str, error: Exception) -> Values:
    host = name.partition(".")[0]
    return {
        **_session_values(name, Observed(UnreadableLog(str(error)), Times(os.devnull), host, name)),
        "doubt": str(error),
    }


def _session_values(name: str, observed: Observed) -> Values:
    evidence = observed.host.evidence()
    tree = observed.tree
    times = [time for time in observed.log.at.values() if time]
    seen: Values = {
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
        seen |= {
            "leaf": evidence.leaf,
            "boundary": evidence.boundary,
            "files": len(paths),
            "scopes": sum(len(ledger.scopes(path)) for path in paths),
        }
    return seen


def _cost(answers: Iterable[Served]) -> Values:
    """What these answers sent and saved, in tokens."""
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
