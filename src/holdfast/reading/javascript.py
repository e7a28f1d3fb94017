"""The few rules of JavaScript that our formats depend on.

The read tool that we replace is written in JavaScript, and its number formatting, rounding and
trimming show in the text an agent sees. This module has all the differences from Python.
"""

import math
from decimal import ROUND_HALF_UP, Decimal

WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's `trim` removes; `str.strip()` has U+001C-001F and U+0085, but not U+FEFF."""


def number(value: float) -> str:
    """A number as a template string prints it: `3`, not `3.0`."""
    if isinstance(value, int):
        return str(value)
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if not math.isfinite(value):
        return repr(value).replace("inf", "Infinity").replace("nan", "NaN")
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(repr(value)), "f")
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent):+d}"


def fixed(value: float, digits: int) -> str:
    """`toFixed`: exact ties go up, where Python's formatting goes to even."""
    step = Decimal(1).scaleb(-digits)
    return str(Decimal(value).quantize(step, rounding=ROUND_HALF_UP))


def rounded(value: float) -> int:
    """`Math.round`: halves go up."""
    return math.floor(value + 0.5)


def is_integer(value: object) -> bool:
    """Whether JavaScript treats JSON's `value` as an integer: `1.0` is one, `true` is not."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def size(count: int) -> str:
    """A size as the built-in read prints it: `12B`, `50.0KB`, `1.5MB`."""
    if count < 1024:
        return f"{count}B"
    if count < 1024 * 1024:
        return f"{fixed(count / 1024, 1)}KB"
    return f"{fixed(count / (1024 * 1024), 1)}MB"


def binary_size(count: int) -> str:
    """A size as the status prints it: `12 B`, `1.3 KiB`, `2.0 MiB`."""
    if count < 1024:
        return f"{count} B"
    if count < 1024 * 1024:
        return f"{fixed(count / 1024, 1)} KiB"
    return f"{fixed(count / (1024 * 1024), 1)} MiB"


def trim_end(text: str) -> str:
    """`trimEnd`."""
    return text.rstrip(WHITESPACE)


def trim(text: str) -> str:
    """`trim`."""
    return text.strip(WHITESPACE)
