"""Edits of the text of one symbol: its lines are replaced, or lines are inserted beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from holdfast.errors import UsageError
from holdfast.files import disk
from holdfast.files.secrets import masked, secrets_in
from holdfast.index.code_index import CodeIndex
from holdfast.index.facts.comments import comment_above
from holdfast.index.facts.languages import parsed
from holdfast.index.facts.model import MODULE, FileFacts, Problem, Symbol
from holdfast.index.facts.walk import Language, line_starts
from holdfast.index.references.definition_head import (
    SHOWN_MAX,
    Head,
    Parts,
    Range,
    head_of,
    under_head,
)
from holdfast.index.references.symbol_edits import (
    Doubt,
    Plan,
    Replacement,
    indented,
    line_break,
    mark_length,
    settle,
    whole_lines,
)

Action = Literal["rename", "replace", "insert_before", "insert_after"]

_OF_THE_FILE = re.compile(rb"\s*(?:\xef\xbb\xbf)?(?:#!|//!|/\*!|#.*coding[:=])")

ATTRIBUTE_LINES_MAX = 60
"""How many lines an attribute above a symbol may have."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The requested edit."""

    action: Action
    symbol: str
    text: str
    file: str = ""
    confirmed: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    token: str = ""


def text_plan(index: CodeIndex, root: str, facts: FileFacts, symbol: Symbol, edit: Edit) -> Plan:
    """The plan to replace the lines of a symbol, or to insert lines before or after it."""
    source, _ = disk.read_file(root, facts.path)
    start, end = whole_lines(source, symbol.span.start, symbol.span.end)
    line = source[start:end].decode("utf-8", "replace")
    indent = line[: len(line) - len(line.lstrip())]
    newline = line_break(source)
    text = edit.text if newline == "\n" else edit.text.replace(newline, "\n")
    text = indented(text, indent, facts.language)
    if not text.strip():
        raise UsageError("there is no text", "pass the new lines")
    gap = "\n\n\n" if facts.language == "python" and symbol.parent == MODULE else "\n\n"
    if edit.action == "insert_before":
        start = end = _start_with_comment(facts.language, source, symbol)
        text += gap
    elif edit.action == "insert_after":
        start, text = end, gap + text
    parts = Parts(((start, end, text.encode()),))
    if edit.action == "replace":
        parts = _under_head(facts.language, source, symbol, (start, end), text) or parts
        for first, last, new in parts.replacements:
            _check_secrets(facts.path, source, first, last, new)
    replacements = tuple(
        Replacement(facts.path, first, last, new.replace(b"\n", newline.encode()))
        for first, last, new in parts.replacements
    )
    plan = Plan({facts.path: source}, replacements, notes=tuple(_notes(source, parts)))
    check_encoding(plan, edit.text)
    before, after = (index.extract(facts.path, s) for s in (source, plan.after(facts.path)))
    doubts: list[tuple[Doubt, Replacement | None]] = []
    broken = stops_parsing(before, after)
    if broken:
        why = "the file would no longer parse"
        doubts.append((Doubt(facts.path, broken.line, why, broken.detail), None))
    defined = {one.qualified for one in after.symbols}
    if edit.action == "replace" and symbol.qualified not in defined:
        why = f"the new text does not define {symbol.qualified}"
        doubts.append((Doubt(facts.path, symbol.span.first_line, why, ""), None))
    if not broken:
        for one in _outside(before, symbol):
            if one.qualified not in defined:
                why = f"{one.qualified} would be removed, too"
                doubts.append((Doubt(facts.path, one.span.first_line, why, ""), None))
    _, left = settle(doubts, edit.confirmed, edit.left_out | edit.confirmed)
    return Plan(plan.sources, plan.replacements, tuple(left), plan.notes)


def _under_head(
    language: str, source: bytes, symbol: Symbol, span: tuple[int, int], text: str
) -> Parts | None:
    """The replacement of a definition that keeps its comments, attributes and export."""
    style = parsed(language)
    if style is None:
        return None
    lead = _start_with_comment(language, source, symbol)
    return under_head(style, source, lead, span, symbol.name, text.encode())


def _notes(source: bytes, parts: Parts) -> list[str]:
    """What a replacement keeps and what it replaces of the head of a definition."""
    shown, notes = masked(source), list[str]()

    def names(ranges: tuple[Range, ...]) -> str:
        texts = (shown[first:last].decode("utf-8", "replace") for first, last in ranges)
        return ", ".join(" ".join(text.split())[:SHOWN_MAX] for text in texts)

    if parts.exported:
        notes.append(f"kept: {parts.exported}")
    if parts.kept:
        notes.append(f"kept above the definition: {names(parts.kept)}")
    if parts.replaced:
        notes.append(f"replaced by those of the text: {names(parts.replaced)}")
    return notes


def _outside(facts: FileFacts, symbol: Symbol) -> list[Symbol]:
    """The symbols of a file that are neither the symbol nor inside it."""
    inside = set[int]()
    for at, one in enumerate(facts.symbols):
        if one.qualified == symbol.qualified or one.parent in inside:
            inside.add(at)
    return [one for at, one in enumerate(facts.symbols) if at not in inside]


def _start_with_comment(language: str, source: bytes, symbol: Symbol) -> int:
    """Where the first line of a symbol begins, with the comment and the attributes above it.

    Lines that belong to the file (`#!`, `//!`, the encoding) are not taken for such a comment.
    """
    starts, first = line_starts(source), symbol.span.first_line
    style = parsed(language)
    if style is None:
        return max(starts[first - 1], mark_length(source))
    lead, _ = comment_above(style, source, starts, first, symbol.span.start)
    above = _attribute_above(style, source, starts, lead)
    while above < lead:
        lead, _ = comment_above(style, source, starts, above, starts[above - 1])
        above = _attribute_above(style, source, starts, lead)
    for line in range(lead, first):
        if _OF_THE_FILE.match(source, starts[line - 1], starts[line]):
            lead = line + 1
    return max(starts[lead - 1], mark_length(source))


def _attribute_above(style: Language, source: bytes, starts: list[int], lead: int) -> int:
    """The first line of an attribute of several lines that ends directly above a line.

    `comment_above` looks at single lines, and the last line of such an attribute is like no other.
    """
    marks = style.attribute_marks
    for line in range(lead - 1, max(0, lead - 1 - ATTRIBUTE_LINES_MAX), -1):
        text = source[starts[line - 1] : starts[line]].strip()
        if not text:
            break
        if marks and text.startswith(marks):
            head = head_of(style, source, starts[line - 1])
            below = source[starts[lead - 1] :]
            start = starts[lead - 1] + len(below) - len(below.lstrip())
            if head is not None and start in _starts(head):
                return line
    return lead


def _starts(head: Head) -> list[int]:
    """Where the parts of a head begin, and its definition."""
    return [head.definition, *(first for first, _ in (*head.comments, *head.attributes))]


def check_encoding(plan: Plan, text: str) -> None:
    """Refuse to write UTF-8 into a file with another encoding."""
    for path in () if text.isascii() else plan.paths:
        try:
            plan.sources[path].decode("utf-8")
        except UnicodeDecodeError:
            raise UsageError(
                f"{path} is not UTF-8, and the new text is not ASCII",
                "convert the file to UTF-8 first, or use ASCII",
            ) from None


def stops_parsing(before: FileFacts, after: FileFacts) -> Problem | None:
    """The first mistake in the syntax of the new text, if the old one had none."""
    if any(problem.code == "syntax" for problem in before.problems):
        return None
    return next((problem for problem in after.problems if problem.code == "syntax"), None)


def _check_secrets(path: str, source: bytes, start: int, end: int, text: bytes) -> None:
    """Refuse a text that was copied from masked output: it would replace a secret with stars.

    The preview could not show this, because it has stars on both sides.
    """
    shown = masked(source)
    for secret in secrets_in(source):
        stars = shown[secret.start : secret.end].split(b"\n")[0].strip(b"\r")
        if start <= secret.start < end and stars and stars in text:
            line = source.count(b"\n", 0, secret.start) + 1
            raise UsageError(
                f"{path}:{line} has a secret, which is shown as stars; "
                "the new text would replace it with stars",
                "leave that line out of the edit, or write the value that it should have",
            )
