"""A question about what a tree does not have is told so, first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.index.search.operators import alternatives


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    root = tmp_path / "shop"
    root.mkdir()
    for name in ("cart", "price", "basket", "order", "invoice"):
        (root / f"{name}.py").write_text(f"def {name}_total(lines):\n    return sum(lines)\n")
    monkeypatch.chdir(root)
    assert main(["index", "create"]) == 0
    return root


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], str]:
    capsys.readouterr()
    code = main(["search", *words])
    shown = capsys.readouterr()
    return code, shown.out.splitlines(), shown.err


@pytest.mark.shows("ANSWER-UNMATCHED")
@pytest.mark.usefixtures("shop")
def test_a_question_of_unknown_words_says_so_first_and_gets_few_results(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, lines, _ = answer(capsys, "zorblax frobnicator quuxify")
    assert code == 0
    assert "no result has any word of the question (zorblax, frobnicator, quuxify)" in lines[0]
    assert sum(".py:" in line for line in lines) <= 4  # one more in the line that helps


@pytest.mark.shows("ANSWER-UNMATCHED")
@pytest.mark.usefixtures("shop")
def test_a_word_that_no_result_has_is_named_first(capsys: pytest.CaptureFixture[str]) -> None:
    _, lines, _ = answer(capsys, "zorblax of the invoice total")
    assert lines[0] == "[no result has zorblax]"
    assert lines[1].startswith("invoice.py:1-2")
    _, lines, _ = answer(capsys, "invoice total")
    assert lines[0].startswith("invoice.py:1-2")


@pytest.mark.shows("ANSWER-UNMATCHED")
@pytest.mark.usefixtures("shop")
def test_a_word_that_only_asks_is_not_missed(capsys: pytest.CaptureFixture[str]) -> None:
    """`decide whether a message is retried` was answered with "no result has decide, whether"."""
    _, lines, _ = answer(capsys, "decide whether the invoice total happens")
    assert lines[0].startswith("invoice.py:1-2")
    _, lines, _ = answer(capsys, "decide whether zorblax has an invoice total")
    assert lines[0] == "[no result has zorblax]"


@pytest.mark.shows("ANSWER-UNMATCHED")
def test_words_that_only_occur_in_a_list_are_no_match(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`zebra quantum flamingo` got ten results where one of the words is in a table."""
    rows = "".join(f'    "{word}{n}",\n' for n in range(12) for word in ("apple", "pear", "plum"))
    (shop / "animals.py").write_text(f'NAMES = [\n{rows}    "zebra",\n]\n')
    (shop / "units.py").write_text(f'UNITS = [\n{rows}    "quantum",\n]\n')
    _, lines, _ = answer(capsys, "zebra quantum flamingo")
    assert lines[0] == (
        "[no result has flamingo; nothing matches the question well; this is the nearest]"
    )
    assert len([line for line in lines if re.match(r"\w+\.py:\d", line)]) <= 3
    assert not any(line.startswith("  values:") for line in lines)
    _, lines, _ = answer(capsys, "zebra quantum flamingo", "--limit", "10")
    assert "nothing matches the question well" in lines[0]


@pytest.mark.shows("ANSWER-PATTERN")
@pytest.mark.usefixtures("shop")
def test_a_wrong_pattern_is_refused_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    """It was searched for as plain text, with a warning after ten results."""
    code, lines, error = answer(capsys, "re:total((")
    assert (code, lines) == (2, [])
    assert "re:total((" in error
    assert "at character 7" in error


@pytest.mark.shows("ANSWER-ALTERNATIVES")
@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("query", ["sym:cart_total|order_total", "sym:cart_total|sym:order_total"])
def test_one_of_several_symbols(capsys: pytest.CaptureFixture[str], query: str) -> None:
    _, lines, _ = answer(capsys, query)
    found = {line.split(":")[0] for line in lines if ".py:" in line}
    assert found == {"cart.py", "order.py"}


@pytest.mark.shows("ANSWER-ALTERNATIVES")
def test_a_bar_may_be_part_of_a_name() -> None:
    assert alternatives("operator||") == ["operator||"]
    assert alternatives("A.*|sym:b") == ["A.*", "b"]
