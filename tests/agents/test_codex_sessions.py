"""Conversations of the real Codex that go on elsewhere, run side by side or lose their host."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.agents.codex_server import codex_server
from tests.agents.hosts import host_process
from tests.agents.judge import judge
from tests.agents.model import Model, Recorded, Turn, call, calls, say, scripted_model
from tests.agents.programs import HOLDFAST, Place, codex, codex_command
from tests.agents.shown import results, texts
from tests.scale import SOAKING

pytestmark = pytest.mark.service("node")
SOAK = pytest.mark.skipif(not SOAKING, reason="runs in make soak")

TEXT = "".join(f"def line_{n}(): return {n}\n" for n in range(1, 121))
TRUSTED = "--dangerously-bypass-hook-trust"


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text(TEXT)
    with scripted_model(tmp_path / "work") as model:
        yield model


@pytest.fixture
def place(tmp_path: Path, model: Model) -> Iterator[Place]:
    place = Place(tmp_path, model, model.script("one")).make()
    place.holdfast_command("install", "--client", "codex", "--command", HOLDFAST)
    with place.warm_host():
        yield place


def shell(command: str, **more: object) -> Turn:
    return Turn((("exec_command", {"cmd": command}),), **more)  # type: ignore[arg-type]


def lines(request: Recorded) -> list[int]:
    return [text.count("def line_") for text in results(request)]


@pytest.mark.shows("CODEX-SESSIONS")
def test_a_resumed_conversation_holds_what_it_read_and_another_nothing(place: Place) -> None:
    place.script.play(shell("cat a.py"), say())
    codex(place, "go", TRUSTED)
    place.script.play(shell("sed -n '5,60p' a.py"), say())
    codex(place, "", TRUSTED, "resume", "--last", "go on")
    assert lines(place.script.played()[-1]) == [120, 0]
    place.script.play(shell("cat a.py"), say())
    codex(place, "another", TRUSTED)
    assert lines(place.script.played()[-1]) == [120]
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("AGENTS-TWO")
def test_two_of_them_in_one_tree_hold_each_what_they_were_shown(place: Place, model: Model) -> None:
    other = Place(place.root, model, model.script("two"))
    theirs, ours = threading.Event(), threading.Event()

    def wait() -> None:
        ours.set()
        theirs.wait(60)

    place.script.play(
        shell("cat a.py"), shell("pwd", before=wait), shell("pwd"), shell("cat a.py"), say()
    )
    other.script.play(
        shell("cat a.py", before=lambda: ours.wait(60)),
        shell("sed -i 's/line_9(/line_x(/' a.py"),
        shell("sed -n '1,30p' a.py"),
        say(before=theirs.set),
    )
    running = threading.Thread(target=codex, args=(other, "go too", TRUSTED))
    running.start()
    codex(place, "go", TRUSTED)
    running.join(60)
    assert lines(other.script.played()[-1])[0] == 120, "the other one's read is not ours"
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["stale"] == 1, verdict.judged
    judge(other.script.requests, str(place.work))


@pytest.mark.shows("AGENTS-NESTED")
def test_one_in_the_shell_of_another_starts_with_nothing(place: Place, model: Model) -> None:
    inner = Place(place.root, model, model.script("inner"))
    inner.script.play(shell("cat a.py"), shell("sed -n '1,50p' a.py"), say())
    command, environment = codex_command(inner, "look", TRUSTED)
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    nested = f"env {settings} {shlex.join(command)} < /dev/null"
    place.script.play(
        shell("cat a.py"),
        Turn((("exec_command", {"cmd": nested, "yield_time_ms": 30000}),)),
        shell("sed -n '1,70p' a.py"),
        say(),
    )
    codex(place, "go", TRUSTED)
    assert lines(inner.script.played()[-1]) == [120, 0]
    own = place.script.played()[-1]
    assert re.search(r"lines 1-70 unchanged", results(own)[-1])
    judge(inner.script.requests, str(place.work))
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("CODEX-SUBAGENT")
@pytest.mark.parametrize("fork", [False, pytest.param(True, marks=SOAK)])
def test_a_subagent_holds_what_it_was_shown_itself(place: Place, fork: bool) -> None:
    """It is a thread with a rollout of its own. Its hooks name the conversation that started it as
    the session, so a notice that one of the two got was thought to be given to both."""
    task = "LOOK AT THE FILE FOR ME"
    inside = f'"text": "{task}"'
    looked = threading.Event()
    a = place.work / "a.py"

    def change() -> None:
        a.write_text(a.read_text().replace("line_20(", "line_zwanzig("))

    place.script.play(
        shell("cat a.py"),
        call("tool_search", query="spawn sub-agent"),
        call("multi_agent.spawn_agent", message=task, **({"fork_context": True} if fork else {})),
        shell("sed -n '1,50p' a.py", where=inside),
        shell("cat a.py", where=inside),
        shell("sed -n '3,15p' a.py", where=inside),
        call("tool_search", query="holdfast read a file", limit=8),
        call("holdfast.read", path="a.py"),
        shell("pwd", where=inside, before=change),
        say("looked", where=inside, before=looked.set),
        shell("pwd", before=lambda: looked.wait(60)),
        shell("sed -n '30,90p' a.py"),
        say(),
    )
    for at in (6, 7):
        place.script.turns[at] = replace(place.script.turns[at], where=inside)
    codex(place, "go", TRUSTED)
    played = place.script.played()
    its = [one for one in played if inside in json.dumps(one.body, ensure_ascii=False)]
    own = [one for one in played if one not in its]
    assert lines(its[-1])[0] == 50, "it holds nothing of what the conversation above read"
    assert results(its[-1])[1].startswith("[holdfast: lines 1-120"), "the second read is short"
    assert results(its[-1])[2].startswith("[holdfast: lines 3-15 unchanged")
    assert lines(its[-1])[3] == 120, "our own read has given it no whole text to refer to yet"
    assert results(own[-1])[-1].startswith("[holdfast: lines 30-90 unchanged")
    for requests in (its, own):
        verdict = judge(requests, str(place.work))
        assert verdict.counts["stale"] == 1, "each is told once"


@pytest.mark.shows("CODEX-HOST-LOST")
@pytest.mark.parametrize("trouble", [pytest.param("killed", marks=SOAK), "frozen"])
def test_a_host_that_is_lost_in_mid_session_leaves_its_own_results(
    place: Place, trouble: str
) -> None:
    place.environment["HOLDFAST_HOOK_S"] = "1"
    process = host_process(place.holdfast)
    by = signal.SIGKILL if trouble == "killed" else signal.SIGSTOP
    place.script.play(
        shell("cat a.py"),
        shell("cat a.py", before=lambda: os.kill(process, by)),
        shell("sed -n '10,60p' a.py"),
        say(),
    )
    try:
        codex(place, "go", TRUSTED)
    finally:
        if trouble == "frozen":
            os.kill(process, signal.SIGCONT)
    found = lines(place.script.played()[-1])
    assert found[:2] == [120, 120]
    if trouble == "frozen":
        assert found == [120, 120, 51]
    judge(place.script.requests, str(place.work))


@SOAK
@pytest.mark.shows("CODEX-SESSIONS")
def test_parallel_calls_are_each_true_of_the_request(place: Place) -> None:
    cat, head = ("exec_command", {"cmd": "cat a.py"}), ("exec_command", {"cmd": "head -n 40 a.py"})
    place.script.play(calls(cat, head), calls(cat, head), say())
    codex(place, "go", TRUSTED)
    assert lines(place.script.played()[-1])[0] == 120
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("CODEX-SESSIONS")
def test_after_a_fork_a_rewind_and_a_compaction_every_word_is_true(place: Place) -> None:
    """Through the app server, which does what the window does by hand; its hooks are trusted there.

    The rollout of a fork, or after a rewind, is a new file that has only what follows. So what was
    read before is sent again once.
    """
    part, inside = shell("sed -n '50,90p' a.py"), shell("sed -n '55,85p' a.py")
    with codex_server(place) as server:
        thread = server.start()
        place.script.play(shell("sed -n '1,40p' a.py"), say())
        server.turn(thread, "go")
        place.script.play(shell("cat a.py"), say())
        second = server.turn(thread, "go on")
        assert lines(place.script.played()[-1]) == [40, 80], "only the other lines"
        place.script.play(part, inside, say())
        forked = server.fork(thread)
        server.turn(forked, "another way")
        assert lines(place.script.played()[-1])[-2:] == [41, 0], "a fork holds what it read itself"
        server.rewind(thread, second)
        place.script.play(part, inside, say())
        server.turn(thread, "back")
        assert lines(place.script.played()[-1]) == [40, 41, 0], "what was rewound is sent again"
        server.compact(thread)
        place.script.play(shell("sed -n '1,40p' a.py"), say())
        server.turn(thread, "after")
        last = place.script.played()[-1]
        assert lines(last)[-1] == 40, "what was compacted is sent again"
        assert "- a.py: lines 50-90" in texts(last), "and the model is told what it held"
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["recovery"] == 1, verdict.judged
    assert verdict.counts["unchanged"] == 2, verdict.judged
