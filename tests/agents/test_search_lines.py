"""Lines that our own tools printed are held: in the real programs, judged by their requests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import nodejs
from tests.agents.judge import judge
from tests.agents.model import Model, Turn, call, calls, say, scripted_model
from tests.agents.other_programs import installed, opencode
from tests.agents.programs import HOLDFAST, Place, claude, codex
from tests.agents.shown import results
from tests.scale import SOAKING

pytestmark = pytest.mark.service("node")
SOAK = pytest.mark.skipif(not SOAKING, reason="runs in make soak")

LEDGER = "".join(
    f"def settle_{n}(ledger, entry):\n"
    + "".join(f"    ledger.step_{n}_{i}(entry, amount={n * i}, rounded={i})\n" for i in range(10))
    + f"    return ledger.close_{n}(entry)\n\n\n"
    for n in range(12)
)
FIRST, COUNT = 3 * 14 + 1, 12
"""Where settle_3 is."""


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "ledger.py").write_text(LEDGER)
    with scripted_model(tmp_path / "work") as model:
        yield model


@pytest.mark.shows("READ-SHOWN-LINES", "CLAUDE-INSIDE")
def test_claude_reads_only_what_our_tools_did_not_print(tmp_path: Path, model: Model) -> None:
    place = Place(tmp_path, model, model.script("one")).make()
    place.holdfast_command("install", "--client", "claude", "--command", HOLDFAST)
    place.holdfast_command("index", "create", ".")
    read = {"file_path": str(place.work / "ledger.py")}
    file = place.work / "ledger.py"

    def change() -> None:
        file.write_text(file.read_text().replace("close_3(entry)", "close_three(entry)"))

    with place.warm_host():
        place.script.play(
            call("mcp__holdfast__explore", symbol="settle_3"),
            call("Read", **read, offset=FIRST, limit=COUNT),
            call("mcp__holdfast__search_code", query="settle_7 close ledger entry"),
            call("Read", **read, offset=FIRST, limit=5 * 14),
            Turn((("Read", {**read, "offset": FIRST, "limit": COUNT + 1}),), before=change),
            say(),
        )
        claude(place, "go")
    explored, same, searched, part, changed = results(place.script.played()[-1])
    assert "def settle_3" in explored
    assert "unchanged" in same, same
    assert "settle_7" in searched
    assert "[holdfast: " in part, part
    assert part.count("ledger.step_3_") == 0, "what explore printed is not sent again"
    assert "ledger.step_4_9" in part or "ledger.step_5_9" in part, "the rest is"
    assert "close_three" in changed
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["unchanged"] == 1, verdict.judged


def on_the_path(tmp_path: Path) -> dict[str, str]:
    """An environment in which the shell of an agent finds our command, a login shell as well."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "holdfast").symlink_to(HOLDFAST)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".profile").write_text(f'export PATH="{folder}:$PATH"\n')
    return {"PATH": f"{folder}{os.pathsep}{nodejs.wheel() / 'bin'}{os.pathsep}/usr/bin:/bin"}


@pytest.mark.shows("READ-SHOWN-LINES", "CLAUDE-INSIDE")
def test_claude_holds_what_our_commands_printed_in_its_shell(tmp_path: Path, model: Model) -> None:
    """What `holdfast search` and `holdfast read` print in a shell came whole again."""
    script = model.script("one")
    place = Place(tmp_path, model, script, on_the_path(tmp_path)).make()
    place.holdfast_command("install", "--client", "claude", "--command", HOLDFAST)
    place.holdfast_command("index", "create", ".")
    read = {"file_path": str(place.work / "ledger.py")}
    with place.warm_host():
        place.script.play(
            call("Bash", command="holdfast search sym:settle_3"),
            call("Read", **read, offset=FIRST, limit=COUNT),
            call("Bash", command="holdfast read ledger.py:85-110"),
            call("Read", **read, offset=85, limit=26),
            say(),
        )
        claude(place, "go")
    searched, part, printed, same = results(place.script.played()[-1])
    assert "def settle_3" in searched
    assert "[holdfast: " in part, part
    assert "def settle_6" in printed
    assert "lines 85-110 unchanged" in same, same
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("READ-SHOWN-LINES", "CODEX-INSIDE")
def test_codex_holds_what_our_tools_and_commands_printed(tmp_path: Path, model: Model) -> None:
    place = Place(tmp_path, model, model.script("one"), on_the_path(tmp_path)).make()
    place.holdfast_command("install", "--client", "codex", "--command", HOLDFAST)
    place.holdfast_command("index", "create", ".")

    def shell(command: str) -> Turn:
        return Turn((("exec_command", {"cmd": command}),))

    with place.warm_host():
        place.script.play(
            call("tool_search", query="holdfast search_code", limit=8),
            call("holdfast.search_code", query="sym:settle_3"),
            shell(f"sed -n '{FIRST},{FIRST + 11}p' ledger.py"),
            shell("holdfast search sym:settle_7"),
            shell("sed -n '99,110p' ledger.py"),
            shell("holdfast read ledger.py:127-150"),
            shell("sed -n '127,150p' ledger.py"),
            say(),
        )
        codex(place, "go", "--dangerously-bypass-hook-trust")
    found = results(place.script.played()[-1])[-6:]
    assert "def settle_3" in found[0], found[0]
    assert "[holdfast: " in found[1], found[1]
    assert "def settle_7" in found[2]
    assert "[holdfast: " in found[3], found[3]
    assert "def settle_9" in found[4]
    assert "lines 127-150 unchanged" in found[5], found[5]
    judge(place.script.requests, str(place.work))


@pytest.mark.shows("READ-SHOWN-LINES")
@pytest.mark.parametrize("name", [pytest.param("opencode", marks=SOAK)])
def test_opencode_reads_only_what_our_tools_did_not_print(tmp_path: Path, name: str) -> None:
    with installed(tmp_path, name) as place, place.warm_host():
        (place.work / "ledger.py").write_text(LEDGER)
        place.holdfast_command("index", "create", ".")
        read = {"filePath": str(place.work / "ledger.py"), "offset": FIRST, "limit": COUNT}
        place.script.play(
            calls(("holdfast_explore", {"symbol": "settle_3"})), calls(("read", read)), say()
        )
        opencode(place, "go")
    explored, same = results(place.script.played()[-1])
    assert "def settle_3" in explored
    assert "unchanged" in same, same
    judge(place.script.requests, str(place.work))
