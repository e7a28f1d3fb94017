"""Some grammars are in an optional extra: without them files are searched, not outlined."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from holdfast.agents.doctor import _python
from holdfast.index.building.cached_file import prepared_key
from holdfast.index.facts import languages
from holdfast.index.facts.extract import extract
from holdfast.index.shared.rows import facts_key, ranking_key
from holdfast.index.tools.outline import no_outline

SOURCE = b"""module Shop

function total!(cart)
    sum(cart)
end

price(item) = item.price

mutable struct Cart
    items
end

end
"""


@pytest.fixture
def without_grammar(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "tree_sitter_julia", None)
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    languages.parsed.cache_clear()
    languages.lacks_grammar.cache_clear()


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.usefixtures("without_grammar")
def test_without_its_grammar_a_language_has_guessed_definitions() -> None:
    facts = extract("shop.jl", SOURCE)
    assert (facts.language, facts.guessed) == ("julia", True)
    assert [(s.name, s.kind) for s in facts.symbols] == [
        ("Shop", "namespace"),
        ("total!", "function"),
        ("price", "function"),
        ("Cart", "struct"),
    ]


ELIXIR = b"""defmodule Shop.Cart do
  @doc "sums"
  def total(cart), do: Enum.sum(cart)
  defp valid?(item), do: item.price > 0
  defmacro checked(block), do: block
end

defprotocol Priced do
  def price(item)
end
"""
ZIG = b"""const std = @import("std");

pub const Cart = struct {
    items: []Item,

    pub fn total(self: Cart) u32 {
        return self.items.len;
    }
};

const Kind = enum { food, drink };

export fn main() void {}

test "an empty cart costs nothing" {}
"""


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.parametrize(
    ("path", "source", "symbols"),
    [
        (
            "cart.ex",
            ELIXIR,
            [
                ("Shop.Cart", "namespace"),
                ("total", "function"),
                ("valid?", "function"),
                ("checked", "macro"),
                ("Priced", "interface"),
                ("price", "method"),
            ],
        ),
        (
            "cart.zig",
            ZIG,
            [
                ("Cart", "struct"),
                ("total", "method"),
                ("Kind", "enum"),
                ("main", "function"),
                ("an empty cart costs nothing", "function"),
            ],
        ),
    ],
    ids=["elixir", "zig"],
)
def test_without_the_extra_definitions_of_elixir_and_zig_are_guessed(
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    source: bytes,
    symbols: list[tuple[str, str]],
) -> None:
    for module in languages.OPTIONAL.values():
        monkeypatch.setitem(sys.modules, module, None)
    _forget()
    facts = extract(path, source)
    monkeypatch.undo()
    _forget()
    assert facts.guessed
    assert [(s.name, s.kind) for s in facts.symbols] == symbols
    assert not extract(path, source).guessed


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.usefixtures("without_grammar")
def test_an_outline_without_the_grammar_names_the_command_that_adds_it() -> None:
    message = no_outline(extract("shop.jl", SOURCE))
    assert message == (
        "'shop.jl' was indexed without the grammar of julia;"
        " run: pip install 'holdfast[languages]', then run: holdfast index reindex"
    )


@pytest.mark.shows("LANG-OPTIONAL")
def test_an_outline_of_a_tree_indexed_before_the_grammar_was_there_asks_for_a_reindex(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_julia", None)
    _forget()
    facts = extract("shop.jl", SOURCE)
    monkeypatch.undo()
    _forget()
    assert "pip install" not in no_outline(facts)
    assert "holdfast index reindex" in no_outline(facts)
    assert not extract("shop.jl", SOURCE).guessed


@pytest.mark.shows("LANG-OPTIONAL")
def test_facts_made_without_a_grammar_are_never_taken_for_the_real_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They have keys of their own where facts are shared; other files keep theirs."""
    made = [
        make(path, "d1", "m")
        for make in (prepared_key, facts_key, ranking_key)
        for path in ("shop.jl", "shop.py")
    ]
    monkeypatch.setitem(sys.modules, "tree_sitter_julia", None)
    _forget()
    without = [
        make(path, "d1", "m")
        for make in (prepared_key, facts_key, ranking_key)
        for path in ("shop.jl", "shop.py")
    ]
    monkeypatch.undo()
    _forget()
    assert [a == b for a, b in zip(made, without, strict=True)] == [False, True] * 3


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.usefixtures("without_grammar")
def test_the_doctor_says_which_grammar_is_missing() -> None:
    found = [f for f in _python() if "julia" in f.message]
    assert [(f.state, f.fix) for f in found] == [("note", languages.LANGUAGES_EXTRA)]
