"""The recording in the README: real commands, drawn."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from tests.agents import recording

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


@pytest.mark.long
@pytest.mark.shows("DOCS-RECORDING")
def test_the_recording_shows_what_the_commands_print_now(recorder: ModuleType) -> None:
    """The picture showed call graphs in a form that `calls` no longer printed."""
    drawn = ElementTree.fromstring(recorder.draw(recorder.record()))
    kept = ElementTree.parse(SCRIPT.with_name("terminal.svg")).getroot()
    assert _lines(drawn) == _lines(kept), "run: python docs/images/record.py"


def _lines(picture: ElementTree.Element) -> list[str]:
    """The lines of a recording; the ids of sessions are random."""
    texts = picture.iter("{http://www.w3.org/2000/svg}text")
    return [re.sub(r"cli-[0-9a-f]{8}", "cli-", "".join(text.itertext())) for text in texts]


PICTURES = sorted(SCRIPT.parent.glob("*.svg"))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
@pytest.mark.shows("DOCS-RECORDING-CLEAN")
def test_no_recording_shows_a_usage_error_or_a_traceback(picture: Path) -> None:
    text = "".join(ElementTree.parse(picture).getroot().itertext())
    for wrong in ("usage:", "Traceback", "unrecognized arguments", "internal error"):
        assert wrong not in text


@pytest.mark.service("node")
@pytest.mark.shows("DOCS-RECORDING-AGENT")
def test_the_recorded_session_of_an_agent_is_what_happens(tmp_path: Path) -> None:
    """A repeated read shrinks, a change comes as a diff, a failed edit is helped."""
    lines = recording.transcript(recording.play(tmp_path), str(tmp_path.resolve() / "work"))
    drawn = recording.draw(lines)
    kept = recording.TARGET.read_text(encoding="utf-8")
    assert drawn == kept, "run: python -m tests.agents.recording"
    text = "\n".join(line for _, line in lines)
    for shown in ("unchanged, as you have them", "with this diff", "nearest is line 8"):
        assert shown in text
