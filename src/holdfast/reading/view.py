"""What the model can see of one file: for each line number the newest text that it was shown.

Digests distinguish whole texts, but agents read ranges, edit lines and read again. So besides the
digests there is this view, line by line, folded from the events of the session:

    Printed, Anchored    the lines shown, under the numbers shown
    Derived              the same, once its base is held
    Dangling             only the lines that agree with its text are still held
    Patched, Replaced    the model's own edit: later lines move; the new lines are held when the
                         model wrote them in full, or held all that the edit replaced
    Pieced               our short answer: printed lines are new, named ones keep their text and
                         get their current numbers, folded ones are not held
    Refreshed            these lines are forgotten
    Forgotten            all lines are forgotten

A newer text always replaces an older one with the same number, so for a line that was shown,
changed and changed back, the last text shown counts. May forget what the model still sees; never
holds a text that the context does not contain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from holdfast.reading.events import (
    FOLDED,
    UNSURE,
    Anchored,
    Dangling,
    Derived,
    Forgotten,
    Hunk,
    Patched,
    Pieced,
    Place,
    Printed,
    Refreshed,
    Replaced,
    Seen,
)
from holdfast.reading.scope import Lines

Load = Callable[[str], bytes | None]
"""Loads the stored bytes with a digest; None if they are no longer kept."""

_COMPARISONS_MAX = 100_000
"""How many lines are compared to find the place of an edit before giving up."""

ViewEvent = Anchored | Derived | Dangling | Refreshed | Seen


class HeldLine(NamedTuple):
    """A line's text, and how many bytes the model had been shown at that time."""

    text: str
    at: int


class View:
    """The lines held of one file by number, and the run that was last answered in short."""

    __slots__ = ("lines", "named", "named_digest")

    def __init__(self) -> None:
        self.lines: dict[int, HeldLine] = {}
        self.named: tuple[int, int] | None = None
        """First and last line of the latest answer, when that answer was a short one."""
        self.named_digest = ""
        """The file's digest at that answer."""

    def apply(self, event: ViewEvent, at: int, load: Load) -> None:
        """Apply one event, which was shown when the model had seen `at` bytes."""
        named, self.named = self.named, None
        match event:
            case Printed(_, first, rows, whole):
                self._show(first, rows, at, whole=whole)
            case Anchored(_, scope, digest):
                self._show_stored(digest, scope if isinstance(scope, Lines) else None, at, load)
            case Derived(mode, _, scope, _, digest):
                if mode == "diff":
                    self._derive(digest, scope if isinstance(scope, Lines) else None, load)
            case Dangling(_, scope, digest):
                self._keep_agreeing(digest, scope if isinstance(scope, Lines) else None, load)
            case Patched(_, hunks, written):
                self._patch(hunks, written, at)
            case Replaced():
                self._replace_text(event, at)
            case Pieced():
                self._piece(event, at, load)
                self.named = (event.pieces[0].first, _end(event)) if event.pieces else None
                self.named_digest = event.digest
            case Refreshed(_, scope):
                if isinstance(scope, Lines):
                    for number in [n for n in self.lines if scope.first <= n <= scope.last]:
                        del self.lines[number]
                else:
                    self.lines = {}
            case Forgotten():
                self.lines = {}
        if isinstance(event, Derived):
            self.named = named

    def asked_again(self, first: int, last: int, digest: str) -> bool:
        """Whether these lines of this very text were answered in short just before."""
        return self.named == (first, last) and self.named_digest == digest

    def live(self, now: int, horizon: int | None) -> Mapping[int, str]:
        """The lines that were shown recently enough to count, by number."""
        if horizon is None:
            return {number: line.text for number, line in self.lines.items()}
        oldest = now - horizon
        return {number: line.text for number, line in self.lines.items() if line.at >= oldest}

    def _show(self, first: int, rows: Iterable[str], at: int, *, whole: bool) -> None:
        shown = {number: HeldLine(row, at) for number, row in enumerate(rows, start=first)}
        if whole:
            self.lines = shown
        else:
            self.lines.update(shown)
        for number in [n for n, line in shown.items() if line.text == UNSURE]:
            del self.lines[number]

    def _show_stored(self, digest: str, run: Lines | None, at: int, load: Load) -> None:
        rows = _lines(stored_rows(digest, load))
        if rows is None:
            # It was shown, but its text is not kept, and older lines were replaced by it.
            if run is None:
                self.lines = {}
            else:
                self._drop(run)
        elif run is None:
            self._show(1, rows, at, whole=True)
        else:
            self._show(run.first, rows[run.first - 1 : run.last], at, whole=False)

    def _keep_agreeing(self, digest: str, run: Lines | None, load: Load) -> None:
        """Forget the lines that differ from this text; a text that is not stored says nothing."""
        rows = _lines(stored_rows(digest, load))
        if rows is None:
            return
        for number, line in list(self.lines.items()):
            if run is not None and not run.first <= number <= run.last:
                continue
            if number > len(rows) or rows[number - 1] != line.text:
                del self.lines[number]

    def _derive(self, digest: str, run: Lines | None, load: Load) -> None:
        """Apply our diff: the lines it leaves out were shown with its base."""
        rows = _lines(stored_rows(digest, load))
        if rows is None or not self.lines:
            self.lines = {}
            return
        oldest = min(line.at for line in self.lines.values())
        first = 1 if run is None else run.first
        last = len(rows) if run is None else run.last
        self._show(first, rows[first - 1 : last], oldest, whole=run is None)

    def _drop(self, run: Lines) -> None:
        for number in [n for n in self.lines if run.first <= n <= run.last]:
            del self.lines[number]

    def _patch(self, hunks: tuple[Hunk, ...], written: frozenset[str], at: int) -> None:
        shift = 0
        for hunk in hunks:
            first = hunk.first + shift if hunk.first else self._locate(hunk.old)
            if first is None:
                self.lines = {}
                return
            if hunk.first:
                shift += len(hunk.new) - len(hunk.old)
            self._replace(first, hunk.old, hunk.new, written, at)

    def _replace_text(self, event: Replaced, at: int) -> None:
        """Apply an edit that is known only as its old and new text."""
        places = event.places or self._find(event.old)
        if not places:
            self.lines = {}
            return
        shift = 0
        for place in places:
            first = place.first + shift
            shift += place.new - place.old
            before = [self.lines.get(first + offset) for offset in range(place.old)]
            rows = tuple(line.text for line in before if line is not None)
            old = "\n".join(rows)
            has_old = len(rows) == place.old and event.old and event.old in old
            if has_old and (event.every or _is_once(event.old, old)):
                new = tuple(old.replace(event.old, event.new).split("\n"))
                if len(new) == place.new or not event.places:
                    self._replace(first, rows, new, frozenset(), at)
                    shift += (len(new) - len(rows)) - (place.new - place.old)
                    continue
            # The new lines are not certain: forget these, and move those after them.
            self._move(first, place.old, place.new)

    def _find(self, old: str) -> tuple[Place, ...]:
        """The one place where this text is held; empty when there are several or none."""
        places: list[Place] = []
        for run in self._runs():
            text = "\n".join(self.lines[number].text for number in range(run.first, run.last + 1))
            if not old or old not in text:
                continue
            if places or not _is_once(old, text):
                return ()
            first = run.first + text.count("\n", 0, text.index(old))
            lines = old.count("\n") + 1
            places.append(Place(first, lines, lines))
        return tuple(places)

    def _runs(self) -> list[Lines]:
        """The held numbers as runs, in order."""
        runs: list[Lines] = []
        for number in sorted(self.lines):
            if runs and runs[-1].last == number - 1:
                runs[-1] = Lines(runs[-1].first, number)
            else:
                runs.append(Lines(number, number))
        return runs

    def _locate(self, old: tuple[str, ...]) -> int | None:
        """Where these lines are held; None unless it is exactly one place."""
        if not old:
            return None
        line, comparisons = None, _COMPARISONS_MAX
        for number, first_line in self.lines.items():
            if first_line.text != old[0]:
                continue
            same = 0
            for at, row in enumerate(old):
                held_line = self.lines.get(number + at)
                if held_line is None or held_line.text != row:
                    break
                same += 1
            comparisons -= same
            if comparisons < 0 or (same == len(old) and line is not None):
                return None
            if same == len(old):
                line = number
        return line

    def _replace(
        self,
        first: int,
        old: tuple[str, ...],
        new: tuple[str, ...],
        written: frozenset[str],
        at: int,
    ) -> None:
        """Replace `old` by `new`, changing only the lines that differ."""
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        start, after = first, new
        first, old, new = first + head, old[head : len(old) - tail], new[head : len(new) - tail]
        before = [self.lines.get(first + offset) for offset in range(len(old))]
        understood = all(
            line is not None and line.text == row for line, row in zip(before, old, strict=True)
        )
        # A line that was edited in part is as old as its unedited rest.
        oldest = min((line.at for line in before if line is not None), default=at)
        moved: dict[int, HeldLine] = {}
        delta = len(new) - len(old)
        for number, line in self.lines.items():
            if number < first:
                moved[number] = line
            elif number >= first + len(old):
                moved[number + delta] = line
        for number, row in enumerate(new, start=first):
            if row in written:
                moved[number] = HeldLine(row, at)
            elif understood:
                moved[number] = HeldLine(row, min(oldest, at))
        for number, row in enumerate(after, start):
            moved_line = moved.get(number)
            if moved_line is not None and moved_line.text != row:
                # The edit did not change this line, but it is held with another text.
                del moved[number]
        self.lines = moved

    def _move(self, first: int, old: int, new: int) -> None:
        """Forget `old` lines from `first` on, which `new` unknown lines replace."""
        self.lines = {
            number if number < first else number + new - old: line
            for number, line in self.lines.items()
            if number < first or number >= first + old
        }

    def _piece(self, event: Pieced, at: int, load: Load) -> None:
        rows = stored_rows(event.digest, load)
        if rows is None:
            self.lines = {}
            return
        now: dict[int, HeldLine] = {}
        for piece in event.pieces:
            if piece.before == FOLDED:
                continue
            for offset in range(piece.lines):
                number = piece.first + offset
                row = rows[number - 1] if number <= len(rows) else None
                if row is None:
                    continue
                if piece.before is None:
                    now[number] = HeldLine(row, at)
                    continue
                line = self.lines.get(piece.before + offset)
                if line is not None and line.text == row:
                    now[number] = line
        if event.whole:
            self.lines = now
            return
        if event.pieces:
            self._drop(Lines(event.pieces[0].first, _end(event)))
        self.lines.update(now)


def _is_once(part: str, text: str) -> bool:
    """Whether a text has a part exactly once; two places that overlap are two."""
    return text.find(part) == text.rfind(part)


def replaces_all(event: ViewEvent) -> bool:
    """Whether nothing from before this event matters to the lines held after it."""
    match event:
        case Printed(_, _, _, whole):
            return whole
        case Anchored(_, scope, _) | Refreshed(_, scope):
            return not isinstance(scope, Lines)
        case Forgotten():
            return True
        case _:
            return False


def stored_rows(digest: str, load: Load) -> list[str] | None:
    """The lines of a stored text; None when it is not kept, or is not text."""
    data = load(digest)
    if data is None:
        return None
    try:
        return data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None


def _lines(rows: list[str] | None) -> list[str] | None:
    """The rows without the empty one after the last newline, which is not a line of the file."""
    return rows[:-1] if rows is not None and len(rows) > 1 and not rows[-1] else rows


def _end(event: Pieced) -> int:
    last = event.pieces[-1]
    return last.first + last.lines - 1


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many lines two texts begin with in common."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
