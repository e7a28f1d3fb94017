"""Which lines of a text have only a comment, judged by how the line begins.

For previews: a wrong guess leaves out a line that a read shows, or shows a comment. Parsing would
be exact but costs more than the search.
"""

from __future__ import annotations

from collections.abc import Sequence

_SLASH = ("//",)
_MARKS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("javascript", "typescript", "tsx", "go", "rust", "java", "kotlin", "scala", "c", "cpp",
         "csharp", "swift", "php", "zig", "dart"),
        _SLASH,
    ),
    **dict.fromkeys(("python", "notebook", "ruby", "bash", "elixir", "perl", "r"), ("#",)),
    **dict.fromkeys(("lua", "haskell", "sql", "elm", "ada"), ("--",)),
}  # fmt: skip
_CODE = ("#{", "--[")
"""A value in a text of several lines, and a comment that code may follow."""
_QUOTES = ('"""', "'''")
_DOCSTRINGS = frozenset({"python", "notebook", "elixir"})


def comment_lines(lines: Sequence[str], language: str) -> frozenset[int]:
    """The positions of lines that look like comments; of none in an unknown language."""
    marks = _MARKS.get(language)
    if marks is None:
        return frozenset()
    found = set[int]()
    until = "*/" if marks is _SLASH and _begins_inside(lines) else None
    for place, line in enumerate(lines):
        text = line.strip()
        if until is not None:
            ends = text.find(until)
            if ends in (-1, len(text) - len(until)):
                found.add(place)  # Otherwise code follows.
            until = None if ends >= 0 else until
            continue
        if marks is _SLASH:
            if text.startswith("/*") and "*/" not in text[2:]:
                found.add(place)
                until = "*/"
        elif language in _DOCSTRINGS:
            string = text.removeprefix("r")
            quotes = next((q for q in _QUOTES if string.startswith(q)), None)
            if quotes is not None:
                if text.count(quotes) == 1:
                    until = quotes
                elif not text.endswith(quotes):
                    continue
                found.add(place)
                continue
        if is_comment_line(text, language):
            found.add(place)
    return frozenset(found)


def is_comment_line(line: str, language: str) -> bool:
    """Whether a line is certainly a comment, whatever the lines around it are.

    Not one that begins with `*`: without an open comment above it that is a product.
    """
    text, marks = line.strip(), _MARKS.get(language, ())
    if marks is _SLASH and text.startswith("/*"):
        return text.find("*/", 2) == len(text) - 2 > 1
    return text.startswith(marks) and not text.startswith(_CODE)


def _begins_inside(lines: Sequence[str]) -> bool:
    """Whether the first line is in a comment: it and the next begin with `*`, up to its end."""
    for line in lines:
        if not line.strip().startswith("*") or "/*" in line:
            return False
        if "*/" in line:
            return True
    return False
