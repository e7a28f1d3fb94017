"""Plays a trace through the real readers.

The log grows event by event in the agent's own format. The real code decides every native read, and
what the model would have been sent goes into the log.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.hosts.codex import CodexLog
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.native import Decision, Short
from holdfast.reading.native_reader import NativeReader, OwnRead, OwnShell
from holdfast.reading.objects import Objects
from holdfast.reading.paths import Place
from holdfast.reading.reader import Reader
from holdfast.reading.session_log import SessionLog
from holdfast.replay.texts import Texts, World, changes_of, ids_of
from holdfast.replay.writers import WRITERS, PiWriter, Read, Writer, path_of

KINDS = ("unchanged", "diff", "unseen")


class MemoryObjects(Objects):
    """Texts by digest, in memory."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.texts: dict[str, bytes] = {}

    def keep(self, data: bytes, digest: str, now: float | None = None) -> bool:
        self.texts[digest] = data
        return True

    def load(self, digest: str) -> bytes | None:
        return self.texts.get(digest)


def log_of(kind: str, writer: Writer) -> SessionLog:
    sidecar = Sidecar(writer.folder / "sidecar.jsonl")
    match kind:
        case "codex":
            return CodexLog(writer.path, sidecar)
        case "claude-code" | "claude-code-sub":
            return ClaudeCodeLog(writer.path, sidecar, sidechain=kind == "claude-code-sub")
        case _:
            return PiLog(writer.path, sidecar)


class Player:
    """One context, played through the real reader."""

    def __init__(self, trace: Mapping[str, Any], folder: Path) -> None:
        self.trace = trace
        self.world = World(Texts(trace["sizes"]))
        # The other agents show us their requests instead of a log; pi's log is the most similar.
        self.writer = WRITERS.get(trace["kind"], PiWriter)(folder)
        self.log = log_of(trace["kind"], self.writer)
        self.objects = MemoryObjects(folder)
        reader = Reader(
            Place("/w", "/home"),
            self.objects,
            now_ms=lambda: 1,
            monotonic=lambda: 0.0,
            read_file=self._read_file,
        )
        self.native = NativeReader(reader)
        self.calls: dict[int, str] = {}
        self.read_bytes = 0
        self.saved: dict[str, float] = dict.fromkeys(KINDS, 0.0)
        self.answers: dict[str, int] = dict.fromkeys((*KINDS, "whole"), 0)

    def _read_file(self, path: str) -> tuple[bytes, str]:
        return self.world.data(int(path.removeprefix("/w/f").removesuffix(".txt"))), path

    def play(self) -> None:
        for number, event in enumerate(self.trace["ev"]):
            self._step(number, event)

    def _step(self, number: int, event: dict[str, Any]) -> None:
        at = float(event["t"])
        match event["k"]:
            case "a":
                self.writer.say("assistant", event["ib"], at)
            case "u":
                self.writer.say("user", event["ib"], at)
            case "c":
                self.writer.compact(at)
            case "m":
                calls = [self.calls[one] for one in event["ev"] if one in self.calls]
                self.writer.blank(calls, at)
            case "e":
                self._edit(event, at)
            case "w":
                self._write(event, at)
            case "r" | "R":
                self._read(number, event, at)
            case _:
                self.calls[number] = self.writer.other(event.get("rb", 0), at)

    def _edit(self, event: dict[str, Any], at: float) -> None:
        if event["err"]:
            self.writer.other(100, at)
            return
        before, hunks = changes_of(self.world, event)
        echo = None
        if event.get("l"):
            rows = [self.world.texts.of(i) for i in ids_of(event["l"])]
            self.world.show(event["f"], event["a"], rows, 0)
            echo = (event["a"], rows)
        if hunks:
            self.writer.edited(event["f"], before, hunks, echo, at)

    def _write(self, event: dict[str, Any], at: float) -> None:
        if event["err"]:
            return
        if event.get("de"):
            self.world.files.pop(event["f"], None)
            return
        rows = [self.world.texts.of(i) for i in ids_of(event["l"])]
        self.world.files[event["f"]] = list(rows)
        self.writer.wrote(event["f"], rows, at)

    def _read(self, number: int, event: dict[str, Any], at: float) -> None:
        rows = [self.world.texts.of(i) for i in ids_of(event["l"])]
        size, file, first = event["rb"], event["f"], event["a"]
        self.read_bytes += size
        if file < 0 or not rows or not first:
            self.calls[number] = self.writer.other(size, at)
            self.answers["whole"] += 1
            return
        self.world.show(file, first, rows, event["n"])
        total = len(self.world.files[file])
        over = max(0, size - sum(len(row.encode()) + 1 for row in rows)) / len(rows)
        if event["k"] == "r":
            read = Read(file, first, tuple(rows), total)
            arguments: dict[str, Any] = {"file_path": path_of(file), "path": path_of(file)}
            if first > 1 or len(rows) < total:
                arguments |= {"offset": first, "limit": len(rows)}
            call = self._called("Read", arguments, at)
            own_read = OwnRead(path_of(file), first, tuple(rows), size, round(over))
            decision = self._answer(own_read, call)
            self.writer.read_result(call, read, _text(decision), at)
        else:
            last = first + len(rows) - 1
            whole = first == 1 and last >= total
            command = f"cat {path_of(file)}" if whole else f"sed -n {first},{last}p {path_of(file)}"
            call = self._called("Bash", {"command": command}, at)
            output = "\n".join(rows)
            own = OwnShell(command, "/w", output, self.writer.trimmed)
            decision = self._answer(own, call)
            self.writer.shell_result(call, output, _text(decision), at)
        self.calls[number] = call
        self._count(decision, size, over)

    def _called(self, tool: str, arguments: dict[str, Any], at: float) -> str:
        call = self.writer.call(tool, arguments, at)
        if isinstance(self.log, ClaudeCodeLog):
            self.log.call = call
        return call

    def _answer(self, own: OwnRead | OwnShell, call: str) -> Decision:
        answer = self.native.answer(own, self.log)
        if isinstance(answer, Short):
            self.native.record(self.log, call, answer)
        return answer

    def _count(self, decision: Decision, size: int, over: float) -> None:
        if not isinstance(decision, Short):
            self.answers["whole"] += 1
            return
        # An agent that numbers the rows it prints also numbers ours.
        cost = len(decision.text.encode()) + over * (decision.text.count("\n") + 1)
        self.answers[decision.kind] += 1
        self.saved[decision.kind] += max(0.0, size - cost)


def _text(decision: Decision) -> str | None:
    return decision.text if isinstance(decision, Short) else None


def play(trace: Mapping[str, Any]) -> Player:
    with tempfile.TemporaryDirectory() as folder:
        player = Player(trace, Path(folder))
        player.play()
        return player
