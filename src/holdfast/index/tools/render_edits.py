"""The preview of an edit of a symbol, as text."""

from __future__ import annotations

from holdfast.index.references.answers import SymbolEditAnswer
from holdfast.index.tools.render import Surface
from holdfast.text import counted


def edit_text(answer: SymbolEditAnswer, surface: Surface, *, apply: str, settle: str) -> str:
    """The diff and the places in doubt.

    `apply` is the call that applies the preview, `settle` says how a doubt is settled.
    """
    if answer.status not in ("ok", "blocked"):
        return surface.message(answer.message or answer.status)
    places = counted(answer.places, "place")
    files = counted(len(answer.files), "file")
    if answer.applied:
        names = ", ".join(map(surface.text, answer.files))
        notes = [f"[{surface.text(note)}]" for note in answer.notes]
        return "\n".join([f"Applied: {places} in {files}: {names}", *notes])
    lines = [surface.text(line) for line in answer.diff.rstrip("\n").split("\n") if answer.diff]
    for one in answer.doubts:
        at = surface.text(f"{one.file}:{one.line}")
        lines.append(f"in doubt  {at}  {surface.text(one.why)}  {surface.text(one.text)}".rstrip())
    lines += [f"[{surface.text(note)}]" for note in answer.notes]
    if answer.message:
        lines.append(surface.message(answer.message))
    if answer.doubts:
        doubts = counted(len(answer.doubts), "place")
        lines.append(
            f"[{places} in {files}, {doubts} in doubt; nothing is written yet. Settle those first: "
            f"{settle}; that preview shows how to apply it]"
        )
    else:
        lines.append(f"[{places} in {files}; nothing is written yet. To apply: {apply}]")
    return "\n".join(lines)
