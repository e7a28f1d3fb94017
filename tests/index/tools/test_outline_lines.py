"""An outline within a budget keeps every symbol as long as it can."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.index.answers import CallGraphHint, OutlineSymbol, Span
from holdfast.index.tools.outline_lines import outline_lines

LONG = "(self, " + ", ".join(f"argument_{n}=None" for n in range(9)) + ")"


def symbol(label: str, first: int, signature: str | None = None) -> OutlineSymbol:
    kind = "method" if "." in label else "class"
    name = label.rpartition(".")[2]
    return OutlineSymbol(
        f"sym_{label}", label, name, kind, Span(first, first + 1), True, CallGraphHint(True),
        signature,
    )  # fmt: skip


def classes(count: int, members: int) -> list[OutlineSymbol]:
    return [
        one
        for n in range(count)
        for one in (
            symbol(f"Class{n}", n * 100),
            *(
                symbol(f"Class{n}.method{m}", n * 100 + m, f"def method{m}{LONG}")
                for m in range(members)
            ),
        )
    ]


@pytest.mark.shows("MCP-OUTLINE-BUDGET")
def test_an_outline_that_fits_is_whole() -> None:
    symbols = classes(2, 2)
    lines, shortened = outline_lines(symbols, 1_450)
    assert not shortened
    assert lines == outline_lines(symbols)[0]
    assert LONG in lines[1]


@pytest.mark.parametrize(
    ("kind", "signature", "line"),
    [
        ("method", "@Override public void reset()", "7-8  public void reset()"),
        ("method", "def reset(self)", "7-8  reset(self)"),
        ("method", "def reset( self, a=None, b=(1,), )", "7-8  reset(self, a=None, b=(1,))"),
        ("method", "async def reset(self)", "7-8  async reset(self)"),
        ("method", "func (t *Tree) reset(fn func(int) bool)",
         "7-8  func (t *Tree) reset(fn func(int) bool)"),
        ("function", "fn reset(def int)", "7-8  reset(def int)"),
        ("function", "int reset(func callback, int n)", "7-8  int reset(func callback, int n)"),
        ("method", "@Override void reset(@Override func x)", "7-8  void reset(@Override func x)"),
        ("method", None, "7-8  method reset"),
        ("class", "static class reset extends Base", "7-8  static class reset extends Base"),
        ("constant", "reset = 1", "7-8  constant reset = 1"),
        ("class", "class reset(Base)", "7-8  class reset(Base)"),
    ],
)  # fmt: skip
def test_a_program_gets_the_kind_only_where_the_signature_does_not_show_it(
    kind: str, signature: str | None, line: str
) -> None:
    one = replace(symbol("A.reset", 7, signature), kind=kind)
    assert outline_lines([one])[0] == [line]
    assert f" {kind} " in outline_lines([one], aligned=True)[0][0]


@pytest.mark.shows("MCP-OUTLINE-BUDGET")
@pytest.mark.parametrize("members", [5, 12, 30])
def test_a_long_outline_names_every_symbol_within_the_budget(members: int) -> None:
    symbols = classes(10, members)
    lines, shortened = outline_lines(symbols, 1_450)
    assert shortened
    assert sum(len(line.encode()) + 1 for line in lines) / 4 <= 1_450
    text = "\n".join(lines)
    assert all(one.name in text for one in symbols)


@pytest.mark.shows("MCP-OUTLINE-BUDGET")
def test_the_last_resort_counts_the_members() -> None:
    lines, shortened = outline_lines(classes(3, 400), 60)
    assert shortened
    assert lines == [f"{n * 100}-{n * 100 + 1} class Class{n} (400 members)" for n in range(3)]


@pytest.mark.shows("MCP-OUTLINE-BUDGET")
@given(
    st.lists(st.sampled_from(["A", "A.b", "A.b.c", "D", "D.e"]), max_size=30), st.integers(0, 60)
)
def test_every_top_level_symbol_stays_whatever_the_budget(labels: list[str], budget: int) -> None:
    symbols = [symbol(label, n * 3) for n, label in enumerate(labels)]
    lines, _ = outline_lines(symbols, budget)
    text = "\n".join(lines)
    assert all(f"{one.span.start_line}-" in text for one in symbols if "." not in one.symbol_label)
