"""Session files of every agent, as they really look and as they should not."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.home import Home
from holdfast.reading import scope as scopes
from holdfast.reading.errors import NoSuchSession, NotOurs
from holdfast.reading.events import (
    Anchored,
    Derived,
    Hunk,
    Patched,
    Place,
    Refreshed,
    Replaced,
)
from holdfast.reading.hosts import detect, native, sidecar
from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.hosts.codex import CodexLog
from holdfast.reading.hosts.native import FileLog, NativeSession
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.hosts.result_check import is_shown
from holdfast.reading.hosts.sidecar import Sidecar, text_digest
from holdfast.reading.meta import Meta
from holdfast.reading.result import Answer
from holdfast.reading.scope import WHOLE, Lines
from holdfast.reading.tree import Doubt, Evidence
from tests.reading.desk import Desk
from tests.reading.pi_session import PiSession

OTHER = "f" * 64
HASH = hashlib.sha256(b"text").hexdigest()
META = Meta("/w/a.py", WHOLE, HASH, "full", 3, 1, 3, 16)
HEADER = {"type": "session", "version": 3, "id": "s1", "cwd": "/w"}


def put(path: Path, *entries: Any, end: str = "\n") -> Path:
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    path.write_text("\n".join(lines) + end)
    return path


def held(host: Any) -> dict[str, list[str]]:
    """path -> scopes held, or a note that nothing is proved."""
    evidence = host.evidence()
    if isinstance(evidence, Doubt):
        return {"doubt": [evidence.why]}
    assert isinstance(evidence, Evidence)
    ledger = evidence.ledger
    return {path: [scopes.key(s) for s in ledger.scopes(path)] for path in ledger.paths()}


def read_entry(entry: str, parent: str | None, **change: Any) -> dict[str, Any]:
    message = {
        "role": "toolResult",
        "toolName": "read",
        "content": [{"type": "text", "text": "text"}],
        "details": {"readcache": META.as_json() | change},
    }
    return {"type": "message", "id": entry, "parentId": parent, "message": message}


# pi


@pytest.mark.shows("READ-PI-KINDS", "READ-PI-TREE")
def test_pi_kinds_of_tomorrow_are_walked_through(tmp_path: Path) -> None:
    path = put(
        tmp_path / "s.jsonl",
        HEADER,
        read_entry("a", None),
        {"type": "hologram", "id": "b", "parentId": "a", "shape": {"deep": [1, {"x": None}]}},
        {"type": "label", "id": "c", "parentId": "b", "targetId": "a", "label": "here"},
    )
    assert held(PiLog(path)) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-PI-V1")
def test_pi_version_1_is_a_list_without_ids(tmp_path: Path) -> None:
    first = {k: v for k, v in read_entry("a", None).items() if k not in ("id", "parentId")}
    header = {"type": "session", "id": "s1", "cwd": "/w"}
    user = {"type": "message", "message": {"role": "user", "content": "x"}}
    path = put(tmp_path / "s.jsonl", header, first, user)
    assert held(PiLog(path)) == {"/w/a.py": ["full"]}
    compaction = {"type": "compaction", "summary": "…", "firstKeptEntryIndex": 1}
    path = put(tmp_path / "s.jsonl", header, first, compaction, user)
    assert held(PiLog(path)) == {}


@pytest.mark.shows("READ-PI-V2")
def test_pi_version_2_is_read_like_3(tmp_path: Path) -> None:
    hook = {"type": "message", "id": "b", "parentId": "a", "message": {"role": "hookMessage"}}
    path = put(tmp_path / "s.jsonl", HEADER | {"version": 2}, read_entry("a", None), hook)
    assert held(PiLog(path)) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-PI-CONTEXT-EDIT", "READ-B05", "READ-X-38")
def test_pi_context_edits_take_trust_back_on_their_branch(tmp_path: Path) -> None:
    edit = {
        "type": "context_edit",
        "id": "b",
        "parentId": "a",
        "targetId": "a",
        "replacement": None,
    }
    other = {"type": "message", "id": "c", "parentId": "a", "message": {"role": "user"}}
    path = tmp_path / "s.jsonl"
    assert held(PiLog(put(path, HEADER, read_entry("a", None), edit))) == {}
    put(path, HEADER, read_entry("a", None), edit | {"replacement": {"content": "x"}})
    assert held(PiLog(path)) == {}
    put(path, HEADER, read_entry("a", None), edit, other)
    assert held(PiLog(path)) == {"/w/a.py": ["full"]}
    put(path, HEADER, read_entry("a", None), edit | {"targetId": 7})
    assert held(PiLog(path)) == {}, "an edit of nobody knows what"


@pytest.mark.shows("READ-PI-CONTEXT-EDIT")
@pytest.mark.parametrize("many", [False, True])
def test_pi_an_edit_of_what_called_a_read_takes_the_read_along(tmp_path: Path, many: bool) -> None:
    """An edit hid the entry it names. The results of a call that was taken out have no call any
    more, and whether the model still sees them nobody says."""
    called = {"role": "assistant", "content": [{"type": "toolCall", "id": "t", "name": "read"}]}
    bash = {"role": "toolResult", "toolName": "bash", "content": []}
    entries: list[Any] = [
        {"type": "message", "id": "a", "parentId": None, "message": called},
        read_entry("b", "a"),
        {"type": "message", "id": "c", "parentId": "b", "message": bash},
        {"type": "custom_message", "id": "d", "parentId": "c", "content": "x"},
    ]
    if many:  # decoded at once
        entries += [
            {"type": "label", "id": f"l{n}", "parentId": f"l{n - 1}" if n else "d"}
            for n in range(20)
        ]
    above = entries[-1]["id"]
    for target, known in (("a", {}), ("b", {}), ("c", {"/w/a.py": ["full"]}), ("d", None)):
        edit = {"type": "context_edit", "id": "e", "parentId": above, "targetId": target}
        log = PiLog(put_compact(tmp_path / "s.jsonl", HEADER, *entries, edit))
        assert held(log) == ({"/w/a.py": ["full"]} if known is None else known), target


def put_compact(path: Path, *entries: Any) -> Path:
    """As pi writes: without blanks."""
    lines = [json.dumps(entry, separators=(",", ":")) for entry in entries]
    return put(path, *lines)


@pytest.mark.shows("READ-PI-V1")
def test_pi_version_1_has_nothing_before_a_damaged_line(tmp_path: Path) -> None:
    """Entries without ids follow each other, so a damaged one was as if it had never been. It may
    have been a compaction."""
    first = {k: v for k, v in read_entry("a", None).items() if k not in ("id", "parentId")}
    header = {"type": "session", "id": "s1", "cwd": "/w"}
    user = {"type": "message", "message": {"role": "user", "content": "x"}}
    path = put(tmp_path / "s.jsonl", header, first, '{"type":"compac', user)
    assert held(PiLog(path)) == {}
    path = put(tmp_path / "s.jsonl", header, '{"type":"compac', first, user)
    assert held(PiLog(path)) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-PI-LEAF")
def test_pi_a_half_written_or_damaged_last_line_proves_nothing(tmp_path: Path) -> None:
    path = put(tmp_path / "s.jsonl", HEADER, read_entry("a", None))
    log = PiLog(path)
    assert held(log) == {"/w/a.py": ["full"]}
    entry = json.dumps({"type": "compaction", "id": "c", "parentId": "a"})
    with path.open("a") as file:
        file.write(entry[:20])
    assert "doubt" in held(log)
    with path.open("a") as file:
        file.write(entry[20:])
    assert held(log) == {}, "whole, though its newline is missing"
    with path.open("a") as file:
        file.write("\n" + json.dumps(read_entry("d", "c")) + "\n")
    assert held(log) == {"/w/a.py": ["full"]}
    with path.open("a") as file:
        file.write('{"damaged": \n')
    assert "doubt" in held(log)
    with path.open("a") as file:
        file.write("\n\n")
    assert "doubt" in held(log), "blank lines tell nothing"
    with path.open("a") as file:
        file.write(json.dumps({"type": "label", "id": "e", "parentId": "d"}) + "\n")
    assert held(log) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-PI-TREE")
def test_pi_orphans_and_cycles_are_survived(tmp_path: Path) -> None:
    user = {"type": "message", "message": {"role": "user"}}
    path = put(
        tmp_path / "s.jsonl",
        HEADER,
        read_entry("a", None),
        user | {"id": "self", "parentId": "self"},
        user | {"id": "x", "parentId": "y"},
        user | {"id": "y", "parentId": "x"},
        read_entry("o", "nowhere", pathKey="/w/o.py"),
    )
    assert held(PiLog(path)) == {"/w/o.py": ["full"]}


@pytest.mark.shows("READ-PI-HEADER")
@pytest.mark.parametrize(
    "first",
    [
        {"type": "message", "id": "x"},
        {"type": "session"},
        {"type": "session", "id": 7},
        {"type": "session", "id": "s", "version": True},
        [1],
        "",
    ],
)
def test_pi_a_file_without_its_header_is_no_session(tmp_path: Path, first: Any) -> None:
    path = put(tmp_path / "s.jsonl", first, read_entry("a", None))
    assert "doubt" in held(PiLog(path))
    with pytest.raises(NoSuchSession):
        PiSession.open(str(path), now_ms=lambda: 1, new_id=lambda: "x")


@pytest.mark.shows("READ-PI-READONLY")
def test_pi_a_file_of_pis_is_only_read(tmp_path: Path) -> None:
    path = put(tmp_path / "s.jsonl", HEADER)
    before = path.read_bytes()
    with pytest.raises(NotOurs):
        PiLog(path).refresh(Refreshed("/w/a.py", WHOLE), 1)
    assert path.read_bytes() == before
    assert "doubt" in held(PiLog(tmp_path / "gone.jsonl"))


@pytest.mark.shows("READ-PI-FOLLOW")
def test_pi_a_rewritten_file_is_read_anew(tmp_path: Path) -> None:
    path = put(tmp_path / "s.jsonl", HEADER, read_entry("a", None))
    log = PiLog(path)
    assert held(log) == {"/w/a.py": ["full"]}
    put(path, HEADER, read_entry("a", None, pathKey="/w/longer-name.py"), read_entry("b", "a"))
    assert held(log) == {"/w/longer-name.py": ["full"], "/w/a.py": ["full"]}
    put(tmp_path / "new.jsonl", HEADER)
    os.replace(tmp_path / "new.jsonl", path)
    assert held(log) == {}


@pytest.mark.shows("READ-PI-WRITE")
def test_pi_a_session_of_ours_is_written_as_pi_writes(desk: Desk) -> None:
    desk.session = desk.new_session("own", on_disk=True)
    desk.write("a.txt", "é\u2028x\ny")
    desk.read("a.txt")
    assert desk.session.path is not None
    path = Path(desk.session.path)
    header, entry = (json.loads(line) for line in path.read_text().removesuffix("\n").split("\n"))
    assert (header["type"], header["version"], header["id"]) == ("session", 3, "own")
    assert entry["parentId"] is None
    assert entry["timestamp"].endswith("Z")
    assert "é\u2028x" in path.read_text(), "raw, not escaped"
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    session = PiSession.open(str(path), now_ms=desk.now_ms, new_id=desk.new_id)
    session.append("message", message={"role": "user", "content": "x"})
    assert len(path.read_bytes().split(b"\n")) == 4, "the newline another writer forgot is added"
    assert "doubt" not in held(PiLog(path))


@pytest.mark.shows("READ-PI-SURROGATES")
def test_pi_halves_of_surrogate_pairs_do_not_hide_an_entry(tmp_path: Path) -> None:
    entry = json.dumps(read_entry("a", None, servedHash=text_digest("\ud83d")))
    entry = entry.replace('"text": "text"', '"text": "\\ud83d"')
    path = put(tmp_path / "s.jsonl", HEADER, entry)
    assert held(PiLog(path)) == {"/w/a.py": ["full"]}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = [
    "type",
    "id",
    "parentId",
    "message",
    "targetId",
    "customType",
    "data",
    "uuid",
    "parentUuid",
    "payload",
    "subtype",
    "sessionId",
    "kind",
    "parent",
    "v",
    "to",
    "meta",
    "call",
    "after",
]
WORDS = [
    "message",
    "compaction",
    "context_edit",
    "custom",
    "user",
    "assistant",
    "system",
    "response_item",
    "a",
    "read",
    "move",
    "session",
]
hostile_entries = st.dictionaries(
    st.sampled_from(KEYS), json_values | st.sampled_from(WORDS), max_size=6
)
hostile_lines = hostile_entries.map(lambda entry: json.dumps(entry).encode())


@pytest.mark.shows("READ-BAD-SESSIONS")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(
        hostile_entries.map(lambda e: json.dumps(e).encode()) | st.binary(max_size=40), max_size=8
    ),
    st.sampled_from(["pi", "native", "claude-code", "codex"]),
    st.booleans(),
)
def test_hostile_session_files_raise_nothing(
    tmp_path: Path, lines: list[bytes], kind: str, grown: bool
) -> None:
    heads: dict[str, dict[str, Any]] = {
        "pi": HEADER,
        "native": {"format": "holdfast-session", "v": 1, "session": "s"},
        "codex": {"type": "session_meta", "payload": {"id": "s"}},
        "claude-code": {"type": "user", "uuid": "u", "parentUuid": None},
    }
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(json.dumps(heads[kind]).encode() + b"\n" + b"\n".join(lines[:4]))
    host = detect.open_host(
        str(path), Home(tmp_path), now_ms=lambda: 1, new_id=lambda: "n", kind=kind, newest_leaf=True
    )
    held(host)
    if grown:
        with path.open("ab") as file:
            file.write(b"\n".join(lines[4:]) + b"\n")
        held(host)
    side = Sidecar(path)
    side.catch_up()


# Claude Code


def line(uuid: str, parent: str | None, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "c", **fields}


def call(uuid: str, parent: str | None, use: str, name: str = "Read", message: str = "m") -> Any:
    block = {"type": "tool_use", "id": use, "name": name, "input": {"file_path": "/w/a.py"}}
    return line(uuid, parent, "assistant", message={"id": message, "content": [block]})


def native_result(uuid: str, parent: str, use: str, text: str, **file: Any) -> Any:
    rows = text.removesuffix("\n").split("\n")
    shown = "\n".join(f"{n}\t{row}" for n, row in enumerate(rows, 1))
    facts = {"filePath": "/w/a.py", "content": text, "startLine": 1} | {
        "numLines": len(rows), "totalLines": len(rows),
    } | file  # fmt: skip
    block = {"type": "tool_result", "tool_use_id": use, "content": facts.pop("shown", shown)}
    return line(
        uuid,
        parent,
        "user",
        message={"content": [block]},
        toolUseResult={"type": file.get("type", "text"), "file": facts},
    )


def claude(tmp_path: Path, *lines: Any, at: str | None = "t9") -> ClaudeCodeLog:
    path = put(tmp_path / "c.jsonl", *lines)
    return ClaudeCodeLog(path, Sidecar(tmp_path / "side.jsonl"), call=at)


PENDING = call("z", "r", "t9", "mcp__holdfast__read", "m9")


@pytest.mark.shows("READ-CC-NATIVE")
def test_claude_a_whole_native_read_is_an_anchor(tmp_path: Path) -> None:
    log = claude(
        tmp_path, call("a", None, "t1"), native_result("r", "a", "t1", "x = 1\ny = 2\n"), PENDING
    )
    evidence = log.evidence()
    assert isinstance(evidence, Evidence)
    trust = evidence.ledger.trusted("/w/a.py", WHOLE)
    assert trust is not None
    assert trust.digest == hashlib.sha256(b"x = 1\ny = 2\n").hexdigest()


@pytest.mark.shows("READ-CC-NATIVE")
@pytest.mark.parametrize(
    "file",
    [
        {"totalLines": 5},
        {"startLine": 2},
        {"truncatedByTokenCap": True},
        {"shown": "1\tx = 1"},
        {"shown": "<persisted-output>…"},
        {"shown": "1\tx = 1\n2\ty = 3"},
        {"type": "file_unchanged"},
        {"filePath": 7},
        {"filePath": "relative.py"},
        {"numLines": True},
        {"content": None},
    ],
)
def test_claude_anything_else_is_none(tmp_path: Path, file: dict[str, Any]) -> None:
    result = native_result("r", "a", "t1", "x = 1\ny = 2\n", **file)
    assert held(claude(tmp_path, call("a", None, "t1"), result, PENDING)) == {}


@pytest.mark.shows("READ-CC-LEAF")
def test_claude_without_the_pending_call_the_leaf_is_a_guess(tmp_path: Path) -> None:
    lines = [call("a", None, "t1"), native_result("r", "a", "t1", "x\n")]
    assert "doubt" in held(claude(tmp_path, *lines, at=None))
    assert "doubt" in held(claude(tmp_path, *lines, at="t9"))
    assert held(claude(tmp_path, *lines, PENDING)) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-CC-REWIND")
def test_claude_a_rewound_branch_is_not_seen(tmp_path: Path) -> None:
    start = line("s", None, "user", message={"content": "go"})
    log = claude(
        tmp_path,
        start,
        call("a", "s", "t1"),
        native_result("r", "a", "t1", "x\n"),
        line("again", "s", "user", message={"content": "another way"}),
        call("z", "again", "t9"),
    )
    assert held(log) == {}


@pytest.mark.shows("READ-CC-PARALLEL")
def test_claude_results_of_parallel_calls_are_all_seen(tmp_path: Path) -> None:
    other = native_result("r2", "a2", "t2", "y\n", filePath="/w/b.py")
    lines = [call("a1", None, "t1"), call("a2", "a1", "t2"), other]
    first = native_result("r1", "a1", "t1", "x\n")
    both = claude(tmp_path, *lines, first, call("z", "r2", "t9", message="m9"))
    assert set(held(both)) == {"/w/a.py", "/w/b.py"}
    unanswered = claude(tmp_path, *lines, first, line("u", "a2", "user"), call("z", "u", "t9"))
    assert held(unanswered) == {}, "no result of that message is on this path"


@pytest.mark.shows("READ-CC-COMPACT")
def test_claude_a_compact_boundary_ends_trust(tmp_path: Path) -> None:
    log = claude(
        tmp_path,
        call("a", None, "t1"),
        native_result("r", "a", "t1", "x\n"),
        line("b", "r", "system", subtype="compact_boundary", logicalParentUuid="r",
             compactMetadata={"preservedMessages": {"uuids": ["r"]}}),
        line("u", "b", "user", isCompactSummary=True, message={"content": "…"}),
        call("z", "u", "t9"),
    )  # fmt: skip
    assert held(log) == {}


@pytest.mark.shows("READ-CC-MICRO")
def test_claude_micro_compaction_blanks_results_by_call(tmp_path: Path) -> None:
    lines = [call("a", None, "t1"), native_result("r0", "a", "t1", "x\n")]
    blank = line("r", "r0", "system", subtype="microcompact_boundary")
    listed = blank | {"microcompactMetadata": {"compactedToolIds": ["t1"]}}
    assert held(claude(tmp_path, *lines, listed, PENDING)) == {}
    others = blank | {"microcompactMetadata": {"compactedToolIds": ["t7"]}}
    assert held(claude(tmp_path, *lines, others, PENDING)) == {"/w/a.py": ["full"]}
    assert held(claude(tmp_path, *lines, blank, PENDING)) == {}, "which ones, nobody says"


@pytest.mark.shows("READ-CC-COMPACT")
def test_claude_a_summary_ends_trust_whatever_stands_above_it(tmp_path: Path) -> None:
    """Only the boundary ended trust. A summary that hangs below the old conversation, its boundary
    being elsewhere or of another name, let everything before it count."""
    log = claude(
        tmp_path,
        call("a", None, "t1"),
        native_result("r", "a", "t1", "x\n"),
        line("b", "r", "system", subtype="compact_boundary", logicalParentUuid="r"),
        line("u", "r", "user", isCompactSummary=True, message={"content": "…"}),
        call("z", "u", "t9"),
    )
    assert held(log) == {}


@pytest.mark.shows("READ-CC-COMPACT")
@pytest.mark.parametrize("again", [False, True])
def test_claude_what_hangs_below_kept_lines_does_not_lead_past_a_compaction(
    tmp_path: Path, again: bool
) -> None:
    """Kept messages are not written again, and the next line hangs below the last of them. The walk
    went on above it, so that everything from before the compaction counted."""
    kept = line("k", "r", "user", message={"content": "kept"})
    log = claude(
        tmp_path,
        call("a", None, "t1"),
        native_result("r", "a", "t1", "x\n"),
        kept,
        line("b", None, "system", subtype="compact_boundary", logicalParentUuid="k",
             compactMetadata={"preservedMessages": {"uuids": ["k"]}}),
        line("u", "b", "user", isCompactSummary=True, message={"content": "…"}),
        *([kept] if again else []),
        call("z", "k", "t9"),
    )  # fmt: skip
    assert held(log) == {}


@pytest.mark.shows("READ-CC-LEAF")
def test_claude_a_call_that_waited_for_an_hour_proves_nothing(tmp_path: Path) -> None:
    """Older results are cleared after a pause, also when it was the user's. A call that waits for
    leave is the last line of the log, so no later line shows the time."""
    then = "2026-11-01T12:00:00Z"
    pending = PENDING | {"timestamp": then}
    log = claude(tmp_path, call("a", None, "t1"), native_result("r", "a", "t1", "x\n"), pending)
    at = datetime.fromisoformat(then).timestamp()
    log.now_s = at + 60
    assert held(log) == {"/w/a.py": ["full"]}
    log.now_s = at + 3601
    assert "doubt" in held(log)


@pytest.mark.shows("READ-CC-LEAF")
@pytest.mark.parametrize(
    "later",
    [
        [],
        [call("b", "r", "t2"), native_result("r2", "b", "t2", "y\n")],
        [line("b", None, "system", subtype="compact_boundary", logicalParentUuid="r")],
        [line("u", None, "user", isCompactSummary=True, message={"content": "…"})],
    ],
)
def test_claude_the_turn_before_is_only_the_one_with_nothing_behind_it(
    tmp_path: Path, later: list[Any]
) -> None:
    """An agent reports each turn, and a report may get lost: what was reported last was then taken
    for the newest, although the log showed another read or a compaction behind it."""
    log = claude(tmp_path, call("a", None, "t1"), native_result("r", "a", "t1", "x\n"), *later)
    log.after = ("t1",)
    assert ("doubt" in held(log)) == bool(later)


@pytest.mark.shows("READ-CC-MICRO")
def test_claude_micro_compaction_counts_beside_the_path_too(tmp_path: Path) -> None:
    """It blanks results in the context, and need not stand on the way from the pending call."""
    lines = [call("a", None, "t1"), native_result("r", "a", "t1", "x\n")]
    blank = line("m", "r", "system", subtype="microcompact_boundary")
    listed = blank | {"microcompactMetadata": {"compactedToolIds": ["t1"]}}
    assert held(claude(tmp_path, *lines, listed, PENDING)) == {}
    assert held(claude(tmp_path, *lines, blank, PENDING)) == {}, "which ones, nobody says"
    others = blank | {"microcompactMetadata": {"compactedToolIds": ["t7"]}}
    assert held(claude(tmp_path, *lines, others, PENDING)) == {"/w/a.py": ["full"]}
    elsewhere = listed | {"isSidechain": True}
    assert held(claude(tmp_path, *lines, elsewhere, PENDING)) == {}, "it may be ours all the same"


@pytest.mark.shows("READ-CC-MICRO")
def test_claude_results_that_were_put_into_files_do_not_count(tmp_path: Path) -> None:
    """The transcript keeps a long result, and a line outside the tree tells what the model is
    shown in its place. That line was passed over."""
    lines = [call("a", None, "t1"), native_result("r", "a", "t1", "x\n"), PENDING]
    told: dict[str, Any] = {"type": "content-replacement", "sessionId": "c"}
    for replacements, known in (
        ([{"kind": "tool-result", "toolUseId": "t1", "replacement": "…"}], {}),
        ([{"kind": "tool-result", "toolUseId": "t7", "replacement": "…"}], {"/w/a.py": ["full"]}),
        ([], {"/w/a.py": ["full"]}),
        ([{"kind": "of tomorrow"}], {}),
        (None, {}),
    ):
        log = claude(tmp_path, *lines[:2], told | {"replacements": replacements}, PENDING)
        assert held(log) == known, replacements
    log = claude(tmp_path, *lines)
    assert held(log) == {"/w/a.py": ["full"]}
    with open(log.path, "a") as file:
        file.write(json.dumps(told | {"replacements": [{"toolUseId": "t1"}]}) + "\n")
    assert held(log) == {}, "told after the pending call"


@pytest.mark.shows("READ-CC-BOUND")
def test_claude_trust_ends_at_a_long_rest(tmp_path: Path) -> None:
    """After an hour without a word old results are cleared, and no line says so."""
    lines = [call("a", None, "t1"), native_result("r", "a", "t1", "x\n"), PENDING]
    at = ["2026-05-04T09:00:00.000Z", "2026-05-04T09:00:01.000Z", "2026-05-04T09:20:00.000Z"]
    timed = [one | {"timestamp": time} for one, time in zip(lines, at, strict=True)]
    assert held(claude(tmp_path, *timed)) == {"/w/a.py": ["full"]}
    timed[2]["timestamp"] = "2026-05-04T10:01:00.000Z"
    assert held(claude(tmp_path, *timed)) == {}
    timed[2]["timestamp"] = "no time"
    assert held(claude(tmp_path, *timed)) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-CC-LEAF")
def test_claude_nothing_before_a_damaged_line_counts(tmp_path: Path) -> None:
    """A damaged line was forgotten with the next good one. It may have been a compaction."""
    lines = [call("a", None, "t1"), native_result("r", "a", "t1", "x\n")]
    log = claude(tmp_path, *lines, '{"type":"system","subtype":"micro', PENDING)
    assert held(log) == {}
    log = claude(tmp_path, '{"type":', *lines, PENDING)
    assert held(log) == {"/w/a.py": ["full"]}
    with open(log.path, "a") as file:
        file.write('{"type":\n{"type":"summary"}\n')
    assert held(log) == {}


@pytest.mark.shows("READ-CC-SIDECHAIN")
def test_claude_side_chains_are_other_readers(tmp_path: Path) -> None:
    side = [
        call("a", None, "t1") | {"isSidechain": True},
        native_result("r", "a", "t1", "x\n") | {"isSidechain": True},
    ]
    main = call("z", None, "t9")
    assert held(claude(tmp_path, *side, main)) == {}
    log = claude(tmp_path, *side, PENDING | {"isSidechain": True})
    assert "doubt" in held(log)
    log.sidechain = True
    assert held(log) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-CC-DUPLICATES")
def test_claude_lines_appended_again_count_once(tmp_path: Path) -> None:
    first = native_result("r", "a", "t1", "x\n")
    again = first | {"parentUuid": "elsewhere", "message": {"content": []}}
    log = claude(tmp_path, call("a", None, "t1"), first, again, PENDING)
    assert held(log) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-CC-BOUND")
def test_claude_trust_ends_where_too_much_text_lies_between(tmp_path: Path) -> None:
    lines = [
        call("a", None, "t1"),
        native_result("r0", "a", "t1", "x\n"),
        line("r", "r0", "user", message={"content": "long " * 2000}),
        PENDING,
    ]
    log = claude(tmp_path, *lines)
    assert held(log) == {"/w/a.py": ["full"]}
    near = ClaudeCodeLog(log.path, call="t9", bytes_back_max=5_000)
    assert held(near) == {}


@pytest.mark.shows("READ-CC-BOUND")
def test_claude_results_of_parallel_calls_lie_between_too(tmp_path: Path) -> None:
    """Only lines on the path were counted: ten long results beside it weighed nothing."""
    lines = [call("a", None, "t1"), native_result("r0", "a", "t1", "x\n")]
    above = "r0"
    for n in range(10):
        lines.append(call(f"c{n}", above, f"p{n}", message="m2"))
        above = f"c{n}"
    lines += [our_result(f"d{n}", f"c{n}", f"p{n}", "long " * 2000) for n in range(9)]
    lines += [our_result("r", "c9", "p9", "short"), PENDING]
    log = claude(tmp_path, *lines)
    assert held(log) == {"/w/a.py": ["full"]}
    near = ClaudeCodeLog(log.path, call="t9", bytes_back_max=50_000)
    assert held(near) == {}


@pytest.mark.shows("READ-OVERLAY", "READ-CC-SIDECAR")
def test_claude_no_answer_counts_before_the_transcript_shows_it(tmp_path: Path) -> None:
    """Two calls in one line: the second was *unchanged* because the first had been answered."""
    pending = call("z", None, "t8")
    pending["message"]["content"].append(pending["message"]["content"][0] | {"id": "t9"})
    log = claude(tmp_path, pending, at="t8")
    desk = Desk(tmp_path)
    desk.write("a.txt", "one\ntwo\n")
    assert desk.ask("a.txt", log).mode == "full"
    log.call = "t9"
    assert desk.ask("a.txt", log).mode == "full"


def answer(text: str = "text") -> Answer:
    return Answer(text, META)


def our_result(uuid: str, parent: str, use: str, text: str) -> Any:
    block = {
        "type": "tool_result",
        "tool_use_id": use,
        "content": [{"type": "text", "text": text}],
    }
    return line(uuid, parent, "user", message={"content": [block]})


@pytest.mark.shows("READ-CC-SIDECAR")
def test_claude_our_own_results_count_when_the_text_is_the_one_we_gave(tmp_path: Path) -> None:
    ours = call("a", None, "t1", "mcp__holdfast__read")
    Sidecar(tmp_path / "side.jsonl").record("t1", answer())
    assert held(claude(tmp_path, ours, our_result("r", "a", "t1", "text"), PENDING)) == {
        "/w/a.py": ["full"]
    }
    assert held(claude(tmp_path, ours, our_result("r", "a", "t1", "other"), PENDING)) == {}


@pytest.mark.shows("READ-CC-SIDECAR")
def test_claude_a_refresh_goes_to_the_sidecar_and_counts_after_its_call(tmp_path: Path) -> None:
    lines = [call("a", None, "t1"), native_result("r", "a", "t1", "x\n"), PENDING]
    log = claude(tmp_path, *lines)
    log.refresh(Refreshed("/w/a.py", WHOLE), 5)
    assert held(log) == {}
    with pytest.raises(NotOurs):
        ClaudeCodeLog(log.path).refresh(Refreshed("/w/a.py", WHOLE), 5)
    elsewhere = claude(tmp_path, *lines[:2], call("y", "r", "t8"), at="t8")
    assert held(elsewhere) == {"/w/a.py": ["full"]}


# Codex


def item(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "t", "type": kind, "payload": payload}


def output(use: str, value: Any) -> dict[str, Any]:
    return item("response_item", {"type": "function_call_output", "call_id": use, "output": value})


def rollout(tmp_path: Path, *items: Any, end: str = "\n") -> CodexLog:
    path = put(tmp_path / "r.jsonl", item("session_meta", {"id": "c"}), *items, end=end)
    return CodexLog(path, Sidecar(tmp_path / "side.jsonl"))


@pytest.mark.shows("READ-CODEX-SIDECAR")
@pytest.mark.parametrize(
    "value",
    [
        "text",
        {"content": "text", "success": True},
        [{"type": "text", "text": "text"}],
        json.dumps([{"type": "text", "text": "text"}]),
        json.dumps({"content": [{"type": "text", "text": "text"}]}),
        "Wall time: 0.0123 seconds\nOutput:\ntext",
        'Wall time: 1 seconds\nOutput:\n{"status": "ok", "content": "text"}',
        [
            {"type": "input_text", "text": "Wall time: 0.0123 seconds\nOutput:"},
            {"type": "input_text", "text": "text"},
        ],
    ],
)
def test_codex_our_results_count_in_every_form(tmp_path: Path, value: Any) -> None:
    Sidecar(tmp_path / "side.jsonl").record("c1", answer())
    assert held(rollout(tmp_path, output("c1", value))) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-CODEX-SIDECAR")
@pytest.mark.parametrize(
    "value",
    [
        "te… omitted …xt",
        "",
        None,
        7,
        {"content": [{}, {}]},
        "Wall time: 0.0123 seconds\nOutput:",
        "Wall time: 0.0123 seconds\nOutput:\nte…1 tokens truncated…t",
        [{"type": "input_text", "text": "text"}, {"type": "input_text", "text": "text"}],
        [{"type": "input_text", "text": "Wall time: 1 seconds\nOutput:"}, {}],
    ],
)
def test_codex_an_output_that_was_shortened_proves_nothing(tmp_path: Path, value: Any) -> None:
    Sidecar(tmp_path / "side.jsonl").record("c1", answer())
    assert held(rollout(tmp_path, output("c1", value))) == {}


def long_rollout(tmp_path: Path, *items: Any) -> CodexLog:
    """Our answer c1 stands whole in a rollout, 12,000 bytes of it."""
    text = "x" * 12_000
    Sidecar(tmp_path / "side.jsonl").record("c1", answer(text))
    before, after = (items[: len(items) // 2], items[len(items) // 2 :])
    return rollout(tmp_path, *before, output("c1", text), *after)


def room(mode: str, limit: Any) -> dict[str, Any]:
    return item("turn_context", {"truncation_policy": {"mode": mode, "limit": limit}})


@pytest.mark.shows("READ-CODEX-CUT")
def test_codex_a_rollout_keeps_whole_what_the_model_saw_cut(tmp_path: Path) -> None:
    """The text in the rollout was taken for what the model saw. But Codex writes an output down as
    it came and cuts it in the middle for the model, so a long file was *unchanged* unseen."""
    assert held(long_rollout(tmp_path)) == {}, "nobody says how much the model is sent"
    assert held(long_rollout(tmp_path, item("turn_context", {}), item("event_msg", {}))) == {}
    assert held(long_rollout(tmp_path, room("bytes", 10_000), item("event_msg", {}))) == {}
    for odd in (True, "many", None, -1):
        assert held(long_rollout(tmp_path, room("tokens", odd), item("event_msg", {}))) == {}
    whole = long_rollout(tmp_path, room("tokens", 10_000), item("event_msg", {}))
    assert held(whole) == {"/w/a.py": ["full"]}


@pytest.mark.shows("READ-CODEX-CUT")
def test_codex_a_turn_with_less_room_cuts_what_came_before(tmp_path: Path) -> None:
    roomy, same = room("tokens", 10_000), room("bytes", 40_000)
    assert held(long_rollout(tmp_path, roomy, same)) == {"/w/a.py": ["full"]}
    assert held(long_rollout(tmp_path, roomy, room("bytes", 10_000))) == {}
    assert held(long_rollout(tmp_path, roomy, item("turn_context", {}))) == {}


@pytest.mark.shows("READ-CODEX-CUT", "READ-OVERLAY")
def test_codex_no_answer_counts_before_the_rollout_shows_it(tmp_path: Path) -> None:
    """Two calls of one turn: the second was *unchanged* because the first had been answered,
    whatever became of that answer on its way to the model."""
    log = rollout(tmp_path)
    desk = Desk(tmp_path)
    desk.write("a.txt", "one\ntwo\n")
    assert desk.ask("a.txt", log).mode == "full"
    assert desk.ask("a.txt", log).mode == "full"


@pytest.mark.shows("READ-CODEX-SHELL")
def test_codex_the_shell_is_no_anchor(tmp_path: Path) -> None:
    assert held(rollout(tmp_path, output("c9", "text"))) == {}


@pytest.mark.shows("READ-CODEX-COMPACTED", "READ-CODEX-ROLLBACK")
@pytest.mark.parametrize(
    "barrier",
    [
        item(
            "compacted", {"message": "…", "replacement_history": [output("c1", "text")["payload"]]}
        ),
        item("event_msg", {"type": "thread_rolled_back", "num_turns": 1}),
        item("event_msg", {"type": "context_compacted"}),
        "{damaged",
    ],
)
def test_codex_what_replaces_history_ends_trust(tmp_path: Path, barrier: Any) -> None:
    Sidecar(tmp_path / "side.jsonl").record("c1", answer())
    assert held(rollout(tmp_path, output("c1", "text"), barrier, item("event_msg", {}))) == {}


@pytest.mark.shows("READ-CODEX-LEAF")
def test_codex_a_half_written_line_proves_nothing(tmp_path: Path) -> None:
    Sidecar(tmp_path / "side.jsonl").record("c1", answer())
    assert "doubt" in held(rollout(tmp_path, output("c1", "text"), '{"type": "comp', end=""))
    path = put(tmp_path / "r.jsonl", output("c1", "text"))
    assert "doubt" in held(CodexLog(path)), "no session at its beginning"


@pytest.mark.shows("READ-CODEX-SIDECAR")
def test_codex_a_refresh_goes_to_the_sidecar(tmp_path: Path) -> None:
    side = Sidecar(tmp_path / "side.jsonl")
    side.record("c1", answer())
    log = rollout(tmp_path, output("c1", "text"))
    log.refresh(Refreshed("/w/a.py", WHOLE), 5)
    assert held(log) == {}
    with pytest.raises(NotOurs):
        CodexLog(log.path).refresh(Refreshed("/w/a.py", WHOLE), 5)


# Our own


def native_session(log: Any) -> NativeSession:
    count = iter(range(10_000))
    return NativeSession(log, now_ms=lambda: 1, new_id=lambda: f"n{next(count)}")


@pytest.mark.shows("READ-NATIVE")
def test_native_sessions_branch_compact_and_resume(tmp_path: Path) -> None:
    log = FileLog.create(tmp_path / "n.jsonl", "mine")
    session = native_session(log)
    session.say("user", "hello")
    first = session.append_read(answer())
    assert held(session) == {"/w/a.py": ["full"]}
    session.compact("…")
    assert held(session) == {}
    session.move(first)
    assert held(session) == {"/w/a.py": ["full"]}
    again = native_session(FileLog(log.path))
    assert held(again) == {"/w/a.py": ["full"]}, "it resumes where it was"
    again.edit_context(first)
    assert held(again) == {}
    assert held(session) == {}, "and the other process sees it"
    session.move(first)
    fork = session.fork(FileLog.create(tmp_path / "fork.jsonl", "fork"))
    assert held(fork) == {"/w/a.py": ["full"]}
    session.refresh(Refreshed("/w/a.py", Lines(1, 2)), 3)
    assert held(fork) == {"/w/a.py": ["full"]}
    with pytest.raises(NoSuchSession):
        session.move("nobody")


@pytest.mark.shows("READ-NATIVE")
def test_native_damage_and_later_versions_prove_nothing(tmp_path: Path) -> None:
    log = FileLog.create(tmp_path / "n.jsonl", "mine")
    session = native_session(log)
    session.append_read(answer())
    with open(log.path, "a") as file:
        file.write('{"half": ')
    assert "doubt" in held(session)
    session.say("user", "a writer adds the newline that was missing")
    assert held(session) == {"/w/a.py": ["full"]}
    later = {"v": 2, "id": "later", "parent": session.leaf, "kind": "message"}
    log.append(later)
    assert held(session) == {}
    log.append({"v": 1, "id": "m", "kind": "move", "to": "nobody"})
    assert "doubt" in held(session)


WRITER = """
import hashlib, sys
from holdfast.reading.hosts.native import FileLog, NativeSession
from holdfast.reading.meta import Meta
from holdfast.reading.result import Answer
from holdfast.reading.scope import WHOLE
name = sys.argv[2]
ids = iter(range(1000))
session = NativeSession(
    FileLog(sys.argv[1]), now_ms=lambda: 1, new_id=lambda: f"{name}-{next(ids)}"
)
for n in range(60):
    text = f"text {n} " * 400
    digest = hashlib.sha256(text.encode()).hexdigest()
    meta = Meta(f"/w/{name}-{n % 7}.py", WHOLE, digest, "full", 3, 1, 3, 16)
    session.append_read(Answer(text, meta))
"""


@pytest.mark.shows("READ-NATIVE", "READ-BAD-SESSIONS")
def test_native_a_log_that_others_write_while_we_read(tmp_path: Path) -> None:
    """Two processes append at once; every look is whole, and nothing is lost."""
    log = FileLog.create(tmp_path / "n.jsonl", "mine")
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, log.path, name]) for name in ("a", "b")
    ]
    watching = native_session(FileLog(log.path))
    for _ in range(300):
        assert isinstance(watching.evidence(), Evidence | Doubt)
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    fresh = native_session(FileLog(log.path))
    assert held(watching) == held(fresh)
    assert len(fresh.tree) == 120


@pytest.mark.parametrize(
    "first", ["", "{", "[]", '{"format":"holdfast-session","v":2,"session":"x"}', '{"v":1}']
)
def test_native_a_file_that_is_no_log_is_refused(tmp_path: Path, first: str) -> None:
    path = tmp_path / "n.jsonl"
    path.write_text(first + "\n")
    with pytest.raises(NoSuchSession):
        FileLog(path)


# Formats and detection


@pytest.mark.shows("READ-DETECT")
def test_the_host_is_known_by_the_first_lines(tmp_path: Path) -> None:
    for kind, first in {
        "pi": HEADER,
        "codex": item("session_meta", {"id": "c"}),
        "claude-code": {"type": "summary", "leafUuid": "x"},
        "native": {"format": "holdfast-session", "v": 1, "session": "x"},
    }.items():
        assert detect.detect(str(put(tmp_path / "x.jsonl", "garbage", first))) == kind
    with pytest.raises(NoSuchSession):
        detect.detect(str(put(tmp_path / "x.jsonl", "garbage")))
    with pytest.raises(NoSuchSession):
        detect.detect(str(tmp_path / "gone.jsonl"))
    for name in ("../up", "", "a/b", "-x", "x" * 200):
        with pytest.raises(NoSuchSession):
            detect.checked_name(name)


@pytest.mark.shows("READ-FORMATS")
def test_a_changed_format_needs_a_new_version(tmp_path: Path) -> None:
    """The very bytes of version 1. Whoever changes them changes the version and its history."""
    log = FileLog.create(tmp_path / "n.jsonl", "s")
    native_session(log).append_read(answer())
    assert native.FORMAT_VERSION == 1
    assert Path(log.path).read_text() == (
        '{"format":"holdfast-session","v":1,"session":"s"}\n'
        '{"v":1,"id":"n0","parent":null,"kind":"read","at":1,"text":"text","meta":{"v":1,'
        f'"pathKey":"/w/a.py","scopeKey":"full","servedHash":"{HASH}","mode":"full",'
        '"totalLines":3,"rangeStart":1,"rangeEnd":3,"bytes":16}}\n'
    )
    side = Sidecar(tmp_path / "side.jsonl")
    side.record("c", answer())
    side.refresh(Refreshed("/a", WHOLE), 5, "c")
    side.record_edit("e", [Patched("/a", (Hunk(2, ("b",), ("B", "C")),), frozenset({"C"}))])
    side.record_edit("f", [Replaced("/a", "x", "y", False, (Place(3, 1, 1),))])
    assert sidecar.FORMAT_VERSION == 5
    digest = hashlib.sha256(b"text").hexdigest()
    assert (
        Path(side.path)
        .read_text()
        .split("\n")[0]
        .startswith(
            f'{{"v":1,"kind":"served","call":"c","text_sha256":"{digest}","bytes":4,"truncated":false,'
        )
    )
    assert Path(side.path).read_text().split("\n")[1] == (
        '{"v":1,"kind":"invalidate","after":"c","data":{"v":1,"kind":"invalidate","pathKey":"/a",'
        '"scopeKey":"full","at":5}}'
    )
    assert Path(side.path).read_text().split("\n")[2:4] == [
        '{"v":4,"kind":"edit","call":"e","path":"/a","made":[[[2,["b"],["B","C"]]],["C"]]}',
        '{"v":4,"kind":"edit","call":"f","path":"/a","made":["x","y",false,[[3,1,1]]]}',
    ]
    again = Sidecar(side.path)
    again.catch_up()
    assert again.edits == {
        "e": [Patched("/a", (Hunk(2, ("b",), ("B", "C")),), frozenset({"C"}))],
        "f": [Replaced("/a", "x", "y", False, (Place(3, 1, 1),))],
    }


@pytest.mark.shows("READ-PI-SHOWN")
@pytest.mark.parametrize(
    ("event", "shown", "is_true"),
    [
        (Anchored("/a", Lines(2, 3), HASH), "two and more\nthree", True),
        (Anchored("/a", Lines(2, 3), HASH), "two and mo…\nthree", False),
        (
            Anchored("/a", Lines(2, 3), HASH),
            "two and more\nthree\n\n[1 more; 4 to continue.]",
            True,
        ),
        (Anchored("/a", Lines(2, 3), OTHER), "two and more\nthree", False),
        (
            Derived("diff", "/a", WHOLE, OTHER, HASH),
            "@@ -1,1 +1,2 @@\n-1\n+one\n+two and more",
            True,
        ),
        (Derived("diff", "/a", WHOLE, OTHER, HASH), "@@ -1,0 +1,2 @@\n+one\n+two and …", False),
        (Derived("diff", "/a", WHOLE, HASH, OTHER), "@@ -1,1 +1,1 @@\n-1\n+one", False),
    ],
)
def test_pi_a_range_or_a_diff_that_another_extension_clipped_proves_nothing(
    event: Anchored | Derived, shown: str, is_true: bool
) -> None:
    """Long lines were clipped on their way, the number of lines stayed, and with it the trust."""
    texts = {HASH: b"one\ntwo and more\nthree\nfour\n"}
    head = "[readcache: 2 lines changed of 5]\n--- a/a\n+++ b/a\n"
    text = head + shown if isinstance(event, Derived) else shown
    assert is_shown(event, text.encode(), texts.get) == is_true
