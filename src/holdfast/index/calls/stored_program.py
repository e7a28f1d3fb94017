"""A program whose files stay in the index: only those that a question needs are read.

The files for a name are looked up in stored segments (`link_segment`), and the details are read
from their facts. The most recently used facts are cached, up to a limit. Files that differ from the
index are in memory, in a separate program that takes precedence over the stored one.

The answers equal those of `MemoryProgram` over the same files; a test compares them. A segment may
name a file that does not have the name; the file's facts then rule it out. It never omits a file
that has it.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from holdfast.index.calls import link_terms as role
from holdfast.index.calls.file_terms import family_number, hash_of, owner_of, text_of
from holdfast.index.calls.link_names import packages_of
from holdfast.index.calls.link_segment import LinkSegment
from holdfast.index.calls.link_table import MemoryLinks
from holdfast.index.calls.link_terms import ANY_DEFAULT, code_of, key_from
from holdfast.index.calls.program import MemoryProgram, Program, Thing, View, above
from holdfast.index.facts.model import MODULE, FileFacts, file_id

KEPT_BYTES = 8 * 1024**2
"""The maximum size of cached facts, counted as stored; decoded they take ten times as much."""
DOUBT = 3
"""Allowance for files listed under a term they do not have, when files are only counted."""
LOOKUPS_MAX = 100_000

Load = Callable[[str], tuple[FileFacts, int]]
"""Loads the facts of a file, and their stored size in bytes."""


class StoredLinks:
    """The segments of a tree as a table of links; files in memory override stored ones."""

    def __init__(
        self, segments: Sequence[LinkSegment], slots: Sequence[Sequence[str | None]]
    ) -> None:
        """`slots` has the path of each slot of each segment; None if the slot is not current."""
        self._segments = list(zip(segments, slots, strict=True))
        self.hidden: set[str] = set()
        """Files that are in memory or were removed; their stored entries are ignored."""
        self.fresh = MemoryLinks()

    def stored(self, kind: str, family: str, name: str) -> list[str]:
        """The unchanged files with a term; may include files that do not have it."""
        term = hash_of(text_of(kind, family, name))
        return [
            path
            for segment, slots in self._segments
            for path in self._current(slots, segment.slots(term))
        ]

    def _current(self, slots: Sequence[str | None], numbers: Iterable[int]) -> list[str]:
        paths = [slots[slot] for slot in numbers]
        return [path for path in paths if path is not None and path not in self.hidden]

    def files(self, kind: str, family: str, name: str) -> Collection[str]:
        return {*self.stored(kind, family, name), *self.fresh.files(kind, family, name)}

    def pairs(self, family: str, key: str) -> Iterable[tuple[str, Collection[str]]]:
        found: dict[str, set[str]] = defaultdict(set)
        for other, paths in self.fresh.pairs(family, key):
            found[other].update(paths)
        code = code_of(key)
        if code is not None:
            number = family_number(family)
            for segment, slots in self._segments:
                for other_code, numbers in segment.pairs(number, code):
                    paths = self._current(slots, numbers)
                    if paths:
                        found[key_from(other_code)].update(paths)
        return found.items()

    def modules(self) -> Iterator[tuple[str, str]]:
        """The path and module of each unchanged manifest."""
        for segment, slots in self._segments:
            for slot, module in segment.modules():
                for path in self._current(slots, [slot]):
                    yield path, module


class _Files(Mapping[str, View]):
    """The files of a program, read on demand."""

    def __init__(self, paths: Iterable[str], fresh: Mapping[str, View], load: Load) -> None:
        self.paths = set(paths)
        self._fresh, self.load = fresh, load
        self._views: OrderedDict[str, tuple[View, int]] = OrderedDict()
        self._bytes = 0

    def __getitem__(self, path: str) -> View:
        known = self._views.get(path)
        if known is not None:
            self._views.move_to_end(path)
            return known[0]
        view = self._fresh.get(path)
        if view is not None:
            return view
        if path not in self.paths:
            raise KeyError(path)
        facts, size = self.load(path)
        view = View(facts)
        self._views[path] = view, size
        self._bytes += size
        while self._bytes > KEPT_BYTES and len(self._views) > 1:
            self._bytes -= self._views.popitem(last=False)[1][1]
        return view

    def drop(self, path: str) -> None:
        known = self._views.pop(path, None)
        if known is not None:
            self._bytes -= known[1]

    def __contains__(self, path: object) -> bool:
        return path in self.paths

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.paths))

    def __len__(self) -> int:
        return len(self.paths)


class _Ids:
    """Symbols by their ids."""

    def __init__(self, program: StoredProgram) -> None:
        self._program = program

    def get(self, identity: str) -> Thing | None:
        fresh = self._program.fresh.by_id.get(identity)
        if fresh is not None:
            return fresh
        for path in self._program.links.stored(role.IDENTITY, "", identity):
            view = self._program.files[path]
            if view.family and identity in view.by_id:
                return Thing("symbol", path, view.by_id[identity])
        return None

    def __getitem__(self, identity: str) -> Thing:
        found = self.get(identity)
        if found is None:
            raise KeyError(identity)
        return found

    def __contains__(self, identity: object) -> bool:
        return isinstance(identity, str) and self.get(identity) is not None


class _Packages:
    """The packages and namespaces of a program."""

    def __init__(self, program: StoredProgram) -> None:
        self._program = program
        self.known: dict[tuple[str, str], bool] = {}

    def __contains__(self, key: object) -> bool:
        assert isinstance(key, tuple), "a family and a name"
        found = self.known.get(key)
        if found is None:
            family, name = key
            program = self._program
            found = key in program.fresh.packages or any(
                name in packages_of(view.facts, family)
                for view in program.views(role.PACKAGE, family, name)
            )
            self.known[key] = found
        return found


class StoredProgram(Program):
    """A program over stored files, and over files in memory that differ from them."""

    def __init__(self, paths: Iterable[str], links: StoredLinks, load: Load) -> None:
        self.links = links
        self.fresh = MemoryProgram()
        self._stored = _Files(paths, self.fresh.files, load)
        self.files = self._stored
        self.by_id = _Ids(self)
        self.packages = self._packages = _Packages(self)
        self.found = {}
        self._exact: dict[tuple[str, str], list[Thing]] = {}

    def reading(self, load: Load) -> None:
        """Load files with this function from now on; it has to return the same facts."""
        self._stored.load = load

    # changes

    def add(self, facts: FileFacts) -> None:
        self._changed(facts.path)
        self._stored.paths.add(facts.path)
        self.fresh.add(facts)
        self.links.fresh.add(facts)

    def remove(self, path: str) -> None:
        self._changed(path)
        self._stored.paths.discard(path)
        if path in self.fresh.files:
            self.fresh.remove(path)
            self.links.fresh.remove(path)

    def _changed(self, path: str) -> None:
        self.links.hidden.add(path)
        self._stored.drop(path)
        self.found.clear()
        self._exact.clear()
        self._packages.known.clear()
        for name in ("modules", "folders", "above", "suffixes"):
            self.__dict__.pop(name, None)

    # tables of paths, built on first use

    @cached_property
    def modules(self) -> Mapping[str, Collection[str]]:  # type: ignore[override]
        found: dict[str, set[str]] = defaultdict(set)
        for name, folders in self.fresh.modules.items():
            found[name] |= folders
        for path, name in self.links.modules():
            found[name].add(path.rpartition("/")[0])
        return dict(found)

    @cached_property
    def folders(self) -> Mapping[str, Collection[str]]:  # type: ignore[override]
        found: dict[str, set[str]] = defaultdict(set)
        for path in self._stored.paths:
            found[path.rpartition("/")[0]].add(path)
        return dict(found)

    @cached_property
    def above(self) -> Mapping[str, int]:  # type: ignore[override]
        found: dict[str, int] = defaultdict(int)
        for folder, paths in self.folders.items():
            for each in above(folder):
                found[each] += len(paths)
        return dict(found)

    @cached_property
    def suffixes(self) -> Mapping[str, Collection[str]]:  # type: ignore[override]
        found: dict[str, set[str]] = defaultdict(set)
        for path in self._stored.paths:
            found[path.rpartition("/")[2]].add(path)
        return dict(found)

    # lookups

    def views(self, kind: str, family: str, name: str) -> Iterator[View]:
        """The unchanged files with a term, sorted by path."""
        for path in sorted(self.links.stored(kind, family, name)):
            view = self.files[path]
            if view.family == family:
                yield view

    def path_of(self, identity: str) -> str | None:
        found = self.fresh.path_of(identity)
        stored = () if found else self.links.stored(role.IDENTITY, "", identity)
        return next((path for path in stored if file_id(path) == identity), found)

    def exact(self, family: str, full: str) -> list[Thing]:
        known = self._exact.get((family, full))
        if known is None:
            if len(self._exact) > LOOKUPS_MAX:
                self._exact.clear()
            known = [
                Thing("symbol", view.path, index)
                for view in self.views(role.DEFINES, family, full)
                for index in view.called(full)
            ]
            fresh = self.fresh.exact(family, full)
            known = sorted([*known, *fresh]) if fresh else known
            self._exact[family, full] = known
        return known

    def _named(self, kind: str, family: str, name: str) -> Iterator[tuple[View, int]]:
        for view in self.views(kind, family, name):
            for index in view.by_name.get(name, ()):
                yield view, index

    def methods(self, family: str, name: str, most: int) -> list[Thing] | None:
        if len(self.links.stored(role.METHOD, family, name)) > most + DOUBT:
            return None
        found = self.fresh.methods(family, name, most)
        if found is None:
            return None
        found += [
            Thing("symbol", view.path, index)
            for view, index in self._named(role.METHOD, family, name)
            if view.symbol(index).kind == "method" and view.symbol(index).defined
        ]
        return sorted(found) if len(found) <= most else None

    def macros(self, name: str) -> list[Thing]:
        found = [
            Thing("symbol", view.path, index)
            for view, index in self._named(role.MACRO, "rust", name)
            if view.symbol(index).kind == "macro"
        ]
        return sorted([*found, *self.fresh.macros(name)])

    def only(self, family: str, name: str) -> Thing | None:
        if len(self.links.stored(role.NAMED, family, name)) > 1 + DOUBT:
            return None
        found = [
            Thing("symbol", view.path, index)
            for view, index in self._named(role.NAMED, family, name)
        ]
        found += self.fresh.by_name.get((family, name), ())
        return found[0] if len(found) == 1 else None

    def has_inner(self, family: str, name: str) -> bool:
        return self.fresh.has_inner(family, name) or any(
            view.symbol(index).parent != MODULE
            for view, index in self._named(role.INNER, family, name)
        )

    def naming(self, family: str, name: str) -> list[str]:
        # The files are not read here: the caller reads them one by one.
        stored = self.links.stored(role.NAMED, family, name)
        return sorted({*stored, *self.fresh.naming(family, name)})

    def passing(self, family: str, name: str) -> Iterator[tuple[str, int]]:
        stored = set(self.links.stored(role.PASSES, family, name))
        fresh = {path for path, _ in self.fresh.passing(family, name)}
        for path in sorted(stored | fresh):
            view = self.files[path]
            if view.family == family:
                for number in sorted(view.passing.get(name, ())):
                    yield path, number

    def renaming(self, family: str, name: str) -> Iterator[View]:
        yield from self.fresh.renaming(family, name)
        yield from self.views(role.ALIAS, family, name)

    def importing_default(self, family: str, stems: Collection[str]) -> Iterator[View]:
        yield from self.fresh.importing_default(family, stems)
        names = [ANY_DEFAULT] if "index" in stems else [f"default*{stem}" for stem in stems]
        paths = {path for name in names for path in self.links.stored(role.ALIAS, family, name)}
        yield from (self.files[path] for path in sorted(paths))

    def in_family(self, family: str) -> set[str]:
        stored = self.links.stored(role.FAMILY, family, "")
        return {*stored, *self.fresh.in_family(family)}

    def with_content(self) -> set[str]:
        return {*self.links.stored(role.CONTENT, "", ""), *self.fresh.with_content()}

    def apart(self, family: str, owner: str, name: str) -> list[Thing]:
        found = self.fresh.apart(family, owner, name)
        for view in self.views(role.APART, family, f"{owner}.{name}"):
            for index in view.by_name.get(name, ()):
                symbol = view.symbol(index)
                outside = symbol.parent == MODULE and "." in symbol.qualified
                if outside and owner_of(symbol.qualified) == owner:
                    found.append(Thing("symbol", view.path, index))
        return sorted(found)

    def bases_apart(self, family: str, child: str) -> list[tuple[str, str, str]]:
        found = set(self.fresh.bases_apart(family, child))
        for view in self.views(role.BASES, family, child):
            found |= {
                (view.path, item.child, item.base)
                for item in view.facts.inherits
                if item.child.rpartition(".")[2] == child and item.child not in view.by_qualified
            }
        return sorted(found)

    def below(self, family: str, base: str, most: int) -> list[tuple[str, str]]:
        fresh = {path for path, _ in self.fresh.below(family, base, most)}
        found: list[tuple[str, str]] = []
        for path in sorted({*self.links.stored(role.BELOW, family, base), *fresh}):
            view = self.files[path]
            if view.family == family:
                found += [
                    (path, item.child)
                    for item in view.facts.inherits
                    if item.base.rpartition(".")[2] == base
                ]
            if len(found) >= most:
                break
        return found[:most]
