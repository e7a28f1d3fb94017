"""What there is to show, as documents: codebases, sessions, savings, spaces, health.

Each observer looks at ground state with the same verbs that the commands use and says what it saw
as plain values. Nothing here writes, and nothing here is remembered that could not be looked up
again: the session trees are memos over their logs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.ids import MAIN, EntityId
from holdfast.mcp import bindings
from holdfast.mcp.bindings import Binding
from holdfast.reading.events import Refreshed
from holdfast.reading.hosts.lines import Follower, loads
from holdfast.reading.hosts.native import NativeSession
from holdfast.reading.meta import MODES
from holdfast.reading.reader import TreeHost
from holdfast.reading.savings import estimate
from holdfast.reading.tree import NOBODY, Doubt, Served, Tree
from holdfast.sessions import StoredLog
from holdfast.store.store import Store

if TYPE_CHECKING:
    from holdfast.index.code_index import CodeIndex
    from holdfast.index.gate import Gate
    from holdfast.index.record import Record

Values = dict[str, Any]

HOUR_MS = 3_600_000
HOURS_MAX = 24 * 90
"""Savings are told by the hour, for a quarter of a year."""

BYTES_PER_TOKEN = 4

AGENT_SESSIONS_MAX = 24
"""Of agents' own sessions the newest are shown; each is a file that must be read."""


def codebase_key(root: str) -> str:
    """A name for a root that is short, stable, and says nothing about the machine."""
    return hashlib.sha256(root.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# codebases


class Codebases:
    """Every tracked root: its state, its proof, how far a run is, and how fresh it is."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self._fresh: dict[str, Values] = {}

    def stale(self, root: str) -> None:
        """The tree changed: look at it again the next time."""
        self._fresh.pop(root, None)

    def roots(self) -> list[str]:
        """The roots that are there to be watched."""
        try:
            records = self._index.registry.records()
        except HoldfastError:
            return []
        return [root for root, record in records.items() if record.searchable]

    def observe(self) -> dict[str, Values]:
        """Raises when the registry cannot be read: an unreadable registry is not an empty one."""
        return {
            codebase_key(root): self._codebase(record)
            for root, record in self._index.registry.records().items()
        }

    def _codebase(self, record: Record) -> Values:
        gate = self._index.gate(record)
        seen = codebase_values(record, gate)
        if seen["state"] == "indexing":
            from holdfast.index.lifecycle import abandoned

            if abandoned(self._index, record) is not None:
                seen["abandoned"] = True
                seen["why"] = "The run was abandoned: its writer is gone."
                seen["command"] = f"holdfast index create {record.root}"
        seen["freshness"] = self._freshness(record) if seen["state"] == "ready" else None
        return seen

    def _freshness(self, record: Record) -> Values:
        updated = f"{record.root}\n{record.last_updated}"
        known = self._fresh.get(record.root)
        if known is None or known["of"] != updated:
            known = self._fresh[record.root] = {"of": updated, "is": self._look(record)}
        return dict(known["is"])

    def _look(self, record: Record) -> Values:
        from holdfast.index.code_index import policy_of

        index = self._index
        provider = index.provider if index.provider.local else None
        try:
            with index.backend.reader(record.root) as reader:
                found = index.freshness.look(
                    record.root, reader, policy_of(record.options), index.extract, provider
                )
        except (HoldfastError, OSError) as error:
            return {"mode": "unknown", "why": str(error)}
        removed = len(found.gone)
        return {
            "mode": "missing" if found.mode == "skipped_missing_path" else "looked",
            "added": found.added,
            "modified": found.modified,
            "removed": removed,
            "unread": found.beyond,
            "changed": found.added + found.modified + removed + found.beyond,
        }


def codebase_values(record: Record, gate: Gate) -> Values:
    """One root as it is shown: the gate's judgement in words, and the call that helps."""
    from holdfast.index.gate import Building, Failed, Incompatible, NotTracked, Open, Unproven
    from holdfast.index.record import Indexed, SyncCompleted, status_name

    seen: Values = {
        "root": record.root,
        "name": os.path.basename(record.root.rstrip("/")) or record.root,
        "recorded": status_name(record.state),
        "updatedAt": record.last_updated,
        "lastError": record.last_error,
        "progress": None,
        "abandoned": False,
        "files": None,
        "chunks": None,
        "partial": False,
        "settings": None if record.fingerprint is None else record.fingerprint.to_wire(),
        "command": None,
    }
    if isinstance(record.state, Indexed | SyncCompleted):
        state = record.state
        seen |= {"files": state.files, "chunks": state.chunks}
        seen["partial"] = state.index_status != "completed"
    match gate:
        case Open(_, marker, failure):
            proven = {"outcome": "valid", "at": marker.completed_at} if marker else None
            seen |= {"state": "ready", "why": "A completion marker proves this index."}
            seen["proof"] = proven or {"outcome": "probe_failed", "reason": failure}
            if marker is None:
                seen["why"] = f"The proof could not be looked at just now: {failure}."
        case Building(_, progress):
            previous = progress.previous
            seen |= {
                "state": "indexing",
                "proof": {"outcome": "none"},
                "progress": {"pct": round(progress.progress_pct, 1), "phase": progress.phase},
                "why": "A run is under way; until it ends, questions are answered not_ready.",
            }
            if isinstance(previous, Indexed | SyncCompleted):
                seen |= {"files": previous.files, "chunks": previous.chunks}
        case Incompatible(_, detail, reason, _):
            seen |= {
                "state": "requires_reindex",
                "proof": {"outcome": "fingerprint_mismatch", "reason": reason},
                "why": detail,
                "command": f"holdfast index reindex {record.root}",
            }
        case Unproven(_, reason):
            seen |= {
                "state": "unproven",
                "proof": {"outcome": "stale_local", "reason": reason.value},
                "why": f"The registry says indexed, and nothing proves it ({reason.value}).",
                "command": f"holdfast index create {record.root}",
            }
        case Failed(_, failure):
            at = "" if failure.last_pct is None else f" at {failure.last_pct:.0f} %"
            seen |= {
                "state": "failed",
                "proof": {"outcome": "none"},
                "why": f"The last run failed{at}: {failure.error or 'unknown'}.",
                "command": f"holdfast index create {record.root}",
            }
        case NotTracked():
            raise AssertionError("a record is tracked")
    return seen


# sessions


class _Watched:
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


@dataclass(slots=True)
class Observed:
    """One session, followed: its tree, when its entries were made, and what was said in it."""

    host: TreeHost
    log: _Watched | Times
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
    home: Path | None = None
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
        log = _Watched(StoredLog(self.store, name, "observer"))
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
        **_session_values(name, Observed(_Nothing(str(error)), Times(os.devnull), host, name)),
        "doubt": str(error),
    }


class _Nothing:
    """A session that cannot be read proves nothing."""

    def __init__(self, why: str) -> None:
        self._why, self.tree = why, Tree()

    def evidence(self) -> Doubt:
        return Doubt(self._why)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        raise AssertionError("an observer only looks")


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
        "branches": len(tree) - len({p for p in tree.parents if p != NOBODY}),
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


def _iso(ms: int) -> str:
    return (
        datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    )


# spaces


def space_values(name: str, store: Store) -> Values:
    """How far a space has come, and its branches."""
    return {
        "name": name,
        "seq": int(store.newest_seq()),
        "branches": [branch.to_wire() for branch in store.branches()],
    }
