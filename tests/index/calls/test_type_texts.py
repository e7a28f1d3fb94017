"""Types as written: what they are taken apart into, and that no text is refused or expensive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.calls.signatures import shape
from holdfast.index.calls.type_texts import (
    alternatives,
    callback_parameters,
    container,
    instantiated,
    object_members,
    returned_type,
    substituted,
    written,
)

PIECES = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "=>",
        "=",
        ":",
        "|",
        "&",
        ",",
        ";",
        " ",
        '"',
        "'",
        "A",
        "list",
        "dict",
        "Promise",
        "typeof x",
        "key",
        "...",
        "?",
        "\n",
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@given(TEXTS)
@pytest.mark.shows("CALLS-TYPE-TEXTS")
def test_any_text_is_read(text: str) -> None:
    for one in alternatives(text):
        if one.kind in ("list", "map", "tuple", "object"):
            container(written(one))
    object_members(text)
    returned_type(text)
    callback_parameters(text)
    substituted(text, instantiated(f"function f<T>(a: T): {text}", text))
    shape("typescript", "f", f"function f({text}): {text}")


@pytest.mark.shows("CALLS-TYPE-TEXTS")
def test_members_of_an_object_type() -> None:
    text = "{ a: A; readonly b?: B[], pay(x: X): R\n done: () => void; 'quoted': Q }"
    assert object_members(text) == {
        "a": "A",
        "b": "B[]",
        "pay": "(x: X): R",
        "done": "() => void",
        "quoted": "Q",
    }
    assert returned_type("(x: X): R") == "R"
    assert returned_type("() => void") == "void"
    assert returned_type("Map<A, B>") is None


@pytest.mark.shows("CALLS-TYPE-TEXTS")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("Cart", {"T": "Cart", "D": 'Cart["def"]'}),
        ("Cart, Plan", {"T": "Cart", "D": "Plan"}),
        ("=core.Made<Cart>", {"T": "Cart", "D": 'Cart["def"]'}),
        ("=Other<Cart>", {}),
    ],
)
def test_type_parameters_at_a_call(arguments: str, expected: dict[str, str]) -> None:
    signature = 'function make<T extends Base, D = T["def"]>(build: (it: T) => void): Made<T, D>'
    assert instantiated(signature, arguments) == expected


@pytest.mark.shows("CALLS-TYPE-TEXTS")
def test_a_deep_or_long_type_is_read_in_linear_time() -> None:
    """Each of these took its square once; they end here within the test's own limit."""
    for text in (
        "{a:" * 5_000,
        "(" * 5_000,
        "A<" * 5_000,
        "{ a: A; " * 5_000 + "}",
        "A | " * 5_000,
    ):
        alternatives(text)
        object_members(text)
        callback_parameters(text)
        returned_type(text)
