"""Conversations of the real Claude Code that branch, restart or run side by side.

Every word of ours is judged by the request that carries it (`tests.agents.judge`).
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.hosts import host_process
from tests.agents.judge import Wrong, judge
from tests.agents.model import Model, Recorded, Turn, call, calls, say, scripted_model
from tests.agents.programs import HOLDFAST, Place, claude, claude_command, claude_prompts
from tests.agents.shown import results, texts
from tests.scale import SOAKING

pytestmark = pytest.mark.service("node")
SOAK = pytest.mark.skipif(not SOAKING, reason="runs in make soak")

SESSION = "22222222-2222-4222-8222-222222222222"
TEXT = "".join(f"def line_{n}(): return {n}\n" for n in range(1, 121))


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text(TEXT)
    with scripted_model(tmp_path / "work") as model:
        yield model


@pytest.fixture
def place(tmp_path: Path, model: Model) -> Iterator[Place]:
    place = Place(tmp_path, model, model.script("one")).make()
    place.holdfast_command("install", "--client", "claude", "--command", HOLDFAST)
    with place.warm_host():
        yield place


def shell(command: str, **more: object) -> Turn:
    return Turn((("Bash", {"command": command}),), **more)  # type: ignore[arg-type]


def read(place: Place, **more: object) -> Turn:
    return Turn((("Read", {"file_path": str(place.work / "a.py")}),), **more)  # type: ignore[arg-type]


def lines(request: Recorded) -> list[int]:
    """How many lines of the file each result shows."""
    return [text.count("def line_") for text in results(request)]


@pytest.mark.shows("CLAUDE-SUBAGENT")
def test_a_subagent_holds_what_it_was_shown_itself(place: Place) -> None:
    """Its transcript is another file, which has the texts of results and no more."""
    prompt = "LOOK AT THE FILE FOR ME"
    sub = {"description": "look", "prompt": prompt, "subagent_type": "general-purpose"}
    place.script.play(
        read(place),
        calls(("Task|Agent", sub)),
        read(place, where=prompt),
        shell("cat a.py", where=prompt),
        shell("sed -n '5,9p' a.py && sed -i s/line_7/line_seven/ a.py", where=prompt),
        shell("cat a.py", where=prompt),
        say("looked", where=prompt),
        shell("cat a.py"),
        say(),
    )
    claude(place, "go", "--session-id", SESSION)
    inside = [one for one in place.script.played() if texts(one).count(prompt) == 1][-2]
    of_main = place.script.played()[-1]
    assert lines(inside)[:2] == [120, 0], "a first read is whole, the second is short"
    assert lines(of_main)[0] == 120
    assert results(of_main)[-1].startswith("[holdfast: "), "what main held is still there"
    assert "line_seven" in results(of_main)[-1]
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("CLAUDE-BRANCHES")
def test_resume_fork_and_rewind_hold_what_their_request_shows(place: Place) -> None:
    place.script.play(read(place), say())
    claude(place, "go", "--session-id", SESSION)
    place.script.play(shell("cat a.py"), say())
    claude(place, "go on", "--resume", SESSION)
    assert lines(place.script.played()[-1]) == [120, 0], "a resumed conversation holds the text"
    place.script.play(shell("cat a.py"), read(place), say())
    claude(place, "another way", "--resume", SESSION, "--fork-session")
    log = next(place.home.rglob(f"{SESSION}.jsonl"))
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    first = next(one["uuid"] for one in entries if one.get("type") == "assistant")
    place.script.play(shell("cat a.py"), shell("head -n 50 a.py"), say())
    claude(place, "back to the start", "--resume", SESSION, "--resume-session-at", first)
    rewound = place.script.played()[-1]
    assert lines(rewound)[-2:] == [120, 0], "what was rewound is sent again"
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("CLAUDE-BRANCHES")
def test_a_cleared_conversation_holds_nothing(place: Place) -> None:
    place.script.play(read(place), say())
    place.script.play(shell("cat a.py"), shell("head -n 30 a.py"), say())
    claude_prompts(place, ("go", "/clear", "go on"), "--session-id", SESSION)
    last = place.script.played()[-1]
    assert lines(last) == [120, 0], "the first read was cleared, so this one is whole"
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("AGENTS-TWO")
def test_two_agents_in_one_tree_hold_each_what_they_were_shown(place: Place, model: Model) -> None:
    other = Place(place.root, model, model.script("two"))
    theirs, ours = threading.Event(), threading.Event()

    def wait() -> None:
        ours.set()
        theirs.wait(60)

    place.script.play(
        read(place),
        shell("pwd", before=wait),
        shell("pwd"),
        shell("cat a.py"),
        say(),
    )
    edit = {"file_path": str(place.work / "a.py"), "old_string": "line_9(", "new_string": "line_x("}
    other.script.play(
        read(place, before=lambda: ours.wait(60)),
        call("Edit", **edit),
        shell("cat a.py", before=None),
        say(before=theirs.set),
    )
    running = threading.Thread(target=claude, args=(other, "go too"))
    running.start()
    claude(place, "go", "--session-id", SESSION)
    running.join(60)
    assert lines(other.script.played()[-1])[:1] == [120], "the other one's read is not ours"
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["stale"] == 1, "told once of the other agent's edit"
    last = results(place.script.played()[-1])[-1]
    assert last.startswith("[holdfast: ")
    assert "line_x" in last
    judge(other.script.requests, str(place.work))


@pytest.mark.shows("AGENTS-NESTED")
def test_an_agent_in_another_ones_shell_starts_with_nothing(place: Place, model: Model) -> None:
    inner = Place(place.root, model, model.script("inner"))
    inner.script.play(read(place), shell("cat a.py"), say())
    command, environment = claude_command(inner, "look")
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    place.script.play(
        read(place),
        shell(f"env {settings} {shlex.join(command)} < /dev/null"),
        shell("cat a.py"),
        say(),
    )
    claude(place, "go", "--session-id", SESSION)
    assert lines(inner.script.played()[-1]) == [120, 0]
    assert lines(place.script.played()[-1]) == [120, 0, 0]
    judge(inner.script.requests, str(place.work))
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("CLAUDE-HOST-LOST")
@pytest.mark.parametrize(
    "trouble", ["killed", pytest.param("frozen", marks=SOAK), pytest.param("slow", marks=SOAK)]
)
def test_a_host_that_is_lost_in_mid_session_costs_nothing_but_the_saving(
    place: Place, trouble: str
) -> None:
    """Killed: another one starts. Frozen, or too slow for a hook: the agent's own results stay."""
    if trouble == "slow":
        place.environment["HOLDFAST_HOOK_S"] = "0.0001"
    elif trouble == "frozen":
        place.environment["HOLDFAST_HOOK_S"] = "1"
    process = host_process(place.holdfast)

    def lose() -> None:
        if trouble != "slow":
            os.kill(process, signal.SIGKILL if trouble == "killed" else signal.SIGSTOP)

    place.script.play(
        read(place),
        shell("cat a.py", before=lose),
        shell("sed -n '10,60p' a.py"),
        shell("sed -n '20,60p' a.py"),
        say(),
    )
    try:
        claude(place, "go")
    finally:
        if trouble == "frozen":
            os.kill(process, signal.SIGCONT)
    found = lines(place.script.played()[-1])
    assert found[0] == 120
    if trouble != "killed":
        assert found == [120, 120, 51, 41]
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("CLAUDE-PARALLEL")
def test_parallel_calls_are_each_true_of_the_request(place: Place) -> None:
    """Calls of one turn do not see each other's results."""
    name = {"file_path": str(place.work / "a.py")}
    cat = ("Bash", {"command": "cat a.py"})
    edit = {**name, "old_string": "line_3(", "new_string": "line_three("}
    place.script.play(
        calls(("Read", name), cat, ("Read", {**name, "offset": 10, "limit": 50})),
        calls(cat, ("Read", {**name, "offset": 1, "limit": 80})),
        calls(("Edit", edit), ("Bash", {"command": "head -n 40 a.py"})),
        calls(("Read", {**name, "offset": 2, "limit": 60}), ("Bash", {"command": "nl -ba a.py"})),
        say(),
    )
    claude(place, "go")
    # Results are in the order in which the calls ended.
    assert 120 in lines(place.script.played()[-1])[:3], "one of the first is whole"
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["unchanged"] >= 1, verdict.judged


@pytest.mark.shows("CLAUDE-COMPACTION")
def test_a_compaction_by_overflow_is_told_and_ends_trust(place: Place) -> None:
    """Also an answer of ours that outlives the text that it refers to: the note names its file."""
    too_long = Turn(error=(400, "prompt is too long: 250000 tokens > 200000 maximum"))
    place.script.play(
        read(place),
        shell("true"),
        shell("cat a.py"),
        too_long,
        shell("sed -n '30,90p' a.py"),
        say(),
    )
    claude(place, "go", "--session-id", SESSION)
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["unchanged"] >= 1, verdict.judged
    assert verdict.counts["recovery"] == 1, verdict.judged


@pytest.mark.shows("CLAUDE-PLUGIN")
def test_the_plugin_does_the_same_in_the_real_program(tmp_path: Path, model: Model) -> None:
    place = Place(tmp_path, model, model.script("one")).make()
    place.holdfast_command("install", "--client", "claude-plugin", "--command", HOLDFAST)
    folder = place.home / ".claude" / "holdfast-plugin"
    place.script.play(
        read(place),
        shell("cat a.py"),
        call("Edit", file_path=str(place.work / "a.py"), old_string="line_x(", new_string="y"),
        say(),
    )
    with place.warm_host():
        claude(place, "go", "--plugin-dir", str(folder / "holdfast"))
    assert lines(place.script.played()[-1])[:2] == [120, 0]
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["unchanged"] == 1
    assert verdict.counts["help"] == 1


CLIPPING = """#!/bin/sh
test -e "$0.ran" && exit 0
touch "$0.ran"
echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"type":"text",\
"file":{"filePath":"FILE","content":"clipped","numLines":1,"startLine":1,"totalLines":120}}}}'
"""


@pytest.mark.shows("CLAUDE-OWN-UNCHANGED")
@pytest.mark.parametrize("ours", [False, True])
def test_the_agents_own_false_unchanged_is_corrected(
    tmp_path: Path, model: Model, ours: bool
) -> None:
    """Another hook of the user clips the first read; Claude Code takes the file for read.

    It answers the second read with its own *unchanged*, of text that no request ever showed. With
    ours installed beside, the model gets the text.
    """
    place = Place(tmp_path, model, model.script("one")).make()
    clip = tmp_path / "clip"
    clip.write_text(CLIPPING.replace("FILE", str(place.work / "a.py")))
    clip.chmod(0o755)
    hook = {"matcher": "Read", "hooks": [{"type": "command", "command": str(clip)}]}
    settings = place.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {"PostToolUse": [hook]}}))
    place.script.play(read(place), read(place), shell("sed -n '5,90p' a.py"), say())
    if ours:
        place.holdfast_command("install", "--client", "claude", "--command", HOLDFAST)
        with place.warm_host():
            claude(place, "go")
    else:
        claude(place, "go")
    first, second, part = results(place.script.played()[-1])
    assert first == "1\tclipped"
    if ours:
        assert second.count("def line_") == 120, "the text is in the place of its claim"
        assert part.startswith("[holdfast: lines 5-90 unchanged"), "and is held from there on"
        judge(place.script.requests, str(place.work))
    else:
        assert second.startswith("Wasted call"), "its own claim, which no request bears out"
        with pytest.raises(Wrong):
            judge(place.script.requests, str(place.work))


@pytest.mark.shows("CLAUDE-BRANCHES")
def test_lines_that_the_program_adds_itself_are_what_the_model_saw_last(place: Place) -> None:
    """It shows the lines that a formatter changed after an edit, and a file named with @. When the
    file was changed back, a read was called unchanged."""
    path = place.work / "a.py"
    edit = {"file_path": str(path), "old_string": "line_9(", "new_string": "line_nine("}
    edited = TEXT.replace("line_9(", "line_nine(")
    formatted = edited.replace("line_7(", "line_seven(")
    place.script.play(
        read(place),
        call("Edit", **edit),
        shell("true", before=lambda: path.write_text(formatted)),
        shell("cat a.py", before=lambda: path.write_text(edited)),
        say(before=lambda: path.write_text(formatted)),
    )
    place.script.play(shell("cat a.py", before=lambda: path.write_text(edited)), say())
    claude_prompts(place, ("go", "look at @a.py"), "--session-id", SESSION)
    last = place.script.played()[-1]
    assert "was modified, either by the user or by a linter" in texts(last)
    assert "Result of calling the Read tool" in texts(last)
    for text in results(last)[-2:]:
        assert text.startswith("[holdfast: "), "the other lines are held"
        assert "def line_7()" in text, "this line was last shown otherwise"
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("AGENTS-TWO")
def test_a_change_after_a_read_of_the_same_turn_is_announced(place: Place) -> None:
    path = place.work / "a.py"
    change = {"command": "sed -i 's/line_7(/line_seven(/' a.py"}
    place.script.play(
        calls(("Read", {"file_path": str(path)}), ("Bash", change)),
        shell("pwd"),
        shell("pwd"),
        say(),
    )
    claude(place, "go", "--session-id", SESSION)
    last = texts(place.script.played()[-1])
    assert last.count("a.py changed on disk since you read it: line 7]") == 1
    judge(place.script.requests, str(place.work))
