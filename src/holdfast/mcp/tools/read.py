"""read: a file, or only what the conversation does not provably hold of it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from holdfast.answers import Part
from holdfast.mcp.structured import SHOWN_INSTEAD
from holdfast.mcp.tool import Result, Tool, ToolCall, boolean, inputs, number, string
from holdfast.mcp.tools.common import continued, listed_inside, located, schema_of
from holdfast.mcp.tools.near_notes import near_notes
from holdfast.text import line_range

if TYPE_CHECKING:
    from holdfast.errors import ReadingError
    from holdfast.reading.paths import Place, Request, Target
    from holdfast.reading.result import Answer

NAME_MAX = 100
"""How many characters of a name a suggested search contains, to keep the hint short."""

PAGE_BYTES = 44_000
"""The page size for Claude Code, which moves a result of 50 KB to a file and shows only its start,
and for Codex, which cuts one of 48 KB in the middle."""

OF_CUT = 0.75
"""The page size once an answer was cut, as a share of what was left of that answer."""

_GOES_ON = re.compile(r"Use offset=([0-9]+) to continue\.\]\Z")
"""How a text ends that was cut by any of the limits."""


_SYMBOL = re.compile(r"[^\W\d][\w.:#$]*\Z")
"""What may be a symbol's name after a path; a range starts with a digit."""


MODE = "full, unchanged, unchanged_range, diff or baseline_fallback; null if not kept"


class ReadAnswer(Part, frozen=True):
    """The answer of read."""

    status: str
    path: Annotated[str, Meta(description="the file that was read")]
    mode: Annotated[str | None, Meta(description=MODE)]
    content: Annotated[str, Meta(description="the same text as in the content block")]
    details: dict[str, Any] | None = None


def run(call: ToolCall) -> Result:
    from holdfast.errors import ReadingError
    from holdfast.reading.paths import Request

    request = Request.from_arguments(call.arguments)
    try:
        return _read(call, request)
    except ReadingError as error:
        return _refused(call, request.path, error)


def _refused(call: ToolCall, typed: str, error: ReadingError) -> Result:
    """A refusal with the built-in read's message, followed by a call that helps."""
    from holdfast.mcp.binding import LEAF
    from holdfast.reading.errors import Aborted
    from holdfast.reading.paths import Place, accessible
    from holdfast.reading.suggest import suggestion

    caller, listed = call.caller, listed_inside(call)
    place = Place(caller.cwd or "/", caller.home)
    whole, _ = place.resolve(typed, accessible)
    bare, is_there = place.resolve(typed.rpartition(":")[0] or typed, accessible)
    similar = suggestion(error, bare if is_there else whole, listed)
    facts: dict[str, Any] = {"status": "error", "message": str(error)}
    if error.hint:
        facts["hint"] = error.hint
    refused = Result(f"{error}\n[{error.hint}]" if error.hint else str(error), facts, failed=True)
    if isinstance(error, Aborted) or LEAF in call.meta:
        return refused  # in pi the message must be that of its own read
    if not is_there and caller.cwd is not None:
        path = located(call, typed)
        if path != caller.path(typed):
            return refused.ended("named from its tree", "read", path=path)
    if similar is not None:
        return refused.ended(similar.why, "read", path=similar.path, offset=similar.offset)
    name = os.path.splitext(os.path.basename(bare if is_there else whole))[0][:NAME_MAX]
    if not name or caller.cwd is None:
        return refused.ended("the trees there are", "list_codebases")
    return refused.ended("find it by name", "search_code", query=name)


def _read(call: ToolCall, request: Request) -> Result:
    from holdfast.mcp.binding import DIALECT, LEAF, Bound
    from holdfast.reading import paths
    from holdfast.reading.baseline import Dialect
    from holdfast.reading.session_log import AnswerRoom

    caller = call.caller
    if caller.cwd is None and not request.path.removeprefix("@").startswith(("/", "~")):
        # The path may begin with a repository's name; otherwise this raises that it is relative.
        request = replace(request, path=caller.path(request.path))
    reader = call.reader()
    if call.meta.get(DIALECT) == Dialect.UNCOUNTED.value:
        reader = reader.with_dialect(Dialect.UNCOUNTED)
    if caller.client.lower().startswith(SHOWN_INSTEAD):
        reader = reader.with_pages(PAGE_BYTES)
    # Checked before any lookup: a refusal must not reveal whether a file exists.
    call.workspace.admit(reader.place.expand(request.path))
    if LEAF not in call.meta:
        request = _symbol_lines(call, request, reader.place)
    target = paths.locate(request, reader.place)
    with call.context.sessions.of(caller, call.meta, "read", call.arguments) as session:
        log = session.log if isinstance(session, Bound) else None
        kind = session.kind if isinstance(session, Bound) else ""
        room = log.answer_bytes_max() if isinstance(log, AnswerRoom) else None
        if room is not None:
            # A page that the agent cuts loses lines in its middle.
            reader = reader.with_pages(min(PAGE_BYTES, int(room * OF_CUT)))
        if kind != "pi":
            reader = reader.only_unseen()  # not for pi, whose read has a fixed contract
        app, index = call.context.app, lambda: call.context.index
        # In pi this tool is the agent's own read, so the setting for own reads applies.
        focused = request.focus or (kind == "pi" and reader.settings.focus_of(kind) is not None)
        focuser = app.focuser(reader, log, kind, index) if focused else None
        try:
            answer = reader.read(request, log, call.cancelled, focuser)
        finally:
            if call.cancelled():
                reader.forget()  # lines that were not shown must not count as shown
        rest = _rest(target, answer)
        below = [] if LEAF in call.meta else [_goes_on(target, rest), _notes(call, target, answer)]
        about = "\n".join(filter(None, below))
        shown = answer._replace(text=f"{answer.text}\n{about}") if about else answer
        if isinstance(session, Bound):
            # An agent's log proves an answer by the text shown, our own log by its metadata.
            call.after_sent(partial(session.record, answer if session.kind == "native" else shown))
            call.context.app.collect_daily(reader, session.log)
    # pi stores the details with the result, as proof for later reads.
    details = answer.details if isinstance(session, Bound) and session.kind == "pi" else None
    facts = ReadAnswer("ok", target.path, answer.mode, answer.text, details).to_wire()
    more = _GOES_ON.search(answer.text[-200:])
    if more is not None or rest is not None:
        offset = int(more[1]) if more is not None else rest
        facts["continue"] = continued("read", path=target.path, offset=offset)
    images = tuple(
        (block["data"], block["mimeType"]) for block in answer.content if block["type"] == "image"
    )
    return Result(shown.text, facts, images=images)


def _symbol_lines(call: ToolCall, request: Request, place: Place) -> Request:
    """The same request by line numbers, if its path ends in a symbol (`cart.py:Cart.total`).

    Any other request is returned as it is; a name that the file does not have exactly once is
    refused.
    """
    from holdfast.index.tools.outline import file_outline
    from holdfast.reading.errors import BadRange
    from holdfast.reading.paths import accessible

    typed, _, name = request.path.rpartition(":")
    is_range = request.offset is not None or request.limit is not None
    if is_range or not typed or not _SYMBOL.match(name):
        return request
    file, is_there = place.resolve(typed, accessible)
    if not is_there or place.resolve(request.path, accessible)[1]:
        return request
    folder = os.path.dirname(file)
    outline = file_outline(
        call.context.index, folder, file, resolve_mode="exact", symbol_label=name
    )
    symbols = outline.outline.symbols if outline.outline is not None else ()
    if len(symbols) != 1:
        where = ", ".join(line_range(s.span.start_line, s.span.end_line) for s in symbols)
        several = f"{typed} has {len(symbols)} symbols {name}: lines {where}"
        raise BadRange(several if symbols else outline.message or f"{typed} has no symbol {name}")
    span = symbols[0].span
    lines = span.end_line - span.start_line + 1
    return replace(request, path=typed, offset=span.start_line, limit=lines)


def _rest(target: Target, answer: Answer) -> int | None:
    """The first remaining line, when only the first part of a file was reported as unchanged."""
    meta = answer.meta
    if meta is None or answer.mode != "unchanged_range" or target.limit is not None:
        return None
    return meta.last + 1 if meta.last < meta.lines_total else None


def _goes_on(target: Target, rest: int | None) -> str:
    if rest is None:
        return ""
    return f"[continue: read(path={json.dumps(target.typed)}, offset={rest})]"


def _notes(call: ToolCall, target: Target, answer: Answer) -> str:
    """The line about notes on the lines that were read; not repeated for unchanged text."""
    if answer.picture is not None:
        return ""
    lines = None
    if target.offset is not None or target.limit is not None:
        first = int(target.offset or 1)
        lines = [(first, first + int(target.limit) - 1 if target.limit is not None else 1 << 60)]
    again = not (answer.mode or "").startswith("unchanged")
    return near_notes(call, {target.path: lines}, again=again)


READ = Tool(
    name="read",
    title="Read a file",
    description=(
        "Read a file, or lines of it. Answers with the text, with a diff against what you read "
        "before, or with one line saying it is unchanged: whatever your context provably holds "
        "is not sent again. Treat the answer as authoritative for what you asked. Long files are "
        "cut; the answer says how to go on. After an edit failed because its old text was not "
        "found, read the same lines with bypass_cache=true."
    ),
    input=inputs(
        "path",
        path=string(
            "the file, absolute or from the working directory; then :N, :N-M or :Symbol for lines"
        ),
        offset=number("the first line, from 1"),
        limit=number("how many lines"),
        bypass_cache=boolean("send the plain text this time"),
        focus=boolean("fold what nothing points at (whole first read of a long file)"),
    ),
    output=schema_of(ReadAnswer),
    run=run,
)
