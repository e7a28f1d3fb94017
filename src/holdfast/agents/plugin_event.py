"""The payloads of plugins that see every request: the same events for OpenCode and pi.

tool                       one result, before it is stored
request                    every result of the messages that go to the model now
compacting, compacted      the conversation is, or was just, summarised

A request has a number, which its answer repeats. A result has the number of the latest request that
was answered, so the host notices when an answer was lost or came too late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.agents.hook_event import HookEvent, Moment, Outcome, ToolUse

AGAIN = "same call again prints all"


def plugin_event(
    agent: str, payload: Mapping[str, Any], use_of: Callable[[object], ToolUse | None]
) -> HookEvent | None:
    """The event in a payload; None if we do not handle it. `use_of` parses one result."""
    session, cwd, name = payload.get("session"), payload.get("cwd"), payload.get("event")
    if not isinstance(session, str) or not isinstance(cwd, str):
        return None
    if name in ("compacting", "compacted"):
        return HookEvent(agent, Moment.AFTER_COMPACTION, session, None, cwd, name=name)
    if name == "tool":
        moment, payloads = Moment.AFTER_TOOL, [payload.get("use")]
    elif name == "request" and isinstance(payload.get("uses"), list):
        moment, payloads = Moment.REQUEST, payload["uses"]
    else:
        return None
    uses = tuple(use for use in map(use_of, payloads) if use is not None)
    if moment is Moment.AFTER_TOOL and not uses:
        return None
    number = whole_number(payload.get("request"))
    return HookEvent(
        agent,
        moment,
        session,
        None,
        cwd,
        uses,
        name=name,
        request=number,
        again=AGAIN,
        messages=_messages(payload.get("said")),
    )


def _messages(texts: object) -> tuple[tuple[str, str], ...]:
    """Pairs of role and text, as far as the plugin passes them."""
    pairs = [one for one in texts if isinstance(one, list)] if isinstance(texts, list) else []
    return tuple(
        (one[0], one[1])
        for one in pairs
        if len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], str)
    )


def shown_text(event: HookEvent, outcome: Outcome) -> str | None:
    """The replacement, which the log shows unchanged."""
    return outcome.replacements.get(0)


def taken_in(outcome: Outcome, uses: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request: the changed results, and the request's number if processed."""
    out: dict[str, Any] = {} if outcome.request is None else {"request": outcome.request}
    return {**out, "uses": uses} if uses else out


def whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
