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

from holdfast.agents.claude.hook import HookCall, answer, parse
from holdfast.cli.main import main
from holdfast.home import Home
from holdfast.reading.hosts import bindings
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.objects import Objects
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader
from tests.reading.desk import numbered

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


@pytest.mark.shows("AGENT-HOOK-RECOVERY")
def test_after_a_compaction_the_model_is_told_what_it_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text(numbered(30))
    transcript = tmp_path / "abc.jsonl"
    write_transcript(home, work, transcript)
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    given = {
        **HEARD, "transcript_path": str(transcript), "cwd": str(work), "source": "compact",
    }  # fmt: skip
    assert call(monkeypatch, json.dumps(given)) == 0
    said = json.loads(capsys.readouterr().out)["hookSpecificOutput"]
    assert said["hookEventName"] == "SessionStart"
    assert 'read(path="a.txt", offset=3, limit=6)' in said["additionalContext"]


def write_transcript(home: Path, work: Path, path: Path) -> None:
    """A conversation that read lines of a file through us, and was compacted."""
    line = {"sessionId": "abc", "isSidechain": False}
    block = {"type": "tool_use", "id": "t1", "name": "mcp__holdfast__read", "input": {}}
    lines: list[dict[str, Any]] = [
        {"type": "assistant", "uuid": "u1", "parentUuid": None, **line,
         "message": {"id": "m1", "role": "assistant", "content": [block]}},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    from holdfast.reading.hosts.claude_code import ClaudeCodeLog
    from holdfast.reading.hosts.detect import sidecar_path

    sidecar = Sidecar(sidecar_path(Home(home), "claude-code", str(path)))
    log = ClaudeCodeLog(path, sidecar, call="t1")
    reader = Reader(
        Place(str(work), str(work)), Objects(home), now_ms=lambda: 1, monotonic=lambda: 0.0
    )
    found = reader.read(Request("a.txt:3-8"), log)
    sidecar.record("t1", found)
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": found.text}],
    }
    lines = [
        {"type": "user", "uuid": "u2", "parentUuid": "u1", **line,
         "message": {"content": [result]}},
        {"type": "system", "subtype": "compact_boundary", "uuid": "u3", "parentUuid": None,
         "logicalParentUuid": "u2", **line},
        {"type": "user", "uuid": "u4", "parentUuid": "u3", **line, "isCompactSummary": True,
         "message": {"role": "user", "content": "a summary"}},
    ]  # fmt: skip
    with path.open("a") as file:
        file.writelines(json.dumps(one) + "\n" for one in lines)


def test_only_the_start_after_a_compaction_says_something() -> None:
    heard = parse(json.dumps(HEARD))
    assert heard is not None
    assert answer(heard, lambda: "lost") == {}
    compacted = HookCall("SessionStart", "abc", "/x", "/work", "compact")
    assert answer(compacted, lambda: None) == {}
    said = answer(compacted, lambda: "lost")
    assert said["hookSpecificOutput"]["additionalContext"] == "lost"


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
