"""Each state of a codebase in its own words, and sessions as their logs have them."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.app import App
from holdfast.home import Home
from holdfast.index.code_index import open_index, run_here
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.gate import Building, Failed, Incompatible, Open, Unproven
from holdfast.index.generations.marker import Marker
from holdfast.index.generations.proof import Reason
from holdfast.index.generations.record import Indexed, IndexFailed, Indexing, Record, State
from holdfast.observed.codebases import CodebaseObserver, codebase_key, codebase_values
from holdfast.observed.sessions import SessionObserver
from holdfast.reading.hosts import bindings
from holdfast.reading.hosts.bindings import Binding
from holdfast.reading.hosts.native import NativeSession
from holdfast.reading.objects import Objects
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader
from holdfast.sessions import SPACE, open_log
from tests.index.wire import list_codebases, manage_index

PRINT = Fingerprint("hashed", "m", 256, "sqlite", "s")
HOUR = 3_600_000


def record(state: State) -> Record:
    return Record("/srv/shop", state, "2026-11-15T10:00:00.000Z", PRINT)


DONE = Indexed(3, 9)


def marker() -> Marker:
    return Marker("/srv/shop", PRINT, 3, 9, "2026-11-15T10:00:00.000Z", "run")


@pytest.mark.shows("LIVE-CODEBASES")
@pytest.mark.parametrize(
    ("gate", "state", "outcome", "command"),
    [
        (Open(record(DONE), marker()), "ready", "valid", None),
        (Open(record(DONE), None, "timed out"), "ready", "probe_failed", None),
        (Building(record(DONE), Indexing("r", 41.26, "extracting")), "indexing", "none", None),
        (
            Incompatible(record(DONE), "other settings", "fingerprint_mismatch", PRINT),
            "requires_reindex",
            "fingerprint_mismatch",
            "reindex",
        ),
        (Unproven(record(DONE), Reason.MISSING_MARKER_DOC), "unproven", "stale_local", "create"),
        (Failed(record(DONE), IndexFailed("disk full", 40.0)), "failed", "none", "create"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_state_says_why_and_what_helps(
    gate: Any, state: str, outcome: str, command: str | None
) -> None:
    seen = codebase_values(gate.record, gate)
    assert seen["state"] == state
    assert seen["proof"]["outcome"] == outcome
    assert seen["why"].endswith((".", "settings"))
    assert (command is None) == (seen["command"] is None)
    if command is not None:
        assert seen["command"] == f"holdfast index {command} /srv/shop"


@pytest.mark.shows("LIVE-CODEBASES", "LIVE-FRESHNESS")
def test_what_is_shown_is_what_the_listing_says_and_what_a_look_finds(tmp_path: Path) -> None:
    tree = tmp_path / "shop"
    tree.mkdir()
    (tree / "a.py").write_text("def a(): ...\n")
    index = open_index(tmp_path / "home")
    index.start = run_here
    manage_index(index, "create", str(tree))
    codebases = CodebaseObserver(index)
    (seen,) = codebases.observe().values()
    assert seen["state"] == "ready"
    assert seen["freshness"]["changed"] == 0
    assert [c["section"] for c in list_codebases(index)["codebases"]] == ["Ready"]
    (tree / "b.py").write_text("def b(): ...\n")
    (tree / "a.py").write_text("def a(): return 1\n")
    assert codebases.observe()[codebase_key(seen["root"])]["freshness"]["changed"] == 0, "no look"
    codebases.stale(seen["root"])
    fresh = codebases.observe()[codebase_key(seen["root"])]["freshness"]
    assert (fresh["added"], fresh["modified"], fresh["removed"]) == (1, 1, 0)
    manage_index(index, "sync", str(tree))
    assert codebases.observe()[codebase_key(seen["root"])]["freshness"]["changed"] == 0
    index.close()


@pytest.mark.shows("LIVE-SESSIONS", "LIVE-SAVINGS")
def test_a_session_is_what_its_log_says_and_grows_with_it(tmp_path: Path) -> None:
    app = App(tmp_path / "home")
    clock = {"now": 10 * HOUR}
    text = tmp_path / "notes.txt"
    text.write_text("".join(f"line {n}\n" for n in range(400)))
    reader = Reader(
        Place(str(tmp_path), str(tmp_path)),
        Objects(app.home),
        now_ms=lambda: clock["now"],
        monotonic=lambda: 0.0,
    )
    numbers = iter(range(100))
    session = NativeSession(
        open_log(app.open_space, "work", app.new_id),
        now_ms=lambda: clock["now"],
        new_id=lambda: f"e{next(numbers)}",
    )
    with app.open_space(SPACE) as store:
        sessions = SessionObserver(store, lambda: clock["now"])
        assert sessions.observe() == ({}, [])
        session.append_read(reader.read(Request("notes.txt"), session))
        clock["now"] += HOUR
        session.append_read(reader.read(Request("notes.txt"), session))
        seen, hours = sessions.observe()
        status = reader.status(session)
        assert seen["work"]["savedTokens"] == status.savings.tokens > 500
        assert seen["work"]["files"] == 1
        assert [hour["reads"] for hour in hours] == [1, 1]
        assert [hour["savedTokens"] for hour in hours] == [0, status.savings.tokens]
        assert sum(hour["sentTokens"] for hour in hours) >= seen["work"]["sentTokens"]
        session.compact("enough")
        seen, _ = sessions.observe()
        assert seen["work"]["compactions"] == 1
        assert seen["work"]["files"] == 0, "a compaction takes away what was held"
        assert seen["work"]["savedTokens"] == status.savings.tokens, "and nothing that was saved"
        assert sessions.names() == ["work"]


@pytest.mark.shows("LIVE-SESSIONS", "LIVE-AGENTS")
def test_sessions_of_agents_are_shown_once_their_hook_told_of_them(tmp_path: Path) -> None:
    home, transcript = tmp_path / "home", tmp_path / "c0ffee.jsonl"
    lines = [
        {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "c0ffee",
         "timestamp": "2026-11-15T10:00:00.000Z", "message": {"role": "user", "content": "hello"}},
        {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "c0ffee",
         "timestamp": "2026-11-15T10:00:05.000Z",
         "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}},
    ]  # fmt: skip
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    bound = Binding("claude-code", "c0ffee", str(transcript), "/srv/shop", None, "Start", 1)
    bindings.write(Home(home), bound)
    with App(home).open_space(SPACE) as store:
        sessions = SessionObserver(store, lambda: 0, Home(home))
        assert sessions.all_names() == ["claude-code.c0ffee"]
        seen = sessions.observe()[0]["claude-code.c0ffee"]
        assert (seen["name"], seen["host"]) == ("shop c0ffee", "claude-code")
        assert seen["lastAt"] == "2026-11-15T10:00:05Z"
        assert seen["entries"] >= 2
        transcript.write_text("{")
        assert sessions.observe()[0]["claude-code.c0ffee"]["files"] == 0
        transcript.unlink()
        assert sessions.observe()[0] == {}


@pytest.mark.shows("LIVE-SESSIONS")
def test_names_are_found_in_order_whatever_they_look_like(tmp_path: Path) -> None:
    app = App(tmp_path / "home")
    names = ["a", "a-b", "a.b", "z_9", "A", "a0"]
    for name in names:
        log = open_log(app.open_space, name, app.new_id)
        for number in range(3):
            log.append({"v": 1, "id": f"e{number}", "kind": "message"})
    with app.open_space(SPACE) as store:
        assert sorted(SessionObserver(store, lambda: 0).names()) == sorted(names)


@pytest.mark.shows("LIVE-CODEBASES")
def test_a_command_that_helps_can_be_pasted_whatever_the_tree_is_called() -> None:
    """The dashboard offered to copy `holdfast index create /srv/$(rm -rf x)`."""
    named = replace(record(DONE), root="/srv/$(rm -rf x) it's")
    seen = codebase_values(named, Unproven(named, Reason.MISSING_MARKER_DOC))
    assert shlex.split(seen["command"]) == ["holdfast", "index", "create", named.root]
