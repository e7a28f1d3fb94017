"""The hook inside the real Gemini CLI: a failed edit is helped, everything else is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.model import Model, Turn, call, say, scripted_model
from tests.agents.other_programs import gemini
from tests.agents.programs import Place
from tests.agents.shown import results

pytestmark = pytest.mark.service("node")

TEXT = "".join(f"def price_{n}():\n    return {n}\n\n\n" for n in range(30))


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    (tmp_path / "work").mkdir()
    with scripted_model(tmp_path / "work") as model:
        yield model


@pytest.fixture
def place(tmp_path: Path, model: Model) -> Iterator[Place]:
    place = Place(tmp_path, model, model.script("gemini")).make()
    (place.work / "a.py").write_text(TEXT)
    place.holdfast_command("install", "--client", "gemini")
    yield place
    place.holdfast_command("mcp", "--stop")


def run(place: Place, *turns: Turn) -> list[str]:
    place.script.play(*turns, say())
    gemini(place, "go on")
    assert [one.missing for one in place.script.played() if one.missing] == []
    return results(place.script.played()[-1])


def replace(place: Place, old: str, new: str) -> Turn:
    name = str(place.work / "a.py")
    return call("replace", file_path=name, old_string=old, new_string=new, instruction="do it")


@pytest.mark.shows("AGENT-GEMINI")
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
    log = (place.root / "program.log").read_text()
    assert "strict mode" not in log.lower()
