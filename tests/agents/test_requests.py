"""What a request shows is what the model holds, without any agent."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents import hook_client
from holdfast.agents.hooks import AGENTS, HookEvent, Moment, Outcome, adapter_of
from holdfast.agents.opencode import hook as opencode
from holdfast.agents.pi import hook as pi
from holdfast.mcp.request_log import RequestLog
from holdfast.mcp.requests import outcome_of
from holdfast.reading.events import Piece, Pieced
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.meta import Meta
from holdfast.reading.scope import WHOLE as WHOLE_FILE
from holdfast.reading.tree import Doubt, Evidence

ROWS = [f"line {n}" for n in range(1, 6)]
DATA = "\n".join(ROWS).encode() + b"\n"
DIGEST = hashlib.sha256(DATA).hexdigest()
SHORT = "[holdfast: lines 1-5 unchanged, as you have them; same call again prints all]"


def read_output(first: int = 1, rows: list[str] = ROWS, total: int = 5) -> str:
    lines = "\n".join(f"{n}: {row}" for n, row in enumerate(rows, first))
    last = first + len(rows) - 1
    end = f"End of file - total {total} lines"
    more = f"Showing lines {first}-{last} of {total}. Use offset={last + 1} to continue."
    tail = end if last == total else more
    return f"<path>/w/a</path>\n<type>file</type>\n<content>\n{lines}\n\n({tail})\n</content>"


def used(id: str, output: str, **more: Any) -> dict[str, Any]:
    given = {"filePath": "/w/a"}
    base = {"id": id, "tool": "read", "status": "completed", "input": given, "output": output}
    return {**base, **more}


def request(*uses: dict[str, Any]) -> HookEvent:
    payload = {"event": "request", "session": "s", "cwd": "/w", "uses": list(uses)}
    event = opencode.event_of(payload)
    assert event is not None
    return event


@pytest.fixture
def log(tmp_path: Path) -> RequestLog:
    return RequestLog("s", Sidecar(tmp_path / "s.jsonl"))


def load(digest: str) -> bytes | None:
    return DATA if digest == DIGEST else None


def held(log: RequestLog, *uses: dict[str, Any]) -> dict[int, str]:
    """The lines that the model holds after this request."""
    log.show(request(*uses).uses, "/w", load)
    found = log.evidence()
    assert isinstance(found, Evidence)
    return dict(found.ledger.view("/w/a", load).live(0, None))


WHOLE = dict(enumerate(ROWS, 1))


@pytest.mark.shows("AGENT-REQUEST")
def test_before_the_first_request_nothing_is_proven(log: RequestLog) -> None:
    assert isinstance(log.evidence(), Doubt)


@pytest.mark.shows("AGENT-REQUEST")
def test_the_lines_that_a_request_shows_are_held(log: RequestLog) -> None:
    assert held(log, used("1", read_output())) == WHOLE
    assert held(log, used("1", read_output(2, ROWS[1:3]))) == {2: "line 2", 3: "line 3"}


@pytest.mark.shows("AGENT-REQUEST")
@pytest.mark.parametrize("tool", ["read", "bash"])
def test_a_result_that_shows_some_lines_in_another_way_ends_what_was_held(
    log: RequestLog, tool: str
) -> None:
    """The older text of these lines was called unchanged once the file had it again."""
    cut = read_output().replace("2: line 2", "2: other... (line truncated to 5 chars)")
    command = {"tool": "bash", "input": {"command": "cat a"}}
    shown = used("2", "line 1\nother\n\n[Output truncated]", **command)
    later = used("2", cut) if tool == "read" else shown
    assert held(log, used("1", read_output()), later) == {}


@pytest.mark.shows("AGENT-REQUEST")
def test_what_the_next_request_does_not_show_is_not_held(log: RequestLog) -> None:
    held(log, used("1", read_output()))
    assert held(log) == {}
    assert held(log, used("1", read_output(), compacted=True)) == {}


@pytest.mark.shows("AGENT-REQUEST")
def test_the_own_edit_is_held_and_a_failed_one_is_not(log: RequestLog) -> None:
    change = {"filePath": "/w/a", "oldString": "line 2", "newString": "line two"}
    edit = {"id": "2", "tool": "edit", "input": change, "status": "completed", "output": "done"}
    assert held(log, used("1", read_output()), edit) == {**WHOLE, 2: "line two"}
    failed = {**edit, "status": "error", "error": "Could not find oldString in the file."}
    assert held(log, used("1", read_output()), failed) == WHOLE


@pytest.mark.shows("AGENT-REQUEST")
def test_a_short_answer_counts_by_its_record(log: RequestLog) -> None:
    log.record_short(Pieced("/w/a", (Piece(1, 5, 1),), DIGEST), SHORT, "2")
    assert held(log, used("1", read_output()), used("2", SHORT)) == WHOLE
    assert log.dangling == {}
    assert held(log, used("1", read_output()), used("3", SHORT)) == {}


@pytest.mark.shows("AGENT-REQUEST")
def test_an_answer_that_lost_its_text_gets_it_back(log: RequestLog) -> None:
    log.record_short(Pieced("/w/a", (Piece(1, 5, 1),), DIGEST), SHORT, "2")
    pruned = used("1", read_output(), compacted=True)
    assert held(log, pruned, used("2", SHORT)) == WHOLE
    event = request(pruned, used("2", SHORT))
    reply = opencode.reply_to(event, outcome_of(event, log))
    text = reply["uses"]["2"]["output"]
    assert text.startswith("[holdfast: lines 1-5 of /w/a as they were then]\n1: line 1\n")


@pytest.mark.shows("AGENT-REQUEST")
def test_what_was_added_to_a_result_is_added_each_time(log: RequestLog) -> None:
    failed = {
        **used("1", ""),
        "tool": "edit",
        "status": "error",
        "error": "not found",
        "input": {"filePath": "/w/a", "oldString": "x", "newString": "y"},
    }
    event = request(failed)
    log.notes["1"] = "[holdfast: help]"
    for _ in range(2):
        log.show(event.uses, "/w", load)
        reply = opencode.reply_to(event, outcome_of(event, log))
        assert reply == {"uses": {"1": {"error": "not found\n\n[holdfast: help]"}}}


@pytest.mark.shows("AGENT-REQUEST")
def test_calls_that_share_an_id_are_left_alone(log: RequestLog) -> None:
    """What is put in the place of a result names it by its call."""
    log.record_short(Pieced("/w/a", (Piece(1, 5, 1),), DIGEST), SHORT, "1")
    log.notes["1"] = "[holdfast: help]"
    event = request(used("1", read_output()), used("1", SHORT))
    log.show(event.uses, "/w", load)
    assert isinstance(log.evidence(), Doubt)
    assert opencode.reply_to(event, outcome_of(event, log)) == {}
    other = used("2", "done", tool="bash", input={"command": "make"})
    assert held(log, used("1", read_output()), other) == WHOLE


def own_read(id: str, text: str, mode: str, base: str | None) -> dict[str, Any]:
    """A result of our own read in pi, with what it claims beside it."""
    meta = Meta("/w/a", WHOLE_FILE, DIGEST, mode, 6, 1, 6, len(DATA), base)
    content = [{"type": "text", "text": text}]
    named = {"id": id, "tool": "read", "input": {"path": "/w/a"}, "isError": False}
    return {**named, "content": content, "readcache": meta.as_json()}


@pytest.mark.shows("AGENT-REQUEST")
def test_our_own_unchanged_that_lost_its_text_gets_it_back(log: RequestLog) -> None:
    """pi keeps the latest messages at a compaction: the marker stays, what it refers to is gone."""
    marker = own_read("2", "[readcache: unchanged, 6 lines]", "unchanged", DIGEST)
    whole = own_read("1", DATA.decode(), "full", None)
    for uses, lost in (([whole, marker], False), ([marker], True)):
        event = pi.event_of({"event": "request", "session": "s", "cwd": "/w", "uses": uses})
        assert event is not None
        log.show(event.uses, "/w", load)
        reply = pi.reply_to(event, outcome_of(event, log))
        found = log.evidence()
        assert isinstance(found, Evidence)
        assert dict(found.ledger.view("/w/a", load).live(0, None)) == {**WHOLE, 6: ""}
        put = str(reply.get("uses", {}).get("2", ""))
        head = "[holdfast: all 6 lines of /w/a as they were then]\n1: line"
        assert put.startswith(head) if lost else not put


OTHERS = sorted(set(AGENTS) - {"claude-code", "codex"})
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
names = st.sampled_from(
    [
        *("event", "session", "cwd", "use", "uses", "id", "tool", "input", "output"),
        *("hook_event_name", "session_id", "tool_input", "tool_response", "error", "content"),
    ]
)


@pytest.mark.shows("AGENT-ADAPTERS")
@pytest.mark.parametrize("agent", OTHERS)
@given(payload=st.dictionaries(names, json_values | st.dictionaries(names, json_values)))
def test_a_payload_of_any_shape_is_understood_or_left_alone(
    agent: str, payload: dict[str, Any]
) -> None:
    adapter = adapter_of(agent)
    assert adapter is not None
    for name in ("tool", "request", "compacting", "compacted"):
        event = adapter.event_of({**payload, "event": name})
        if event is not None:
            assert adapter.reply_to(event, Outcome()) == {}


@pytest.mark.shows("AGENT-ADAPTERS")
def test_an_edit_that_failed_is_understood_in_gemini_and_qwen() -> None:
    call = {"file_path": "/w/a", "old_string": "x", "new_string": "y"}
    base = {"session_id": "s", "cwd": "/w", "tool_input": call}
    response = {"llmContent": "shown", "error": {"message": "not found"}}
    gemini, qwen = adapter_of("gemini"), adapter_of("qwen")
    assert gemini is not None
    assert qwen is not None
    one = gemini.event_of({**base, "hook_event_name": "AfterTool", "tool_response": response})
    two = qwen.event_of({**base, "hook_event_name": "PostToolUseFailure", "error": "not found"})
    assert one is not None
    assert two is not None
    assert one.moment is two.moment is Moment.AFTER_TOOL
    help_given = Outcome(notes={0: "help"})
    assert gemini.reply_to(one, help_given) == {"decision": "block", "reason": "shown\n\nhelp"}
    assert qwen.reply_to(two, help_given) == {
        "hookSpecificOutput": {
            "hookEventName": "PostToolUseFailure",
            "additionalContext": "help",
        }
    }
    untouched = {**base, "hook_event_name": "AfterTool", "tool_response": {"llmContent": "fine"}}
    assert gemini.event_of(untouched) is None


@pytest.mark.shows("AGENT-ADAPTERS")
def test_the_scripts_look_for_the_host_where_the_small_client_does() -> None:
    text = (resources.files("holdfast.agents") / "ask_host.js").read_text(encoding="utf-8")
    listed = text.split("const SETTINGS = [")[1].split("]")[0]
    assert tuple(re.findall(r'"([A-Z_]+)"', listed)) == hook_client.SETTINGS
    assert f'holdfast: "hook", v: {hook_client.VERSION}, agent' in text
