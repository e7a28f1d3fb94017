"""Where the links of many files are looked up, and the names that may hold a symbol.

`FileLinks` says where the names of one file lead to. A table has them for a whole tree, by name:
in memory here, or stored with a generation. It answers which files a question has to read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from holdfast.index.calls.link_terms import BASE, CALLS, HELD, INDIRECT, LEADS, Term, key_of
from holdfast.index.calls.links import MAKERS, FileLinks, entered_by, exported
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import VALUE, FileFacts, Symbol
from holdfast.index.facts.walk import CONTAINERS

OWNERS = CONTAINERS | {"namespace"}
HOLDERS_MAX = 20_000
"""So many names are followed from one symbol."""


class LinkTable(Protocol):
    """The links of all files of a tree."""

    def files(self, term: Term) -> Mapping[str, int]:
        """The files with this term, and how often each has it; large numbers are cut off."""
        ...

    def keys(self, term: Term) -> Iterable[str]:
        """What follows the key of `term` in the keys of the same role and family."""
        ...


class MemoryLinks:
    """The links of files that are all in memory."""

    def __init__(self, files: Iterable[FileFacts] = ()) -> None:
        self._files: dict[Term, dict[str, int]] = defaultdict(dict)
        self._following: dict[Term, dict[str, Term]] = defaultdict(dict)
        self._terms: dict[str, list[Term]] = {}
        for facts in files:
            self.add(facts)

    def add(self, facts: FileFacts) -> None:
        self.remove(facts.path)
        mine = self._terms[facts.path] = []
        for term, count in FileLinks(facts).terms():
            mine.append(term)
            self._files[term][facts.path] = count
            begin, gap, rest = term.key.partition(" ")
            if term.role == LEADS:
                self._following[term._replace(key=begin + gap)][rest] = term
            else:
                self._following[term._replace(key="")][term.key] = term

    def remove(self, path: str) -> None:
        for term in self._terms.pop(path, ()):
            self._files[term].pop(path, None)

    def files(self, term: Term) -> Mapping[str, int]:
        return self._files.get(term, {})

    def keys(self, term: Term) -> Iterable[str]:
        found = self._following.get(term, {})
        return [rest for rest, whole in found.items() if self._files.get(whole)]


@dataclass(frozen=True, slots=True)
class Holders:
    """The keys of names that may hold a symbol."""

    family: str
    own: frozenset[str]
    """Its own names: a call by one of them comes first."""
    others: frozenset[str]
    """These and all that may hold it."""
    entered: frozenset[str]
    """The same, with the names whose holders may have what these do."""
    anything: bool = False
    """Whether any call of a parameter or of a value may reach it."""
    more: bool = False
    """Whether there are more names than were followed."""


def holders_of(table: LinkTable, facts: FileFacts, symbol: Symbol) -> Holders:
    """The names under which a symbol may be called somewhere in the tree."""
    family = FAMILIES.get(facts.language, "")
    own, start = {symbol.name}, {exported(facts.path, family, symbol.name)}
    makes = symbol.kind in OWNERS or symbol.kind == "constructor" or symbol.name in MAKERS
    owner = facts.symbols[symbol.parent].name if symbol.parent >= 0 else ""
    anything = symbol.name == "__call__" and family == "python"
    if symbol.kind in OWNERS:
        start.add(BASE + symbol.name)
    elif owner and (makes or family == "ruby"):
        start.add(BASE + owner)
    if owner and makes and symbol.kind not in OWNERS:
        # Calling a class by its name reaches its constructor.
        own.add(owner)
        start.add(owner)
    if owner and anything:
        start |= {owner, owner + VALUE}
    keys = {key_of(name) for name in start}
    queue = list(keys)
    while queue and len(keys) < HOLDERS_MAX:
        for new in _held_by(table, family, queue.pop(), makes=makes):
            if new not in keys:
                keys.add(new)
                queue.append(new)
    own_keys = frozenset(key_of(name) for name in own)
    entered = frozenset(entered_by(keys))
    return Holders(family, own_keys, frozenset(keys), entered, anything, more=bool(queue))


def _held_by(table: LinkTable, family: str, key: str, *, makes: bool) -> Iterator[str]:
    for other in table.keys(Term(LEADS, family, key + " ")):
        yield other
        if makes and other[0] != BASE and not other.endswith(VALUE):
            yield BASE + other
    if key.endswith(VALUE):
        for other in table.keys(Term(LEADS, family, key[:-2] + " ")):
            yield other if other.endswith(VALUE) else other + VALUE


def files_that_call(table: LinkTable, holders: Holders) -> set[str]:
    """The files with a call by one of the symbol's own names."""
    terms = (Term(CALLS, holders.family, key) for key in holders.own)
    return {path for term in terms for path in table.files(term)}


def files_that_may_call(table: LinkTable, holders: Holders) -> set[str]:
    """The files with a call that may reach the symbol by another name."""
    terms = [Term(CALLS, holders.family, key) for key in holders.others - holders.own]
    terms += [Term(HELD, holders.family, key) for key in holders.entered]
    if holders.anything:
        terms.append(Term(INDIRECT, holders.family, ""))
    return {path for term in terms for path in table.files(term)}
