"""`holdfast read`, `readcache` and `session`, as a person types them."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.main import main
from holdfast.reading.hosts.native import NativeSession
from holdfast.store.errors import StoreFailed
from tests import fork_server
from tests.reading.desk import numbered


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    (folder / "a.txt").write_text(numbered(60, "a line of text,"))
    return folder


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    out = capsys.readouterr()
    return code, out.out, out.err


DIGEST = hashlib.sha256(b"x\ny\nz").hexdigest()
Capture = pytest.CaptureFixture[str]


@pytest.mark.shows("READ-CLI-READ")
def test_read_without_a_session_prints_the_text(work: Path, capsys: Capture) -> None:
    for _ in range(2):
        assert run(capsys, "read", "a.txt") == (0, numbered(60, "a line of text,") + "\n", "")
    assert not (work.parent / "home").exists()


@pytest.mark.long
@pytest.mark.shows("READ-CLI-READ", "READ-PROMISE")
def test_a_text_that_the_terminal_cannot_show_does_not_count_as_shown(work: Path) -> None:
    """Where the output is not UTF-8 a letter it has no place for was shown as an escape, and the
    next read was *unchanged*."""
    (work / "a.txt").write_text("smile \U0001f600\n")
    command = [sys.executable, "-m", "holdfast.cli.main", "read", "a.txt", "--session", "demo"]
    narrow = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    for _ in range(2):
        shown = subprocess.run(command, env=narrow, capture_output=True)
        assert b"smile" in shown.stdout
        assert b"is not recorded" in shown.stderr
    wide = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    assert "\U0001f600" in subprocess.run(command, env=wide, capture_output=True).stdout.decode()
    again = fork_server.run("read", "a.txt", "--session", "demo")
    assert again.stdout == "[readcache: unchanged, 2 lines]\n"


@pytest.mark.shows("READ-CLI-READ", "READ-PROMISE")
@pytest.mark.parametrize("where", [">&-", "> /dev/null"])
def test_a_text_that_goes_nowhere_does_not_count_as_shown(work: Path, where: str) -> None:
    """The next read said *unchanged* of a text that was never shown."""
    command = [sys.executable, "-m", "holdfast.cli.main", "read", "a.txt", "--session", "demo"]
    gone = subprocess.run(f"{shlex.join(command)} {where}", shell=True, capture_output=True)
    assert b"is not recorded" in gone.stderr
    shown = fork_server.run("read", "a.txt", "--session", "demo").stdout
    assert shown.startswith("a line of text, 1\n")


@pytest.mark.shows("READ-CLI-COMPACT")
def test_a_compacted_context_can_be_noted(work: Path, capsys: Capture) -> None:
    """Of a session of our own nobody else can say that its context is gone."""
    run(capsys, "read", "a.txt", "--session", "demo")
    code, out, _ = run(capsys, "session", "compact", "--session", "demo")
    assert code == 0
    assert out.startswith("[session] demo: nothing before ")
    assert run(capsys, "read", "a.txt", "--session", "demo")[1].startswith("a line of text, 1\n")
    assert "compaction: trust ends here" in run(capsys, "session", "show", "--session", "demo")[1]
    _, out, _ = run(capsys, "session", "compact", "--session", "demo", "--json")
    assert set(json.loads(out)) == {"session", "entry"}
    assert run(capsys, "session", "compact", "--session", "other")[0] == 1
    header = {"type": "session", "version": 3, "id": "s", "cwd": str(work)}
    (work / "pi.jsonl").write_text(json.dumps(header) + "\n")
    assert run(capsys, "session", "compact", "--session", "pi.jsonl")[0] == 1


@pytest.mark.shows("READ-CLI-READ")
def test_read_twice_in_a_session_and_the_second_answer_shrinks(work: Path, capsys: Capture) -> None:
    run(capsys, "read", "a.txt", "--session", "demo")
    again = run(capsys, "read", "a.txt", "--session", "demo")
    assert again == (0, "[readcache: unchanged, 60 lines]\n", "")
    (work / "a.txt").write_text(numbered(60, "a line of text,").replace(" 30", " thirty"))
    _, out, _ = run(capsys, "read", "a.txt", "--session", "demo")
    assert out.startswith("[readcache: 1 lines changed of 60]\n--- a/a.txt")
    _, out, _ = run(capsys, "read", "a.txt:3-5", "--session", "demo", "--json")
    facts = json.loads(out)
    assert (facts["mode"], facts["details"]["readcache"]["scopeKey"]) == (
        "unchanged_range",
        "r:3:5",
    )
    _, out, _ = run(capsys, "read", "a.txt", "--offset", "2", "--limit", "1", "--bypass-cache")
    assert out.startswith("2 a line of text, 2\n\n[58 more")


@pytest.mark.shows("READ-CLI-READ", "READ-CLI-EXIT")
def test_refusals_are_exit_code_1_and_say_why(work: Path, capsys: Capture) -> None:
    code, out, err = run(capsys, "read", "gone.txt")
    assert (code, out) == (1, "")
    assert err == "holdfast: there is no file gone.txt\n", "no error code and no system call"
    (work / "sub").mkdir()
    (work / "sub" / "b.txt").write_text("b\n")
    (work / "loop").symlink_to("loop")
    _, _, err = run(capsys, "read", "sub")
    assert err == "holdfast: sub is a directory\nhint: a file in it: holdfast read sub/b.txt\n"
    _, _, err = run(capsys, "read", "loop")
    assert err.endswith("loop cannot be read: too many symbolic links encountered\n")
    _, out, _ = run(capsys, "read", "gone.txt", "--json")
    assert json.loads(out)["error"] == "Unreadable"
    code, _, err = run(capsys, "read", "a.txt", "--session", str(work / "gone.jsonl"))
    assert code == 1
    assert "no session " in err
    assert "hint: name a session file" in err
    with pytest.raises(SystemExit) as usage:
        main(["read", "a.txt", "--limit", "many"])
    assert usage.value.code == 2


@pytest.mark.shows("READ-CLI-READCACHE", "READ-B18")
def test_status_refresh_and_explain(work: Path, capsys: Capture) -> None:
    for _ in range(2):
        run(capsys, "read", "a.txt", "--session", "demo")
    before = run(capsys, "memory", "log", "--space", "sessions")[1]
    code, out, _ = run(capsys, "readcache", "status", "--session", "demo")
    assert code == 0
    after = run(capsys, "memory", "log", "--space", "sessions")[1]
    assert after == before, "asking costs no context"
    assert "held: 1 range of 1 file," in out
    assert "reads: 1 in full, 1 unchanged\n" in out
    facts = json.loads(run(capsys, "readcache", "status", "--session", "demo", "--json")[1])
    assert facts["files"] == 1
    assert facts["saved"]["tokens"] > 200
    _, out, _ = run(capsys, "readcache", "explain", "a.txt", "--session", "demo")
    assert "session demo: what was read since its start counts\n" in out
    assert "the whole file, read in entry 2: as it is now; the answer is based on it" in out
    ending = "answer: unchanged, because the text on disk is the text that was read\n"
    assert out.endswith(ending), "names of the format are for --json"
    marker = run(capsys, "readcache", "refresh", "a.txt", "3-5", "--session", "demo")[1]
    assert marker == "[readcache-refresh] invalidated lines 3-5 for a.txt\n"
    _, out, _ = run(capsys, "readcache", "explain", "a.txt:3-5", "--session", "demo")
    assert "lines 3-5: refreshed and not printed since, so it does not count" in out
    assert out.endswith("answer: full, because no earlier read of it counts\n")
    explained = run(capsys, "readcache", "explain", "a.txt", "--session", "demo", "--json")[1]
    assert json.loads(explained)["session"]["boundary"] == "root"


@pytest.mark.shows("READ-CONFIG", "READ-SENSITIVE-OWN")
def test_settings_come_from_a_file(
    work: Path, capsys: Capture, caplog: pytest.LogCaptureFixture
) -> None:
    """A mistake in the file once failed every read; now reads are plain, and the reason is told."""
    (work.parent / "home").mkdir()
    settings = work.parent / "home" / "reading.toml"
    settings.write_text('sensitive = ["a.*"]\nrange_diffs = true\ndiff_budget_ms = 50\n')
    for _ in range(2):
        assert run(capsys, "read", "a.txt", "--session", "demo")[1].startswith(
            "a line of text, 1\n"
        )
    for text, words in {
        "sensitve = []": "unknown setting 'sensitve'",
        "sensitive = [1]": "sensitive must be a list of patterns",
        "union = 1": "union must be true or false",
        'dialect = "other"': 'dialect must be "counted" or "uncounted"',
        "diff_budget_ms = -1": "diff_budget_ms must be a number of milliseconds",
        "diff_budget_ms = true": "diff_budget_ms must be a number of milliseconds",
        "= 3": "Invalid statement",
    }.items():
        settings.write_text(text)
        for _ in range(2):
            code, out, _err = run(capsys, "read", "a.txt", "--session", "demo")
            assert code == 0
            assert out.startswith("a line of text, 1\n"), "the plain text, and nothing kept"
        assert words in caplog.text


def pi_file(work: Path, *entries: dict[str, Any]) -> str:
    path = work / "session.jsonl"
    header = {"type": "session", "version": 3, "id": "s", "cwd": str(work)}
    path.write_text("".join(json.dumps(entry) + "\n" for entry in (header, *entries)))
    return str(path)


@pytest.mark.shows("READ-CLI-SESSION")
def test_session_show_draws_branches_compactions_leaf_and_trust(
    work: Path, capsys: Capture
) -> None:
    meta = {
        "v": 1, "pathKey": "/w/a.py", "scopeKey": "full", "servedHash": DIGEST, "mode": "full",
        "totalLines": 3, "rangeStart": 1, "rangeEnd": 3, "bytes": 9,
    }  # fmt: skip
    message: dict[str, Any] = {
        "role": "toolResult",
        "toolName": "read",
        "details": {"readcache": meta},
    }
    message["content"] = [{"type": "text", "text": "x\ny\nz"}]
    path = pi_file(
        work,
        {"type": "message", "id": "u1", "parentId": None, "message": {"role": "user"}},
        {"type": "message", "id": "r1", "parentId": "u1", "message": message},
        {"type": "compaction", "id": "c1", "parentId": "r1"},
        {"type": "message", "id": "u2", "parentId": "u1", "message": {"role": "user"}},
    )
    code, out, _ = run(capsys, "session", "show", "--session", path)
    assert code == 0
    assert out.split("\n") == [
        "u1 message",
        "  r1 read /w/a.py full printed " + DIGEST[:12] + "  [holds 1]",
        "  c1 compaction: trust ends here",
        "  u2 message  <- leaf",
        "",
    ]
    _, out, _ = run(capsys, "session", "show", "--session", path, "--entry", "r1")
    assert out == f"/w/a.py  full  {DIGEST[:12]}  seq 1\n"
    rows = json.loads(run(capsys, "session", "show", "--session", path, "--json")[1])["entries"]
    assert [row["id"] for row in rows if row["leaf"]] == ["u2"]
    assert run(capsys, "session", "show", "--session", path, "--entry", "nobody")[0] == 1


@pytest.mark.shows("READ-PI-READONLY", "READ-CLI-READCACHE")
def test_a_session_of_another_program_is_never_written(work: Path, capsys: Capture) -> None:
    path = pi_file(work)
    before = Path(path).read_bytes()
    assert run(capsys, "read", "a.txt", "--session", path)[0] == 0
    code, _, err = run(capsys, "readcache", "refresh", "a.txt", "--session", path)
    assert code == 1
    assert "is written by another program" in err
    assert Path(path).read_bytes() == before


@pytest.mark.shows("READ-CLI-READ")
def test_a_claude_code_call_is_answered_and_noted_in_the_sidecar(
    work: Path, capsys: Capture
) -> None:
    path = work / "transcript.jsonl"

    def write(uuid: str, parent: str | None, kind: str, block: dict[str, Any]) -> None:
        raw = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "t"}
        message = {"id": uuid, "content": [block]}
        with path.open("a") as file:
            file.write(json.dumps(raw | {"message": message}) + "\n")

    use = {"type": "tool_use", "name": "mcp__holdfast__read", "input": {}}
    write("a1", None, "assistant", use | {"id": "t1"})
    arguments = ["read", "a.txt", "--session", str(path)]
    first = run(capsys, *arguments, "--call", "t1")[1]
    write(
        "r1", "a1", "user",
        {"type": "tool_result", "tool_use_id": "t1", "content": first.removesuffix("\n")},
    )  # fmt: skip
    write("a2", "r1", "assistant", use | {"id": "t2"})
    assert run(capsys, *arguments, "--call", "t2")[1] == "[readcache: unchanged, 60 lines]\n"
    assert run(capsys, *arguments)[1] == first, "without the call nothing is proved"
    assert os.path.exists(work.parent / "home" / "run" / "hosts" / "claude-code")


@pytest.mark.shows("READ-CLI-UNWRITABLE")
def test_a_home_that_cannot_be_written_gives_the_plain_text_and_says_so(
    work: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`read --session` refused to read at all when it could not remember that it had."""
    text = numbered(60, "a line of text,") + "\n"
    (work.parent / "file").write_text("in the way")
    monkeypatch.setenv("HOLDFAST_HOME", str(work.parent / "file" / "home"))
    for _ in range(2):
        code, out, err = run(capsys, "read", "a.txt", "--session", "demo")
        assert (code, out) == (0, text)
        assert err.startswith("holdfast: session demo cannot be stored: Not a directory")
        assert "every read is plain text" in err
        assert "hint: set HOLDFAST_HOME to a directory that you may write" in err
    code, out, err = run(capsys, "read", "a.txt", "--session", "demo", "--json")
    facts = json.loads(out)
    assert (code, err, facts["mode"]) == (0, "", "full")
    assert facts["content"][0]["text"] == text[:-1]
    assert facts["note"].startswith("session demo cannot be stored: Not a directory")


@pytest.mark.shows("READ-CLI-UNWRITABLE")
def test_a_read_that_cannot_be_noted_was_a_read_all_the_same(
    work: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, "read", "a.txt", "--session", "demo")

    def full(self: NativeSession, answer: object) -> None:
        raise StoreFailed("database or disk is full")

    monkeypatch.setattr(NativeSession, "append_read", full)
    (work / "b.txt").write_text("b\n")
    code, out, err = run(capsys, "read", "b.txt", "--session", "demo")
    assert (code, out) == (0, "b\n\n")
    assert "database or disk is full" in err
    assert "it will be sent again" in err


@pytest.mark.shows("READ-CLI-LOOKING")
@pytest.mark.parametrize(
    "words",
    [
        ("readcache", "status"),
        ("readcache", "explain", "a.txt"),
        ("readcache", "refresh", "a.txt"),
        ("context",),
        ("session", "show"),
    ],
)
def test_a_session_that_never_read_is_named_and_not_made(
    work: Path, capsys: Capture, words: tuple[str, ...]
) -> None:
    """A mistyped session was answered as an empty one, and its space was made."""
    code, out, err = run(capsys, *words, "--session", "dmeo")
    assert (code, out) == (1, "")
    assert "no session dmeo: nothing was read in it" in err
    assert "hint: holdfast read PATH --session dmeo begins it" in err
    assert not (work.parent / "home").exists()
    run(capsys, "read", "a.txt", "--session", "demo")
    run(capsys, "read", "a.txt", "--session", "other")
    code, _, err = run(capsys, *words, "--session", "dmeo")
    assert code == 1
    assert "hint: did you mean --session demo? holdfast read PATH --session dmeo begins it" in err
    code, _, err = run(capsys, *words, "--session", "zzz")
    assert "hint: there are: demo, other; holdfast read PATH --session zzz begins it" in err
    assert run(capsys, *words, "--session", "demo")[0] == 0


def test_the_context_map_names_commands_and_not_calls_of_tools(work: Path, capsys: Capture) -> None:
    run(capsys, "read", "a.txt", "--session", "s")
    (work / "a.txt").write_text(numbered(61, "a line of text,"))
    _, out, _ = run(capsys, "context", "--session", "s")
    assert "[a.txt changed on disk; to see what: holdfast read a.txt --session s]" in out
    run(capsys, "session", "compact", "--session", "s")
    _, out, _ = run(capsys, "context", "--session", "s")
    assert "  holdfast read a.txt --session s\n" in out
    assert "read(path=" not in out
