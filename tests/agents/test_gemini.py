"""The hook inside the real Gemini CLI: a failed edit is helped, everything else is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.model import Turn, call
from tests.agents.other_programs import TEXT, gemini, installed, played, reads_found
from tests.agents.programs import Place

pytestmark = pytest.mark.service("node")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with installed(tmp_path, "gemini") as place:
        yield place


def run(place: Place, *turns: Turn) -> list[str]:
    return played(gemini, place, *turns)


def replace(place: Place, old: str, new: str) -> Turn:
    name = str(place.work / "a.py")
    return call("replace", file_path=name, old_string=old, new_string=new, instruction="do it")


@pytest.mark.shows("AGENT-GEMINI", "HISTORY-READERS")
def test_a_failed_edit_is_helped_and_reads_are_untouched(place: Place) -> None:
    name = str(place.work / "a.py")
    shown = run(
        place,
        call("read_file", file_path=name),
        call("read_file", file_path=name),
        replace(place, "def price_7():\n    return 8\n", "x\n"),
        replace(place, "    return ", "x"),
        replace(place, "    return 12\n", "    return 1212\n"),
        call("holdfast.search_code", query="price"),
    )
    first, second, missing, several, edited, _ = shown
    assert first == second == TEXT
    assert "Failed to edit" in missing  # its own words come first
    assert "first difference: line 30 has `7`, the old text has `8` in its line 2" in missing
    assert "the old text occurs 30 times in a.py" in several
    assert "Successfully modified" in edited
    assert "holdfast" not in edited
    assert reads_found(place, "gemini") == 2, "its own session file is read"
    log = (place.root / "program.log").read_text()
    assert "strict mode" not in log.lower()
