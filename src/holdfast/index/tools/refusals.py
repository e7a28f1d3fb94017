"""What a closed gate says, once for every tool: the reads differ only in where they put it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.gate import (
    Building,
    Failed,
    Gate,
    Incompatible,
    NotTracked,
    Open,
    Unproven,
)
from holdfast.index.tools import answers
from holdfast.index.tools.answers import Wire, hints, manage_call

Refused = Literal["not_indexed", "not_ready", "requires_reindex"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A gate's answer. `freshness` is the mode a search would report, None for not_indexed."""

    status: Refused
    reason: str
    message: str
    hints: Wire
    root: str | None = None
    freshness: str | None = None
    extras: Wire = field(default_factory=dict)


def refusal(gate: Gate, requested: str, runtime: Fingerprint, retry: str) -> Refusal:
    """Why a read of `requested` is refused; `retry` says what to do after a build."""
    match gate:
        case NotTracked():
            return Refusal(
                "not_indexed",
                "not_indexed",
                answers.plain_message(requested),
                hints(create=manage_call("create", requested)),
            )
        case Failed(record) as failed:
            return Refusal(
                "not_indexed",
                "not_indexed",
                answers.failed_message(failed, requested),
                hints(
                    create=manage_call("create", record.root),
                    status=manage_call("status", record.root),
                    indexingFailure=answers.failure_facts(failed),
                ),
            )
        case Unproven(record, reason) as unproven:
            return Refusal(
                "not_indexed",
                "not_indexed",
                answers.stale_message(unproven, requested),
                hints(
                    create=manage_call("create", record.root),
                    staleLocal=answers.stale_local(reason, record.root),
                ),
            )
        case Building(record) as building:
            return Refusal(
                "not_ready",
                "indexing",
                answers.indexing_message(building, retry),
                hints(
                    create=manage_call("create", record.root) if building.abandoned else None,
                    status=manage_call("status", record.root),
                    debugIndexing={"completionProof": "marker_doc"},
                ),
                record.root,
                "skipped_indexing",
                {"indexing": answers.indexing_facts(building)},
            )
        case Incompatible(record) as refused:
            return Refusal(
                "requires_reindex",
                "requires_reindex",
                answers.reindex_message(refused),
                hints(reindex=manage_call("reindex", record.root)),
                record.root,
                "skipped_requires_reindex",
                {"compatibility": answers.compatibility(runtime, record, refused)},
            )
        case Open():
            raise AssertionError("an open gate refuses nothing")
