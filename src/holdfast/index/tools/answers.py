"""The parts that answers share: statuses, hints, messages.

A refusal is an ordinary answer. It names the root, the reason, and the call that helps; it is the
same text every time, so that an agent can rely on it. Statuses and reasons are closed sets.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.gate import Building, Failed, Incompatible, Open, Unproven
from holdfast.index.generations.proof import Reason
from holdfast.index.generations.record import Record, status_name

Status = Literal[
    "ok",
    "not_ready",
    "not_indexed",
    "requires_reindex",
    "not_found",
    "unsupported",
    "ambiguous",
    "blocked",
    "error",
]

Wire = dict[str, object]

CREATE_NOTE = (
    "Local snapshot claims indexed, but completion proof is missing/invalid; "
    "treating as not_indexed for create."
)
PROBE_NOTE = (
    "Completion proof check is temporarily unavailable (probe_failed); keeping local status."
)
HINTS_VERSION = 1


class Call(TypedDict):
    """A call an agent can make as it stands."""

    tool: str
    args: dict[str, object]


def manage_call(action: str, root: str) -> Call:
    return {"tool": "manage_index", "args": {"action": action, "path": root}}


def read_call(path: str, first_line: int, last_line: int) -> Call:
    """The call that shows lines of a file."""
    return {
        "tool": "read",
        "args": {"path": path, "offset": first_line, "limit": last_line - first_line + 1},
    }


def search_call(args: Wire, **changes: object) -> Call:
    """A search with other arguments; those that are None are left out."""
    given = {**args, **changes}
    return {"tool": "search_code", "args": {k: v for k, v in given.items() if v is not None}}


def hints(**parts: object) -> Wire:
    """Hints, with their version; empty when there are none."""
    present = {name: value for name, value in parts.items() if value is not None}
    return {"version": HINTS_VERSION, **present} if present else {}


def part(extras: Wire, name: str) -> Wire:
    """One object out of another."""
    value = extras[name]
    assert isinstance(value, dict)
    return value


def stale_local(reason: Reason, root: str) -> Wire:
    return {"completionProof": reason.value, "recommendedAction": manage_call("create", root)}


def probe_hint(opened: Open) -> Wire | None:
    """The diagnostic of a probe that could not finish; None when it did."""
    if opened.probe_failure is None:
        return None
    return {"ok": False, "reason": "probe_failed", "message": opened.probe_failure}


def indexing_facts(building: Building) -> Wire:
    return {
        "progressPct": round(building.progress.progress_pct, 1),
        "lastUpdated": building.record.last_updated,
        "phase": building.progress.phase,
    }


def failure_facts(failed: Failed) -> Wire:
    return {
        "errorMessage": failed.failure.error,
        "lastAttemptedPercentage": failed.failure.last_pct,
        "lastUpdated": failed.record.last_updated,
    }


def compatibility(
    runtime: Fingerprint, record: Record | None, refused: Incompatible | None = None
) -> Wire:
    """Which settings run, which made the index, and what stands between them."""
    facts: Wire = {"runtimeFingerprint": runtime.to_wire()}
    if record is None:
        return facts
    indexed_with = refused.indexed_with if refused else record.fingerprint
    if indexed_with is not None:
        facts["indexedFingerprint"] = indexed_with.to_wire()
    facts["fingerprintSource"] = record.fingerprint_source
    if refused is not None:
        facts["reindexReason"] = refused.reindex_reason
    facts["statusAtCheck"] = status_name(record.state)
    return facts


def compatibility_lines(
    runtime: Fingerprint, record: Record | None, refused: Incompatible | None = None
) -> str:
    """The same, as four lines for a person."""
    made_with = record.fingerprint if record else None
    reason = "none"
    if refused is not None:
        made_with, reason = refused.indexed_with, refused.reindex_reason
    return (
        f"Runtime fingerprint: {runtime}\n"
        f"Indexed fingerprint: {made_with or 'unavailable'}\n"
        f"Fingerprint source: {record.fingerprint_source if record else 'unavailable'}\n"
        f"Reindex reason: {reason}"
    )


def plain_message(requested: str) -> str:
    return (
        f"'{requested}' is not indexed, and neither is any directory above it. "
        f"To index it, call manage_index with action='create' and path='{requested}'."
    )


def failed_message(failed: Failed, requested: str) -> str:
    return (
        f"'{requested}' is not indexed: the last run on '{failed.record.root}' failed: "
        f"{failed.failure.error}. To try again, call manage_index with action='create' and "
        f"path='{failed.record.root}'."
    )


def stale_message(unproven: Unproven, requested: str) -> str:
    root = unproven.record.root
    asked = f" (asked for '{requested}')" if requested != root else ""
    return (
        f"'{root}' is not indexed{asked}: local index metadata is stale, and the completion proof "
        f"is missing or invalid (reason: {unproven.reason.value}). To repair it, call manage_index "
        f"with action='create' and path='{root}'."
    )


def indexing_message(building: Building, retry: str) -> str:
    root = building.record.root
    if building.abandoned:
        return (
            f"'{root}' was being indexed ({building.progress.progress_pct:.1f}%), and its writer "
            f"is gone: the run looks abandoned. Call manage_index with action='create' and "
            f"path='{root}' to recover it, then {retry}."
        )
    return (
        f"'{root}' is currently indexing "
        f"({building.progress.progress_pct:.1f}%, {building.progress.phase}). "
        f"Wait for it to finish, then {retry}."
    )


def blocked_message(building: Building, action: str, retry_after_ms: int) -> str:
    return (
        f"'{building.record.root}' is currently indexing; action='{action}' is blocked "
        f"(reason=indexing, retryAfterMs={retry_after_ms})."
    )


def reindex_message(refused: Incompatible) -> str:
    detail = f"{refused.detail}\n" if refused.detail else ""
    return (
        f"{detail}The index of '{refused.record.root}' is incompatible with the current settings "
        f"and must be rebuilt. Call manage_index with action='reindex' and "
        f"path='{refused.record.root}'."
    )


def valid_response(payload: object) -> bool:
    """Whether a payload is an answer of a tool, whatever its status.

    A client may try again only when it got no answer. A refusal is an answer: asking again gives
    the same one.
    """
    if not isinstance(payload, dict):
        return False
    if isinstance(payload.get("content"), list) or isinstance(payload.get("tools"), list):
        return True
    return isinstance(payload.get("status"), str)


def may_retry(exit_code: int, payload: object | None, *, tool: str = "", sent: bool = True) -> bool:
    """The envelope classifier: is it right to make the same call again?

    `sent` says whether the request left us; `payload` is what came back, None if nothing parseable.
    May give up on a call that a second try would have made; never repeats one that was answered.
    """
    if payload is not None and valid_response(payload):
        return False
    if exit_code in (0, 1, 2) and payload is not None:
        return False
    if exit_code == 2:
        return False
    # A lifecycle action may have begun although its answer was lost.
    return not (tool == "manage_index" and sent)
