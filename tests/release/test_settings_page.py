"""The page of settings names every variable that the program reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = re.compile(r"\bHOLDFAST_[A-Z][A-Z_]*[A-Z]\b")


@pytest.mark.shows("DOCS-SETTINGS")
def test_every_variable_is_on_the_page_and_every_variable_there_is_read() -> None:
    read = {
        name
        for path in (ROOT / "src").rglob("*")
        if path.suffix in (".py", ".js", ".ts", ".pl")
        for name in NAME.findall(path.read_text(encoding="utf-8"))
    }
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert set(NAME.findall(page)) == read
