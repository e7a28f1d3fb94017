"""What the model already holds, rebuilt from the part of the session it can still see.

It is tempting to store trust in a table. But sessions fork, rewind and compact, and a table keeps
trusting text that the model can no longer see. So trust is never stored: it is replayed from the
events on the active path, starting after the latest compaction.

    event                          needs                                 gives
    Anchored, any scope            nothing                               trust(scope)
    unchanged, whole file          trust(whole) = base = digest          trust(whole), fresher
    diff, whole file               trust(whole) = base                   trust(whole) = digest
    unchanged_range, lines         trust(lines) or trust(whole) = base   trust(lines) = digest
    Refreshed, whole file          nothing                               all of the path forgotten
    Refreshed, lines               nothing                               these forgotten and blocked

Every read event takes the next `seq`, also when its guard rejects it. A blocked run of lines has no
base until exactly that run is anchored again. May forget what the model still holds; never claims
what it does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.reading.events import (
    Anchored,
    Barrier,
    Dangling,
    Derived,
    Event,
    Forgotten,
    Hidden,
    Patched,
    Pieced,
    Printed,
    Refreshed,
    Replaced,
    Together,
)
from holdfast.reading.scope import WHOLE, Lines, Scope, without
from holdfast.reading.view import Load, View, ViewEvent, replaces_all, stored_rows

OVERLAY_SEQ = 1_000_000_000
"""Where the overlay's numbering begins: fresher than anything replayed."""


_NEVER_HIDDEN = (Refreshed, Barrier, Forgotten)


class Trust(NamedTuple):
    """The model holds this scope of the text with this digest; a higher seq is fresher."""

    digest: str
    seq: int


class Ledger:
    """Trust by path and scope, the runs of lines that are blocked, and what is seen line by line.

    Views are computed on demand: most paths never need one.
    """

    __slots__ = ("_blocked", "_history", "_seq", "_trust", "_views")

    def __init__(self) -> None:
        self._trust: dict[str, dict[Scope, Trust]] = {}
        self._blocked: dict[str, set[Lines]] = {}
        self._history: dict[str, list[tuple[ViewEvent, int]]] = {}
        self._views: dict[str, tuple[View, int]] = {}
        self._seq = 0

    def trusted(self, path: str, scope: Scope) -> Trust | None:
        """What the model holds of exactly this scope."""
        scopes = self._trust.get(path)
        return None if scopes is None else scopes.get(scope)

    def scopes(self, path: str) -> dict[Scope, Trust]:
        """All trusted scopes of a path, oldest first."""
        return self._trust.get(path, {})

    def blocked(self, path: str) -> frozenset[Lines]:
        """Runs of lines of this path that were refreshed and not printed since."""
        return frozenset(self._blocked.get(path, ()))

    def paths(self) -> Iterator[str]:
        """Every path with some trust."""
        return iter(self._trust)

    def view(self, path: str, load: Load) -> View:
        """What the model can see of a file, line by line. It must not be modified."""
        events = self._history.get(path, [])
        view, folded = self._views.get(path, (None, 0))
        start = _last_reset(events, folded)
        if view is None or start > folded:
            # The events before this one do not affect the lines held after it.
            view, folded = View(), start
        for event, at in events[folded:]:
            view.apply(event, at, load)
        self._views[path] = view, len(events)
        return view

    def take_views(self, before: Ledger) -> None:
        """Take over the views of another ledger, for paths whose events begin with the same ones.

        A log that is replayed at each call would otherwise fold every edit of a file again. The
        other ledger loses its views and folds them again on demand.
        """
        for path, (view, folded) in before._views.items():
            events = self._history.get(path, [])
            if folded and events[:folded] == before._history[path][:folded]:
                self._views[path] = view, folded
        before._views.clear()

    def history(self, path: str) -> tuple[tuple[ViewEvent, int], ...]:
        """Everything that was seen of a path, oldest first, with the bytes shown until then."""
        return tuple(self._history.get(path, ()))

    def seen_paths(self) -> Iterator[str]:
        """Every path of which some line may be held."""
        return iter(self._history)

    def is_seen_by_lines(self, path: str) -> bool:
        """Whether any event other than our own answers is about lines of a path."""
        ours = Anchored | Derived | Refreshed
        return any(not isinstance(event, ours) for event, _ in self._history.get(path, ()))

    def answers(self, path: str, digest: str) -> int:
        """How many of our answers from this text the log has."""
        events = (event for event, _ in self._history.get(path, ()))
        return sum(isinstance(one, Anchored | Derived) and one.digest == digest for one in events)

    def seen_since(self, path: str, digest: str) -> list[ViewEvent]:
        """What was seen of a path since a text with this digest was shown whole, newest first."""
        events: list[ViewEvent] = []
        for event, _ in reversed(self._history.get(path, [])):
            if isinstance(event, Anchored | Derived) and event.digest == digest:
                if not isinstance(event.scope, Lines):
                    break
                continue
            events.append(event)
        return events

    def apply(self, event: Event, at: int = 0) -> None:
        """Apply one event, at which the model had been shown `at` bytes.

        `Hidden` is handled by `replay`.
        """
        match event:
            case Anchored(path, scope, digest):
                self._seq += 1
                self._grant(path, scope, digest)
                self._history.setdefault(path, []).append((event, at))
                if isinstance(scope, Lines) and path in self._blocked:
                    self._blocked[path].discard(scope)
            case Derived(mode, path, scope, base, digest):
                self._seq += 1
                if self._stands(mode, path, scope, base, digest):
                    self._grant(path, scope, digest)
                    self._history.setdefault(path, []).append((event, at))
                elif mode == "diff":
                    # The lines it printed replace what was shown of them before.
                    self._history.setdefault(path, []).append((Refreshed(path, scope), at))
                else:
                    self._history.setdefault(path, []).append((Dangling(path, scope, digest), at))
            case Refreshed(path, scope):
                self._refresh(path, scope)
                self._history.setdefault(path, []).append((event, at))
            case Printed() | Patched() | Replaced() | Pieced() | Forgotten():
                path = event.path
                self._history.setdefault(path, []).append((event, at))
            case Together(events):
                for one in events:
                    self.apply(one, at)
            case Barrier():
                self._trust.clear()
                self._blocked.clear()
                self._history.clear()
                self._views.clear()
                self._seq = 0
            case Hidden():
                raise AssertionError("hidden entries must be removed before replaying")

    def stands(self, event: Derived) -> bool:
        """Whether the base of this answer is held."""
        return self._stands(event.mode, event.path, event.scope, event.base, event.digest)

    def skip(self) -> None:
        """Count a hidden read event: it takes a seq and adds no trust."""
        self._seq += 1

    def _grant(self, path: str, scope: Scope, digest: str) -> None:
        self._trust.setdefault(path, {})[scope] = Trust(digest, self._seq)

    def _stands(self, mode: str, path: str, scope: Scope, base: str, digest: str) -> bool:
        """`stands` for the fields of an event."""
        whole = self.trusted(path, WHOLE)
        on_whole = whole is not None and whole.digest == base
        if mode == "unchanged":
            return scope == WHOLE and on_whole and digest == base
        if mode == "diff":
            return scope == WHOLE and on_whole
        if mode == "unchanged_range" and isinstance(scope, Lines):
            exact = self.trusted(path, scope)
            return on_whole or (exact is not None and exact.digest == base)
        return False

    def _refresh(self, path: str, scope: Scope) -> None:
        if not isinstance(scope, Lines):
            self._trust.pop(path, None)
            self._blocked.pop(path, None)
            return
        # Block the lines: otherwise trust in the whole file would still answer for them.
        self._blocked.setdefault(path, set()).add(scope)
        scopes = self._trust.get(path)
        if scopes is not None:
            scopes.pop(scope, None)
            if not scopes:
                del self._trust[path]


def _last_reset(events: list[tuple[ViewEvent, int]], folded: int) -> int:
    """The place of the newest event that replaces every line held; at least `folded`."""
    for at in range(len(events) - 1, folded, -1):
        if replaces_all(events[at][0]):
            return at
    return folded


def advance(
    ledger: Ledger,
    entry: str,
    event: Event,
    hidden: set[str] | frozenset[str],
    at: int = 0,
) -> None:
    """Apply one event of the path to the ledger, unless its entry is hidden."""
    if type(event) is Hidden:
        return
    if hidden and type(event) not in _NEVER_HIDDEN and _is_hidden(entry, hidden):
        for one in event.events if isinstance(event, Together) else (event,):
            if isinstance(one, Patched | Replaced):
                # The file still changed, and the model no longer sees how.
                ledger.apply(Forgotten(one.path), at)
        ledger.skip()
        return
    ledger.apply(event, at)


def _is_hidden(entry: str, hidden: set[str] | frozenset[str]) -> bool:
    """Whether an entry is hidden, or the entry whose id it extends after a slash."""
    while entry not in hidden:
        entry, separator, _ = entry.rpartition("/")
        if not separator:
            return False
    return True


class Overlay:
    """Reads answered at the current leaf whose results are not in the log yet.

    Tool results are written only after they are returned, and several calls can run in one turn.
    Valid for one position of one session; any other position starts afresh.
    """

    __slots__ = ("_entries", "_position", "_seq")

    def __init__(self) -> None:
        self._position: object = None
        self._entries: dict[tuple[str, Scope], Trust] = {}
        self._seq = OVERLAY_SEQ

    def move(self, position: object, *, branch_point: bool) -> None:
        """Move to `position`. At a leaf with children nothing is kept: what was read here before
        belongs to another branch."""
        if branch_point or position != self._position:
            self.clear()
        self._position = position

    def clear(self) -> None:
        self._entries.clear()
        self._seq = OVERLAY_SEQ

    def record(self, path: str, scope: Scope, digest: str) -> None:
        """Remember that this scope was just answered."""
        self._seq += 1
        self._entries.pop((path, scope), None)
        self._entries[path, scope] = Trust(digest, self._seq)

    def __bool__(self) -> bool:
        return bool(self._entries)

    def entries(self) -> Iterator[tuple[str, Scope, Trust]]:
        """What was recorded here, oldest first."""
        return ((path, scope, trust) for (path, scope), trust in self._entries.items())


class Holdings(NamedTuple):
    """The ledger with the overlay on top: what the model holds at this moment."""

    ledger: Ledger
    overlay: Overlay | None = None

    def trusted(self, path: str, scope: Scope) -> Trust | None:
        if self.overlay is not None and self.overlay:
            trust = self.overlay._entries.get((path, scope))
            if trust is not None:
                return trust
        return self.ledger.trusted(path, scope)

    def scopes(self, path: str) -> dict[Scope, Trust]:
        """Every trusted scope of the path."""
        merged = dict(self.ledger.scopes(path))
        if self.overlay is not None:
            entries = self.overlay.entries()
            merged.update((scope, trust) for other, scope, trust in entries if other == path)
        return merged

    def is_blocked(self, path: str, lines: Lines) -> bool:
        """Whether these lines have no base until they are printed again."""
        if lines not in self.ledger.blocked(path):
            return False
        return not (
            self.overlay is not None and self.overlay and (path, lines) in self.overlay._entries
        )

    def answered(self, path: str) -> bool:
        """Whether something of this file was answered in this turn."""
        entries = () if self.overlay is None else self.overlay.entries()
        return any(other == path for other, _, _ in entries)

    def paths(self) -> set[str]:
        paths = set(self.ledger.paths())
        if self.overlay is not None:
            paths.update(path for path, _, _ in self.overlay.entries())
        return paths


def is_stale(
    holdings: Holdings,
    path: str,
    scope: Scope,
    base: Trust,
    texts: tuple[list[str], list[str]],
    load: Load,
) -> bool:
    """Whether the model saw other text of these lines after the base; `texts`: base and current.

    A file may change, be shown in part, and change back. The base is then the text on disk, but
    not the text that the model saw last. A line that was last shown as it is now is not stale.
    """
    rows, now = texts
    first, last = scope if isinstance(scope, Lines) else (1, len(rows))
    overlay = holdings.overlay
    for other, run, trust in overlay.entries() if overlay is not None else ():
        if other != path or trust.seq <= base.seq or trust.digest == base.digest:
            continue
        newer = stored_rows(trust.digest, load)
        if newer is None:
            return True
        part = run if isinstance(run, Lines) else Lines(1, len(newer))
        for number in range(max(first, part.first), min(last, part.last, len(newer)) + 1):
            if _differs(newer[number - 1], number, rows, now):
                return True
    since = holdings.ledger.seen_since(path, base.digest)
    if not since or base.seq > OVERLAY_SEQ:
        return False
    lines = holdings.ledger.view(path, load).lines
    # After a whole file was printed, a line that is not known was not in the file.
    strict = any(_leaves_gaps(one, load) for one in since)
    for number in range(first, last + 1):
        line = lines.get(number)
        if line is None:
            if strict and (number < len(rows) or rows[-1]):
                return True
        elif _differs(line.text, number, rows, now):
            return True
    return False


def _leaves_gaps(event: ViewEvent, load: Load) -> bool:
    """Whether a line that is not known after this event may be another than in the base."""
    match event:
        case Printed():
            return event.whole
        case Dangling():
            return load(event.digest) is not None
        case _:
            return not isinstance(event, Anchored | Derived | Refreshed)


def _differs(text: str, number: int, rows: list[str], now: list[str]) -> bool:
    """Whether a line was last shown neither as the base has it nor as it is now."""
    return not (
        (number <= len(rows) and rows[number - 1] == text)
        or (number <= len(now) and now[number - 1] == text)
    )


def choose_base(holdings: Holdings, path: str, scope: Scope, *, union: bool = True) -> Trust | None:
    """The text to answer from, or None when the model provably holds nothing that fits.

    The whole file needs trust in the whole file. A run of lines takes the fresher of its own trust
    and the whole file's; on a tie its own. With `union`, when neither exists, trusted runs of one
    digest that together cover the lines are used, unless a blocked run overlaps the lines: the
    model's copy of those was declared insufficient.
    """
    if not isinstance(scope, Lines):
        return holdings.trusted(path, WHOLE)
    if holdings.is_blocked(path, scope):
        return None
    exact = holdings.trusted(path, scope)
    whole = holdings.trusted(path, WHOLE)
    if exact is not None and (whole is None or exact.seq >= whole.seq):
        return exact
    if whole is not None or not union:
        return whole
    return _covering(holdings, path, scope)


def _covering(holdings: Holdings, path: str, lines: Lines) -> Trust | None:
    """Runs of one digest whose union covers `lines`, each line as it was last shown.

    A line that was last shown with another text must not be called unchanged.
    """
    for blocked in holdings.ledger.blocked(path):
        if blocked.first <= lines.last and lines.first <= blocked.last:
            return None
    runs = [
        (trust, scope)
        for scope, trust in holdings.scopes(path).items()
        if isinstance(scope, Lines) and scope.first <= lines.last and lines.first <= scope.last
    ]
    runs.sort(key=lambda run: -run[0].seq)
    missing = [lines]
    for trust, run in runs:
        rest = without(missing, run)
        if rest != missing and trust.digest != runs[0][0].digest:
            return None
        missing = rest
    return None if missing or not runs else runs[0][0]
