"""The explorers of `bench.explore`: what they take from real answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.explore.arms import Ours, Question
from holdfast.cli.main import main

BODY = "\n".join(
    f"    step_{n} = items_of_the_basket[{n}] + items_of_the_shelf[{n}] + step_{n - 1}"
    for n in range(1, 48)
)
SHOP = f"""\
def refund_of_order(items, step_0):
    # a refund of an order
{BODY}
    return step_47


class Parcel:
    def weight(self, items, step_0):
{BODY}
        return step_47


class Order:
    def refund(self, items, step_0):
        # the refund that an order gets
        return sum(items) - step_0
"""


def test_a_further_place_is_read_by_its_lines_if_its_name_has_a_word_of_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "shop.py").write_text(SHOP)
    for number in range(10):
        (tree / f"other_{number}.py").write_text(
            f"def order_{number}(items):\n    return items[{number}]\n"
        )
    monkeypatch.chdir(tree)
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    calls: list[Sequence[str]] = []

    def holdfast(words: Sequence[str]) -> str:
        calls.append(words)
        main(list(words))
        return capsys.readouterr().out

    holdfast(["index", "create"])
    question = Question("how does an order get a refund", ("refund",), (("shop.py", 1, 50),))
    assert Ours(tree, question).run(holdfast)
    search, read = calls[1:]
    assert search[:2] == ["search", question.ask]
    # Neither `Parcel`, which is named too, nor every symbol that has the same name.
    assert read == ["read", "-n", "--no-comments", "shop.py:1-50"]
