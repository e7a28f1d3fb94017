"""Lookup of the links of many files, and the names that may hold a symbol.

`FileLinks` has the names of one file and what they lead to. A table has them for a whole tree, by
name: in memory, or stored (`stored_program`). It tells which files have calls that must be resolved
for a question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from holdfast.index.calls.file_terms import call_terms, text_of
from holdfast.index.calls.link_terms import BASE, CALLS, HELD, INDIRECT, key_of
from holdfast.index.calls.links import MAKERS, FileLinks, entered_by, exported
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import VALUE, FileFacts, Symbol
from holdfast.index.facts.walk import CONTAINERS

OWNERS = CONTAINERS | {"namespace"}
HOLDERS_MAX = 100
"""The maximum number of names followed from one symbol, nearest first. A name that leads to more
names than remain is skipped: `filter` or `value` lead to nearly every name of a large tree.
"""


class LinkTable(Protocol):
    """The links of all files of a tree."""

    def files(self, kind: str, family: str, name: str) -> Collection[str]:
        """The files with this term; may include files that do not have it."""
        ...

    def pairs(self, family: str, key: str) -> Iterable[tuple[str, Collection[str]]]:
        """The keys that `key` leads to, each with the files where it does."""
        ...


class MemoryLinks:
    """The links of files that are all in memory."""

    def __init__(self, files: Iterable[FileFacts] = ()) -> None:
        self._files: dict[str, set[str]] = defaultdict(set)
        self._pairs: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(dict)
        self._terms: dict[str, tuple[set[str], list[tuple[str, str, str]]]] = {}
        for facts in files:
            self.add(facts)

    def add(self, facts: FileFacts) -> None:
        self.remove(facts.path)
        links = FileLinks(facts)
        texts, found = call_terms(links)
        pairs = [(links.family, key, other) for key, other in found]
        self._terms[facts.path] = texts, pairs
        for text in texts:
            self._files[text].add(facts.path)
        for family, key, other in pairs:
            self._pairs[family, key].setdefault(other, set()).add(facts.path)

    def remove(self, path: str) -> None:
        texts, pairs = self._terms.pop(path, ((), ()))
        for text in texts:
            self._files[text].discard(path)
        for family, key, other in pairs:
            found = self._pairs[family, key]
            found[other].discard(path)
            if not found[other]:
                del found[other]

    def files(self, kind: str, family: str, name: str) -> Collection[str]:
        return self._files.get(text_of(kind, family, name), ())

    def pairs(self, family: str, key: str) -> Iterable[tuple[str, Collection[str]]]:
        return self._pairs.get((family, key), {}).items()


@dataclass(frozen=True, slots=True)
class Holders:
    """The keys of names that may hold a symbol."""

    family: str
    own: frozenset[str]
    """Its own names; calls by these are resolved first."""
    below: frozenset[str]
    """The same for its subclasses, which its constructor creates."""
    steps: tuple[tuple[str, ...], ...]
    """The names that may hold it, by distance: its own, then the names these lead to, and so on."""
    anything: bool = False
    """Whether any call of a parameter or of a value may reach it."""
    more: bool = False
    """Whether some names were not followed."""


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
        start |= {owner, owner + VALUE, BASE + owner}
    keys = {key_of(name) for name in start}
    below = _below(table, family, keys)
    if anything:  # instances of subclasses are called too
        below |= {key + VALUE for key in below if key[0] != BASE}
    steps, more = _steps(table, family, keys | below, makes=makes)
    own_keys = frozenset(key_of(name) for name in own)
    return Holders(family, own_keys, frozenset(below), steps, anything, more)


def _below(table: LinkTable, family: str, keys: set[str]) -> set[str]:
    """The keys of the subclasses of the classes among the keys, and of what constructs them."""
    found: set[str] = set()
    queue = [key for key in keys if key[0] == BASE]
    while queue:
        for other, _ in table.pairs(family, queue.pop()):
            if other not in found:
                found.add(other)
                if other[0] == BASE:
                    queue.append(other)
    return found


def _steps(
    table: LinkTable, family: str, start: set[str], *, makes: bool
) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """The keys that `start` leads to, by distance, and whether some were not followed."""
    steps, seen, more, most = [tuple(sorted(start))], set(start), False, len(start) + HOLDERS_MAX
    while steps[-1]:
        following: list[str] = []
        reached = [_few(_held_by(table, family, key, makes=makes), seen, most) for key in steps[-1]]
        for found in sorted((each for each in reached if each is not None), key=len):
            new = sorted(found - seen)
            if len(seen) + len(new) > most:
                more = True
                break
            seen.update(new)
            following += new
        more = more or None in reached
        steps.append(tuple(following))
    return tuple(steps[:-1]), more


def _few(keys: Iterable[str], seen: set[str], most: int) -> set[str] | None:
    """The new keys, or None if there are too many."""
    found: set[str] = set()
    for key in keys:
        if key not in seen:
            found.add(key)
            if len(found) + len(seen) > most:
                return None
    return found


def _held_by(table: LinkTable, family: str, key: str, *, makes: bool) -> Iterator[str]:
    for other, _ in table.pairs(family, key):
        yield other
        if makes and other[0] != BASE and not other.endswith(VALUE):
            yield BASE + other
    if key.endswith(VALUE):
        for other, _ in table.pairs(family, key[:-2]):
            yield other if other.endswith(VALUE) else other + VALUE


def named_in_files(table: LinkTable, holders: Holders) -> dict[str, set[str]]:
    """The keys by which each file may call the symbol itself.

    These are its own names and those of its subclasses. If a file gives one of them an alias, as in
    `from shop import total as sum_up`, the alias is included for that file.
    """
    family, found = holders.family, defaultdict[str, set[str]](set)
    for key in holders.own | holders.below:
        for path in table.files(CALLS, family, key):
            found[path].add(key)
        for other, paths in table.pairs(family, key):
            called = set(table.files(CALLS, family, other))
            for path in paths:
                if path in called:
                    found[path].add(other)
    return found


def files_that_may_call(table: LinkTable, family: str, key: str) -> tuple[set[str], set[str]]:
    """The files with a call by this key, and those that call a variable that may hold it."""
    held = {path for each in entered_by({key}) for path in table.files(HELD, family, each)}
    return set(table.files(CALLS, family, key)), held


def files_that_call_anything(table: LinkTable, holders: Holders) -> set[str]:
    """The files with calls of parameters or unnamed values, if such calls may reach the symbol."""
    return set(table.files(INDIRECT, holders.family, "")) if holders.anything else set()
