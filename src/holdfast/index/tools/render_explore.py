"""The answer of explore as text within a budget."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.index.references.answers import (
    CallEdgeLine,
    ExploreAnswer,
    ExploredSymbol,
    ReferencePlace,
)
from holdfast.index.search.roles import role_of
from holdfast.index.tools.render import Surface, code_text, span_text
from holdfast.index.tools.render_calls import shortened
from holdfast.index.tools.render_references import HEADINGS, SURE, node_line, place_line
from holdfast.text import counted, line_range


def explore_text(answer: ExploreAnswer, surface: Surface, *, tokens_max: int) -> str:
    """Everything about a symbol within a budget; lines that do not fit are counted."""
    if answer.status != "ok":
        return surface.message(answer.message or answer.status)
    each = max(200, tokens_max // max(1, len(answer.found)))
    blocks = ["\n".join(_explored(one, answer.path, surface, each)) for one in answer.found]
    if answer.others:
        named = [node_line(node, answer.path, surface) for node in answer.others]
        blocks.append("\n".join(["other symbols of that name:", *(f"  {line}" for line in named)]))
    return "\n\n".join(blocks) or "It is gone by now."


def printed_lines(
    answer: ExploreAnswer, surface: Surface, *, tokens_max: int
) -> Iterator[tuple[str, int, list[str]]]:
    """The source lines that the text of an answer shows unchanged: file, first number, lines."""
    each = max(200, tokens_max // max(1, len(answer.found)))
    for one in answer.found:
        rows = one.text.split("\n") if one.text else []
        shown = _explored(one, answer.path, surface, each)[1:]
        same = [row for row, other in zip(rows, shown, strict=False) if row == other]
        if same and same == rows[: len(same)]:
            yield one.symbol.file, one.symbol.span.start_line, same


def _explored(one: ExploredSymbol, tree: str, surface: Surface, tokens_max: int) -> list[str]:
    text = [code_text(line, surface) for line in one.text.split("\n")] if one.text else []
    if one.folded:
        span = one.symbol.span
        left = span.end_line - span.start_line + 1 - len(text)
        last = span.start_line + len(text)
        text.append(f"    … {counted(left, 'more line')}, {line_range(last, span.end_line)}")
    members = [
        f"  {span_text(node.span)}  "
        f"{surface.text(node.symbol_label.rpartition('.')[2])}  {node.kind}"
        for node in one.members
    ]
    counts = ", ".join(
        f"{HEADINGS[count.kind]} {count.count}"
        for count in one.counts
        if count.kind != "definition"
    )
    sections = [
        ("", text, 12),
        ("members:", members if one.folded else [], 8),
        ("called by:", _callers(one, tree, surface), 5),
        ("calls:", [_callee(edge, one, tree, surface) for edge in one.callees], 4),
        ("implemented or overridden by:",
         [f"  {node_line(node, tree, surface)}" for node in one.implementations], 3),
        (f"other mentions ({counts}):",
         _mentions(one, tree, surface), 3),
        ("tests that reach it:", _tests(one, tree, surface), 3),
    ]  # fmt: skip
    lines = [node_line(one.symbol, tree, surface)]
    left = tokens_max * 4 - len(lines[0])
    open_sections = [section for section in sections if section[1]]
    for number, (heading, rows, share) in enumerate(open_sections):
        rest = sum(section[2] for section in open_sections[number:])
        # Later sections get what earlier ones did not use.
        room = max(160, left * share // rest)
        lines += [heading] if heading else []
        used = len(heading)
        for place, row in enumerate(rows):
            if used + len(row) + 1 > room and place:
                lines.append(f"  … {len(rows) - place} more")
                break
            lines.append(row)
            used += len(row) + 1
        left -= used
    if one.undecided:
        lines.append(f"[{counted(one.undecided, 'mention')} of the name could not be decided]")
    if not one.complete:
        lines.append("[not complete: some files were not read]")
    return lines


def _callers(one: ExploredSymbol, tree: str, surface: Surface) -> list[str]:
    """A line for each caller with the code of its first call; tests have their own section."""
    places: dict[tuple[str, str], list[CallEdgeLine]] = {}
    for edge in one.callers:
        if role_of(edge.file) != "test":
            places.setdefault((edge.node.symbol_id, edge.file), []).append(edge)
    rows = []
    for (_, file), edges in places.items():
        node = edges[0].node
        named = "" if file == one.symbol.file else surface.file(tree, file)
        numbers = ",".join(dict.fromkeys(str(edge.line) for edge in edges))
        span = f"({span_text(node.span)})"
        text = f"  {named}:{numbers}  {node.symbol_label} {span}  {shortened(edges[0].text)}"
        rows.append(surface.text(text).rstrip() + _doubt(edges[0]))
    return rows


def _callee(edge: CallEdgeLine, one: ExploredSymbol, tree: str, surface: Surface) -> str:
    """A call; the callee with its lines, and its file if it is another."""
    node = edge.node
    span = span_text(node.span)
    at = span if node.file == one.symbol.file else f"{surface.file(tree, node.file)}:{span}"
    return surface.text(f"  :{edge.line}  {node.symbol_label} ({at})") + _doubt(edge)


def _doubt(edge: CallEdgeLine) -> str:
    return "" if edge.confidence >= SURE else f"  [{edge.confidence:.2f}]"


def _tests(one: ExploredSymbol, tree: str, surface: Surface) -> list[str]:
    """A line for each file of tests, with its tests by line and last name."""
    files: dict[str, list[str]] = {}
    for test in one.tests:
        name = test.symbol_label.rpartition(".")[2]
        files.setdefault(test.file, []).append(f"{test.line} {name}")
    return [
        surface.text(f"  {surface.file(tree, file)}: {', '.join(names)}")
        for file, names in files.items()
    ]


def _mentions(one: ExploredSymbol, tree: str, surface: Surface) -> list[str]:
    """Mentions other than calls, each line once; imports say little and share one line."""
    named: dict[tuple[str, int], ReferencePlace] = {}
    for place in one.references:
        if place.kind != "import":
            named.setdefault((place.file, place.line), place)
    rows = [
        f"  {place.kind}  {place_line(place, tree, surface)}  {surface.text(place.text)}"
        for place in named.values()
    ]
    imports = [place_line(p, tree, surface) for p in one.references if p.kind == "import"]
    if imports:
        rest = f", … {len(imports) - 4} more" if len(imports) > 4 else ""
        rows.append(f"  imported in {', '.join(imports[:4])}{rest}")
    return rows
