"""Jupyter notebooks: every cell is a symbol, and the Python cells are parsed as one module.

A notebook is JSON with one string for each line of a cell. The lines are joined and walked as
ordinary Python, and every position is mapped back to the line of its string.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NamedTuple

import msgspec

from holdfast.index.facts.languages import parsed
from holdfast.index.facts.languages.config import JsonMember, line_at, members
from holdfast.index.facts.languages.documents import add
from holdfast.index.facts.model import MODULE, Problem
from holdfast.index.facts.parse import TooHardError
from holdfast.index.facts.walk import RawFacts, Walk, line_starts


class CellLine(NamedTuple):
    """A line of a cell: its text, and the position of its string in the file."""

    text: str
    cell: int
    start: int
    end: int


def read(path: str, source: bytes, starts: list[int], problems: list[Problem]) -> RawFacts | None:
    """The cells of a notebook, and the facts of its code."""
    found = RawFacts()
    lines: list[CellLine] = []
    cells = next((e for e in members(source, 0) if e.key == "cells"), None)
    if cells is None:
        problems.append(Problem("malformed", 1, "a notebook without cells"))
        return None
    for number, cell in enumerate(members(source, cells.value_start), 1):
        fields = {entry.key: entry for entry in members(source, cell.value_start)}
        where = (line_at(starts, cell.start), line_at(starts, cell.end - 1))
        kind = fields.get("cell_type")
        code = kind is not None and b'"code"' in source[kind.value_start : kind.end]
        text = _lines(source, fields["source"], number - 1) if "source" in fields else []
        title = text[0].text.strip() if text else ""
        index = add(found, starts, f"cell {number}", "cell", where, signature=title)
        if code and index != MODULE:
            lines.extend(line._replace(cell=index) for line in text)
    if b'"language": "' in source and b'"language": "python"' not in source:
        return found
    _python(path, found, lines, starts, problems)
    return found


def _lines(source: bytes, entry: JsonMember, cell: int) -> list[CellLine]:
    """The lines of a cell's `source`, which is a string or an array of strings."""
    first = source[entry.value_start : entry.value_start + 1]
    strings = (
        [(e.value_start, e.end) if e.value_start != -1 else (e.start, e.end)
         for e in members(source, entry.value_start)]
        if first == b"["
        else [(entry.value_start, entry.end)]
    )  # fmt: skip
    found: list[CellLine] = []
    for start, end in strings:
        try:
            value = json.loads(source[start:end])
        except (ValueError, RecursionError):
            continue
        if isinstance(value, str):
            found.extend(CellLine(text, cell, start, end) for text in value.splitlines() or [""])
    return found


def _python(
    path: str, facts: RawFacts, lines: list[CellLine], starts: list[int], problems: list[Problem]
) -> None:
    language = parsed("python")
    assert language is not None, "python is built in"
    # Magics are not Python; they become comments, so that lines stay the same.
    text = "\n".join(
        "#" + line.text[1:] if line.text[:1] in ("%", "!", "?") else line.text for line in lines
    )
    body = text.encode("utf-8", "replace")
    walk = Walk(language, body, line_starts(body))
    try:
        walk.run()
    except TooHardError:
        problems.append(Problem("too_hard", 1, "parsing the cells took too long"))
        return
    cells = len(facts.symbols)
    file_line = [line_at(starts, line.start) for line in lines]

    def cell_at(line: int) -> int:
        return lines[line - 1].cell if line <= len(lines) else MODULE

    drafts = list(facts.symbols)
    for draft in walk.symbols:
        first, last = lines[draft.first_line - 1], lines[min(draft.last_line, len(lines)) - 1]
        parent = draft.parent + cells if draft.parent != MODULE else first.cell
        drafts.append(
            replace(
                draft,
                parent=parent,
                start=first.start,
                end=last.end,
                first_line=file_line[draft.first_line - 1],
                last_line=file_line[min(draft.last_line, len(lines)) - 1],
                lead=file_line[draft.lead - 1],
            )
        )
    order = sorted(range(len(drafts)), key=lambda i: (drafts[i].start, -drafts[i].end, i))
    place = {old: new for new, old in enumerate(order)}
    place[MODULE] = MODULE
    facts.symbols = [replace(drafts[i], parent=place[drafts[i].parent]) for i in order]

    def scope(old: int, line: int) -> int:
        return place[old + cells] if old != MODULE else place.get(cell_at(line), MODULE)

    facts.calls = [
        msgspec.structs.replace(
            call,
            caller=scope(call.caller, call.line),
            start=lines[call.line - 1].start,
            line=file_line[call.line - 1],
        )
        for call in walk.calls
    ]
    facts.imports = [
        msgspec.structs.replace(
            item,
            scope=place[item.scope + cells] if item.scope != MODULE else MODULE,
            line=file_line[item.line - 1],
        )
        for item in walk.imports
    ]
    facts.bindings = [
        msgspec.structs.replace(
            item,
            scope=place[item.scope + cells] if item.scope != MODULE else MODULE,
            line=file_line[item.line - 1],
        )
        for item in walk.bindings
    ]
    facts.inherits = [
        msgspec.structs.replace(item, line=file_line[item.line - 1]) for item in walk.inherits
    ]
    facts.truncated = facts.truncated or walk.truncated
    facts.module = language.module(path, "")
