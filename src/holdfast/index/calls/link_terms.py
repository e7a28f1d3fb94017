"""How the links of a file are looked up: roles of terms, and short keys of names."""

from __future__ import annotations

from binascii import b2a_base64
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from holdfast.index.facts.model import VALUE

PASSED_TO, BASE, ANY_DEFAULT = "^", "<", "default*"
"""A parameter of the function of that name; a class below the one of that name; the default export
of a file that may be imported under any path."""

_SHORT = 8


class Term(NamedTuple):
    """Something to look up: what it is about, the language family, and a key."""

    role: str
    family: str
    key: str


(
    DEFINES, METHOD, MACRO, PACKAGE, PASSES, CALLS, HELD, LEADS, APART, BASES, MODULES, INDIRECT,
    BELOW,
) = "dmxpacklubogi"  # fmt: skip
"""The roles of terms.

d  defines a symbol of this full name          m  has methods of this name with a body
x  has a macro of this name                    p  is in this package or namespace
a  has calls of this name that pass functions  c  has calls by this name
k  has calls by a name that holds this one     l  this name leads to another, after a space
u  has a member of a class outside of it       b  has base classes of a class outside of it
o  is a manifest of this module                g  calls parameters, or values without a name
i  has a class that names this base
"""


def key_of(name: str) -> str:
    """A name as it is looked up: short ones as they are, long ones by a hash. Suffixes are kept.

    Two names may have the same key, which is as if one led to what the other does.
    """
    if len(name) <= _SHORT and name.isascii() and name.isprintable() and " " not in name:
        return name
    return _hashed(name)


@lru_cache(maxsize=65_536)
def _hashed(name: str) -> str:
    if name.endswith(VALUE):
        return key_of(name[:-2]) + VALUE
    if name[0] in (PASSED_TO, BASE) and len(name) > 1:
        return name[0] + key_of(name[1:])
    return "~" + digest(name)


def digest(text: str) -> str:
    """Six letters for a text."""
    number = crc32(text.encode("utf-8", "surrogatepass"))
    return b2a_base64(number.to_bytes(4, "big"))[:6].decode("ascii")
