"""The extension inside the real pi: its own session files, its own loop, a scripted model."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.main import main
from tests import nodejs
from tests.agents.scripted import Script, scripted_model

pytestmark = pytest.mark.service("node")

TIMEOUT_S = 60
TEXT = "".join(f"line {n} \u2028 end\n" for n in range(1, 41))


class Pi:
    """pi in its RPC mode."""

    def __init__(self, root: Path, script: Script, *arguments: str, **more: str) -> None:
        self.root, self.script = root, script
        self.work, agent = root / "work", root / "home" / ".pi" / "agent"
        self.work.mkdir(exist_ok=True)
        agent.mkdir(parents=True, exist_ok=True)
        provider = {
            "baseUrl": script.url,
            "api": "openai-completions",
            "apiKey": "none",
            "models": [{"id": "scripted", "contextWindow": 100000, "maxTokens": 4000}],
        }
        (agent / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
        environment = {
            **nodejs.environment(),
            "HOME": str(root / "home"),
            "HOLDFAST_HOME": str(root / "holdfast"),
            "HOLDFAST_HOOK_S": "20",  # tests assert no times
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            **more,
        }
        self._log = (root / "pi.log").open("ab")
        command = nodejs.program("@mariozechner/pi-coding-agent", "dist/cli.js")
        options = ["--mode", "rpc", "--model", "local/scripted", "--session-dir", str(root / "s")]
        self.process = subprocess.Popen(
            [*command, *options, *arguments],
            cwd=self.work,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self._heard: queue.Queue[dict[str, Any]] = queue.Queue()
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._heard.put(json.loads(line))
        self._heard.put({"type": "gone"})

    def send(self, **command: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()

    def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next event of this kind with these fields; others are passed over."""
        while True:
            event = self._heard.get(timeout=TIMEOUT_S)
            assert event["type"] != "gone", (self.root / "pi.log").read_text()
            assert event.get("success", True), event
            if event["type"] == kind and all(event.get(k) == v for k, v in fields.items()):
                return event

    def prompt(self, text: str) -> None:
        """Have a person say something, and wait for the end of the turn."""
        self.send(type="prompt", message=text)
        self.until("agent_end")

    def read(self, **arguments: Any) -> str:
        """Have the model read; returns what it then sees."""
        return self.use("read", **arguments)

    def use(self, tool: str, **arguments: Any) -> str:
        """Have the model call a tool; returns what it then sees."""
        self.script.call(tool, **arguments)
        self.script.say("ok")
        self.prompt("go on")
        return self.script.tool_results()[-1]

    def command(self, text: str) -> str:
        """Type a command of the extension; returns the notice that it shows."""
        self.send(type="prompt", message=text)
        return str(self.until("extension_ui_request", method="notify")["message"])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._listening.join(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._log.close()


@pytest.fixture
def script() -> Iterator[Script]:
    with scripted_model() as script:
        yield script


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "holdfast"))
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    program = str(Path(sys.executable).parent / "holdfast")
    assert main(["install", "--client", "pi", "--command", program]) == 0
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text(TEXT)
    yield tmp_path
    main(["mcp", "--stop"])


@pytest.fixture
def pi(root: Path, script: Script) -> Iterator[Pi]:
    pi = Pi(root, script)
    yield pi
    pi.close()


@pytest.mark.shows("AGENT-PI")
def test_the_second_read_in_pi_is_one_line_and_a_change_is_a_diff(pi: Pi) -> None:
    assert pi.read(path="a.txt") == TEXT
    assert pi.read(path="a.txt") == "[readcache: unchanged, 41 lines]"
    assert pi.read(path="a.txt:3-5") == "[readcache: unchanged in lines 3-5 of 41]"
    (pi.work / "a.txt").write_text(TEXT.replace("line 7 ", "line seven "))
    assert pi.read(path="a.txt").startswith("[readcache: 1 lines changed of 41]\n--- a/a.txt")
    assert pi.read(path="a.txt", bypass_cache=True).startswith("line 1 ")


@pytest.mark.shows("AGENT-PI")
def test_after_a_compaction_pi_gets_the_text_again(pi: Pi) -> None:
    pi.read(path="a.txt")
    pi.script.say("a summary")
    pi.send(type="compact")
    pi.until("response", command="compact")
    assert pi.read(path="a.txt") == TEXT


@pytest.mark.shows("AGENT-PI")
def test_the_commands_answer_and_a_refresh_holds(pi: Pi) -> None:
    pi.read(path="a.txt")
    assert "tracked scopes: 1 across 1 files" in pi.command("/readcache-status")
    assert pi.command("/readcache-refresh a.txt") == (
        "[readcache-refresh] invalidated full scope for a.txt"
    )
    assert pi.read(path="a.txt") == TEXT
    assert "usage" in pi.command("/readcache-refresh").lower()


@pytest.mark.shows("AGENT-PI")
def test_the_model_may_ask_for_a_refresh(pi: Pi) -> None:
    pi.read(path="a.txt")
    assert pi.use("readcache_refresh", path="a.txt:3-5") == (
        "[readcache-refresh] invalidated lines 3-5 for a.txt"
    )
    assert "unchanged" not in pi.read(path="a.txt:3-5")


@pytest.mark.shows("AGENT-PI")
def test_a_session_that_is_opened_again_still_holds_what_it_read(
    root: Path, script: Script
) -> None:
    first = Pi(root, script)
    first.read(path="a.txt")
    first.close()
    again = Pi(root, script, "--continue")
    try:
        assert again.read(path="a.txt") == "[readcache: unchanged, 41 lines]"
    finally:
        again.close()


@pytest.mark.shows("AGENT-PI-FALLBACK")
def test_without_a_host_pis_own_read_answers(
    root: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["install", "--client", "pi", "--command", "/nowhere/holdfast"]) == 0
    pi = Pi(root, script)
    try:
        assert pi.read(path="a.txt") == TEXT
        assert pi.read(path="a.txt") == TEXT
        lines = "\n".join(TEXT.split("\n")[2:5])
        assert pi.read(path="a.txt:3-5").startswith(f"{lines}\n\n[")
        assert "holdfast doctor" in pi.command("/readcache-status")
    finally:
        pi.close()


@pytest.mark.shows("AGENT-PI-FALLBACK")
def test_an_error_in_pi_reads_as_its_own_would(pi: Pi) -> None:
    assert "ENOENT" in pi.read(path="missing.txt")
    assert os.path.exists(pi.work / "a.txt")
