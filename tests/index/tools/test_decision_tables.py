"""The decision tables: what each tool answers in each local state, for each proof.

One helper puts the world into a row's state, one asks the tool; rows are data. Reads are asked
behind the no-write guard, and the registry's bytes are compared after every row.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.index.building.prepare import extract_facts
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import BackendUnavailable
from holdfast.index.generations.proof import Reason
from holdfast.index.generations.record import (
    ASSUMED,
    IndexFailed,
    Indexing,
    RequiresReindex,
    SyncCompleted,
)
from holdfast.index.tools.manage.create import CREATE_NOTE
from tests.index.wire import (
    call_graph,
    file_outline,
    list_codebases,
    manage_index,
    read_file,
    search_code,
)
from tests.index.world import NoWrites, World

STALE = [
    reason.value
    for reason in Reason
    if reason not in (Reason.FINGERPRINT_MISMATCH, Reason.PROBE_FAILED, Reason.NEWER_FORMAT)
]


def make_ready(world: World) -> None:
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    world.later(10)
    world.backend.probes = 0


def set_local(world: World, local: str) -> None:
    """Bring the root into a local state of the tables."""
    match local:
        case "NF":
            return
        case "IX":
            make_ready(world)
            world.put_record(Indexing("run_other", 42.0, "extracting"))
        case "IX_STALE":
            make_ready(world)
            world.put_record(Indexing("run_other", 42.0, "extracting"))
            world.later(121)
        case "RR":
            make_ready(world)
            world.put_record(RequiresReindex("settings changed last week", "fingerprint_mismatch"))
        case "FPX":
            make_ready(world)
            record = world.index.registry.find(world.root)
            assert record is not None
            other = replace(world.index.runtime(), embedding_model="older")
            world.put_record(record.state, fingerprint=other)
        case "FAIL":
            world.put_record(IndexFailed("the disk was full", 61.5))
        case "RDY":
            make_ready(world)
        case "SYNCED":
            make_ready(world)
            world.put_record(SyncCompleted(4, 6, 1, 2, 3))
        case _:
            raise AssertionError(local)


def set_proof(world: World, proof: str) -> None:
    """Let the next probes come to this outcome."""
    mismatch = world.index.runtime().to_wire() | {"schemaVersion": "dense_v0"}
    world.backend.marker = {
        "V": "real",
        "PF": "raise",
        "FM": world.marker(fingerprint=mismatch),
        "missing_marker_doc": None,
        "invalid_marker_kind": world.marker(kind="someone_elses_v9"),
        "path_mismatch": world.marker(codebasePath="/somewhere/else"),
        "invalid_payload": world.marker(indexedFiles="many"),
        "damaged": "damage",
    }[proof]


class Asked:
    """One read asked behind the guard, with what it left untouched."""

    def __init__(self, world: World, local: str, proof: str = "V") -> None:
        set_local(world, local)
        set_proof(world, proof)
        self.before = world.bytes_at_rest()
        self.members = world.membership()
        world.backend.probes = 0
        NoWrites.guard(world.index, world.registry_path)
        self.world = world

    def check(self) -> None:
        assert self.world.bytes_at_rest() == self.before
        assert self.world.membership() == self.members


def search(index: CodeIndex, path: str) -> Any:
    return search_code(index, path, "total price", limit=10)


def outline(index: CodeIndex, path: str) -> Any:
    return file_outline(index, path, "src/cart.py")


def graph(index: CodeIndex, path: str) -> Any:
    return call_graph(index, path, {"file": "src/cart.py", "symbolLabel": "total_price"})


def create_call(path: str) -> dict[str, Any]:
    return {"tool": "manage_index", "args": {"action": "create", "path": path}}


def check_refusal(answer: Any, world: World, local: str, proof: str, requested: str) -> None:
    """What every read says of a closed gate."""
    root = world.root
    if local == "NF":
        assert (answer["status"], answer["reason"]) == ("not_indexed", "not_indexed")
        assert answer["hints"]["create"] == create_call(requested)
        assert requested in answer["message"]
        assert "is not indexed" in answer["message"]
    elif local == "FAIL":
        assert (answer["status"], answer["reason"]) == ("not_indexed", "not_indexed")
        assert {"create", "status"} <= answer["hints"].keys()
        assert "the disk was full" in answer["message"]
    elif local in ("IX", "IX_STALE"):
        assert (answer["status"], answer["reason"]) == ("not_ready", "indexing")
        assert answer["hints"]["status"]["args"] == {"action": "status", "path": root}
        assert answer["hints"]["debugIndexing"] == {"completionProof": "marker_doc"}
        assert answer["indexing"]["progressPct"] == 42.0
        assert answer["indexing"]["phase"] == "extracting"
        assert "currently indexing" in answer["message"]
    elif local in ("RR", "FPX") or proof == "FM":
        assert (answer["status"], answer["reason"]) == ("requires_reindex", "requires_reindex")
        assert answer["hints"]["reindex"]["args"] == {"action": "reindex", "path": root}
        detail = {"RR": "settings changed last week", "FPX": "older"}.get(
            local, "Completion proof fingerprint does not match the current runtime fingerprint."
        )
        assert detail in answer["message"]
    else:
        assert proof in STALE
        assert (answer["status"], answer["reason"]) == ("not_indexed", "not_indexed")
        assert answer["hints"]["create"] == create_call(root)
        assert answer["hints"]["staleLocal"] == {
            "completionProof": proof,
            "recommendedAction": create_call(root),
        }
        assert "completion proof is missing or invalid" in answer["message"]
        assert f"reason: {proof}" in answer["message"]


CLOSED = [
    ("1", "NF", "V"), ("2", "IX", "V"), ("3", "RR", "V"), ("4", "FPX", "V"), ("5", "FAIL", "V"),
    *((f"7-{reason}", "RDY", reason) for reason in STALE), ("8", "RDY", "FM"),
]  # fmt: skip


def closed_rows(letter: str) -> list[Any]:
    return [
        pytest.param(local, proof, id=f"ISS-INDEX-STABILITY-{letter}{row}-{local}-{proof}")
        for row, local, proof in CLOSED
    ]


# T1 search_code


@pytest.mark.shows(
    "ISS-INDEX-STABILITY-S1", "ISS-INDEX-STABILITY-S2", "ISS-INDEX-STABILITY-S3",
    "ISS-INDEX-STABILITY-S4", "ISS-INDEX-STABILITY-S5", "ISS-INDEX-STABILITY-S7",
    "ISS-INDEX-STABILITY-S8", "ISS-INDEX-STABILITY-S9", "ISS-INDEX-STABILITY-S10",
    "ISS-INDEX-STABILITY-S11", "ISS-INDEX-STABILITY-AC4", "ISS-INDEX-STABILITY-AC8",
)  # fmt: skip
@pytest.mark.parametrize(("local", "proof"), closed_rows("S"))
def test_search_refuses_with_the_gates_answer(world: World, local: str, proof: str) -> None:
    asked = Asked(world, local, proof)
    answer = search(world.index, world.root)
    check_refusal(answer, world, local, proof, world.root)
    assert answer["results"] == []
    freshness = {"IX": "skipped_indexing", "RR": "skipped_requires_reindex",
                 "FPX": "skipped_requires_reindex"}.get(local)  # fmt: skip
    if proof == "FM":
        freshness = "skipped_requires_reindex"
    assert answer["freshnessDecision"] == ({"mode": freshness} if freshness else None)
    if freshness == "skipped_requires_reindex":
        compatibility = answer["compatibility"]
        assert compatibility["runtimeFingerprint"] == world.index.runtime().to_wire()
        assert "statusAtCheck" in compatibility
        assert answer["codebasePath"] == world.root
    # The proof is asked for only when the registry says searchable and no other gate decided.
    assert world.backend.probes == (1 if local == "RDY" else 0)
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-S7", "ISS-INDEX-STABILITY-S10")
@pytest.mark.parametrize("reason", STALE, ids=lambda r: f"ISS-INDEX-STABILITY-S7-{r}-does-no-work")
def test_a_stale_search_neither_looks_nor_embeds(world: World, reason: str) -> None:
    Asked(world, "RDY", reason)

    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("a stale search did work")

    world.index.freshness.check = refuse  # type: ignore[method-assign]
    world.index.provider.embed_query = refuse  # type: ignore[method-assign]
    assert search(world.index, world.root)["status"] == "not_indexed"


@pytest.mark.shows("ISS-INDEX-STABILITY-S6", "ISS-INDEX-STABILITY-S12", "ISS-INDEX-STABILITY-AC7")
@pytest.mark.parametrize(
    ("local", "proof"),
    [
        pytest.param("RDY", "V", id="ISS-INDEX-STABILITY-S6"),
        pytest.param("SYNCED", "V", id="ISS-INDEX-STABILITY-S6-synced"),
        pytest.param("RDY", "PF", id="ISS-INDEX-STABILITY-S12"),
        pytest.param("SYNCED", "PF", id="ISS-INDEX-STABILITY-S12-synced"),
    ],
)
def test_search_serves_a_proven_root_and_one_whose_probe_failed(
    world: World, local: str, proof: str
) -> None:
    asked = Asked(world, local, proof)
    answer = search(world.index, world.root)
    assert answer["status"] == "ok"
    assert "reason" not in answer
    assert "message" not in answer
    assert answer["results"][0]["symbolLabel"] == "total_price"
    assert answer["freshnessDecision"]["mode"] == "skipped_source_unchanged"
    if proof == "PF":
        assert answer["hints"]["version"] == 1
        check = answer["hints"]["debugProofCheck"]
        assert (check["ok"], check["reason"]) == (False, "probe_failed")
    else:
        assert "hints" not in answer
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-S13")
def test_iss_index_stability_s13_a_backend_that_is_away_is_an_error_and_never_not_indexed(
    world: World,
) -> None:
    asked = Asked(world, "RDY", "PF")
    world.backend.retrieval = "raise"
    with pytest.raises(BackendUnavailable):
        search(world.index, world.root)
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-S14")
def test_iss_index_stability_s14_a_build_that_began_meanwhile_makes_the_answer_not_ready(
    world: World,
) -> None:
    make_ready(world)
    looked = world.index.freshness.check

    def look_while_a_build_begins(*args: Any) -> Any:
        world.put_record(Indexing("run_other", 1.0, "scanning"))
        return looked(*args)

    world.index.freshness.check = look_while_a_build_begins  # type: ignore[method-assign,assignment]
    answer = search(world.index, world.root)
    assert (answer["status"], answer["reason"]) == ("not_ready", "indexing")
    assert answer["freshnessDecision"] == {"mode": "skipped_indexing"}
    assert answer["results"] == []


@pytest.mark.shows("ISS-INDEX-STABILITY-S15")
def test_iss_index_stability_s15_no_hits_is_not_not_indexed(world: World) -> None:
    asked = Asked(world, "RDY")
    world.backend.retrieval = "empty"
    answer = search(world.index, world.root)
    assert answer["status"] == "ok"
    assert answer["results"] == []
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-A15")
def test_iss_index_stability_a15_hints_name_the_root_that_governs_and_path_echoes(
    world: World,
) -> None:
    Asked(world, "RDY", "missing_marker_doc")
    below = f"{world.root}/src"
    answer = search(world.index, below)
    assert answer["path"] == below
    assert answer["hints"]["create"] == create_call(world.root)
    assert below in answer["message"]


# T2 file_outline


@pytest.mark.shows(
    "ISS-INDEX-STABILITY-F1", "ISS-INDEX-STABILITY-F2", "ISS-INDEX-STABILITY-F3",
    "ISS-INDEX-STABILITY-F4", "ISS-INDEX-STABILITY-F5", "ISS-INDEX-STABILITY-F7",
    "ISS-INDEX-STABILITY-F8",
)  # fmt: skip
@pytest.mark.parametrize(("local", "proof"), closed_rows("F"))
def test_outline_refuses_with_the_gates_answer(world: World, local: str, proof: str) -> None:
    asked = Asked(world, local, proof)
    below = f"{world.root}/src"
    answer = outline(world.index, below)
    check_refusal(answer, world, local, proof, below)
    reindex = answer["status"] == "requires_reindex"
    assert answer["path"] == (world.root if reindex else below)
    assert answer["outline"] is None
    assert answer["hasMore"] is False
    if local == "IX":
        assert answer["codebaseRoot"] == world.root
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-F6", "ISS-INDEX-STABILITY-F9", "FACT-OUTLINE")
@pytest.mark.parametrize("proof", ["V", "PF"])
@pytest.mark.parametrize(
    ("arguments", "status", "labels"),
    [
        ({"file": "src/cart.py"}, "ok", ["add_item", "total_price"]),
        ({"file": "src/nothing.py"}, "not_found", None),
        ({"file": "src/data.bin.py"}, "unsupported", None),
        ({"file": "src/twice.py", "resolve_mode": "exact", "symbol_label": "same"}, "ambiguous",
         ["same", "same"]),
        ({"file": "src/cart.py", "resolve_mode": "exact", "symbol_label": "add_item"}, "ok",
         ["add_item"]),
        ({"file": "src/cart.py", "resolve_mode": "exact", "symbol_label": "none"}, "not_found",
         None),
        ({"file": "src/cart.py", "start_line": 6, "end_line": 6}, "ok", ["total_price"]),
        ({"file": "src/cart.py", "limit_symbols": 1}, "ok", ["add_item"]),
    ],
    ids=["ok", "missing", "unsupported", "ambiguous", "exact", "exact-missing", "window", "limit"],
)  # fmt: skip
def test_iss_index_stability_f6_f9_an_open_outline(
    world: World, proof: str, arguments: dict[str, Any], status: str, labels: list[str] | None
) -> None:
    world.write("src/data.bin.py", b"\0\0\0")
    world.write("src/twice.py", "def same():\n    pass\n\ndef same():\n    pass\n")
    asked = Asked(world, "RDY", proof)
    answer: Any = file_outline(world.index, world.root, **arguments)
    assert answer["status"] == status
    assert answer["path"] == world.root
    found = answer["outline"] and [s["symbolLabel"] for s in answer["outline"]["symbols"]]
    assert found == labels
    assert answer["hasMore"] is ("limit_symbols" in arguments)
    assert ("debugProofCheck" in answer.get("hints", {})) is (proof == "PF")
    asked.check()


@pytest.mark.shows("FACT-OUTLINE")
def test_an_outline_is_the_symbols_in_the_order_of_the_file(world: World) -> None:
    world.index.extract = extract_facts
    world.write("src/b.py", "def z(): ...\nclass B:\n    def c(self): ...\ndef a(): ...\n")
    make_ready(world)
    answer: Any = file_outline(world.index, world.root, file="src/b.py")
    assert [s["symbolLabel"] for s in answer["outline"]["symbols"]] == ["z", "B", "B.c", "a"]


# T3 call_graph


@pytest.mark.shows(
    "ISS-INDEX-STABILITY-C1", "ISS-INDEX-STABILITY-C2", "ISS-INDEX-STABILITY-C3",
    "ISS-INDEX-STABILITY-C4", "ISS-INDEX-STABILITY-C5", "ISS-INDEX-STABILITY-C7",
    "ISS-INDEX-STABILITY-C8",
)  # fmt: skip
@pytest.mark.parametrize(("local", "proof"), closed_rows("C"))
def test_call_graph_refuses_with_the_gates_answer(world: World, local: str, proof: str) -> None:
    asked = Asked(world, local, proof)
    answer = graph(world.index, world.root)
    check_refusal(answer, world, local, proof, world.root)
    assert answer["supported"] is False
    assert answer["symbolRef"] == {"file": "src/cart.py", "symbolLabel": "total_price"}
    assert (answer["direction"], answer["depth"], answer["limit"]) == ("both", 1, 20)
    assert (answer["nodes"], answer["edges"], answer["notes"]) == ([], [], [])
    if local == "IX":
        assert answer["codebaseRoot"] == world.root
        assert answer["freshnessDecision"] == {"mode": "skipped_indexing"}
    if answer["status"] == "requires_reindex":
        assert answer["codebasePath"] == world.root
        assert answer["freshnessDecision"] == {"mode": "skipped_requires_reindex"}
        assert "compatibility" in answer
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-C6", "ISS-INDEX-STABILITY-C9")
@pytest.mark.parametrize("proof", ["V", "PF"])
@pytest.mark.parametrize(
    ("file", "label", "status"),
    [
        ("src/cart.py", "total_price", "ok"),
        ("src/cart.py", "nobody", "not_found"),
        ("src/nothing.py", "total_price", "not_found"),
        ("src/twice.py", "same", "ambiguous"),
    ],
)
def test_iss_index_stability_c6_c9_an_open_call_graph(
    world: World, proof: str, file: str, label: str, status: str
) -> None:
    world.write("src/twice.py", "def same():\n    pass\n\ndef same():\n    pass\n")
    asked = Asked(world, "RDY", proof)
    answer: Any = call_graph(world.index, world.root, {"file": file, "symbolLabel": label})
    assert answer["status"] == status
    assert answer["supported"] is (status == "ok")
    if status == "ok":
        by_id = {node["symbolId"]: node["symbolLabel"] for node in answer["nodes"]}
        edges = {(by_id[e["srcSymbolId"]], by_id[e["dstSymbolId"]]) for e in answer["edges"]}
        assert {("pay", "total_price"), ("total_price", "price_of")} <= edges
    assert ("debugProofCheck" in answer.get("hints", {})) is (proof == "PF")
    asked.check()


# T4 manage_index status


def status_of(world: World) -> Any:
    return manage_index(world.index, "status", world.root)


@pytest.mark.shows(
    "ISS-INDEX-STABILITY-ST1", "ISS-INDEX-STABILITY-ST2", "ISS-INDEX-STABILITY-ST3",
    "ISS-INDEX-STABILITY-ST4", "ISS-INDEX-STABILITY-ST5", "ISS-INDEX-STABILITY-ST6",
    "ISS-INDEX-STABILITY-ST7", "ISS-INDEX-STABILITY-ST8", "ISS-INDEX-STABILITY-ST9",
    "ISS-INDEX-STABILITY-ST10", "ISS-INDEX-STABILITY-ST11", "ISS-INDEX-STABILITY-C-STATUS",
)  # fmt: skip
@pytest.mark.parametrize(
    ("local", "proof", "status", "reason", "hint_names", "texts"),
    [
        pytest.param("NF", "V", "not_indexed", "not_indexed", {"create"},
                     ["is not indexed", "Runtime fingerprint"], id="ISS-INDEX-STABILITY-ST1"),
        pytest.param("IX", "V", "not_ready", "indexing", {"status", "retryAfterMs", "indexing"},
                     ["42.0%", "(Processing files and generating embeddings...)", "Last updated"],
                     id="ISS-INDEX-STABILITY-ST2"),
        pytest.param("IX_STALE", "V", "not_ready", "indexing",
                     {"status", "retryAfterMs", "indexing", "staleIndexing"},
                     ["looks abandoned", "create"], id="ISS-INDEX-STABILITY-ST3"),
        pytest.param("RR", "V", "requires_reindex", "requires_reindex", {"reindex", "status"},
                     ["settings changed last week", "Reindex reason: fingerprint_mismatch"],
                     id="ISS-INDEX-STABILITY-ST4"),
        pytest.param("FPX", "V", "requires_reindex", "requires_reindex", {"reindex", "status"},
                     ["must be rebuilt", "older", "Indexed fingerprint"],
                     id="ISS-INDEX-STABILITY-ST5"),
        pytest.param("FAIL", "V", "error", None, {"create", "status", "indexingFailure"},
                     ["indexing failed", "the disk was full", "61.5%"],
                     id="ISS-INDEX-STABILITY-ST6"),
        pytest.param("RDY", "V", "ok", None, set(),
                     ["fully indexed and ready for search", "4 files", "Runtime fingerprint"],
                     id="ISS-INDEX-STABILITY-ST7"),
        pytest.param("SYNCED", "V", "ok", None, set(),
                     ["sync completed", "+1 -2 ~3", "4 files, 6 chunks", "Last synced"],
                     id="ISS-INDEX-STABILITY-ST8"),
        *(pytest.param("RDY", reason, "not_indexed", "not_indexed", {"create", "staleLocal"},
                       ["is not indexed", "completion proof is missing or invalid",
                        f"reason: {reason}", "local snapshot claims", "Runtime fingerprint"],
                       id=f"ISS-INDEX-STABILITY-ST9-{reason}") for reason in STALE),
        pytest.param("RDY", "FM", "requires_reindex", "requires_reindex", {"reindex", "status"},
                     ["Completion proof fingerprint does not match"],
                     id="ISS-INDEX-STABILITY-ST10"),
        pytest.param("RDY", "PF", "ok", None, {"debugProofCheck"},
                     ["fully indexed and ready for search", "probe_failed"],
                     id="ISS-INDEX-STABILITY-ST11"),
        pytest.param("SYNCED", "PF", "ok", None, {"debugProofCheck"},
                     ["sync completed", "probe_failed"], id="ISS-INDEX-STABILITY-ST11-synced"),
    ],
)  # fmt: skip
def test_status_tells_the_state(
    world: World, local: str, proof: str, status: str, reason: str | None,
    hint_names: set[str], texts: list[str],
) -> None:  # fmt: skip
    asked = Asked(world, local, proof)
    answer = status_of(world)
    assert (answer["status"], answer.get("reason")) == (status, reason)
    assert answer.get("hints", {}).keys() - {"version"} == hint_names
    for text in texts:
        assert text in answer["humanText"]
    codes = [warning["code"] for warning in answer.get("warnings", [])]
    assert codes == (["COMPLETION_PROOF_PROBE_FAILED"] if proof == "PF" else [])
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-ST12")
def test_iss_index_stability_st12_a_missing_directory_is_an_error_and_stays_tracked(
    world: World,
) -> None:
    make_ready(world)
    world.tree.rename(world.tree.with_name("away"))
    asked = Asked(world, "NF")
    answer = status_of(world)
    assert answer["status"] == "error"
    assert "reason" not in answer
    assert world.membership() == [world.root]
    asked.check()


# T5 create


@pytest.mark.shows("ISS-INDEX-STABILITY-K1", "ISS-INDEX-STABILITY-K6")
@pytest.mark.parametrize("local", ["NF", "FAIL"], ids=lambda v: f"ISS-INDEX-STABILITY-K-{v}")
def test_create_starts_where_nothing_serves(world: World, local: str) -> None:
    set_local(world, local)
    answer: Any = manage_index(world.index, "create", world.root)
    assert answer["status"] == "ok"
    assert "reason" not in answer
    assert "Started background indexing" in answer["humanText"]
    assert world.backend.probes == 0
    assert status_of(world)["status"] == "ok"


@pytest.mark.shows("ISS-INDEX-STABILITY-K2", "ISS-INDEX-STABILITY-R2", "ISS-INDEX-STABILITY-Y2",
                   "ISS-INDEX-STABILITY-D2", "ISS-INDEX-STABILITY-A1")  # fmt: skip
@pytest.mark.parametrize("action", ["create", "reindex", "sync", "clear"],
                         ids=lambda a: f"ISS-INDEX-STABILITY-K2-{a}")  # fmt: skip
def test_a_running_build_blocks_every_lifecycle_action(world: World, action: Any) -> None:
    set_local(world, "IX")
    world.backend.probes = 0
    before = world.bytes_at_rest()
    answer: Any = manage_index(world.index, action, world.root)
    assert (answer["status"], answer["reason"]) == ("not_ready", "indexing")
    text = answer["humanText"]
    assert "currently indexing" in text
    assert f"action='{action}' is blocked" in text
    assert "reason=indexing" in text
    assert "retryAfterMs=2000" in text
    assert {"status", "retryAfterMs", "indexing"} <= answer["hints"].keys()
    assert world.backend.probes == 0
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-K2")
def test_iss_index_stability_k2_a_live_writer_is_never_taken_for_dead(world: World) -> None:
    set_local(world, "IX_STALE")
    lease = world.index.leases.acquire(world.root, "run_other", "create")
    assert lease is not None
    lease.announce()
    answer: Any = manage_index(world.index, "create", world.root)
    assert (answer["status"], answer["reason"]) == ("not_ready", "indexing")
    lease.release()


@pytest.mark.shows("ISS-INDEX-STABILITY-K3", "ISS-INDEX-STABILITY-R3", "ISS-INDEX-STABILITY-A23")
@pytest.mark.parametrize(
    ("action", "proof", "status", "text"),
    [
        pytest.param("create", "V", "blocked", "already indexed",
                     id="ISS-INDEX-STABILITY-K3-valid"),
        pytest.param("create", "missing_marker_doc", "ok", "Started",
                     id="ISS-INDEX-STABILITY-K3-missing"),
        pytest.param("create", "FM", "ok", "Started", id="ISS-INDEX-STABILITY-K3-mismatch"),
        pytest.param("create", "PF", "not_ready", "is blocked", id="ISS-INDEX-STABILITY-K3-probe"),
        pytest.param("reindex", "missing_marker_doc", "ok", "Started", id="ISS-INDEX-STABILITY-R3"),
        pytest.param("sync", "V", "ok", "No changes", id="ISS-INDEX-STABILITY-K3-sync"),
        pytest.param("clear", "V", "ok", "Cleared", id="ISS-INDEX-STABILITY-K3-clear"),
    ],
)  # fmt: skip
def test_a_dead_writers_run_is_ended_by_what_can_be_proven(
    world: World, action: Any, proof: str, status: str, text: str
) -> None:
    set_local(world, "IX_STALE")
    set_proof(world, proof)
    answer: Any = manage_index(world.index, action, world.root)
    assert answer["status"] == status
    assert text in answer["humanText"]


@pytest.mark.shows("ISS-INDEX-STABILITY-K4", "ISS-INDEX-STABILITY-K5", "ISS-INDEX-STABILITY-K10",
                   "ISS-INDEX-STABILITY-A2", "ISS-INDEX-STABILITY-Y3",
                   "ISS-INDEX-STABILITY-Y6")  # fmt: skip
@pytest.mark.parametrize("action", ["create", "sync"])
@pytest.mark.parametrize(
    ("local", "proof"),
    [
        pytest.param("RR", "V", id="ISS-INDEX-STABILITY-K4-Y3"),
        pytest.param("FPX", "V", id="ISS-INDEX-STABILITY-K5-Y3"),
        pytest.param("RDY", "FM", id="ISS-INDEX-STABILITY-K10-Y6"),
    ],
)
def test_other_settings_always_mean_requires_reindex(
    world: World, action: Any, local: str, proof: str
) -> None:
    set_local(world, local)
    set_proof(world, proof)
    before = world.bytes_at_rest()
    answer: Any = manage_index(world.index, action, world.root)
    assert (answer["status"], answer["reason"]) == ("requires_reindex", "requires_reindex")
    assert {"reindex", "status"} <= answer["hints"].keys()
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-K7", "ISS-INDEX-STABILITY-AC2")
@pytest.mark.parametrize("local", ["RDY", "SYNCED"], ids=lambda v: f"ISS-INDEX-STABILITY-K7-{v}")
def test_already_indexed_needs_a_valid_proof(world: World, local: str) -> None:
    set_local(world, local)
    before = world.bytes_at_rest()
    answer: Any = manage_index(world.index, "create", world.root)
    assert answer["status"] == "blocked"
    assert "reason" not in answer
    assert "already indexed" in answer["humanText"]
    assert "sync" in answer["humanText"]
    assert "force" in answer["humanText"]
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-K8", "ISS-INDEX-STABILITY-K9", "ISS-INDEX-STABILITY-A3",
                   "ISS-INDEX-STABILITY-B", "ISS-INDEX-STABILITY-AC2")  # fmt: skip
@pytest.mark.parametrize(
    "proof",
    [*(pytest.param(r, id=f"ISS-INDEX-STABILITY-K8-{r}") for r in STALE),
     pytest.param("PF", id="ISS-INDEX-STABILITY-K9")],
)  # fmt: skip
def test_create_repairs_an_unproven_index_and_says_so(world: World, proof: str) -> None:
    set_local(world, "RDY")
    set_proof(world, proof)
    answer: Any = manage_index(world.index, "create", world.root)
    assert answer["status"] == "ok"
    assert "already indexed" not in answer["humanText"]
    for text in (answer["message"], answer["humanText"]):
        assert CREATE_NOTE in text
        assert "Started background indexing" in text
    if proof == "PF":
        assert answer["hints"]["debugProofCheck"]["reason"] == "probe_failed"
    else:
        assert answer["hints"]["staleLocal"]["completionProof"] == proof
    world.backend.marker = "real"
    assert status_of(world)["status"] == "ok"


@pytest.mark.shows("ISS-INDEX-STABILITY-B")
def test_iss_index_stability_b_the_note_is_the_literal_one() -> None:
    assert CREATE_NOTE == (
        "Local snapshot claims indexed, but completion proof is missing/invalid; "
        "treating as not_indexed for create."
    )


@pytest.mark.shows("ISS-INDEX-STABILITY-K11")
def test_iss_index_stability_k11_a_path_that_is_no_directory_starts_nothing(world: World) -> None:
    for path, text in (("missing", "does not exist"), ("src/cart.py", "is not a directory")):
        answer: Any = manage_index(world.index, "create", f"{world.root}/{path}")
        assert answer["status"] == "error"
        assert text in answer["humanText"]
    assert world.membership() == []


@pytest.mark.shows("ISS-INDEX-STABILITY-K12", "ISS-INDEX-STABILITY-A25")
@pytest.mark.parametrize("action", ["create", "reindex"])
@pytest.mark.parametrize("local", ["NF", "FAIL", "RDY"])
def test_iss_index_stability_k12_a_backend_that_is_down_leaves_the_state_alone(
    world: World, action: Any, local: str
) -> None:
    set_local(world, local)
    set_proof(world, "PF")
    world.backend.writing = "raise"
    before = world.bytes_at_rest()
    answer: Any = manage_index(world.index, action, world.root)
    assert answer["status"] == "error"
    assert "reason" not in answer
    assert "Error starting indexing" in answer["humanText"]
    assert world.bytes_at_rest() == before
    assert world.index.leases.last_writer(world.root) is None


# T6 reindex


@pytest.mark.shows("ISS-INDEX-STABILITY-R1", "ISS-INDEX-STABILITY-R4", "ISS-INDEX-STABILITY-R5")
@pytest.mark.parametrize("forced", ["reindex", "create force"])
@pytest.mark.parametrize(
    ("local", "proof"),
    [
        pytest.param("NF", "V", id="ISS-INDEX-STABILITY-R1-NF"),
        pytest.param("FAIL", "V", id="ISS-INDEX-STABILITY-R1-FAIL"),
        pytest.param("RR", "V", id="ISS-INDEX-STABILITY-R1-RR"),
        pytest.param("FPX", "V", id="ISS-INDEX-STABILITY-R1-FPX"),
        pytest.param("RDY", "V", id="ISS-INDEX-STABILITY-R4"),
        pytest.param("RDY", "PF", id="ISS-INDEX-STABILITY-R5-PF"),
        pytest.param("RDY", "FM", id="ISS-INDEX-STABILITY-R5-FM"),
        *(pytest.param("RDY", r, id=f"ISS-INDEX-STABILITY-R5-{r}") for r in STALE),
    ],
)
def test_a_forced_build_always_proceeds(world: World, forced: str, local: str, proof: str) -> None:
    set_local(world, local)
    set_proof(world, proof)
    answer: Any = (
        manage_index(world.index, "reindex", world.root)
        if forced == "reindex"
        else manage_index(world.index, "create", world.root, force=True)
    )
    assert answer["status"] == "ok"
    assert "reason" not in answer
    assert "already indexed" not in answer["humanText"]
    world.backend.marker = "real"
    assert status_of(world)["status"] == "ok"


@pytest.mark.shows("ISS-INDEX-STABILITY-R6")
def test_iss_index_stability_r6_only_ignore_rules_changed(world: World) -> None:
    import subprocess

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-C", world.root, "-c", "user.name=t", "-c", "user.email=t@t", *words],
            check=True, capture_output=True,
        )  # fmt: skip

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "start")
    set_local(world, "RDY")
    world.write(".gitignore", "docs/\n")
    before = world.bytes_at_rest()
    answer: Any = manage_index(world.index, "reindex", world.root)
    assert (answer["status"], answer["reason"]) == ("blocked", "unnecessary_reindex_ignore_only")
    assert {"sync", "overrideReindex"} <= answer["hints"].keys()
    assert answer["warnings"][0]["code"] == "REINDEX_UNNECESSARY_IGNORE_ONLY"
    assert answer["preflight"]["confidence"] == "high"
    assert world.bytes_at_rest() == before
    arguments = answer["hints"]["overrideReindex"]["args"]
    assert arguments["allowUnnecessaryReindex"] is True
    again: Any = manage_index(world.index, "reindex", world.root, allow_unnecessary_reindex=True)
    assert again["status"] == "ok"
    world.write("src/cart.py", "def changed():\n    pass\n")
    assert manage_index(world.index, "reindex", world.root)["status"] == "ok"


# T7 sync


@pytest.mark.shows("ISS-INDEX-STABILITY-Y1", "ISS-INDEX-STABILITY-Y5", "ISS-INDEX-STABILITY-A5")
@pytest.mark.parametrize(
    ("local", "proof"),
    [
        pytest.param("NF", "V", id="ISS-INDEX-STABILITY-Y1-NF"),
        pytest.param("FAIL", "V", id="ISS-INDEX-STABILITY-Y1-FAIL"),
        *(pytest.param("RDY", r, id=f"ISS-INDEX-STABILITY-Y5-{r}") for r in STALE),
    ],
)
def test_sync_does_not_create(world: World, local: str, proof: str) -> None:
    set_local(world, local)
    set_proof(world, proof)
    before = world.bytes_at_rest()
    answer: Any = manage_index(world.index, "sync", world.root)
    assert (answer["status"], answer["reason"]) == ("not_indexed", "not_indexed")
    assert answer["hints"]["create"] == create_call(world.root)
    if proof in STALE:
        assert answer["hints"]["staleLocal"]["completionProof"] == proof
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-Y4", "ISS-INDEX-STABILITY-Y7")
@pytest.mark.parametrize("proof", [pytest.param("V", id="ISS-INDEX-STABILITY-Y4"),
                                   pytest.param("PF", id="ISS-INDEX-STABILITY-Y7")])  # fmt: skip
def test_sync_brings_the_index_up_to_date(world: World, proof: str) -> None:
    set_local(world, "RDY")
    set_proof(world, proof)
    world.write("src/new.py", "def refund():\n    pass\n")
    world.write("src/prices.py", "def price_of(item):\n    return 2\n")
    (world.tree / "docs/guide.md").unlink()
    answer: Any = manage_index(world.index, "sync", world.root)
    assert answer["status"] == "ok"
    assert "+1 -1 ~1" in answer["humanText"]
    assert answer["syncStats"]["added"] == 1
    assert ("debugProofCheck" in answer.get("hints", {})) is (proof == "PF")
    world.backend.marker = "real"
    told = status_of(world)
    assert "sync completed" in told["humanText"]
    world.later(10)
    again: Any = manage_index(world.index, "sync", world.root)
    assert "No changes detected" in again["humanText"]


@pytest.mark.shows("ISS-INDEX-STABILITY-Y7")
def test_iss_index_stability_y7_a_sync_that_fails_leaves_the_state_alone(world: World) -> None:
    set_local(world, "RDY")
    set_proof(world, "PF")
    world.backend.retrieval = world.backend.writing = "raise"
    before = world.bytes_at_rest()
    answer: Any = manage_index(world.index, "sync", world.root)
    assert answer["status"] == "error"
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-Y8", "ISS-INDEX-STABILITY-AC5")
def test_iss_index_stability_y8_a_tree_that_is_gone_stays_tracked(world: World) -> None:
    set_local(world, "RDY")
    world.tree.rename(world.tree.with_name("away"))
    before = world.bytes_at_rest()
    answer: Any = manage_index(world.index, "sync", world.root)
    assert answer["status"] == "error"
    assert "no longer exists" in answer["humanText"]
    assert "clear" in answer["humanText"]
    assert world.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-Y8")
def test_iss_index_stability_y8_an_empty_mount_point_is_not_a_thousand_deletions(
    world: World,
) -> None:
    set_local(world, "RDY")
    world.tree.rename(world.tree.with_name("away"))
    world.tree.mkdir()
    answer: Any = manage_index(world.index, "sync", world.root)
    assert answer["status"] == "error"
    assert "shows no files" in answer["humanText"]
    answer = search(world.index, world.root)
    assert answer["status"] == "ok"
    assert answer["freshnessDecision"]["mode"] == "skipped_missing_path"
    assert answer["results"]


@pytest.mark.parametrize(
    ("action", "options"),
    [
        ("reindex", {}),
        ("reindex", {"allow_unnecessary_reindex": True}),
        ("create", {"force": True}),
    ],
)
@pytest.mark.parametrize("state", ["RDY", "FPM", "untracked"])
@pytest.mark.shows("INDEX-EMPTIED-ROOT")
def test_a_rebuild_never_publishes_an_emptied_tree_over_its_index(
    world: World, action: Any, options: dict[str, Any], state: str
) -> None:
    # A reindex of an unmounted tree used to replace the index with one of 0 files.
    make_ready(world)
    if state == "FPM":
        world.index.schema_version = "later"
    elif state == "untracked":
        world.index.registry.change(world.root, lambda now: None)
    marker = world.backend.inner.read_marker(world.root)
    world.tree.rename(world.tree.with_name("away"))
    world.tree.mkdir()
    manage_index(world.index, action, world.root, **options)
    status: Any = manage_index(world.index, "status", world.root)
    assert "shows no files" in status["humanText"]
    assert world.backend.inner.read_marker(world.root) == marker
    world.tree.rmdir()
    world.tree.with_name("away").rename(world.tree)
    if state == "FPM":
        manage_index(world.index, action, world.root, **options)
    assert search(world.index, world.root)["results"]


@pytest.mark.shows("INDEX-EMPTIED-ROOT")
def test_an_emptied_tree_can_be_indexed_after_its_index_is_cleared(world: World) -> None:
    make_ready(world)
    world.tree.rename(world.tree.with_name("away"))
    world.tree.mkdir()
    refused: Any = manage_index(world.index, "sync", world.root)
    assert "reindex" not in refused["hints"]
    manage_index(world.index, **refused["hints"]["clear"]["args"])
    manage_index(world.index, "create", world.root)
    assert manage_index(world.index, "status", world.root)["status"] == "ok"


# T8 clear


@pytest.mark.shows("ISS-INDEX-STABILITY-D1")
def test_iss_index_stability_d1_nothing_to_clear(world: World) -> None:
    answer: Any = manage_index(world.index, "clear", world.root)
    assert (answer["status"], answer["reason"]) == ("not_indexed", "not_indexed")
    assert answer["hints"]["create"] == create_call(world.root)


@pytest.mark.shows("ISS-INDEX-STABILITY-D3", "ISS-INDEX-STABILITY-A6")
@pytest.mark.parametrize("local", ["RDY", "SYNCED", "FPX", "RR", "FAIL"],
                         ids=lambda v: f"ISS-INDEX-STABILITY-D3-{v}")  # fmt: skip
def test_clear_forgets_the_root_and_its_generation(world: World, local: str) -> None:
    set_local(world, local)
    world.backend.probes = 0
    answer: Any = manage_index(world.index, "clear", world.root)
    assert answer["status"] == "ok"
    assert "0 codebases remain" in answer["humanText"]
    assert world.membership() == []
    assert world.backend.probes == 0
    assert world.backend.inner.read_marker(world.root) is None


@pytest.mark.shows("ISS-INDEX-STABILITY-D4")
def test_iss_index_stability_d4_a_failed_drop_keeps_the_entry(world: World) -> None:
    set_local(world, "RDY")
    world.backend.writing = "raise"
    before = world.bytes_at_rest()
    answer: Any = manage_index(world.index, "clear", world.root)
    assert answer["status"] == "error"
    assert world.bytes_at_rest() == before


# T9 list_codebases


@pytest.mark.shows(
    "ISS-INDEX-STABILITY-L1", "ISS-INDEX-STABILITY-L2", "ISS-INDEX-STABILITY-L3",
    "ISS-INDEX-STABILITY-L4", "ISS-INDEX-STABILITY-L5", "ISS-INDEX-STABILITY-L6",
    "ISS-INDEX-STABILITY-L7", "ISS-INDEX-STABILITY-L8",
)  # fmt: skip
@pytest.mark.parametrize(
    ("local", "proof", "section", "suffix"),
    [
        pytest.param("RDY", "V", "Ready", "", id="ISS-INDEX-STABILITY-L1"),
        pytest.param("RDY", "PF", "Ready", " (completion-proof probe failed)",
                     id="ISS-INDEX-STABILITY-L2"),
        *(pytest.param("RDY", r, "Failed", f" (stale_local:{r})",
                       id=f"ISS-INDEX-STABILITY-L3-{r}") for r in STALE),
        pytest.param("RDY", "FM", "Requires Reindex", " (completion_proof_fingerprint_mismatch)",
                     id="ISS-INDEX-STABILITY-L4"),
        pytest.param("RR", "V", "Requires Reindex", " (fingerprint_mismatch)",
                     id="ISS-INDEX-STABILITY-L5"),
        pytest.param("FPX", "V", "Requires Reindex", " (fingerprint_mismatch)",
                     id="ISS-INDEX-STABILITY-L6"),
        pytest.param("IX", "V", "Indexing", " (42.0%)", id="ISS-INDEX-STABILITY-L7"),
        pytest.param("FAIL", "V", "Failed", " (the disk was full)", id="ISS-INDEX-STABILITY-L8"),
    ],
)  # fmt: skip
def test_the_list_shows_each_root_in_its_section(
    world: World, local: str, proof: str, section: str, suffix: str
) -> None:
    asked = Asked(world, local, proof)
    answer = list_codebases(world.index)
    assert answer["text"] == (
        f"## Codebases\n\n### {section}\n- {world.root}{suffix}\n\nTotal tracked: 1"
    )
    assert answer["total"] == 1
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-L6")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"fingerprint_source": ASSUMED}, "legacy_unverified_fingerprint"),
     ({"fingerprint": None}, "missing_fingerprint")],
)  # fmt: skip
def test_iss_index_stability_l6_every_way_a_fingerprint_can_be_wrong(
    world: World, changes: dict[str, Any], reason: str
) -> None:
    make_ready(world)
    record = world.index.registry.find(world.root)
    assert record is not None
    world.put_record(record.state, **changes)
    asked = Asked(world, "NF")
    assert f"({reason})" in list_codebases(world.index)["text"]
    assert search(world.index, world.root)["compatibility"]["reindexReason"] == reason
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-L9")
def test_iss_index_stability_l9_nothing_tracked(world: World) -> None:
    text = list_codebases(world.index)["text"]
    assert text.startswith("No codebases are currently tracked.")
    assert "create" in text


@pytest.mark.shows("ISS-INDEX-STABILITY-T9-ORDER")
def test_the_list_is_sorted_by_section_and_by_bytes(world: World) -> None:
    for name in ("b", "a", "Z"):
        (world.tree.parent / name).mkdir()
        manage_index(world.index, "create", str(world.tree.parent / name))
    world.put_record(Indexing("run_x", 3.0))
    text = list_codebases(world.index)["text"]
    order = [line.rsplit("/", 1)[1] for line in text.splitlines() if line.startswith("- ")]
    assert order == ["Z", "a", "b", "repo (3.0%)"]
    assert "Total tracked: 4" in text


# T10 read_file


def read(world: World, **arguments: Any) -> Any:
    return read_file(world.index, f"{world.root}/src/cart.py", **arguments)


@pytest.mark.shows("ISS-INDEX-STABILITY-RF1")
@pytest.mark.parametrize("local", ["NF", "RDY", "FAIL", "RR"])
def test_iss_index_stability_rf1_plain_text_needs_no_proof(world: World, local: str) -> None:
    asked = Asked(world, local, "PF")
    answer = read(world)
    assert answer["status"] == "ok"
    assert "def total_price" in answer["content"]
    assert world.backend.probes == 0
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-RF2")
@pytest.mark.parametrize("mode", ["plain", "annotated"])
def test_iss_index_stability_rf2_a_build_keeps_readers_waiting(world: World, mode: str) -> None:
    asked = Asked(world, "IX")
    answer = read(world, mode=mode)
    assert (answer["status"], answer["reason"]) == ("not_ready", "indexing")
    assert answer["codebaseRoot"] == world.root
    assert "status" in answer["hints"]
    assert answer["indexing"]["progressPct"] == 42.0
    assert "content" not in answer
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-RF3")
@pytest.mark.parametrize("proof", ["V", "PF"])
def test_iss_index_stability_rf3_annotated_text_of_an_open_root(world: World, proof: str) -> None:
    asked = Asked(world, "RDY", proof)
    answer = read(world, mode="annotated")
    assert answer["outlineStatus"] == "ok"
    assert [s["name"] for s in answer["outline"]["symbols"]] == ["add_item", "total_price"]
    assert ("debugProofCheck" in answer.get("hints", {})) is (proof == "PF")
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-RF4", "ISS-INDEX-STABILITY-RF5")
@pytest.mark.parametrize(
    ("local", "proof", "status", "hint"),
    [
        *(pytest.param("RDY", r, "not_indexed", "staleLocal", id=f"ISS-INDEX-STABILITY-RF4-{r}")
          for r in STALE),
        pytest.param("RDY", "FM", "requires_reindex", "reindex", id="ISS-INDEX-STABILITY-RF5-FM"),
        pytest.param("RR", "V", "requires_reindex", "reindex", id="ISS-INDEX-STABILITY-RF5-RR"),
        pytest.param("FPX", "V", "requires_reindex", "reindex", id="ISS-INDEX-STABILITY-RF5-FPX"),
    ],
)  # fmt: skip
def test_text_is_read_though_its_outline_is_refused(
    world: World, local: str, proof: str, status: str, hint: str
) -> None:
    asked = Asked(world, local, proof)
    answer = read(world, mode="annotated")
    assert "def total_price" in answer["content"]
    assert (answer["outlineStatus"], answer["outline"]) == (status, None)
    assert hint in answer["hints"]
    asked.check()


@pytest.mark.shows("ISS-INDEX-STABILITY-RF6", "ISS-INDEX-STABILITY-RF7",
                   "ISS-INDEX-STABILITY-RF8")  # fmt: skip
@pytest.mark.parametrize(
    ("local", "proof", "status", "hint"),
    [
        *(pytest.param("RDY", r, "not_indexed", "staleLocal", id=f"ISS-INDEX-STABILITY-RF6-{r}")
          for r in STALE),
        pytest.param("RDY", "FM", "requires_reindex", "reindex", id="ISS-INDEX-STABILITY-RF7"),
        pytest.param("NF", "V", "requires_reindex", "nextSteps", id="ISS-INDEX-STABILITY-RF8"),
    ],
)  # fmt: skip
def test_a_symbol_is_not_opened_without_proof(
    world: World, local: str, proof: str, status: str, hint: str
) -> None:
    asked = Asked(world, local, proof)
    answer = read(world, symbol_label="total_price")
    assert answer["isError"] is True
    assert answer["status"] == status
    assert hint in answer["hints"]
    assert "content" not in answer
    asked.check()


def test_a_symbol_is_opened_exactly(world: World) -> None:
    Asked(world, "RDY")
    answer = read(world, symbol_label="total_price")
    assert answer["content"].startswith("def total_price")
