"""Conversations of the real OpenCode and pi, judged by every request that they sent."""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.hosts import host_process
from tests.agents.judge import judge
from tests.agents.model import Recorded, Turn, calls, say
from tests.agents.other_programs import (
    Command,
    installed,
    opencode,
    opencode_command,
    opencode_server,
    pi,
    pi_command,
)
from tests.agents.programs import Place
from tests.agents.shown import results
from tests.scale import SOAKING

pytestmark = pytest.mark.service("node")
SOAK = pytest.mark.skipif(not SOAKING, reason="runs in make soak")

PROGRAMS: dict[str, Callable[..., str]] = {"opencode": opencode, "pi": pi}
COMMANDS: dict[str, Callable[..., Command]] = {"opencode": opencode_command, "pi": pi_command}
one_in_ci = pytest.mark.parametrize("name", [pytest.param("opencode", marks=SOAK), "pi"])
only_opencode = pytest.mark.parametrize("name", [pytest.param("opencode", marks=SOAK)])
"""pi has no subagents and prunes nothing."""


@pytest.fixture
def place(tmp_path: Path, name: str) -> Iterator[Place]:
    with installed(tmp_path, name) as place, place.warm_host():
        yield place


def read(place: Place, name: str, **more: Any) -> tuple[str, dict[str, Any]]:
    key = "filePath" if name == "opencode" else "path"
    return "read", {key: str(place.work / "a.py"), **more}


def shell(command: str, name: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command, **({"description": "d"} if name == "opencode" else {})}


def lines(request: Recorded) -> list[int]:
    return [text.count("def price_") for text in results(request)]


@one_in_ci
@pytest.mark.shows("OTHERS-SESSIONS")
def test_the_words_of_a_conversation_that_goes_on_are_true(place: Place, name: str) -> None:
    file = place.work / "a.py"

    def change() -> None:
        file.write_text(file.read_text().replace("return 7\n", "return 77\n"))

    place.script.play(
        calls(read(place, name), shell("cat a.py", name)),
        calls(shell("sed -n '1,80p' a.py", name)),
        Turn((shell("cat a.py", name),), before=change),
        calls(shell("sed -n '5,90p' a.py", name), read(place, name, offset=3, limit=60)),
        say(),
    )
    PROGRAMS[name](place, "go")
    place.script.play(calls(shell("cat a.py", name)), calls(shell("head -n 50 a.py", name)), say())
    PROGRAMS[name](place, "go on", "--continue")
    last = place.script.played()[-1]
    assert lines(last)[0] == 30
    assert sum(one == 0 for one in lines(last)) >= 3, lines(last)
    judge(place.script.requests, str(place.work))
    place.script.play(calls(shell("cat a.py", name)), say())
    PROGRAMS[name](place, "another")
    assert lines(place.script.played()[-1]) == [30], "another conversation holds nothing"


def another(place: Place, name: str, called: str) -> Place:
    """The same program of another user in the same tree, with the same host and its own script."""
    other = Place(place.root, place.model, place.model.script(called), place.environment, called)
    other.make().holdfast_command("install", "--client", name)
    return other


@one_in_ci
@pytest.mark.shows("AGENTS-TWO")
def test_two_of_them_in_one_tree_hold_each_what_they_were_shown(place: Place, name: str) -> None:
    other = another(place, name, "two")
    theirs, ours = threading.Event(), threading.Event()

    def wait() -> None:
        ours.set()
        assert theirs.wait(100)

    place.script.play(
        calls(read(place, name)),
        Turn((shell("pwd", name),), before=wait),
        calls(shell("pwd", name)),
        calls(shell("cat a.py", name)),
        say(),
    )
    other.script.play(
        Turn((read(place, name),), before=lambda: ours.wait(100)),
        calls(shell("sed -i 's/return 9$/return 99/' a.py", name)),
        calls(shell("sed -n '1,60p' a.py", name)),
        say(before=theirs.set),
    )
    running = threading.Thread(target=PROGRAMS[name], args=(other, "go too"))
    running.start()
    PROGRAMS[name](place, "go")
    running.join(100)
    assert lines(other.script.played()[-1])[0] == 30, "the other one's read is not ours"
    last = place.script.played()[-1]
    assert "return 99" in results(last)[-1]
    assert lines(last)[-1] < 30, "the change comes as the change"
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["stale"] == 1, verdict.judged
    judge(other.script.requests, str(place.work))


@one_in_ci
@pytest.mark.shows("AGENTS-NESTED")
def test_one_in_the_shell_of_another_starts_with_nothing(place: Place, name: str) -> None:
    inner = another(place, name, "inner")
    inner.script.play(calls(read(place, name)), calls(shell("cat a.py", name)), say())
    command, environment = COMMANDS[name](inner, "look")
    given = {"HOME": str(inner.home), **environment}
    settings = " ".join(f"{key}={shlex.quote(value)}" for key, value in given.items())
    nested = f"env {settings} {shlex.join(command)} < /dev/null"
    place.script.play(
        calls(read(place, name)),
        calls(shell(nested, name)),
        calls(shell("cat a.py", name)),
        say(),
    )
    PROGRAMS[name](place, "go")
    assert lines(inner.script.played()[-1]) == [30, 0]
    assert lines(place.script.played()[-1]) == [30, 0, 0]
    judge(inner.script.requests, str(place.work))
    judge(place.script.requests, str(place.work))


@one_in_ci
@pytest.mark.shows("OTHERS-SESSIONS")
def test_a_fork_holds_what_its_request_shows(place: Place, name: str) -> None:
    place.script.play(calls(read(place, name)), say())
    PROGRAMS[name](place, "go")
    if name == "opencode":
        options = ["--continue", "--fork"]
    else:
        (log,) = place.home.rglob("*.jsonl")
        options = ["--fork", str(log)]
    place.script.play(calls(shell("sed -n '5,80p' a.py", name)), calls(read(place, name)), say())
    PROGRAMS[name](place, "another way", *options)
    found = lines(place.script.played()[-1])
    assert found[0] == 30
    assert found[1:] == [0, 0], "what the fork shows is held"
    judge(place.script.requests, str(place.work))


@one_in_ci
@pytest.mark.parametrize("trouble", ["killed", pytest.param("frozen", marks=SOAK)])
@pytest.mark.shows("OTHERS-HOST-LOST")
def test_a_host_that_is_lost_in_mid_session_leaves_its_own_results(
    place: Place, name: str, trouble: str
) -> None:
    place.environment["HOLDFAST_HOOK_S"] = "1"
    process = host_process(place.holdfast)
    by = signal.SIGKILL if trouble == "killed" else signal.SIGSTOP
    place.script.play(
        calls(read(place, name)),
        Turn((shell("cat a.py", name),), before=lambda: os.kill(process, by)),
        calls(read(place, name)),
        calls(shell("sed -n '10,60p' a.py", name)),
        say(),
    )
    try:
        PROGRAMS[name](place, "go")
    finally:
        if trouble == "frozen":
            os.kill(process, signal.SIGCONT)
    found = lines(place.script.played()[-1])
    assert found[:2] == [30, 30]
    if trouble == "frozen":
        assert found == [30, 30, 30, 12]
    judge(place.script.requests, str(place.work))


@only_opencode
@pytest.mark.shows("OPENCODE-SUBAGENT")
def test_a_subagent_holds_what_it_was_shown_itself(place: Place, name: str) -> None:
    prompt = "LOOK AT THE FILE FOR ME"
    task = {"description": "look", "prompt": prompt, "subagent_type": "general"}

    def inside(use: tuple[str, dict[str, Any]]) -> Turn:
        return Turn((use,), where=prompt)

    place.script.play(
        calls(read(place, name)),
        calls(("task", task)),
        inside(read(place, name)),
        inside(shell("cat a.py", name)),
        say("looked", where=prompt),
        calls(shell("cat a.py", name)),
        say(),
    )
    opencode(place, "go")
    of_main = place.script.played()[-1]
    (sub, *_) = [one for one in reversed(place.script.played()) if len(results(one)) == 2]
    assert lines(sub) == [30, 0], "a first read is whole, the second is short"
    assert [lines(of_main)[0], lines(of_main)[-1]] == [30, 0], "what main held is still there"
    judge(place.script.requests, str(place.work))


@only_opencode
@pytest.mark.shows("OPENCODE-PRUNED")
def test_what_was_pruned_is_not_held_and_an_answer_that_referred_to_it_gets_its_text(
    place: Place, name: str
) -> None:
    """OpenCode clears old results above 40,000 tokens when a turn ends, if the user wants that.

    It does so in the background, so the program has to go on: prompts are sent to a server.
    """
    place.environment["OPENCODE_PRUNE"] = "1"
    big = "".join(f"{n:05d} {'x' * 90}\n" for n in range(480))
    (place.work / "big.txt").write_text(big)
    fill = [calls(shell("cat big.txt; true", name)) for _ in range(6)]
    with opencode_server(place) as url:
        place.script.play(calls(read(place, name)), *fill, say())
        opencode(place, "go", "--attach", url)
        place.script.play(calls(shell("cat a.py", name)), say())
        opencode(place, "go on", "--attach", url, "--continue")
        assert lines(place.script.played()[-1])[-1] == 0
        for _ in range(2):
            place.script.play(calls(shell("true", name)), say())
            opencode(place, "and on", "--attach", url, "--continue")
        place.script.play(calls(shell("sed -n '1,90p' a.py", name)), say())
        opencode(place, "still", "--attach", url, "--continue")
    last = results(place.script.played()[-1])
    assert last[0].startswith("[Old tool result content cleared]")
    short = last[len(fill) + 1]
    assert short.startswith("[holdfast: lines 1-120 of "), "the text is in the place of the answer"
    assert last[-1].startswith("[holdfast: lines 1-90 unchanged")
    judge(place.script.requests, str(place.work))


@pytest.mark.parametrize("name", ["pi"])
@pytest.mark.shows("PI-KEPT-MARKER", "AGENT-REQUEST")
def test_an_unchanged_that_a_compaction_kept_gets_its_text_back(place: Place, name: str) -> None:
    """By overflow, with a short tail: the marker is kept, the text that it refers to is not."""
    settings = place.home / ".pi" / "agent" / "settings.json"
    settings.write_text(json.dumps({"compaction": {"enabled": True, "keepRecentTokens": 30}}))
    too_long = Turn(error=(400, "prompt is too long: 250000 tokens > 200000 maximum"))
    place.script.play(calls(read(place, name)), calls(read(place, name)), say("ok"))
    pi(place, "go")
    assert lines(place.script.played()[-1]) == [30, 0]
    place.script.play(too_long, calls(shell("sed -n '1,90p' a.py", name)), say())
    pi(place, "go on", "--continue")
    last = results(place.script.played()[-1])
    assert len(last) == 2, "the first read is summarised"
    assert last[0].startswith(f"[holdfast: all 121 lines of {place.work}/a.py as they were then]")
    assert last[1].startswith("[holdfast: lines 1-90 unchanged")
    judge(place.script.requests, str(place.work))


LONG = "import os\n\n\n" + "".join(
    f"def part_{n}(value):\n" + "".join(f"    step_{n}_{i} = {i}\n" for i in range(14)) + "\n\n"
    for n in range(80)
)


@one_in_ci
@pytest.mark.shows("READ-FOCUS", "READ-FOCUS-TRUST")
def test_a_long_file_is_folded_once_and_then_printed(place: Place, name: str) -> None:
    place.holdfast_command("install", "--client", name, "--focus")
    key = "filePath" if name == "opencode" else "path"
    for file in ("first.py", "long.py"):
        (place.work / file).write_text(LONG)

    def whole(file: str) -> Turn:
        return calls(("read", {key: str(place.work / file)}))

    # The first outline of a host starts a parser, which may take too long for a hook.
    place.script.play(whole("first.py"), whole("long.py"), whole("long.py"), say())
    PROGRAMS[name](place, "please mend part_33")
    folded, again = results(place.script.played()[-1])[1:]
    assert "of them shown and the rest folded" in folded
    assert "step_33_13 = 13" in folded, "what the user named is open"
    assert "step_34_1 " not in folded
    assert "folded: def part_34(value)" in folded
    assert "step_79_13 = 13" in again, "a second whole read has everything"
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["focused"] in (1, 2), verdict.judged
