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
from holdfast.reading.session_log import ShownLines
from holdfast.replay import player
from holdfast.replay.texts import Change
from holdfast.replay.writers import WRITERS, ClaudeWriter, CodexWriter, PiWriter, Read, path_of
from tests.reading import window
from tests.reading.searches import search, search_result


class Untrue(AssertionError):
    """A short answer that the request does not bear out."""


@dataclass(frozen=True)
class Message:
    """One message of the request that tells something about a file."""

    file: int
    kind: str
    """shown, edited or short."""
    first: int = 0
    rows: tuple[str, ...] = ()
    whole: bool = False
    hunks: tuple[Change, ...] = ()
    text: str = ""
    call: str = ""
    ours: bool = False
    """Whether it is an answer of our own read."""


def known(request: list[Message], file: int) -> dict[int, str]:
    """For each line number the newest text that these messages give it."""
    lines: dict[int, str] = {}
    for at, message in enumerate(request):
        if message.file != file:
            continue
        if message.text.startswith(OUR_DIFF):
            lines = dict(enumerate(patched(request[:at], file, message.text) or (), 1))
        elif message.kind == "shown":
            lines = {} if message.whole else lines
            lines.update(enumerate(message.rows, message.first))
        elif message.kind == "edited":
            for hunk in message.hunks:
                hunk = hunk if hunk.first else _placed(lines, hunk)
                if not hunk.first:
                    lines = {}
                    continue
                delta = len(hunk.new) - len(hunk.old)
                end = hunk.first + len(hunk.old)
                lines = {
                    n if n < hunk.first else n + delta: row
                    for n, row in lines.items()
                    if n < hunk.first or n >= end
                }
                lines.update(enumerate(hunk.new, hunk.first))
        else:
            # What it refers to may be gone: its own words stay, and say how to get the rest.
            rows = _told(lines, message.text)
            count = len(rows)
            lines = {
                n: row
                for n, row in lines.items()
                if not message.whole and not message.first <= n < message.first + count
            }
            told = enumerate(rows, message.first)
            lines.update({number: row for number, row in told if row is not None})
    return lines


OUR_DIFF = tuple(f"[readcache: {digit}" for digit in "0123456789")
"""How a diff of our own read begins. It is against a whole text that our read gave before."""


def patched(request: Sequence[Message], file: int, text: str) -> list[str] | None:
    """The lines that a diff of our own read gives, by a text that these messages have."""
    wholes: list[str] = []
    found = None
    for message in (*request, Message(file, "short", whole=True, text=text, ours=True)):
        if message.file != file or not message.ours or not message.whole:
            continue
        if message.kind == "shown":
            wholes.append("\n".join(message.rows) + "\n")
        elif message.text.startswith(OUR_DIFF):
            patch = message.text.partition("\n")[2]
            made = (window.apply_patch(base, patch) for base in reversed(wholes))
            found = next((one for one in made if one is not None), None)
            wholes += [] if found is None else [found]
    return None if found is None else found.removesuffix("\n").split("\n")


def _placed(lines: dict[int, str], hunk: Change) -> Change:
    """The change at the one place where the model saw its old lines; a patch has no numbers."""
    found = [n for n in lines if all(lines.get(n + at) == row for at, row in enumerate(hunk.old))]
    return Change(found[0] if len(found) == 1 else 0, hunk.old, hunk.new)


def rebuilt(lines: dict[int, str], text: str) -> list[str]:
    """The lines that a short answer stands for, by its words and what is known; none is missing."""
    rows = _told(lines, text, strict=True)
    if any(row is None for row in rows):
        raise Untrue(f"a line is not in the request: {text[:80]!r}")
    return [row for row in rows if row is not None]


def _told(lines: dict[int, str], text: str, *, strict: bool = False) -> list[str | None]:
    """The same, with None where a line is referred to that is not known."""
    head, *rest = text.split("\n")
    if focused := re.match(r"\[holdfast: (\d+) lines, (\d+) of them shown and the rest fold", head):
        rows = _pieced({}, rest)
        shown = sum(row is not None for row in rows)
        if len(rows) != int(focused[1]) or shown != int(focused[2]):
            raise Untrue(f"a focused answer of {len(rows)} lines, {shown} shown: {head!r}")
        return rows
    if head.startswith("[readcache: "):
        return _told_by_read(lines, head)
    where = re.match(r"\[holdfast: lines? (\d+)(?:-(\d+))?", head)
    if where is None:
        raise Untrue(f"not a short answer: {head!r}")
    first, last = int(where[1]), int(where[2] or where[1])
    if " unchanged" in head:
        return [lines.get(n) for n in range(first, last + 1)]
    if "with this diff" in head:
        return _patched(lines, rest, (first, last), strict)
    return _pieced(lines, rest)


def _told_by_read(lines: dict[int, str], head: str) -> list[str | None]:
    """What an answer of our own read stands for, without the empty line behind a last newline."""
    if found := re.match(r"\[readcache: unchanged in lines (\d+)-(\d+)", head):
        return [lines.get(n) for n in range(int(found[1]), int(found[2]) + 1)]
    if found := re.match(r"\[readcache: unchanged, (\d+) lines\]", head):
        return [lines.get(n) for n in range(1, int(found[1]))]
    raise Untrue(f"not an answer of our read: {head!r}")


def _pieced(lines: dict[int, str], rest: list[str]) -> list[str | None]:
    out: list[str | None] = []
    while rest:
        row = rest.pop(0)
        if found := re.fullmatch(r"\[(\d+)(?:-(\d+))?:\]", row):
            count = int(found[2] or found[1]) - int(found[1]) + 1
            out += rest[:count]
            del rest[:count]
            continue
        if found := re.fullmatch(r"\[(\d+)(?:-(\d+))? folded: .*\]", row):
            out += [None] * (int(found[2] or found[1]) - int(found[1]) + 1)
            continue
        found = re.fullmatch(
            r"\[(\d+)(?:-(\d+))? as you have them(?:, there numbered (\d+)-\d+)?\]", row
        )
        if found is None:
            raise Untrue(f"not a part of a short answer: {row!r}")
        start = int(found[3] or found[1])
        count = int(found[2] or found[1]) - int(found[1]) + 1
        out += [lines.get(start + at) for at in range(count)]
    return out


def _patched(
    lines: dict[int, str], rows: list[str], asked: tuple[int, int], strict: bool
) -> list[str | None]:
    out: list[str | None] = []
    number, old, shift = asked[0], 0, 0
    for row in rows:
        if hunk := re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", row):
            old, start = int(hunk[1]) + (hunk[2] == "0"), int(hunk[3]) + (hunk[4] == "0")
            out += [lines.get(n + old - start) for n in range(number, start)]
            number = start
            continue
        if row[0] in "- ":
            if strict and lines.get(old) != row[1:]:
                raise Untrue(f"the diff has {row!r}, the request {lines.get(old)!r}")
            old += 1
        if row[0] in "+ ":
            out.append(row[1:])
            number += 1
        shift = old - number
    return [*out, *(lines.get(n + shift) for n in range(number, asked[1] + 1))]


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
        self.writer = WRITERS[kind](folder)
        self.log = player.log_of(kind, self.writer)
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

    def _read_file(self, path: str) -> tuple[bytes, str]:
        number = int(path.removeprefix("/w/f").removesuffix(".txt"))
        return ("\n".join(self.files[number]) + "\n").encode(), path

    def word(self) -> str:
        return self.rng.choice(WORDS) + str(self.rng.randrange(20)) + self.wide

    def step(self) -> None:
        names = ["read", "shell", "change", "edit", "compact", "blank", "rest", "move", "other"]
        names += ["search", "ours"]
        name = self.rng.choices(names, [40, 12, 14, 14, 2, 2, 2, 3, 6, 6, 12])[0]
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
        seen = Change(0, hunk.old, hunk.new) if self.kind == "codex" else hunk
        self.request.append(Message(file, "edited", hunks=(seen,)))
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
        found = self._ask(OwnShell(command, "/w", output, self.writer.trimmed), call)
        self.writer.shell_result(call, output, found.text if found else None, self.at)
        self._answered(file, first, rows, call, found)

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
        for told, row in zip(_told({}, text), rows, strict=True):
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
