"""A symbol may be named with its file."""

from __future__ import annotations

import pytest

from holdfast.index.tools.symbol_place import file_and_symbol

FILES = {"src/cart.py", "cart.lua", "odd:name.py"}


@pytest.mark.parametrize(
    ("typed", "file", "symbol"),
    [
        ("src/cart.py:Cart.total", "src/cart.py", "Cart.total"),
        ("odd:name.py:total", "odd:name.py", "total"),
        ("Cart.total", "", "Cart.total"),
        ("Cart::total", "", "Cart::total"),
        ("src/cart.py::total", "", "src/cart.py::total"),
        ("cart:total", "", "cart:total"),
        ("src/none.py:total", "", "src/none.py:total"),
        ("src/cart.py:", "", "src/cart.py:"),
        (":total", "", ":total"),
    ],
)
def test_what_precedes_the_last_colon_is_a_file_only_if_there_is_one(
    typed: str, file: str, symbol: str
) -> None:
    assert file_and_symbol(typed, FILES.__contains__) == (file, symbol)
