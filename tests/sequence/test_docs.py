"""docs/sequence.md says what is so: its commands print what it shows, its program runs."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.sequence import report, segment_store
from holdfast.sequence.suffix import segment
from holdfast.sequence.tokens import lexer

PAGE = (Path(__file__).parent.parent.parent / "docs" / "sequence.md").read_text(encoding="utf-8")

PRICES = """import os


def total(prices, rate):
    result = 0
    for price in prices:
        if price.active:
            result += price.amount * (1 + rate)
    return round(result, 2)
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    root = tmp_path / "shop"
    (root / "lib").mkdir(parents=True)
    (root / "prices.py").write_text(PRICES)
    (root / "lib" / "cart.py").write_text(PRICES + "\n\nprint(total([], 0.19))\n")
    renamed = PRICES.replace("prices", "items").replace("price", "item").replace("rate", "tax")
    (root / "lib" / "items.py").write_text(renamed)
    monkeypatch.chdir(root)
    return root


@pytest.mark.shows("SEQ-DOCS")
@pytest.mark.parametrize(
    "arguments",
    [
        ["locate", "for price in prices:\n    if price.paid:"],
        ["locate", "--explain", "price.amount * (1 + rate)"],
        ["locate", "for price in prices:\n    if price.active:\n    result += price.amount"],
        ["clones", "--min-tokens", "30"],
        ["clones", "--min-tokens", "30", "--renamed"],
        ["sequence", "show", "abcab", "bcab", "--query", "cab"],
    ],
)
def test_a_command_prints_what_the_page_shows(
    shop: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(arguments)
    assert capsys.readouterr().out in PAGE


@pytest.mark.shows("SEQ-DOCS")
def test_the_program_of_the_page_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    program = found[1]
    expected = re.findall(r"print\(.*\)  # (.*)", program)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "docs/sequence.md", "exec"), {})
    assert printed.getvalue().splitlines() == expected


@pytest.mark.shows("SEQ-DOCS", "SEQ-FORMAT-VERSION")
@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("segment (`*.segment`)", segment.FORMAT_VERSION),
        ("manifest (`manifest.json`)", segment_store.MANIFEST_VERSION),
        ("lexer", lexer.LEXER_VERSION),
        ("`locate --json`", report.LOCATE_VERSION),
        ("`clones --json`", report.CLONES_VERSION),
    ],
)
def test_the_page_names_the_version_of_every_format(name: str, version: int) -> None:
    assert f"| {name} | {version} |" in PAGE
