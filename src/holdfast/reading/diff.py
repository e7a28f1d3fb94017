"""A changed file as a unified diff, when that is shorter and true.

The patch has exactly the reference's form: headers with an empty field after a TAB, counts
always printed, three lines of context, runs of up to six equal lines joined. One thing differs on
purpose: the reference trims all white space off the end of the patch, which can lose blank lines
and trailing spaces of the file; we remove only the final newline, so the patch can be applied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count

from holdfast.reading import javascript, myers

CONTEXT = 3
BYTES_MAX = 2 * 1024 * 1024
LINES_MAX = 12_000
BYTE_RATIO_MAX = 0.9
"""A diff almost as long as the file reads worse than the file."""
LINE_RATIO_MAX = 0.85
PAYLOAD_LINES_MAX = 2000
PAYLOAD_BYTES_MAX = 50 * 1024
CHEAP_EDITS = 300
"""Up to this many edits the diff is always computed, so that the reported reason is exact."""

COMPARED_EDITS_MAX = 2_000
"""Texts with more edits than this count as different throughout."""

OPEN = -1
"""The number given to a last line that lacks its newline."""

NO_NEWLINE = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class Patch:
    """A unified diff and how many lines it adds and removes."""

    text: str
    added: int
    removed: int

    @property
    def changed(self) -> int:
        """The number of changed lines in the marker: the greater of added and removed."""
        return max(self.added, self.removed)

    @property
    def size_bytes(self) -> int:
        return len(self.text.encode("utf-8"))

    @property
    def lines(self) -> int:
        return self.text.count("\n") + 1


@dataclass(frozen=True, slots=True)
class TooFar:
    """The texts differ too much for a useful diff, or computing it took too long."""

    out_of_time: bool = False


def split(text: str) -> tuple[list[str], bool]:
    """The lines of the text without their newlines, and whether the last one lacks its newline."""
    lines = text.split("\n")
    if lines[-1]:
        return lines, True
    lines.pop()
    return lines, False


def label(typed: str) -> str:
    """The path as a patch header shows it."""
    name = javascript.trim(typed)
    for bad in "\t\r\n":
        name = name.replace(bad, "_")
    return name or "unknown"


def edits_at_least(old: list[int], new: list[int]) -> int:
    """A lower bound on the edits, from how often each line occurs."""
    counts = Counter(old)
    common = 0
    for line, times in Counter(new).items():
        old_times = counts.get(line)
        if old_times:
            common += min(times, old_times)
    return len(old) + len(new) - 2 * common


def _numbered(base: str, current: str) -> tuple[_Side, _Side]:
    """Both texts as lines and as numbers: equal lines have equal numbers."""
    old, old_open = split(base)
    new, new_open = split(current)
    # Equal lines need equal numbers, so each line takes the index of its first occurrence.
    numbers: dict[str, int] = {}
    old_ids = list(map(numbers.setdefault, old, count()))
    new_ids = list(map(numbers.setdefault, new, count(len(old))))
    # A last line without a newline equals only another line without one.
    if old_open:
        old_ids[-1] = OPEN
    if new_open:
        new_ids[-1] = OPEN if old_open and old[-1] == new[-1] else len(old) + len(new)
    return _Side(old, old_ids, old_open), _Side(new, new_ids, new_open)


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two texts: its lines, their numbers, and whether the last lacks its newline."""

    lines: list[str]
    ids: list[int]
    is_open: bool

    def piece(self, sign: str, first: int, size: int) -> list[str]:
        """Lines as the body of a hunk prints them."""
        out = [sign + line for line in self.lines[first : first + size]]
        if self.is_open and first + size == len(self.lines) and out:
            out.append(NO_NEWLINE)
        return out


def compute(
    base: str,
    current: str,
    typed: str,
    *,
    edits_max: int | None = None,
    expired: Callable[[], bool] = lambda: False,
    lines_before: int = 0,
) -> Patch | TooFar | None:
    """The patch from `base` to `current`; None when there is nothing to show.

    `lines_before` is added to the line numbers, for texts that are runs of lines of a file.

    `edits_max` is the number of edits above which no patch is wanted: the search stops as soon as
    it is certain that more are needed.
    """
    if base == current:
        return None
    old, new = _numbered(base, current)
    certain = None
    if edits_max is not None:
        edits_max = max(edits_max, CHEAP_EDITS)
        fresh = sum(map(len(old.ids).__le__, new.ids))
        if len(old.ids) - len(new.ids) + 2 * fresh > edits_max:
            return TooFar()
        certain = partial(edits_at_least, old.ids, new.ids)
    steps = myers.edit(old.ids, new.ids, edits_max, expired, certain)
    if steps is None:
        return TooFar(out_of_time=expired())
    return _print(steps, old, new, label(typed), lines_before)


def _print(
    steps: list[myers.Step], old: _Side, new: _Side, name: str, lines_before: int
) -> Patch | None:
    out = [f"--- a/{name}\t\n+++ b/{name}\t"]
    added = removed = 0
    at_old = at_new = 0
    hunk: list[str] = []
    start_old = start_new = 0

    def close() -> None:
        size_old, size_new = at_old - start_old, at_new - start_new
        first_old = lines_before + start_old + (1 if size_old else 0)
        first_new = lines_before + start_new + (1 if size_new else 0)
        out.append(f"@@ -{first_old},{size_old} +{first_new},{size_new} @@")
        out.extend(hunk)
        hunk.clear()

    for number, step in enumerate(steps):
        size = step.count
        if step.kind == " ":
            if hunk:
                joins = number < len(steps) - 1 and size <= 2 * CONTEXT
                shown = size if joins else min(size, CONTEXT)
                hunk.extend(old.piece(" ", at_old, shown))
                at_old, at_new = at_old + shown, at_new + shown
                if not joins:
                    close()
                at_old, at_new = at_old + size - shown, at_new + size - shown
            else:
                at_old, at_new = at_old + size, at_new + size
            continue
        if not hunk:
            lead = min(CONTEXT, at_old) if number else 0
            start_old, start_new = at_old - lead, at_new - lead
            hunk.extend(old.piece(" ", start_old, lead))
        if step.kind == "-":
            hunk.extend(old.piece("-", at_old, size))
            at_old, removed = at_old + size, removed + size
        else:
            hunk.extend(new.piece("+", at_new, size))
            at_new, added = at_new + size, added + size
    if hunk:
        close()
    if not (added or removed):
        return None
    return Patch("\n".join(out), added, removed)


def removed_lines(
    base: str, current: str, expired: Callable[[], bool] = lambda: False
) -> list[tuple[int, int]] | None:
    """The runs of lines of `base` that `current` lacks, 1-based; None when that is not known:

    the texts are too long or too different, or the time is up.
    """
    if max(len(base), len(current)) > BYTES_MAX:
        return None
    # Lines as a read counts them: a final newline is followed by one more, empty, line.
    numbers: dict[str, int] = {}
    old, new = (
        [numbers.setdefault(line, len(numbers)) for line in text.split("\n")]
        for text in (base, current)
    )
    steps = myers.edit(old, new, COMPARED_EDITS_MAX, expired)
    if steps is None:
        return None
    runs, at = [], 0
    for step in steps:
        if step.kind == "-":
            runs.append((at + 1, at + step.count))
        if step.kind != "+":
            at += step.count
    return runs


def edits_worth_sending(current_lines: int) -> int:
    """Above this many edits a patch is certainly too long: it has at least three lines more."""
    return min(PAYLOAD_LINES_MAX - 4, int(LINE_RATIO_MAX * current_lines - CONTEXT))


def is_useful(patch: Patch, base: str, current: str) -> bool:
    """Whether the patch is worth sending instead of the text."""
    largest = max(len(base.encode("utf-8")), len(current.encode("utf-8")))
    lines = max(base.count("\n"), current.count("\n")) + 1
    return (
        0 < largest <= BYTES_MAX
        and lines <= LINES_MAX
        and patch.size_bytes < largest * BYTE_RATIO_MAX
        and patch.lines <= (current.count("\n") + 1) * LINE_RATIO_MAX
    )
