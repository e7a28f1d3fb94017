"""The conformance cases of the engine, on every engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.players.store import play_engine_case
from tests.conformance.test_cases import OWN_CASES
from tests.store.harness import Engines


def engine_cases() -> list[dict[str, Any]]:
    text = Path(OWN_CASES / "store" / "cases.json").read_text(encoding="utf-8")
    return [case for case in json.loads(text) if case["level"] == "engine"]


@pytest.mark.shows("STORE-BOTH-ENGINES")
def test_every_engine_plays_every_case(engines: Engines) -> None:
    cases = engine_cases()
    assert len(cases) > 80
    for case in cases:
        try:
            play_engine_case(case, engines.url, engines.space())
        except AssertionError as error:
            raise AssertionError(f"{case['name']}: {error}") from error
