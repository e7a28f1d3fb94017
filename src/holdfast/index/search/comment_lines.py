"""Which lines of a text have only a comment, judged by how the line begins.

For previews: a wrong guess leaves out a line that a read shows, or shows a comment. Parsing would
be exact but costs more than the search.
"""

from __future__ import annotations

from collections.abc import Sequence

_SLASH = ("//", "/*", "*/", "* ")
_MARKS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("javascript", "typescript", "tsx", "go", "rust", "java", "kotlin", "scala", "c", "cpp",
         "csharp", "swift", "php", "zig", "dart"),
        _SLASH,
    ),
    **dict.fromkeys(("python", "notebook", "ruby", "bash", "elixir", "perl", "r"), ("#",)),
    **dict.fromkeys(("lua", "haskell", "sql", "elm", "ada"), ("--",)),
}  # fmt: skip
_QUOTES = ('"""', "'''")
_DOCSTRINGS = frozenset({"python", "notebook", "elixir"})


def comment_lines(lines: Sequence[str], language: str) -> frozenset[int]:
    """The positions of lines that look like comments; of none in an unknown language."""
    marks = _MARKS.get(language)
    if marks is None:
        return frozenset()
    found = set[int]()
    until: str | None = None
    for place, line in enumerate(lines):
        text = line.strip()
        if until is not None:
            found.add(place)
            until = None if until in text else until
            continue
        if marks is _SLASH:
            if text.startswith("/*") and "*/" not in text:
                until = "*/"
            elif text.startswith("/*") and not text.endswith("*/"):
                continue  # Code after the comment.
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
        if text.startswith(marks) or text == "*":
            found.add(place)
    return frozenset(found)
