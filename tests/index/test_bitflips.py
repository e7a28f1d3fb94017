"""A share of the campaign of flipped bits; `make soak` runs much more of it."""

import pytest

from tests.index.bitflips import KINDS, campaign
from tests.scale import QUICK, SOAKING, size

FLIPS = 20_000 if SOAKING else size(90, 16)
SEEDS = [1] if QUICK else [1, 2]


@pytest.mark.shows("DAMAGE-FLIPS")
@pytest.mark.parametrize("seed", SEEDS)
def test_flipped_bits_are_harmless_rebuilt_or_refused(seed: int) -> None:
    found = campaign(FLIPS, seed)
    assert set(found) == set(KINDS)
    assert sum(sum(outcomes.values()) for outcomes in found.values()) == FLIPS
    for outcomes in found.values():
        assert set(outcomes) <= {"same", "rebuilt", "refused"}
    # The campaign notices something at all.
    assert found["model"].get("refused", 0) > found["model"].get("same", 0)
    assert found["token segment"].get("rebuilt", 0) > 0
