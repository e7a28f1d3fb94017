"""Decides whether the index of a tree is complete. Nothing else does.

A backend may return a marker, something else, nothing, or no answer at all. Only an answer can
change the state of an index; a probe that could not finish changes nothing. Damaged data is an
answer; so is data that a newer version wrote, which is neither served nor replaced.

May call a complete index *stale*, which is then rebuilt. Never calls an incomplete one *valid*.
"""

from __future__ import annotations

import json
from datetime import datetime
from enum import StrEnum

import msgspec

from holdfast.files.paths import canonical_root, nameable
from holdfast.index.errors import DamagedBackend, NewerFormat
from holdfast.index.generations import fingerprint as fingerprints
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.marker import COMPLETED, LIMIT_REACHED, MARKER_KIND, Marker


class Outcome(StrEnum):
    """The outcome of a probe."""

    VALID = "valid"
    STALE_LOCAL = "stale_local"
    FINGERPRINT_MISMATCH = "fingerprint_mismatch"
    PROBE_FAILED = "probe_failed"
    NEWER_FORMAT = "newer_format"


class Reason(StrEnum):
    """Why a proof is not valid."""

    MISSING_MARKER_DOC = "missing_marker_doc"
    INVALID_MARKER_KIND = "invalid_marker_kind"
    PATH_MISMATCH = "path_mismatch"
    INVALID_PAYLOAD = "invalid_payload"
    DAMAGED = "damaged"
    FINGERPRINT_MISMATCH = "fingerprint_mismatch"
    PROBE_FAILED = "probe_failed"
    NEWER_FORMAT = "newer_format"


NO_PROOF = {
    "missing_marker_doc": "its completion marker is missing",
    "invalid_marker_kind": "its completion marker has another kind",
    "invalid_payload": "its completion marker cannot be read",
    "path_mismatch": "its completion marker names another directory",
}
"""Why an index is not proven, in words."""


class Proof(msgspec.Struct, frozen=True):
    """The verdict on one root. `marker` is set when the stored value could be read as one."""

    outcome: Outcome
    reason: Reason | None = None
    marker: Marker | None = None
    detail: str = ""

    @property
    def valid(self) -> bool:
        return self.outcome is Outcome.VALID


def validate_completion_proof(root: str, backend: object, runtime: Fingerprint) -> Proof:
    """Read the root's marker and judge it. Writes nothing."""
    read = getattr(backend, "read_marker", None)
    if read is None:
        return failed_probe("the backend has no marker reader")
    try:
        raw = read(root)
    except NewerFormat as error:
        return newer_format(error)
    except DamagedBackend as error:
        # An answer: the data is there and is not what was written.
        return _stale(Reason.DAMAGED, str(error))
    except Exception as error:
        # Any exception (time-out, transport, auth, unparseable response) means that the query did
        # not finish. A narrower clause would let an unknown failure count as an answer.
        return failed_probe(f"{type(error).__name__}: {error}")
    return judge(raw, root, runtime)


def failed_probe(detail: str) -> Proof:
    return Proof(Outcome.PROBE_FAILED, Reason.PROBE_FAILED, detail=detail)


def newer_format(error: NewerFormat) -> Proof:
    return Proof(Outcome.NEWER_FORMAT, Reason.NEWER_FORMAT, detail=f"{error}; {error.hint}")


def judge(raw: object | None, root: str, runtime: Fingerprint) -> Proof:
    """The proof for the value that a finished probe returned."""
    if raw is None:
        return _stale(Reason.MISSING_MARKER_DOC, "no marker is stored")
    payload = _json_object(raw)
    if payload is None:
        return _stale(Reason.INVALID_PAYLOAD, "the marker is not a JSON object")
    # The kind is checked first: a marker of another version may differ in everything else.
    if payload.get("kind") != MARKER_KIND:
        return _stale(Reason.INVALID_MARKER_KIND, f"kind is {payload.get('kind')!r}")
    marker = _marker(payload)
    if isinstance(marker, str):
        return _stale(Reason.INVALID_PAYLOAD, marker)
    named = marker.codebase_path
    # Paths are resolved on disk only when they are spelled differently.
    if named != root and canonical_root(named) != canonical_root(root):
        return _stale(Reason.PATH_MISMATCH, f"the marker is of {marker.codebase_path}")
    if marker.fingerprint != runtime:
        return Proof(
            Outcome.FINGERPRINT_MISMATCH,
            Reason.FINGERPRINT_MISMATCH,
            marker,
            f"indexed with {marker.fingerprint}, running with {runtime}",
        )
    return Proof(Outcome.VALID, marker=marker)


def _stale(reason: Reason, detail: str) -> Proof:
    return Proof(Outcome.STALE_LOCAL, reason, detail=detail)


def _json_object(raw: object) -> dict[str, object] | None:
    if isinstance(raw, str | bytes):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            return None
    return raw if isinstance(raw, dict) else None


def _marker(payload: dict[str, object]) -> Marker | str:
    """The marker in a payload, or what is wrong with it."""
    path = payload.get("codebasePath")
    if not isinstance(path, str) or not path.strip() or not nameable(path):
        return "codebasePath is not a path"
    fingerprint = fingerprints.from_wire(payload.get("fingerprint"))
    if fingerprint is None:
        return "fingerprint is not five values"
    files, chunks = payload.get("indexedFiles"), payload.get("totalChunks")
    if not _count(files) or not _count(chunks):
        return "indexedFiles or totalChunks is not a count"
    completed_at = payload.get("completedAt")
    if not isinstance(completed_at, str) or not _date(completed_at):
        return "completedAt is not a date"
    run_id = payload.get("runId")
    if not isinstance(run_id, str) or not run_id:
        return "runId is empty"
    generation = payload.get("generation", 0)
    if not _count(generation):
        return "generation is not a count"
    status = payload.get("indexStatus", COMPLETED)
    if status not in (COMPLETED, LIMIT_REACHED):
        return "indexStatus is neither completed nor limit_reached"
    assert isinstance(files, int)
    assert isinstance(chunks, int)
    assert isinstance(generation, int)
    return Marker(path, fingerprint, files, chunks, completed_at, run_id, generation, str(status))


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
