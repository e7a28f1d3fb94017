"""References as text: by kind and file, one line per place."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from holdfast.index.answers import CallNode
from holdfast.index.references.answers import (
    ImpactAnswer,
    ReferencePlace,
    ReferencesAnswer,
)
from holdfast.index.tools.render import Surface, span_text, warning_text
from holdfast.text import counted

SURE = 0.9
"""A reference with less confidence shows it, with the reason."""
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
    """The answer of references; `more` is the call that shows what was left out."""
    if answer.status != "ok":
        return surface.message(answer.message or answer.status)
    tree = answer.path
    lines = [node_line(node, tree, surface) for node in answer.definitions]
    if answer.relation == "implementations":
        lines += [f"  {node_line(node, tree, surface)}" for node in answer.implementations]
        if not answer.implementations:
            lines.append("Nothing implements or overrides it.")
    elif answer.relation == "references":
        lines += _places(answer, tree, surface)
    for warning in answer.warnings:
        lines.append(f"[{warning_text(warning)}; for all: {more}]")
    if answer.undecided:
        lines.append(f"[{counted(answer.undecided, 'mention')} of the name could not be decided:]")
        lines += [f"  {place_line(one, tree, surface)}  {surface.text(one.text)}"
                  for one in answer.undecided_places]  # fmt: skip
    if not answer.complete:
        named = ", ".join(surface.text(path) for path in answer.unread[:3])
        lines.append(f"[not complete: {named}{', …' if len(answer.unread) > 3 else ''} not read]")
    return "\n".join(lines)


def node_line(node: CallNode, tree: str, surface: Surface) -> str:
    at = f"{surface.file(tree, node.file)}:{span_text(node.span)}"
    return f"{surface.text(at)}  {surface.text(node.symbol_label)}  {node.kind}"


def place_line(one: ReferencePlace, tree: str, surface: Surface) -> str:
    return surface.text(f"{surface.file(tree, one.file)}:{one.line}")


def _places(answer: ReferencesAnswer, tree: str, surface: Surface) -> list[str]:
    if not answer.references:
        return ["No references found."]
    counts = {count.kind: count.count for count in answer.counts}
    lines = []
    for kind, places in groupby(answer.references, key=lambda one: one.kind):
        lines.append(f"{HEADINGS[kind]} ({counts[kind]}):")
        for one in _once(places):
            doubt = "" if one.confidence >= SURE else f"  [{one.confidence:.2f} {one.reason}]"
            inside = "" if kind in ("import", "definition") else f"{one.symbol_label}  "
            lines.append(
                f"  {place_line(one, tree, surface)}  {surface.text(inside)}"
                f"{surface.text(one.text)}{doubt}"
            )
    return lines


def _once(places: Iterable[ReferencePlace]) -> list[ReferencePlace]:
    """One place for each line: `from a import Cart as Cart` mentions it twice."""
    return list({(one.file, one.line, one.kind): one for one in places}.values())


# impact


def impact_text(answer: ImpactAnswer, surface: Surface, *, more: str) -> str:
    """What changed since a revision, and what depends on it."""
    if answer.status != "ok":
        return surface.message(answer.message or answer.status)
    tree = answer.path
    changed = f"{counted(answer.total, 'changed symbol')} in {counted(len(answer.files), 'file')}"
    lines = [f"{changed if answer.files else 'no file changed'} since {answer.since}"]
    for one in answer.symbols:
        at = surface.text(f"{surface.file(tree, one.file)}:{one.line}")
        lines.append(f"{one.change} {surface.text(one.symbol_label)}  {one.kind}  {at}")
        lines += [f"  called by  {node_line(node, tree, surface)}" for node in one.callers]
        if one.more_callers:
            lines.append(f"  and {counted(one.more_callers, 'more caller')}")
        for place in _once(one.references):
            text = surface.text(place.text)
            lines.append(f"  {_KIND_OF[place.kind]}  {place_line(place, tree, surface)}  {text}")
        lines += [
            f"  still named  {place_line(place, tree, surface)}  {surface.text(place.text)}"
            for place in one.broken
        ]
        if one.more_references:
            lines.append(f"  and {counted(one.more_references, 'more mention')}")
    if answer.tests:
        lines.append("tests that reach them:")
    for test in answer.tests:
        at = surface.text(f"{surface.file(tree, test.file)}:{test.line}")
        reach = ", ".join(map(surface.text, test.reaches[:3]))
        lines.append(f"  {at}  {surface.text(test.symbol_label)}  ({reach})")
    if answer.total > len(answer.symbols):
        lines.append(f"[{len(answer.symbols)} of {answer.total} symbols shown; for all: {more}]")
    if not answer.complete:
        named = ", ".join(map(surface.text, answer.unread[:3]))
        lines.append(f"[not complete: {named} not read]")
    return "\n".join(lines)


_KIND_OF = {
    "import": "imported",
    "base": "base class",
    "annotation": "as a type",
    "value": "as a value",
    "write": "written",
}
