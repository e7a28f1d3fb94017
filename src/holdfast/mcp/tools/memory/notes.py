"""memory_note: stores a plain text, optionally about some code, in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.mcp.tool import Result, Tool, ToolCall, array, inputs, string
from holdfast.mcp.tools.common import schema_of
from holdfast.mcp.tools.memory.answers import NoteAnswer
from holdfast.mcp.tools.memory.common import BRANCH, SPACE, author, new_key, on_space
from holdfast.mcp.tools.memory.links import linked_code

if TYPE_CHECKING:
    from holdfast.store.store import Store


def note(call: ToolCall, store: Store) -> Result:
    from holdfast.notes.note import commit_note, note_value, unlinked

    a = call.arguments
    links = linked_code(call).with_digests(unlinked(a["code"]))
    noted = commit_note(
        store,
        new_key(call),
        note_value(a["text"].strip(), links, a["tags"]),
        a["id"],
        a["branch"],
        author(call, "memory_note"),
        call.context.new_id,
    )
    return Result(str(noted), NoteAnswer(status="ok", id=noted.id, seq=noted.applied.seq).to_wire())


def _makes(call: ToolCall) -> bool:
    """Whether a first note creates its space: not for a branch. Raises if its code is missing."""
    from holdfast.notes.note import unlinked

    linked_code(call).with_digests(unlinked(call.arguments["code"]))
    return not call.arguments["branch"]


MEMORY_NOTE = Tool(
    name="memory_note",
    title="Write a note",
    description=(
        "Write down, as plain text, what the next agent should know. A note about code is shown "
        "when that code is read or found."
    ),
    input=inputs(
        "text",
        text=string("the note", minLength=1),
        code=array(string(), "the code it is about: path or path:symbol", default=[]),
        tags=array(string(), default=[]),
        id=string("the note to replace, if any", default=""),
        space=SPACE,
        branch=BRANCH,
    ),
    output=schema_of(NoteAnswer),
    run=on_space("memory_note", note, makes=lambda call: lambda: _makes(call)),
    read_only=False,
    destructive=True,
    idempotent=False,
)
