"""What a search answer costs, on a tree that never changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.app import App
from holdfast.index.code_index import CodeIndex, run_here
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.render import Surface
from holdfast.index.tools.search import search_code
from holdfast.index.tools.search_text import search_text

TOKENS_MAX = 1_200
WORDS = ("ledger", "invoice", "payment", "refund", "account", "transfer", "balance", "currency")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[CodeIndex, str]]:
    """Twelve files of long functions, each of which speaks of payments in long lines."""
    root = tmp_path_factory.mktemp("tree")
    for number in range(12):
        parts = ["# Copyright by the authors. All rights reserved.\n" * 5]
        for name in WORDS:
            steps = "".join(
                f"    {WORDS[step * number % 8]}_{step * 31 % 97} = settle_payment_of("
                f"{name!r}, {WORDS[(step + number) % 7]}={step * number}, ledger_entry_{number})\n"
                for step in range(25)
            )
            parts.append(f"def settle_{name}_{number}(ledger, currency):\n{steps}\n\n")
        (root / f"module_with_a_long_name_{number}.py").write_text("".join(parts))
    index = App(tmp_path_factory.mktemp("home")).open_index()
    index.start = run_here
    manage_index(index, "create", str(root))
    yield index, str(root)
    index.close()


@pytest.mark.shows("ANSWER-TOKENS")
@pytest.mark.parametrize("query", ["how is a payment settled", "settle_refund", "ledger entry"])
def test_ten_results_are_cheap(indexed: tuple[CodeIndex, str], query: str) -> None:
    index, root = indexed
    answer = search_code(index, root, query, limit=10)
    surface = Surface(call=lambda call: f"{call.tool}(…)")
    text = search_text(answer, surface)
    assert len(answer.results) == 10
    assert len(text.encode()) / 4 <= TOKENS_MAX
    assert "Copyright" not in text
