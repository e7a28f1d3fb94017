"""Lines that a search of ours printed as they are: held where the log shows that very answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.agents.hooks import OwnCall, ToolUse
from holdfast.mcp.printed_answers import PrintedAnswers
from holdfast.mcp.request_log import RequestLog
from holdfast.reading.events import Printed
from holdfast.reading.hosts.codex import CodexLog
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.native_reader import is_first
from holdfast.reading.session_log import SessionLog
from holdfast.reading.tree import Evidence
from holdfast.replay.writers import ClaudeWriter, CodexWriter, SubagentWriter, Writer
from tests.reading.searches import search, search_result
from tests.reading.test_host_lines import Claude, held

TEXT = "a.py:3-8  total\n3 def total():\n4     return 1\n8 }"
LINES = (
    Printed("/w/a.py", 3, ("def total():", "    return 1"), excerpt=True),
    Printed("/w/a.py", 8, ("}",), excerpt=True),
)
HELD = {3: "def total():", 4: "    return 1", 8: "}"}


def claude_log(root: Path, text: str) -> SessionLog:
    claude = Claude(root)
    Sidecar(root / "side.jsonl").record_shown("t0", TEXT, LINES)
    assert claude.use("mcp__holdfast__search_code", {"query": "x"}, text, {}) == "t0"
    return claude.log


def codex_log(root: Path, text: str) -> SessionLog:
    sidecar = Sidecar(root / "side.jsonl")
    sidecar.record_shown("c1", TEXT, LINES)
    meta = {"id": "s", "cwd": "/w", "cli_version": "0.166.0"}
    call = {"type": "function_call", "name": "search_code", "call_id": "c1", "arguments": "{}"}
    head = {"type": "text", "text": "Wall time: 0.1 seconds\nOutput:"}
    output = [head, {"type": "text", "text": text}]
    result = {"type": "function_call_output", "call_id": "c1", "output": output}
    rows: list[dict[str, Any]] = [{"type": "session_meta", "payload": meta}]
    rows += [{"type": "response_item", "payload": one} for one in (call, result)]
    (root / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return CodexLog(root / "r.jsonl", sidecar)


@pytest.mark.shows("READ-SHOWN-LINES")
@pytest.mark.parametrize("log_of", [claude_log, codex_log])
def test_lines_printed_by_a_search_are_held_where_the_log_shows_the_answer(
    tmp_path: Path, log_of: Callable[[Path, str], SessionLog]
) -> None:
    log = log_of(tmp_path, TEXT)
    assert held(log) == HELD
    found = log.evidence()
    assert isinstance(found, Evidence)
    assert is_first(found.ledger, log, "/w/a.py"), "a search is not a read of the file"
    for name, shown in (("cut", TEXT[:30]), ("other", TEXT.replace("return 1", "return 2"))):
        (tmp_path / name).mkdir()
        assert held(log_of(tmp_path / name, shown)) == {}


@pytest.mark.shows("READ-SHOWN-LINES")
@pytest.mark.parametrize("kind", [ClaudeWriter, SubagentWriter, CodexWriter])
def test_a_compaction_ends_what_a_search_showed(tmp_path: Path, kind: type[Writer]) -> None:
    from holdfast.replay import player

    writer = kind(tmp_path)
    names: dict[type[Writer], str] = {
        ClaudeWriter: "claude-code",
        SubagentWriter: "claude-code-sub",
        CodexWriter: "codex",
    }
    log = player.log_of(names[kind], writer)
    if hasattr(log, "newest_leaf"):
        log.newest_leaf = True
    call = search(writer, 1.0)
    Sidecar(tmp_path / "sidecar.jsonl").record_shown(call, TEXT, LINES)
    search_result(writer, call, TEXT, 2.0)
    assert held(log) == HELD
    writer.compact(3.0)
    assert held(log) == {}


def test_a_cleared_result_takes_the_lines_along(tmp_path: Path) -> None:
    writer = ClaudeWriter(tmp_path)
    from holdfast.replay import player

    log = player.log_of("claude-code", writer)
    log.newest_leaf = True  # type: ignore[attr-defined]
    call = search(writer, 1.0)
    Sidecar(tmp_path / "sidecar.jsonl").record_shown(call, TEXT, LINES)
    search_result(writer, call, TEXT, 2.0)
    assert held(log) == HELD
    writer.blank([call], 3.0)
    assert held(log) == {}


@pytest.mark.shows("READ-SHOWN-LINES")
def test_a_record_that_is_not_valid_proves_nothing(tmp_path: Path) -> None:
    sidecar = Sidecar(tmp_path / "side.jsonl")
    sidecar.record_shown("c", TEXT, LINES)
    sidecar.record_shown("nothing", TEXT, ())
    (row,) = Path(sidecar.path).read_text().splitlines()
    good = json.loads(row)
    assert good["v"] == 5
    for broken in ([["/w/a.py", 0, ["x"]]], [["/w/a.py", 1, []]], [["/w/a.py", 1]], None, [[1, 1]]):
        with Path(sidecar.path).open("a") as file:
            file.write(json.dumps({**good, "call": "d", "lines": broken}) + "\n")
    sidecar.catch_up()
    assert set(sidecar.shown) == {"c"}
    assert sidecar.shown["c"].lines == LINES


def request(
    tmp_path: Path, shown: PrintedAnswers, text: str, *, failed: bool = False
) -> RequestLog:
    log = RequestLog("s", Sidecar(tmp_path / "side.jsonl"), shown.lines)
    use = ToolUse(OwnCall("search_code"), "c1", text=text, failed=failed)
    log.show([use], "/w", lambda digest: None)
    return log


@pytest.mark.shows("READ-SHOWN-LINES")
def test_a_request_that_shows_a_recent_answer_proves_what_it_printed(tmp_path: Path) -> None:
    """OpenCode calls our tools without naming the conversation; its request has the answer."""
    shown = PrintedAnswers()
    assert held(request(tmp_path, shown, TEXT)) == {}
    shown.note(TEXT, LINES)
    assert held(request(tmp_path, shown, TEXT)) == HELD
    assert held(request(tmp_path, shown, TEXT + "\nmore")) == {}
    assert held(request(tmp_path, shown, TEXT, failed=True)) == {}
    shown.note(TEXT, [one._replace(path="/v/a.py") for one in LINES])
    assert held(request(tmp_path, shown, TEXT)) == {}, "two trees with one text"
    shown.note(TEXT, LINES)
    assert held(request(tmp_path, shown, TEXT)) == {}
