"""The context map: which lines of which files the model holds, and whether the disk still has them.

It is computed from the same trust that answers reads, so it claims a line only if a read of it
could be answered without its text. Before a compaction it shows what would be lost; after one,
what was lost: the recovery list. Costs are estimated at four bytes to a token, as savings are.

May leave out lines that the model still sees. Never lists one that it does not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.reading import diff
from holdfast.reading import scope as scopes
from holdfast.reading.answer import Current, lines_of, stored_text_rows, strict_text
from holdfast.reading.baseline import decode
from holdfast.reading.scope import Lines, Scope
from holdfast.reading.tree import beginning
from holdfast.reading.trust import Trust
from holdfast.text import counted

if TYPE_CHECKING:
    from holdfast.reading.report import FileReport, State, TextReport

BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class HeldText:
    """Lines of one version of a file; numbers are those of that version.

    `lines_total` is None when the version is no longer kept, so that its length is unknown; then
    a hold on all of it is the one run (1, 0).
    """

    digest: str
    runs: tuple[Lines, ...]
    stale: tuple[Lines, ...]
    """The held lines that the file no longer has."""
    lines_total: int | None
    size_bytes: int
    as_on_disk: bool = False
    """Whether the file still has every held line under the same number."""
    empty_end: bool = False
    """Whether its last line is the empty one after a final newline, which people do not count."""

    @property
    def lines_shown(self) -> int:
        """How many lines are held, counted as `wc -l` does."""
        return _count(self.runs) - (
            self.empty_end and bool(self.runs) and self.runs[-1].last == self.lines_total
        )

    @property
    def whole(self) -> bool:
        return self.runs == (Lines(1, self.lines_total or 0),)

    def report(self) -> TextReport:
        from holdfast.reading.report import TextReport

        lines, stale = _pairs(self.runs), _pairs(self.stale)
        return TextReport(self.digest, self.whole, lines, stale, self.lines_total)


@dataclass(frozen=True, slots=True)
class HeldFile:
    """The held lines of one file; the version held last comes first."""

    path: str
    state: State
    texts: tuple[HeldText, ...]
    lines_now: int | None = None

    @property
    def tokens(self) -> int:
        return -(-sum(text.size_bytes for text in self.texts) // BYTES_PER_TOKEN)

    @property
    def lines(self) -> int:
        return sum(_count(text.runs) for text in self.texts)

    @property
    def stale_lines(self) -> int:
        return sum(_count(text.stale) for text in self.texts)

    def report(self) -> FileReport:
        from holdfast.reading.report import FileReport

        texts = tuple([text.report() for text in self.texts])
        lines = (self.lines, self.stale_lines, self.lines_now)
        return FileReport(self.path, self.state, *lines, self.tokens, texts)


ReadCall = Callable[[str, Lines | None], str]
"""Formats the call that reads a file, or a run of its lines, again on this surface."""


def as_call(path: str, run: Lines | None) -> str:
    """A call of the `read` tool."""
    if run is None:
        return f'read(path="{path}")'
    return f'read(path="{path}", offset={run.first}, limit={run.last - run.first + 1})'


@dataclass(frozen=True, slots=True)
class ContextMap:
    """What the model holds now, and what the latest compaction took from it."""

    session: str | None = None
    boundary: str = "root"
    held: tuple[HeldFile, ...] = ()
    lost: tuple[HeldFile, ...] = ()
    doubt: str | None = None
    """Why the session proves nothing; then nothing is listed as held."""

    @property
    def tokens(self) -> int:
        return sum(file.tokens for file in self.held)

    def to_wire(self) -> dict[str, Any]:
        from holdfast.reading.report import ContextReport

        files = tuple([file.report() for file in self.held])
        lost = tuple([file.report() for file in self.lost])
        where = (self.session, self.boundary, self.doubt)
        return ContextReport(*where, self.tokens, files, lost).to_wire()

    def to_text(self, cwd: str = "", call: ReadCall = as_call) -> str:
        """The map for an agent or a person; each lost file with the call that recovers it."""
        if self.doubt is not None:
            return (
                f"[context] the session proves nothing now: {self.doubt}\n"
                "Every read is answered in full."
            )
        since = beginning(self.boundary)
        total = sum(text.lines_shown for file in self.held for text in file.texts)
        out = [
            f"[context] session {self.session}: {counted(len(self.held), 'file')}, "
            f"{counted(total, 'line')}, ~{self.tokens} tokens held since {since}"
        ]
        out += _table(self.held, cwd)
        for file in self.held:
            if file.state == "changed":
                shown = _shown(file.path, cwd)
                out.append(f"[{shown} changed on disk; to see what: {call(shown, None)}]")
        if self.lost:
            out.append(f"lost in {beginning(self.boundary)}:")
            out += _table(self.lost, cwd)
            out.append("to recover what is still needed:")
            out += [f"  {one}" for file in self.lost for one in recovery(file, cwd, call)]
        return "\n".join(out)


def _pairs(runs: Iterable[Lines]) -> tuple[tuple[int, int], ...]:
    return tuple([(run.first, run.last) for run in runs if run.last])


def held_file(
    path: str,
    scopes: Mapping[Scope, Trust],
    blocked: Iterable[Lines],
    current: Current | None,
    load: Callable[[str], bytes | None],
    expired: Callable[[], bool] = lambda: False,
    *,
    there: bool = False,
) -> HeldFile | None:
    """The held lines of a file, from its trusted scopes; None when every line is blocked.

    Without a `current` the file is gone, or `there` and not to be compared: then all of it changed.
    """
    gone = tuple(blocked)
    texts = []
    for digest, runs in _by_version(scopes).items():
        held_text = _held_text(digest, runs, gone, current, load, expired)
        if held_text.runs:
            texts.append(held_text)
    if not texts:
        return None
    state: State = "current"
    if current is None:
        state = "changed" if there else "gone"
    elif not all(text.as_on_disk for text in texts):
        state = "changed"
    return HeldFile(path, state, tuple(texts), None if current is None else current.lines_total)


def held_lines(
    path: str, lines: Mapping[int, str], current: Current | None, *, there: bool = False
) -> HeldFile | None:
    """The held lines of a file, from single lines; None when there are none.

    Without a `current` the file is gone, or `there` and not to be compared: then all of it changed.
    """
    if not lines:
        return None
    now = None if current is None else stored_text_rows(current.data)
    runs = united(Lines(number, number) for number in lines)
    if now is None:
        stale = list(runs)
    else:
        changed = [n for n, row in lines.items() if n > len(now) or now[n - 1] != row]
        stale = united(Lines(n, n) for n in changed)
    total = runs[-1].last if runs[0].first == 1 and len(runs) == 1 else None
    # The empty line after a final newline is not always shown.
    ends = () if now is None else (len(now), len(now) - (now[-1] == ""))
    whole = total is not None and total in ends
    size = sum(len(row.encode("utf-8", "surrogatepass")) + 1 for row in lines.values())
    lines_total = total if whole else (len(now) if now is not None else runs[-1].last + 1)
    text = HeldText("", tuple(runs), tuple(stale), lines_total, size, not stale)
    state: State = "current" if not stale else "changed"
    if current is None:
        state = "changed" if there else "gone"
    return HeldFile(path, state, (text,), None if current is None else current.lines_total)


def _by_version(scopes: Mapping[Scope, Trust]) -> dict[str, list[Scope]]:
    """The scopes by digest, freshest version first, without those a fresher whole replaces."""
    whole_seq = max(
        (trust.seq for scope, trust in scopes.items() if not isinstance(scope, Lines)), default=-1
    )
    grouped: dict[str, list[Scope]] = {}
    for scope, trust in sorted(scopes.items(), key=lambda item: -item[1].seq):
        if trust.seq >= whole_seq:
            grouped.setdefault(trust.digest, []).append(scope)
    return grouped


def _held_text(
    digest: str,
    scopes: list[Scope],
    blocked: tuple[Lines, ...],
    current: Current | None,
    load: Callable[[str], bytes | None],
    expired: Callable[[], bool],
) -> HeldText:
    data = current.data if current is not None and current.digest == digest else load(digest)
    text = None if data is None else strict_text(data)
    if text is None or data is None:
        # The version's length is unknown now; the lines that were printed are still known.
        runs = [scope if isinstance(scope, Lines) else Lines(1, 0) for scope in scopes]
        same = current is not None and current.digest == digest
        return HeldText(digest, tuple(runs), () if same else tuple(runs), None, 0, same)
    lines = text.split("\n")
    ranges = [scope if isinstance(scope, Lines) else Lines(1, len(lines)) for scope in scopes]
    runs_held = without(united(ranges), blocked)
    size = sum(
        len("\n".join(lines[run.first - 1 : run.last]).encode("utf-8", "surrogatepass")) + 1
        for run in runs_held
    )
    moved = _moved(runs_held, len(lines), data, current)
    stale = _stale(moved, data, current, expired)
    empty_end = lines[-1] == "" and len(lines) > 1
    return HeldText(digest, tuple(runs_held), stale, len(lines), size, not moved, empty_end)


def _moved(
    runs: list[Lines], lines_total: int, data: bytes, current: Current | None
) -> list[Lines]:
    """The runs that the file does not have at the same place now.

    If a file is held whole and got longer, that counts too: the held text is no longer all of it.
    """
    if current is None or current.text is None:
        return runs
    if current.data == data:
        return []
    if runs == [Lines(1, lines_total)] and current.lines_total != lines_total:
        return runs
    return [run for run in runs if lines_of(data, run) != current.shown_lines(run)]


def _stale(
    moved: list[Lines],
    data: bytes,
    current: Current | None,
    expired: Callable[[], bool],
) -> tuple[Lines, ...]:
    if not moved or current is None or current.text is None:
        return tuple(moved)
    removed = diff.removed_lines(decode(data), current.shown, expired)
    if removed is None:
        return tuple(moved)  # too different to compare: all of it counts as changed
    gone = [Lines(first, last) for first, last in removed]
    return tuple(
        Lines(max(run.first, other.first), min(run.last, other.last))
        for run in moved
        for other in gone
        if other.first <= run.last and run.first <= other.last
    )


def united(runs: Iterable[Lines]) -> list[Lines]:
    """The same lines as runs that neither touch nor overlap, in order."""
    out: list[Lines] = []
    for run in sorted(runs):
        if out and run.first <= out[-1].last + 1:
            out[-1] = Lines(out[-1].first, max(out[-1].last, run.last))
        else:
            out.append(run)
    return out


def without(runs: Iterable[Lines], holes: Iterable[Lines]) -> list[Lines]:
    """The lines of the runs that are in none of those taken."""
    out = list(runs)
    for hole in holes:
        out = scopes.without(out, hole)
    return out


def _count(runs: Iterable[Lines]) -> int:
    return sum(run.last - run.first + 1 for run in runs)


def recovery(file: HeldFile, cwd: str = "", call: ReadCall = as_call) -> list[str]:
    """The calls that bring the lines of a file back, as they are now."""
    if file.state == "gone":
        return []
    shown = _shown(file.path, cwd)
    text = file.texts[0]
    if text.whole or text.lines_total is None:
        return [call(shown, None)]
    return [
        call(shown, run)
        for run in text.runs
        if file.lines_now is None or run.first <= file.lines_now
    ]


def _table(files: Iterable[HeldFile], cwd: str) -> list[str]:
    rows = [(_shown(file.path, cwd), _runs(file), _state_text(file)) for file in files]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
    return [f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows]


def _runs(file: HeldFile) -> str:
    text = file.texts[0]
    if text.whole or text.lines_total is None:
        total = "" if text.lines_total is None else f" {text.lines_shown}"
        lines = f"all{total} lines"
    else:
        lines = ", ".join(
            str(run.first) if run.first == run.last else f"{run.first}-{run.last}"
            for run in text.runs
        )
    return lines + (" and older text" if len(file.texts) > 1 else "")


def _state_text(file: HeldFile) -> str:
    cost = f"~{file.tokens} tokens"
    if file.state == "current":
        return f"as on disk, {cost}"
    if file.state == "gone":
        return f"no longer on disk, {cost}"
    if file.stale_lines:
        return f"{file.stale_lines} of them changed on disk, {cost}"
    if file.texts[0].whole:
        return f"lines were added on disk, {cost}"
    return f"they moved on disk, {cost}"


def _shown(path: str, cwd: str) -> str:
    shown = os.path.relpath(path, cwd) if cwd and path.startswith(cwd.rstrip("/") + "/") else path
    # After a line break in a file name, the rest of the name would look like our own output.
    return shown if shown.isprintable() else json.dumps(shown)[1:-1]
