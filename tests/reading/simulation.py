"""Random sessions on every host, judged by the context window itself.

A driver is an agent in miniature: it writes its session file the way the agent does, and keeps,
apart from it, the one thing that matters: which texts stand in the model's context at each point of
the conversation. Compaction empties it, edits take texts out, moving goes back to an earlier one.
"""

from __future__ import annotations

import codecs
import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdfast.errors import ReadingError
from holdfast.reading.answer import Policy
from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.hosts.codex import CodexLog
from holdfast.reading.hosts.native import FileLog, NativeSession
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.objects import Objects, digest_of
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader, Settings
from holdfast.reading.result import Answer
from holdfast.reading.session_log import SessionLog
from holdfast.sessions import StoredLog
from holdfast.store.store import Store, open_store
from tests.reading import window
from tests.reading.pi_session import PiSession

Known = tuple[str, window.Fact | None]
"""A result's id and what it taught, None when it taught nothing."""


class Driver:
    """One conversation: where it stands, and what the model sees there."""

    can_edit = can_move = can_hide = can_fork = False
    in_order = True
    """Whether the answers of one turn know of each other; otherwise two of them may stand on one
    base, and the newer base is not the only one a later diff may use."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        self.root, self.rng = root, rng
        self.clock = 1_777_885_200_000
        self.count = 0
        self.at: str | None = None
        self.contexts: dict[str | None, tuple[Known, ...]] = {None: ()}
        self.open()

    def now_ms(self) -> int:
        self.clock += 1
        return self.clock

    def new_id(self) -> str:
        self.count += 1
        return f"{self.count:08x}"

    @property
    def context(self) -> tuple[Known, ...]:
        return self.contexts[self.at]

    def arrive(self, entry: str, context: tuple[Known, ...]) -> None:
        self.at = entry
        self.contexts[entry] = context

    def forget_others(self, entries: list[str]) -> None:
        """Only these entries exist here."""
        self.contexts = {None: ()} | {e: self.contexts[e] for e in entries}

    def open(self) -> None:
        """Start the session, or open its file again as after a restart."""
        raise NotImplementedError

    def host(self) -> SessionLog:
        raise NotImplementedError

    def owner(self) -> SessionLog:
        """Who may write a refresh into the session."""
        return self.host()

    def begin_turn(self, size: int) -> list[str]:
        """The assistant asks for `size` reads; returns their call ids."""
        return [f"call-{self.new_id()}" for _ in range(size)]

    def select(self, call: str) -> None:
        """The next read answers this call."""

    def answered(self, call: str, answer: Answer) -> None:
        """The tool returned, before anything is in the log."""

    def end_turn(self, results: list[tuple[str, Answer, window.Fact | None]]) -> None:
        """The results arrive in the log, in this order."""
        raise NotImplementedError

    def as_kept(
        self, results: list[tuple[str, Answer, window.Fact | None]]
    ) -> Iterator[tuple[Answer, window.Fact | None]]:
        """The results as they stand in the log: now and then another program took a line off."""
        for _, answer, fact in results:
            rows = answer.text.split("\n")
            shown = answer.mode in ("full", "baseline_fallback", "diff")
            if shown and len(rows) > 1 and self.rng.random() < 0.04:
                self.in_order = self.in_order and len(results) == 1
                at = self.rng.randrange(len(rows))
                del rows[at - rows[at].startswith("\\")]
                yield answer._replace(text="\n".join(rows)), None
            else:
                yield answer, fact

    def say(self, role: str) -> None:
        raise NotImplementedError

    def compact(self) -> None:
        raise NotImplementedError

    def edit(self, target: str) -> None:
        """Take one result out of the context."""
        raise NotImplementedError

    def move(self, entry: str | None) -> None:
        raise NotImplementedError

    def noise(self) -> None:
        """Something in the log that means nothing."""

    def fork(self) -> None:
        raise NotImplementedError


class PiDriver(Driver):
    """pi writes the file, we read it."""

    can_edit = can_move = can_fork = True

    def open(self) -> None:
        self.path = str(self.root / "session.jsonl")
        self._open()
        self.log = PiLog(self.path)

    def _open(self) -> None:
        options: dict[str, Any] = {"now_ms": self.now_ms, "new_id": self.new_id}
        if Path(self.path).exists():
            self.session = PiSession.open(self.path, wait_for_assistant=False, **options)
            self.at = self.session.leaf
        else:
            self.session = PiSession(
                "s", str(self.root), path=self.path, wait_for_assistant=False, **options
            )
            self.say("user")

    def host(self) -> SessionLog:
        return self.log

    def owner(self) -> SessionLog:
        return self.session

    def end_turn(self, results: list[tuple[str, Answer, window.Fact | None]]) -> None:
        for answer, fact in self.as_kept(results):
            before = self.context
            entry = self.session.append_read(answer.content, answer.details)
            self.arrive(entry, (*before, (entry, fact)))

    def say(self, role: str) -> None:
        before = self.context
        entry = self.session.append("message", message={"role": role, "content": "…"})
        self.arrive(entry, before)

    def compact(self) -> None:
        kept = self.rng.choice(self.session.branch() or ["nobody"])
        entry = self.session.append("compaction", summary="…", firstKeptEntryId=kept)
        self.arrive(entry, ())

    def edit(self, target: str) -> None:
        after = tuple(known for known in self.context if known[0] != target)
        replacement = self.rng.choice([None, {"content": "gone"}])
        entry = self.session.append("context_edit", targetId=target, replacement=replacement)
        self.arrive(entry, after)

    def move(self, entry: str | None) -> None:
        self.session.navigate(entry)
        self.at = entry
        self.say("user")

    def noise(self) -> None:
        kind = self.rng.choice(["label", "usage", "model_change", "kind_of_tomorrow"])
        before = self.context
        self.arrive(self.session.append(kind, targetId="x", label="y"), before)

    def fork(self) -> None:
        before = self.context
        path = str(self.root / f"fork-{self.new_id()}.jsonl")
        leaf = self.session.leaf
        self.session = self.session.fork(f"s-{self.count}", path=path, up_to=leaf)
        self.path, self.log = path, PiLog(path)
        self.forget_others(self.session.branch())
        if self.session.leaf is None:
            self.say("user")
        else:
            self.arrive(self.session.leaf, before)


class OwnedPiDriver(PiDriver):
    """A session in pi's format that we own: moves need no message after them."""

    def host(self) -> SessionLog:
        return self.session

    def move(self, entry: str | None) -> None:
        self.session.navigate(entry)
        self.at = entry


class NativeDriver(Driver):
    """Our own log: one process appends, another answers."""

    can_edit = can_move = can_fork = True

    def open(self) -> None:
        self.path = self.root / "native.jsonl"
        if not self.path.exists():
            FileLog.create(self.path, "native")
        self._attach()
        self.writer.catch_up()
        self.at = self.writer.leaf

    def _attach(self) -> None:
        self.writer = NativeSession(FileLog(self.path), now_ms=self.now_ms, new_id=self.new_id)
        self.reading = NativeSession(FileLog(self.path), now_ms=self.now_ms, new_id=self.new_id)

    def host(self) -> SessionLog:
        return self.reading

    def end_turn(self, results: list[tuple[str, Answer, window.Fact | None]]) -> None:
        for answer, fact in self.as_kept(results):
            before = self.context
            entry = self.writer.append_read(answer)
            self.arrive(entry, (*before, (entry, fact)))

    def say(self, role: str) -> None:
        before = self.context
        self.arrive(self.writer.say(role, "…"), before)

    def compact(self) -> None:
        self.arrive(self.writer.compact("…"), ())

    def edit(self, target: str) -> None:
        after = tuple(known for known in self.context if known[0] != target)
        self.arrive(self.writer.edit_context(target), after)

    def move(self, entry: str | None) -> None:
        self.writer.move(entry)
        self.at = entry

    def noise(self) -> None:
        before = self.context
        self.arrive(self.writer.append("note", text="…"), before)

    def fork(self) -> None:
        before = self.context
        path = self.root / f"fork-{self.new_id()}.jsonl"
        other = self.writer.fork(FileLog.create(path, f"native-{self.count}"))
        self.path = path
        self._attach()
        self.writer.catch_up()
        self.forget_others(list(other.tree.ids))
        self.at = other.leaf
        assert self.context == before, "a fork sees what its source saw"


class StoredDriver(NativeDriver):
    """Our own log again, its entries in the store. `path` only names the session."""

    store: Store | None = None

    def open(self) -> None:
        self.path = self.root / "native"
        self._attach()
        self.writer.catch_up()
        self.at = self.writer.leaf

    def _log(self) -> StoredLog:
        if self.store is None:
            self.store = open_store("memory:", "sessions")
        return StoredLog(self.store, self.path.name, f"log-{self.new_id()}")

    def _attach(self) -> None:
        self.writer = NativeSession(self._log(), now_ms=self.now_ms, new_id=self.new_id)
        self.reading = NativeSession(self._log(), now_ms=self.now_ms, new_id=self.new_id)

    def fork(self) -> None:
        before, source = self.context, self.writer
        self.path = self.root / f"fork-{self.new_id()}"
        other = source.fork(self._log())
        self._attach()
        self.writer.catch_up()
        self.forget_others(list(other.tree.ids))
        self.at = other.leaf
        assert self.context == before, "a fork sees what its source saw"


class ClaudeDriver(Driver):
    """Claude Code writes the transcript; our metadata goes into a sidecar."""

    can_move = can_hide = True
    in_order = False

    def open(self) -> None:
        self.path = self.root / "transcript.jsonl"
        self.sidecar = Sidecar(self.root / "sidecar.jsonl")
        self.log = ClaudeCodeLog(self.path, Sidecar(self.root / "sidecar.jsonl"))
        self.calls: dict[str, str] = {}
        if not self.path.exists():
            self.say("user")

    def host(self) -> SessionLog:
        return self.log

    def write(self, kind: str, parent: str | None, **fields: Any) -> str:
        uuid = f"u-{self.new_id()}"
        raw = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": "claude",
            "isSidechain": False,
            "timestamp": datetime.fromtimestamp(self.now_ms() / 1000, UTC).isoformat(),
            **fields,
        }
        with self.path.open("a") as file:
            file.write(json.dumps(raw) + "\n")
        return uuid

    def say(self, role: str) -> None:
        before = self.context
        if self.rng.random() < 0.02:
            self.clock += 2 * 3_600_000  # after a long rest old results are cleared
            before = ()
        message = {"role": role, "id": f"m-{self.new_id()}", "content": [{"type": "text"}]}
        self.arrive(self.write(role, self.at, message=message), before)

    def begin_turn(self, size: int) -> list[str]:
        message = f"m-{self.new_id()}"
        calls = super().begin_turn(size)
        before = self.context
        for call in calls:
            block = {"type": "tool_use", "id": call, "name": "mcp__holdfast__read", "input": {}}
            uuid = self.write("assistant", self.at, message={"id": message, "content": [block]})
            self.calls[call] = uuid
            self.arrive(uuid, before)
        return calls

    def select(self, call: str) -> None:
        self.log.call = call

    def answered(self, call: str, answer: Answer) -> None:
        self.sidecar.record(call, answer)

    def end_turn(self, results: list[tuple[str, Answer, window.Fact | None]]) -> None:
        known = self.context
        lines = []
        for call, answer, fact in results:
            text = answer.text
            if self.rng.random() < 0.05:
                # The host put something else in its place: the model never saw our text.
                text, fact = "<persisted-output>…</persisted-output>", None
                self.in_order = self.in_order and len(results) == 1
            block = {
                "type": "tool_result",
                "tool_use_id": call,
                "content": [{"type": "text", "text": text}],
            }
            lines.append(self.write("user", self.calls[call], message={"content": [block]}))
            known = (*known, (call, fact))
        last = self.rng.choice(lines)
        self.arrive(last, known)

    def native_read(self, path: str, text: str) -> None:
        """The agent uses its own Read."""
        before, call = self.context, f"call-{self.new_id()}"
        block = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}}
        message = {"id": f"m-{self.new_id()}", "content": [block]}
        caller = self.write("assistant", self.at, message=message)
        lines = text.removesuffix("\n").split("\n")
        shown = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(lines, 1))
        file = {
            "filePath": path,
            "content": text,
            "startLine": 1,
            "numLines": len(lines),
            "totalLines": len(lines),
        }
        result = {"type": "tool_result", "tool_use_id": call, "content": shown}
        uuid = self.write(
            "user",
            caller,
            message={"content": [result]},
            toolUseResult={"type": "text", "file": file},
        )
        fact = window.Shown(path, text, 1, tuple(text.split("\n")))
        self.arrive(uuid, (*before, (call, fact)))

    def compact(self) -> None:
        boundary = self.write("system", None, subtype="compact_boundary", logicalParentUuid=self.at)
        summary = self.write("user", boundary, isCompactSummary=True, message={"content": "…"})
        self.arrive(summary, ())

    def edit(self, target: str) -> None:
        after = tuple(known for known in self.context if known[0] != target)
        if self.rng.random() < 0.3:
            told = {"type": "content-replacement", "replacements": [{"toolUseId": target}]}
            with self.path.open("a") as file:
                file.write(json.dumps(told) + "\n")
            self.arrive(str(self.at), after)
            return
        details = {"compactedToolIds": [target]}
        uuid = self.write(
            "system", self.at, subtype="microcompact_boundary", microcompactMetadata=details
        )
        # What comes next hangs below it, or beside it.
        self.arrive(uuid if self.rng.random() < 0.5 else str(self.at), after)

    def move(self, entry: str | None) -> None:
        self.at = entry
        self.say("user")

    def noise(self) -> None:
        with self.path.open("a") as file:
            if self.rng.random() < 0.1:
                file.write('{"type": "system", "subtype": "micro\n')
            file.write(json.dumps({"type": "summary", "summary": "…"}) + "\n")
            side = {"type": "user", "uuid": f"side-{self.new_id()}", "isSidechain": True}
            file.write(json.dumps(side | {"parentUuid": self.at, "message": {}}) + "\n")


class CodexDriver(Driver):
    """Codex writes the rollout; our metadata goes into a sidecar."""

    in_order = False
    room = 10_000

    def open(self) -> None:
        self.path = self.root / "rollout.jsonl"
        self.sidecar = Sidecar(self.root / "sidecar.jsonl")
        self.log = CodexLog(self.path, Sidecar(self.root / "sidecar.jsonl"))
        if not self.path.exists():
            self.turns: list[tuple[Known, ...]] = []
            self.write("session_meta", {"id": "codex"})
            self.say("user")

    def host(self) -> SessionLog:
        return self.log

    def write(self, kind: str, payload: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps({"timestamp": "t", "type": kind, "payload": payload}) + "\n")

    def say(self, role: str) -> None:
        before = self.context
        if role == "user":
            self.turns.append(before)
            self.take_room()
            before = self.context
        self.write("response_item", {"type": "message", "role": role, "content": []})
        self.arrive(self.new_id(), before)

    def take_room(self) -> None:
        """A turn says how much of an output the model is sent; what is older is cut by it too."""
        mode, limit = self.rng.choice([("bytes", 10_000), ("bytes", 300), ("tokens", 10_000)])
        room = limit * 4 if mode == "tokens" else limit
        policy = {"truncation_policy": {"mode": mode, "limit": limit}}
        if self.rng.random() < 0.3:
            room, policy = 10_000, {}
        self.write("turn_context", policy)
        if room < self.room:
            self.arrive(self.new_id(), ())
        self.room = room

    def begin_turn(self, size: int) -> list[str]:
        calls = super().begin_turn(size)
        for call in calls:
            payload = {"type": "function_call", "name": "read", "call_id": call, "arguments": "{}"}
            self.write("response_item", payload)
        self.arrive(self.new_id(), self.context)
        return calls

    def answered(self, call: str, answer: Answer) -> None:
        self.sidecar.record(call, answer)

    def end_turn(self, results: list[tuple[str, Answer, window.Fact | None]]) -> None:
        known = self.context
        for call, answer, fact in results:
            output: Any = answer.text
            form = self.rng.randrange(5)
            if form == 4:
                output = f"Wall time: 0.0123 seconds\nOutput:\n{answer.text}"
            elif form == 0:
                output = {"content": [{"type": "text", "text": answer.text}], "success": True}
            elif form == 1:
                output = json.dumps({"content": [{"type": "text", "text": answer.text}]})
            elif form == 2 and self.rng.random() < 0.2:
                # Too long for the model: shortened in the middle.
                output, fact = f"{answer.text[:20]}… omitted …{answer.text[-20:]}", None
            sent = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
            if len(sent.encode()) > self.room:
                fact = None  # the rollout keeps it whole, the model sees it cut
            payload = {"type": "function_call_output", "call_id": call, "output": output}
            self.write("response_item", payload)
            known = (*known, (call, fact))
        self.arrive(self.new_id(), known)

    def compact(self) -> None:
        self.write("compacted", {"message": "…"})
        self.turns = []
        self.arrive(self.new_id(), ())

    def roll_back(self) -> None:
        """Drop the last turns from the history."""
        if not self.turns:
            return
        turns = self.rng.randint(1, min(3, len(self.turns)))
        after = self.turns[-turns]
        del self.turns[-turns:]
        self.write("event_msg", {"type": "thread_rolled_back", "num_turns": turns})
        self.arrive(self.new_id(), after)

    def noise(self) -> None:
        self.write("event_msg", {"type": "token_count"})
        self.write("kind_of_tomorrow", {})


DRIVERS: dict[str, Callable[[Path, random.Random], Driver]] = {
    "native": NativeDriver,
    "native-stored": StoredDriver,
    "pi": PiDriver,
    "pi-owned": OwnedPiDriver,
    "claude-code": ClaudeDriver,
    "codex": CodexDriver,
}


class Simulation:
    """Files that change, a driver, a reader, and a judge of every answer."""

    def __init__(self, root: Path, name: str, seed: int) -> None:
        self.rng = random.Random(f"{name}-{seed}")
        self.cwd = root / "work"
        self.cwd.mkdir(parents=True)
        self.driver = DRIVERS[name](root, self.rng)
        self.objects = Objects(root / "objects")
        self.versions: dict[str, list[bytes]] = {}
        self.texts: dict[str, str] = {}
        self.modes: dict[str, int] = {}
        self.steps: list[str] = []
        self.maps = 0
        self.shuffles = seed % 3 == 0
        """Whether results of one turn may arrive in another order than they were given."""
        self.in_ranges = seed % 3 == 2
        """Whether no file is read whole, so that ranges overlap without one base for them."""
        self.restart()
        # Long files make truncated texts, and the test slow: some of the sessions have one.
        self.files = ["a.py", "a.py", "b.txt", "b.txt"] + (["long.txt"] if seed % 4 == 1 else [])
        for file in sorted(set(self.files)):
            size = 2400 if file == "long.txt" else self.rng.randint(30 * self.in_ranges, 60)
            # An answer in part pays only where lines are long.
            wide = " and more of it" * 3 if file == "b.txt" else ""
            rows = (f"row {n}{wide} {self.word()}\n" for n in range(size))
            self.write(file, "".join(rows).encode())

    def restart(self) -> None:
        unseen = self.rng.random() < 0.7
        policy = Policy(range_diffs=self.rng.random() < 0.5, unseen=unseen)
        self.reader = Reader(
            Place(str(self.cwd), str(self.cwd)),
            self.objects,
            now_ms=self.driver.now_ms,
            monotonic=lambda: 0.0,
            settings=Settings(policy=policy),
        )

    def word(self) -> str:
        return self.rng.choice(
            ["", "x", "y", "z = 1", "}", "  ", "\r", "++", "é", "\u2028", "\x0c"]
        )

    def write(self, file: str, data: bytes) -> None:
        (self.cwd / file).write_bytes(data)
        self.versions.setdefault(file, []).append(data)
        self.texts[digest_of(data)] = data.decode()
        del self.versions[file][:-6]

    def step(self) -> None:
        choice = self.rng.choices(
            ["read", "change", "say", "compact", "edit", "move", "refresh", "restart", "fork",
             "object", "noise", "rollback", "native", "context"],
            [40, 22, 8, 2, 4, 5, 4, 2, 1, 2, 3, 2, 4, 2],
        )[0]  # fmt: skip
        self.steps.append(choice)
        getattr(self, f"do_{choice}")()

    def do_change(self) -> None:
        file = self.rng.choice(list(self.versions))
        lines = (self.cwd / file).read_bytes().decode().split("\n")
        for _ in range(self.rng.choice([1, 1, 1, 2, 5])):
            at = self.rng.randrange(len(lines))
            what = self.rng.random()
            if what < 0.4:
                lines[at] += self.word() or "!"
            elif what < 0.6:
                lines.insert(at, self.word())
            elif what < 0.75 and len(lines) > 1:
                del lines[at]
            elif what < 0.85:
                lines.append("")
            elif lines[-1] == "" and len(lines) > 1:
                lines.pop()
        data = "\n".join(lines).encode()
        if self.rng.random() < 0.15:
            data = self.rng.choice(self.versions[file])
        elif self.rng.random() < 0.03:
            data = b"" if file != "long.txt" else data
        elif self.rng.random() < 0.05:
            mark = codecs.BOM_UTF8
            data = data.removeprefix(mark) if data.startswith(mark) else mark + data
        self.write(file, data)

    def request(self) -> Request:
        file = self.rng.choice(self.files)
        total = (self.cwd / file).read_bytes().count(b"\n") + 1
        form = self.rng.uniform(0.55 if self.in_ranges else 0, 1)
        bypass = self.rng.random() < 0.05
        if form < 0.45:
            return Request(file, bypass_cache=bypass)
        first = self.rng.randint(1, total)
        if file == "long.txt" and self.rng.random() < 0.6:
            first = self.rng.choice([1, min(2001, total), min(400, total)])
        if form < 0.6:
            return Request(file, offset=first, bypass_cache=bypass)
        limit = self.rng.choice([20, 30, 5] if self.in_ranges else [1, 2, 5, 5, 10, total])
        if form < 0.8:
            return Request(f"{file}:{first}-{first + limit - 1}", bypass_cache=bypass)
        return Request(file, offset=self.rng.choice([None, first]), limit=limit)

    def do_read(self) -> None:
        size = self.rng.choice([1, 1, 1, 1, 2, 3])
        calls = self.driver.begin_turn(size)
        results: list[tuple[str, Answer, window.Fact | None]] = []
        for call in calls:
            self.driver.select(call)
            answer, fact = self.read(self.request(), [fact for _, _, fact in results])
            self.driver.answered(call, answer)
            results.append((call, answer, fact))
            if self.rng.random() < 0.1:
                self.do_change()
        if size > 1 and self.rng.random() < 0.2:
            # Called off: the tool returned, but the model never sees it.
            self.driver.say("user")
            return
        if self.shuffles:
            self.rng.shuffle(results)
        self.driver.end_turn(results)

    def read(
        self, request: Request, same_turn: list[window.Fact | None]
    ) -> tuple[Answer, window.Fact | None]:
        try:
            answer = self.reader.read(request, self.driver.host())
        except ReadingError as error:
            raise AssertionError(f"{request}: {error}") from error
        mode = "unseen" if answer.text.startswith("[holdfast: ") else answer.mode or "none"
        self.modes[mode] = self.modes.get(mode, 0) + 1
        if answer.meta is None:
            return answer, None
        visible = [fact for _, fact in self.driver.context if fact is not None]
        visible += [fact for fact in same_turn if fact is not None]
        current = Path(answer.meta.path).read_bytes().decode()
        fact = window.judge(
            visible,
            answer.meta.path,
            answer.text,
            current,
            answer.meta.first,
            answer.mode,
            newest=self.driver.in_order and not self.shuffles and not same_turn,
        )
        return answer, fact

    def do_say(self) -> None:
        self.driver.say(self.rng.choice(["user", "assistant"]))

    def do_compact(self) -> None:
        self.driver.compact()

    def do_edit(self) -> None:
        targets = [entry for entry, _ in self.driver.context]
        if targets and (self.driver.can_edit or self.driver.can_hide):
            self.driver.edit(self.rng.choice(targets))

    def do_move(self) -> None:
        if self.driver.can_move:
            places = list(self.driver.contexts)
            recent = places[-12:] if self.rng.random() < 0.8 else places
            self.driver.move(self.rng.choice(recent))

    def do_refresh(self) -> None:
        request = self.request()
        before = self.driver.context
        host = self.driver.owner()
        if isinstance(self.driver, ClaudeDriver):
            (call,) = self.driver.begin_turn(1)
            self.driver.select(call)
        self.reader.refresh(request, host)
        if isinstance(self.driver, NativeDriver):
            self.driver.writer.catch_up()
            assert self.driver.writer.leaf is not None
            self.driver.arrive(self.driver.writer.leaf, before)
        elif isinstance(self.driver, PiDriver):
            assert self.driver.session.leaf is not None
            self.driver.arrive(self.driver.session.leaf, before)

    def do_context(self) -> None:
        """Every line of the context map must stand in the window, and be stale if it changed."""
        if isinstance(self.driver, ClaudeDriver):
            (call,) = self.driver.begin_turn(1)
            self.driver.select(call)
        found = self.reader.context(self.driver.host())
        self.maps += len(found.held)
        visible = [fact for _, fact in self.driver.context if fact is not None]
        for file in found.held:
            known = window.knowledge(visible, file.path).known
            now = Path(file.path).read_bytes().decode().split("\n")
            # A marker says that lines are as in an older text, so the text of any version will do.
            texts = set()
            for version, numbers in known.items():
                of_version = version.split("\n")
                texts |= {(n, of_version[n - 1]) for n in numbers}
            for text in file.texts:
                if text.lines_total is None:
                    continue
                if not text.digest:  # known line by line: a line not stale is in the file now
                    known_by_line = {(n, line) for n, line in enumerate(now, 1)} & texts
                    gone = {n for run in text.stale for n in range(run.first, run.last + 1)}
                    for run in text.runs:
                        current = set(range(run.first, run.last + 1)) - gone
                        wrong = current - {n for n, _ in known_by_line}
                        assert not wrong, f"{wrong} of {file.path} are not in the window"
                    continue
                lines = self.texts[text.digest].split("\n")
                stale = {n for run in text.stale for n in range(run.first, run.last + 1)}
                for run in text.runs:
                    numbers = set(range(run.first, run.last + 1))
                    held = {(n, lines[n - 1]) for n in numbers}
                    assert held <= texts, f"{run} of {file.path} is not in the window"
                    kept = [lines[n - 1] for n in sorted(numbers - stale)]
                    assert _in_order(kept, now), f"not all of {run} are in {file.path} now"

    def do_restart(self) -> None:
        before = self.driver.at
        self.restart()
        if isinstance(self.driver, PiDriver):
            if self.driver.path.endswith("session.jsonl"):
                self.driver.open()
        elif not (isinstance(self.driver, NativeDriver) and "fork" in self.driver.path.name):
            self.driver.open()
            if isinstance(self.driver, NativeDriver):
                assert self.driver.at == before, "a native session resumes where it was"

    def do_fork(self) -> None:
        if self.driver.can_fork:
            self.driver.fork()

    def do_object(self) -> None:
        """A stored object vanishes or is damaged."""
        folder = self.objects.root / "objects"
        found = sorted(folder.iterdir()) if folder.exists() else []
        if not found:
            return
        victim = self.rng.choice(found)
        if self.rng.random() < 0.5:
            victim.unlink()
        else:
            victim.write_bytes(victim.read_bytes() + b"damage")

    def do_noise(self) -> None:
        self.driver.noise()

    def do_rollback(self) -> None:
        if isinstance(self.driver, CodexDriver):
            self.driver.roll_back()

    def do_native(self) -> None:
        if isinstance(self.driver, ClaudeDriver):
            path = self.cwd / self.rng.choice(["a.py", "b.txt"])
            self.driver.native_read(str(path), path.read_bytes().decode())


def _in_order(some: list[str], all_lines: list[str]) -> bool:
    """Whether these lines occur in that order, with others between them."""
    rest = iter(all_lines)
    return all(any(line == other for other in rest) for line in some)
