"""The recording in the README: real commands, drawn."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

SCRIPT = Path(__file__).parent.parent / "docs" / "images" / "record.py"


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("record", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "record", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.shows("DOCS-RECORDING")
def test_commands_are_run_and_drawn(recorder: ModuleType) -> None:
    lines = recorder.record(("holdfast --version", "holdfast memory get nothing"))
    picture = ElementTree.fromstring(recorder.draw(lines))
    text = "".join(picture.itertext())
    assert "$ holdfast --version" in text
    assert "holdfast: " in text, "what a command says on standard error is shown too"
    assert [line.at_s for line in lines] == sorted(line.at_s for line in lines)


def test_a_progress_line_is_shown_as_it_ended(recorder: ModuleType) -> None:
    lines = recorder.screen_lines("\x1b[31mred\x1b[0m\n10 %\r20 %\rdone\n")
    assert lines == [(("r", "red"),), (("", "done"),)]


@pytest.mark.shows("DOCS-RECORDING")
def test_the_recording_shows_the_commands_of_the_script(recorder: ModuleType) -> None:
    shown = "".join(ElementTree.parse(SCRIPT.with_name("terminal.svg")).getroot().itertext())
    for command in recorder.COMMANDS:
        assert command in shown
