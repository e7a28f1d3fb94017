"""What the memory tools share: opening a space, and refusals with a helpful call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.mcp.tool import Result, ToolCall, call_text, string
from holdfast.mcp.tools.common import continued

if TYPE_CHECKING:
    from holdfast.store.author import Author
    from holdfast.store.model import CommitKey
    from holdfast.store.store import Store

SPACE = string(default="local", minLength=1)
BRANCH = string(default="")
VALUE_SHOWN = 160
SPACES_NAMED = 6


def on_space(
    tool: str,
    run: Callable[[ToolCall, Store], Result],
    makes: Callable[[ToolCall], Callable[[], bool] | None] = lambda call: None,
) -> Callable[[ToolCall], Result]:
    """A tool function on the requested space; its refusals end with the call that helps.

    A missing space is created only if `makes` returns a function. That function is called first; it
    returns False or raises if the call itself is invalid, so that a mistake creates nothing.
    """

    def refusing(call: ToolCall) -> Result:
        from holdfast.store.errors import OutOfRange, UnknownBranch, UnknownSpace

        a = call.arguments
        try:
            with call.context.space(a["space"], make=makes(call)) as store:
                return run(call, store)
        except UnknownBranch as error:
            listing = {"action": "list", "space": a["space"]}
            return failed(str(error), "the branches there are", "memory_branch", listing)
        except OutOfRange as error:
            branch = error.branch or "the default branch"
            sentence = f"seq {error.seq} is out of range for {branch}: {error.hint}"
            past = {"space": a["space"], "branch": error.branch}
            return failed(sentence, "what happened when", "memory_history", past)
        except UnknownSpace as error:
            return _unknown(tool, a, str(error), error.known)

    return refusing


def new_key(call: ToolCall) -> CommitKey:
    """The key of the next commit of a connection."""
    from holdfast.ids import LocalSeq, SessionId
    from holdfast.store.model import CommitKey

    return CommitKey(SessionId(call.caller.name), LocalSeq(call.caller.next_local_seq()))


def author(call: ToolCall, tool: str) -> Author:
    """The user, the agent, and the conversation if it is known; else the connection."""
    from holdfast.mcp.binding import Bound

    caller = call.caller
    with call.context.sessions.of(caller, call.meta, tool, call.arguments) as bound:
        session = bound.session if isinstance(bound, Bound) else caller.name.rpartition("-")[2]
    return call.context.app.author(caller.client or "mcp", session)


def _unknown(tool: str, a: dict[str, Any], sentence: str, accepted: Sequence[str]) -> Result:
    """The refusal for a missing space: suggests the same call on a similar one, or a listing."""
    from difflib import get_close_matches

    from holdfast import live, sessions

    names = [name for name in accepted if name != sessions.SPACE and not live.is_live(name)]
    near = get_close_matches(a["space"], names, 1)
    if near:
        arguments = {name: value for name, value in a.items() if value != ""}
        return failed(sentence, "did you mean", tool, {**arguments, "space": near[0]})
    there = ", ".join(names[:SPACES_NAMED]) + (", …" if len(names) > SPACES_NAMED else "")
    sentence += f"; there are: {there}" if names else "; memory_commit makes one"
    return failed(sentence, "what is in it", "memory_query", {"space": (names or ["local"])[0]})


def failed(sentence: str, what: str, tool: str, args: dict[str, Any]) -> Result:
    """A failed result with the call that helps."""
    facts = {"status": "error", "message": sentence, "continue": continued(tool, **args)}
    return Result(f"{sentence}\n[{what}: {call_text(tool, args)}]", facts, failed=True)
