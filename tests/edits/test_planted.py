"""A small share of `bench/edits`: planted mistakes in real files, and the line that was meant."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from bench.edits import GOAL, KINDS, cases

NAMES = ("difflib.py", "textwrap.py", "bisect.py", "fractions.py", "sched.py", "string.py")


@pytest.mark.long
@pytest.mark.shows("EDIT-MEANT")
def test_the_line_that_was_meant_is_shown() -> None:
    library = Path(sysconfig.get_paths()["stdlib"])
    planted = list(cases([library / name for name in NAMES], seed=3, per_file=1))
    assert {case.kind for case in planted} == set(KINDS)
    missed = [(case.kind, case.meant) for case in planted if not case.shown()[0]]
    assert len(missed) <= (1 - GOAL) * len(planted), missed
