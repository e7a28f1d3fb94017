"""What each agent's log says about single lines: reads, shell, edits, writes, compactions."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.reading import recovery
from holdfast.reading.events import Forgotten, Printed
from holdfast.reading.hosts import calls
from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.hosts.codex import CodexLog
from holdfast.reading.hosts.lines import Follower, objects
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.session_log import SessionLog
from holdfast.reading.tree import Doubt, Evidence
from holdfast.reading.trust import Ledger
from tests.reading import codex_output

PATH = "/w/a.py"


def lines_in(ledger: Ledger, path: str = PATH) -> dict[int, str]:
    return dict(ledger.view(path, lambda _: None).live(0, None))


def held(log: SessionLog, path: str = PATH) -> dict[int, str]:
    found = log.evidence()
    assert isinstance(found, Evidence), found
    return lines_in(found.ledger, path)


class Claude:
    """A transcript, line by line."""

    def __init__(self, root: Path, *, sidechain: bool = False, name: str = "s.jsonl") -> None:
        self.path = root / name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.count = 0
        self.last: str | None = None
        self.sidechain = sidechain
        self.log = ClaudeCodeLog(
            self.path, Sidecar(root / "side.jsonl"), newest_leaf=True, sidechain=sidechain
        )

    def put(self, kind: str, end: str = "\n", **fields: Any) -> None:
        self.count += 1
        line: dict[str, Any] = {"type": kind, "uuid": f"u{self.count}", "cwd": "/w"}
        line["parentUuid"] = self.last
        line |= {"isSidechain": self.sidechain, "sessionId": "s"} | fields
        with self.path.open("a") as out:
            out.write(json.dumps(line) + end)
        self.last = f"u{self.count}"

    def use(self, tool: str, given: dict[str, Any], text: str, result: Any) -> str:
        call = f"t{self.count}"
        block = {"type": "tool_use", "id": call, "name": tool, "input": given}
        message = {"role": "assistant", "id": f"m{self.count}", "content": [block]}
        self.put("assistant", message=message)
        answer = {"type": "tool_result", "tool_use_id": call, "content": text}
        self.put("user", message={"role": "user", "content": [answer]}, toolUseResult=result)
        return call

    def read(self, first: int, rows: list[str], total: int) -> str:
        text = "\n".join(f"{n:>6}\t{row}" for n, row in enumerate(rows, first))
        file = {"filePath": PATH, "content": "\n".join(rows), "startLine": first}
        file |= {"numLines": len(rows), "totalLines": total}
        return self.use("Read", {"file_path": PATH}, text, {"type": "text", "file": file})


def test_a_file_that_was_shown_empty_has_none_of_the_lines_shown_before(tmp_path: Path) -> None:
    """They stayed held, so a file that got them back was called as it was before."""
    claude = Claude(tmp_path)

    def read(content: str, text: str) -> None:
        file = {"filePath": PATH, "content": content, "startLine": 1}
        rows = content.count("\n") + 1
        file |= {"numLines": rows, "totalLines": rows}
        claude.use("Read", {"file_path": PATH}, text, {"type": "text", "file": file})

    read("one\ntwo", "1\tone\n2\ttwo")
    assert held(claude.log) == {1: "one", 2: "two"}
    warning = "Warning: the file exists but the contents are empty."
    read("", f"<system-reminder>{warning}</system-reminder>")
    assert held(claude.log) == {}


@pytest.mark.shows("READ-CC-LINES")
def test_claude_ranges_edits_and_writes_are_held_line_by_line(tmp_path: Path) -> None:
    claude = Claude(tmp_path)
    claude.read(10, ["ten", "eleven", "twelve"], 40)
    assert held(claude.log) == {10: "ten", 11: "eleven", 12: "twelve"}
    original = "\n".join([*[f"line {n}" for n in range(1, 10)], "ten", "eleven", "twelve", "x"])
    result = {
        "filePath": PATH,
        "oldString": "eleven",
        "newString": "11a\n11b",
        "originalFile": original,
        "structuredPatch": [{"oldStart": 8, "oldLines": 6, "newLines": 7}],
        "userModified": False,
    }
    claude.use("Edit", {"file_path": PATH}, "The file has been updated.", result)
    assert held(claude.log) == {10: "ten", 11: "11a", 12: "11b", 13: "twelve"}
    del result["originalFile"]
    result |= {"oldString": "twelve", "newString": "dozen"}
    result["structuredPatch"] = [{"oldStart": 10, "oldLines": 4, "newLines": 4}]
    claude.use("Edit", {"file_path": PATH}, "The file has been updated.", result)
    assert held(claude.log)[13] == "dozen", "placed by the numbers of the patch"
    claude.use("Edit", {"file_path": PATH}, "ok", result | {"userModified": True})
    assert held(claude.log) == {}, "the user changed the edit, and the model cannot know how"
    result = {"type": "create", "filePath": PATH, "content": "a\nb\n", "structuredPatch": []}
    claude.use("Write", {"file_path": PATH}, "File created", result)
    assert held(claude.log) == {1: "a", 2: "b"}


@pytest.mark.shows("READ-CC-LINES")
def test_claude_shell_output_counts_only_when_it_is_plainly_the_file(tmp_path: Path) -> None:
    claude = Claude(tmp_path)
    fine = {"stdout": "  five\nsix", "stderr": "", "interrupted": False, "isImage": False}
    command = {"command": "sed -n 5,6p a.py"}
    for change in ({"stderr": "x"}, {"interrupted": True}, {"persistedOutputPath": "/x"}):
        claude.use("Bash", command, "  five\nsix", fine | change)
    claude.use("Bash", command, "<persisted-output>", fine)
    claude.use("Bash", {"command": "sed -n 5,6p $F"}, "  five\nsix", fine)
    assert held(claude.log) == {}
    claude.use("Bash", command, "  five\nsix", fine)
    assert held(claude.log) == {6: "six"}, "the start of an output may be trimmed"


@pytest.mark.shows("READ-CC-LINES")
def test_claude_a_text_of_ours_counts_only_by_its_record(tmp_path: Path) -> None:
    claude = Claude(tmp_path)
    claude.read(1, ["one", "two"], 2)
    claude.read(1, ["[holdfast: lines 1-2 unchanged, as you have them; …]"], 1)
    assert held(claude.log) == {}, "nothing vouches for it"


@pytest.mark.shows("READ-CC-RECOVERY")
@pytest.mark.parametrize("bridged", ["u2", "not in the transcript"])
def test_claude_what_a_compaction_took_is_known(tmp_path: Path, bridged: str) -> None:
    claude = Claude(tmp_path)
    claude.read(1, ["one", "two"], 2)
    claude.last = None
    claude.put("system", subtype="compact_boundary", logicalParentUuid=bridged)
    claude.put("user", message={"role": "user", "content": "…"}, isCompactSummary=True)
    assert held(claude.log) == {}
    before = claude.log.before_compaction()
    assert before is not None
    assert lines_in(before) == {1: "one", 2: "two"}


@pytest.mark.shows("READ-CC-RECOVERY")
def test_claude_what_is_about_to_be_compacted_is_more_than_what_is_trusted(tmp_path: Path) -> None:
    """When Claude Code reports a compaction, its transcript does not show it yet. The list had only
    what was trusted then: nothing from before a rest, nor below a line whose parent is missing."""
    claude = Claude(tmp_path)

    def say(hour: int) -> None:
        message = {"role": "user", "content": "x"}
        claude.put("user", timestamp=f"2026-01-01T{hour:02d}:00:00Z", message=message)

    claude.read(1, ["before the first compaction"], 1)
    claude.last = None
    claude.put("system", subtype="compact_boundary")
    claude.read(1, ["one", "two"], 2)
    say(9)
    say(12)
    assert held(claude.log) == {}, "after three hours older results may be cleared"
    claude.last = "never written"
    claude.put("progress")
    held(claude.log)
    before = claude.log.since_compaction()
    assert before is not None
    assert lines_in(before) == {1: "one", 2: "two"}


@pytest.mark.shows("READ-CC-LINES")
@pytest.mark.parametrize("between", ["compaction", "damage"])
def test_claude_a_result_from_before_a_compaction_does_not_count_beside_a_later_one(
    tmp_path: Path, between: str
) -> None:
    """Of parallel calls, the result of one was written before a compaction and of the other after
    it. The first one counted as shown beside the second."""
    claude = Claude(tmp_path)

    def call(id: str) -> None:
        block = {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": PATH}}
        claude.put("assistant", message={"role": "assistant", "id": "same", "content": [block]})

    def result(id: str, first: int) -> None:
        file = {"filePath": PATH, "content": id, "startLine": first, "numLines": 1, "totalLines": 9}
        answer = {"type": "tool_result", "tool_use_id": id, "content": f"     {first}\t{id}"}
        structured = {"type": "text", "file": file}
        claude.put("user", message={"role": "user", "content": [answer]}, toolUseResult=structured)

    call("one")
    result("one", 1)
    before = claude.last
    if between == "compaction":
        claude.put("system", subtype="compact_boundary", logicalParentUuid=before)
        claude.put("user", message={"role": "user", "content": "…"}, isCompactSummary=True)
    else:
        with claude.path.open("a") as out:
            out.write("no JSON\n")
    claude.last = before
    call("two")
    result("two", 2)
    assert held(claude.log) == {2: "two"}


@pytest.mark.shows("READ-CC-RECOVERY", "READ-CC-LINES")
def test_claude_parallel_calls_beside_the_path_and_broken_chains_are_known(tmp_path: Path) -> None:
    """Of two parallel reads the path goes on from the first one's result; the second call and its
    result are beside it. And a line whose parent was never written hides nothing from the list."""
    claude = Claude(tmp_path)
    claude.read(1, ["zero"], 1)
    claude.last = "never written"
    calls_of = [("p1", PATH), ("p2", "/w/b.py")]
    for call, path in calls_of:
        block = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}}
        message = {"role": "assistant", "id": "same", "content": [block]}
        claude.put("assistant", message=message)
    first = f"u{claude.count - 1}"
    for (call, path), parent in zip(reversed(calls_of), (claude.last, first), strict=True):
        file = {"filePath": path, "content": call, "startLine": 1, "numLines": 1, "totalLines": 1}
        answer = {"type": "tool_result", "tool_use_id": call, "content": f"     1\t{call}"}
        claude.last = parent
        result = {"type": "text", "file": file}
        claude.put("user", message={"role": "user", "content": [answer]}, toolUseResult=result)
    assert held(claude.log) == {1: "p1"}
    assert held(claude.log, "/w/b.py") == {1: "p2"}, "the model was sent both results"
    edit = {"filePath": PATH, "oldString": "a", "newString": "b", "userModified": True}
    claude.use("Edit", {"file_path": PATH}, "updated", edit)
    claude.last = None
    claude.put("system", subtype="compact_boundary", logicalParentUuid="gone")
    claude.put("user", message={"role": "user", "content": "…"}, isCompactSummary=True)
    held(claude.log)
    before = claude.log.before_compaction()
    assert before is not None
    assert set(before.seen_paths()) == {PATH, "/w/b.py"}
    assert lines_in(before) == {}, "after that edit no line is certain"
    assert recovery.was_seen(before.history(PATH)), "and the file is listed all the same"
    assert len(before.history(PATH)) >= 4, "with what was read before the break"


@pytest.mark.shows("READ-CC-LINES")
def test_claude_the_note_that_the_shell_went_back_is_not_output(tmp_path: Path) -> None:
    claude = Claude(tmp_path)
    note = "Shell cwd was reset to /w"
    result = {"stdout": "one\ntwo", "stderr": note, "interrupted": False}
    claude.use("Bash", {"command": "cd /v && cat a.py"}, f"one\ntwo\n{note}", result)
    assert held(claude.log, "/v/a.py") == {1: "one", 2: "two"}
    result = {"stdout": "one\ntwo", "stderr": f"{note}\nwarning", "interrupted": False}
    claude.use("Bash", {"command": "cd /u && cat a.py"}, f"one\ntwo\n{note}", result)
    assert held(claude.log, "/u/a.py") == {}


@pytest.mark.shows("READ-CC-SUBAGENT")
def test_claude_a_subagent_is_read_from_its_own_transcript(tmp_path: Path) -> None:
    from holdfast.home import Home
    from holdfast.reading.hosts import detect

    name = "s/subagents/agent-7.jsonl"
    claude = Claude(tmp_path, sidechain=True, name=name)
    claude.read(1, ["one", "two"], 2)
    log = detect.open_host(
        str(claude.path), Home(tmp_path), now_ms=lambda: 1, new_id=lambda: "x", newest_leaf=True
    )
    assert held(log) == {1: "one", 2: "two"}
    assert detect.sidecar_path(Home(tmp_path), "claude-code", str(claude.path)).name == (
        "s-agent-7.jsonl"
    )


@pytest.mark.shows("READ-LOG-LINES")
def test_a_last_line_without_its_newline_counts_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b'{"a":1}\n{"b":2}')
    follower = Follower(str(path))
    grown = follower.look()
    assert grown is not None
    assert (grown.lines, grown.tail) == ([b'{"a":1}', b'{"b":2}'], b"")
    with path.open("ab") as out:
        out.write(b'\n{"c":')
    grown = follower.look()
    assert grown is not None
    assert ([line for line in grown.lines if line], grown.tail) == ([], b'{"c":')


@pytest.mark.shows("READ-LOG-LINES")
def test_two_objects_on_one_line_are_read(tmp_path: Path) -> None:
    assert objects(b'{"a":1}{"b":2} {"c":3}') == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert objects(b'{"a":1}{"b":') == []
    claude = Claude(tmp_path)
    claude.read(1, ["one"], 9)
    claude.put("user", end="", message={"role": "user", "content": "x"})
    claude.read(2, ["two"], 9)
    assert held(claude.log) == {1: "one", 2: "two"}


@pytest.mark.shows("READ-CC-LINES")
def test_claude_a_command_counts_for_the_file_of_the_folder_it_ran_in(tmp_path: Path) -> None:
    """`cd` in a command moves the agent: the line with the result names where it is then. What was
    printed of `sub/a.py` counted as shown of `sub/sub/a.py`."""
    claude = Claude(tmp_path)

    def ran_in(command: str, after: str) -> ClaudeCodeLog:
        call = f"t{claude.count}"
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        claude.put("assistant", message={"id": call, "content": [block]})
        answer = {"type": "tool_result", "tool_use_id": call, "content": "one"}
        result = {"stdout": "one", "stderr": "", "interrupted": False, "isImage": False}
        claude.put("user", message={"content": [answer]}, toolUseResult=result, cwd=after)
        return claude.log

    log = ran_in("cd sub && cat a.py", "/w/sub")
    assert held(log, "/w/sub/sub/a.py") == {}
    assert held(log, "/w/sub/a.py") == {1: "one"}
    log = ran_in("cat b.py", "/w/sub")
    assert held(log, "/w/b.py") == held(log, "/w/sub/b.py") == {}, "another call moved it"
    assert held(ran_in("cat /w/c.py", "/w/sub"), "/w/c.py") == {1: "one"}
    assert log.folder_of("t0", "cd sub && cat a.py", "/w/sub") == "/w"
    assert log.folder_of("not written yet", "cd sub && cat a.py", "/w/sub") is None
    assert log.folder_of("not written yet", "cat a.py", "/w/sub") == "/w/sub"


def codex(root: Path, *payloads: dict[str, Any], version: str = "0.166.0") -> CodexLog:
    meta = {"type": "session_meta", "payload": {"id": "s", "cwd": "/w", "cli_version": version}}
    rows = [meta, *({"type": "response_item", "payload": one} for one in payloads)]
    path = root / "rollout.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return CodexLog(path, Sidecar(root / "side.jsonl"))


def ran(command: str, output: str, code: int = 0) -> list[dict[str, Any]]:
    given = json.dumps({"cmd": command})
    head = f"Wall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n"
    return [
        {"type": "function_call", "name": "exec_command", "call_id": command, "arguments": given},
        {"type": "function_call_output", "call_id": command, "output": head + output},
    ]


def applied(patch: str) -> list[dict[str, Any]]:
    return [
        {"type": "custom_tool_call", "name": "apply_patch", "call_id": patch, "input": patch},
        {"type": "custom_tool_call_output", "call_id": patch, "output": "Success. Updated"},
    ]


@pytest.mark.shows("READ-CODEX-LINES")
def test_codex_shell_reads_and_patches_are_held_line_by_line(tmp_path: Path) -> None:
    read = ran("sed -n '3,5p' a.py", "three\nfour\nfive\n")
    assert held(codex(tmp_path, *read)) == {3: "three", 4: "four", 5: "five"}
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n three\n-four\n+4\n+4b\n*** End Patch"
    log = codex(tmp_path, *read, *applied(patch))
    assert held(log) == {3: "three", 4: "4", 5: "4b", 6: "five"}
    unknown = patch.replace("three", "never seen")
    assert held(codex(tmp_path, *read, *applied(unknown))) == {}
    added = "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch"
    assert held(codex(tmp_path, *applied(added))) == {1: "x"}
    above = patch.replace("a.py", "linked/../a.py")
    assert held(codex(tmp_path, *read, *applied(above))) == {}, "a link may lead elsewhere"
    deleted = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"
    assert held(codex(tmp_path, *read, *applied(deleted))) == {}


@pytest.mark.shows("READ-CODEX-LINES")
def test_codex_a_patch_has_no_place_where_the_model_sees_more_than_counts(tmp_path: Path) -> None:
    """After a rollback, in the rollout of a fork, or after a compaction that keeps results, older
    lines of the file may still be shown.
    The place of a patch was taken for certain though its old lines are there twice."""
    read = ran("sed -n '3,5p' a.py", "three\nfour\nfive\n")
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-four\n+4\n*** End Patch"
    path = tmp_path / "rollout.jsonl"
    start = {"type": "session_meta", "payload": {"id": "s", "cwd": "/w", "cli_version": "0.166.0"}}
    rolled = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}
    items = [{"type": "response_item", "payload": one} for one in (*read, *applied(patch))]

    def kept(history: object) -> dict[str, Any]:
        payload = {"message": "…", "replacement_history": history}
        return {"type": "compacted", "payload": payload}

    for rows, lines in (
        ([start, *items], {3: "three", 4: "4", 5: "five"}),
        ([start, rolled, *items], {}),
        ([{**start, "ordinal": 27}, *items], {}),
        ([start, rolled, {"type": "compacted"}, *items], {3: "three", 4: "4", 5: "five"}),
        ([start, kept([{"type": "message"}]), *items], {3: "three", 4: "4", 5: "five"}),
        ([start, kept([{"type": "function_call_output"}]), *items], {}),
        ([start, kept("unknown"), *items], {}),
    ):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert held(CodexLog(path, Sidecar(tmp_path / "side.jsonl"))) == lines


@pytest.mark.shows("READ-CODEX-LINES")
@pytest.mark.parametrize(
    ("calls", "version"),
    [
        (ran("sed -n '3,5p' a.py", "three\n", code=1), "0.166.0"),
        (ran("cat a.py", "Total output lines: 900\n\none\n"), "0.166.0"),
        (ran("cat a.py", "one\n…12 tokens truncated…\nlast\n"), "0.166.0"),
        (ran("cat a.py", "one\n" * 5_000), "0.100.0"),
        (ran("cat a.py; date", "one\n"), "0.166.0"),
    ],
)
def test_codex_what_is_not_plainly_the_file_is_not_held(
    tmp_path: Path, calls: list[dict[str, Any]], version: str
) -> None:
    assert held(codex(tmp_path, *calls, version=version)) == {}


@pytest.mark.shows("READ-CODEX-LINES")
@pytest.mark.parametrize("version", ["0.100.0", "0.166.0"])
def test_codex_after_a_read_that_was_cut_older_lines_are_not_held(
    tmp_path: Path, version: str
) -> None:
    """Before 0.166 the rollout has all of it, but the model was sent its ends, perhaps changed."""
    first = ran("sed -n '1,2p' a.py", "one\ntwo\n")
    later = ran("cat a.py", "other\n" * 5_000)
    if version == "0.166.0":
        later = ran("cat a.py", "other\n\u202612 tokens truncated\u2026\nlast\n")
    assert held(codex(tmp_path, *first, version=version)) == {1: "one", 2: "two"}
    assert held(codex(tmp_path, *first, *later, version=version)) == {}


ROWS = [f"row {n} of a file with rows of some length" for n in range(1, 101)]
LONG = "\n".join(ROWS) + "\n"


def cut_read(
    command: str, output: str, room: int = 1_000, unit: str = "tokens"
) -> list[dict[str, Any]]:
    call, result = ran(command, "")
    return [call, {**result, "output": codex_output.cut(output, room, unit)}]


@pytest.mark.shows("READ-CODEX-ENDS")
@pytest.mark.parametrize("unit", ["tokens", "chars"])
def test_codex_both_ends_of_a_cut_output_are_held(tmp_path: Path, unit: str) -> None:
    """It counted as not shown at all, so a read of its first lines came again in full."""
    lines = dict(enumerate(ROWS, 1))
    found = held(codex(tmp_path, *cut_read("cat a.py", LONG, unit=unit)))
    assert found == {n: lines[n] for n in (*range(1, 13), *range(90, 101))}
    part = "\n".join(ROWS[19:80]) + "\n"
    found = held(codex(tmp_path, *cut_read("sed -n '20,80p' a.py", part, unit=unit)))
    assert found == {n: lines[n] for n in (*range(20, 31), *range(70, 81))}
    numbered = "".join(f"{n:>6}\t{row}\n" for n, row in lines.items())
    found = held(codex(tmp_path, *cut_read("nl -ba a.py", numbered, unit=unit)))
    assert found == {n: lines[n] for n in (*range(1, 11), *range(91, 101))}


def _damaged(old: str, new: str) -> list[dict[str, Any]]:
    call, result = cut_read("cat a.py", LONG)
    assert old in result["output"]
    return [call, {**result, "output": result["output"].replace(old, new)}]


def _pretended() -> list[dict[str, Any]]:
    """A file that contains such a text with its own size in it, printed in full."""
    body = f"Total output lines: 900\n\n{LONG[:2000]}\u202640 tokens truncated\u2026{LONG[-2000:]}"
    for tokens in range(900, 1_200):
        text = f"Warning: truncated output (original token count: {tokens})\n{body}"
        output = codex_output.whole(text)
        if f"Original token count: {tokens}\n" in output:
            call, result = ran("cat a.py", "")
            return [call, {**result, "output": output}]
    raise AssertionError("no size fits")


@pytest.mark.shows("READ-CODEX-ENDS")
@pytest.mark.parametrize(
    ("calls", "version"),
    [
        (cut_read("cat a.py", LONG), "0.165.0"),
        (cut_read("tail -n 100 a.py", LONG), "0.166.0"),
        (cut_read("cat a.py b.py", LONG), "0.166.0"),
        (cut_read("cat a.py", LONG.replace("row 2 ", "\u20264 tokens truncated\u2026")), "0.166.0"),
        (_damaged("Total output lines: 100", "Total output lines: 20"), "0.166.0"),
        (_damaged("(original token count: 1048", "(original token count: 2048"), "0.166.0"),
        (_damaged("Original token count", "Token count"), "0.166.0"),
        (_damaged(" tokens truncated", " lines truncated"), "0.166.0"),
        (_pretended(), "0.166.0"),
    ],
)
def test_codex_a_cut_output_that_is_not_certain_is_not_held(
    tmp_path: Path, calls: list[dict[str, Any]], version: str
) -> None:
    assert held(codex(tmp_path, *calls, version=version)) == {}


@pytest.mark.shows("READ-CODEX-ROOM")
def test_codex_shows_how_much_of_an_answer_it_passes_on(tmp_path: Path) -> None:
    def answered(text: str) -> dict[str, Any]:
        blocks = [{"type": "input_text", "text": part} for part in ("Wall time: 1\nOutput:", text)]
        return {"type": "function_call_output", "call_id": text[:9], "output": blocks}

    log = codex(tmp_path, answered("one\n" * 5_000), *cut_read("cat a.py", LONG))
    assert log.answer_bytes_max() is None, "a command has a limit of its own"
    log = codex(tmp_path, answered(f"{LONG[:900]}\u202640 chars truncated\u2026{LONG[-900:]}"))
    assert 1_800 < (log.answer_bytes_max() or 0) < 2_100


@pytest.mark.shows("READ-PI-LINES")
def test_pi_reads_edits_and_writes_are_held_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    rows: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": "s", "cwd": "/w"}]

    def use(name: str, given: dict[str, Any], text: str, **fields: Any) -> dict[int, str]:
        call, above = f"c{len(rows)}", rows[-1].get("id") if len(rows) > 1 else None
        block = {"type": "toolCall", "id": call, "name": name, "arguments": given}
        message = {"role": "assistant", "content": [block]}
        rows.append({"type": "message", "id": f"{call}a", "parentId": above, "message": message})
        content = [{"type": "text", "text": text}]
        message = {"role": "toolResult", "toolCallId": call, "toolName": name} | fields
        message["content"] = content
        above = f"{call}a"
        rows.append({"type": "message", "id": f"{call}b", "parentId": above, "message": message})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return held(PiLog(path))

    more = "\n\n[30 more lines in file. Use offset=12 to continue.]"
    found = use("read", {"path": "a.py", "offset": 10, "limit": 2}, f"ten\neleven{more}")
    assert found == {10: "ten", 11: "eleven"}
    diff = "  9 nine\n- 10 ten\n+ 10 TEN\n+ 11 more\n  11 eleven"
    given = {"path": "a.py", "oldText": "ten", "newText": "TEN\nmore"}
    found = use("edit", given, "ok", details={"diff": diff})
    assert found == {10: "TEN", 11: "more", 12: "eleven"}
    assert use("edit", given, "not found", isError=True) == found
    assert use("bash", {"command": "sed -n 1,2p a.py"}, "one\ntwo\n") == found | {
        1: "one",
        2: "two",
    }
    assert use("write", {"path": "a.py", "content": "x"}, "ok") == {1: "x"}


def test_an_unreadable_log_proves_nothing(tmp_path: Path) -> None:
    assert isinstance(ClaudeCodeLog(tmp_path / "gone", newest_leaf=True).evidence(), Doubt)


@pytest.mark.shows("READ-CODEX-LINES")
@pytest.mark.parametrize(
    "notice",
    [
        "...12 lines truncated...",
        "...5120 bytes truncated...",
        "...output truncated...",
        "<bash_metadata>",
        "[Showing lines 5-9 of 20]",
    ],
)
def test_an_output_with_a_notice_that_it_was_cut_is_not_the_file(notice: str) -> None:
    """Nor is what was shown before: the part that is left may be newer."""
    assert calls.shell_read("cat a.py", "/w", f"one\n{notice}\ntwo\n") == Forgotten("/w/a.py")
    shown = Printed("/w/a.py", 1, ("one", "two"), whole=True)
    assert calls.shell_read("cat a.py", "/w", "one\ntwo\n") == shown
