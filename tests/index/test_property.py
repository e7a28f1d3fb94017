"""A backend that fails, hangs, answers empty or nonsense and recovers, at random.

The twin is a table: what the last lifecycle action left, and what the last finished probe said.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from holdfast.index.errors import BackendUnavailable
from tests.index.tools.test_decision_tables import set_proof
from tests.index.wire import list_codebases, manage_index, search_code
from tests.index.world import World
from tests.scale import examples

PROOFS = ["V", "PF", "FM", "missing_marker_doc", "invalid_payload", "path_mismatch"]


class AnswersFollowTheTable(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.world = World(self.directory)
        self.tracked = False
        self.whole = False
        """Whether a complete generation with our marker is really there."""
        self.proof = "V"
        self.writing = "real"
        self.create(force=False)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.close()
            shutil.rmtree(self.directory, ignore_errors=True)

    def effective(self) -> str:
        """What a probe comes to now."""
        if self.proof == "V" and not self.whole:
            return "missing_marker_doc"
        return self.proof

    @rule(proof=st.sampled_from(PROOFS))
    def the_marker_changes(self, proof: str) -> None:
        self.proof = proof
        set_proof(self.world, proof)

    @rule(writing=st.sampled_from(["real", "raise", "late"]))
    def writing_changes(self, writing: str) -> None:
        self.writing = self.world.backend.writing = writing

    @rule(listing=st.sampled_from(["real", "raise", "empty"]))
    def listing_changes(self, listing: str) -> None:
        self.world.backend.listing = listing

    @rule()
    def time_passes(self) -> None:
        self.world.later(400)

    @rule(force=st.booleans())
    def create_again(self, force: bool) -> None:
        self.create(force)

    def create(self, force: bool) -> None:
        state = self.state()
        answer = manage_index(self.world.index, "create", self.world.root, force=force)
        text = answer["humanText"]
        if "already indexed" in text:
            assert state == "searchable"
            assert self.effective() == "V"
            assert not force
        if answer["status"] == "ok":
            self.tracked = True
            if self.writing == "real":
                self.whole = True
        elif state == "none":
            assert self.writing == "raise"
            assert answer["status"] == "error"

    @rule()
    def sync(self) -> None:
        state = self.state()
        answer = manage_index(self.world.index, "sync", self.world.root)
        if state == "searchable" and self.effective() in ("missing_marker_doc", "invalid_payload"):
            assert answer["status"] == "not_indexed"
        if state == "none":
            assert answer["status"] == "not_indexed"

    @rule()
    def clear(self) -> None:
        answer = manage_index(self.world.index, "clear", self.world.root)
        if answer["status"] == "ok":
            self.tracked = self.whole = False
        elif self.tracked:
            assert self.writing == "raise"

    def state(self) -> str:
        record = self.world.index.registry.find(self.world.root)
        if record is None:
            return "none"
        return "searchable" if record.searchable else "failed"

    @rule(retrieval=st.sampled_from(["raise", "empty"]))
    def search_a_backend_in_trouble(self, retrieval: str) -> None:
        self.search(retrieval)

    def search(self, retrieval: str) -> None:
        self.world.backend.retrieval = retrieval
        state, effective = self.state(), self.effective()
        before = self.world.bytes_at_rest()
        try:
            answer: Any = search_code(self.world.index, self.world.root, "total price")
        except BackendUnavailable:
            assert state == "searchable"
            assert retrieval == "raise" or not self.whole
            assert effective in ("V", "PF")
        else:
            expected = {"V": "ok", "PF": "ok", "FM": "requires_reindex"}.get(
                effective, "not_indexed"
            )
            assert answer["status"] == (expected if state == "searchable" else "not_indexed")
            if answer["status"] == "ok" and effective == "V" and retrieval == "real":
                assert answer["results"]
        finally:
            self.world.backend.retrieval = "real"
        assert self.world.bytes_at_rest() == before

    def status(self) -> None:
        state, effective = self.state(), self.effective()
        before = self.world.bytes_at_rest()
        answer = manage_index(self.world.index, "status", self.world.root)
        expected = {"V": "ok", "PF": "ok", "FM": "requires_reindex"}.get(effective, "not_indexed")
        by_state = {"none": "not_indexed", "failed": "error", "searchable": expected}
        assert answer["status"] == by_state[state]
        assert self.world.bytes_at_rest() == before

    @invariant()
    def every_read_follows_the_table(self) -> None:
        if hasattr(self, "world"):
            self.search("real")
            self.status()

    @invariant()
    def membership_is_what_lifecycle_actions_left(self) -> None:
        if not hasattr(self, "world"):
            return
        listed = [row["path"] for row in list_codebases(self.world.index)["codebases"]]
        assert listed == ([self.world.root] if self.tracked else [])

    @invariant()
    def no_run_is_left_open(self) -> None:
        if hasattr(self, "world"):
            record = self.world.index.registry.find(self.world.root)
            assert record is None or type(record.state).__name__ != "Indexing"


@pytest.mark.shows(
    "ISS-INDEX-STABILITY-PROPERTY",
    "ISS-INDEX-STABILITY-AC1",
    "ISS-INDEX-STABILITY-AC2",
    "ISS-INDEX-STABILITY-AC5",
)
def test_answers_follow_the_table_whatever_the_backend_does() -> None:
    run_state_machine_as_test(
        AnswersFollowTheTable, settings=settings(max_examples=examples(20), stateful_step_count=15)
    )
