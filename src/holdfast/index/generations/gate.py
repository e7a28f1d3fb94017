"""Decides whether a root may be served, with the same order of checks for every tool.

    1. requires_reindex    the index was made with other settings
    2. not_ready           a build is running
    3. not_indexed         nothing is tracked, the build failed, the proof is missing, the data is
                           damaged, or a newer version wrote it

The proof is checked only when the first two did not decide and the registry says *searchable*. When
the probe could not finish, the registry's state stands. The gate is computed at every call and not
stored, so switching back to the old settings opens it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from holdfast.files.paths import within
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.marker import Marker
from holdfast.index.generations.proof import Outcome, Proof, Reason
from holdfast.index.generations.record import (
    ASSUMED,
    Indexed,
    IndexFailed,
    Indexing,
    Record,
    RequiresReindex,
    SyncCompleted,
)


class NotTracked(msgspec.Struct, frozen=True):
    """No tracked root is, or contains, the requested path."""


class Failed(msgspec.Struct, frozen=True):
    """The last build failed and left nothing to serve."""

    record: Record
    failure: IndexFailed


class Building(msgspec.Struct, frozen=True):
    """A build is running; `abandoned` says that its writer is gone."""

    record: Record
    progress: Indexing
    abandoned: bool = False


class Incompatible(msgspec.Struct, frozen=True):
    """The index was made with other settings; only a rebuild helps."""

    record: Record
    detail: str
    reindex_reason: str
    indexed_with: Fingerprint | None


class Unproven(msgspec.Struct, frozen=True):
    """The registry says searchable, but a finished probe found no proof."""

    record: Record
    reason: Reason
    detail: str = ""


class TooNew(msgspec.Struct, frozen=True):
    """A newer version wrote the index; it is neither served nor replaced."""

    record: Record
    detail: str


class Open(msgspec.Struct, frozen=True):
    """The root may be served. `marker` is None when the probe could not finish."""

    record: Record
    marker: Marker | None
    probe_failure: str | None = None


Gate = NotTracked | Failed | Building | Incompatible | Unproven | TooNew | Open

MISMATCH_DETAIL = "Completion proof fingerprint does not match the current runtime fingerprint."


def effective_record(path: str, records: Iterable[Record]) -> Record | None:
    """The record of the nearest tracked root at or above a canonical path."""
    above = [record for record in records if within(record.root, path)]
    return max(above, key=lambda record: len(record.root), default=None)


def fingerprint_gate(record: Record, runtime: Fingerprint) -> Incompatible | None:
    """Why an index cannot be served with these settings, from its registry record alone."""
    match record.state:
        case RequiresReindex(message, reason):
            return Incompatible(record, message, reason, record.fingerprint)
        case Indexed() | SyncCompleted():
            pass
        case _:
            return None
    if record.fingerprint_source == ASSUMED:
        return Incompatible(
            record,
            "The index was made before fingerprints were kept, so its settings are unknown.",
            "legacy_unverified_fingerprint",
            record.fingerprint,
        )
    if record.fingerprint is None:
        return Incompatible(record, "The index has no fingerprint.", "missing_fingerprint", None)
    if record.fingerprint != runtime:
        return Incompatible(
            record,
            f"The index does not fit: {record.fingerprint.differences(runtime)}.",
            "fingerprint_mismatch",
            record.fingerprint,
        )
    return None


def pass_gate(record: Record | None, runtime: Fingerprint, prove: Callable[[], Proof]) -> Gate:
    """Decide; `prove` is called at most once, and only if the record alone does not decide."""
    if record is None:
        return NotTracked()
    incompatible = fingerprint_gate(record, runtime)
    if incompatible is not None:
        return incompatible
    match record.state:
        case Indexing() as progress:
            return Building(record, progress)
        case IndexFailed() as failure:
            return Failed(record, failure)
        case _:
            assert record.searchable
    proof = prove()
    match proof.outcome:
        case Outcome.VALID:
            return Open(record, proof.marker)
        case Outcome.PROBE_FAILED:
            return Open(record, None, proof.detail or "probe_failed")
        case Outcome.FINGERPRINT_MISMATCH:
            fingerprint = proof.marker.fingerprint if proof.marker else None
            return Incompatible(
                record, MISMATCH_DETAIL, "completion_proof_fingerprint_mismatch", fingerprint
            )
        case Outcome.STALE_LOCAL:
            assert proof.reason is not None
            return Unproven(record, proof.reason, proof.detail)
        case Outcome.NEWER_FORMAT:
            return TooNew(record, proof.detail)
