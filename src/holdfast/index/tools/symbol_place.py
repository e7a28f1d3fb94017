"""A symbol named together with its file: `src/cart.py:Cart.total`."""

from __future__ import annotations

from collections.abc import Callable


def file_and_symbol(typed: str, is_file: Callable[[str], bool]) -> tuple[str, str]:
    """The file and the symbol that were typed; the file is empty if none was named.

    `Cart::total` and Lua's `cart:total` have colons too, so what precedes the last colon has to be
    a file.
    """
    file, colon, symbol = typed.rpartition(":")
    if colon and file and symbol and not file.endswith(":") and is_file(file):
        return file, symbol
    return "", typed
