"""The questions about sessions: what was read, and what the agent still has in context."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.dashboard.answers import HeldLines, SessionEntry, SessionTree
from holdfast.dashboard.parameters import Members, need, number
from holdfast.errors import UsageError
from holdfast.observed.sessions import ObservedSession, SessionObserver
from holdfast.reading import scope as scopes
from holdfast.reading.events import Anchored, Barrier, Derived, Hidden, Refreshed, Together
from holdfast.reading.scope import Lines
from holdfast.reading.tree import NO_ENTRY, Doubt

if TYPE_CHECKING:
    from holdfast.observed.logs import FileTimes, TimedLog
    from holdfast.reading.context import ContextMap
    from holdfast.reading.reader import Reader
    from holdfast.reading.tree import Tree

LINES_MAX = 4_000
ENTRIES_MAX = 500
"""At most this many entries of a session are shown, the newest ones."""


class SessionQuestions:
    """Answers questions about sessions, one request at a time."""

    def __init__(self, reader: Reader, sessions: SessionObserver) -> None:
        self.reader, self._sessions = reader, sessions
        self._turn = threading.Lock()

    def session(self, params: Members) -> SessionTree:
        """The tree of a session: every entry, its parent, and what it did."""
        with self._turn:
            limit = number(params, "limit", ENTRIES_MAX)
            return self._session_tree(self._followed(params), min(limit, ENTRIES_MAX))

    def _session_tree(self, observed: ObservedSession, limit: int) -> SessionTree:
        evidence = observed.host.evidence()
        tree, log = observed.tree, observed.log
        leaf = NO_ENTRY if isinstance(evidence, Doubt) else tree.number(evidence.leaf)
        active = set(tree.path(leaf))
        entries = tuple(
            _entry(tree, log, number, depth, active=number in active, leaf=number == leaf)
            for number, depth in tree.in_reading_order()[-limit:]
        )
        doubt = evidence.why if isinstance(evidence, Doubt) else None
        return SessionTree(entries, len(tree), doubt)

    def context(self, params: Members) -> ContextMap:
        """What the agent has in context, and what the latest compaction removed."""
        with self._turn:
            return self.reader.context(self._followed(params).host)

    def context_lines(self, params: Members) -> HeldLines:
        """A file that the session has or had, line by line, and what changed since."""
        from holdfast.dashboard.lines import line_rows

        path = need(params, "path")
        with self._turn:
            context = self.reader.context(self._followed(params).host)
        files = [file for file in (*context.held, *context.lost) if file.path == path]
        if not files:
            raise UsageError(f"the session has not read {path}")
        return line_rows(files[0], self.reader.objects.load, LINES_MAX)

    def holds(self, params: Members, places: Sequence[tuple[str, Lines]]) -> list[bool]:
        """For each place, whether the session provably has its current lines."""
        with self._turn:
            host = self._followed(params).host
            return [self.reader.holds(path, lines, host) for path, lines in places]

    def _followed(self, params: Members) -> ObservedSession:
        name = need(params, "name")
        if name not in self._sessions.all_names():
            raise UsageError(
                f"there is no session {name}", "holdfast read --session NAME makes one"
            )
        return self._sessions.follow(name)


def _entry(
    tree: Tree, log: TimedLog | FileTimes, number: int, depth: int, *, active: bool, leaf: bool
) -> SessionEntry:
    ledger, served, id = tree.ledger(number), tree.served.get(number), tree.ids[number]
    entry = SessionEntry(
        id=id,
        parent=tree.ids[tree.parents[number]] if tree.parents[number] >= 0 else None,
        kind=tree.kinds[number],
        depth=depth,
        holds=sum(len(ledger.scopes(path)) for path in ledger.paths()),
        sent_tokens=None if served is None else -(-served.served_bytes // 4),
        plain_tokens=None if served is None else -(-served.size_bytes // 4),
        at=log.at.get(id),
        said=(log.texts.get(id) or "")[:400] or None,
        active=active,
        leaf=leaf,
    )
    match tree.event(number):
        case Anchored(path, scope, _):
            return structs.replace(entry, path=path, scope=scopes.key(scope), mode="full")
        case Derived(mode, path, scope, _, _):
            return structs.replace(entry, path=path, scope=scopes.key(scope), mode=mode)
        case Refreshed(path, scope):
            return structs.replace(entry, path=path, scope=scopes.key(scope), mode="refresh")
        case Barrier():
            return structs.replace(entry, barrier=True)
        case Hidden(targets):
            return structs.replace(entry, hides=tuple(sorted(targets)))
        case None:
            return entry
        case Together(events):
            return structs.replace(entry, path=events[0].path, mode="several")
        case event:
            return structs.replace(entry, path=event.path, mode=type(event).__name__.lower())
