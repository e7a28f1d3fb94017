"""Following calls from a symbol to what it calls, and back to what calls it.

Links are not stored. A call site is resolved when somebody asks, from the facts of the files that
can have a say: the file it is in, and the files that define what it names. So an edit to one file
never leaves another file's links out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from holdfast.index import facts as facts_of
from holdfast.index.facts import MODULE, Call, FileFacts, Symbol, file_id
from holdfast.index.generation import Reader

CANDIDATES_MAX = 50


@dataclass(frozen=True, slots=True)
class Place:
    """A symbol in its file; index MODULE is the file itself."""

    path: str
    index: int


@dataclass(frozen=True, slots=True)
class Link:
    """One call from one place to another. Several links with one site are an ambiguous call."""

    source: Place
    target: Place
    site_path: str
    site_line: int
    kind: str
    confidence: float
    reason: str
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A call whose target is not in the tree, or cannot be told."""

    source: Place
    name: str
    line: int


class Library:
    """The facts of the files somebody asked about, read once each, as they are on disk now."""

    def __init__(self, reader: Reader, fresh: dict[str, FileFacts], gone: frozenset[str]) -> None:
        self._reader, self._gone = reader, gone
        self._known: dict[str, FileFacts | None] = dict(fresh)
        self._fresh = fresh

    def facts(self, path: str) -> FileFacts | None:
        if path not in self._known:
            found = None if path in self._gone else self._reader.facts([path]).get(path)
            self._known[path] = None if found is None else facts_of.decode(found)
        return self._known[path]

    def files_defining(self, name: str) -> list[str]:
        return self._files(
            self._reader.files_defining(name), lambda f: any(s.name == name for s in f.symbols)
        )

    def files_calling(self, name: str) -> list[str]:
        return self._files(
            self._reader.files_calling(name), lambda f: any(c.name == name for c in f.calls)
        )

    def _files(self, stored: Iterable[str], has: Callable[[FileFacts], bool]) -> list[str]:
        found = {p for p in stored if p not in self._fresh and p not in self._gone}
        found |= {path for path, facts in self._fresh.items() if has(facts)}
        return sorted(found)

    def symbol(self, place: Place) -> Symbol | None:
        facts = self.facts(place.path)
        return None if facts is None or place.index == MODULE else facts.symbols[place.index]

    def identity(self, place: Place) -> str:
        symbol = self.symbol(place)
        return file_id(place.path) if symbol is None else symbol.id


def outgoing(library: Library, place: Place) -> tuple[list[Link], list[Unresolved]]:
    """What a symbol calls, nested functions without a name of their own included."""
    facts = library.facts(place.path)
    if facts is None:
        return [], []
    links: list[Link] = []
    unresolved: list[Unresolved] = []
    for call in facts.calls:
        if call.caller != place.index:
            continue
        found = _targets(library, facts, call)
        if found:
            links += [_link(facts, call, place, *one) for one in found]
        else:
            unresolved.append(Unresolved(place, call.name, call.line))
    return links, unresolved


def incoming(library: Library, place: Place) -> list[Link]:
    """What calls a symbol, as far as calls by its name can be resolved to it."""
    symbol = library.symbol(place)
    if symbol is None:
        return []
    links = []
    for path in library.files_calling(symbol.name):
        facts = library.facts(path)
        if facts is None:
            continue
        for call in facts.calls:
            if call.name == symbol.name:
                links += [
                    _link(facts, call, Place(path, call.caller), *one)
                    for one in _targets(library, facts, call)
                    if one[0] == place
                ]
    return links


Target = tuple[Place, float, str, bool]


def _link(facts: FileFacts, call: Call, source: Place, target: Place, confidence: float,
          reason: str, ambiguous: bool) -> Link:  # fmt: skip
    return Link(source, target, facts.path, call.line, call.kind, confidence, reason, ambiguous)


def _targets(library: Library, facts: FileFacts, call: Call) -> list[Target]:
    """Where a call can lead: one target when it can be told, several when it cannot."""
    here = [Place(facts.path, i) for i, s in enumerate(facts.symbols) if s.name == call.name]
    if here:
        return _weighed(here, 0.92, "defined in the same file")
    elsewhere = [
        Place(path, i)
        for path in library.files_defining(call.name)[:CANDIDATES_MAX]
        if (other := library.facts(path)) is not None
        for i, symbol in enumerate(other.symbols)
        if symbol.name == call.name
    ]
    imported = [i.module for i in facts.imports if call.name in (i.alias, i.name)]
    if imported:
        named = [
            p
            for p in elsewhere
            if (other := library.facts(p.path)) is not None
            and any(other.module.endswith(m.lstrip(".")) for m in imported if m.lstrip("."))
        ]
        if named:
            return _weighed(named, 0.85, "imported by name")
    return _weighed(elsewhere, 0.6, "the only definition of this name")


def _weighed(places: list[Place], confidence: float, reason: str) -> list[Target]:
    if len(places) == 1:
        return [(places[0], confidence, reason, False)]
    why = f"one of {len(places)} definitions of this name"
    return [(place, confidence / len(places), why, True) for place in places]
