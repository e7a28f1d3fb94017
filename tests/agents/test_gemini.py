"""The hooks inside the real Gemini CLI and Qwen Code: a failed edit is helped, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.model import Turn, call
from tests.agents.other_programs import TEXT, gemini, installed, played, qwen, reads_found
from tests.agents.programs import Place
from tests.scale import SOAKING

pytestmark = pytest.mark.service("node")
SOAK = pytest.mark.skipif(not SOAKING, reason="runs in make soak")


@pytest.fixture
def name() -> str:
    return "gemini"


@pytest.fixture
def place(tmp_path: Path, name: str) -> Iterator[Place]:
    with installed(tmp_path, name) as place:
        yield place


def run(place: Place, *turns: Turn) -> list[str]:
    return played(gemini, place, *turns)


def replace(place: Place, old: str, new: str) -> Turn:
    name = str(place.work / "a.py")
    return call("replace", file_path=name, old_string=old, new_string=new, instruction="do it")


@pytest.mark.shows("AGENT-GEMINI", "EDIT-ATTEMPTS", "HISTORY-READERS")
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


def edit(place: Place, old: str, new: str) -> Turn:
    return call("edit", file_path=str(place.work / "a.py"), old_string=old, new_string=new)


@pytest.mark.shows("AGENT-QWEN", "EDIT-ATTEMPTS", "HISTORY-READERS")
@pytest.mark.parametrize("name", ["qwen"])
def test_qwen_is_helped_with_failed_edits_and_its_reads_are_its_own(place: Place) -> None:
    file = str(place.work / "a.py")
    with place.warm_host():
        first, second, missing, several, edited = played(
            qwen,
            place,
            call("read_file", file_path=file),
            call("read_file", file_path=file),
            edit(place, "def price_7():\n    return 8\n", "x\n"),
            edit(place, "    return ", "x"),
            edit(place, "    return 12\n", "    return 1212\n"),
        )
    assert first == TEXT
    assert "unchanged since last read" in second, "it has an *unchanged* of its own"
    assert "Failed to edit" in missing
    assert "first difference: line 30 has `7`, the old text has `8` in its line 2" in missing
    assert "the old text occurs 30 times in a.py" in several
    assert "has been updated" in edited
    assert "holdfast" not in first + second + edited
    assert reads_found(place, "qwen") == 2, "its own session file is read"


@SOAK
@pytest.mark.shows("AGENT-GEMINI", "AGENT-QWEN")
@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_without_a_host_their_own_errors_stay(place: Place, name: str) -> None:
    settings = place.home / f".{name}" / "settings.json"
    settings.write_text(settings.read_text().replace(str(place.holdfast), "/dev/null/nowhere"))
    place.environment["HOLDFAST_HOME"] = "/dev/null/nowhere"
    old = "def price_7():\n    return 8\n"
    turn = replace(place, old, "x\n") if name == "gemini" else edit(place, old, "x\n")
    read = call("read_file", file_path=str(place.work / "a.py"))
    _, failed = played(gemini if name == "gemini" else qwen, place, read, turn)
    assert "Failed to edit" in failed
    assert "holdfast" not in failed
