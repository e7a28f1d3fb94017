"""The extension inside the real pi, beyond `read`: shell reads, edits, its prompt, a compaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.model import Turn, call
from tests.agents.other_programs import TEXT, UNCHANGED, installed, pi, played
from tests.agents.programs import Place

pytestmark = pytest.mark.service("node")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with installed(tmp_path, "pi") as place:
        yield place


def run(place: Place, *turns: Turn, options: tuple[str, ...] = ()) -> list[str]:
    return played(pi, place, *turns, options=options)


@pytest.mark.shows("AGENT-PI-TOOLS", "EDIT-ATTEMPTS")
def test_the_six_checks(place: Place) -> None:
    file = place.work / "a.py"

    def change() -> None:
        file.write_text(file.read_text().replace("return 7\n", "return 77\n"))

    def edit(old: str, new: str) -> Turn:
        return call("edit", path="a.py", edits=[{"oldText": old, "newText": new}])

    shown = run(
        place,
        call("read", path="a.py"),
        Turn((("read", {"path": "a.py"}),), before=change),
        edit("    return 12\n", "    return 1212\n"),
        call("read", path="a.py"),
        edit("def price_7():\n    return 8\n", "x\n"),
        edit("    return ", "x"),
        call("write", path="b.py", content=TEXT),
        call("bash", command="cat b.py"),
    )
    whole, changed, edited, again, missing, several, _, cat = shown
    assert whole == TEXT
    assert cat == f"[holdfast: lines 1-120 {UNCHANGED}"
    assert changed.startswith("[readcache: 1 lines changed")
    assert "Successfully" in edited
    assert len(again) < 400
    assert "first difference: line 30 has `77`, the old text has `8`" in missing
    assert "the old text occurs 30 times in a.py" in several
    assert "    return 1212\n" in file.read_text()


def prompt_of(request: Any) -> str:
    return "\n".join(
        str(message["content"])
        for message in request.body["messages"]
        if message["role"] in ("system", "developer")
    )


@pytest.mark.shows("AGENT-PI-PROMPT")
def test_the_system_prompt_names_read_as_without_the_extension(place: Place) -> None:
    run(place)
    run(place, options=("--no-extensions",))
    with_ours, without = (prompt_of(request) for request in place.script.played())
    assert "- read: Read file contents" in without
    assert with_ours == without


@pytest.mark.shows("AGENT-PI-FALLBACK")
def test_without_a_host_the_other_tools_answer_as_they_are(place: Place) -> None:
    place.holdfast_command("install", "--client", "pi", "--command", "/nowhere/holdfast")
    shown = run(
        place,
        call("read", path="a.py"),
        call("bash", command="cat a.py"),
        call("edit", path="a.py", edits=[{"oldText": "nothing", "newText": "x"}]),
    )
    assert shown[0] == shown[1] == TEXT
    assert "holdfast" not in "".join(shown)
