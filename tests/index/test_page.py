"""The page says what the code says."""

from pathlib import Path
from typing import get_args

import pytest

from holdfast.index.generations.marker import MARKER_KIND
from holdfast.index.generations.proof import Outcome, Reason
from holdfast.index.tools.manage.create import CREATE_NOTE
from holdfast.index.tools.manage.request import Action

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "code-index.md").read_text(encoding="utf-8")


@pytest.mark.shows("ISS-INDEX-STABILITY-REASONS", "ISS-INDEX-STABILITY-DOCS")
def test_the_page_names_every_outcome_reason_and_action() -> None:
    for word in (
        *Outcome,
        *Reason,
        *get_args(Action),
        MARKER_KIND,
        "hints.staleLocal",
        "debugProofCheck",
    ):
        assert str(word) in PAGE
    assert " ".join(CREATE_NOTE.split()) in " ".join(PAGE.split())
    assert "write nothing" in PAGE
