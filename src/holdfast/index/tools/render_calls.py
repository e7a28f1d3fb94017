"""Calls as text: by symbol, its callers and what it calls, each with the line of the call.

Calls in test files are named by their lines alone: a reader of the program seldom needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.index.answers import CallEdge, CallGraphAnswer, CallNode
from holdfast.index.search.roles import role_of
from holdfast.index.tools.render import Surface, span_text, warning_text
from holdfast.text import counted

SURE = 0.9
"""A call with less confidence shows it; its reason is in the JSON form."""
TEXT_MAX = 100
"""A longer line of code is cut."""


def calls_text(answer: CallGraphAnswer, surface: Surface, *, more: str) -> str:
    """Calls by symbol; or why there are none, with the symbols to choose from."""
    tree = answer.path
    if answer.status != "ok":
        lines = [surface.message(answer.message or answer.status)]
        for node in answer.nodes:
            at = f"{surface.file(tree, node.file)}:{node.span.start_line}"
            lines.append(f"  {node.symbol_id}  {node.symbol_label}  {at}")
        return "\n".join(lines)
    lines = list(_by_symbol(answer, surface)) or ["No calls found."]
    lines += [
        f"[{warning_text(warning)}]"
        for warning in answer.warnings
        if warning.startswith("CALL_GRAPH_SEVERAL:")
    ]
    unknown = answer.total_note_count
    if unknown:
        leads = "1 call leads" if unknown == 1 else f"{unknown} calls lead"
        lines.append(f"[{leads} out of the tree or could not be resolved]")
    if "CALL_GRAPH_CALLERS_PARTIAL" in answer.warnings:
        lines.append(
            "[callers that use another name for it may be missing: it is held and passed under "
            "too many names to follow all]"
        )
    if "CALL_GRAPH_EDGES_TRUNCATED" in answer.warnings:
        lines.append(f"[{counted(len(answer.edges), 'call')} shown; for more: {more}]")
    return "\n".join(lines)


def _by_symbol(answer: CallGraphAnswer, surface: Surface) -> Iterator[str]:
    """Each symbol with the calls of it and in it, beginning with those that were asked for."""
    nodes = {node.symbol_id: node for node in answer.nodes}
    callers, callees = _sides(answer)
    for symbol in dict.fromkeys([*answer.symbol_ids, *callers, *callees]):
        if symbol not in callers and symbol not in callees:
            continue
        node = nodes[symbol]
        at = surface.text(f"{surface.file(answer.path, node.file)}:{span_text(node.span)}")
        yield f"{surface.style(at, 'heading')}  {surface.text(node.symbol_label)}"
        if symbol in callers:
            yield "called by:"
            yield from _callers(callers[symbol], nodes, answer.path, surface)
        if symbol in callees:
            yield "calls:"
            for edge in callees[symbol]:
                yield _callee(edge, nodes[edge.dst_symbol_id], node, answer.path, surface)


def _sides(
    answer: CallGraphAnswer,
) -> tuple[dict[str, list[CallEdge]], dict[str, list[CallEdge]]]:
    """The calls that lead to the symbols of the answer, by callee; the others, by caller."""
    callers: dict[str, list[CallEdge]] = {}
    callees: dict[str, list[CallEdge]] = {}
    above, below = set(answer.symbol_ids), set(answer.symbol_ids)
    left = list(answer.edges)
    while left:
        rest = []
        for edge in left:
            if answer.direction != "callees" and edge.dst_symbol_id in above:
                callers.setdefault(edge.dst_symbol_id, []).append(edge)
                above.add(edge.src_symbol_id)
            elif answer.direction != "callers" and edge.src_symbol_id in below:
                callees.setdefault(edge.src_symbol_id, []).append(edge)
                below.add(edge.dst_symbol_id)
            else:
                rest.append(edge)
        if len(rest) == len(left):
            # Not connected to the symbol: listed all the same.
            for edge in rest:
                callees.setdefault(edge.src_symbol_id, []).append(edge)
            break
        left = rest
    return callers, callees


def _callers(
    edges: list[CallEdge], nodes: Mapping[str, CallNode], tree: str, surface: Surface
) -> Iterator[str]:
    """A line for each caller, and one for each file of tests."""
    places: dict[tuple[str, str], list[CallEdge]] = {}
    tests: dict[str, list[CallEdge]] = {}
    for edge in edges:
        if role_of(edge.site.file) == "test":
            tests.setdefault(edge.site.file, []).append(edge)
        else:
            places.setdefault((edge.src_symbol_id, edge.site.file), []).append(edge)
    symbol = nodes[edges[0].dst_symbol_id]
    for (caller, file), calls in places.items():
        node = nodes[caller]
        named = "" if file == symbol.file else surface.file(tree, file)
        at = surface.text(f"{named}:{_numbers(calls)}")
        text = shortened(calls[0].site.text)
        label = surface.text(node.symbol_label)
        yield f"  {at}  {label} ({span_text(node.span)})  {surface.text(text)}".rstrip() + _doubt(
            calls[0]
        )
    for file, calls in tests.items():
        yield f"  {surface.text(surface.file(tree, file))}:{_numbers(calls)}  in tests"


def shortened(text: str | None) -> str:
    """A line of code beside a place, or nothing."""
    text = (text or "").strip()
    return text[: TEXT_MAX - 1] + "…" if len(text) > TEXT_MAX else text


def _numbers(edges: list[CallEdge]) -> str:
    return ",".join(dict.fromkeys(str(edge.site.start_line) for edge in edges))


def _callee(edge: CallEdge, node: CallNode, caller: CallNode, tree: str, surface: Surface) -> str:
    """A call from the caller's file; the callee with its lines, and its file if it is another."""
    span = span_text(node.span)
    at = span if node.file == caller.file else f"{surface.file(tree, node.file)}:{span}"
    label = surface.text(node.symbol_label)
    return f"  :{edge.site.start_line}  {label} ({surface.text(at)}){_doubt(edge)}"


def _doubt(edge: CallEdge) -> str:
    return "" if edge.confidence >= SURE else f"  [{edge.confidence:.2f}]"
