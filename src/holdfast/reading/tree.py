"""A session as a tree of entries, and the trust at any of its leaves.

Adapters add entries as they find them in a log: an id, a parent, and the entry's event, if it has
one. The tree computes what the model can see from a leaf. It memoizes the last
leaf: continuing from there costs one event per new entry; any other leaf is replayed from the
latest barrier.

Parents are looked up among the entries already there, so a path always ends: an entry whose parent
is unknown, or itself, or newer, is a root. That may shorten a path and so lose trust; it never
joins unrelated entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.reading.events import Barrier, Event, Hidden
from holdfast.reading.trust import Ledger, advance

NO_ENTRY = -1


class Served(NamedTuple):
    """What one answered read cost, for counting what was saved."""

    mode: str
    lines_total: int
    first: int
    last: int
    size_bytes: int
    served_bytes: int
    truncated: bool = False


def beginning(boundary: str) -> str:
    """Where a session begins to count, in words; from the boundary of its evidence."""
    return "its start" if boundary == "root" else f"the {boundary.replace(':', ' ', 1)}"


class Evidence(NamedTuple):
    """What a session log proves at this moment."""

    session: str
    leaf: str | None
    ledger: Ledger
    branch_point: bool
    """The leaf has children already: what was read here before is on another branch."""
    boundary: str
    """`root`, or `compaction:<id>` of the latest one on the path."""
    generation: int = 0
    """Counts moves that leave no trace in the log."""
    seen_bytes: int = 0
    """How much text the model has been shown on this path."""
    horizon: int | None = None
    """How many bytes back a line may have been shown and still count; None for any."""

    @property
    def position(self) -> object:
        """The position for which the overlay is valid."""
        return (self.session, self.leaf, self.generation)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a session log proves nothing now."""

    why: str


class Tree:
    """Entries by number in the order they were added; ids are the log's."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.parents: list[int] = []
        self.kinds: list[str] = []
        self.served: dict[int, Served] = {}
        self._events: dict[int, Event] = {}
        self._number: dict[str, int] = {}
        self._has_children: set[int] = set()
        self._bytes: list[int] = []
        self._memo: tuple[int, Ledger, frozenset[str], int] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def add(
        self,
        entry: str,
        parent: str | None,
        kind: str,
        event: Event | None = None,
        served: Served | None = None,
        size: int = 0,
    ) -> int:
        """Append an entry that shows the model `size` bytes; returns its number.

        A repeated id makes both entries barriers: it is unknown which of them the agent follows, so
        nothing before them counts.
        """
        number, numbers = len(self.ids), self._number
        above = NO_ENTRY
        if parent is not None and (above := numbers.get(parent, NO_ENTRY)) != NO_ENTRY:
            self._has_children.add(above)
        earlier = numbers.setdefault(entry, number)
        if earlier != number:
            self._events[earlier] = event = Barrier()
            served = None
            self._memo = None
            numbers[entry] = number
        self.ids.append(entry)
        self.parents.append(above)
        self._bytes.append(size if above == NO_ENTRY else self._bytes[above] + size)
        self.kinds.append(kind)
        if event is not None:
            self._events[number] = event
        if served is not None:
            self.served[number] = served
        return number

    def number(self, entry: str | None) -> int:
        """The number of an entry, or NO_ENTRY."""
        return NO_ENTRY if entry is None else self._number.get(entry, NO_ENTRY)

    def in_reading_order(self) -> list[tuple[int, int]]:
        """Entries with their depth, branch by branch; the depth grows where branches split."""
        children: dict[int, list[int]] = {}
        for number, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(number)
        spans: list[tuple[int, int]] = []
        pending = [(number, 0) for number in reversed(children.get(NO_ENTRY, []))]
        while pending:
            number, depth = pending.pop()
            spans.append((number, depth))
            below = children.get(number, [])
            deeper = depth + (1 if len(below) > 1 else 0)
            pending.extend((child, deeper) for child in reversed(below))
        return spans

    def has_children(self, number: int) -> bool:
        return number in self._has_children

    def event(self, number: int) -> Event | None:
        return self._events.get(number)

    def bytes_at(self, number: int) -> int:
        """How much text the model has been shown up to and including this entry."""
        return 0 if number == NO_ENTRY else self._bytes[number]

    def path(self, leaf: int) -> list[int]:
        """The numbers from a root to the leaf, both included."""
        out = []
        while leaf != NO_ENTRY:
            out.append(leaf)
            leaf = self.parents[leaf]
        out.reverse()
        return out

    def ledger(self, leaf: int) -> Ledger:
        """The trust at this leaf. The ledger is shared and must not be modified."""
        return self.at(leaf)[1]

    def boundary(self, leaf: int) -> int:
        """The number of the latest barrier on the path, or NO_ENTRY."""
        return self.at(leaf)[3]

    def at(self, leaf: int) -> tuple[int, Ledger, frozenset[str], int]:
        """The leaf, the trust there, what the path hides, and its latest barrier."""
        memo = self._memo
        if memo is not None and memo[0] == leaf:
            return memo
        self._memo = memo = self._advanced(leaf) or self._replayed(leaf)
        return memo

    def _advanced(self, leaf: int) -> tuple[int, Ledger, frozenset[str], int] | None:
        """Continue from the memoized leaf, if this one descends from it and nothing was hidden."""
        if self._memo is None:
            return None
        memoized, ledger, hidden, barrier = self._memo
        fresh: list[int] = []
        at = leaf
        while at > memoized:
            event = self._events.get(at)
            if event is not None:
                if type(event) is Hidden:
                    return None
                fresh.append(at)
            at = self.parents[at]
        if at != memoized:
            return None
        for number in reversed(fresh):
            event = self._events[number]
            if type(event) is Barrier:
                ledger, barrier = Ledger(), number
            else:
                advance(ledger, self.ids[number], event, hidden, self._bytes[number])
        return leaf, ledger, hidden, barrier

    def _replayed(self, leaf: int) -> tuple[int, Ledger, frozenset[str], int]:
        """Replay from the latest barrier on the path, without the entries that the path hides."""
        pending: list[int] = []
        hidden: set[str] = set()
        at, barrier = leaf, NO_ENTRY
        while at != NO_ENTRY:
            event = self._events.get(at)
            if event is not None:
                if type(event) is Barrier:
                    barrier = at
                    break
                if type(event) is Hidden:
                    hidden.update(event.targets)
                else:
                    pending.append(at)
            at = self.parents[at]
        frozen = frozenset(hidden)
        ledger = Ledger()
        for number in reversed(pending):
            advance(ledger, self.ids[number], self._events[number], frozen, self._bytes[number])
        return leaf, ledger, frozen, barrier

    def window(self, leaf: int) -> Iterator[int]:
        """The numbers after the latest barrier on the path, newest first."""
        barrier = self.boundary(leaf)
        while leaf not in (NO_ENTRY, barrier):
            yield leaf
            leaf = self.parents[leaf]


def evidence_at(
    tree: Tree, leaf: int, session: str, generation: int = 0, horizon: int | None = None
) -> Evidence:
    """What the tree proves at this leaf."""
    _, ledger, _, barrier = tree.at(leaf)
    return Evidence(
        session,
        tree.ids[leaf] if leaf != NO_ENTRY else None,
        ledger,
        tree.has_children(leaf),
        "root" if barrier == NO_ENTRY else f"compaction:{tree.ids[barrier]}",
        generation,
        tree.bytes_at(leaf),
        horizon,
    )
