"""Elixir, Zig and Julia: outlines, by source files that say what is true of them; no calls."""

import pytest

from holdfast.index.facts.extract import extract
from tests.index.claims import check

CASES = {
    "elixir: a module and its functions": """
        # --- lib/shop.ex
        defmodule Shop.Cart do
          # ^ defines namespace Shop.Cart
          # ^ signature defmodule Shop.Cart
          def total(cart) do
            # ^ defines function Shop.Cart.total
            # ^ inside Shop.Cart
            # ^ signature def total(cart)
            sum(cart.items)
          end
          defp sum(items), do: Enum.sum(items)
          # ^ defines function Shop.Cart.sum
          # ^ hidden
          # ^ signature defp sum(items)
        end
        """,
    "elixir: a comment and attributes above": """
        # --- lib/shop.ex
        defmodule Shop do
          # Adds up.
          @spec total(list) :: integer
          def total(items), do: items
          # ^ defines function Shop.total
          # ^ doc Adds up.
        end
        """,
    "elixir: a guard, no arguments, a default": """
        # --- lib/shop.ex
        defmodule Shop do
          def total(x) when is_list(x), do: x
          # ^ defines function Shop.total
          def rate, do: 1
          # ^ defines function Shop.rate
          def price(x \\\\ 1), do: x
          # ^ defines function Shop.price
        end
        """,
    "elixir: macros, guards, delegates": """
        # --- lib/shop.ex
        defmodule Shop do
          defmacro twice(x), do: x
          # ^ defines macro Shop.twice
          defmacrop once(x), do: x
          # ^ defines macro Shop.once
          # ^ hidden
          defguard is_cart(x) when is_map(x)
          # ^ defines macro Shop.is_cart
          defdelegate total(x), to: Other
          # ^ defines function Shop.total
        end
        """,
    "elixir: protocols, implementations, modules in modules": """
        # --- lib/shop.ex
        defprotocol Priced do
          # ^ defines interface Priced
          def price(x)
          # ^ defines function Priced.price
        end
        defmodule Outer do
          defmodule Inner do
            # ^ defines namespace Outer.Inner
            def go, do: 1
            # ^ defines function Outer.Inner.go
          end
          defimpl Priced, for: Inner do
            # ^ defines namespace Outer.Priced
            def price(x), do: x
            # ^ defines function Outer.Priced.price
          end
        end
        """,
    "elixir: tests": """
        # --- test/shop_test.exs
        defmodule ShopTest do
          describe "totals" do
            # ^ defines section ShopTest.totals
            test "adds up", %{cart: cart} do
              # ^ defines function ShopTest.totals.adds up
              assert cart
            end
          end
        end
        """,
    "zig: functions": """
        // --- shop.zig
        /// Adds up.
        pub fn total(a: u32) u32 {
            // ^ defines function total
            // ^ doc Adds up.
            // ^ signature pub fn total(a: u32) u32
            return a;
        }
        fn hidden() void {}
        // ^ defines function hidden
        // ^ hidden
        export fn shown() void {}
        // ^ defines function shown
        """,
    "zig: structs hold methods": """
        // --- shop.zig
        pub const Cart = struct {
            // ^ defines struct Cart
            // ^ signature pub const Cart = struct
            items: []u32,
            const Kind = enum { a, b };
            // ^ defines enum Cart.Kind
            // ^ hidden
            pub fn total(self: *Cart) usize {
                // ^ defines method Cart.total
                // ^ inside Cart
                const n = self.items.len;
                return n;
            }
        };
        """,
    "zig: other shapes": """
        // --- shop.zig
        const Kind = enum(u8) { a, b };
        // ^ defines enum Kind
        const Value = union(enum) { a: u8 };
        // ^ defines union Value
        const Failure = error{ Empty, Full };
        // ^ defines enum Failure
        const rate = 20;
        // ^ defines constant rate
        """,
    "zig: generic types are functions": """
        // --- shop.zig
        pub fn List(comptime T: type) type {
            // ^ defines function List
            return struct {
                items: []T,
            };
        }
        """,
    "zig: tests": """
        // --- shop.zig
        test "adds up" {
            // ^ defines function adds up
            const x = 1;
            _ = x;
        }
        """,
    "julia: modules, functions and types": """
        # --- Shop.jl
        module Shop
        # ^ defines namespace Shop
        # ^ signature module Shop
        struct Cart
            # ^ defines struct Shop.Cart
            items::Vector{Int}
        end
        # Adds up.
        function total(cart::Cart)
            # ^ defines function Shop.total
            # ^ doc Adds up.
            # ^ signature function total(cart::Cart)
            inner(x) = x
            sum(cart.items)
        end
        end
        """,
    "julia: short functions and macros": """
        # --- shop.jl
        price(x) = x + 1
        # ^ defines function price
        macro twice(e)
            # ^ defines macro twice
            e
        end
        rate = 0.2
        """,
    "julia: parameters, bases, mutable and abstract types": """
        # --- shop.jl
        abstract type Priced end
        # ^ defines type Priced
        mutable struct Cart{T} <: Priced
            # ^ defines struct Cart
            items::Vector{T}
        end
        """,
    "julia: a method of another module, and one that changes its argument": """
        # --- shop.jl
        function Base.show(io::IO, x)
            # ^ defines function show
        end
        function add!(cart, x)
            # ^ defines function add!
        end
        """,
}


@pytest.mark.shows("FACT-OUTLINED")
@pytest.mark.parametrize("name", CASES)
def test_outlined(name: str) -> None:
    check(CASES[name])


@pytest.mark.shows("FACT-OUTLINED")
def test_a_call_is_no_definition() -> None:
    assert extract("a.ex", b'IO.puts("x")\ndef_like("x")\n').symbols == ()


@pytest.mark.shows("FACT-OUTLINED")
def test_clauses_of_one_function_are_one_symbol() -> None:
    text = (
        b"defmodule A do\n  def f(1), do: 1\n  def f(2) do\n    2\n  end\n\n  def g, do: 1\nend\n"
    )
    found = extract("a.ex", text)
    assert [(s.qualified, s.span.first_line, s.span.last_line) for s in found.symbols] == [
        ("A", 1, 8), ("A.f", 2, 5), ("A.g", 7, 7),
    ]  # fmt: skip


@pytest.mark.shows("FACT-OUTLINED")
@pytest.mark.parametrize("path", ["a.ex", "a.zig", "a.jl"])
@pytest.mark.parametrize(
    "text", [b"", b"def (((", b"pub fn", b"function", b"defmodule\n", b"\xff\n"]
)
def test_what_does_not_parse_has_chunks_and_says_so(path: str, text: bytes) -> None:
    found = extract(path, text)
    assert b"".join(text[c.span.start : c.span.end] for c in found.chunks) == text
    assert not [p for p in found.problems if p.code == "malformed"]
    assert (found.calls, found.imports) == ((), ())
