"""The calls of one tree, followed from a symbol to what it calls and back to what calls it.

Resolved calls are not stored. What a call means can depend on any file of the tree, so a stored
link goes out of date when another file changes. The facts of a generation are read once and kept,
changed files replace theirs, and a call is resolved when it is needed. Only a file that mentions a
name can call it, so finding callers does not mean resolving the whole tree.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.index.calls.resolve import Edge, OpenCall, Resolver
from holdfast.index.calls.signatures import shape
from holdfast.index.calls.steps import names as names_in
from holdfast.index.calls.wordlists import CALLBACK_TAKERS
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import (
    MODULE,
    RESULT,
    VALUE,
    YIELD,
    Call,
    FileFacts,
    Symbol,
    file_id,
)

PASSED = "<passed>"
"""The name of what is passed to a function: it may be called by any name there."""


RESOLVED_MAX = 20_000
"""Calls that are resolved to find the callers of one symbol. A name such as `run` is held and
passed under thousands of others, which is nearly every call of a large tree."""


@dataclass(frozen=True, slots=True)
class CallWalk:
    """The calls that a walk found. `more` says that the limit left some out."""

    edges: list[Edge]
    open: list[OpenCall]
    more: bool
    partial: bool = False
    """Not every call that might reach the symbol through another name was resolved."""


class _Names(dict[str, tuple[str, ...]]):
    """The names in an expression. The same ones come again and again."""

    def __missing__(self, value: str) -> tuple[str, ...]:
        found = self[value] = names_in(value)
        return found


@dataclass
class LinkedProgram:
    """The facts of one tree, ready to resolve calls."""

    resolver: Resolver
    resolved_max: int = RESOLVED_MAX

    def __post_init__(self) -> None:
        self.partial: set[str] = set()
        """The symbols whose callers were not all looked for."""
        self._known: dict[tuple[str, int], tuple[Edge | OpenCall, ...]] = {}
        self._places: dict[str, tuple[str, int]] = {}
        self._mentions: dict[str, set[str]] = defaultdict(set)
        self._aliases: dict[str, set[str]] = defaultdict(set)
        """Name -> aliases for it in some file. A wrong alias costs time, never a wrong answer."""
        self._indirect: dict[str, set[str]] = {}
        names = _Names()
        for path, view in self.resolver.program.files.items():
            self._index(path, view.facts, names)

    def _called_indirectly(self, path: str) -> set[str]:
        """Names called in a file that may hold any function: parameters and values."""
        known = self._indirect.get(path)
        if known is None:
            facts = self.resolver.program.files[path].facts
            known = self._indirect[path] = {
                call.name
                for call in facts.calls
                if call.name == VALUE
                or (call.passed and call.name in CALLBACK_TAKERS)
                or _calls_a_parameter(facts, call)
            }
        return known

    def _index(self, path: str, facts: FileFacts, names: Mapping[str, tuple[str, ...]]) -> None:
        mentions, aliases = self._mentions, self._aliases
        for name in {call.name for call in facts.calls}:
            mentions[name].add(path)
        for taken in facts.imports:
            if taken.name:
                mentions[taken.name].add(path)
            if taken.alias:
                mentions[taken.alias].add(path)
                aliases[taken.name].add(taken.alias)
        for binding in facts.bindings:
            value = binding.value
            if value and value != "?":
                held = binding.name
                if held in (RESULT, YIELD):  # what a function returns is had by calling it
                    held = facts.symbols[binding.scope].name + VALUE
                contains = "[" in value or "{" in value
                for name in names[value]:
                    mentions[name].add(path)
                    if name != held:
                        aliases[name].add(held)
                    if contains:
                        aliases[name].add(PASSED)
        for call in facts.calls:
            for passed in call.passed:
                name = passed.rpartition("=")[2].rpartition(".")[2]
                mentions[name].add(path)
                aliases[name].add(PASSED)
        self._indirect.pop(path, None)
        self._places[file_id(path)] = (path, -1)
        for index, symbol in enumerate(facts.symbols):
            self._places[symbol.id] = (path, index)

    def replace(self, facts: FileFacts) -> None:
        self.resolver.replace(facts)
        # Names that are no longer mentioned are not removed: that costs time, but no wrong answer.
        self._index(facts.path, facts, _Names())
        self._forget()

    def remove(self, path: str) -> None:
        if path in self.resolver.program.files:
            self.resolver.remove(path)
            self._forget()

    def _forget(self) -> None:
        """Drop what was resolved with other facts."""
        self._known.clear()
        self.partial.clear()

    def facts(self, path: str) -> FileFacts | None:
        view = self.resolver.program.files.get(path)
        return None if view is None else view.facts

    def place(self, identity: str) -> tuple[FileFacts, Symbol | None] | None:
        """The file and symbol of an id; no symbol when it is the file's own id."""
        found = self._places.get(identity)
        facts = self.facts(found[0]) if found is not None else None
        if found is None or facts is None:
            return None
        index = found[1]
        if index < 0:
            return facts, None
        # The file may have changed since the id was recorded.
        symbol = facts.symbols[index] if index < len(facts.symbols) else None
        return (facts, symbol) if symbol is not None and symbol.id == identity else None

    def _resolved(self, path: str, number: int) -> tuple[Edge | OpenCall, ...]:
        """The resolution of one call of a file."""
        known = self._known.get((path, number))
        if known is None:
            view = self.resolver.program.files[path]
            known = self._known[path, number] = self.resolver.calls(view, view.facts.calls[number])
        return known

    def outgoing(self, identity: str) -> tuple[list[Edge], list[OpenCall]]:
        found = self.place(identity)
        if found is None:
            return [], []
        facts = found[0]
        caller = self._places[identity][1]
        answers = [
            answer
            for number, call in enumerate(facts.calls)
            if call.caller == caller
            for answer in self._resolved(facts.path, number)
        ]
        edges = [answer for answer in answers if isinstance(answer, Edge)]
        return edges, [answer for answer in answers if isinstance(answer, OpenCall)]

    def incoming(self, identity: str) -> list[Edge]:
        found = self.place(identity)
        if found is None or found[1] is None:
            return []
        wanted = self._same(found[0], found[1])
        own, names, paths = self._may_call(found[0], found[1])
        places = self._calls_by(names, paths)
        if len(places) > self.resolved_max:
            # Calls by its own name come first, so that none of them is left out for an alias.
            self.partial.add(identity)
            by_name = [place for place in places if self._call_name(place) in own]
            rest = [place for place in places if self._call_name(place) not in own]
            places = sorted([*by_name, *rest][: max(self.resolved_max, len(by_name))])
        answers = (one for path, number in places for one in self._resolved(path, number))
        return [one for one in answers if isinstance(one, Edge) and one.callee in wanted]

    def _calls_by(self, names: set[str], paths: set[str]) -> list[tuple[str, int]]:
        """The calls by any of these names, in order of path and place."""
        files = self.resolver.program.files
        passed = PASSED in names or any(name.endswith(VALUE) for name in names)
        places: list[tuple[str, int]] = []
        for path in sorted(files if passed else paths & files.keys()):
            calls = files[path].calls
            # The smaller side decides: both may be thousands.
            called = calls.keys() & names
            if passed:
                called |= self._called_indirectly(path)
            places += [(path, n) for n in sorted(n for name in called for n in calls[name])]
        return places

    def _call_name(self, place: tuple[str, int]) -> str:
        return self.resolver.program.files[place[0]].facts.calls[place[1]].name

    @staticmethod
    def _same(facts: FileFacts, symbol: Symbol) -> set[str]:
        """The symbols that are reached by a call of this one.

        Calling a class reaches its constructor. In Python and JavaScript several definitions of one
        name are one function: overloads, or a later definition that replaces the earlier.
        """
        same = {symbol.id}
        one_function = FAMILIES.get(facts.language) in ("python", "js")
        for each in facts.symbols:
            owner = facts.symbols[each.parent] if each.parent >= 0 else None
            made = each.kind == "constructor" and owner is not None and owner.id == symbol.id
            if made or (one_function and each.qualified == symbol.qualified):
                same.add(each.id)
        return same

    def _may_call(self, facts: FileFacts, symbol: Symbol) -> tuple[set[str], set[str], set[str]]:
        """A symbol's own names, those and its aliases, and the files that use any of them."""
        names = {symbol.name}
        if symbol.parent >= 0:
            # Calling a class by its name reaches its constructor.
            names.add(facts.symbols[symbol.parent].name)
        own = frozenset(names)
        paths: set[str] = {facts.path}
        queue = list(names)
        while queue:
            name = queue.pop()
            paths |= self._mentions.get(name, set())
            new = self._aliases.get(name, set()) - names
            if not name.endswith(VALUE):
                # What holds it in a list, or returns it, is called through another name.
                new |= self._aliases.get(name + VALUE, set()) - names
            names |= new
            queue += new
        return set(own), names, paths

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
            # Each direction gets half, or what the other leaves.
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
            if outbound:
                found, missing = self.outgoing(at)
                left += missing
            else:
                found = self.incoming(at)
            for edge in found:
                if len(edges) >= limit and edge not in edges:
                    return list(edges), left, True
                edges[edge] = None
                following = edge.callee if outbound else edge.caller
                if following not in seen:
                    seen.add(following)
                    queue.append((following, far + 1))
        return list(edges), left, False


def _calls_a_parameter(facts: FileFacts, call: Call) -> bool:
    at = call.caller if not call.receiver else MODULE
    while at != MODULE:
        symbol = facts.symbols[at]
        if call.name in shape(facts.language, symbol.name, symbol.signature).parameters:
            return True
        at = symbol.parent
    return False
