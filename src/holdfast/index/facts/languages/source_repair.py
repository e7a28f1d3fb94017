"""Blank code that a grammar cannot parse, so that only its lines are lost, not the file.

Each function is tried only on a source with syntax errors, and its result is used only if it has
fewer bytes in errors. Offsets and lines stay the same: bytes are replaced, never moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from holdfast.index.facts.languages import preprocessor_repair

_CAPITALS = rb"[A-Z][A-Z0-9_]{2,80}"
_ARGUMENTS = rb"\([^()\n]{0,200}(?:\([^()\n]{0,100}\)[^()\n]{0,200}){0,4}\)"
_MACROS = (
    # A macro on a line of its own: `BEGIN_NAMESPACE`, `ADD_PROPERTY(int, x)`.
    (re.compile(rb"^[ \t]{0,80}(" + _CAPITALS + rb"[ \t]{0,80}(?:" + _ARGUMENTS + rb")?)[ \t]{0,80}$"  # noqa: E501
                rb"(?!\s{0,80}[{(:\[=])", re.MULTILINE)),
    # After the parameters: `void Lock() EXCLUDES(m) {`.
    (re.compile(rb"\)[ \t]{0,80}(?:const[ \t]{0,80})?(" + _CAPITALS + rb"(?:" + _ARGUMENTS + rb")?)"
                rb"(?=[ \t]{0,80}(?:override[ \t]{0,80})?[{;\n])")),
    # Between the result and the name: `char* ADDCALL version(void)`.
    (re.compile(rb"[\w*&>][ \t]{1,80}(" + _CAPITALS + rb")(?=\s{1,8}[*&]{0,3}[a-z_]\w{0,80}[ \t]{0,80}\()")),  # noqa: E501
    # In front of a function: `static API int f(void)`, `API(int) f(void)`.
    (re.compile(rb"^[ \t]{0,80}(?:static[ \t]{1,80}|extern[ \t]{1,80})?(" + _CAPITALS + rb")"
                rb"(?=[ \t]{1,80}[A-Za-z_][\w \t*&:<>]{1,80}[ \t*&]\w{1,80}[ \t]{0,80}\()", re.MULTILINE)),  # noqa: E501
    # In a type: `class API Name {`, `(WINAPI *Callback)(int)`.
    (re.compile(rb"\b(?:class|struct|union|enum)[ \t]{1,80}"
                rb"(" + _CAPITALS + rb"(?:" + _ARGUMENTS + rb")?)"
                rb"(?=[ \t]{1,80}\w+[ \t\n]{0,80}(?:final[ \t]{0,80})?[:{])")),
    (re.compile(rb"\([ \t]{0,80}(" + _CAPITALS + rb")(?=[ \t]{0,80}\*?[ \t]{0,80}\w+[ \t]{0,80}\)[ \t]{0,80}\()")),  # noqa: E501
)  # fmt: skip


def c_family(source: bytes, fits: Callable[[bytes], bool]) -> bytes:
    """C and C++ with one branch of incomplete conditions, without macros that break the syntax."""
    once = preprocessor_repair.repaired(source, fits)
    if once != source and fits(once):
        return once
    out = bytearray(once)
    for pattern in _MACROS:
        for found in pattern.finditer(bytes(out)):
            _blank(out, *found.span(1))
    return bytes(out)


_GUARD = re.compile(rb"(?:^|[{;])[ \t]{0,80}(?:is|in|!is|!in)\b[^\n{}]{0,200}?([ \t]if\b[^\n{}]{0,200}?)(?=->)",  # noqa: E501
                    re.MULTILINE)  # fmt: skip
_CONSTRUCTOR = re.compile(
    rb"\bclass[ \t]{1,80}\w+[ \t]{0,80}(?:<[^<>\n]{0,100}>)?\s{0,200}"
    rb"((?:@[\w.]+(?:\([^()]{0,200}\))?\s{1,200})*(?:(?:private|internal|protected|public)\s{1,200})?"
    rb"constructor[ \t]{0,80}\((?:[^()]|\([^()]{0,200}\)){0,1500}\))"
)


def kotlin(source: bytes, fits: Callable[[bytes], bool]) -> bytes:
    """Kotlin without guards in `when`, and without explicit primary constructors."""
    out = bytearray(source)
    for pattern in (_GUARD, _CONSTRUCTOR):
        for found in pattern.finditer(source):
            _blank(out, *found.span(1))
    return bytes(out)


_SIGNATURE = re.compile(
    rb"(?<![;,{(\[|&=>\s])([ \t]{0,80}\r?\n[ \t]{0,80})[ \t](?=(?:new[ \t]{0,80})?[<(])"
)


def typescript(source: bytes, fits: Callable[[bytes], bool]) -> bytes:
    """TypeScript with a `;` before a call signature that only a line break separates."""
    return _SIGNATURE.sub(rb"\1;", source)


def _blank(out: bytearray, start: int, end: int) -> None:
    """Replace everything but line breaks by spaces."""
    for at in range(start, end):
        if out[at] not in b"\r\n":
            out[at] = 32
