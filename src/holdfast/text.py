"""Small pieces of text that several packages print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 document, 2 documents."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def line_range(first: int, last: int) -> str:
    """Lines as a reader types them: one number for a single line."""
    return str(first) if first == last else f"{first}-{last}"


def short_json(value: Any, width: int = 60) -> str:
    """A value as JSON on one line, cut to a width."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= width else text[: width - 1] + "…"


def common_margin(lines: Iterable[str]) -> int:
    """How many characters of indentation all lines have in common; blank lines do not count."""
    margin: str | None = None
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        if len(indent) == len(line):
            continue
        if margin is None:
            margin = indent
        while not indent.startswith(margin):
            margin = margin[:-1]
    return len(margin or "")


def _indentation(line: str) -> int:
    spaced = line.expandtabs(4)
    return len(spaced) - len(spaced.lstrip())


def for_looking(lines: Iterable[str]) -> list[str]:
    """Lines with a space of indentation for each level.

    Relative to the lines that are there: the outermost have none. They are for looking, not for
    copying.
    """
    shown: list[str] = []
    rows = [(line.strip(), _indentation(line)) for line in lines]
    # The outermost line may not be the first: what is around the first one may be left out.
    levels = [min((width for text, width in rows if text), default=0)]
    for text, width in rows:
        if not text:
            shown.append("")
            continue
        while levels and levels[-1] >= width:
            levels.pop()
        shown.append(" " * len(levels) + text)
        levels.append(width)
    return shown


_CLOSING = re.compile(r"[\s)\]};,]*")
_BRACKETS = re.compile(rf"{_CLOSING.pattern}(?:[(\[{{][\s(\[{{]*)?")
_END_WORDS = {
    **dict.fromkeys(("ruby", "lua", "elixir", "julia"), frozenset({"end"})),
    "bash": frozenset({"fi", "done", "esac"}),
}


def only_closes(line: str, language: str = "") -> bool:
    """Whether a line has only closing brackets, or only a word that ends a block in its language.

    A blank one too. In an unknown language no word does: `end` may be a name.
    """
    is_end = line.strip() in _END_WORDS.get(language, ())
    return is_end or _CLOSING.fullmatch(line) is not None


def is_only_brackets(line: str) -> bool:
    """Whether a line only closes and opens brackets: `}, {`. An empty pair is a value: `[]`."""
    return _BRACKETS.fullmatch(line) is not None
