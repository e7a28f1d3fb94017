"""Draw a small graph, as text and as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from holdfast.sequence.errors import GraphTooLarge
from holdfast.sequence.graph import Atom, Graph, Vertex
from holdfast.sequence.response import GraphMatch

DRAWN_MAX = 400
"""Graphs with more vertices are too large to read."""

SHOW_VERSION = 1
"""1: vertices with their patterns, and the answer to a query."""

LABEL_PARTS, PART_MAX = 4, 24
"""A short label has this many tokens from both ends, each cut to this many characters."""


@dataclass(frozen=True, slots=True)
class ShowAnswer:
    """The graph of a few texts, and where a query lies in it."""

    graph: Graph
    query: str = ""
    response: GraphMatch | None = None

    def to_wire(self) -> dict[str, Any]:
        graph, response = self.graph, self.response
        wire: dict[str, Any] = {
            "format": SHOW_VERSION,
            "closed": graph.closed,
            "vertices": [
                {
                    "id": vertex,
                    "label": label(graph, vertex),
                    "width": graph.width(vertex),
                    "patterns": [list(pattern) for pattern in graph.patterns(vertex)],
                }
                for vertex in graph.vertices()
            ],
        }
        if response is not None:
            wire["answer"] = {
                "kind": response.kind.value,
                "reason": response.reason.value,
                "root": response.root,
                "start": response.start,
                "end": response.end,
                "position": response.position,
                "exhausted": response.query_exhausted,
            }
        return wire

    def as_text(self) -> str:
        text, response = as_text(self.graph), self.response
        if response is None:
            return text
        extent = "all of it" if response.query_exhausted else f"{response.position} atoms of it"
        root = f"{label(self.graph, response.root)} [{response.start}, {response.end})"
        return f"{text}\nquery {self.query!r}: {extent}, {response.kind.value} in {root}"


def _part(atom: Atom) -> str:
    return atom.decode("utf-8", "replace") if isinstance(atom, bytes) else str(atom)


def label(graph: Graph, vertex: Vertex) -> str:
    """A vertex's string: single characters side by side, longer tokens separated by blanks."""
    parts = [_part(atom) for atom in graph.spelled(vertex)]
    return ("" if all(len(part) == 1 for part in parts) else " ").join(parts)


def short_label(graph: Graph, vertex: Vertex) -> str:
    """A vertex's tokens on one short line; those in the middle are left out, long ones cut."""
    parts = [_cut(_part(atom)) for atom in graph.spelled(vertex)]
    if len(parts) > 2 * LABEL_PARTS + 1:
        parts[LABEL_PARTS:-LABEL_PARTS] = ["…"]
    return " ".join(parts)


def _cut(text: str) -> str:
    line = text.split("\n", 1)[0]
    return text if text == line[:PART_MAX] else line[: PART_MAX - 1] + "…"


def _ordered(graph: Graph) -> list[Vertex]:
    if len(graph) > DRAWN_MAX:
        raise GraphTooLarge("vertices", DRAWN_MAX)
    return sorted(graph.vertices(), key=lambda v: (graph.width(v), v))


def as_text(graph: Graph) -> str:
    """The atoms, then one line for each other vertex with its patterns, narrow ones first."""
    lines = []
    composites = [v for v in _ordered(graph) if not graph.is_atom(v)]
    names = {vertex: label(graph, vertex) for vertex in graph.vertices()}
    across = max((len(names[v]) for v in composites), default=0)
    for vertex in composites:
        patterns = " ".join(
            "[" + " ".join(names[child] for child in pattern) + "]"
            for pattern in graph.patterns(vertex)
        )
        lines.append(f"{names[vertex]:<{across}}  {graph.width(vertex):>4}  {patterns}")
    atoms = [names[v] for v in _ordered(graph) if graph.is_atom(v)]
    return "\n".join([f"atoms: {' '.join(atoms)}", *lines])


_ROW, _GAP, _CHAR, _BOX = 64, 16, 8, 26
_COLOURS = ("#2563eb", "#db2777", "#16a34a", "#d97706", "#7c3aed", "#0891b2")


def as_svg(graph: Graph) -> str:
    """Vertices in rows by width, the widest on top; the edges of each pattern have one colour."""
    rows: dict[int, list[Vertex]] = {}
    for vertex in _ordered(graph):
        rows.setdefault(graph.width(vertex), []).append(vertex)
    names = {vertex: label(graph, vertex) for vertex in graph.vertices()}
    short = {v: n if len(n) <= 40 else n[:37] + "…" for v, n in names.items()}
    place: dict[Vertex, tuple[int, int, int]] = {}
    across = 0
    for level, width in enumerate(sorted(rows, reverse=True)):
        at = _GAP
        for vertex in rows[width]:
            size = len(short[vertex]) * _CHAR + 16
            place[vertex] = (at, _GAP + level * _ROW, size)
            at += size + _GAP
        across = max(across, at)
    height = _GAP + len(rows) * _ROW
    edges, boxes = [], []
    for vertex in _ordered(graph):
        x, y, size = place[vertex]
        for number, pattern in enumerate(graph.patterns(vertex)):
            colour = _COLOURS[number % len(_COLOURS)]
            for nth, child in enumerate(pattern):
                cx, cy, child_size = place[child]
                start = x + size * (nth + 1) // (len(pattern) + 1)
                edges.append(
                    f'<line x1="{start}" y1="{y + _BOX}" x2="{cx + child_size // 2}" y2="{cy}" '
                    f'stroke="{colour}" stroke-width="1.2" opacity="0.7"/>'
                )
        boxes.append(
            f"<g><title>{escape(names[vertex])} ({graph.width(vertex)})</title>"
            f'<rect x="{x}" y="{y}" width="{size}" height="{_BOX}" rx="5" fill="#f8fafc" '
            f'stroke="#334155"/><text x="{x + size // 2}" y="{y + 18}" text-anchor="middle">'
            f"{escape(short[vertex])}</text></g>"
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{height}" '
        f'viewBox="0 0 {across} {height}" font-family="monospace" font-size="13">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(edges)}{"".join(boxes)}</svg>\n'
    )
