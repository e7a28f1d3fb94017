"""Markdown: a section is a heading with its text, up to the next heading of its level or above."""

from __future__ import annotations

import re

from holdfast.index.facts.languages.documents import add
from holdfast.index.facts.model import MODULE, Problem
from holdfast.index.facts.walk import RawFacts

_HEADING = re.compile(rb" {0,3}(#{1,6})(?![^ \t\r\n])")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(rb" {0,3}(=+|-{2,})[ \t]*\r?\n?\Z")


def read(_path: str, source: bytes, starts: list[int], _problems: list[Problem]) -> RawFacts | None:
    """The sections of a document."""
    found = RawFacts()
    headings = _headings(source, starts)
    open_: list[tuple[int, int]] = []  # (level, index)
    ends = _ends(headings, len(starts) - 1)
    for (line, level, title), last in zip(headings, ends, strict=True):
        while open_ and open_[-1][0] >= level:
            open_.pop()
        parent = open_[-1][1] if open_ else MODULE
        above = found.symbols[parent].qualified + "." if parent != MODULE else ""
        index = add(
            found,
            starts,
            title,
            "section",
            (line, last),
            qualified=above + title,
            parent=parent,
            signature="#" * level + " " + title,
        )
        if index != MODULE:
            open_.append((level, index))
    return found


def _headings(source: bytes, starts: list[int]) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    fence = b""
    paragraph = 0
    first = 1
    if source[:4] in (b"---\n", b"---\r"):  # front matter
        close = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE).search(source, 4)
        if close:
            first = source.count(b"\n", 0, close.end()) + 2
    for line in range(first, len(starts)):
        text = source[starts[line - 1] : min(starts[line], starts[line - 1] + 600)]
        opened = _FENCE.match(text)
        if fence:
            if opened and opened.group(1).startswith(fence) and not text[opened.end() :].strip():
                fence = b""
            continue
        if opened:
            fence, paragraph = opened.group(1), 0
            continue
        heading = _HEADING.match(text)
        if heading:
            title = _title(text[heading.end() :]).decode("utf-8", "replace").strip()
            found.append((line, len(heading.group(1)), title or "#"))
            paragraph = 0
        elif paragraph and (under := _UNDERLINE.match(text)):
            begin = starts[paragraph - 1]
            title = source[begin : starts[line - 1]][:600].decode("utf-8", "replace")
            level = 1 if under.group(1)[:1] == b"=" else 2
            found.append((paragraph, level, " ".join(title.split()) or "#"))
            paragraph = 0
        elif not text.strip() or text[:1] in b"|>-*+" or text.startswith((b"    ", b"\t")):
            paragraph = 0
        elif not paragraph:
            paragraph = line
    return found


def _title(rest: bytes) -> bytes:
    """The text of a heading line after its marks, without closing marks."""
    rest = rest.strip(b" \t\r\n")
    open_ = rest.rstrip(b"#")
    return open_ if not open_ or open_[-1:] in b" \t" else rest


def _ends(headings: list[tuple[int, int, str]], lines: int) -> list[int]:
    """The last line of each section."""
    ends = [lines] * len(headings)
    waiting: list[int] = []
    for index, (line, level, _) in enumerate(headings):
        while waiting and headings[waiting[-1]][1] >= level:
            ends[waiting.pop()] = line - 1
        waiting.append(index)
    return ends
