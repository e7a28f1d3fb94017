"""Find the class from which a member is inherited.

`ModelAdmin.get_queryset` asks for a definition, but the class may only inherit it. So the heads of
the class and of its bases are read, nearest first, and a definition in one of these counts nearly
as much as one in the class itself. Heads are parsed by the same patterns in every language. A wrong
base affects the order only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from holdfast.index.search.terms import compact
from holdfast.patterns import lazy_pattern

Heads = Callable[[str], Iterable[str]]
"""The texts of the chunks that define a type, by its compact name."""

TYPES_MAX = 12
"""How many types are examined for one member."""
HEAD_CHARACTERS_MAX = 600

_TYPE = lazy_pattern(
    r"\b(?:class|interface|trait|struct|object|protocol|record)\s+([A-Za-z_$][\w$.:]*)"
)
_BASE = lazy_pattern(r"[A-Za-z_$][\w$]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*)*")
_KEYWORD = lazy_pattern(r"\w+\s*=[^,]*")
_CONTINUES = ("extends", "implements", "with", ":", ",", "<")
_MARK = lazy_pattern(r"\b(?:extends|implements|with)\b|(?<!:):(?!:)|\s<\s")
_NOT_BASES = frozenset(
    {"extends", "implements", "with", "public", "private", "protected", "virtual", "where", "class"}
)
_GENERIC = lazy_pattern(r"<[^<>]*>")


def ancestors(owner: str, heads: Heads) -> tuple[str, ...]:
    """The compact names of a type's ancestors, nearest first."""
    found: dict[str, None] = {}
    asked = [owner]
    for at in range(TYPES_MAX):
        if at >= len(asked):
            break
        for text in heads(asked[at]):
            for base in bases_of(text, asked[at]):
                if base != owner and base not in found:
                    found[base] = None
                    asked.append(base)
    return tuple(found)


def bases_of(text: str, name: str) -> list[str]:
    """The compact names of the bases that a text declares for a type."""
    for head in _TYPE.finditer(text):
        declared = re.split(r"\.|::", head[1].rstrip(":."))[-1]
        if compact(declared) == name:
            rest = text[head.end() - (len(head[1]) - len(head[1].rstrip(":."))) :]
            return _bases(rest[:HEAD_CHARACTERS_MAX])
    return []


def _bases(rest: str) -> list[str]:
    """The bases in the text after a type's name."""
    if rest.startswith("<"):
        rest = _without_generics(rest)
    inside = ""
    if rest.lstrip(" ").startswith("("):
        inside, rest = _in_parentheses(rest.lstrip(" "))
    header = _without_generics(_header(rest))
    mark = _MARK.search(header)
    # Python writes the bases where other languages write parameters.
    named = header[mark.start() :] if mark else ""
    if not _BASE.search(named):
        named = inside
    return [
        compact(re.split(r"\.|::|\\", base)[-1])
        for base in _BASE.findall(_KEYWORD.sub("", _without_calls(named)))
        if base not in _NOT_BASES
    ]


def _header(rest: str) -> str:
    """The first line, and the next ones while they continue it; without the body."""
    lines = rest.split("\n")
    header = lines[0]
    for line in lines[1:]:
        stripped = line.strip()
        if not (stripped.startswith(_CONTINUES) or header.rstrip().endswith((",", "extends"))):
            break
        header += " " + stripped
    return header.split("{", 1)[0]


def _in_parentheses(text: str) -> tuple[str, str]:
    """The text in the parentheses at the start, and the text after them."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0:
            return text[1:at], text[at + 1 :]
    return text[1:], ""


def _without_generics(text: str) -> str:
    """A text without `<…>`, removed from the inside out in a fixed number of passes."""
    for _ in range(4):
        text = _GENERIC.sub("", text)
    return text


def _without_calls(text: str) -> str:
    """A text without the arguments in `Base(argument)`."""
    out, depth = [], 0
    for letter in text:
        depth += letter in "(["
        if depth == 0:
            out.append(letter)
        depth -= letter in ")]" and depth > 0
    return "".join(out)
