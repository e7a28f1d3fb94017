"""Some grammars are in an optional extra: without them outlines are guessed, and say so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.agents.doctor import _python
from holdfast.extras import install_command
from holdfast.index.building.cached_file import prepared_key
from holdfast.index.facts import languages
from holdfast.index.facts.extract import extract
from holdfast.index.shared.rows import facts_key, ranking_key
from holdfast.index.tools import outline
from holdfast.index.tools.impact import impact
from holdfast.index.tools.outline import no_outline
from holdfast.index.tools.references import references
from holdfast.index.tools.render import Surface, outline_text
from tests.index.tools.test_explore import git
from tests.index.tools.test_rename_mentions import edited
from tests.index.wire import call_graph, manage_index
from tests.index.world import World

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


SCALA = b"""package shop

/** A cart. */
@SerialVersionUID(1L) final case class Cart(items: List[Item])
    extends Base {
  private[shop] lazy val limit = 3
  def total(a: Int): Int = a
  override protected def price: Int = super.price
  def +(other: Cart): Cart = other
  type Name = String
}

object Cart {
  implicit def toInt(cart: Cart): Int = 1
  val twice = (n: Int) => n + n
}

sealed trait Named { def name: String }
enum Color { case Red, Green }
given ordering: Ordering[Cart] = ???
package object tools
class `odd name`
// class Comment
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
        (
            "cart.scala",
            SCALA,
            [
                ("Cart", "class"),
                ("total", "method"),
                ("price", "method"),
                ("+", "method"),
                ("Name", "type"),
                ("Cart", "object"),
                ("toInt", "method"),
                ("Named", "trait"),
                ("Color", "enum"),
                ("ordering", "object"),
                ("tools", "object"),
                ("odd name", "class"),
            ],
        ),
    ],
    ids=["elixir", "zig", "scala"],
)
def test_without_the_extra_definitions_are_guessed(
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


@pytest.fixture
def without_grammars(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module in languages.OPTIONAL.values():
        monkeypatch.setitem(sys.modules, module, None)
    _forget()
    yield
    monkeypatch.undo()
    _forget()


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.usefixtures("without_grammars")
def test_without_its_grammar_an_outline_is_guessed_and_says_so(world: World) -> None:
    world.index.extract = extract
    world.write("cart.scala", SCALA.decode())
    world.write("words.ex", "# no definitions\n")
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    _, record = world.index.root_of(world.root)
    assert record is not None
    answer = outline.file_outline(world.index, record.root, "cart.scala")
    assert answer.outline is not None
    assert [(s.symbol_label, s.span.start_line) for s in answer.outline.symbols][:3] == [
        ("Cart", 4),
        ("Cart.total", 7),
        ("Cart.price", 8),
    ]
    assert not any(s.call_graph_hint.supported for s in answer.outline.symbols)
    assert answer.warnings == (
        "OUTLINE_GUESSED:no_grammar guessed from single lines, without the grammar of scala: "
        "definitions may be missing or wrong, and their ends are estimates; for the real outline "
        "run: pip install 'holdfast[languages]', then run: holdfast index reindex",
    )
    text = outline_text(answer, Surface(call=lambda call: call.tool))
    assert text.endswith("holdfast index reindex]")
    assert "[guessed from single lines" in text
    # One symbol exactly, calls and references need a grammar.
    exact = outline.file_outline(
        world.index, record.root, "cart.scala", resolve_mode="exact", symbol_label="Cart.total"
    )
    assert (exact.status, exact.outline) == ("unsupported", None)
    graph = call_graph(world.index, world.root, {"file": "cart.scala", "symbolLabel": "total"})
    assert graph["status"] == "unsupported"
    assert "holdfast[languages]" in graph["message"]
    asked = references(world.index, world.root, "Cart.total", file="cart.scala")
    assert asked.status == "unsupported"
    assert "holdfast[languages]" in (asked.message or "")
    nothing = outline.file_outline(world.index, record.root, "words.ex")
    assert (nothing.status, nothing.outline) == ("unsupported", None)


JVM = {
    "Util.java": """package core;
public class Util {
    public static int help(int a) { return a; }
}
""",
    "Main.java": """package core;
public class Main {
    int go() { return Util.help(1) + Tool.aid(); }
}
""",
    "main.scala": """package web
import core.Util
object Main { def go(): Int = Util.help(2) }
object Tool { def aid(): Int = 1 }
""",
}


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.usefixtures("without_grammars")
def test_mentions_in_a_file_without_its_grammar_are_in_doubt_when_a_symbol_is_renamed(
    tmp_path: Path,
) -> None:
    preview, applied, _ = edited(tmp_path, JVM, "Util.help", "assist")
    assert [(d.file, d.line, d.why) for d in preview.doubts] == [
        ("main.scala", 3, "the file was not parsed: no grammar")
    ]
    assert applied.status == "blocked"


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.usefixtures("without_grammars")
def test_a_confirmed_mention_in_a_file_without_its_grammar_is_renamed(tmp_path: Path) -> None:
    _, applied, files = edited(tmp_path, JVM, "Util.help", "assist", confirm="*")
    assert applied.applied
    assert "Util.assist(2)" in files["main.scala"]
    assert "Util.assist(1)" in files["Main.java"]


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.usefixtures("without_grammars")
def test_no_call_or_reference_rests_on_a_guess(world: World) -> None:
    world.index.extract = extract
    for path, text in JVM.items():
        world.write(path, text)
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    graph: Any = call_graph(
        world.index, world.root, {"file": "Main.java", "symbolLabel": "Main.go"}
    )
    assert [node["file"] for node in graph["nodes"]] == ["Main.java", "Util.java"]
    found = references(world.index, world.root, "Util.help", file="Util.java")
    assert {one.file for one in found.references} == {"Main.java"}
    assert (found.complete, found.unread) == (False, ("main.scala (no grammar)",))
    assert references(world.index, world.root, "Tool.aid").status == "not_found"


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.usefixtures("without_grammars")
def test_impact_names_what_it_cannot_read_without_a_grammar(world: World) -> None:
    world.index.extract = extract
    for path, text in {**JVM, "cart.ex": ELIXIR.decode()}.items():
        world.write(path, text)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        git(Path(world.root), *words)
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    world.write("cart.ex", ELIXIR.decode() + "# more\n")
    world.write("Util.java", JVM["Util.java"].replace("return a", "return 2 * a"))
    found = impact(world.index, world.root)
    assert [one.symbol_label for one in found.symbols] == ["Util.help"]
    assert [one.file for one in found.symbols[0].callers] == ["Main.java"]
    assert (found.complete, found.unread) == (False, ("cart.ex", "main.scala (no grammar)"))


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
@pytest.mark.usefixtures("without_grammars")
def test_a_file_that_its_first_line_makes_scala_has_a_key_of_its_own_too() -> None:
    """`#!/usr/bin/env scala` in a file without a suffix; its key does not know its text."""
    guessed = [languages.made_without_grammar(path) for path in ("bin/build", "build.sbt", "a.sc")]
    assert guessed == [True] * 3
    known = ("a.py", "Gemfile", "README.md", "setup.cfg", "a.java")
    assert not any(map(languages.made_without_grammar, known))


@pytest.mark.shows("LANG-OPTIONAL")
def test_with_every_grammar_no_file_has_such_a_key() -> None:
    for path in ("bin/build", "build.sbt", "a.sc", "a.ex"):
        assert not languages.made_without_grammar(path)


@pytest.mark.shows("LANG-OPTIONAL")
@pytest.mark.usefixtures("without_grammar")
def test_the_doctor_says_which_grammar_is_missing() -> None:
    found = [f for f in _python() if "julia" in f.message]
    assert [(f.state, f.fix) for f in found] == [("note", install_command("languages"))]
