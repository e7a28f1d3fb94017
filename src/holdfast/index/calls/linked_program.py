"""The call graph of one tree: walks from a symbol to its callees or its callers.

Resolved calls are not stored: what a call means can depend on any file of the tree, so a stored
result goes out of date when another file changes. A call is resolved when needed. Only a file that
has a name which may hold a symbol can call it (`link_table`), so finding callers does not mean
resolving the whole tree, or reading it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from holdfast.index.calls.equivalents import Equivalents
from holdfast.index.calls.link_table import (
    Holders,
    LinkTable,
    MemoryLinks,
    files_that_call_anything,
    files_that_may_call,
    holders_of,
    named_in_files,
)
from holdfast.index.calls.program import Thing
from holdfast.index.calls.resolve import Edge, OpenCall, Resolver
from holdfast.index.facts.model import MODULE, FileFacts, Symbol

RESOLVED_MAX = 100
"""The maximum number of calls by other names that are resolved to find the callers of one symbol. A
name such as `run` is passed on under thousands of other names, which would be nearly every call of
a large tree.
"""
KNOWN_MAX = 200_000
"""The maximum number of cached resolved calls."""
MEMO_MAX = 50_000
"""The maximum number of evaluated expressions cached between questions."""
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CallWalk:
    """The calls that a walk found. `more` says that the limit left some out."""

    edges: list[Edge]
    open: list[OpenCall]
    more: bool
    partial: bool = False
    """Some calls that may reach the symbol through another name were not resolved."""


@dataclass
class LinkedProgram:
    """The facts of one tree, ready to resolve calls."""

    resolver: Resolver
    resolved_max: int = RESOLVED_MAX
    table: LinkTable | None = None
    """Which files a name leads to; built from the files in memory on first use if not given."""

    def __post_init__(self) -> None:
        self.partial: set[str] = set()
        """The ids of symbols whose list of callers may be incomplete."""
        self._known: dict[tuple[str, int], tuple[Edge | OpenCall, ...]] = {}
        self._numbers: dict[tuple[str, tuple[str, ...]], frozenset[int]] = {}
        """The calls of a file by some names, so that symbols of one name read each file once."""
        self._equivalents: dict[str, Equivalents] = {}
        self.targets: dict[tuple[str, str, str, str], frozenset[Thing]] = {}
        """Cache for `references`: things that count as one symbol, by path, family, name, kind."""
        self._own_table: MemoryLinks | None = None

    def _table(self) -> LinkTable:
        if self.table is not None:
            return self.table
        if self._own_table is None:
            views = self.resolver.program.files.values()
            self._own_table = MemoryLinks(view.facts for view in views)
        return self._own_table

    def replace(self, facts: FileFacts) -> None:
        self.resolver.replace(facts)
        if self._own_table is not None:
            self._own_table.add(facts)
        self.forget()

    def remove(self, path: str) -> None:
        if path in self.resolver.program.files:
            self.resolver.remove(path)
            if self._own_table is not None:
                self._own_table.remove(path)
            self.forget()

    def forget(self) -> None:
        """Clear everything that was resolved with older facts."""
        self._known.clear()
        self._numbers.clear()
        self._equivalents.clear()
        self.targets.clear()
        self.partial.clear()

    def trim(self) -> None:
        """Clear the caches if they take too much memory; called before a question."""
        if len(self.resolver.names.memo) > MEMO_MAX:
            self.resolver.forget()
            self.forget()

    def facts(self, path: str) -> FileFacts | None:
        view = self.resolver.program.files.get(path)
        return None if view is None else view.facts

    def place(self, identity: str) -> tuple[FileFacts, Symbol | None] | None:
        """The file and symbol of an id; the symbol is None if the id is a file's."""
        program = self.resolver.program
        thing = program.by_id.get(identity)
        if thing is not None:
            facts = program.files[thing.path].facts
            return facts, facts.symbols[thing.at]
        path = program.path_of(identity)
        own = self.facts(path) if path is not None else None
        return None if own is None else (own, None)

    def _resolved(self, path: str, number: int) -> tuple[Edge | OpenCall, ...]:
        """The resolution of one call of a file."""
        known = self._known.get((path, number))
        if known is None:
            view = self.resolver.program.files[path]
            if len(self._known) > KNOWN_MAX:
                self._known.clear()
            known = self._known[path, number] = self.resolver.calls(view, view.facts.calls[number])
        return known

    def _called(self, path: str, keys: AbstractSet[str]) -> frozenset[int]:
        """The calls of a file by these names, as positions among its calls."""
        key = path, tuple(sorted(keys))
        known = self._numbers.get(key)
        if known is None:
            if len(self._numbers) > KNOWN_MAX:
                self._numbers.clear()
            links = self.resolver.program.files[path].links
            known = self._numbers[key] = frozenset(links.called(keys))
        return known

    def outgoing(self, identity: str) -> tuple[list[Edge], list[OpenCall]]:
        found = self.place(identity)
        if found is None:
            return [], []
        facts = found[0]
        thing = self.resolver.program.by_id.get(identity)
        caller = MODULE if thing is None else thing.at
        answers = [
            answer
            for number in self.resolver.program.files[facts.path].by_caller.get(caller, ())
            for answer in self._resolved(facts.path, number)
        ]
        edges = [answer for answer in answers if isinstance(answer, Edge)]
        return edges, [answer for answer in answers if isinstance(answer, OpenCall)]

    def incoming(self, identity: str) -> list[Edge]:
        return list(self._incoming(identity))

    def _incoming(self, identity: str) -> Iterator[Edge]:
        """The calls that reach a symbol, in order of path and place."""
        found = self.place(identity)
        if found is None or found[1] is None:
            return
        facts, symbol = found[0], found[1]
        wanted = self._same(facts, symbol)
        files, table = self.resolver.program.files, self._table()
        holders = holders_of(table, facts, symbol)
        if holders.more:
            self.partial.add(identity)
        named = {p: keys for p, keys in named_in_files(table, holders).items() if p in files}
        others: dict[str, set[int]] = defaultdict(set)
        # Calls by its own name are always resolved; the limit applies only to other names.
        if self._add_others(table, holders, named, others):
            self.partial.add(identity)
        for path in sorted({*named, *others}):
            numbers = self._called(path, named.get(path, _NONE)) | others.get(path, set())
            for number in sorted(numbers):
                for one in self._resolved(path, number):
                    if isinstance(one, Edge) and one.callee in wanted:
                        yield one

    def _add_others(
        self,
        table: LinkTable,
        holders: Holders,
        named: Mapping[str, set[str]],
        others: dict[str, set[int]],
    ) -> bool:
        """Add calls by other names, nearest and rarest first; returns whether some were left out.

        `named` has the keys by which each file is known to call the symbol itself.
        """
        files, left = self.resolver.program.files, self.resolved_max
        for step in holders.steps:
            places = [(*files_that_may_call(table, holders.family, key), key) for key in step]
            for called, held, key in sorted(places, key=lambda one: (len(one[0] | one[1]), one[2])):
                # Calls by a key in `named` are counted there already.
                paths = held | {path for path in called if key not in named.get(path, _NONE)}
                for path in sorted(paths & files.keys()):
                    links = files[path].links
                    found = links.reached({key}) - links.called(named.get(path, _NONE))
                    found -= others[path]
                    if len(found) > left:
                        return True
                    left -= len(found)
                    others[path] |= found
        for path in sorted(files_that_call_anything(table, holders) & files.keys()):
            links = files[path].links
            found = set(links.indirect()) - links.called(named.get(path, _NONE)) - others[path]
            if len(found) > left:
                return True
            left -= len(found)
            others[path] |= found
        return False

    def _same(self, facts: FileFacts, symbol: Symbol) -> frozenset[str]:
        """The ids that count as a call of this symbol.

        Calling a class reaches its constructor. In Python and JavaScript several definitions of one
        name are one function: overloads, or a later definition that replaces the earlier.
        """
        known = self._equivalents.get(facts.path)
        if known is None:
            known = self._equivalents[facts.path] = Equivalents.of(facts)
        return known.same(symbol)

    def walk(self, start: str, direction: str, depth: int, limit: int) -> CallWalk:
        """The calls within `depth` steps, nearest first, at most `limit`."""
        callees: list[Edge] = []
        callers: list[Edge] = []
        left: list[OpenCall] = []
        more = False
        if direction in ("callees", "both"):
            callees, left, more = self._walk_one_way(start, depth, limit, outbound=True)
        if direction in ("callers", "both"):
            callers, _, cut = self._walk_one_way(start, depth, limit, outbound=False)
            more = more or cut
        if len(callees) + len(callers) > limit:
            # Each direction gets half, or whatever the other does not use.
            kept = max(limit // 2, limit - len(callees))
            callers, more = callers[:kept], True
            callees = callees[: limit - len(callers)]
        edges = list(dict.fromkeys([*callees, *callers]))
        inwards = {start, *(edge.caller for edge in callers)} if direction != "callees" else set()
        return CallWalk(edges, left, more, partial=bool(inwards & self.partial))

    def _walk_one_way(
        self, start: str, depth: int, limit: int, *, outbound: bool
    ) -> tuple[list[Edge], list[OpenCall], bool]:
        edges: dict[Edge, None] = {}
        left: list[OpenCall] = []
        seen, queue = {start}, deque([(start, 0)])
        while queue:
            at, far = queue.popleft()
            if far >= depth:
                continue
            found: Iterable[Edge]
            if outbound:
                found, missing = self.outgoing(at)
                left += missing
            else:
                found = self._incoming(at)
            for edge in found:
                if len(edges) >= limit and edge not in edges:
                    return list(edges), left, True
                edges[edge] = None
                following = edge.callee if outbound else edge.caller
                if following not in seen:
                    seen.add(following)
                    queue.append((following, far + 1))
        return list(edges), left, False
