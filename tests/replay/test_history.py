"""Session files of every agent as steps: what is understood, and what is walked through."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.main import main
from holdfast.reading.history import opencode
from holdfast.reading.history.readers import contexts_in
from holdfast.reading.history.reads import changes, is_read, shown
from holdfast.reading.history.steps import Blanked, Called, Compacted, Context, Returned, Said


def lines(*found: Any) -> bytes:
    return "\n".join(json.dumps(one) for one in found).encode()


def kinds(context: Context) -> list[str]:
    return [type(step).__name__ for step in context.steps]


def returned(context: Context) -> list[Returned]:
    return [step for step in context.steps if isinstance(step, Returned)]


@pytest.mark.shows("HISTORY-READERS")
def test_gemini_messages_are_written_again_taken_back_and_compressed() -> None:
    def tool(id: str, text: str) -> dict[str, Any]:
        response = {"functionResponse": {"id": id, "response": {"output": text}}}
        given = {"file_path": "/w/a.py"}
        return {
            "id": id,
            "name": "read_file",
            "args": given,
            "result": [response],
            "status": "success",
        }

    head = {"sessionId": "s", "projectHash": "h", "directories": ["/w"]}
    user = {"id": "1", "type": "user", "content": [{"text": "mend it"}]}
    asked = {"id": "2", "type": "gemini", "content": "", "toolCalls": []}
    done = {**asked, "toolCalls": [tool("c1", "one\ntwo\n")]}
    gone = {"id": "3", "type": "gemini", "content": "never mind"}
    found = contexts_in(
        lines(head, user, asked, done, {"$unknown": 1}, gone, {"$rewindTo": "3"}), "s"
    )
    (context,) = found
    assert (context.agent, context.cwd) == ("gemini", "/w")
    assert kinds(context) == ["Said", "Called", "Returned"]
    read = shown(returned(context)[0])
    assert read is not None
    assert (read.path, read.first, read.whole) == ("/w/a.py", 1, True)
    assert read.rows[:2] == ("one", "two")
    later = {"$set": {"messages": [{"id": "9", "type": "user", "content": "summary"}]}}
    (compressed,) = contexts_in(lines(head, user, done, later), "s")
    assert Compacted() in compressed.steps
    old = {**head, "messages": [user, done]}
    assert kinds(contexts_in(json.dumps(old, indent=1).encode(), "s")[0]) == kinds(context)


@pytest.mark.shows("HISTORY-READERS")
def test_qwen_records_in_parts_of_content() -> None:
    def record(uuid: str, kind: str, *parts: Any, **more: Any) -> dict[str, Any]:
        message = {"role": "user", "parts": list(parts)}
        return {
            "uuid": uuid,
            "sessionId": "s",
            "type": kind,
            "cwd": "/w",
            "message": message,
            **more,
        }

    call = {"functionCall": {"id": "c1", "name": "read_file", "args": {"absolute_path": "/w/a"}}}
    answer = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "x\ny"}}}
    (context,) = contexts_in(
        lines(
            record("1", "user", {"text": "go"}),
            record("2", "assistant", {"text": "I think", "thought": True}, {"text": "ok"}, call),
            record("3", "tool_result", answer),
            record("3", "tool_result", answer),
            {"uuid": "4", "type": "system", "subtype": "chat_compression"},
            {"uuid": "5", "type": "system", "subtype": "something new"},
        ),
        "s",
    )
    assert context.agent == "qwen"
    assert kinds(context) == ["Said", "Said", "Called", "Returned", "Compacted"]
    assert is_read(returned(context)[0])


@pytest.mark.shows("HISTORY-READERS")
def test_the_database_of_opencode_is_read_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, time_created INTEGER, "
        "time_updated INTEGER);"
        "CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);"
        "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);"
    )
    database.execute("INSERT INTO session VALUES ('s1', NULL, '/w', 1, 9)")
    database.execute("INSERT INTO session VALUES ('s2', 's1', '/w', 2, 3)")
    database.execute("INSERT INTO message VALUES ('m1', 's1', 1, ?)", ('{"role":"user"}',))
    database.execute("INSERT INTO message VALUES ('m2', 's1', 2, ?)", ('{"role":"assistant"}',))
    output = (
        "<path>/w/a</path>\n<type>file</type>\n<content>\n1: one\n2: two\n\n"
        "(End of file - total 2 lines)\n</content>"
    )
    state = {"status": "completed", "input": {"filePath": "/w/a"}, "output": output}
    edit = {"filePath": "/w/a", "oldString": "one", "newString": "1"}
    parts = [
        ("p1", "m1", {"type": "text", "text": "hello"}),
        ("p2", "m2", {"type": "tool", "tool": "read", "callID": "c1", "state": state}),
        (
            "p3",
            "m2",
            {
                "type": "tool",
                "tool": "read",
                "callID": "c2",
                "state": {**state, "time": {"compacted": 5}},
            },
        ),
        (
            "p4",
            "m2",
            {
                "type": "tool",
                "tool": "edit",
                "callID": "c3",
                "state": {"status": "completed", "input": edit, "output": "done"},
            },
        ),
        ("p5", "m2", {"type": "step-finish"}),
        ("p6", "m2", {"type": "compaction"}),
    ]
    for id, message, data in parts:
        database.execute("INSERT INTO part VALUES (?, ?, 's1', ?)", (id, message, json.dumps(data)))
    database.execute("INSERT INTO part VALUES ('p7', 'm2', 's1', 'not JSON')")
    database.commit()
    before = path.read_bytes()
    first, second = opencode.sessions(path)
    assert not first.subagent
    assert second.subagent
    assert first.steps[0] == Said("user", "hello")
    read = shown(returned(first)[0])
    assert read is not None
    assert (read.path, read.rows, read.whole) == ("/w/a", ("one", "two"), True)
    assert Blanked(("c2",)) in first.steps
    assert [one.old for one in changes(returned(first)[2])] == ["one"]
    assert isinstance(first.steps[-1], Compacted)
    assert [one.name for one in opencode.sessions(path, since_ms=5)] == ["s1"]
    assert path.read_bytes() == before
    database.close()
    (tmp_path / "other.db").write_bytes(b"no database at all, but long enough to be one" * 30)
    with pytest.raises(sqlite3.Error):
        list(opencode.sessions(tmp_path / "other.db"))


@pytest.mark.shows("HISTORY-READERS")
def test_codex_and_pi_and_what_is_damaged() -> None:
    call = {
        "type": "function_call",
        "name": "exec_command",
        "call_id": "c",
        "arguments": '{"cmd":"cat a"}',
    }
    output = "Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\none\ntwo\n"
    answer = {"type": "function_call_output", "call_id": "c", "output": output}
    rollout = lines(
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/w"}},
        {"type": "response_item", "payload": call},
        {"type": "response_item", "payload": answer},
        {"type": "something", "payload": {}},
        {"type": "compacted", "payload": {}},
    )
    (context,) = contexts_in(rollout + b"\n{half a li", "r")
    assert kinds(context) == ["Called", "Returned", "Compacted"]
    read = shown(returned(context)[0])
    assert read is not None
    assert (read.path, read.rows, read.shell) == ("/w/a", ("one", "two"), True)
    message = {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "1", "name": "read", "arguments": {"path": "b"}}],
    }
    result = {"role": "toolResult", "toolCallId": "1", "content": [{"type": "text", "text": "x"}]}
    two = json.dumps({"type": "message", "message": message}) + json.dumps(
        {"type": "message", "message": result}
    )
    (pi,) = contexts_in(lines({"type": "session", "cwd": "/w"}) + b"\n" + two.encode(), "p")
    assert [type(step) for step in pi.steps] == [Called, Returned], "two objects on one line"
    assert contexts_in(b"\xff\xfe nothing", "x") == []
    assert contexts_in(b"", "x") == []


@pytest.mark.shows("HISTORY-LOOK")
def test_a_session_of_gemini_is_looked_at_and_proves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "hf"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("one\ntwo\n")
    (tmp_path / "b.py").write_text("three\n")

    def tool(id: str, name: str, text: str, **given: str) -> dict[str, Any]:
        response = {"functionResponse": {"id": id, "response": {"output": text}}}
        done = {"id": id, "name": name, "args": given, "result": [response], "status": "success"}
        return {"id": f"m{id}", "type": "gemini", "content": "", "toolCalls": [done]}

    path = tmp_path / "session-1.jsonl"
    a, b = str(tmp_path / "a.py"), str(tmp_path / "b.py")
    path.write_bytes(
        lines(
            {"sessionId": "s", "projectHash": "h", "directories": [str(tmp_path)]},
            tool("1", "read_file", "three\n", file_path=b),
            {"$set": {"messages": []}},
            tool("2", "read_file", "one\ntwo\n", file_path=a),
        )
    )
    assert main(["context", "--session", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "a.py" in shown
    assert "as on disk" in shown
    assert "b.py" in shown, "what the compression took is listed"
    assert main(["read", "a.py", "--session", str(path)]) == 0
    assert capsys.readouterr().out == "one\ntwo\n\n", "the plain text: nothing is proven"
