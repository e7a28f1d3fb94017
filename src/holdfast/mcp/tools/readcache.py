"""readcache_refresh and readcache_status: invalidate held text, and report what is held."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from holdfast.answers import Part
from holdfast.mcp.tool import Result, Tool, ToolCall, inputs, number, string
from holdfast.mcp.tools.common import schema_of
from holdfast.reading.report import Saved, Window

IsBound = Annotated[bool, Meta(description="whether this conversation is known")]


class RefreshAnswer(Part, frozen=True, kw_only=True):
    """The answer of readcache_refresh. `note` is the entry that pi writes to its log."""

    status: str
    text: Annotated[str, Meta(description="what was invalidated")]
    bound: IsBound
    why: Annotated[str | None, Meta(description="why it is not known")] = None
    note: dict[str, Any] | None = None


class StatusAnswer(Part, frozen=True, kw_only=True):
    """The answer of readcache_status; only `bound` and `why` if no conversation is known."""

    status: str
    bound: IsBound
    how: Annotated[str | None, Meta(description="how it is known")] = None
    host: Annotated[str | None, Meta(description="which agent's session it is")] = None
    session: str | None = None
    proves: Annotated[bool | None, Meta(description="whether the session proves anything now")] = (
        None
    )
    why: Annotated[str | None, Meta(description="why nothing is proven")]
    scopes: int | None = None
    files: int | None = None
    window: Window | None = None
    modes: dict[str, int] | None = None
    saved: Saved | None = None
    store: str | None = None


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
                f"nothing to refresh: no conversation is bound ({session.why}), so every read "
                "is answered in full"
            )
            unbound = RefreshAnswer(status="ok", text=text, bound=False, why=session.why)
            return Result(text, unbound.to_wire())
        if isinstance(session.log, PiBridge):
            request = commands.parse_refresh(request.path, reader.place)  # as typed in pi
        marker = reader.refresh(request, session.log).to_text()
    note = session.log.entry if isinstance(session.log, PiBridge) else None
    return Result(marker, RefreshAnswer(status="ok", text=marker, bound=True, note=note).to_wire())


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
            return Result(text, StatusAnswer(status="ok", bound=False, why=session.why).to_wire())
        status = reader.status(session.log)
    report = status.report()
    facts = StatusAnswer(
        status="ok",
        bound=True,
        how=session.how,
        host=session.kind,
        session=session.session,
        proves=status.doubt is None,
        why=status.doubt,
        scopes=report.scopes,
        files=report.files,
        window=report.window,
        modes=report.modes,
        saved=report.saved,
        store=report.store,
    )
    lines = [status.to_text(), f"session: {session.kind} {session.session} ({session.how})"]
    if status.doubt is not None:
        lines.append("every read is answered in full")
    return Result("\n".join(lines), facts.to_wire())


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
    output=schema_of(RefreshAnswer),
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
    output=schema_of(StatusAnswer),
    run=status,
)
