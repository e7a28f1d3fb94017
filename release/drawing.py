"""The architecture as a picture: packages in layers, drawn from the imports of the source."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from html import escape
from pathlib import Path

BOX_W, BOX_H, GAP_X, GAP_Y, MARGIN = 118, 34, 16, 58, 20
PER_ROW = 7
EVERYWHERE = frozenset({"answers", "errors", "ids", "system", "text", "home"})
"""Small modules that nearly every package imports; their lines would hide the others."""


def imports(source: Path) -> dict[str, Counter[str]]:
    """How many modules of a package import each other package."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(source.rglob("*.py")):
        package = path.relative_to(source).parts[0].removesuffix(".py")
        if package.startswith("__"):
            continue
        found.setdefault(package, Counter())
        for name in _imported(path):
            if name != package:
                found[package][name] += 1
    return dict(found)


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.update([node.module] if node.module != "holdfast" else [])
            if node.module == "holdfast":
                names.update(f"holdfast.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    parts = [name.split(".") for name in names if name.startswith("holdfast.")]
    return {part[1] for part in parts}


def layers(graph: dict[str, Counter[str]]) -> list[list[str]]:
    """The packages from those that import nothing upwards; cycles share a layer."""
    height: dict[str, int] = {}
    waiting = set(graph)
    while waiting:
        ready = [
            name
            for name in waiting
            if all(used in height or used not in graph for used in graph[name])
        ]
        # Packages that import each other are placed by what is already placed.
        chosen = ready or [min(waiting, key=lambda name: (_open(graph, name, height), name))]
        level = max(
            (height[used] + 1 for name in chosen for used in graph[name] if used in height),
            default=0,
        )
        for name in chosen:
            below = (height[used] + 1 for used in graph[name] if used in height)
            height[name] = max(below, default=0) if ready else level
        waiting -= set(chosen)
    rows: dict[int, list[str]] = defaultdict(list)
    for name, level in sorted(height.items()):
        rows[level].append(name)
    return [rows[level] for level in sorted(rows)]


def _open(graph: dict[str, Counter[str]], name: str, height: dict[str, int]) -> int:
    return sum(1 for used in graph[name] if used in graph and used not in height)


def architecture(source: Path) -> str:
    """An SVG: what is used is below what uses it; a thicker line means more modules."""
    graph = imports(source)
    rows = [row[i : i + PER_ROW] for row in layers(graph) for i in range(0, len(row), PER_ROW)]
    width = MARGIN * 2 + max(map(len, rows)) * (BOX_W + GAP_X)
    height = MARGIN * 2 + len(rows) * (BOX_H + GAP_Y)
    place: dict[str, tuple[float, float]] = {}
    for up, row in enumerate(rows):
        left = (width - len(row) * (BOX_W + GAP_X) + GAP_X) / 2
        for at, name in enumerate(row):
            y = height - MARGIN - BOX_H - up * (BOX_H + GAP_Y)
            place[name] = (left + at * (BOX_W + GAP_X), y)
    lines = [
        _line(place[user], place[used], count)
        for user, counted in graph.items()
        for used, count in counted.items()
        if used in place and used not in EVERYWHERE
    ]
    boxes = [_box(name, x, y) for name, (x, y) in place.items()]
    style = (
        "text{font:13px sans-serif;text-anchor:middle;fill:#1d2b36}"
        "rect{fill:#e8f1f4;stroke:#4a7a8c}line{stroke:#4a7a8c}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
        "<title>packages of Holdfast; lines lead down to what is imported</title>"
        f"<style>{style}</style>"
        f'<rect width="{width}" height="{height}" style="fill:#fff;stroke:none"/>'
        f"{''.join(lines)}{''.join(boxes)}</svg>\n"
    )


def _line(start: tuple[float, float], end: tuple[float, float], count: int) -> str:
    thickness = min(4.0, 0.4 + count / 12)
    opacity = min(0.8, 0.12 + count / 40)
    from_x, to_x = start[0] + BOX_W / 2, end[0] + BOX_W / 2
    return (
        f'<line x1="{from_x:.0f}" y1="{start[1] + BOX_H:.0f}" x2="{to_x:.0f}" '
        f'y2="{end[1]:.0f}" stroke-width="{thickness:.1f}" opacity="{opacity:.2f}"/>'
    )


def _box(name: str, x: float, y: float) -> str:
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX_W}" height="{BOX_H}" rx="6"/>'
        f'<text x="{x + BOX_W / 2:.0f}" y="{y + BOX_H / 2 + 5:.0f}">{escape(name)}</text>'
    )
