"""Figures in pages: a block between two marks is made from a template and the records.

    <!-- evidence: readme -->
    … text made from bench/evidence/templates/readme.md …
    <!-- end of evidence -->

`<!-- evidence: table store -->` needs no template: it is the table of that record. `sections.py`
says what `<!-- evidence: sections -->` and `<!-- evidence: missing -->` are. In a template
`{{store: engine / bare driver | .2f}}` is the value of a row, formatted as Python formats it;
`| %` shows a share as a percentage without its sign, `| goal` the row's goal, `| note` its note,
`| missed` is `: missed` if its goal was not met, `| first .1f` and `| last .1f` the cost at the
smallest and at the largest size of its points.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from bench.evidence import sections
from bench.evidence.records import Record, Records
from bench.timing import Row

TEMPLATES = Path(__file__).parent / "templates"
END = "<!-- end of evidence -->"
_BLOCK = re.compile(r"(<!-- evidence: ([a-z_ -]+) -->\n)(.*?)(" + re.escape(END) + ")", re.DOTALL)
_FIGURE = re.compile(r"\{\{([a-z_-]+): ([^|{}]+?) *(?:\| *([^{}]+?) *)?\}\}")


def fill(template: str, records: Records) -> str:
    """The template with its figures."""

    def figure(match: re.Match[str]) -> str:
        name, what, form = match.groups()
        if name not in records:
            raise KeyError(f"there is no record {name!r} for {what!r}")
        return formatted(records[name].row(what), form or "")

    text = _FIGURE.sub(figure, template)
    if "{{" in text:
        raise ValueError(f"not a figure: {text[text.index('{{') :][:60]!r}")
    return text


def formatted(row: Row, form: str) -> str:
    if form in ("goal", "note", "unit"):
        return str(getattr(row, form))
    if form == "missed":
        return ": missed" if row.met is False else ""
    point, _, digits = form.partition(" ")
    if point in ("first", "last"):
        if not row.points:
            raise ValueError(f"{row.what!r} has no points")
        return format(row.points[0 if point == "first" else -1][1], digits)
    if row.value is None:
        raise ValueError(f"{row.what!r} has no value")
    return f"{row.value * 100:.0f}" if form == "%" else format(row.value, form or ",.3g")


def table(record: Record) -> str:
    """Every row of a record, with its goal and whether it was met."""
    lines = ["| what | measured | goal | |", "|---|---|---|---|"]
    for row in record.rows:
        mark = {True: "met", False: "**missed**", None: ""}[row.met]
        note = f" ({row.note})" if row.note else ""
        cells = (row.what.strip(), f"{number(row)}{note}", row.goal, mark)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def number(row: Row) -> str:
    """A value with its unit, with as many digits as matter."""
    if row.value is None:
        return ""
    digits = 0 if abs(row.value) >= 100 or row.value == int(row.value) else 2
    return f"{row.value:,.{digits}f} {row.unit}".strip()


def origin(record: Record) -> str:
    """Where and when a record was measured, in one sentence."""
    parts = [f"`{record.command}`", record.date, f"commit {record.commit}", record.machine]
    if record.load is not None:
        parts.append(f"load {record.load:.1f} at the start")
    return ", ".join(part for part in parts if part) + "."


def measured(record: Record) -> str:
    """Where a record comes from, and its table."""
    return f"{origin(record)}\n\n{table(record)}"


def updated(page: str, make: Callable[[str], str]) -> str:
    """The page with every block made again; `make` is given the block's name."""
    return _BLOCK.sub(lambda m: f"{m[1]}{make(m[2].strip())}\n{m[4]}", page)


def names(page: str) -> list[str]:
    return [match[2].strip() for match in _BLOCK.finditer(page)]


def outside(page: str) -> str:
    """What of a page is not in a block."""
    return _BLOCK.sub("", page)


def maker(records: Records, templates: Path = TEMPLATES) -> Callable[[str], str]:
    """Makes the text of a block from its name."""

    def make(name: str) -> str:
        kind, _, of = name.partition(" ")
        if kind == "table":
            return measured(records[of])
        if name == "missing":
            return sections.missing(records)
        if name == "sections":
            found = [one for one in sections.SECTIONS if one in records]
            return "\n\n".join(f"{sections.heading(n)}\n\n{measured(records[n])}" for n in found)
        return fill((templates / f"{name}.md").read_text("utf-8").rstrip("\n"), records)

    return make
