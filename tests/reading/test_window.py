"""The decisive test: nothing we say is untrue of the text the model can see.

Random sessions on every host: files change, contexts are compacted, edited, rewound, forked and
resumed, objects vanish; the twin is the context window itself. A failure names host and seed.
"""

import os
from pathlib import Path

import pytest

from holdfast.reading.paths import Request
from holdfast.reading.scope import Lines
from tests.reading import window
from tests.reading.desk import Desk
from tests.reading.simulation import DRIVERS, Simulation
from tests.scale import QUICK, SOAKING

SEEDS = 1_000 if SOAKING else 1 if QUICK else 10
SESSIONS_PER_SEED = 10
STEPS = 200
"""Together 20,000 steps on every host, and two millions under soak."""


@pytest.mark.shows("READ-PROMISE", "READ-TWIN", "READ-FOOT-02", "READ-FOOT-04", "READ-SC-7")
@pytest.mark.parametrize(
    ("host", "seed"),
    [
        (host, seed)
        for host in DRIVERS
        # The owned pi session is the same adapter from the writing side: fewer will do.
        for seed in range(max(1, SEEDS // 5) if host == "pi-owned" else SEEDS)
    ],
)
def test_every_claim_is_true_of_the_text_the_model_can_see(
    host: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Durability is tested elsewhere; here it would only take time.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    for session in range(SESSIONS_PER_SEED):
        number = seed * SESSIONS_PER_SEED + session
        simulation = Simulation(tmp_path / str(session), host, number)
        for step in range(STEPS):
            try:
                simulation.step()
            except AssertionError as error:
                last = ", ".join(simulation.steps[-8:])
                raise AssertionError(
                    f"{host} seed {number} step {step} ({last}): {error}"
                ) from error
        assert simulation.modes.get("full"), "something was read"


@pytest.mark.parametrize("host", list(DRIVERS))
def test_the_simulation_reaches_every_mode(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    modes: set[str] = set()
    maps = 0
    for number in range(4):
        simulation = Simulation(tmp_path / str(number), host, number)
        for _ in range(STEPS):
            simulation.step()
        modes.update(simulation.modes)
        maps += simulation.maps
    assert maps, "a context map listed something"
    assert modes >= {"full", "unchanged", "unchanged_range", "diff", "baseline_fallback"}
    if host.startswith("pi"):
        assert "unseen" not in modes, "pi keeps to its contract"


HEAD = "[holdfast: lines 1-4, only what you do not have; bypass_cache=true prints all]"
SHOWN = window.Shown("/f", "a\nb\nc", 1, ("a", "b", "c"))


@pytest.mark.parametrize(
    ("visible", "text", "current", "mode"),
    [
        ([], "[readcache: unchanged, 3 lines]", "a\nb\nc", "unchanged"),
        ([SHOWN], "[readcache: unchanged, 3 lines]", "a\nb\nX", "unchanged"),
        ([SHOWN], "[readcache: unchanged, 4 lines]", "a\nb\nc", "unchanged"),
        ([SHOWN], "[readcache: unchanged in lines 2-4 of 4]", "a\nb\nc\nd", "unchanged_range"),
        (
            [window.Shown("/f", "a\nb\nc", 1, ("a", "b"))],
            "[readcache: unchanged in lines 2-3 of 3]",
            "a\nb\nc",
            "unchanged_range",
        ),
        (
            [SHOWN],
            "[readcache: 1 lines changed of 3]\n--- a/f\t\n+++ b/f\t\n@@ -1,1 +1,1 @@\n-a\n+A",
            "B\nb\nc",
            "diff",
        ),
        ([SHOWN], "a\nb\nX", "a\nb\nc", "full"),
        ([], f"{HEAD}\n[1-2 as you have them]\n[3-4:]\nc\nd", "a\nb\nc\nd", "full"),
        ([SHOWN], f"{HEAD}\n[1-2 as you have them]\n[3-4:]\nc\nX", "a\nb\nc\nd", "full"),
        ([SHOWN], f"{HEAD}\n[1-2 as you have them]\n[4:]\nd", "a\nb\nc\nd", "full"),
        ([SHOWN], f"{HEAD}\n[1-2 as you have them]\n[3:]\nc", "a\nb\nc\nd", "full"),
        ([SHOWN], f"{HEAD}\n[1-2 as you have them]\n[3-4:]\nc\nd", "a\nB\nc\nd", "full"),
    ],
)
def test_the_judge_finds_what_is_untrue(
    visible: list[window.Fact], text: str, current: str, mode: str
) -> None:
    with pytest.raises(window.Untrue):
        window.judge(visible, "/f", text, current, 1, mode)


def test_the_judge_takes_what_is_named_and_printed_truly() -> None:
    text = f"{HEAD}\n[1-2 as you have them]\n[3-4:]\nc\nd"
    fact = window.judge([SHOWN], "/f", text, "a\nb\nc\nd", 3, "full")
    assert fact is not None
    assert window.knowledge([fact], "/f").known == {"a\nb\nc\nd": {1, 2, 3, 4}}


@pytest.mark.shows("READ-UNSEEN")
def test_a_range_that_overlaps_what_was_shown_brings_only_the_rest(desk: Desk) -> None:
    """The whole range came again, however much of it had just been shown."""
    rows = [f"row {number} of a file with rows of some length" for number in range(1, 201)]
    desk.write("a.txt", "\n".join(rows) + "\n")
    desk.read("a.txt", offset=1, limit=100)
    session = desk.session
    plain = desk.reader.read(Request("a.txt", 50, 81), session)
    assert plain.text.startswith(rows[49]), "only where it is asked for"
    desk.reader.forget()
    answer = desk.reader.only_unseen().read(Request("a.txt", 50, 81), session)
    head, named, first, *rest = answer.text.split("\n")
    assert head.startswith("[holdfast: lines 50-130, only what you do not have")
    assert (named, first) == ("[50-100 as you have them]", "[101-130:]")
    assert rest[:30] == rows[100:130]
    assert rest[30:] == ["", "[71 more lines in file. Use offset=131 to continue.]"]
    assert answer.meta is not None
    assert (answer.meta.mode, answer.meta.scope) == ("full", Lines(101, 130))
    fresh = desk.reader.only_unseen().read(Request("a.txt", 50, 81, bypass_cache=True), session)
    assert fresh.text == plain.text
