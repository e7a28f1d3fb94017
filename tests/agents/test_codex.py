"""Inside the real Codex: its own shell and patches, its own rollout, a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.judge import judge
from tests.agents.model import Model, Turn, call, say, scripted_model
from tests.agents.programs import HOLDFAST, Place, codex
from tests.agents.shown import results, texts
from tests.scale import SOAKING

pytestmark = pytest.mark.service("node")
SOAK = pytest.mark.skipif(not SOAKING, reason="runs in make soak")

TEXT = "".join(f"def line_{n}(): return {n}\n" for n in range(1, 121))
TRUSTED = "--dangerously-bypass-hook-trust"
"""What the user says once when Codex asks; a run that is not interactive is told so."""


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text(TEXT)
    with scripted_model(tmp_path / "work") as model:
        yield model


@pytest.fixture
def place(tmp_path: Path, model: Model) -> Place:
    place = Place(tmp_path, model, model.script("one")).make()
    place.holdfast_command("install", "--client", "codex", "--command", HOLDFAST)
    return place


@pytest.fixture
def warm(place: Place) -> Iterator[Place]:
    with place.warm_host():
        yield place


def shell(command: str, **more: object) -> Turn:
    return Turn((("exec_command", {"cmd": command, **more}),))


def patch(old: str, new: str) -> Turn:
    text = f"*** Begin Patch\n*** Update File: a.py\n@@\n-{old}\n+{new}\n*** End Patch"
    return call("apply_patch", input=text)


def after(change: tuple[Path, str, str], turn: Turn) -> Turn:
    path, old, new = change
    return Turn(turn.calls, before=lambda: path.write_text(path.read_text().replace(old, new)))


@pytest.mark.shows("CODEX-INSIDE")
def test_the_six_checks_hold_in_one_conversation(warm: Place) -> None:
    a = warm.work / "a.py"
    warm.script.play(
        shell("cat a.py"),
        shell("sed -n '10,60p' a.py"),
        after((a, "line_7(", "line_seven("), shell("cat a.py")),
        patch("def line_9(): return 9", "def line_9(): return 99"),
        shell("sed -n '1,30p' a.py"),
        patch("def line_11(): return 12", "x"),
        after((a, "line_20(", "line_zwanzig("), shell("ls")),
        shell("pwd"),
        shell("sed -n '40,90p' a.py"),
        shell("sed -n '40,90p' a.py"),
        say(),
    )
    codex(warm, "go", TRUSTED)
    found = results(warm.script.played()[-1])
    assert found[0].endswith(f"Output:\n{TEXT}"), "a first read is whole"
    assert found[1] == (
        "[holdfast: lines 10-60 unchanged, as you have them; same call again prints all]"
    )
    assert "with this diff" in found[2] or "only what you do not have" in found[2]
    assert found[2].count("def line_") < 12, "a change comes as the change"
    assert "Success." in found[3]
    assert found[4].startswith("[holdfast: lines 1-30 unchanged")
    assert [text.count("def line_") for text in found[-2:]] == [0, 51], "the same again prints all"
    verdict = judge(warm.script.requests, str(warm.work))
    assert verdict.counts["unchanged"] == 3, verdict.judged
    assert verdict.counts["diff"] + verdict.counts["unseen"] >= 1, verdict.judged
    assert verdict.counts["help"] == 1, verdict.judged
    assert verdict.counts["stale"] == 1, "told once"


@pytest.mark.shows("CODEX-INSIDE")
def test_a_patch_that_fits_in_several_places_is_codexs_own(warm: Place) -> None:
    """Codex takes the first place that fits: nothing fails, and nothing is said."""
    body = "    total = 1\n    return total\n"
    b = warm.work / "twice.py"
    b.write_text(f"def first():\n{body}\n\ndef second():\n{body}")
    patch = (
        "*** Begin Patch\n*** Update File: twice.py\n@@\n-    total = 1\n-    return total\n"
        "+    return 1\n*** End Patch"
    )
    warm.script.play(shell("cat twice.py"), call("apply_patch", input=patch), say())
    codex(warm, "go", TRUSTED)
    found = results(warm.script.played()[-1])
    assert "Success." in found[1], found[1]
    assert b.read_text() == f"def first():\n    return 1\n\n\ndef second():\n{body}"
    assert "[holdfast: " not in texts(warm.script.played()[-1])


@pytest.mark.shows("READ-CODEX-ENDS")
def test_both_ends_of_an_output_that_codex_cut_are_held(warm: Place) -> None:
    """The rollout has what the model is sent, so the lines that are left count, and no others."""
    warm.script.play(
        shell("cat a.py", max_output_tokens=400),
        shell("sed -n '1,30p' a.py"),
        shell("sed -n '95,120p' a.py"),
        shell("sed -n '20,60p' a.py"),
        say(),
    )
    codex(warm, "go", TRUSTED)
    found = results(warm.script.played()[-1])
    assert "tokens truncated" in found[0]
    assert found[1].startswith("[holdfast: lines 1-30 unchanged")
    assert found[2].startswith("[holdfast: lines 95-120 unchanged")
    assert "[20-3" in found[3], "the lines before the cut are named"
    assert found[3].count("def line_") > 20, "and the others printed"
    verdict = judge(warm.script.requests, str(warm.work))
    assert verdict.counts["unchanged"] == 2, verdict.judged
    assert verdict.counts["unseen"] == 1, verdict.judged


@SOAK
@pytest.mark.shows("READ-CODEX-ROOM")
def test_pages_get_shorter_once_codex_cut_one(warm: Place) -> None:
    """For a model that it does not know, Codex cuts an answer to 12,000 bytes: the model saw both
    ends of a page of 44,000 bytes, below them that it was shown all of it."""
    (warm.work / "a.py").write_text(
        "".join(f"def line_{n}(): return {n}\n" for n in range(1, 3001))
    )
    warm.script.play(
        call("holdfast.read", path="a.py"), call("holdfast.read", path="a.py", offset=1500), say()
    )
    codex(warm, "go", TRUSTED, model="a-model-of-mine")
    found = results(warm.script.played()[-1])
    assert "truncated" in found[0]
    assert "truncated" not in found[1]
    assert 100 < found[1].count("def line_") < 500
    assert "to continue.]" in found[1]


@pytest.mark.shows("CODEX-CONSENT")
def test_nothing_runs_before_the_user_trusts_the_hooks(warm: Place) -> None:
    warm.script.play(shell("cat a.py"), shell("cat a.py"), say())
    codex(warm, "go")
    found = results(warm.script.played()[-1])
    assert [text.count("def line_") for text in found] == [120, 120]


@pytest.mark.shows("CODEX-HARMLESS")
@pytest.mark.parametrize("trouble", ["no host", "a script of the model"])
def test_what_we_cannot_answer_is_codexs_own(place: Place, trouble: str) -> None:
    """A newer model runs scripts that call tools: a replaced result would fail in the script."""
    script = 'const r = await tools.exec_command({cmd: "cat a.py"}); text(r.output);'
    if trouble == "no host":
        place.environment["HOLDFAST_HOME"] = "/dev/null/nowhere"
        place.script.play(shell("cat a.py"), shell("cat a.py"), say())
        codex(place, "go", TRUSTED)
    else:
        place.script.play(call("exec", input=script), call("exec", input=script), say())
        with place.warm_host():
            codex(place, "go", TRUSTED, model="gpt-6.1-sol")
    found = results(place.script.played()[-1])
    assert [text.count("def line_") for text in found] == [120, 120]


@pytest.mark.shows("CODEX-COMPACTION")
def test_after_a_compaction_codex_is_told_what_it_held(warm: Place) -> None:
    warm.script.play(
        shell("sed -n '30,50p' a.py"),
        Turn((("exec_command", {"cmd": "sed -n '60,70p' a.py"}),), tokens=500_000),
        shell("sed -n '30,50p' a.py"),
        say(),
    )
    codex(warm, "go", TRUSTED, "-c", "model_auto_compact_token_limit=100000")
    last = warm.script.played()[-1]
    assert "- a.py: lines 30-50, 60-70" in texts(last)
    assert results(last)[-1].count("def line_") == 21, "what was compacted away is sent again"
    verdict = judge(warm.script.requests, str(warm.work))
    assert verdict.counts["recovery"] == 1, verdict.judged
