"""One file of a program, with the tables that lookups need; each is made when it is asked for.

Files that mean harm repeat a name thousands of times. Tables that every call of a name goes through
have a bound for that, far above what programs have.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from holdfast.index.calls.link_names import passing_of, record_fields
from holdfast.index.calls.links import FileLinks
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import (
    MODULE,
    Binding,
    Call,
    FileFacts,
    Import,
    Inheritance,
    Symbol,
    has_content,
    without_guesses,
)
from holdfast.index.facts.walk import CONTAINERS

CALLED_MAX = 64
"""How many calls of one name in a file are looked at for what they pass to it."""
IMPORTS_MAX = 16
"""From how many places one name of a file may be imported; the last ones count."""
WILDCARDS_MAX = 64
"""How many modules of which a file imports all names are looked into; the first ones count."""
DECORATORS_MAX = 16
"""How many decorators of the definitions of one name are looked at, the last ones."""


def _distinct(imports: Iterable[Import]) -> list[Import]:
    """Imports without those that are repeated later."""
    last: dict[tuple[str, str], Import] = {}
    for item in imports:
        last.pop((item.module, item.name), None)
        last[item.module, item.name] = item
    return list(last.values())


class View:
    """One file with its tables."""

    def __init__(self, facts: FileFacts) -> None:
        self.family = FAMILIES.get(facts.language, "")
        # A file without its grammar belongs to the family, so that it is reported as not read.
        self.facts = facts = without_guesses(facts) if self.family else facts
        self.path = facts.path
        self.folder = facts.path.rpartition("/")[0]

    @property
    def has_content(self) -> bool:
        return has_content(self.facts, self.family)

    @cached_property
    def by_qualified(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = defaultdict(list)
        for index, symbol in enumerate(self.facts.symbols):
            table[symbol.qualified].append(index)
        return dict(table)

    @cached_property
    def bindings(self) -> dict[tuple[int, str], list[Binding]]:
        table: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        for binding in self.facts.bindings:
            table[binding.scope, binding.name].append(binding)
        return dict(table)

    @cached_property
    def dotted(self) -> frozenset[str]:
        """Dotted names with a binding, such as `self.repo` after a check of its type."""
        return frozenset(name for _, name in self.bindings if "." in name and "[" not in name)

    @cached_property
    def set_outside(self) -> dict[str, list[Binding]]:
        """Assignments to fields of variables, by the field: `wolf.mind = Hunter()`."""
        table: dict[str, list[Binding]] = defaultdict(list)
        for _, name in self.bindings:
            if name in self.dotted and (last := name.rpartition(".")[2]):
                table[last].extend(b for b in self.bindings[_, name] if b.value and not b.last)
        return dict(table)

    def called_inside(self, function: int, name: str) -> list[Call]:
        """The calls of a name in a function that pass a value, also in functions inside it."""
        calls = [self.facts.calls[number] for number in self.calls.get(name, ())[:CALLED_MAX]]
        bare = [call for call in calls if call.passed and not call.receiver]
        return [call for call in bare if self._is_inside(call.caller, function)]

    def _is_inside(self, scope: int, outer: int) -> bool:
        while scope not in (MODULE, outer):
            scope = self.symbol(scope).parent
        return scope == outer

    @cached_property
    def grown(self) -> dict[tuple[int, str], list[Binding]]:
        """Elements added to containers, by the container's scope and name."""
        table: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        for (scope, name), bindings in self.bindings.items():
            if name[-1:] == "]":
                table[scope, name.partition("[")[0]].extend(bindings)
        return dict(table)

    @cached_property
    def inner_classes(self) -> dict[int, list[int]]:
        """The classes that each symbol contains."""
        table: dict[int, list[int]] = defaultdict(list)
        for index, symbol in enumerate(self.facts.symbols):
            if symbol.kind == "class":
                table[symbol.parent].append(index)
        return dict(table)

    @cached_property
    def own_names(self) -> dict[int, set[str]]:
        """The names that each symbol has as members, by a definition or an assignment."""
        table: dict[int, set[str]] = defaultdict(set)
        for symbol in self.facts.symbols:
            table[symbol.parent].add(symbol.name)
            if symbol.parent == MODULE and "." in symbol.qualified:  # `Dog.prototype.bark = …`
                for owner in self.by_qualified.get(symbol.qualified.rpartition(".")[0], ())[:1]:
                    table[owner].add(symbol.name)
        for binding in self.facts.bindings:
            table[binding.scope].add(binding.name.partition("[")[0])
        return dict(table)

    @cached_property
    def by_caller(self) -> dict[int, list[int]]:
        """The positions of the calls that each symbol makes."""
        table: dict[int, list[int]] = defaultdict(list)
        for number, call in enumerate(self.facts.calls):
            table[call.caller].append(number)
        return dict(table)

    @cached_property
    def calls(self) -> dict[str, list[int]]:
        """Called name -> positions of these calls among the calls of the file."""
        table: dict[str, list[int]] = defaultdict(list)
        for number, call in enumerate(self.facts.calls):
            table[call.name].append(number)
        return dict(table)

    @cached_property
    def decorated(self) -> dict[tuple[int, str], list[Call]]:
        """Decorator calls, by the scope and the name of what they decorate."""
        table: dict[tuple[int, str], list[Call]] = defaultdict(list)
        for call in self.facts.calls:
            if call.kind == "decorator" and call.passed:
                table[call.caller, call.passed[0].partition("=")[2]].append(call)
        return dict(table)

    @cached_property
    def record_fields(self) -> dict[int, list[str]]:
        """The annotated fields of each data class in their order: its constructor takes them."""
        return record_fields(self.facts)

    @cached_property
    def aliases(self) -> dict[str, list[Import]]:
        table: dict[str, list[Import]] = defaultdict(list)
        for item in self.facts.imports:
            if item.alias:
                table[item.alias].append(item)
        return dict(table)

    @cached_property
    def taken(self) -> dict[str, list[Import]]:
        """The same, with few imports of a name that is imported very often."""
        return {
            name: items if len(items) <= IMPORTS_MAX else _distinct(items)[-IMPORTS_MAX:]
            for name, items in self.aliases.items()
        }

    @cached_property
    def inner_imports(self) -> dict[tuple[int, str], Import]:
        """The first import of a name in each function."""
        table: dict[tuple[int, str], Import] = {}
        for item in self.facts.imports:
            if item.alias and item.scope != MODULE:
                table.setdefault((item.scope, item.alias), item)
        return table

    @cached_property
    def types(self) -> dict[str, int]:
        """The first class, interface or type of each qualified name."""
        table: dict[str, int] = {}
        for index, symbol in enumerate(self.facts.symbols):
            if symbol.kind in CONTAINERS or symbol.kind in ("namespace", "type"):
                table.setdefault(symbol.qualified, index)
        return table

    def decorators(self, symbol: Symbol) -> Sequence[Call]:
        """The decorators of a function or class, the outermost first."""
        return self.decorated.get((symbol.parent, symbol.name), ())[-DECORATORS_MAX:]

    @cached_property
    def heads(self) -> dict[str, list[Import]]:
        """Imports of dotted modules by their first part: `import a.b` also binds `a`."""
        table: dict[str, list[Import]] = defaultdict(list)
        for item in self.facts.imports:
            if "." in item.alias:
                table[item.alias.partition(".")[0]].append(item)
        return dict(table)

    @cached_property
    def submodules(self) -> frozenset[str]:
        """In an `__init__.py`: `from .cart import total` binds `cart` in the package, too."""
        return frozenset(
            item.module[1:].partition(".")[0]
            for item in self.facts.imports
            if item.module.startswith(".") and item.module[1:2] not in ("", ".")
        )

    @cached_property
    def wildcards(self) -> list[Import]:
        every = [item for item in self.facts.imports if item.name == "*"]
        return every if len(every) <= WILDCARDS_MAX else _distinct(every)[:WILDCARDS_MAX]

    @cached_property
    def bases(self) -> dict[str, list[str]]:
        """The bases of each class; in Python one for each of its `_base_lines`, else once."""
        table: dict[str, list[str]] = defaultdict(list)
        items: Iterable[Inheritance] = self.facts.inherits
        if self.family != "python":
            items = {(item.child, item.base): item for item in items}.values()
        for item in items:
            table[item.child].append(item.base)
        return dict(table)

    @cached_property
    def _base_lines(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = defaultdict(list)
        for item in self.facts.inherits:
            table[item.child].append(item.line)
        return table

    def bases_of(self, index: int) -> Sequence[str]:
        """The bases of a class; in Python, classes of one name have each their own."""
        name, span = self.symbol(index).qualified, self.symbol(index).span
        written = self.bases.get(name, ())
        if self.family != "python" or len(self.by_qualified.get(name, ())) < 2 or not written:
            return written
        lines = self._base_lines[name]
        return written[bisect_left(lines, span.first_line) : bisect_right(lines, span.last_line)]

    @cached_property
    def by_id(self) -> dict[str, int]:
        return {symbol.id: index for index, symbol in enumerate(self.facts.symbols)}

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = defaultdict(list)
        for index, symbol in enumerate(self.facts.symbols):
            table[symbol.name].append(index)
        return dict(table)

    @cached_property
    def passing(self) -> dict[str, set[int]]:
        """Calls with passed values, by called name, as positions among the calls of the file."""
        table: dict[str, set[int]] = defaultdict(set)
        for name, number in passing_of(self.facts):
            table[name].add(number)
        return dict(table)

    def called(self, full: str) -> Sequence[int]:
        """The symbols with this full name."""
        module = self.facts.module
        if not module:
            return self.by_qualified.get(full, ())
        prefix = f"{module}."
        return self.by_qualified.get(full[len(prefix) :], ()) if full.startswith(prefix) else ()

    @cached_property
    def links(self) -> FileLinks:
        return FileLinks(self.facts)

    def symbol(self, index: int) -> Symbol:
        return self.facts.symbols[index]

    def full(self, index: int) -> str:
        return self.facts.label(index)
