"""Bits flipped in what the reader stands on: never a false *unchanged*, never a wrong diff."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.flips import campaign
from tests.scale import QUICK, SOAKING, examples

SEED = 15


@pytest.mark.shows("SEC-FLIPS-READING")
def test_no_flipped_bit_makes_a_read_wrong(tmp_path: Path) -> None:
    result = campaign(10_000 if SOAKING else examples(1_800), SEED, tmp_path / "world")
    result.kept_every_promise()
    assert result.outcomes["stored text: plain"] > 0
    # A flip that leaves the log as it was, in white space for example, is rare.
    assert QUICK or result.outcomes["session log: same"] > 0
