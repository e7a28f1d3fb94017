"""Bases are read from the head of a type, in every language by the same few rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search.inheritance import TYPES_MAX, ancestors, bases_of


@pytest.mark.shows("SEARCH-INHERITED")
@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("class Shop(Base, mixins.Open, metaclass=Meta):\n    rate = {1: 2}", ["base", "open"]),
        ("class Shop:\n    x: int = 1\n", []),
        ("class Shop(\n    Base,\n):\n    pass", ["base"]),
        ("class Shop<T> extends Base<T> implements Open, X {\n  int x;", ["base", "open", "x"]),
        ("export class Shop extends base.Store {", ["store"]),
        ("class Shop < Store::Base\n  def total\n", ["base"]),
        ("class Shop : public Base, private Other {", ["base", "other"]),
        ("public class Shop : Base, IOpen\n{\n", ["base", "iopen"]),
        ("class Shop(private val rate: Int) : Base(rate), Open {", ["base", "open"]),
        ("final class Shop: Base {", ["base"]),
        ("class Shop extends \\App\\Base implements Open\n{", ["base", "open"]),
        ("class Shop extends Base with Open {", ["base", "open"]),
        ("public class Shop\n    extends Base\n    implements Open {\n", ["base", "open"]),
        ("class ShopWindow(Other):\n    pass", []),
    ],
)  # fmt: skip
def test_the_bases_of_a_type(text: str, bases: list[str]) -> None:
    assert bases_of(text, "shop") == bases


@pytest.mark.shows("SEARCH-INHERITED")
def test_the_nearest_ancestors_come_first_and_circles_end() -> None:
    heads = {
        "shop": ["class Shop(Base, Open): ..."],
        "base": ["class Base(Root): ..."],
        "root": ["class Root(Shop): ..."],
    }
    assert ancestors("shop", lambda name: heads.get(name, ())) == ("base", "open", "root")


@pytest.mark.shows("SEARCH-INHERITED")
def test_only_so_many_types_are_looked_at() -> None:
    asked: list[str] = []

    def heads(name: str) -> list[str]:
        asked.append(name)
        return [f"class {name}({name}a, {name}b): ..."]

    ancestors("x", heads)
    assert len(asked) == TYPES_MAX


@given(st.text(alphabet="class Shop<>(){}[]:,.=\n extends", max_size=200))
def test_any_text_has_some_bases_or_none(text: str) -> None:
    assert isinstance(bases_of("class Shop" + text, "shop"), list)
