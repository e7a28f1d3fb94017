"""Tell text from binary files, and convert UTF-16 and UTF-32 to UTF-8."""

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
    """The text of a file for the lexer; None if it is binary.

    UTF-16 and UTF-32 with a byte order mark become UTF-8, with invalid units replaced. Everything
    else without a NUL byte near its start is returned as it is, without a UTF-8 mark.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").encode("utf-8", "surrogatepass")
    if b"\0" in data[:_PROBE]:
        return None
    return data.removeprefix(codecs.BOM_UTF8)
