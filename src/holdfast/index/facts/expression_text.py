"""The text of expressions: how values are written, and how two of them are joined."""

from __future__ import annotations

import re

UNKNOWN = "?"
KEY = re.compile(r"[\w$+/=!@%~ .-]{1,60}\Z")
"""Keys of objects: signs that expressions use themselves are not among them."""
_WITHOUT_TYPE = frozenset({"const", "any", "unknown", "never", "object", "Any"})
_SIMPLE_TYPE = re.compile(r"[\w.$\[\]<>, |\"']+\Z")


def grouped(text: str) -> str:
    """An expression in brackets, if it is one of several."""
    return f"({text})" if "|" in text and not _closed(text) else text


def _closed(text: str) -> bool:
    """Whether every `|` is inside brackets."""
    depth = 0
    for char in text:
        if char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == "|" and not depth:
            return False
    return True


def typed(text: str) -> str:
    """An instance of a type, as written; unknown when the type says nothing."""
    text = " ".join(text.split())
    ok = _SIMPLE_TYPE.match(text) and text not in _WITHOUT_TYPE
    return f"<{text}>" if ok else UNKNOWN


def either(first: str, second: str) -> str:
    """One of two values; unknown ones are left out."""
    if first in (UNKNOWN, second):
        return second
    return first if second == UNKNOWN else f"{first}|{second}"
