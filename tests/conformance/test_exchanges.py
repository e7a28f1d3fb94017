"""The recorded exchanges: every answer is as it was, and as the specification says."""

import json
from pathlib import Path

import pytest

from tests.conformance.exchange_scenarios import SCENARIOS, Scenario
from tests.conformance.exchanges import FORMAT, RECORDED, fits, play, summary

DOCS = Path(__file__).parents[2] / "docs" / "sync.md"


@pytest.mark.shows("SYNC-EXCHANGES")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_every_answer_is_the_recorded_one(scenario: Scenario) -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert recorded["format"] == FORMAT
    by_name = {one["name"]: one["exchanges"] for one in recorded["scenarios"]}
    played = list(play(scenario))
    for (exchange, record), wanted in zip(played, by_name[scenario.name], strict=True):
        assert fits(exchange, record), f"{exchange.frame}: {summary(exchange, record)}"
        # Through JSON, as it is recorded: tuples and surrogates are written out.
        assert json.loads(json.dumps(record)) == wanted, exchange.frame


@pytest.mark.shows("SYNC-EXCHANGES")
def test_there_are_enough_of_them_and_each_deviation_is_documented() -> None:
    exchanges = [exchange for scenario in SCENARIOS for exchange in scenario.exchanges]
    assert len([one for one in exchanges if one.frame is not None]) >= 130
    rows = [line.split("|") for line in DOCS.read_text(encoding="utf-8").splitlines()]
    documented = {row[1].strip() for row in rows if len(row) == 6}
    for exchange in exchanges:
        if exchange.differs is not None:
            assert exchange.differs.row in documented, exchange.differs


@pytest.mark.shows("SYNC-EXCHANGES")
def test_a_changed_answer_is_noticed() -> None:
    """A recording that fits everything would be worth nothing."""
    exchange, record = next(
        (exchange, record) for exchange, record in play(SCENARIOS[4]) if "ok seq" in exchange.answer
    )
    assert fits(exchange, record)
    (frame,) = record["out"]["A"]
    for changed in (
        {**frame, "requestId": "other"},
        {**frame, "ok": {**frame["ok"], "seq": 7}},
        {"type": "response", "requestId": "r", "error": {"name": "E", "message": "m"}},
    ):
        assert not fits(exchange, {**record, "out": {"A": [changed]}})
