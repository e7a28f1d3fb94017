"""Traces of real sessions as logs that agents would have written, growing event by event.

A trace has numbers instead of text: which lines of which file were read, edited, searched. Each
line id becomes a text of the same length, each path number a file. A writer per agent puts the
events into the agent's own log format, with the result that the model got: its own, or our short
form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.reading.hosts import claude_results
from holdfast.reading.hosts.sidecar import Sidecar

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def ids_of(runs: list[int]) -> list[int]:
    """The line ids in runs of first and count."""
    out: list[int] = []
    for at in range(0, len(runs), 2):
        out.extend(range(runs[at], runs[at] + runs[at + 1]))
    return out


def _code(number: int) -> str:
    out = ""
    while number:
        number, digit = divmod(number, len(DIGITS))
        out = DIGITS[digit] + out
    return out


class Texts:
    """A text for each line id, as long as the line was, different for different ids."""

    def __init__(self, sizes: list[int]) -> None:
        self._sizes = sizes
        self._made: dict[int, str] = {}
        self._counts: dict[int, int] = {}
        self._fillers = 0

    def of(self, line: int) -> str:
        if line not in self._made:
            length = abs(self._sizes[line]) - 1
            count = self._counts[length] = self._counts.get(length, 0) + 1
            code = _code(count)
            self._made[line] = (
                (code + "." * length)[:length] if len(code) <= length else "." * length
            )
        return self._made[line]

    def filler(self) -> str:
        """A line that nobody was ever shown."""
        self._fillers += 1
        return f"\u00b7never shown {self._fillers}"


@dataclass
class World:
    """The files of a trace, by path number."""

    texts: Texts
    files: dict[int, list[str]] = field(default_factory=dict)

    def show(self, file: int, first: int, rows: list[str], total: int) -> None:
        """Make the file such that these rows stand there."""
        lines = self.files.setdefault(file, [])
        last = max(total, first + len(rows) - 1)
        if total:
            del lines[total:]
        while len(lines) < last:
            lines.append(self.texts.filler())
        lines[first - 1 : first - 1 + len(rows)] = rows

    def find(self, file: int, rows: list[str]) -> int | None:
        """The line where these rows begin."""
        lines = self.files.get(file, [])
        for at in range(len(lines) - len(rows) + 1):
            if lines[at : at + len(rows)] == rows:
                return at + 1
        return None

    def data(self, file: int) -> bytes:
        return "\n".join(self.files.get(file, [])).encode()


def path_of(file: int) -> str:
    return f"/w/f{file}.txt"


class Writer:
    """An agent's log: one method per thing that can happen in a session."""

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

    def call(self, tool: str, given: dict[str, Any], at: float) -> str:
        """The agent calls a tool; returns the id of the call."""
        raise NotImplementedError

    def read_result(self, call: str, given: Read, text: str | None, at: float) -> None:
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
        """Some other result of so many bytes."""
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


@dataclass(frozen=True)
class Change:
    """Lines replaced, the first numbered as before any change of the same edit."""

    first: int
    old: list[str]
    new: list[str]


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

    def call(self, tool: str, given: dict[str, Any], at: float) -> str:
        call = self.next_id("t")
        block = {"type": "tool_use", "id": call, "name": tool, "input": given}
        message = {"role": "assistant", "id": self.next_id("m"), "content": [block]}
        self.line("assistant", at, message=message)
        return call

    def result(self, call: str, text: str, structured: Any, at: float) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        self.line(
            "user", at, message={"role": "user", "content": [block]}, toolUseResult=structured
        )

    def read_result(self, call: str, given: Read, text: str | None, at: float) -> None:
        rows = list(given.rows) if text is None else text.split("\n")
        first = given.first if text is None else 1
        file = {
            "filePath": path_of(given.file),
            "content": "\n".join(rows),
            "numLines": len(rows),
            "startLine": first,
            "totalLines": given.total if text is None else len(rows),
        }
        shown = "\n".join(f"{number:>6}\u2192{row}" for number, row in enumerate(rows, first))
        self.result(call, shown, {"type": "text", "file": file}, at)

    def shell_result(self, call: str, output: str, text: str | None, at: float) -> None:
        shown = (output if text is None else text).strip("\n").rstrip()
        structured = {"stdout": shown, "stderr": "", "interrupted": False, "isImage": False}
        self.result(call, shown, structured, at)

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
    """A subagent of Claude Code has a transcript of its own, with the texts of results only."""

    sidechain = True

    def result(self, call: str, text: str, structured: Any, at: float) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        self.line("user", at, message={"role": "user", "content": [block]})
        if "edits" in structured:  # the hook is told more, and keeps where the edit was made
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

    def call(self, tool: str, given: dict[str, Any], at: float) -> str:
        call = self.next_id("c")
        arguments = json.dumps({"cmd": given["command"]})
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

    def call(self, tool: str, given: dict[str, Any], at: float) -> str:
        call = self.next_id("c")
        name = {"Read": "read", "Bash": "bash"}.get(tool, tool)
        block = {"type": "toolCall", "id": call, "name": name, "arguments": given}
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

    def read_result(self, call: str, given: Read, text: str | None, at: float) -> None:
        last = given.first + len(given.rows) - 1
        shown = "\n".join(given.rows)
        if last < given.total:
            shown += (
                f"\n\n[{given.total - last} more lines in file. Use offset={last + 1} to continue.]"
            )
        self.result(call, "read", shown if text is None else text)

    def shell_result(self, call: str, output: str, text: str | None, at: float) -> None:
        self.result(call, "bash", output if text is None else text)

    def edited(
        self, file: int, before: list[str], hunks: list[Change], echo: Echo, at: float
    ) -> None:
        for one in hunks:
            given = {
                "path": path_of(file),
                "oldText": "\n".join(one.old),
                "newText": "\n".join(one.new),
            }
            diff = [f"-{one.first + n:>4} {row}" for n, row in enumerate(one.old)]
            diff += [f"+{one.first + n:>4} {row}" for n, row in enumerate(one.new)]
            details = {"diff": "\n".join(diff)}
            call = self.call("edit", given, at)
            self.result(call, "edit", "Successfully replaced text.", details=details)

    def wrote(self, file: int, rows: list[str], at: float) -> None:
        given = {"path": path_of(file), "content": "\n".join(rows)}
        self.result(self.call("write", given, at), "write", "Successfully wrote.")

    def compact(self, at: float) -> None:
        self.entry("compaction", summary="x" * 4000, firstKeptEntryId=self.last)


WRITERS: dict[str, type[Writer]] = {
    "claude-code": ClaudeWriter,
    "claude-code-sub": SubagentWriter,
    "codex": CodexWriter,
    "pi": PiWriter,
}


def changes_of(world: World, event: dict[str, Any]) -> tuple[list[str], list[Change]]:
    """The file before an edit, and its hunks, each made unique by the lines around it."""
    file = event["f"]
    lines = world.files.setdefault(file, [])
    placed: list[tuple[int, int, list[str]]] = []
    for first, old, new, _ in event["h"]:
        rows = [world.texts.of(i) for i in ids_of(new)]
        if len(old) == 3 and old[0] == 0 and old[1] == 0:
            if first:
                placed.append((first, old[2], rows))
            continue
        gone = [world.texts.of(i) for i in ids_of(old)]
        place = first or world.find(file, gone)
        if not place:
            continue
        world.show(file, place, gone, 0)
        placed.append((place, len(gone), rows))
    before = list(lines)
    out: list[Change] = []
    shift = 0
    for place, count, rows in sorted(placed, key=lambda one: one[0]):
        start = place - 1 + shift
        end = min(len(lines), start + count)
        gone = lines[start:end]
        shift += len(rows) - len(gone)
        head = _common(gone, rows)
        tail = _common(gone[head:][::-1], rows[head:][::-1])
        start, end = start + head, end - tail
        fresh = rows[head : len(rows) - tail]
        if lines[start:end] != fresh:
            out.append(_unique(lines, start, end, fresh))
            lines[start:end] = fresh
    return before, out


def _unique(lines: list[str], start: int, end: int, fresh: list[str]) -> Change:
    """The change, widened until its old lines stand in one place only."""
    low, high = start, end
    text = "\n" + "\n".join(lines) + "\n"
    while low > 0 or high < len(lines):
        block = "\n" + "\n".join(lines[low:high]) + "\n"
        if high > low and text.find(block) == text.rfind(block):
            break
        low, high = max(0, low - 1), min(len(lines), high + 1)
    return Change(low + 1, lines[low:high], lines[low:start] + fresh + lines[end:high])


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def load(path: Path) -> Iterator[dict[str, Any]]:
    """The contexts in a file of traces, one at a time."""
    import gzip

    data = path.read_bytes()
    for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines():
        yield json.loads(line)
