"""readcache_refresh and readcache_status: take a hold back, and say what is held and why."""

from __future__ import annotations

from typing import Any

from holdfast.mcp.tool import (
    Result,
    Tool,
    ToolCall,
    anything,
    boolean,
    inputs,
    maybe,
    number,
    string,
)
from holdfast.mcp.tools.common import answer_schema


def refresh(call: ToolCall) -> Result:
    from holdfast.mcp.binding import Bound
    from holdfast.reading import commands
    from holdfast.reading.hosts.pi_bridge import PiBridge
    from holdfast.reading.paths import Request

    request = Request.from_arguments(call.arguments)
    caller = call.caller
    if caller.cwd is None:
        caller.path(request.path)
    reader = call.reader()
    call.workspace.admit(reader.place.expand(request.path))
    with call.context.sessions.of(
        caller, call.meta, "readcache_refresh", call.arguments
    ) as session:
        if not isinstance(session, Bound):
            text = (
                f"nothing to take back: no conversation is bound ({session.why}), so every read "
                "is answered in full"
            )
            return Result(text, {"status": "ok", "text": text, "bound": False, "why": session.why})
        if isinstance(session.log, PiBridge):
            request = commands.parse_refresh(request.path, reader.place)  # as typed in pi
        marker = reader.refresh(request, session.log).to_text()
    facts: dict[str, Any] = {"status": "ok", "text": marker, "bound": True}
    if isinstance(session.log, PiBridge):
        facts["note"] = session.log.entry
    return Result(marker, facts)


def status(call: ToolCall) -> Result:
    from holdfast.mcp.binding import Bound

    caller = call.caller
    reader = call.reader()
    with call.context.sessions.of(caller, call.meta, "readcache_status", call.arguments) as session:
        if not isinstance(session, Bound):
            text = (
                f"[readcache-status]\nno conversation is bound: {session.why}\n"
                "every read is answered in full"
            )
            return Result(text, {"status": "ok", "bound": False, "why": session.why})
        found = reader.status(session.log)
    wire = found.to_wire()
    del wire["doubt"]  # called `why` here, as where no conversation is bound
    facts: dict[str, Any] = {
        "status": "ok",
        "bound": True,
        "how": session.how,
        "host": session.kind,
        "session": session.session,
        "proves": found.doubt is None,
        "why": found.doubt,
        **wire,
    }
    lines = [found.to_text(), f"session: {session.kind} {session.session} ({session.how})"]
    if found.doubt is not None:
        lines.append("every read is answered in full")
    return Result("\n".join(lines), facts)


READCACHE_REFRESH = Tool(
    name="readcache_refresh",
    title="Have a file sent again",
    description=(
        "Declare your copy of a file, or of lines of it, insufficient: the next reads send the "
        "text again. Use it only when answers stay too short over several calls; for one call "
        "read with bypass_cache=true costs less."
    ),
    input=inputs(
        "path",
        path=string("the file; :N-M names lines"),
        offset=number("the first line, from 1"),
        limit=number("how many lines"),
    ),
    output=answer_schema(
        text=string("what was taken back"),
        bound=boolean("whether a conversation is bound"),
        why=string("why none is"),
        note=anything(),
    ),
    run=refresh,
    read_only=False,
    idempotent=True,
)

READCACHE_STATUS = Tool(
    name="readcache_status",
    title="What this conversation holds",
    description=(
        "How many files and lines this conversation provably holds, what that saved, which "
        "session it is bound to and how that is known; or why none is bound, in which case every "
        "read is answered in full."
    ),
    input=inputs(),
    output=answer_schema(
        bound=boolean("whether this conversation is known"),
        how=string("how it is known"),
        why=maybe(string("why nothing is proven")),
        host=string("which agent's session it is"),
        session=string("its id"),
        proves=boolean("whether the session proves anything now"),
        scopes={"type": "integer"},
        files={"type": "integer"},
        window=anything(),
        modes=anything(),
        saved=anything(),
        store=string(),
    ),
    run=status,
)
