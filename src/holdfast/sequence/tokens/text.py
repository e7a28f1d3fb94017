"""Which bytes are text, and how other encodings become the one the lexer knows."""

from __future__ import annotations

import codecs

_PROBE = 8192

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def text_of(data: bytes) -> bytes | None:
    """The text of a file for the lexer, or None when it is binary.

    UTF-16 and UTF-32 with their mark become UTF-8, bad units replaced; everything else without a
    NUL near its start is taken as it is. A UTF-8 mark is no token and goes.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").encode("utf-8", "surrogatepass")
    if b"\0" in data[:_PROBE]:
        return None
    return data.removeprefix(codecs.BOM_UTF8)
