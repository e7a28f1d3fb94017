"""What is decided about an event in an agent, with a real reader and a real log."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.agents.claude import hook as claude
from holdfast.agents.codex import hook as codex
from holdfast.agents.hook_event import HookEvent, Moment, Outcome
from holdfast.agents.opencode import hook as opencode
from holdfast.home import Home
from holdfast.mcp.hook_decision import HookDecision
from holdfast.mcp.hook_state import Notices
from holdfast.mcp.printed_answers import PrintedAnswers
from holdfast.reading.errors import NoSuchSession
from holdfast.reading.hosts import bindings
from holdfast.reading.hosts.codex import CodexLog
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.reader import Settings
from holdfast.reading.sensitive import Sensitive
from holdfast.system import Clock
from tests.reading.desk import Desk

TEXT = "".join(f"line {n} of a text that two files share\n" for n in range(40))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def context_of(desk: Desk, log: object = None) -> Any:
    """What a decision uses of the host."""
    return SimpleNamespace(
        home=Home(desk.root / "hf"),
        app=SimpleNamespace(clock=Clock(), user_home=str(desk.home)),
        reader=lambda *_: desk.reader,
        shown=PrintedAnswers(),
        sessions=SimpleNamespace(adapter=lambda *_: (log, threading.Lock())),
    )


class Rollout:
    """A conversation of Codex in which `cat a.py` was run in the working directory."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.path = desk, desk.root / "rollout.jsonl"
        payload = {"id": "s", "cwd": str(desk.cwd), "cli_version": "0.166.0"}
        self.put("session_meta", payload)
        self.call("c1")
        head = "Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
        output = {"type": "function_call_output", "call_id": "c1", "output": head + TEXT}
        self.put("response_item", output)

    def put(self, kind: str, payload: dict[str, Any]) -> None:
        with self.path.open("a") as out:
            out.write(json.dumps({"type": kind, "payload": payload}) + "\n")

    def call(self, call: str, **more: str) -> None:
        given = json.dumps({"cmd": "cat a.py", **more})
        body = {"type": "function_call", "name": "exec_command", "call_id": call}
        self.put("response_item", {**body, "arguments": given})

    def printed(self, call: str) -> Outcome:
        """What is done about the result of this call, which printed the text."""
        event = codex.event_of(
            {
                "hook_event_name": "PostToolUse",
                "session_id": "s",
                "transcript_path": str(self.path),
                "cwd": str(self.desk.cwd),
                "tool_name": "Bash",
                "tool_use_id": call,
                "tool_input": {"command": "cat a.py"},
                "tool_response": TEXT,
            }
        )
        assert event is not None
        log = CodexLog(self.path, Sidecar(self.desk.root / "side.jsonl"))
        return HookDecision(context_of(self.desk, log)).decide(event)


@pytest.mark.shows("READ-CODEX-LINES")
def test_a_command_in_another_folder_is_not_about_the_file_of_this_one(desk: Desk) -> None:
    """Codex tells its hook the folder of the conversation, and a call may name another: a file that
    was never shown was called unchanged, because one of the same name and text was."""
    desk.write("a.py", TEXT)
    desk.write("other/a.py", TEXT)
    rollout = Rollout(desk)
    rollout.call("here")
    assert "unchanged" in rollout.printed("here").replacements[0]
    rollout.call("there", workdir=str(desk.cwd / "other"))
    assert not rollout.printed("there")


@pytest.mark.shows("HOOK-BINDING")
def test_a_conversation_that_a_hook_came_from_is_noted_for_the_dashboard(desk: Desk) -> None:
    desk.write("a.py", TEXT)
    rollout = Rollout(desk)
    rollout.call("here")
    rollout.printed("here")
    (found,) = bindings.read_all(Home(desk.root / "hf"))
    assert (found.host, found.session) == ("codex", "s")
    assert (found.transcript, found.cwd) == (str(rollout.path), str(desk.cwd))


class Plugin:
    """OpenCode with our plugin, in whose conversation `cat a.py` was run once."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.decision = desk, HookDecision(context_of(desk))

    def pass_on(self, payload: dict[str, Any]) -> Outcome:
        base = {"session": "s", "cwd": str(self.desk.cwd)}
        event = opencode.event_of({**base, **payload})
        assert event is not None
        return self.decision.decide(event)

    def use(self, id: str) -> dict[str, Any]:
        given = {"command": "cat a.py"}
        return {"id": id, "tool": "bash", "status": "completed", "input": given, "output": TEXT}

    def request(self, number: int | None, *uses: dict[str, Any]) -> Outcome:
        return self.pass_on({"event": "request", "request": number, "uses": list(uses)})

    def ran(self, answered: int | None) -> Outcome:
        return self.pass_on({"event": "tool", "request": answered, "use": self.use("new")})


@pytest.mark.shows("AGENT-REQUEST")
def test_a_request_counts_only_once_the_agent_has_our_answer_to_it(desk: Desk) -> None:
    """An answer that came too late, or a request that never came: the model was sent something else
    than what the host believed, and a result was still shortened by it."""
    desk.write("a.py", TEXT)
    plugin = Plugin(desk)
    assert plugin.request(1, plugin.use("old")).request == 1
    assert "unchanged" in plugin.ran(1).replacements[0]
    assert not plugin.ran(None), "the answer did not come in time"
    assert not plugin.ran(2), "request 2 was seen by another host"
    plugin.request(2, plugin.use("old"))
    assert not plugin.ran(1), "nor is an older one the newest"
    plugin.request(None, plugin.use("old"))
    assert not plugin.ran(None), "a plugin that does not number its requests proves nothing"
    assert opencode.reply_to(_event(7), Outcome(request=7)) == {"request": 7}
    assert opencode.reply_to(_event(7), Outcome()) == {}


@pytest.mark.shows("EDIT-HELP")
@pytest.mark.parametrize("path", ["a.py", "secrets/a.py", "link.py", "other/../a.py"])
def test_help_for_an_edit_shows_nothing_that_the_user_calls_sensitive(
    desk: Desk, path: str
) -> None:
    """Nor a file with `..` in its path: behind a link that is another one."""
    desk.settings = Settings(sensitive=Sensitive(("*/secrets/*",)))
    desk.reader = desk.new_reader()
    for name in ("a.py", "secrets/a.py", "other/b.py"):
        desk.write(name, TEXT)
    (desk.cwd / "link.py").symlink_to(desk.cwd / "secrets" / "a.py")
    given = {"filePath": path, "oldString": "line 7 of a texts", "newString": "x"}
    error = "Could not find oldString in the file. It must match exactly."
    use = {"id": "e", "tool": "edit", "status": "error", "input": given, "error": error}
    found = Plugin(desk).request(1, use)
    assert bool(found.notes) == (path == "a.py")


def _event(number: int) -> HookEvent:
    return HookEvent("opencode", Moment.REQUEST, "s", None, "/w", request=number)


def claude_read(desk: Desk, result: dict[str, Any], **more: Any) -> HookEvent:
    """An event of Claude Code about its own read of `a.py`."""
    event = claude.event_of(
        {
            "hook_event_name": "PostToolUse",
            "session_id": "s",
            "transcript_path": str(desk.root / "later.jsonl"),
            "cwd": str(desk.cwd),
            "tool_name": "Read",
            "tool_use_id": "r1",
            "tool_input": {"file_path": str(desk.cwd / "a.py")},
            "tool_response": result,
            **more,
        }
    )
    assert event is not None
    return event


@pytest.mark.shows("CLAUDE-OWN-UNCHANGED")
def test_a_claim_of_the_agent_is_replaced_before_its_log_exists(desk: Desk) -> None:
    """Claude Code writes its log late: at its first calls there was none, which was an error, and
    its own false *unchanged* was passed on."""

    def missing(kind: str, name: str) -> Any:
        raise NoSuchSession(name, "no such file")

    desk.write("a.py", TEXT)
    context = context_of(desk)
    context.sessions = SimpleNamespace(adapter=missing)
    decision = HookDecision(context)
    claim = {"type": "file_unchanged", "file": {"filePath": str(desk.cwd / "a.py")}}
    outcome = decision.decide(claude_read(desk, claim))
    assert outcome.texts == {0: TEXT}
    batch = {"hook_event_name": "PostToolBatch", "tool_calls": []}
    assert not decision.decide(claude_read(desk, {}, **batch)), "and it is no error elsewhere"


@pytest.mark.shows("AGENTS-TWO")
def test_a_change_after_a_turn_that_was_not_logged_yet_is_worth_waiting_for(desk: Desk) -> None:
    """A notice of another agent's edit never came while all turns were faster than the log."""
    desk.write("a.py", TEXT)
    call = {"tool_name": "Read", "tool_use_id": "r1", "tool_input": {"file_path": "a.py"}}
    calls = [{**call, "tool_response": TEXT}]
    event = claude_read(desk, {}, hook_event_name="PostToolBatch", tool_calls=calls)
    notices = Notices()
    assert not notices.may_say(event)
    notices.watch(event)
    assert not notices.may_say(event)
    desk.write("a.py", TEXT + "more\n")
    assert notices.may_say(event)


@pytest.mark.shows("AGENTS-TWO")
def test_a_change_before_the_log_was_written_is_still_announced(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that another agent changed during the turn that read it was taken for announced."""
    path = desk.write("a.py", "one\nTWO\n")
    call = {"tool_name": "Read", "tool_use_id": "r1", "tool_input": {"file_path": "a.py"}}
    calls = [{**call, "tool_response": "one\ntwo\n"}]
    notices = Notices()
    notices.watch(claude_read(desk, {}, hook_event_name="PostToolBatch", tool_calls=calls))
    view = SimpleNamespace(live=lambda *_: {1: "one", 2: "two"})
    ledger: Any = SimpleNamespace(seen_paths=lambda: [str(path)], view=lambda *_: view)
    later = claude_read(desk, {}, hook_event_name="PostToolBatch", tool_calls=[])
    line = notices.lines(later, desk.reader, ledger)
    assert line is not None
    assert "line 2" in line


@pytest.mark.shows("AGENTS-TWO")
def test_one_change_is_waited_for_once_if_the_log_stays_in_doubt(desk: Desk) -> None:
    """Every later turn of such a conversation waited for its log."""
    desk.write("a.py", TEXT)

    def batch(path: str) -> HookEvent:
        call = {"tool_name": "Read", "tool_use_id": "r1", "tool_input": {"file_path": path}}
        calls = [{**call, "tool_response": TEXT}]
        return claude_read(desk, {}, hook_event_name="PostToolBatch", tool_calls=calls)

    notices = Notices()
    notices.watch(batch("a.py"))
    desk.write("a.py", TEXT + "more\n")
    assert notices.may_say(batch("b.py"))
    notices.watch(batch("b.py"))
    assert not notices.may_say(batch("b.py"))


@pytest.mark.shows("AGENTS-TWO")
@pytest.mark.parametrize("tool", ["Read", "Edit"])
def test_a_change_after_a_read_of_the_same_turn_is_announced_in_the_next_one(
    desk: Desk, tool: str
) -> None:
    """The file was noted as it was at the end of the turn, so another agent's change after the read
    was never announced. After an edit of our own nothing is said: it changed the file, too."""
    path = desk.write("a.py", "one\ntwo\n")
    given = {"file_path": "a.py", "old_string": "two", "new_string": "2"}
    call = {"tool_name": tool, "tool_use_id": "r1", "tool_input": given}
    calls = [{**call, "tool_response": "one\ntwo\n"}]
    view = SimpleNamespace(live=lambda *_: {1: "one", 2: "two"})
    ledger: Any = SimpleNamespace(seen_paths=lambda: [str(path)], view=lambda *_: view)

    def batch(calls: list[dict[str, Any]]) -> str | None:
        event = claude_read(desk, {}, hook_event_name="PostToolBatch", tool_calls=calls)
        return notices.lines(event, desk.reader, ledger)

    notices = Notices()
    notices.read(claude_read(desk, {}, hook_event_name="PostToolBatch", tool_calls=calls))
    desk.write("a.py", "one\nTWO!\n")
    assert batch(calls) is None, "the log does not show this turn yet"
    line = batch([])
    if tool == "Edit":
        assert line is None
    else:
        assert line is not None
        assert "line 2" in line
    assert batch([]) is None, "once"
    notices.read(claude_read(desk, {}, hook_event_name="PostToolBatch", tool_calls=calls))
    assert batch(calls) is None
    assert batch([]) is None, "nothing changed"
