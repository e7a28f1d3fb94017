"""What the actions of manage_index share: the request, its answer, and common refusals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec.structs import replace

from holdfast.index.answers import Hints, ManageAnswer, Status, Warning, manage_call
from holdfast.index.building import lifecycle
from holdfast.index.building.progress import Report
from holdfast.index.code_index import RETRY_AFTER_MS, CodeIndex
from holdfast.index.generations.gate import Building, Incompatible, TooNew
from holdfast.index.generations.proof import Reason
from holdfast.index.generations.record import Indexing, Record
from holdfast.index.shared.team_marker import differ
from holdfast.index.tools.refusals import (
    compatibility,
    compatibility_lines,
    indexing_progress,
    newer_message,
    reindex_message,
)

Action = Literal["create", "reindex", "sync", "status", "clear"]


@dataclass(frozen=True, slots=True)
class ManageRequest:
    """One call of manage_index; `path` is canonical."""

    action: Action
    path: str
    force: bool = False
    custom_extensions: tuple[str, ...] = ()
    ignore_patterns: tuple[str, ...] = ()
    allow_unnecessary_reindex: bool = False
    report: Report = field(default=lambda progress: None)
    reported: bool = False
    """Whether the watcher asks, because the kernel reported changes."""

    def answer(
        self,
        status: Status,
        text: str,
        *,
        path: str | None = None,
        reason: str | None = None,
        warnings: Iterable[Warning] = (),
        hints: Hints | None = None,
    ) -> ManageAnswer:
        """An answer about the path of the request, or about another one."""
        return ManageAnswer(
            tool="manage_index",
            version=1,
            action=self.action,
            path=self.path if path is None else path,
            status=status,
            reason=reason,
            message=text.split("\n", 1)[0],
            human_text=text,
            warnings=tuple(warnings),
            hints=None if hints is None else hints.or_none(),
        )

    def not_indexed(self, text: str, **hints: Any) -> ManageAnswer:
        return self.answer("not_indexed", text, reason="not_indexed", hints=Hints(**hints))


def unseen_warnings(record: Record) -> list[Warning]:
    """What the last run of a root could not index, as warnings."""
    return [Warning("INDEX_PARTS_UNSEEN", message) for message in record.unseen.sentences()]


SHARED_AWAY = "SHARED_INDEX_AWAY"


def shared_lines(index: CodeIndex, root: str) -> list[str]:
    """What the last run took from the team and gave to it, or whether the team can be reached."""
    pointer = None if index.team is None else index.team.pointer(root)
    if index.team is not None and pointer is not None:
        manifest = index.team.manifest(pointer.key)
        commit = "?" if manifest is None else manifest.commit[:12]
        text = f"Team: uses the generation of commit {commit}"
        unreached = None if index.shared is None else index.shared.failure()
        return [
            f"{text}; {differ(pointer.differing)}, when it was compared.",
            *([] if unreached is None else [unreached]),
        ]
    return [] if index.shared is None else [index.shared.sentence(root)]


def shared_away(index: CodeIndex, root: str) -> list[Warning]:
    """A warning if the last run could not reach the team."""
    run = None if index.shared is None else index.shared.runs.get(root)
    return [] if run is None or run.failure is None else [Warning(SHARED_AWAY, run.failure)]


def busy(request: ManageRequest, building: Building) -> ManageAnswer:
    root = building.record.root
    progress = indexing_progress(building)
    answer = request.answer(
        "not_ready",
        f"'{root}' is currently indexing; action='{request.action}' is blocked "
        f"(reason=indexing, retryAfterMs={RETRY_AFTER_MS}).",
        path=root,
        reason="indexing",
        hints=Hints(
            status=manage_call("status", root), retry_after_ms=RETRY_AFTER_MS, indexing=progress
        ),
    )
    return replace(answer, indexing=progress)


def too_new(request: ManageRequest, newer: TooNew) -> ManageAnswer:
    return request.answer(
        "error", newer_message(newer), path=newer.record.root, reason=Reason.NEWER_FORMAT.value
    )


def must_reindex(index: CodeIndex, request: ManageRequest, refused: Incompatible) -> ManageAnswer:
    root, runtime = refused.record.root, index.runtime()
    message = reindex_message(refused)
    answer = request.answer(
        "requires_reindex",
        f"{message}\n{compatibility_lines(runtime, refused.record, refused)}",
        path=root,
        reason="requires_reindex",
        hints=Hints(reindex=manage_call("reindex", root), status=manage_call("status", root)),
    )
    return replace(
        answer, message=message, compatibility=compatibility(runtime, refused.record, refused)
    )


def being_written(index: CodeIndex, request: ManageRequest) -> ManageAnswer:
    """The answer when another process has the lease; the record may not say so yet."""
    record = index.registry.find(request.path)
    if record is not None and isinstance(record.state, Indexing):
        return busy(request, Building(record, record.state))
    writer = index.leases.live_writer(request.path)
    doing = f" ({writer.action}, process {writer.pid})" if writer else ""
    return request.answer(
        "not_ready",
        f"'{request.path}' is being written by another run{doing}; action='{request.action}' is "
        f"blocked (reason=indexing, retryAfterMs={RETRY_AFTER_MS}).",
        reason="indexing",
        hints=Hints(status=manage_call("status", request.path), retry_after_ms=RETRY_AFTER_MS),
    )


def current_record(index: CodeIndex, root: str) -> Record | None:
    """The record of a root whose lease we hold; a run that it still names is dead."""
    record = index.registry.find(root)
    if record is not None and isinstance(record.state, Indexing):
        return lifecycle.end_interrupted(index, record)
    return record
