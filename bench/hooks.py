"""What a hook adds to a tool call: `python -m bench.hooks`.

A warm host, and a transcript of Claude Code that has 60 edits of the file and grows by a read each
time. By turns: the tool call that Claude Code makes, through the shim; the socket alone, which the
plugins of OpenCode and pi use; the small clients that Codex, Gemini and Qwen start, in Perl and in
Python; and beside them a Perl and a Python that do nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from bench.arguments import takes_none
from bench.timing import Row, report
from holdfast.agents import hook_client
from holdfast.mcp.hook_protocol import HOOK_TOOL, request_line

ROUNDS = 60
EDITS = 60
WARM_UP = 5
GOAL_P50_MS, GOAL_P95_MS = 15.0, 40.0
TEXT = "".join(f"def line_{n}(): return {n}\n" for n in range(1, 301))


class Conversation:
    """A transcript in which the model reads the same file again and again."""

    def __init__(self, root: Path) -> None:
        self.file, self.log = root / "a.py", root / "s.jsonl"
        self.file.write_text(TEXT)
        self.count = 0
        self._parent: str | None = None

    def _line(self, kind: str, message: dict[str, Any], name: str = "", **more: Any) -> None:
        uuid = f"u{self.count}-{kind}{name}"
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

    def edit(self) -> None:
        """The model changes a line, and changes it back."""
        self.count += 1
        id, path = f"toolu_{self.count}", str(self.file)
        for old, new in (("return 9", "return 99"), ("return 99", "return 9")):
            given = {"file_path": path, "old_string": f"{old}\n", "new_string": f"{new}\n"}
            block = {"type": "tool_use", "id": id + new, "name": "Edit", "input": given}
            self._line("assistant", {"id": f"m{self.count}{new}", "content": [block]}, new)
            block = {"type": "tool_result", "tool_use_id": id + new, "content": "has been updated"}
            lines = [f"-def line_9(): {old}", f"+def line_9(): {new}"]
            patch = {"oldStart": 9, "oldLines": 1, "newStart": 9, "newLines": 1, "lines": lines}
            result = {
                "filePath": path, "oldString": f"{old}\n", "newString": f"{new}\n",
                "structuredPatch": [patch], "replaceAll": False,
            }  # fmt: skip
            self._line("user", {"content": [block]}, new, toolUseResult=result)

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
            rows = by_turns(root, environment, Shim(shim.stdin, shim.stdout))
        finally:
            shim.stdin.close()
            shim.wait(30)
            subprocess.run([*program, "--stop"], env=environment, check=True, capture_output=True)
    return report("hooks", rows)


class Shim:
    """What Claude Code talks to: a hook is a call of a tool, its members are texts."""

    def __init__(self, to: IO[bytes], back: IO[bytes]) -> None:
        self._to, self._back, self._count = to, back, 1
        client = {"name": "claude-code", "version": "2.1.197"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self._ask("initialize", params)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        self._to.write(json.dumps(message).encode() + b"\n")
        self._to.flush()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        while True:
            found: dict[str, Any] = json.loads(self._back.readline())
            if found.get("id") == self._count:
                return found["result"]  # type: ignore[no-any-return]

    def hook(self, payload: dict[str, Any]) -> bool:
        """Call the tool; returns whether the answer replaces the result."""
        texts = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in payload.items()
        }
        arguments = {"agent": "claude-code", **texts}
        result = self._ask("tools/call", {"name": HOOK_TOOL, "arguments": arguments})
        return "updatedToolOutput" in result["content"][0]["text"]


def by_turns(root: Path, environment: dict[str, str], shim: Shim) -> list[Row]:
    talk = Conversation(root)
    first = talk.read()
    talk.shown(first)
    for _ in range(EDITS // 2):
        talk.edit()
    os.chdir(root / "home" / "run")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect("host-default.sock")
    answers = connection.makefile("rb")
    python = [sys.executable, "-I", "-S", hook_client.__file__]
    perl = [shutil.which("perl") or "perl", python[-1].removesuffix("py") + "pl", sys.executable]

    def over_socket(payload: dict[str, Any]) -> bool:
        connection.sendall(request_line("claude-code", payload))
        return answers.readline().strip() != b"{}"

    def by_process(program: list[str], payload: dict[str, Any]) -> bool:
        line = json.dumps(payload).encode()
        command = [*program, "claude-code"]
        return bool(
            subprocess.run(command, input=line, env=environment, capture_output=True).stdout
        )

    ways: dict[str, Callable[[dict[str, Any]], bool]] = {
        "as a tool call (Claude Code)": shim.hook,
        "over the socket (OpenCode, pi)": over_socket,
        "by the Perl client (Codex, Gemini, Qwen)": lambda payload: by_process(perl, payload),
        "by the Python client (without Perl)": lambda payload: by_process(python, payload),
    }
    bare = {
        "a bare Perl": [perl[0], "-e", "1"],
        "a bare Python": [sys.executable, "-I", "-S", "-c", "pass"],
    }
    taken: dict[str, list[float]] = {name: [] for name in (*ways, *bare)}
    short = 0
    for turn in range(ROUNDS):
        for name, way in ways.items():
            payload = talk.read()
            said = False

            def act(way=way, payload=payload) -> None:  # type: ignore[no-untyped-def]
                nonlocal said
                said = way(payload)

            took = milliseconds(act)
            short += said
            talk.shown(payload)
            if turn >= WARM_UP:
                taken[name].append(took)
        for name, command in bare.items():
            took = milliseconds(lambda: subprocess.run(command, capture_output=True))  # noqa: B023
            taken[name].append(took)
    answers.close()
    connection.close()
    out = [Row("answered in short", short, f"of {ROUNDS * len(ways)}")]
    for name in ways:
        spread = statistics.quantiles(taken[name], n=20)
        out.append(_row(f"a hook {name}, p50", spread[9], GOAL_P50_MS))
        out.append(_row(f"a hook {name}, p95", spread[18], GOAL_P95_MS))
    out += [Row(f"{name}, p50", statistics.median(taken[name]), "ms") for name in bare]
    return out


def _row(what: str, value: float, goal: float) -> Row:
    return Row(what, value, "ms", f"{goal:.0f}", value <= goal)


if __name__ == "__main__":
    takes_none("hooks", __doc__)
    raise SystemExit(main())
