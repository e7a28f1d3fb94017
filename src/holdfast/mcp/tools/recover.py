"""recover: the lines that the conversation used before its latest compaction, in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.answers import Part
from holdfast.mcp.tool import Result, Tool, ToolCall, inputs, integer
from holdfast.mcp.tools.common import continued, schema_of

if TYPE_CHECKING:
    from holdfast.reading.recovery import Piece

TOKENS, TOKENS_MAX = 4000, 20_000


class RecoveredLines(Part, frozen=True):
    """Lines of one file, in the answer's text."""

    path: str
    first: int
    last: int


class RecoveredText(Part, frozen=True):
    """What `recover` brings back."""

    content: str
    files: tuple[RecoveredLines, ...] = ()
    left: tuple[str, ...] = ()
    """Files that did not fit."""


def run(call: ToolCall) -> Result:
    from holdfast.mcp.binding import Bound
    from holdfast.mcp.hook_decision import ledger_before, used_files
    from holdfast.mcp.hook_state import rows_of
    from holdfast.reading.events import Printed
    from holdfast.reading.recovery import pick, shown

    caller, reader = call.caller, call.reader()
    cwd = caller.cwd or ""
    with call.context.sessions.of(caller, call.meta, "recover", call.arguments) as session:
        if not isinstance(session, Bound):
            text = f"nothing can be recovered: no conversation is bound ({session.why})"
            return Result(text, {"status": "ok", "content": text})
        used = used_files(ledger_before(session.log, at_compaction=False), reader)
    if not used:
        text = "nothing was read before the latest compaction"
        return Result(text, {"status": "ok", "content": text})
    pieces, rest = pick(used, lambda path: rows_of(reader, path), call.arguments["tokens"])
    text = "\n\n".join(_piece(piece, shown(piece.path, cwd)) for piece in pieces)
    paths = tuple(file.path for file in rest)
    if paths:
        names = ", ".join(shown(path, cwd) for path in paths[:20])
        text = f"{text}\n\n[not all of these fitted into the budget: {names}]".lstrip("\n")
    lines = tuple(
        RecoveredLines(piece.path, piece.first, piece.first + len(piece.rows) - 1)
        for piece in pieces
    )
    facts = {"status": "ok", **RecoveredText(text, lines, paths).to_wire()}
    result = Result(text, facts)
    printed = [Printed(piece.path, piece.first, tuple(piece.rows)) for piece in pieces]
    call.note_shown("recover", printed, text)
    if paths:
        run_of = rest[0].runs
        offset = run_of[0].first if run_of else None
        facts["continue"] = continued("read", path=paths[0], offset=offset)
    return result


def _piece(piece: Piece, name: str) -> str:
    last = piece.first + len(piece.rows) - 1
    head = f"{name} lines {piece.first}-{last}:"
    rows = [f"{number}\t{row}" for number, row in enumerate(piece.rows, start=piece.first)]
    return "\n".join((head, *rows))


RECOVER = Tool(
    name="recover",
    title="Bring back what a compaction took",
    description=(
        "After a compaction: the lines that you used before it, as they are on disk now, the most "
        "needed first (around your edits, the ranges you asked for, small files whole), in at most "
        "`tokens` tokens. One call in place of reading every file again."
    ),
    input=inputs(
        tokens=integer("maximum number of tokens", default=TOKENS, minimum=100, maximum=TOKENS_MAX),
    ),
    output=schema_of(RecoveredText),
    run=run,
)
