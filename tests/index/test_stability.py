"""Answers stay put while the backend does not: the plan's tests A to G and its criteria."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.index.building import lifecycle
from holdfast.index.generations.fingerprint import SCHEMA_VERSION
from holdfast.index.generations.record import IndexFailed, Indexing
from tests.index.tools.test_decision_tables import make_ready, set_proof
from tests.index.wire import (
    call_graph,
    file_outline,
    list_codebases,
    manage_index,
    read_file,
    search_code,
)
from tests.index.world import NoWrites, World


def ask_every_read(world: World) -> list[Any]:
    index, root = world.index, world.root
    return [
        search_code(index, root, "total price"),
        file_outline(index, root, "src/cart.py"),
        call_graph(index, root, {"file": "src/cart.py", "symbolLabel": "total_price"}),
        read_file(index, f"{root}/src/cart.py", mode="annotated"),
        list_codebases(index),
        manage_index(index, "status", root),
    ]


@pytest.mark.shows("ISS-INDEX-STABILITY-A", "ISS-INDEX-STABILITY-AC3", "ISS-INDEX-STABILITY-I5")
@pytest.mark.parametrize("proof", ["V", "PF", "FM", "missing_marker_doc", "invalid_payload"])
def test_iss_index_stability_a_no_read_reconciles_prunes_or_recovers(
    world: World, proof: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_ready(world)
    set_proof(world, proof)
    calls: list[str] = []
    for name in ("reconcile_nondestructive", "prune", "recover", "recover_all", "begin"):
        monkeypatch.setattr(lifecycle, name, lambda *_, name=name: calls.append(name))
    NoWrites.guard(world.index, world.registry_path)
    world.backend.roots = lambda: calls.append("roots") or []  # type: ignore[method-assign,func-returns-value]
    ask_every_read(world)
    assert calls == []


@pytest.mark.shows("ISS-INDEX-STABILITY-A4", "ISS-INDEX-STABILITY-A")
def test_iss_index_stability_a4_reads_report_an_abandoned_run_and_leave_it(world: World) -> None:
    make_ready(world)
    world.put_record(Indexing("run_dead", 10.0))
    world.later(10_000)
    NoWrites.guard(world.index, world.registry_path)
    before = world.bytes_at_rest()
    ask_every_read(world)
    assert world.bytes_at_rest() == before


@pytest.mark.shows("INDEX-ABANDONED")
def test_every_read_tells_at_once_that_a_writer_is_gone(world: World) -> None:
    """Search and the list went on saying *indexing* for two minutes after a killed writer."""
    make_ready(world)
    world.put_record(Indexing("run_dead", 10.0))
    root, index = world.root, world.index
    alive = ask_every_read(world)
    assert "is currently indexing" in alive[0]["message"]
    assert alive[4]["codebases"][0]["section"] == "Indexing"
    lease = index.leases.acquire(root, "run_dead", "create")
    assert lease is not None
    lease.announce()
    assert "is currently indexing" in ask_every_read(world)[0]["message"], "its writer is alive"
    facts = {"pid": 2**22 + 1, "started": "1", "runId": "run_dead", "action": "create"}
    index.leases._path(root).write_text(json.dumps(facts))  # as a killed process leaves it
    before = world.bytes_at_rest()
    search, outline, calls, read, listed, status = ask_every_read(world)
    for answer in (search, outline, calls, read):
        assert (answer["status"], answer["reason"]) == ("not_ready", "indexing")
        assert "its writer is gone" in answer["message"]
        assert "Wait for it" not in answer["message"]
    for answer in (search, outline, calls):
        assert answer["hints"]["create"]["args"] == {"action": "create", "path": root}
    (row,) = listed["codebases"]
    assert (row["section"], row["detail"]) == (
        "Indexing", "10.0%, abandoned: its writer is gone",
    ), "the section that goes with not_ready"  # fmt: skip
    assert "its writer is gone" in status["humanText"]
    assert world.bytes_at_rest() == before, "told, not repaired"
    lease.release()


@pytest.mark.shows("ISS-INDEX-STABILITY-D", "ISS-INDEX-STABILITY-E", "ISS-INDEX-STABILITY-I7",
                   "ISS-INDEX-STABILITY-AC1", "ISS-INDEX-STABILITY-AC5",
                   "ISS-INDEX-STABILITY-TDD-4")  # fmt: skip
@pytest.mark.parametrize("listing", ["raise", "empty"])
def test_iss_index_stability_d_e_a_backend_that_flaps_does_not_move_membership(
    world: World, listing: str
) -> None:
    """What went wrong elsewhere: one empty list of collections emptied the list of codebases."""
    make_ready(world)
    NoWrites.guard(world.index, world.registry_path)
    world.backend.listing = listing
    before = world.bytes_at_rest()
    for marker in ["real", "raise", "real", "raise", "raise", "real", "hang", "real"]:
        world.backend.marker = marker
        if marker == "hang":
            world.limit_probes(0.05)
        search, _, _, _, listed, status = ask_every_read(world)
        assert search["status"] == "ok"
        assert search["results"]
        assert status["status"] == "ok"
        assert [row["path"] for row in listed["codebases"]] == [world.root]
        assert listed["codebases"][0]["section"] == "Ready"
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-A20", "ISS-INDEX-STABILITY-D")
def test_iss_index_stability_a20_a_hung_backend_does_not_hang_the_list(world: World) -> None:
    make_ready(world)
    world.limit_probes(0.05)
    world.backend.marker = "hang"
    for _ in range(3):
        assert "probe failed" in list_codebases(world.index)["text"]
    # One probe hangs; the others waited for it and did not add to it.
    assert world.backend.probes == 1


@pytest.mark.shows("ISS-INDEX-STABILITY-A12", "ISS-INDEX-STABILITY-E")
def test_iss_index_stability_a12_an_empty_probe_is_reported_and_the_next_good_one_restores(
    world: World,
) -> None:
    make_ready(world)
    NoWrites.guard(world.index, world.registry_path)
    seen = []
    for proof in ("V", "missing_marker_doc", "V"):
        set_proof(world, proof)
        seen.append(search_code(world.index, world.root, "total price")["status"])
        assert world.membership() == [world.root]
    assert seen == ["ok", "not_indexed", "ok"]


@pytest.mark.shows("ISS-INDEX-STABILITY-F", "ISS-INDEX-STABILITY-AC6")
def test_iss_index_stability_f_a_refusal_is_an_answer_and_is_not_asked_again(world: World) -> None:
    make_ready(world)
    set_proof(world, "missing_marker_doc")
    NoWrites.guard(world.index, world.registry_path)
    before = world.bytes_at_rest()
    probes = world.backend.probes
    answers = ask_every_read(world)
    assert world.backend.probes - probes == len(answers), "each read asks the backend once"
    for answer in answers:
        assert isinstance(json.loads(json.dumps(answer))["status"], str)
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-G", "ISS-INDEX-STABILITY-AC7", "ISS-INDEX-STABILITY-TDD-4b")
def test_iss_index_stability_g_an_intermittent_probe_never_flips_the_class(world: World) -> None:
    make_ready(world)
    for turn in range(6):
        set_proof(world, "PF" if turn % 2 else "V")
        answer: Any = search_code(world.index, world.root, "total price", limit=10)
        assert answer["status"] == "ok"
        assert ("hints" in answer) is bool(turn % 2)


@pytest.mark.shows("ISS-INDEX-STABILITY-G", "ISS-INDEX-STABILITY-AC8")
def test_iss_index_stability_g_a_mismatch_is_requires_reindex_everywhere(world: World) -> None:
    make_ready(world)
    set_proof(world, "FM")
    search, outline, graph, read, listed, status = ask_every_read(world)
    for answer in (search, outline, graph, status):
        assert (answer["status"], answer["reason"]) == ("requires_reindex", "requires_reindex")
    assert read["outlineStatus"] == "requires_reindex"
    assert listed["codebases"][0]["section"] == "Requires Reindex"
    for action in ("create", "sync"):
        assert manage_index(world.index, action, world.root)["status"] == "requires_reindex"


@pytest.mark.shows("ISS-INDEX-STABILITY-G", "ISS-INDEX-STABILITY-A13")
def test_iss_index_stability_g_an_absent_file_is_a_missing_marker_not_a_failed_probe(
    world: World,
) -> None:
    make_ready(world)
    world.backend.inner.drop(world.root)
    answer: Any = search_code(world.index, world.root, "total price")
    assert answer["hints"]["staleLocal"]["completionProof"] == "missing_marker_doc"
    assert world.membership() == [world.root]


@pytest.mark.shows("ISS-INDEX-STABILITY-A7")
def test_iss_index_stability_a7_going_back_to_the_old_settings_needs_no_rebuild(
    world: World,
) -> None:
    make_ready(world)
    world.index.schema_version = "other_v2"
    assert search_code(world.index, world.root, "price")["status"] == "requires_reindex"
    world.index.schema_version = SCHEMA_VERSION
    assert search_code(world.index, world.root, "price")["status"] == "ok"


@pytest.mark.shows("ISS-INDEX-STABILITY-A10", "ISS-INDEX-STABILITY-RECONCILE")
def test_iss_index_stability_a10_a_lost_registry_comes_back_only_by_repair(world: World) -> None:
    make_ready(world)
    world.registry_path.unlink()
    assert search_code(world.index, world.root, "price")["status"] == "not_indexed"
    assert world.membership() == []
    assert lifecycle.reconcile_nondestructive(world.index) == [world.root]
    assert search_code(world.index, world.root, "price")["status"] == "ok"


@pytest.mark.shows("ISS-INDEX-STABILITY-RECONCILE", "ISS-INDEX-STABILITY-I2",
                   "ISS-INDEX-STABILITY-I6")  # fmt: skip
@pytest.mark.parametrize("proof", ["missing_marker_doc", "invalid_payload", "path_mismatch", "FM",
                                   "PF"])  # fmt: skip
def test_reconcile_acts_on_a_valid_marker_only(world: World, proof: str) -> None:
    make_ready(world)
    world.put_record(IndexFailed("odd"))
    set_proof(world, proof)
    before = world.bytes_at_rest()
    assert lifecycle.reconcile_nondestructive(world.index) == []
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-RECONCILE")
@pytest.mark.parametrize("listing", ["raise", "empty"])
def test_reconcile_with_nothing_listed_changes_nothing(world: World, listing: str) -> None:
    make_ready(world)
    world.backend.listing = listing
    before = world.bytes_at_rest()
    assert lifecycle.reconcile_nondestructive(world.index) == []
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-RECONCILE")
def test_reconcile_does_not_touch_a_running_build(world: World) -> None:
    make_ready(world)
    world.put_record(Indexing("run_x", 10.0))
    before = world.bytes_at_rest()
    assert lifecycle.reconcile_nondestructive(world.index) == []
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-PRUNE")
def test_prune_forgets_only_what_is_proven_dead(world: World) -> None:
    make_ready(world)
    assert lifecycle.prune(world.index) == []
    world.tree.rename(world.tree.with_name("away"))
    set_proof(world, "PF")
    assert lifecycle.prune(world.index) == []
    set_proof(world, "V")
    assert lifecycle.prune(world.index) == []
    set_proof(world, "missing_marker_doc")
    assert lifecycle.prune(world.index) == [world.root]


@pytest.mark.shows("ISS-INDEX-STABILITY-PRUNE", "ISS-INDEX-STABILITY-AC3")
def test_no_tool_and_no_command_mentions_prune_or_reconcile_except_repair() -> None:
    from pathlib import Path

    import holdfast

    source = Path(holdfast.__file__).parent
    users = {
        path.relative_to(source).as_posix()
        for package in ("index", "cli")
        for path in (source / package).rglob("*.py")
        if {"prune(", "reconcile_nondestructive("} & _calls(path.read_text(encoding="utf-8"))
    }
    assert users <= {"cli/index.py"}
    assert "prune(" not in _calls(
        (source / "index/building/lifecycle.py").read_text(encoding="utf-8")
    )


def _calls(text: str) -> set[str]:
    """The two names where they are called, not where they are defined."""
    import re

    return {
        f"{name}(" for name in re.findall(r"(?<!def )\b(prune|reconcile_nondestructive)\(", text)
    }


@pytest.mark.shows("ISS-INDEX-STABILITY-AC1")
def test_iss_index_stability_ac1_create_status_search_list_again_and_again(world: World) -> None:
    manage_index(world.index, "create", world.root)
    first: Any = None
    for turn in range(5):
        world.later(5)
        world.backend.marker = "raise" if turn % 2 else "real"
        status = manage_index(world.index, "status", world.root)["status"]
        search = search_code(world.index, world.root, "total price")["status"]
        members = [row["path"] for row in list_codebases(world.index)["codebases"]]
        first = first or (status, search, members)
        assert (status, search, members) == first == ("ok", "ok", [world.root])


@pytest.mark.shows("ISS-INDEX-STABILITY-A15")
def test_iss_index_stability_a15_the_nearest_tracked_root_governs(world: World) -> None:
    make_ready(world)
    inner = f"{world.root}/src"
    manage_index(world.index, "create", inner)
    record = world.index.registry.find(inner)
    assert record is not None

    def to_indexing(now: Any) -> Any:
        from msgspec.structs import replace

        return replace(now, state=Indexing("run_x", 1.0))

    world.index.registry.change(inner, to_indexing)
    assert search_code(world.index, inner, "price")["status"] == "not_ready"
    assert search_code(world.index, world.root, "price")["status"] == "ok"


@pytest.mark.shows("ISS-INDEX-STABILITY-REASONS")
def test_statuses_and_reasons_are_closed_sets() -> None:
    """Changing the validator's reasons means changing messages, tests and docs with them."""
    from holdfast.index.generations.proof import Outcome, Reason

    assert [outcome.value for outcome in Outcome] == [
        "valid", "stale_local", "fingerprint_mismatch", "probe_failed", "newer_format",
    ]  # fmt: skip
    assert [reason.value for reason in Reason] == [
        "missing_marker_doc", "invalid_marker_kind", "path_mismatch", "invalid_payload",
        "damaged", "fingerprint_mismatch", "probe_failed", "newer_format",
    ]  # fmt: skip
