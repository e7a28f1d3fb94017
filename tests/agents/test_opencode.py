"""The plugin inside the real OpenCode: a scripted model, and every request that it was sent."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agents.model import Turn, call
from tests.agents.other_programs import TEXT, UNCHANGED, installed, opencode, played, savings_found
from tests.agents.programs import Place
from tests.agents.shown import results
from tests.scale import SOAKING

pytestmark = pytest.mark.service("node")

SOAK = pytest.mark.skipif(not SOAKING, reason="runs in make soak")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with installed(tmp_path, "opencode") as place:
        yield place


def run(place: Place, *turns: Turn, options: tuple[str, ...] = ()) -> list[str]:
    return played(opencode, place, *turns, options=options)


@pytest.mark.shows("AGENT-OPENCODE", "EDIT-ATTEMPTS", "HISTORY-READERS", "SAVINGS-OWN")
def test_the_six_checks(place: Place) -> None:
    file = place.work / "a.py"
    name = str(file)

    def change() -> None:
        file.write_text(file.read_text().replace("return 7\n", "return 77\n"))

    shown = run(
        place,
        call("read", filePath=name),
        Turn((("read", {"filePath": name}),), before=change),
        call("edit", filePath=name, oldString="    return 12\n", newString="    return 1212\n"),
        call("read", filePath=name),
        call("edit", filePath=name, oldString="def price_7():\n    return 8\n", newString="x\n"),
        call("edit", filePath=name, oldString="    return ", newString="x"),
        call("write", filePath=str(place.work / "b.py"), content=TEXT),
        call("bash", command="cat b.py", description="look"),
    )
    whole, changed, edited, again, missing, several, _, cat = shown
    assert "1: def price_0():" in whole
    assert "120: " in whole
    assert "return 77" in changed
    assert changed.startswith("[holdfast: ")
    assert len(changed) < 600
    assert "applied" in edited
    assert again == f"[holdfast: lines 1-120 {UNCHANGED}"
    assert "not in a.py; nearest is lines 29-30" in missing
    assert "first difference: line 30 has `77`, the old text has `8`" in missing
    assert "the old text occurs 30 times in a.py" in several
    assert cat == f"[holdfast: lines 1-120 {UNCHANGED}"
    assert "    return 1212\n" in file.read_text()
    # What was added to a failed edit is in every later request, word for word.
    for request in place.script.played()[5:]:
        assert results(request)[4] == missing
    (found,) = savings_found(place, "opencode")
    assert found["reads"] == 4, "the database has them"
    assert found["served"]["unchanged"] > 0, "and our records say what was saved"


@pytest.mark.shows("AGENT-OPENCODE-FALLBACK")
@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param("no host", marks=SOAK),
        "frozen host",
        pytest.param("other version", marks=SOAK),
    ],
)
def test_without_an_answer_everything_is_as_opencode_made_it(place: Place, trouble: str) -> None:
    name = str(place.work / "a.py")
    with troubled(place, trouble):
        shown = run(
            place,
            call("read", filePath=name),
            call("read", filePath=name),
            call("edit", filePath=name, oldString="    return twelve", newString="x"),
        )
    assert shown[0] == shown[1]
    assert "holdfast" not in "".join(shown)


@contextmanager
def troubled(place: Place, trouble: str) -> Iterator[None]:
    """The host is away, does not answer, or speaks another version of the protocol."""
    plugin = place.home / ".config" / "opencode" / "plugins" / "holdfast.js"
    settings = place.home / ".config" / "opencode" / "opencode.json"
    settings.write_text("{}")  # no shim, so nothing starts a host
    if trouble == "other version":
        place.holdfast_command("status")
        text = plugin.read_text()
        assert "v: 1, agent" in text
        plugin.write_text(text.replace("v: 1, agent", "v: 99, agent"))
    if trouble != "frozen host":
        yield
        return
    (place.holdfast / "run").mkdir(exist_ok=True)
    with socket.socket(socket.AF_UNIX) as silent, contextlib.chdir(place.holdfast / "run"):
        silent.bind("host-default.sock")
        silent.listen()
        yield


@SOAK
@pytest.mark.shows("AGENT-OPENCODE")
def test_a_conversation_that_goes_on_still_holds_what_it_read(place: Place) -> None:
    name = str(place.work / "a.py")
    with place.warm_host():  # one that is only starting would leave the read as it is
        run(place, call("read", filePath=name))
        shown = run(place, call("read", filePath=name), options=("--continue",))
    assert shown[-1] == f"[holdfast: lines 1-120 {UNCHANGED}"


@SOAK
@pytest.mark.shows("AGENT-OPENCODE")
def test_another_conversation_holds_nothing(place: Place) -> None:
    name = str(place.work / "a.py")
    run(place, call("read", filePath=name))
    assert "1: def price_0():" in run(place, call("read", filePath=name))[-1]


@SOAK
@pytest.mark.shows("AGENT-OPENCODE")
def test_after_a_compaction_the_text_is_sent_again(place: Place) -> None:
    name = str(place.work / "a.py")
    full = Turn((("bash", {"command": "true", "description": "wait"}),), tokens=99_000)
    run(place, call("read", filePath=name), full, call("read", filePath=name))
    summaries = [one for one in place.model.requests if not one.plays]
    assert any("a.py" in json.dumps(one.body) for one in summaries)
    for request in place.script.played():
        shown = results(request)
        if any(UNCHANGED in one for one in shown):
            assert any("1: def price_0():" in one for one in shown)
