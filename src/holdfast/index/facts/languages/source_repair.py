"""Blanking what a grammar cannot read, so that it costs its own lines and not the file.

Each function is tried only on a source with syntax errors, and its result is used only if fewer
bytes are in errors then. Offsets and lines stay the same: bytes are replaced, never moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from holdfast.index.facts.languages import preprocessor_repair

_CAPITALS = rb"[A-Z][A-Z0-9_]{2,}"
_ARGUMENTS = rb"\([^()\n]{0,200}(?:\([^()\n]{0,100}\)[^()\n]{0,200}){0,4}\)"
_MACROS = (
    # A macro on a line of its own: `BEGIN_NAMESPACE`, `ADD_PROPERTY(int, x)`.
    (re.compile(rb"^[ \t]*(" + _CAPITALS + rb"[ \t]*(?:" + _ARGUMENTS + rb")?)[ \t]*$"
                rb"(?!\s{0,80}[{(:\[=])", re.MULTILINE)),
    # Behind the parameters: `void Lock() EXCLUDES(m) {`.
    (re.compile(rb"\)[ \t]*(?:const[ \t]*)?(" + _CAPITALS + rb"(?:" + _ARGUMENTS + rb")?)"
                rb"(?=[ \t]*(?:override[ \t]*)?[{;\n])")),
    # Between the result and the name: `char* ADDCALL version(void)`.
    (re.compile(rb"[\w*&>][ \t]+(" + _CAPITALS + rb")(?=\s{1,8}[*&]{0,3}[a-z_]\w{0,80}[ \t]*\()")),
    # In front of a function: `static API int f(void)`, `API(int) f(void)`.
    (re.compile(rb"^[ \t]*(?:static[ \t]+|extern[ \t]+)?(" + _CAPITALS + rb")"
                rb"(?=[ \t]+[A-Za-z_][\w \t*&:<>]{1,80}[ \t*&]\w{1,80}[ \t]*\()", re.MULTILINE)),
    # In a type: `class API Name {`, `(WINAPI *Callback)(int)`.
    (re.compile(rb"\b(?:class|struct|union|enum)[ \t]+"
                rb"(" + _CAPITALS + rb"(?:" + _ARGUMENTS + rb")?)"
                rb"(?=[ \t]+\w+[ \t\n]*(?:final[ \t]*)?[:{])")),
    (re.compile(rb"\([ \t]*(" + _CAPITALS + rb")(?=[ \t]*\*?[ \t]*\w+[ \t]*\)[ \t]*\()")),
)  # fmt: skip


def c_family(source: bytes, fits: Callable[[bytes], bool]) -> bytes:
    """C and C++ with one branch of torn conditions, and without macros that break the syntax."""
    once = preprocessor_repair.repaired(source, fits)
    if once != source and fits(once):
        return once
    out = bytearray(once)
    for pattern in _MACROS:
        for found in pattern.finditer(bytes(out)):
            _blank(out, *found.span(1))
    return bytes(out)


_GUARD = re.compile(rb"^[ \t]*(?:is|in|!is|!in)\b[^\n{}]{0,200}?([ \t]if\b[^\n{}]{0,200}?)(?=->)",
                    re.MULTILINE)  # fmt: skip
_CONSTRUCTOR = re.compile(
    rb"\bclass[ \t]+\w+[ \t]*(?:<[^<>\n]{0,100}>)?\s*"
    rb"((?:@[\w.]+(?:\([^()]{0,200}\))?\s+)*(?:(?:private|internal|protected|public)\s+)?"
    rb"constructor[ \t]*\((?:[^()]|\([^()]{0,200}\)){0,4000}\))"
)


def kotlin(source: bytes, fits: Callable[[bytes], bool]) -> bytes:
    """Kotlin without guards in `when`, and without constructors apart from their class."""
    out = bytearray(source)
    for pattern in (_GUARD, _CONSTRUCTOR):
        for found in pattern.finditer(source):
            _blank(out, *found.span(1))
    return bytes(out)


_SIGNATURE = re.compile(rb"(?<![;,{(\[|&=>\s])([ \t]*\r?\n[ \t]*)[ \t](?=(?:new[ \t]*)?[<(])")


def typescript(source: bytes, fits: Callable[[bytes], bool]) -> bytes:
    """TypeScript with a `;` before a call signature that a line break alone sets apart."""
    return _SIGNATURE.sub(rb"\1;", source)


def _blank(out: bytearray, start: int, end: int) -> None:
    """Replace everything but line breaks by spaces."""
    for at in range(start, end):
        if out[at] not in b"\r\n":
            out[at] = 32
