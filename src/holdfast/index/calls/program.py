"""Many files as one program: tables of names and members over the facts of all files.

Every table is a plain index over the facts, so a file can be replaced by removing its entries and
adding the new ones. The meaning of names (imports, types, inheritance) is computed from these
tables on demand, in `holdfast.index.calls.names`.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from holdfast.index.calls.file_view import View as View
from holdfast.index.calls.link_names import packages_of, passing_of
from holdfast.index.calls.links import MEMBERS_APART
from holdfast.index.facts.model import MODULE, FileFacts, Symbol, file_id
from holdfast.index.facts.walk import CONTAINERS

TYPES = CONTAINERS | {"type"}
OWNERS = CONTAINERS | {"namespace"}


class Thing(NamedTuple):
    """What an expression refers to.

    `kind` is "symbol" (the class or function itself), "instance" (of the class at that place),
    "file", "package" (`name` is dotted) or "external" (`name` is not in the program). `at` is the
    index of the symbol in its file. For kinds without a symbol, `at` is the scope in which `name`
    is evaluated: "container" (the text of a type), "method" (of a container: its name, and the type
    of its result), "literal" (a line, and the expression of a list or an object) and "bound" (a
    method of a literal: a line, and the expression of its result).
    """

    kind: str
    path: str = ""
    at: int = MODULE
    name: str = ""


class Lookups(Protocol):
    """Symbols by their ids."""

    def get(self, identity: str, /) -> Thing | None: ...
    def __getitem__(self, identity: str, /) -> Thing: ...
    def __contains__(self, identity: object, /) -> bool: ...


class Program:
    """The tables over all files, as lookups need them."""

    files: Mapping[str, View]
    packages: Container[tuple[str, str]]
    by_id: Lookups
    modules: Mapping[str, Collection[str]]
    """Folders of `go.mod` and `package.json` files, by the module they declare."""
    folders: Mapping[str, Collection[str]]
    """The files of each folder."""
    above: Mapping[str, int]
    """How many files are somewhere below each folder."""
    suffixes: Mapping[str, Collection[str]]
    """Paths by their last part."""
    found: dict[tuple[str, str], Thing]
    """Resolved imports, by file and module text; cached until a file changes."""

    def path_of(self, identity: str) -> str | None:
        """The path of the file with this id."""
        raise NotImplementedError

    def exact(self, family: str, full: str) -> list[Thing]:
        """The symbols with this full name, by path and position."""
        raise NotImplementedError

    def methods(self, family: str, name: str, most: int) -> list[Thing] | None:
        """The methods with this name and a body; None if there are more than `most`."""
        raise NotImplementedError

    def macros(self, name: str) -> list[Thing]:
        """The Rust macros with this name."""
        raise NotImplementedError

    def only(self, family: str, name: str) -> Thing | None:
        """The symbol with this name, if there is exactly one."""
        raise NotImplementedError

    def has_inner(self, family: str, name: str) -> bool:
        """Whether a symbol with this name is nested in another."""
        raise NotImplementedError

    def naming(self, family: str, name: str) -> list[str]:
        """The sorted paths of files that have a symbol with this name."""
        raise NotImplementedError

    def passing(self, family: str, name: str) -> Iterator[tuple[str, int]]:
        """The calls with passed values, by called name: path and call number, sorted."""
        raise NotImplementedError

    def renaming(self, family: str, name: str) -> Iterator[View]:
        """The files that import this name under another; may include files that do not."""
        raise NotImplementedError

    def importing_default(self, family: str, stems: Collection[str]) -> Iterator[View]:
        """The files that import a default from a file with one of these names; may include others.

        Files called `index` are imported under any name.
        """
        raise NotImplementedError

    def in_family(self, family: str) -> set[str]:
        """The files of a language family."""
        raise NotImplementedError

    def with_content(self) -> set[str]:
        """The files that have symbols, imports or calls."""
        raise NotImplementedError

    def apart(self, family: str, owner: str, name: str) -> list[Thing]:
        """Members with this name that are declared outside a class called `owner`."""
        raise NotImplementedError

    def bases_apart(self, family: str, child: str) -> list[tuple[str, str, str]]:
        """Base classes declared outside a class called `child`: path, child and base."""
        raise NotImplementedError

    def below(self, family: str, base: str, most: int) -> list[tuple[str, str]]:
        """The path and name of the first `most` classes, by path, with a base called `base`."""
        raise NotImplementedError

    def add(self, facts: FileFacts) -> None:
        """Add a file, replacing an older one at the same path."""
        raise NotImplementedError

    def remove(self, path: str) -> None:
        """Remove a file from every table."""
        raise NotImplementedError

    def symbol(self, thing: Thing) -> Symbol:
        return self.files[thing.path].facts.symbols[thing.at]

    def label(self, thing: Thing) -> str:
        """The full name to show, starting with the module."""
        return self.files[thing.path].full(thing.at)


class MemoryProgram(Program):
    """The tables over files that are all in memory."""

    def __init__(self, files: Iterable[FileFacts] = ()) -> None:
        self.files: dict[str, View] = {}
        self.by_full: dict[tuple[str, str], list[Thing]] = defaultdict(list)
        self.by_name: dict[tuple[str, str], list[Thing]] = defaultdict(list)
        self.packages: dict[tuple[str, str], int] = defaultdict(int)
        self.by_id: dict[str, Thing] = {}
        self.modules: dict[str, set[str]] = defaultdict(set)
        self.folders: dict[str, set[str]] = defaultdict(set)
        self.above: dict[str, int] = defaultdict(int)
        self.suffixes: dict[str, set[str]] = defaultdict(set)
        self.files_by_id: dict[str, str] = {}
        self.found: dict[tuple[str, str], Thing] = {}
        self._passing: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
        self._apart: dict[tuple[str, str, str], set[Thing]] = defaultdict(set)
        self._bases_apart: dict[tuple[str, str], set[tuple[str, str, str]]] = defaultdict(set)
        self._below: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(dict)
        self._renaming: dict[tuple[str, str], dict[str, View]] | None = None
        for facts in files:
            self.add(facts)

    def add(self, facts: FileFacts) -> None:
        if facts.path in self.files:
            self.remove(facts.path)
        self.found.clear()
        self._renaming = None
        view = View(facts)
        facts = view.facts
        self.files[facts.path] = view
        self.files_by_id[file_id(facts.path)] = facts.path
        self.folders[view.folder].add(facts.path)
        for folder in above(view.folder):
            self.above[folder] += 1
        self.suffixes[facts.path.rpartition("/")[2]].add(facts.path)
        if facts.language in ("gomod", "json") and facts.module:
            self.modules[facts.module].add(view.folder)
        if not view.family:
            return
        for package in packages_of(view.facts, view.family):
            self.packages[view.family, package] += 1
        path, family = facts.path, view.family
        by_full, by_name, by_id = self.by_full, self.by_name, self.by_id
        prefix = f"{facts.module}." if facts.module else ""
        for index, symbol in enumerate(facts.symbols):
            thing = Thing("symbol", path, index)
            _insert(by_full[family, prefix + symbol.qualified], thing)
            _insert(by_name[family, symbol.name], thing)
            by_id[symbol.id] = thing
        for name, number in passing_of(facts):
            self._passing[family, name].add((path, number))
        for owner, thing in _apart(view):
            self._apart[family, owner, facts.symbols[thing.at].name].add(thing)
        for child, base in _bases_apart(view):
            self._bases_apart[family, child.rpartition(".")[2]].add((path, child, base))
        for item in facts.inherits:
            named = self._below[family, item.base.rpartition(".")[2]]
            named.setdefault(path, []).append(item.child)

    def remove(self, path: str) -> None:
        self.found.clear()
        self._renaming = None
        view = self.files.pop(path)
        self.files_by_id.pop(file_id(path), None)
        self.folders[view.folder].discard(path)
        if not self.folders[view.folder]:
            del self.folders[view.folder]
        for folder in above(view.folder):
            self.above[folder] -= 1
        self.suffixes[path.rpartition("/")[2]].discard(path)
        if view.facts.language in ("gomod", "json") and view.facts.module:
            self.modules[view.facts.module].discard(view.folder)
            if not self.modules[view.facts.module]:
                del self.modules[view.facts.module]
        if not view.family:
            return
        for package in packages_of(view.facts, view.family):
            self.packages[view.family, package] -= 1
            if not self.packages[view.family, package]:
                del self.packages[view.family, package]
        for index, symbol in enumerate(view.facts.symbols):
            for table, key in (
                (self.by_full, view.full(index)),
                (self.by_name, symbol.name),
            ):
                kept = [t for t in table[view.family, key] if t.path != path]
                if kept:
                    table[view.family, key] = kept
                else:
                    del table[view.family, key]
            self.by_id.pop(symbol.id, None)
        for name, number in passing_of(view.facts):
            self._passing[view.family, name].discard((path, number))
        for owner, thing in _apart(view):
            self._apart[view.family, owner, view.symbol(thing.at).name].discard(thing)
        for child, base in _bases_apart(view):
            self._bases_apart[view.family, child.rpartition(".")[2]].discard((path, child, base))
        for item in view.facts.inherits:
            self._below[view.family, item.base.rpartition(".")[2]].pop(path, None)

    def path_of(self, identity: str) -> str | None:
        return self.files_by_id.get(identity)

    def exact(self, family: str, full: str) -> list[Thing]:
        return self.by_full.get((family, full), [])

    def only(self, family: str, name: str) -> Thing | None:
        named = self.by_name.get((family, name), ())
        return named[0] if len(named) == 1 else None

    def has_inner(self, family: str, name: str) -> bool:
        named = self.by_name.get((family, name), ())
        return any(self.symbol(one).parent != MODULE for one in named)

    def naming(self, family: str, name: str) -> list[str]:
        return sorted({one.path for one in self.by_name.get((family, name), ())})

    def passing(self, family: str, name: str) -> Iterator[tuple[str, int]]:
        return iter(sorted(self._passing.get((family, name), ())))

    def renaming(self, family: str, name: str) -> Iterator[View]:
        if self._renaming is None:
            self._renaming = defaultdict(dict)
            for view in self.files.values():
                for item in view.facts.imports:
                    if item.name and item.alias != item.name:
                        self._renaming[view.family, item.name][view.path] = view
        return iter(self._renaming.get((family, name), {}).values())

    def importing_default(self, family: str, stems: Collection[str]) -> Iterator[View]:
        return (view for view in self.files.values() if view.family == family)

    def in_family(self, family: str) -> set[str]:
        return {path for path, view in self.files.items() if view.family == family}

    def with_content(self) -> set[str]:
        return {path for path, view in self.files.items() if view.has_content}

    def methods(self, family: str, name: str, most: int) -> list[Thing] | None:
        symbol = self.symbol
        found = [
            t
            for t in self.by_name.get((family, name), ())
            if symbol(t).kind == "method" and symbol(t).defined
        ]
        return found if len(found) <= most else None

    def macros(self, name: str) -> list[Thing]:
        named = self.by_name.get(("rust", name), ())
        return [t for t in named if self.symbol(t).kind == "macro"]

    def apart(self, family: str, owner: str, name: str) -> list[Thing]:
        return sorted(self._apart.get((family, owner, name), ()))

    def below(self, family: str, base: str, most: int) -> list[tuple[str, str]]:
        found = self._below.get((family, base), {})
        return [(path, child) for path in sorted(found) for child in found[path]][:most]

    def bases_apart(self, family: str, child: str) -> list[tuple[str, str, str]]:
        return sorted(self._bases_apart.get((family, child), ()))


def _insert(things: list[Thing], thing: Thing) -> None:
    """Insert in order; files mostly arrive sorted, so appending is usually enough."""
    if things and things[-1] > thing:
        insort(things, thing)
    else:
        things.append(thing)


def _apart(view: View) -> Iterator[tuple[str, Thing]]:
    """Members declared outside their class, each with the last part of the class's name."""
    if view.family in MEMBERS_APART:
        for index, symbol in enumerate(view.facts.symbols):
            if symbol.parent == MODULE and "." in symbol.qualified:
                owner = symbol.qualified.rpartition(".")[0].rpartition(".")[2]
                yield owner, Thing("symbol", view.path, index)


def _bases_apart(view: View) -> Iterator[tuple[str, str]]:
    """Base classes declared outside their class: the texts of the class and of the base."""
    if view.family in MEMBERS_APART:
        for item in view.facts.inherits:
            if item.child not in view.by_qualified:
                yield item.child, item.base


def above(folder: str) -> list[str]:
    """A folder and its parents."""
    found = []
    while folder:
        found.append(folder)
        folder = folder.rpartition("/")[0]
    return found
