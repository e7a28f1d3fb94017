"""The decisive test: nothing we say is untrue of the text the model can see.

Random sessions on every host: files change, contexts are compacted, edited, rewound, forked and
resumed, objects vanish; the twin is the context window itself. A failure names host and seed.
"""

import os
from pathlib import Path

import pytest

from tests.reading import window
from tests.reading.simulation import DRIVERS, Simulation
from tests.scale import QUICK, SOAKING, size

SEEDS = 1_000 if SOAKING else 1 if QUICK else 10
SESSIONS_PER_SEED = size(10, 3)
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


@pytest.mark.long
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
    ],
)
def test_the_judge_finds_what_is_untrue(
    visible: list[window.Fact], text: str, current: str, mode: str
) -> None:
    with pytest.raises(window.Untrue):
        window.judge(visible, "/f", text, current, 1, mode)
