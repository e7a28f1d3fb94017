"""References as text: by kind and file, one line for each place."""

from __future__ import annotations

from itertools import groupby

from holdfast.index.answers import CallNode
from holdfast.index.references.answers import ReferencePlace, ReferencesAnswer
from holdfast.index.tools.render import Surface, warning_text
from holdfast.text import counted

SURE = 0.9
"""A less certain reference says how certain it is, and why."""
HEADINGS = {
    "definition": "definitions",
    "import": "imports",
    "base": "base class of",
    "annotation": "types",
    "call": "calls",
    "value": "values",
    "write": "writes",
}


def references_text(answer: ReferencesAnswer, surface: Surface, *, more: str) -> str:
    """The answer about references; `more` is the call that shows what was left out."""
    if answer.status != "ok":
        return surface.message(answer.message or answer.status)
    tree = answer.path
    lines = [_node(node, tree, surface) for node in answer.definitions]
    if answer.relation == "implementations":
        lines += [f"  {_node(node, tree, surface)}" for node in answer.implementations]
        if not answer.implementations:
            lines.append("Nothing implements or overrides it.")
    elif answer.relation == "references":
        lines += _places(answer, tree, surface)
    for warning in answer.warnings:
        lines.append(f"[{warning_text(warning)}; for all: {more}]")
    if answer.undecided:
        lines.append(f"[{counted(answer.undecided, 'mention')} of the name could not be decided:]")
        lines += [f"  {_at(one, tree, surface)}  {surface.text(one.text)}"
                  for one in answer.undecided_places]  # fmt: skip
    if not answer.complete:
        named = ", ".join(surface.text(path) for path in answer.unread[:3])
        lines.append(f"[not complete: {named}{', …' if len(answer.unread) > 3 else ''} not read]")
    return "\n".join(lines)


def _node(node: CallNode, tree: str, surface: Surface) -> str:
    span = node.span
    at = f"{surface.file(tree, node.file)}:{span.start_line}-{span.end_line}"
    return f"{surface.text(at)}  {surface.text(node.symbol_label)}  {node.kind}"


def _at(one: ReferencePlace, tree: str, surface: Surface) -> str:
    return surface.text(f"{surface.file(tree, one.file)}:{one.line}")


def _places(answer: ReferencesAnswer, tree: str, surface: Surface) -> list[str]:
    if not answer.references:
        return ["No references found."]
    counts = {count.kind: count.count for count in answer.counts}
    lines = []
    for kind, places in groupby(answer.references, key=lambda one: one.kind):
        lines.append(f"{HEADINGS[kind]} ({counts[kind]}):")
        for one in places:
            doubt = "" if one.confidence >= SURE else f"  [{one.confidence:.2f} {one.reason}]"
            inside = "" if kind in ("import", "definition") else f"{one.symbol_label}  "
            lines.append(
                f"  {_at(one, tree, surface)}  {surface.text(inside)}"
                f"{surface.text(one.text)}{doubt}"
            )
    return lines
