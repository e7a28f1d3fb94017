"""A symbol given together with its file: `src/cart.py:Cart.total`."""

from __future__ import annotations

from collections.abc import Callable


def file_and_symbol(typed: str, is_file: Callable[[str], bool]) -> tuple[str, str]:
    """The file and the symbol in the text; the file is empty if none is named.

    `Cart::total` and Lua's `cart:total` have colons too, so the part before the last colon has to
    be a file.
    """
    file, colon, symbol = typed.rpartition(":")
    if colon and file and symbol and not file.endswith(":") and is_file(file):
        return file, symbol
    return "", typed
