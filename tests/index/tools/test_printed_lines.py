"""What counts as printed by an answer: lines of the file, whole, under their numbers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from holdfast.app import App
from holdfast.index.answers import Span
from holdfast.index.code_index import run_here
from holdfast.index.search_answers import FurtherPlace, SearchAnswer, SearchResult
from holdfast.index.tools import render_explore, search_text
from holdfast.index.tools.explore import explore
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.render import Surface, span_text
from holdfast.index.tools.search import search_code

SURFACE = Surface(call=lambda call: f"{call.tool}(…)")
ODD = [
    "    return value\t# after a tab",
    "\tindented = by_a_tab",
    "trailing = 1   ",
    "x = '" + "long " * 60 + "'",
    "# ends with dots…",
    "",
    "    payment = settle(payment)",
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root, chance = tmp_path / "tree", random.Random(7)
    root.mkdir()
    for number in range(6):
        parts = []
        for part in range(8):
            rows = [f"def payment_{number}_{part}(value):", *chance.choices(ODD, k=6)]
            parts += [*rows, "    return payment", "", ""]
        method = ["class Payment:", "    def settle(self):", "        return payment", ""]
        (root / f"m{number}.py").write_text("\n".join([*parts, *method]))
    return root


@pytest.mark.shows("SEARCH-PRINTED")
def test_what_counts_as_printed_stands_in_the_text_and_in_the_file(
    tree: Path, tmp_path: Path
) -> None:
    index = App(tmp_path / "home").open_index()
    index.start = run_here
    manage_index(index, "create", str(tree))
    printed = 0
    for query in ("settle a payment", "payment_3_2", "re:payment", "class Payment", "trailing"):
        answer = search_code(index, str(tree), query, limit=10)
        text = search_text.search_text(answer, SURFACE).split("\n")
        for result, number, row in search_text.printed_lines(answer, SURFACE):
            of_file = (tree / result.file).read_text().split("\n")
            assert of_file[number - 1] == row
            heading = f"{result.file}:{span_text(result.span)}"
            at = next(n for n, line in enumerate(text) if line.startswith(heading))
            assert f"{number} {row}" in text[at + 1 :]
            assert row.strip() == row.strip("…").strip()
            printed += 1
    assert printed > 20
    for symbol in ("payment_3_2", "Payment", "Payment.settle"):
        for tokens in (200, 1_500):
            found = explore(index, str(tree), symbol)
            text = render_explore.explore_text(found, SURFACE, tokens_max=tokens).split("\n")
            shown = list(render_explore.printed_lines(found, SURFACE, tokens_max=tokens))
            assert shown
            for file, first, rows in shown:
                of_file = (tree / file).read_text().split("\n")
                assert of_file[first - 1 : first - 1 + len(rows)] == rows
                assert any(text[at : at + len(rows)] == rows for at in range(len(text)))
    index.close()


def rows(text: str, *spans: tuple[int, int], language: str = "python") -> list[str]:
    shown = SearchResult(
        kind="group",
        file="a",
        span=Span(spans[0][0], spans[-1][1]),
        language=language,
        symbol_id=None,
        symbol_label=None,
        score=1.0,
        indexed_at=None,
        staleness_bucket="fresh",
        preview=text,
        preview_spans=tuple(Span(*span) for span in spans),
    )
    answer = SearchAnswer(
        status="ok", path="/tree", query="cart", scope="runtime", group_by="symbol",
        result_mode="grouped", limit=10, freshness_decision=None, results=(shown,),
    )  # fmt: skip
    return search_text.search_text(answer, SURFACE).split("\n")[1:]


def test_the_indentation_of_a_part_is_a_space_for_each_level() -> None:
    """A part of a function at the margin kept all its indentation, which no reader can copy."""
    part = "def total(lines):\n⋮\n    if lines:\n        return sum(lines)"
    assert rows(part, (1, 1), (4, 5)) == [
        "1 def total(lines):",
        "4  if lines:",
        "5   return sum(lines)",
    ]
    whole = "def total(lines):\n    if lines:\n        return sum(lines)"
    assert rows(whole, (1, 3)) == [
        "1 def total(lines):",
        "2     if lines:",
        "3         return sum(lines)",
    ]


def test_a_bracket_that_is_not_shown_does_not_keep_the_margin() -> None:
    """The bracket that ends the class belongs to the text of its last method."""
    last = "    int total() {\n        return sum;\n    }\n}"
    assert rows(last, (7, 10), language="java") == ["7 int total() {", "8  return sum;"]


def test_a_further_place_is_named_by_its_lines_so_that_a_read_can_ask_for_them() -> None:
    """By its first line and its name alone, a read of it showed every symbol of that name."""
    further = (
        FurtherPlace(Span(12, 20), None, "Cart.total"),
        FurtherPlace(Span(94, 99), None, None),
        FurtherPlace(Span(101, 101), None, "Cart.ZERO"),
        FurtherPlace(Span(103, 103), None, None),
    )
    result = SearchResult(
        kind="group", file="a.py", span=Span(1, 2), language="python", symbol_id=None,
        symbol_label="Cart", score=1.0, indexed_at=None, staleness_bucket="fresh",
        further_count=4, further=further,
    )  # fmt: skip
    answer = SearchAnswer(
        status="ok", path="/tree", query="cart", scope="runtime", group_by="symbol",
        result_mode="grouped", limit=10, freshness_decision=None, results=(result,),
    )  # fmt: skip
    lines = search_text.search_text(answer, SURFACE).split("\n")
    assert lines == ["a.py:1-2  Cart", "  also 12-20 total, lines 94-99, 101 ZERO, line 103"]
