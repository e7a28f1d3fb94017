"""What a hook adds to a tool call: `python -m bench.hooks`.

A warm host, a transcript of Claude Code that grows by a read each time, and by turns: the socket
alone, the small client that Codex starts, and beside them a bare Python that does nothing.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.timing import Row, report
from holdfast.agents import hook_client
from holdfast.mcp.hook_protocol import request_line

ROUNDS = 60
GOAL_P50_MS, GOAL_P95_MS = 15.0, 40.0
TEXT = "".join(f"def line_{n}(): return {n}\n" for n in range(1, 301))


class Conversation:
    """A transcript in which the model reads the same file again and again."""

    def __init__(self, root: Path) -> None:
        self.file, self.log = root / "a.py", root / "s.jsonl"
        self.file.write_text(TEXT)
        self.count = 0
        self._parent: str | None = None

    def _line(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        uuid = f"u{self.count}-{kind}"
        line = {
            "type": kind, "uuid": uuid, "parentUuid": self._parent, "sessionId": "s",
            "isSidechain": False, "message": message, **more,
        }  # fmt: skip
        with self.log.open("a") as out:
            out.write(json.dumps(line) + "\n")
        self._parent = uuid

    def read(self) -> dict[str, Any]:
        """The payload of the next read, which the transcript shows as pending."""
        self.count += 1
        id, given = f"toolu_{self.count}", {"file_path": str(self.file)}
        block = {"type": "tool_use", "id": id, "name": "Read", "input": given}
        self._line("assistant", {"id": f"m{self.count}", "content": [block]})
        lines = TEXT.count("\n") + 1
        file = {
            "filePath": str(self.file), "content": TEXT, "numLines": lines, "startLine": 1,
            "totalLines": lines,
        }  # fmt: skip
        result = {"type": "text", "file": file}
        return {
            "hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": str(self.log),
            "cwd": str(self.file.parent), "tool_name": "Read", "tool_use_id": id,
            "tool_input": given, "tool_response": result,
        }  # fmt: skip

    def shown(self, payload: dict[str, Any]) -> None:
        """The transcript has the result."""
        content = "\n".join(f"{n}\t{row}" for n, row in enumerate(TEXT.split("\n"), start=1))
        block = {"type": "tool_result", "tool_use_id": payload["tool_use_id"], "content": content}
        self._line("user", {"content": [block]}, toolUseResult=payload["tool_response"])


def milliseconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1000


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return measure(Path(folder))


def measure(root: Path) -> int:
    environment = {**os.environ, "HOLDFAST_HOME": str(root / "home")}
    program = [sys.executable, "-m", "holdfast", "mcp"]
    with subprocess.Popen(
        program, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as shim:
        assert shim.stdin is not None
        assert shim.stdout is not None
        shim.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        shim.stdin.flush()
        shim.stdout.readline()
        try:
            rows = by_turns(root, environment)
        finally:
            shim.stdin.close()
            shim.wait(30)
            subprocess.run([*program, "--stop"], env=environment, check=True, capture_output=True)
    return report("hooks", rows)


def by_turns(root: Path, environment: dict[str, str]) -> list[Row]:
    talk = Conversation(root)
    os.chdir(root / "home" / "run")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect("host-default.sock")
    answers = connection.makefile("rb")
    client = [sys.executable, "-I", "-S", hook_client.__file__, "claude-code"]
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    taken: dict[str, list[float]] = {"socket": [], "client": [], "bare": []}
    short = 0

    def ask(payload: dict[str, Any]) -> None:
        nonlocal short
        connection.sendall(request_line("claude-code", payload))
        short += answers.readline().strip() != b"{}"

    for turn in range(ROUNDS):
        payload = talk.read()
        line = json.dumps(payload).encode()
        took = milliseconds(lambda: ask(payload))  # noqa: B023
        talk.shown(payload)
        payload = talk.read()
        line = json.dumps(payload).encode()
        through = milliseconds(
            lambda: subprocess.run(client, input=line, env=environment, capture_output=True)  # noqa: B023
        )
        talk.shown(payload)
        nothing = milliseconds(lambda: subprocess.run(bare, capture_output=True))
        if turn >= 5:
            taken["socket"].append(took)
            taken["client"].append(through)
            taken["bare"].append(nothing)
    answers.close()
    connection.close()
    out = [Row("answered in short over the socket", short, f"of {ROUNDS}")]
    for name, what in (("socket", "a hook over the socket"), ("client", "a hook by the client")):
        spread = statistics.quantiles(taken[name], n=20)
        out.append(_row(f"{what}, p50", spread[9], GOAL_P50_MS))
        out.append(_row(f"{what}, p95", spread[18], GOAL_P95_MS))
    out.append(Row("a bare Python, p50", statistics.median(taken["bare"]), "ms"))
    return out


def _row(what: str, value: float, goal: float) -> Row:
    return Row(what, value, "ms", f"{goal:.0f}", value <= goal)


if __name__ == "__main__":
    raise SystemExit(main())
