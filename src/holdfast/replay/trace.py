"""A conversation as a trace: its reads, edits and searches as numbers, in the order of the log.

Equal lines have the same id in all files; lists of ids are runs of first and count. For the format
of a trace see `bench.traces` and `holdfast.replay.player`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.reading.history.reads import Change, Shown, changes, shown
from holdfast.reading.history.steps import (
    Blanked,
    Called,
    Compacted,
    Context,
    Returned,
    Said,
    strings,
)

TRIVIAL = 2
"""A line of at most this many characters proves nothing by itself."""


def trace_of(context: Context) -> dict[str, Any]:
    """The trace of one conversation."""
    maker = _Maker()
    for step in context.steps:
        match step:
            case Said(role, text, at):
                maker.add("u" if role == "user" else "a", at, ib=_size(text))
            case Called(_, _, arguments, at):
                maker.add("a", at, ib=sum(map(_size, strings(arguments))))
            case Returned():
                maker.returned(step)
            case Compacted(at):
                maker.add("c", at)
            case Blanked(calls, at):
                places = [maker.places[call] for call in calls if call in maker.places]
                maker.add("m", at, ev=places)
    return {"v": 1, "s": context.name, "kind": context.kind, "sizes": maker.sizes, "ev": maker.ev}


class _Maker:
    def __init__(self) -> None:
        self.ev: list[dict[str, Any]] = []
        self.sizes: list[int] = []
        self.places: dict[str, int] = {}
        self._ids: dict[str, int] = {}
        self._paths: dict[str, int] = {}
        self._files: dict[str, list[str]] = {}
        """The lines of each file as far as they were shown; unknown lines are empty."""

    def add(self, kind: str, at_s: float, **fields: Any) -> None:
        self.ev.append({"k": kind, "t": at_s, **fields})

    def returned(self, step: Returned) -> None:
        self.places[step.id] = len(self.ev)
        read, edits = shown(step), changes(step)
        if read is not None:
            self._read(read, step.at_s)
        elif edits:
            for change in edits:
                self._change(change, step.at_s)
        else:
            self.add("o", step.at_s, rb=_size(step.text), ib=0)

    def _read(self, read: Shown, at_s: float) -> None:
        rows = list(read.rows)
        total = max(read.total, len(rows) if read.whole else 0)
        self.add(
            "R" if read.shell else "r",
            at_s,
            f=self._path(read.path),
            a=read.first,
            n=total,
            l=self._runs(rows),
            rb=read.size_bytes,
            ib=0,
        )
        lines = [] if read.whole else self._files.setdefault(read.path, [])
        lines += [""] * (read.first - 1 + len(rows) - len(lines))
        lines[read.first - 1 : read.first - 1 + len(rows)] = rows
        self._files[read.path] = lines

    def _change(self, change: Change, at_s: float) -> None:
        file = self._path(change.path)
        if change.old is None:
            rows = change.new.split("\n")
            self._files[change.path] = list(rows)
            self.add("w", at_s, f=file, err=0, l=self._runs(rows))
            return
        text = "\n".join(self._files.get(change.path, []))
        if not change.old or change.old not in text:
            self._files.pop(change.path, None)
            self.add("o", at_s, rb=100, ib=0)
            return
        hunks: list[tuple[int, list[str], list[str]]] = []
        start, count = 0, 0
        while (at := text.find(change.old, start)) >= 0 and (change.every or not count):
            head = text.rfind("\n", 0, at) + 1
            tail = text.find("\n", at + len(change.old))
            tail = len(text) if tail < 0 else tail
            old = text[head:tail]
            new = text[head:at] + change.new + text[at + len(change.old) : tail]
            first = text.count("\n", 0, head) + 1
            if not hunks or first > hunks[-1][0] + len(hunks[-1][1]) - 1:
                hunks.append((first, old.split("\n"), new.split("\n")))
            start, count = max(tail, at + 1), count + 1
        self._files[change.path] = text.replace(
            change.old, change.new, -1 if change.every else 1
        ).split("\n")
        listed = [[first, self._runs(old), self._runs(new), 0] for first, old, new in hunks]
        self.add("e", at_s, f=file, err=0, h=listed, a=0, l=[])

    def _path(self, path: str) -> int:
        return self._paths.setdefault(path, len(self._paths))

    def _runs(self, rows: Sequence[str]) -> list[int]:
        return runs(self._id(row) for row in rows)

    def _id(self, row: str) -> int:
        if row not in self._ids:
            self._ids[row] = len(self.sizes)
            size = _size(row) + 1
            self.sizes.append(-size if len(row) <= TRIVIAL else size)
        return self._ids[row]


def runs(ids: Iterable[int]) -> list[int]:
    """Ids as runs of first and count."""
    out: list[int] = []
    for one in ids:
        if out and out[-2] + out[-1] == one:
            out[-1] += 1
        else:
            out += [one, 1]
    return out


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
