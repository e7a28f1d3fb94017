"""Conversations of the real OpenCode and pi, judged by every request that they sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.judge import judge
from tests.agents.model import Recorded, Turn, calls, say
from tests.agents.other_programs import (
    installed,
    opencode,
    pi,
)
from tests.agents.programs import Place
from tests.agents.shown import results
from tests.scale import SOAKING

pytestmark = pytest.mark.service("node")
SOAK = pytest.mark.skipif(not SOAKING, reason="runs in make soak")

PROGRAMS: dict[str, Callable[..., str]] = {"opencode": opencode, "pi": pi}
one_in_ci = pytest.mark.parametrize("name", [pytest.param("opencode", marks=SOAK), "pi"])
only_opencode = pytest.mark.parametrize("name", [pytest.param("opencode", marks=SOAK)])
"""pi keeps the key of its model in a file of its home: two of them would play one script."""


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


@only_opencode
@pytest.mark.shows("AGENTS-TWO")
def test_two_of_them_in_one_tree_hold_each_what_they_were_shown(place: Place, name: str) -> None:
    other = Place(place.root, place.model, place.model.script("two"))
    theirs, ours = threading.Event(), threading.Event()

    def wait() -> None:
        ours.set()
        theirs.wait(60)

    place.script.play(
        calls(read(place, name)),
        Turn((shell("pwd", name),), before=wait),
        calls(shell("pwd", name)),
        calls(shell("cat a.py", name)),
        say(),
    )
    other.script.play(
        Turn((read(place, name),), before=lambda: ours.wait(60)),
        calls(shell("sed -i 's/return 9$/return 99/' a.py", name)),
        calls(shell("sed -n '1,60p' a.py", name)),
        say(before=theirs.set),
    )
    running = threading.Thread(target=opencode, args=(other, "go too"))
    running.start()
    opencode(place, "go")
    running.join(60)
    assert lines(other.script.played()[-1])[0] == 30, "the other one's read is not ours"
    judge(place.script.requests, str(place.work))
    judge(other.script.requests, str(place.work))
