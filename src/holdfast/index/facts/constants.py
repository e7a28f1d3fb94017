"""The constants of a file: names in capitals that it writes once, and otherwise only reads.

A name may also be written by `global`, a loop, a pattern, an import, a parameter or `+=`. Instead
of all ways to write, the few ways to read that are surely reads are known; any other place of the
name, also in a comment, makes it no constant.
"""

from __future__ import annotations

import re

_NAME = re.compile(rb"(?<![\w$.#])[A-Z][A-Z\d_]*(?![\w$])")
_WRITTEN = re.compile(rb"(?:(?:export[ \t]+)?const[ \t]+)?\Z")
_VALUE = re.compile(
    rb"[ \t]*(?::[ \t]*[\w.\[\]]+[ \t]*)?=[ \t]*[\"'][^\"'\n]*[\"'][ \t]*;?[ \t]*"
    rb"(?:#.*|//.*)?\r?(?:\n|\Z)"
)
_BEFORE = re.compile(rb"(?:[\w)\]$]\[|[=!]==?[ \t]*|\b(?:return|and|or|not)[ \t]+|\{[ \t]*)\Z")
_AFTER_KEY = re.compile(rb"[ \t]*\]")
_AFTER_PAIR = re.compile(rb"[ \t]*:(?!=)")
_AFTER = re.compile(rb"[ \t]*(?:;|\)|\r?\n|:(?!=)|\Z)")
NEAR = 24
"""How far before a name it is decided whether it is read."""


def constants(source: bytes) -> frozenset[str]:
    """The names in capitals that are written once at the top of the file, as a string."""
    written: dict[bytes, int] = {}
    other: set[bytes] = set()
    for place in _NAME.finditer(source):
        name, start, end = place.group(), place.start(), place.end()
        line = source.rfind(b"\n", max(0, start - NEAR), start) + 1
        before = source[max(line, start - NEAR) : start]
        at_top = line > 0 or start <= NEAR
        if at_top and _WRITTEN.fullmatch(before) and _VALUE.match(source, end):
            written[name] = written.get(name, 0) + 1
        elif not _is_read(source, before, end):
            other.add(name)
    return frozenset(n.decode() for n, count in written.items() if count == 1 and n not in other)


def _is_read(source: bytes, before: bytes, end: int) -> bool:
    """Whether a name is surely read: `table[K]`, `{K: f`, `x == K`, `return K`."""
    found = _BEFORE.search(before)
    if found is None:
        return False
    sign = found.group().rstrip()[-1:]
    after = _AFTER_KEY if sign == b"[" else _AFTER_PAIR if sign == b"{" else _AFTER
    return after.match(source, end) is not None
