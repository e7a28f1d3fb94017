"""Inside the real Claude Code: its own tools, its own transcript, a scripted model.

Every word of ours is judged by the request that carries it (`tests.agents.judge`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.hosts import broken_host
from tests.agents.judge import judge
from tests.agents.model import Model, Turn, call, calls, say, scripted_model
from tests.agents.programs import HOLDFAST, Place, claude
from tests.agents.shown import results, texts

pytestmark = pytest.mark.service("node")

SESSION = "11111111-1111-4111-8111-111111111111"
TEXT = "".join(f"def line_{n}(): return {n}\n" for n in range(1, 121))


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text(TEXT)
    (tmp_path / "work" / "b.py").write_text(TEXT.replace("line", "row"))
    with scripted_model(tmp_path / "work") as model:
        yield model


@pytest.fixture
def place(tmp_path: Path, model: Model) -> Place:
    place = Place(tmp_path, model, model.script("one")).make()
    place.holdfast_command("install", "--client", "claude", "--command", HOLDFAST)
    return place


@pytest.fixture
def warm(place: Place) -> Iterator[Place]:
    with place.warm_host():
        yield place


def replace(path: Path, old: str, new: str) -> Turn:
    """A turn before which someone else changes a file."""
    return Turn(before=lambda: path.write_text(path.read_text().replace(old, new)))


REPEATED = "".join(
    f"\n\ndef {name}():\n    total = 1\n    return total\n" for name in ("second", "third")
)
LONG = "import os\n\n\n" + "".join(
    f"def part_{n}(value):\n" + "".join(f"    step_{n}_{i} = {i}\n" for i in range(14)) + "\n\n"
    for n in range(80)
)


@pytest.mark.shows("READ-FOCUS", "READ-FOCUS-TRUST")
def test_a_long_file_is_folded_once_and_then_printed(place: Place) -> None:
    """What was said is open; the second whole read has everything; a range is never folded."""
    place.holdfast_command("install", "--client", "claude", "--command", HOLDFAST, "--focus")
    long = place.work / "long.py"
    long.write_text(LONG)
    first = place.work / "first.py"
    first.write_text(LONG)
    with place.warm_host():
        place.script.play(
            # The first outline of a host starts a parser, which may take too long for a hook.
            call("Read", file_path=str(first)),
            call("Read", file_path=str(long)),
            call("Read", file_path=str(long), offset=100, limit=40),
            call(
                "Edit", file_path=str(long), old_string="step_33_4 = 4", new_string="step_33_4 = 5"
            ),
            call("Read", file_path=str(long)),
            call("Read", file_path=str(long)),
            say(),
        )
        claude(place, "please mend part_33", "--session-id", SESSION)
    found = results(place.script.played()[-1])[1:]
    assert "of them shown and the rest folded" in found[0]
    assert "the numbers on the left are not the file's" in found[0]
    assert "step_33_13 = 13" in found[0], "what the user named is open"
    assert "step_34_1" not in found[0]
    assert "folded: def part_34(value)" in found[0]
    assert "step_6_1 = 1" in found[1], "a range is never folded"
    assert "has been updated" in found[2]
    assert "folded" not in found[3] + found[4]
    assert "step_79_13 = 13" in found[3] + found[4], "a second whole read has everything"
    verdict = judge(place.script.requests, str(place.work))
    assert verdict.counts["focused"] in (1, 2), verdict.judged


@pytest.mark.shows("CLAUDE-INSIDE")
def test_the_six_checks_hold_in_one_conversation(warm: Place) -> None:
    a, b = warm.work / "a.py", warm.work / "b.py"
    read_a, read_b = ("Read", {"file_path": str(a)}), ("Read", {"file_path": str(b)})
    warm.script.play(
        call("Read", file_path=str(a)),
        call("Bash", command="cat a.py"),
        Turn((read_a,), before=replace(a, "line_7(", "line_seven(").before),
        call("Edit", file_path=str(a), old_string="return 9\n", new_string="return 99\n"),
        call("Bash", command="sed -n '1,30p' a.py"),
        call("Read", file_path=str(a), offset=5, limit=30),
        call("Edit", file_path=str(a), old_string="def line_11(): return 12", new_string="x"),
        call("Read", file_path=str(b), offset=1, limit=40),
        calls(read_b, ("Bash", {"command": "head -n 20 b.py"})),
        Turn((("Bash", {"command": "ls"}),), before=replace(a, "line_20(", "line_zwanzig(").before),
        call("Bash", command="pwd"),
        say(),
    )
    claude(warm, "go", "--session-id", SESSION)
    last = warm.script.played()[-1]
    found = results(last)
    numbered = "".join(f"{n}\t{row}\n" for n, row in enumerate(TEXT.split("\n"), start=1))
    assert found[0] == numbered.rstrip("\n"), "a first read is whole"
    assert (
        found[1] == "[holdfast: lines 1-120 unchanged, as you have them; same call again "
        "prints all]"
    )
    assert "with this diff" in found[2] or "only what you do not have" in found[2]
    assert found[2].count("def line_") < 12, "a change comes as the change"
    assert "has been updated" in found[3]
    assert found[4].startswith("[holdfast: lines 1-30 unchanged")
    assert "lines 5-34 unchanged" in found[5]
    assert a.read_text() == TEXT.replace("line_7(", "line_seven(").replace(
        "return 9\n", "return 99\n"
    ).replace("line_20(", "line_zwanzig(")
    verdict = judge(warm.script.requests, str(warm.work))
    assert verdict.counts["unchanged"] >= 3, verdict.judged
    assert verdict.counts["diff"] + verdict.counts["unseen"] >= 1, verdict.judged
    assert verdict.counts["help"] == 1, verdict.judged
    assert verdict.counts["diff"] + verdict.counts["unseen"] >= 2, verdict.judged
    assert verdict.counts["stale"] == 1, "told once"


@pytest.mark.shows("CLAUDE-INSIDE", "EDIT-ATTEMPTS")
def test_an_edit_whose_old_text_is_not_unique_is_told_what_tells_the_places_apart(
    warm: Place,
) -> None:
    b = warm.work / "twice.py"
    b.write_text("def first():\n    total = 1\n    return total\n" + REPEATED)
    old = "    total = 1\n    return total\n"
    warm.script.play(
        call("Read", file_path=str(b)),
        call("Edit", file_path=str(b), old_string=old, new_string="    return 1\n"),
        call("Edit", file_path=str(b), old_string=f"def third():\n{old}", new_string="third = 1\n"),
        say(),
    )
    claude(warm, "go")
    last = warm.script.played()[-1]
    _, failed, done = results(last)
    assert "Found 3 matches" in failed, failed
    told = texts(last).partition("[holdfast: the old text occurs 3 times in twice.py;")[2]
    told = told.partition("has been updated")[0]
    for line in ("it is unique]", " 1\tdef first():", " 6\tdef second():", "11\tdef third():"):
        assert line in told, told
    assert "has been updated" in done
    verdict = judge(warm.script.requests, str(warm.work))
    assert verdict.counts["help"] == 1, verdict.judged


@pytest.mark.shows("CLAUDE-AGAIN")
def test_repeating_a_call_that_was_answered_in_short_prints_everything(warm: Place) -> None:
    a = warm.work / "a.py"
    warm.script.play(
        call("Read", file_path=str(a)),
        call("Bash", command="cat a.py"),
        call("Bash", command="cat a.py"),
        call("Read", file_path=str(a), offset=3, limit=60),
        call("Read", file_path=str(a), offset=3, limit=60),
        say(),
    )
    claude(warm, "go")
    found = results(warm.script.played()[-1])
    assert [text.count("def line_") for text in found] == [120, 0, 120, 0, 60]
    judge(warm.script.requests, str(warm.work))


@pytest.mark.shows("CLAUDE-COMPACTION")
def test_after_a_compaction_the_model_is_told_what_it_held(warm: Place) -> None:
    a, b = warm.work / "a.py", warm.work / "b.py"
    warm.script.play(
        call("Read", file_path=str(b), offset=20, limit=40),
        call("Read", file_path=str(a)),
        call("Edit", file_path=str(a), old_string="return 60\n", new_string="return 6\n"),
        say(),
    )
    claude(warm, "go", "--session-id", SESSION)
    claude(warm, "/compact", "--resume", SESSION)
    warm.script.play(
        Turn((("Bash", {"command": "cat b.py"}),), before=None),
        call("Bash", command="sleep 3"),  # the first requests go out before MCP tools exist
        call("mcp__holdfast__recover", tokens=3000),
        say(),
    )
    claude(warm, "go on", "--resume", SESSION)
    last = warm.script.played()[-1]
    seen = texts(last)
    assert re.search(r"- a.py: lines 50-7\d, edited by you\n- b.py: lines 20-59\n", seen)
    assert "def row_99(): return 99" in results(last)[0], "what was compacted away is sent again"
    recovered = results(last)[2]
    assert "def line_60(): return 6" in recovered
    assert "def line_100()" not in recovered, "the lines that were used, not the whole file"
    verdict = judge(warm.script.requests, str(warm.work))
    assert verdict.counts["recovery"] == 1, verdict.judged


@pytest.mark.shows("CLAUDE-HARMLESS")
@pytest.mark.parametrize("trouble", ["no host", "frozen", "another version"])
def test_without_a_working_host_every_result_is_the_agents_own(place: Place, trouble: str) -> None:
    if trouble == "no host":  # nor can one start: what was installed names its home
        for name in (".claude.json", ".claude/settings.json"):
            file = place.home / name
            file.write_text(file.read_text().replace(str(place.holdfast), "/dev/null/nowhere"))
        place.environment["HOLDFAST_HOME"] = "/dev/null/nowhere"
    a = place.work / "a.py"
    place.script.play(call("Read", file_path=str(a)), call("Bash", command="cat a.py"), say())
    if trouble == "no host":
        claude(place, "go")
    else:
        with broken_host(place.holdfast, trouble):
            claude(place, "go")
    found = results(place.script.played()[-1])
    assert [text.count("def line_") for text in found] == [120, 120]
