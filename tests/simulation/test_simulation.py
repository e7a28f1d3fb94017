"""Plays seeds. One that fails is printed; play it alone with `HOLDFAST_SEED=n`."""

import os

import pytest

from holdfast.sync.client import space_session
from holdfast.sync.client.client import Client
from holdfast.sync.client.replica import Manner
from holdfast.sync.server import session_registry
from holdfast.sync.server.session_registry import SessionRegistry
from tests.scale import QUICK, size
from tests.simulation.world import Faults, World, play

SOAK = os.environ.get("HOLDFAST_SOAK") == "1"
ONE = os.environ.get("HOLDFAST_SEED")

STEPS = 25
"""Short stories, so that there can be many: most faults need few steps to show."""

PER_BLOCK = size(100, 10)
BLOCKS = 200 if SOAK else 2 if QUICK else 20
FIRST = range(0, BLOCKS * PER_BLOCK, PER_BLOCK)


@pytest.mark.shows(
    "SYNC-SIMULATION",
    "INV-1",
    "INV-3",
    "INV-4",
    "INV-5",
    "INV-6",
    "INV-7",
    "INV-8",
    "INV-9",
    "INV-10",
    "INV-11",
    "INV-28",
    "INV-29",
    "INV-30",
    "INV-31",
    "INV-32",
    "INV-34",
    "INV-35",
    "INV-36",
)
@pytest.mark.parametrize("first", [int(ONE)] if ONE else FIRST)
def test_nothing_is_lost_invented_or_left_open(first: int) -> None:
    for seed in range(first, first + (1 if ONE else PER_BLOCK)):
        play(seed, steps=STEPS)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1_000_000, 1_002_000 if SOAK else 1_000_002, 2))
def test_larger_worlds(first: int) -> None:
    for seed in range(first, first + 2):
        play(seed, clients=5, steps=400, servers=1 + seed % 2)


@pytest.mark.long
@pytest.mark.shows("SYNC-SIMULATION", "INV-8")
def test_worlds_that_showed_a_mistake_before() -> None:
    """The seed, and what it showed.

    202600090099: a server restarted, and the answer to the watches that it was sent again was lost.
    The next sync showed a commit beside a document that had left the watches meanwhile.
    """
    play(202_600_090_099, clients=5, steps=400, servers=1)


@pytest.mark.parametrize("first", [500_000, 500_050])
def test_a_quiet_network_and_a_very_bad_one(first: int) -> None:
    for seed in range(first, first + size(15, 2)):
        play(seed, faults=Faults(delay_ms=1, duplicate=0, dial=0, cut=0, restart=0, takeover=0))
        play(seed, faults=Faults(delay_ms=15, duplicate=0.2, dial=0.4, cut=0.25, restart=0.08))


@pytest.mark.shows("SYNC-CAPABILITY")
def test_peers_of_the_first_version_get_along() -> None:
    """They promise less: reads may be unsound and lost frames stay lost. Nothing else is."""
    for seed in range(600_000, 602_000 if SOAK else 600_000 + size(60, 4)):
        play(seed, capabilities=frozenset(), steps=40)


@pytest.mark.shows("SYNC-SIMULATION")
def test_the_same_seed_is_the_same_story() -> None:
    def story(seed: int) -> object:
        world = World(seed)
        world.run()
        told = [(actor.name, actor.session.sent, actor.mirror) for actor in world.actors]
        return world.oracle.commits, told, world.time.now

    assert story(7) == story(7)
    assert story(7) != story(8)


def _anyone(*_: object) -> bool:
    return True


def _unheard(client: Client, reason: str = "", code: int | None = None) -> None:
    DOWN(client, reason)


DOWN = Client.transport_down

WEAKER: dict[str, tuple[object, str, object]] = {
    "a former owner that is not fenced off": (SessionRegistry, "verify", _anyone),
    "a session that opens without its token": (session_registry, "_admits", _anyone),
    "a client that does not take 1009 for a refusal": (Client, "transport_down", _unheard),
}


@pytest.mark.long
@pytest.mark.shows("SYNC-SIMULATION", "SYNC-ONE-OWNER", "SYNC-ONE-WRITER", "SYNC-TOO-LARGE")
@pytest.mark.parametrize("weakness", WEAKER)
def test_a_weaker_server_or_client_is_found_out(
    weakness: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*WEAKER[weakness])

    def play_all() -> None:
        for seed in range(400):
            play(seed, steps=STEPS, servers=2)

    with pytest.raises(AssertionError, match="seed"):
        play_all()


@pytest.mark.shows("SYNC-SIMULATION")
@pytest.mark.parametrize(
    ("weaker", "seeds"),
    [
        pytest.param(Manner(covered=False), 40, id="accepted layers folded at once"),
        pytest.param(
            *(Manner(layered=False), 400),
            id="reads that name only the newest layer",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_weaker_client_is_found_out(
    weaker: Manner, seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_session, "SOUND", weaker)

    def play_all() -> None:
        for seed in range(seeds):
            play(seed)  # longer stories than above: these need several commits in a row

    with pytest.raises(AssertionError, match="seed"):
        play_all()
