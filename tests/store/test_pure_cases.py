"""Every conformance case of the store's pure levels, step by step."""

import json
from pathlib import Path

import pytest

from holdfast.errors import StoreError
from tests.conformance.players import store_pure

CASES = Path(__file__).parent.parent / "conformance" / "cases" / "store" / "cases.json"
PURE = [case for case in json.loads(CASES.read_text()) if case["level"] in store_pure.LEVELS]


def test_there_are_cases_of_every_pure_level() -> None:
    assert {case["level"] for case in PURE} == set(store_pure.LEVELS)


@pytest.mark.shows("CODEC-CASES", "HASH-CASES", "AUTH-CASES", "ROOT-CASES")
@pytest.mark.parametrize("case", PURE, ids=lambda case: case["name"])
def test_case(case: dict[str, object]) -> None:
    play = store_pure.LEVELS[str(case["level"])]
    steps, expected = case["steps"], case["expect"]
    assert isinstance(steps, list)
    assert isinstance(expected, list)
    expectations = {expectation["step"]: expectation for expectation in expected}
    assert len(expectations) == len(expected), "one expectation per step"
    for index, step in enumerate(steps):
        expectation = expectations.get(index, {})
        if "error" not in expectation:
            result = play(step)
            if "equals" in expectation:
                assert result == expectation["equals"]
            continue
        wanted = expectation["error"]
        with pytest.raises(StoreError) as caught:
            play(step)
        assert wanted["message_contains"] in str(caught.value)
        if "name" in wanted:
            assert getattr(caught.value, "name", None) == wanted["name"]


@pytest.mark.parametrize("level", sorted(store_pure.LEVELS))
def test_an_unknown_step_is_an_error(level: str) -> None:
    step = {"op": f"{level}.nonsense", "unified": True}
    with pytest.raises(AssertionError, match="no such step"):
        store_pure.LEVELS[level](step)
