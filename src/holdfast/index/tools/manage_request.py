"""What the actions of manage_index share: the request, the envelope, and three refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NotRequired, TypedDict

from holdfast.index.building import lifecycle
from holdfast.index.building.progress import Report
from holdfast.index.code_index import RETRY_AFTER_MS, CodeIndex
from holdfast.index.generations.gate import (
    Building,
    Incompatible,
)
from holdfast.index.generations.record import Indexing, Record
from holdfast.index.tools import answers
from holdfast.index.tools.answers import Wire, hints, manage_call

Action = Literal["create", "reindex", "sync", "status", "clear"]


class ManageAnswer(TypedDict):
    """The envelope of manage_index, version 1."""

    tool: str
    version: int
    action: str
    path: str
    status: str
    reason: NotRequired[str]
    message: str
    humanText: str
    warnings: NotRequired[list[Wire]]
    hints: NotRequired[Wire]
    preflight: NotRequired[Wire]
    syncStats: NotRequired[Wire]
    indexing: NotRequired[Wire]
    compatibility: NotRequired[Wire]


@dataclass(frozen=True, slots=True)
class Request:
    """One call of manage_index; `path` is canonical."""

    action: Action
    path: str
    force: bool = False
    custom_extensions: tuple[str, ...] = ()
    ignore_patterns: tuple[str, ...] = ()
    allow_unnecessary_reindex: bool = False
    report: Report = field(default=lambda progress: None)


def unseen_warnings(record: Record) -> list[Wire]:
    """What the last run of a root could not take in, as warnings."""
    return [{"code": "INDEX_PARTS_UNSEEN", "message": said} for said in record.unseen.sentences()]


def answered(
    request: Request,
    path: str,
    status: answers.Status,
    text: str,
    /,
    *,
    reason: str | None = None,
    warnings: list[Wire] | None = None,
    **parts: object,
) -> ManageAnswer:
    """An envelope; `parts` become hints."""
    answer: ManageAnswer = {
        "tool": "manage_index",
        "version": 1,
        "action": request.action,
        "path": path,
        "status": status,
        "message": text.split("\n", 1)[0],
        "humanText": text,
    }
    if reason is not None:
        answer["reason"] = reason
    if warnings:
        answer["warnings"] = warnings
    made = hints(**parts)
    if made:
        answer["hints"] = made
    return answer


def busy(index: CodeIndex, request: Request, building: Building) -> ManageAnswer:
    root = building.record.root
    answer = answered(
        request,
        root,
        "not_ready",
        answers.blocked_message(building, request.action, RETRY_AFTER_MS),
        reason="indexing",
        status=manage_call("status", root),
        retryAfterMs=RETRY_AFTER_MS,
        indexing=answers.indexing_facts(building),
    )
    answer["indexing"] = answers.indexing_facts(building)
    return answer


def must_reindex(index: CodeIndex, request: Request, refused: Incompatible) -> ManageAnswer:
    root = refused.record.root
    lines = answers.compatibility_lines(index.runtime(), refused.record, refused)
    answer = answered(
        request,
        root,
        "requires_reindex",
        f"{answers.reindex_message(refused)}\n{lines}",
        reason="requires_reindex",
        reindex=manage_call("reindex", root),
        status=manage_call("status", root),
    )
    answer["message"] = answers.reindex_message(refused)
    answer["compatibility"] = answers.compatibility(index.runtime(), refused.record, refused)
    return answer


def someone_writes(index: CodeIndex, request: Request) -> ManageAnswer:
    """Another process holds the lease; the record may not say so yet."""
    record = index.registry.find(request.path)
    if record is not None and isinstance(record.state, Indexing):
        return busy(index, request, Building(record, record.state))
    writer = index.leases.live_writer(request.path)
    doing = f" ({writer.action}, process {writer.pid})" if writer else ""
    return answered(
        request,
        request.path,
        "not_ready",
        f"'{request.path}' is being written by another run{doing}; action='{request.action}' is "
        f"blocked (reason=indexing, retryAfterMs={RETRY_AFTER_MS}).",
        reason="indexing",
        status=manage_call("status", request.path),
        retryAfterMs=RETRY_AFTER_MS,
    )


def settled(index: CodeIndex, root: str) -> Record | None:
    """The record as it is now that we hold the lease; a run it still speaks of is dead."""
    record = index.registry.find(root)
    if record is not None and isinstance(record.state, Indexing):
        return lifecycle.end_interrupted(index, record)
    return record
