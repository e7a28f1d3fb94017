"""The line about notes in answers that show code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.mcp.tool import ToolCall, call_text

if TYPE_CHECKING:
    from holdfast.notes.near_code import NearNote, Shown


def near_notes(call: ToolCall, shown: Shown, *, again: bool = True) -> str:
    """One line about the notes on the code that an answer shows; empty if there are none.

    With `again` false, notes that were already mentioned to this client are left out.
    """
    from holdfast.app import DEFAULT_SPACE
    from holdfast.mcp.tools.memory.links import linked_code
    from holdfast.notes.near_code import OFF, SETTING, note_line

    caller = call.caller
    space = caller.environment.get(SETTING, "") or DEFAULT_SPACE
    if space == OFF or caller.principal is not None:
        return ""
    notes = call.context.notes(space).near(shown, linked_code(call).judge, caller.cwd)
    if not again:
        notes = [one for one in notes if (one.note.id, one.note.seq) not in caller.notes_told]
    caller.notes_told.update((one.note.id, one.note.seq) for one in notes)

    def more(first: NearNote) -> str:
        if len(notes) == 1:
            return call_text("memory_get", {"id": first.note.id, "space": space})
        return call_text("memory_query", {"code": first.note.link.path, "space": space})

    return note_line(notes, more)
