"""The twin for an agent's own reads: the request itself, an ordered list of messages.

An agent sends its whole context with every request. The twin keeps that list as the agent builds it
(results, the model's own edits, short answers in our words) and does to it what agents do: compact
with a kept tail, blank old results, trim silently after a rest or when it grows long, rewind. What
the model can know of a file is worked out from the messages that are left, and from nothing else.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.reading.events import Printed
from holdfast.reading.focus import Focus, Part
from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.native import AGAIN, Short
from holdfast.reading.native_reader import NativeReader, OwnRead, OwnShell
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader
from holdfast.reading.session_log import SessionLog, ShownLines
from holdfast.replay import player
from holdfast.replay.texts import Change
from holdfast.replay.writers import (
    WRITERS,
    ClaudeWriter,
    CodexWriter,
    PiWriter,
    Read,
    Writer,
    path_of,
)
from tests.reading import attachments, clipped
from tests.reading.searches import search, search_result
from tests.reading.told import OUR_DIFF, Message, Untrue, known, patched, rebuilt, rows_told

PLACELESS = ("codex", "opencode")
"""Agents whose requests do not say where an edit was made."""

LONG = 110_000
"""An output of so many bytes pushes what is old out of a context of Claude Code. The real bound is
four times that, which costs time and shows nothing else."""

WORDS = ["}", "", "    return value", "value = compute(1)", "def function():", "# a note of mine"]


@dataclass
class State:
    """What a conversation is at: the request, and where its log goes on."""

    request: list[Message] = field(default_factory=list)
    last: Any = None


class Session:
    """A random session of one kind of agent, every short answer judged by the request."""

    def __init__(self, kind: str, seed: int, folder: Path) -> None:
        self.kind, self.rng = kind, random.Random(seed)
        self.writer, self.log = self._opened(folder)
        if isinstance(self.log, ClaudeCodeLog):
            self.log.bytes_back_max = LONG - 10_000
        self.objects = player.MemoryObjects(folder)
        # In part pays only where lines are long; lines that are alike need short ones.
        self.wide = " and more of it" * 3 if seed % 3 == 0 else ""
        self.files = {n: [self.word() for _ in range(self.rng.randint(3, 40))] for n in range(2)}
        self.versions = {n: [list(rows)] for n, rows in self.files.items()}
        self.reader = Reader(
            Place("/w", "/home"),
            self.objects,
            now_ms=lambda: 1,
            monotonic=lambda: 0.0,
            read_file=self._read_file,
        )
        self.native = NativeReader(self.reader)
        self.request: list[Message] = []
        self.places: list[State] = []
        self.at = 0.0
        self.shorts = self.folds = self.unseen = 0
        self.folded: set[int] = set()
        """Files that were folded since the latest compaction: never again."""

    def _opened(self, folder: Path) -> tuple[Writer, SessionLog]:
        writer = WRITERS[self.kind](folder)
        return writer, player.log_of(self.kind, writer)

    def _read_file(self, path: str) -> tuple[bytes, str]:
        number = int(path.removeprefix("/w/f").removesuffix(".txt"))
        return ("\n".join(self.files[number]) + "\n").encode(), path

    def word(self) -> str:
        return self.rng.choice(WORDS) + str(self.rng.randrange(20)) + self.wide

    def step(self) -> None:
        names = ["read", "shell", "change", "edit", "compact", "blank", "rest", "move", "other"]
        names += ["search", "ours", "attach"]
        name = self.rng.choices(names, [40, 12, 14, 14, 2, 2, 2, 3, 6, 6, 12, 5])[0]
        self.at += 1
        getattr(self, f"do_{name}")()

    def do_change(self) -> None:
        """Somebody else writes the file, now and then an older version of it."""
        file = self.rng.choice(list(self.files))
        rows = self.files[file]
        if self.rng.random() < 0.35:
            rows[:] = self.rng.choice(self.versions[file][-5:])
        else:
            at = self.rng.randrange(len(rows) + 1)
            rows[at : at + self.rng.randrange(3)] = [
                self.word() for _ in range(self.rng.randrange(3))
            ]
        rows[:] = rows or ["x"]
        self.versions[file].append(list(rows))

    def do_edit(self) -> None:
        """The model edits lines, or writes the whole file."""
        file = self.rng.choice(list(self.files))
        rows = self.files[file]
        if self.rng.random() < 0.1:
            rows[:] = [self.word() for _ in range(self.rng.randint(1, 30))]
            self.writer.wrote(file, rows, self.at)
            self.request.append(Message(file, "shown", 1, tuple(rows), whole=True))
            return
        first = self.rng.randint(1, len(rows))
        old = rows[first - 1 : first - 1 + self.rng.randint(1, 3)]
        text, part = "\n".join(rows), "\n".join(old)
        if text.find(part) != text.rfind(part):
            return  # not unique, also where two places overlap
        hunk = Change(first, old, [self.word() for _ in range(self.rng.randint(1, 4))])
        before = list(rows)
        rows[first - 1 : first - 1 + len(old)] = hunk.new
        self.writer.edited(file, before, [hunk], None, self.at)
        seen = Change(0, hunk.old, hunk.new) if self.kind in PLACELESS else hunk
        within = self.kind == "opencode"
        self.request.append(Message(file, "edited", hunks=(seen,), within_lines=within))
        self.versions[file].append(list(rows))

    def _range(self) -> tuple[int, int, list[str]]:
        file = self.rng.choice(list(self.files))
        rows = self.files[file]
        if self.rng.random() < 0.4:
            return file, 1, list(rows)
        first = self.rng.randint(1, len(rows))
        return file, first, rows[first - 1 : self.rng.randint(first, len(rows))]

    def do_read(self) -> None:
        if self.kind == "codex":
            self.do_shell()
            return
        file, first, rows = self._range()
        total = len(self.files[file])
        given: dict[str, Any] = {"file_path": path_of(file), "path": path_of(file)}
        if len(rows) < total:
            given |= {"offset": first, "limit": len(rows)}
        call = self._call("Read", given)
        if isinstance(self.writer, ClaudeWriter) and self.rng.random() < 0.05:
            shown = clipped.read_result(self.writer, call, file, first, rows, self.at, self.rng)
            self._shown_in_part(file, first, [(0, shown)], call)
            return
        size = sum(len(row) + 40 for row in rows)
        own = OwnRead(path_of(file), first, tuple(rows), size)
        found = self._ask(own, call, whole="offset" not in given)
        read = Read(file, first, tuple(rows), total)
        self.writer.read_result(call, read, found.text if found else None, self.at)
        self._answered(file, first, rows, call, found)

    def do_shell(self) -> None:
        file, first, rows = self._range()
        last, path = first + len(rows) - 1, path_of(file)
        whole = len(rows) == len(self.files[file])
        command = f"cat {path}" if whole else f"sed -n {first},{last}p {path}"
        call = self._call("Bash", {"command": command})
        output = "\n".join(rows)
        if self.rng.random() < 0.1:
            parts = clipped.shell_result(self.writer, call, rows, self.at, self.rng)
            self._shown_in_part(file, first, parts, call)
            return
        found = self._ask(OwnShell(command, "/w", output, self.writer.trimmed), call)
        self.writer.shell_result(call, output, found.text if found else None, self.at)
        self._answered(file, first, rows, call, found)

    def _shown_in_part(self, file: int, first: int, parts: list[clipped.Part], call: str) -> None:
        """The agent cut a result: the model sees some of its lines."""
        for skipped, rows in parts:
            self.request.append(Message(file, "shown", first + skipped, tuple(rows), call=call))
        self.places.append(State(list(self.request), getattr(self.writer, "last", None)))

    def do_search(self) -> None:
        """A search of ours prints some runs of lines as they are, among other words."""
        if isinstance(self.writer, PiWriter):
            return  # it has none
        lines: list[Printed] = []
        for _ in range(self.rng.randint(1, 3)):
            file, first, rows = self._range()
            first += self.rng.randrange(len(rows))
            rows = self.files[file][first - 1 : first - 1 + self.rng.randint(1, 8)]
            lines.append(Printed(path_of(file), first, tuple(rows), excerpt=True))
        text = "\n".join(
            f"{one.path}:{one.first}  found\n"
            + "\n".join(f"{n} {row}" for n, row in enumerate(one.rows, one.first))
            for one in lines
        )
        call = search(self.writer, self.at)
        assert isinstance(self.log, ShownLines)
        self.log.record_shown(lines, text, call)
        if self.rng.random() < 0.1:
            # Put into a file by the agent, so that the model is shown a part of it.
            search_result(self.writer, call, f"<persisted-output>{text[:20]}", self.at)
            return
        search_result(self.writer, call, text, self.at)
        for one in lines:
            file = int(one.path.removeprefix("/w/f").removesuffix(".txt"))
            self.request.append(Message(file, "shown", one.first, one.rows, call=call))
        self.places.append(State(list(self.request), getattr(self.writer, "last", None)))

    def do_ours(self) -> None:
        """The model calls our own read."""
        if isinstance(self.writer, PiWriter):
            return  # there it stands in the place of the agent's own
        file, first, rows = self._range()
        whole = first == 1 and len(rows) == len(self.files[file])
        path = path_of(file)
        asked = Request(path) if whole else Request(path, first, len(rows))
        call = search(self.writer, self.at)
        if isinstance(self.log, ClaudeCodeLog):
            self.log.call = call
        answer = self.reader.only_unseen().read(asked, self.log)
        self.log.record(answer, call)
        text = re.sub(r"\n\n\[\d+ more lines in file\. .*\]\Z", "", answer.text)
        if self.rng.random() < 0.05:
            search_result(self.writer, call, f"<persisted-output>{text[:20]}", self.at)
            return
        search_result(self.writer, call, answer.text, self.at)
        short = text.startswith(("[readcache: ", "[holdfast: "))
        if short:
            self.unseen += text.startswith("[holdfast: ")
            made = (
                patched(self.request, file, text)
                if text.startswith(OUR_DIFF)
                else rebuilt(known(self.request, file), text)
            )
            if made != rows:
                raise Untrue(f"the request does not give {text[:60]!r}")
        elif text.removesuffix("\n" if whole else "") != "\n".join(rows):
            raise Untrue(f"a plain read of other lines: {text[:60]!r}")
        message = Message(file, "shown", first, tuple(rows), whole, call=call, ours=True)
        if short:
            message = Message(file, "short", first, (), whole, (), text, call, ours=True)
        self.request.append(message)
        self.places.append(State(list(self.request), getattr(self.writer, "last", None)))

    def do_attach(self) -> None:
        """The agent itself adds a file to the conversation, or the lines of it that changed."""
        if not isinstance(self.writer, ClaudeWriter):
            return
        file = self.rng.choice(list(self.files))
        rows = list(self.files[file])
        parts, whole = attachments.attached(self.writer, file, rows, self.at, self.rng)
        for first, part in parts:
            self.request.append(Message(file, "shown", first, tuple(part), whole))
        self.places.append(State(list(self.request), getattr(self.writer, "last", None)))

    def _call(self, tool: str, given: dict[str, Any]) -> str:
        call = self.writer.call(tool, given, self.at)
        if isinstance(self.writer, ClaudeWriter):
            self.log.call = call  # type: ignore[attr-defined]
        return call

    def _focuser(self, path: str, rows: Sequence[str]) -> Focus | None:
        """Some lines open and some folded, as it comes; what is better left whole is left whole."""
        if self.rng.random() < 0.3:
            return None
        cuts = sorted(self.rng.sample(range(2, len(rows) + 1), min(4, len(rows) - 1)))
        ends = zip([1, *cuts], [*(cut - 1 for cut in cuts), len(rows)], strict=True)
        titles = [self.rng.choice([None, "def x():", "a [3-4:] title"]) for _ in range(5)]
        parts = tuple(Part(a, b, t) for (a, b), t in zip(ends, titles, strict=False))
        return Focus(parts, len(rows))

    def _ask(self, own: OwnRead | OwnShell, call: str, *, whole: bool = False) -> Short | None:
        focuser = self._focuser if whole else None
        found = self.native.answer(own, self.log, focuser=focuser)
        if not isinstance(found, Short):
            return None
        self.native.record(self.log, call, found)
        self.shorts += 1
        return found

    def _answered(
        self, file: int, first: int, rows: list[str], call: str, found: Short | None
    ) -> None:
        whole = first == 1 and len(rows) == len(self.files[file])
        if found is not None:
            if AGAIN not in found.text:
                raise Untrue("a short answer without a way to the text")
            if found.kind == "focused":
                self._judge_fold(file, rows, found.text)
            elif rebuilt(known(self.request, file), found.text) != rows:
                raise Untrue(f"the request does not give {found.text[:60]!r}")
        text = "" if found is None else found.text
        kind = "shown" if found is None else "short"
        self.request.append(
            Message(file, kind, first, tuple(rows) if not text else (), whole, (), text, call)
        )
        self.places.append(State(list(self.request), getattr(self.writer, "last", None)))

    def _judge_fold(self, file: int, rows: list[str], text: str) -> None:
        """Lines shown are the file's; and it was not folded before, nor are its lines known."""
        self.folds += 1
        for told, row in zip(rows_told({}, text), rows, strict=True):
            if told not in (None, row):
                raise Untrue(f"a focused answer shows {told!r} for {row!r}")
        if file in self.folded:
            raise Untrue("a second whole read was folded")
        self.folded.add(file)

    def do_compact(self) -> None:
        """The latest messages are kept as they are, whatever they refer to."""
        self.folded.clear()
        self.request = self.request[len(self.request) - self.rng.randrange(4) :][-3:]
        if isinstance(self.writer, CodexWriter):
            # There the log has what is kept; older versions kept messages only.
            kept = [{"type": "function_call_output", "call_id": m.call} for m in self.request]
            payload = {"message": "x", "replacement_history": kept}
            self.writer.put({"type": "compacted", "payload": payload})
        else:
            self.writer.compact(self.at)
        self.places.clear()

    def do_blank(self) -> None:
        """Old results are cleared from the context, and the log says so."""
        if not isinstance(self.writer, ClaudeWriter):
            return
        gone = [m.call for m in self.request if m.call and self.rng.random() < 0.5]
        self.writer.blank(gone, self.at)
        self.request = [m for m in self.request if m.call not in gone or not m.call]
        self.places.clear()

    def do_rest(self) -> None:
        """After an hour old results may be gone without a line in the log."""
        if self.kind.startswith("claude"):
            self.at += 4000
            self.request = self.request[-self.rng.randrange(1, 6) :]
            self.writer.say("user", 10, self.at)
            self.places.clear()

    def do_move(self) -> None:
        """Back to an earlier point of the conversation, or in Codex without its last turns."""
        if isinstance(self.writer, CodexWriter):
            payload = {"type": "thread_rolled_back", "num_turns": 1}
            self.writer.put({"type": "event_msg", "payload": payload})
            self.request = self.request[: self.rng.randrange(len(self.request) + 1)]
        elif isinstance(self.writer, ClaudeWriter | PiWriter) and self.places:
            state = self.rng.choice(self.places[-8:])
            self.request, self.writer.last = list(state.request), state.last
            self.writer.say("user", 10, self.at)

    def do_other(self) -> None:
        """Some other output; a very long one pushes what is old out of the context."""
        trims = isinstance(self.writer, ClaudeWriter)
        size = self.rng.choice([10, 100, 1000, 1000, LONG if trims else 1000])
        self.writer.other(size, self.at)
        if size == LONG:
            self.request = self.request[self.rng.randrange(len(self.request) + 1) :]
            self.places.clear()
