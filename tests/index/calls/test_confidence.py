"""The confidence of an edge is what was measured for its reason."""

from __future__ import annotations

import pytest

from holdfast.index.calls.confidence import HIGHEST, MEASURED, RARE, VALUES, calibrated
from holdfast.index.calls.resolve import GUESS, Resolver
from holdfast.index.facts.extract import extract
from tests.index.claims import resolved


@pytest.mark.shows("CALLS-CALIBRATED")
def test_a_measured_reason_says_its_share_and_another_language_its_estimate() -> None:
    assert calibrated("python", "re-export", 0.6) == MEASURED["python"]["re-export"]
    assert calibrated("python", "re-export, inherited", 0.6) == MEASURED["python"]["re-export"]
    assert calibrated("js", "never seen", 0.6) == RARE["js"]
    assert calibrated("js", "passed as an argument", 0.9) == VALUES["js"]["passed as an argument"]
    assert calibrated("go", "same package", 0.9412) == 0.941


@pytest.mark.shows("CALLS-CALIBRATED")
def test_no_measured_reason_is_certain_or_as_low_as_a_guess() -> None:
    shares = [share for table in MEASURED.values() for share in table.values()]
    values = [share for table in VALUES.values() for share in table.values()]
    assert all(GUESS < share <= HIGHEST for share in (*shares, *RARE.values(), *values))


@pytest.mark.shows("CALLS-CALIBRATED")
def test_edges_report_it() -> None:
    facts = extract("a.py", b"def f(): ...\ndef go():\n    f()\n")
    edges, _ = resolved(Resolver([facts]), "a.py")
    assert [(e.reason, e.confidence) for e in edges] == [("same file", 0.99)]
