"""Logs as agents would have written them, growing event by event.

One writer per agent writes events in the agent's own log format, with the result that the model
got: the agent's own, or our short form.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.reading.hosts import claude_results
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.replay.texts import Change


def path_of(file: int) -> str:
    """The name that a path number has in a replay."""
    return f"/w/f{file}.txt"


class Writer:
    """An agent's log: one method for each kind of event in a session."""

    trimmed = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0
        self.begin()

    def next_id(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count:06d}"

    def put(self, *lines: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)

    @property
    def path(self) -> Path:
        return self.folder / "session.jsonl"

    def begin(self) -> None: ...

    def say(self, role: str, size: int, at: float) -> None:
        raise NotImplementedError

    def call(self, tool: str, arguments: dict[str, Any], at: float) -> str:
        """The agent calls a tool; returns the id of the call."""
        raise NotImplementedError

    def read_result(self, call: str, read: Read, text: str | None, at: float) -> None:
        """The result of a read, or our short form of it."""
        raise NotImplementedError

    def shell_result(self, call: str, output: str, text: str | None, at: float) -> None:
        raise NotImplementedError

    def edited(
        self, file: int, before: list[str], hunks: list[Change], echo: Echo, at: float
    ) -> None:
        raise NotImplementedError

    def wrote(self, file: int, rows: list[str], at: float) -> None:
        raise NotImplementedError

    def other(self, size: int, at: float) -> str:
        """Some other result of `size` bytes."""
        call = self.call("Bash", {"command": "make"}, at)
        self.shell_result(call, "x" * size, None, at)
        return call

    def compact(self, at: float) -> None:
        raise NotImplementedError

    def blank(self, calls: list[str], at: float) -> None: ...


@dataclass(frozen=True)
class Read:
    """A native read: lines of a file from `first` on, in a file of `total` lines."""

    file: int
    first: int
    rows: tuple[str, ...]
    total: int


Echo = tuple[int, list[str]] | None


def stamp(at: float) -> dict[str, str]:
    if at < 0:
        return {}
    seconds = int(at)
    day, rest = divmod(seconds, 86400)
    hour, rest = divmod(rest, 3600)
    return {"timestamp": f"2026-01-{1 + day % 28:02d}T{hour:02d}:{rest // 60:02d}:{rest % 60:02d}Z"}


class ClaudeWriter(Writer):
    """A transcript of Claude Code, or of one of its subagents."""

    trimmed = True
    sidechain = False

    def begin(self) -> None:
        self.last: str | None = None
        self.last_call: tuple[str, str] = ("", "")

    def line(self, kind: str, at: float, **fields: Any) -> None:
        uuid = self.next_id("u")
        self.put(
            {
                "type": kind,
                "uuid": uuid,
                "parentUuid": self.last,
                "sessionId": "s",
                "cwd": "/w",
                "isSidechain": self.sidechain,
                **stamp(at),
                **fields,
            }
        )
        self.last = uuid

    def say(self, role: str, size: int, at: float) -> None:
        content: Any = "x" * size
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message = {
                "role": role,
                "id": self.next_id("m"),
                "content": [{"type": "text", "text": content}],
            }
        self.line(role, at, message=message)

    def call(self, tool: str, arguments: dict[str, Any], at: float) -> str:
        call = self.next_id("t")
        block = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
        message = {"role": "assistant", "id": self.next_id("m"), "content": [block]}
        self.line("assistant", at, message=message)
        return call

    def result(self, call: str, text: str, structured: Any, at: float) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        self.line(
            "user", at, message={"role": "user", "content": [block]}, toolUseResult=structured
        )

    def read_result(self, call: str, read: Read, text: str | None, at: float) -> None:
        rows = list(read.rows) if text is None else text.split("\n")
        first = read.first if text is None else 1
        file = {
            "filePath": path_of(read.file),
            "content": "\n".join(rows),
            "numLines": len(rows),
            "startLine": first,
            "totalLines": read.total if text is None else len(rows),
        }
        numbered = "\n".join(f"{number:>6}\u2192{row}" for number, row in enumerate(rows, first))
        self.result(call, numbered, {"type": "text", "file": file}, at)

    def shell_result(self, call: str, output: str, text: str | None, at: float) -> None:
        stdout = (output if text is None else text).strip("\n").rstrip()
        structured = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
        self.result(call, stdout, structured, at)

    def edited(
        self, file: int, before: list[str], hunks: list[Change], echo: Echo, at: float
    ) -> None:
        edits = [
            {
                "old_string": "\n".join(one.old),
                "new_string": "\n".join(one.new),
                "replace_all": False,
            }
            for one in hunks
        ]
        path = path_of(file)
        call = self.call("MultiEdit", {"file_path": path, "edits": edits}, at)
        text = f"The file {path} has been updated."
        if echo is not None:
            rows = "\n".join(f"{n:>6}\u2192{row}" for n, row in enumerate(echo[1], echo[0]))
            text += f" Here's the result of running `cat -n` on a snippet of the file:\n{rows}"
        result = {"filePath": path, "edits": edits, "originalFile": "\n".join(before)}
        self.result(call, text, result, at)

    def wrote(self, file: int, rows: list[str], at: float) -> None:
        path, content = path_of(file), "\n".join(rows)
        call = self.call("Write", {"file_path": path, "content": content}, at)
        result = {"type": "create", "filePath": path, "content": content, "structuredPatch": []}
        self.result(call, f"File created successfully at: {path}", result, at)

    def compact(self, at: float) -> None:
        before, self.last = self.last, None
        self.line(
            "system",
            at,
            subtype="compact_boundary",
            logicalParentUuid=before,
            compactMetadata={"trigger": "auto"},
        )
        summary = {"role": "user", "content": "x" * 4000}
        self.line("user", at, message=summary, isCompactSummary=True)

    def blank(self, calls: list[str], at: float) -> None:
        details = {"compactedToolIds": calls}
        self.line("system", at, subtype="microcompact_boundary", microcompactMetadata=details)


class SubagentWriter(ClaudeWriter):
    """The transcript of a Claude Code subagent: a separate file, with only the text of results."""

    sidechain = True

    def result(self, call: str, text: str, structured: Any, at: float) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        self.line("user", at, message={"role": "user", "content": [block]})
        if "edits" in structured:  # the hook gets more, and records where the edit was made
            Sidecar(self.folder / "sidecar.jsonl").record_edit(
                call, claude_results.edit(structured, "")
            )

    @property
    def path(self) -> Path:
        return self.folder / "agent-1.jsonl"


class CodexWriter(Writer):
    """A rollout of Codex."""

    def begin(self) -> None:
        meta = {"id": "s", "cwd": "/w", "cli_version": "0.166.0"}
        self.put({"type": "session_meta", "payload": meta})

    def item(self, at: float, **payload: Any) -> None:
        self.put({"type": "response_item", "payload": payload, **stamp(at)})

    def say(self, role: str, size: int, at: float) -> None:
        content = [{"type": "output_text", "text": "x" * size}]
        self.item(at, type="message", role=role, content=content)

    def call(self, tool: str, values: dict[str, Any], at: float) -> str:
        call = self.next_id("c")
        arguments = json.dumps({"cmd": values["command"]})
        self.item(at, type="function_call", name="exec_command", call_id=call, arguments=arguments)
        return call

    def shell_result(self, call: str, output: str, text: str | None, at: float) -> None:
        head = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
        shown = head + output if text is None else text
        self.item(at, type="function_call_output", call_id=call, output=shown)

    def edited(
        self, file: int, before: list[str], hunks: list[Change], echo: Echo, at: float
    ) -> None:
        rows = ["*** Begin Patch", f"*** Update File: {path_of(file)}"]
        for one in hunks:
            rows += ["@@", *[f"-{row}" for row in one.old], *[f"+{row}" for row in one.new]]
        self.patch([*rows, "*** End Patch"], at)

    def wrote(self, file: int, rows: list[str], at: float) -> None:
        body = [f"+{row}" for row in rows]
        self.patch(
            ["*** Begin Patch", f"*** Add File: {path_of(file)}", *body, "*** End Patch"], at
        )

    def patch(self, rows: list[str], at: float) -> None:
        call = self.next_id("c")
        text = "\n".join(rows)
        self.item(at, type="custom_tool_call", name="apply_patch", call_id=call, input=text)
        output = json.dumps({"output": "Success.", "metadata": {"exit_code": 0}})
        self.item(at, type="custom_tool_call_output", call_id=call, output=output)

    def compact(self, at: float) -> None:
        self.put({"type": "compacted", "payload": {"message": "x" * 4000}})


class PiWriter(Writer):
    """A session file of pi."""

    def begin(self) -> None:
        self.last: str | None = None
        self.put({"type": "session", "version": 3, "id": "s", "cwd": "/w"})

    def entry(self, kind: str, **fields: Any) -> None:
        entry = self.next_id("e")
        self.put({"type": kind, "id": entry, "parentId": self.last, **fields})
        self.last = entry

    def say(self, role: str, size: int, at: float) -> None:
        content = [{"type": "text", "text": "x" * size}]
        self.entry("message", message={"role": role, "content": content})

    def call(self, tool: str, arguments: dict[str, Any], at: float) -> str:
        call = self.next_id("c")
        name = {"Read": "read", "Bash": "bash"}.get(tool, tool)
        block = {"type": "toolCall", "id": call, "name": name, "arguments": arguments}
        self.entry("message", message={"role": "assistant", "content": [block]})
        return call

    def result(self, call: str, name: str, text: str, **fields: Any) -> None:
        message = {
            **fields,
            "role": "toolResult",
            "toolCallId": call,
            "toolName": name,
            "content": [{"type": "text", "text": text}],
            "isError": False,
        }
        self.entry("message", message=message)

    def read_result(self, call: str, read: Read, text: str | None, at: float) -> None:
        last = read.first + len(read.rows) - 1
        shown = "\n".join(read.rows)
        if last < read.total:
            shown += (
                f"\n\n[{read.total - last} more lines in file. Use offset={last + 1} to continue.]"
            )
        self.result(call, "read", shown if text is None else text)

    def shell_result(self, call: str, output: str, text: str | None, at: float) -> None:
        self.result(call, "bash", output if text is None else text)

    def edited(
        self, file: int, before: list[str], hunks: list[Change], echo: Echo, at: float
    ) -> None:
        for one in hunks:
            arguments = {
                "path": path_of(file),
                "oldText": "\n".join(one.old),
                "newText": "\n".join(one.new),
            }
            diff = [f"-{one.first + n:>4} {row}" for n, row in enumerate(one.old)]
            diff += [f"+{one.first + n:>4} {row}" for n, row in enumerate(one.new)]
            details = {"diff": "\n".join(diff)}
            call = self.call("edit", arguments, at)
            self.result(call, "edit", "Successfully replaced text.", details=details)

    def wrote(self, file: int, rows: list[str], at: float) -> None:
        arguments = {"path": path_of(file), "content": "\n".join(rows)}
        self.result(self.call("write", arguments, at), "write", "Successfully wrote.")

    def compact(self, at: float) -> None:
        self.entry("compaction", summary="x" * 4000, firstKeptEntryId=self.last)


WRITERS: dict[str, type[Writer]] = {
    "claude-code": ClaudeWriter,
    "claude-code-sub": SubagentWriter,
    "codex": CodexWriter,
    "pi": PiWriter,
}
