"""Every tracked root as the dashboard shows it: state, proof, progress of a run, freshness."""

from __future__ import annotations

import hashlib
import os
from shlex import quote
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.observed import Values

if TYPE_CHECKING:
    from holdfast.index.code_index import CodeIndex
    from holdfast.index.generations.gate import Gate
    from holdfast.index.generations.record import Record


def codebase_key(root: str) -> str:
    """A short, stable name for a root that does not reveal its path."""
    return hashlib.sha256(root.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class CodebaseObserver:
    """Observes every tracked root: state, proof, progress of a run, freshness."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self._fresh: dict[str, Values] = {}

    def stale(self, root: str) -> None:
        """Check a tree again at the next update, because it changed."""
        self._fresh.pop(root, None)

    def roots(self) -> list[str]:
        """The roots that can be watched."""
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
        gate = self._index.spot_checked_gate(record)
        values = codebase_values(record, gate)
        if values["state"] == "indexing":
            from holdfast.index.building.lifecycle import abandoned

            if abandoned(self._index, record) is not None:
                values["abandoned"] = True
                values["why"] = "The run was abandoned: its process has ended."
                values["command"] = f"holdfast index create {quote(record.root)}"
        values["freshness"] = self._freshness(record) if values["state"] == "ready" else None
        return values

    def _freshness(self, record: Record) -> Values:
        updated = f"{record.root}\n{record.last_updated}"
        freshness = self._fresh.get(record.root)
        if freshness is None or freshness["of"] != updated:
            freshness = self._fresh[record.root] = {"of": updated, "is": self._look(record)}
        return dict(freshness["is"])

    def _look(self, record: Record) -> Values:

        index = self._index
        try:
            with index.backend.reader(record.root) as reader:
                freshness = index.check_freshness(record, reader)
        except (HoldfastError, OSError) as error:
            return {"mode": "unknown", "why": str(error)}
        removed = len(freshness.gone)
        return {
            "mode": "missing" if freshness.mode == "skipped_missing_path" else "looked",
            "added": freshness.added,
            "modified": freshness.modified,
            "removed": removed,
            "unread": freshness.beyond,
            "changed": freshness.added + freshness.modified + removed + freshness.beyond,
        }


def codebase_values(record: Record, gate: Gate) -> Values:
    """One root: the decision of the gate in words, and the command that helps."""
    from holdfast.index.generations.gate import (
        Building,
        Failed,
        Incompatible,
        NotTracked,
        Open,
        TooNew,
        Unproven,
    )
    from holdfast.index.generations.proof import NO_PROOF
    from holdfast.index.generations.record import Indexed, SyncCompleted, status_name

    values: Values = {
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
        values |= {"files": state.files, "chunks": state.chunks}
        values["partial"] = state.index_status != "completed"
    match gate:
        case Open(_, marker, failure):
            proven = {"outcome": "valid", "at": marker.completed_at} if marker else None
            values |= {"state": "ready", "why": "Complete: the index has its completion marker."}
            values["proof"] = proven or {"outcome": "probe_failed", "reason": failure}
            if marker is None:
                values["why"] = f"The proof could not be checked: {failure}."
        case Building(_, progress):
            previous = progress.previous
            values |= {
                "state": "indexing",
                "proof": {"outcome": "none"},
                "progress": {"pct": round(progress.progress_pct, 1), "phase": progress.phase},
                "why": "A run is in progress; until it ends, searches answer not_ready.",
            }
            if isinstance(previous, Indexed | SyncCompleted):
                values |= {"files": previous.files, "chunks": previous.chunks}
        case Incompatible(_, detail, reason, _):
            values |= {
                "state": "requires_reindex",
                "proof": {"outcome": "fingerprint_mismatch", "reason": reason},
                "why": detail,
                "command": f"holdfast index reindex {quote(record.root)}",
            }
        case Unproven(_, reason, detail):
            because = NO_PROOF.get(reason.value, reason.value)
            why = f"There is no proof that this index is complete: {because}."
            values |= {
                "state": "unproven",
                "proof": {"outcome": "stale_local", "reason": reason.value},
                "why": f"The index is damaged: {detail}." if reason.value == "damaged" else why,
                "command": f"holdfast index create {quote(record.root)}",
            }
        case TooNew(_, detail):
            values |= {
                "state": "unproven",
                "proof": {"outcome": "newer_format", "reason": "newer_format"},
                "why": f"{detail[:1].upper()}{detail[1:]}.",
            }
        case Failed(_, failure):
            at = "" if failure.last_pct is None else f" at {failure.last_pct:.0f} %"
            values |= {
                "state": "failed",
                "proof": {"outcome": "none"},
                "why": f"The last run failed{at}: {failure.error or 'unknown'}.",
                "command": f"holdfast index create {quote(record.root)}",
            }
        case NotTracked():
            raise AssertionError("a record is tracked")
    return values
