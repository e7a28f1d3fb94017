"""What references are looked for: a symbol with its parts, and several symbols at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.lookup import Found
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.calls.signatures import is_static
from holdfast.index.facts.mention_kinds import Kind
from holdfast.index.facts.model import MODULE, Symbol
from holdfast.index.facts.python_scopes import UNKNOWN
from holdfast.index.references.implementations import override_family
from holdfast.index.references.meaning import ONLY_TYPES, ONLY_VALUES


@dataclass(frozen=True, slots=True)
class Target:
    """The requested symbol, with its prototypes, overloads and parts."""

    things: frozenset[Thing]
    called: frozenset[Thing]
    """Calls of these count as references too: the class of a constructor."""
    name: str
    family: str
    names: frozenset[str]
    related: frozenset[Thing] = frozenset()
    """Members that it overrides or that override it, where a language counts them as one."""
    overrides: bool = False
    """Whether members that override each other count as one."""
    asked: Thing | None = None
    apart: frozenset[Thing] = frozenset()
    """Symbols with the same full name that another scope of the file declares."""
    scope: int = UNKNOWN
    """Where the scope starts that declares it; a name of an inner scope is not seen elsewhere."""


def target_of(program: LinkedProgram, identity: str, *, overrides: bool = False) -> Target | None:
    """The target for the id of a symbol; None when the program does not have it.

    With `overrides`, a member in TypeScript or JavaScript includes all members that it overrides
    and that override it, as in the tools of these languages.
    """
    thing = program.resolver.program.by_id.get(identity)
    if thing is None:
        return None
    inner = program.resolver.program
    view = inner.files[thing.path]
    symbol = inner.symbol(thing)
    key = thing.path, view.family, view.full(thing.at), symbol.kind
    same = program.targets.get(key)
    if same is None or thing not in same:
        same = program.targets[key] = frozenset({
            one
            for one in inner.exact(view.family, view.full(thing.at))
            if (one.path == thing.path and _is_merged(inner.symbol(one), symbol, view))
            or _is_one_in_parts(inner.symbol(one), symbol, view)
        } | {thing})  # fmt: skip
    called: set[Thing] = set()
    names = {symbol.name}
    if symbol.kind == "constructor" and symbol.parent != MODULE:
        owner = Thing("symbol", thing.path, symbol.parent)
        called.add(owner)
        names.add(inner.symbol(owner).name)
    related: set[Thing] = set()
    if overrides and view.family == "js" and symbol.kind in ("method", "property", "function"):
        related = override_family(program, thing) - same
    return Target(
        same,
        frozenset(called),
        symbol.name,
        view.family,
        frozenset(names),
        frozenset(related),
        overrides and view.family == "js",
        thing,
    )


def _is_merged(one: Symbol, other: Symbol, view: View) -> bool:
    """Whether symbols with one full name in a file are one; types and values of scripts are two."""
    owner = view.symbol(one.parent).kind if one.parent != MODULE else ""
    if view.family == "js" and owner in OWNERS:
        return is_static(one.signature) == is_static(other.signature)
    if view.family != "js" or owner in OWNERS:
        return True
    kinds = {one.kind, other.kind}
    if "method" in kinds:  # of an object literal in a function
        return one == other
    return not (kinds & ONLY_TYPES and kinds & ONLY_VALUES)


def _is_one_in_parts(one: Symbol, other: Symbol, view: View) -> bool:
    """Whether symbols with one full name in two files are one: a prototype, a part of a class."""
    return view.family in ("c", "csharp", "ruby", "swift", "go") and one.kind == other.kind


_THE_ONE = (0,)


@dataclass(slots=True)
class TargetGroup:
    """Targets of one family, by the symbols that they consist of."""

    targets: list[Target] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    by_thing: dict[Thing, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_called: dict[Thing, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, target: Target) -> None:
        at = len(self.targets)
        self.targets.append(target)
        self.names.add(target.name)
        for thing in target.things | target.related:
            self.by_thing[thing].append(at)
        for thing in target.called:
            self.by_called[thing].append(at)

    def near(self, candidates: Iterable[Found], kind: Kind) -> Collection[int]:
        """The targets that one of the candidates may belong to, the last one first."""
        if len(self.targets) == 1:
            return _THE_ONE
        near = set[int]()
        for candidate in candidates:
            if candidate.thing in self.by_thing:
                near.update(self.by_thing[candidate.thing])
            if kind == "call" and candidate.thing in self.by_called:
                near.update(self.by_called[candidate.thing])
        return sorted(near, reverse=True)
