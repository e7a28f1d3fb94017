"""A host that never answers, is of another version or too slow: every program keeps its results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.hosts import broken_host
from tests.agents.model import Turn, call, say
from tests.agents.other_programs import gemini, installed, opencode, pi, qwen
from tests.agents.programs import Place, codex
from tests.agents.shown import results
from tests.scale import SOAKING

pytestmark = [
    pytest.mark.service("node"),
    pytest.mark.skipif(not SOAKING, reason="runs in make soak"),
]

TRUSTED = "--dangerously-bypass-hook-trust"


def edit(place: Place, tool: str, path: str, old: str, new: str) -> Turn:
    given: dict[str, Any] = {path: str(place.work / "a.py"), old: "    return twelve", new: "x"}
    return call(tool, **given, **({"instruction": "do it"} if tool == "replace" else {}))


def codex_turns(place: Place) -> list[Turn]:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-    return twelve\n+x\n*** End Patch"
    cat = call("exec_command", cmd="cat a.py")
    return [cat, cat, call("apply_patch", input=patch)]


def opencode_turns(place: Place) -> list[Turn]:
    read = call("read", filePath=str(place.work / "a.py"))
    return [read, read, edit(place, "edit", "filePath", "oldString", "newString")]


def pi_turns(place: Place) -> list[Turn]:
    read = call("read", path="a.py")
    changes = [{"oldText": "    return twelve", "newText": "x"}]
    return [read, read, call("edit", path="a.py", edits=changes)]


def gemini_turns(place: Place) -> list[Turn]:
    read = call("read_file", file_path=str(place.work / "a.py"))
    return [read, edit(place, "replace", "file_path", "old_string", "new_string")]


def qwen_turns(place: Place) -> list[Turn]:
    read = call("read_file", file_path=str(place.work / "a.py"))
    return [read, edit(place, "edit", "file_path", "old_string", "new_string")]


PROGRAMS: dict[str, tuple[Callable[..., str], Callable[[Place], list[Turn]], tuple[str, ...]]] = {
    "codex": (codex, codex_turns, (TRUSTED,)),
    "opencode": (opencode, opencode_turns, ()),
    "pi": (pi, pi_turns, ()),
    "gemini": (gemini, gemini_turns, ()),
    "qwen": (qwen, qwen_turns, ()),
}


@pytest.mark.shows("AGENTS-BROKEN-HOST")
@pytest.mark.parametrize("trouble", ["frozen", "another version", "slow"])
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_with_a_host_that_does_not_answer_every_result_is_the_agents_own(
    tmp_path: Path, name: str, trouble: str
) -> None:
    program, turns, options = PROGRAMS[name]
    with installed(tmp_path, name) as place:
        place.script.play(*turns(place), say())
        if trouble == "slow":
            place.environment["HOLDFAST_HOOK_S"] = "0.0001"
            with place.warm_host():
                program(place, "go", *options)
        else:
            with broken_host(place.holdfast, trouble):
                program(place, "go", *options)
    shown = results(place.script.played()[-1])
    reads, failed = shown[:-1], shown[-1]
    assert all(one.count("def price_") == 30 for one in reads)
    assert "holdfast" not in "".join(reads).replace(str(place.root), "")
    assert "[holdfast: " not in failed
