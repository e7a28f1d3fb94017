"""Probes share a thread that waits for the next one, and leave none behind."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.probe import Prober
from holdfast.index.generations.proof import Outcome, Proof
from tests.index.wire import manage_index
from tests.index.world import World


@pytest.mark.shows("INDEX-PROBE-THREAD")
def test_one_thread_answers_one_probe_after_the_other(world: World) -> None:
    manage_index(world.index, "create", world.root)
    prober = world.index.prober
    threads = set()
    for _ in range(5):
        assert prober.prove(world.root).outcome is Outcome.VALID
        threads |= {thread.thread for thread in prober._idle}
    assert len(threads) == 1
    prober.rest()
    assert not any(thread.is_alive() for thread in threads)
    assert prober.prove(world.root).outcome is Outcome.VALID


@pytest.mark.shows("INDEX-PROBE-THREAD")
def test_a_probe_that_hangs_keeps_no_other_from_its_answer(world: World) -> None:
    manage_index(world.index, "create", world.root)
    world.backend.marker = "hang"
    world.limit_probes(0.05)
    assert world.index.prove(world.root).outcome is Outcome.PROBE_FAILED
    world.backend.marker = "real"
    world.limit_probes(60.0)
    other = str(Path(world.root).parent / "other")
    assert world.index.prove(other).outcome is Outcome.STALE_LOCAL
    world.backend.release.set()
    assert world.index.prove(world.root).outcome is Outcome.VALID


@pytest.mark.shows("INDEX-PROBE-THREAD")
def test_a_probe_that_breaks_off_leaves_its_thread_to_the_next(world: World) -> None:
    """The thread ended with the exception and was handed the next probe all the same, so that no
    probe of the process was answered again and every root was said to be unprovable."""
    manage_index(world.index, "create", world.root)
    prober, real = world.index.prober, world.index.prober._runtime

    def broken() -> Fingerprint:
        raise RuntimeError("no settings")

    prober._runtime = broken
    proof = prober.prove(world.root)
    assert (proof.outcome, proof.detail) == (Outcome.PROBE_FAILED, "RuntimeError: no settings")
    prober._runtime = real
    assert prober.prove(world.root).outcome is Outcome.VALID


@pytest.mark.shows("INDEX-PROBE-THREAD")
@pytest.mark.parametrize("found", ["real", None, "no JSON", {"kind": "other"}, "raise"])
def test_an_embedded_backend_is_asked_at_once_and_proves_what_a_thread_does(
    world: World, found: Any
) -> None:
    manage_index(world.index, "create", world.root)
    embedded: Any = world.backend.inner
    if found == "raise":

        def broken(root: str) -> object:
            raise OSError("away")

        embedded.read_marker = broken
    elif found != "real":
        embedded.read_marker = lambda root: found
    at_once = Prober(embedded, world.index.runtime, 2.0)
    before = set(threading.enumerate())
    proofs: list[Proof] = at_once.prove_all([world.root, "/nowhere"])
    assert before.issuperset(threading.enumerate())
    assert proofs == world.index.prober.prove_all([world.root, "/nowhere"])
