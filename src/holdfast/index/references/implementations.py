"""Subclasses of a class, and overrides of a method."""

from __future__ import annotations

import sys

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import OWNERS, Program, Thing
from holdfast.index.facts.model import MODULE, Symbol

CLASSES_MAX = 2_000


def subclasses(program: LinkedProgram, thing: Thing) -> list[Thing]:
    """The subclasses of a class, direct ones first."""
    inner, names = program.resolver.program, program.resolver.names
    family = inner.files[thing.path].family
    classes: dict[Thing, None] = {}
    level = [thing]
    while level and len(classes) < CLASSES_MAX:
        below: list[Thing] = []
        for base in level:
            same = _merged(inner, base)
            for path, child in _below(inner, family, base):
                view = inner.files[path]
                for index in view.by_qualified.get(child, ()):
                    one = Thing("symbol", view.path, index)
                    if one not in classes and one != thing and same & set(names.bases(one)):
                        classes[one] = None
                        below.append(one)
        level = below
    return list(classes)


def _merged(program: Program, base: Thing) -> set[Thing]:
    """A class or an interface with its other declarations in the same file."""
    view = program.files[base.path]
    same = view.by_qualified.get(view.symbol(base.at).qualified, ())
    return {base, *(Thing("symbol", base.path, i) for i in same if view.symbol(i).kind in OWNERS)}


def _below(program: Program, family: str, base: Thing) -> list[tuple[str, str]]:
    """The classes with a base of this name, or of a name that an import gives it."""
    name = program.symbol(base).name
    names = {name}
    stem = base.path.rpartition("/")[2].partition(".")[0]
    views = [*program.renaming(family, name)]
    if family == "js":  # a default export has any name
        views += program.importing_default(family, {stem})
    for view in views:
        for item in view.facts.imports:
            if item.name == name or (item.name == "default" and stem in item.module):
                names.add(item.alias)
    return [each for one in sorted(names) for each in program.below(family, one, sys.maxsize)]


def implementations(program: LinkedProgram, identity: str) -> list[Thing]:
    """The symbols that implement or override this one, nearest first."""
    inner = program.resolver.program
    thing = inner.by_id.get(identity)
    if thing is None:
        return []
    symbol = inner.symbol(thing)
    if symbol.kind in OWNERS:
        return subclasses(program, thing)
    if symbol.parent == MODULE:
        return []
    things = []
    for below in subclasses(program, Thing("symbol", thing.path, symbol.parent)):
        things += _member(program, below, symbol.name)
    return things


def override_family(program: LinkedProgram, thing: Thing) -> set[Thing]:
    """A member with all members that it overrides and that override it.

    Static members belong to their class alone: a type checker does not rename them together.
    """
    inner, names = program.resolver.program, program.resolver.names
    if thing.kind != "symbol":
        return {thing}
    symbol = inner.symbol(thing)
    if symbol.parent == MODULE or _is_static(symbol):
        return {thing}
    owner = Thing("symbol", thing.path, symbol.parent)
    if inner.symbol(owner).kind not in OWNERS:
        return {thing}
    tops, level, seen = [owner], [owner], {owner}
    while level and len(seen) < CLASSES_MAX:
        above: list[Thing] = []
        for base in (base for one in level for base in names.bases(one)):
            if base not in seen:  # of two ways to a base, one
                seen.add(base)
                above.append(base)
        tops += [base for base in above if _overridable(program, base, symbol.name)]
        level = above
    family = {thing}
    for top in tops:
        for each in (top, *subclasses(program, top)):
            family.update(_overridable(program, each, symbol.name))
    return family


def _overridable(program: LinkedProgram, owner: Thing, name: str) -> list[Thing]:
    symbol_of = program.resolver.program.symbol
    return [one for one in _member(program, owner, name) if not _is_static(symbol_of(one))]


def _is_static(symbol: Symbol) -> bool:
    return "static" in symbol.signature.partition(symbol.name)[0].split()


def _member(program: LinkedProgram, owner: Thing, name: str) -> list[Thing]:
    view = program.resolver.program.files[owner.path]
    return program.resolver.program.exact(view.family, f"{view.full(owner.at)}.{name}")
