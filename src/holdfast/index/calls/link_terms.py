"""How the links of a file are looked up: roles of terms, and short keys of names."""

from __future__ import annotations

from binascii import b2a_base64
from functools import lru_cache
from zlib import crc32

from holdfast.index.facts.model import VALUE

PASSED_TO, BASE, ANY_DEFAULT = "^", "<", "default*"
"""A parameter of the function of that name; a class below the one of that name; the default export
of a file that may be imported under any path."""

_SHORT = 8
_ENDS_MAX = 3


(
    DEFINES, NAMED, INNER, METHOD, MACRO, PACKAGE, PASSES, CALLS, HELD, APART, BASES, BELOW,
    INDIRECT, ALIAS, IDENTITY, FAMILY, CONTENT,
) = "dnhmxpackubigwsfy"  # fmt: skip
"""The roles of terms.

d  defines a symbol of this full name          n  has a symbol of this name
h  has a nested symbol of this name            m  has methods of this name with a body
x  has a Rust macro of this name               p  is in this package or namespace
a  has calls of this name that pass something  c  has calls by a name of this key
k  has calls of a holder of this key's name    u  has a member declared outside its class
b  has base classes declared outside a class   i  has a class that names this base
g  calls parameters or unnamed values          w  imports this name under another
s  has the symbol of this id, or has it itself f  is of this language family
y  has symbols, imports or calls
"""


def key_of(name: str) -> str:
    """The lookup key of a name: a short name itself, a hash of a long one. Suffixes are kept.

    Two names may share a key; then each seems to lead to what the other leads to.
    """
    return name if _is_short(name) else _hashed(name)


@lru_cache(maxsize=65_536)
def _hashed(name: str) -> str:
    start, rest, end = _parts(name)
    return start + (rest if _is_short(rest) else "~" + digest(rest)) + end


def _is_short(name: str) -> bool:
    return len(name) <= _SHORT and name.isascii() and name.isprintable() and " " not in name


def _parts(name: str) -> tuple[str, str, str]:
    """The prefix, the name and the suffix of a name."""
    start, end = "", ""
    while name.endswith(VALUE) and len(end) < _ENDS_MAX * len(VALUE):
        name, end = name[: -len(VALUE)], end + VALUE
    if name[:1] in (PASSED_TO, BASE):
        start, name = name[0], name[1:]
    return start, name, end


def digest(text: str) -> str:
    """A hash of six letters."""
    number = crc32(text.encode("utf-8", "surrogatepass"))
    return b2a_base64(number.to_bytes(4, "big"))[:6].decode("ascii")


@lru_cache(maxsize=65_536)
def code_of(key: str) -> int | None:
    """A key as a 64-bit number; None for a text that cannot be a key.

    Eight letters of seven bits each; the high bits encode the prefix and suffix.
    """
    start, rest, end = _parts(key)
    if len(rest) > _SHORT or not rest.isascii():
        return None
    marks = ("", PASSED_TO, BASE).index(start) | len(end) // len(VALUE) << 2
    letters = int.from_bytes(rest.encode("ascii").ljust(_SHORT, b"\0"), "little")
    for bit in range(4):
        letters |= (marks >> bit & 1) << (8 * bit + 7)
    return letters


def key_from(code: int) -> str:
    """The inverse of `code_of`."""
    marks = sum((code >> (8 * bit + 7) & 1) << bit for bit in range(4))
    rest = (code & 0x7F7F7F7F7F7F7F7F).to_bytes(8, "little").rstrip(b"\0").decode("ascii")
    return ("", PASSED_TO, BASE)[marks & 3] + rest + VALUE * (marks >> 2)
