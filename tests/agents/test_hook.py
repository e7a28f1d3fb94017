"""What a hook leaves, what it says after a compaction, and that it never fails an agent."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.main import main
from holdfast.home import Home
from holdfast.reading.hosts import bindings

HEARD: dict[str, Any] = {
    "session_id": "abc",
    "transcript_path": "/x/abc.jsonl",
    "cwd": "/work",
    "hook_event_name": "SessionStart",
    "source": "startup",
}


def call(monkeypatch: pytest.MonkeyPatch, given: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(given))
    return main(["hook"])


@pytest.mark.shows("AGENT-HOOK")
def test_a_hook_leaves_a_binding(tmp_path: Path) -> None:
    """The agent is the process that started the hook, here us; a shell between does not count."""
    program = Path(sys.executable).parent / "holdfast"
    for command in ([str(program), "hook"], ["sh", "-c", f"{program} hook; true"]):
        done = subprocess.run(
            command,
            input=json.dumps(HEARD),
            capture_output=True,
            text=True,
            env={**os.environ, "HOLDFAST_HOME": str(tmp_path)},
            check=True,
        )
        assert done.stdout == ""
        (binding,) = bindings.read_all(Home(tmp_path))
        assert (binding.session, binding.transcript) == ("abc", "/x/abc.jsonl")
        assert binding.agent is not None
        assert binding.agent[0] == os.getpid()


@pytest.mark.shows("AGENT-HOOK-NEVER-FAILS")
@pytest.mark.parametrize(
    "given",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"hook_event_name": 3}',
        json.dumps({**HEARD, "session_id": "/"}),
    ],
)
def test_whatever_a_hook_is_given_it_exits_well_and_says_nothing(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    assert call(monkeypatch, given) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.shows("AGENT-HOOK-NEVER-FAILS")
def test_a_home_that_cannot_be_written_is_no_trouble_for_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "file"))
    compacted = {**HEARD, "source": "compact"}
    assert call(monkeypatch, json.dumps(compacted)) == 0


@pytest.mark.shows("AGENT-HOOK-NEVER-FAILS")
@pytest.mark.parametrize("words", [["--json"], ["--later-option", "x"], ["SessionStart"]])
def test_a_hook_called_in_a_way_we_do_not_know_exits_well(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code 2 of a hook stops the agent, and that is what an unknown option gave."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    try:
        ended = main(["hook", *words])
    except SystemExit as stop:
        ended = int(stop.code or 0)
    assert ended == 0
