"""Members that may have to keep the same name, although no code says that they are one.

In Go and TypeScript, and with the protocols of Python, a type fulfils an interface by having its
members, and does not have to mention it. A class or an object without a name in a script may
inherit the member, or be passed to code that calls it. Such places cannot be decided: doubts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from holdfast.index.calls.program import OWNERS, Program, Thing, View
from holdfast.index.facts.model import MODULE, Symbol
from holdfast.index.references.find import ReadFile, References
from holdfast.index.references.target import Target

Shape = Literal["", "contract", "type", "object"]
"""What has the member: an interface, another type, an object or a class without a name."""

PROTOCOL = "a protocol requires this name of classes that do not mention it"
INTERFACE = "an interface requires this name of types that do not mention it"
NAMELESS = "an object or a class without a name has this member, too"
OWN = "it is a member of an object or a class without a name, which other code may use"
PROTOTYPE = "prototypes of this file inherit from each other, so others may have this member"
UNDEFINED = "the name of the symbol itself was not found here, so it cannot be changed"
INHERITED = "a class that inherits this member assigns it"
_FAMILIES = frozenset({"go", "js", "python"})
_CLASS = re.compile(rb"\bclass\s+extends\b")
_INHERITS = re.compile(rb"\bObject\.create\(|\binherits\(|\bsetPrototypeOf\(|\.prototype\s*=[^=]")
_WITHOUT_NAME = re.compile(r"\bclass\s+extends\b")


class Contracts:
    """The members of a name, compared with those that a rename changes.

    `owners` are the classes whose members share their names with those of the targets.
    """

    def __init__(
        self, program: Program, targets: Iterable[Target], owners: Iterable[Thing]
    ) -> None:
        targets = list(targets)
        self._program, self._owners = program, frozenset(owners)
        self._things = frozenset().union(*(target.things for target in targets))
        self._asked = {target.asked for target in targets if target.asked is not None}
        shapes = {self._shape(thing.path, program.symbol(thing)) for thing in self._things}
        shapes |= {"contract" for owner in self._owners if self._is_contract(owner)}
        self._shapes = shapes - {""}

    def doubts(
        self, name: str, files: Iterable[ReadFile], judged: References
    ) -> Iterator[tuple[str, int, str]]:
        """Members that may have to be renamed, too: path, line, reason."""
        known = {(one.path, one.start) for one in judged.found}
        for file in files:
            view = self._program.files.get(file.path)
            if view is None or view.family not in _FAMILIES:
                continue
            starts = [one.start for one in file.mentions.found]
            for at, symbol in enumerate(view.facts.symbols):
                if symbol.name != name:
                    continue
                thing = Thing("symbol", view.path, at)
                if thing in self._things:
                    if view.family == "js" and self._shape(view.path, symbol) == "object":
                        yield view.path, symbol.span.first_line, OWN
                    elif view.family == "js" and self._by_prototype(symbol, file.source):
                        yield view.path, symbol.span.first_line, PROTOTYPE
                elif Thing("symbol", view.path, symbol.parent) not in self._owners:
                    own = next((one for one in starts if one >= symbol.span.start), -1)
                    why = self._reason(view, symbol, file.source)
                    if why and (view.family == "python" or (view.path, own) not in known):
                        yield view.path, symbol.span.first_line, why
            if self._shapes and view.family in ("js", "python"):
                yield from self._fields(view, name, file, known)

    def undefined(self, judged: References) -> Iterator[tuple[str, int, str]]:
        """Symbols whose own definition is not among the places: path, line, reason."""
        places: dict[str, list[int]] = {}
        for one in (*judged.found, *judged.undecided):
            places.setdefault(one.path, []).append(one.start)
        for thing in sorted(self._asked):
            span = self._program.symbol(thing).span
            if not any(span.start <= at < span.end for at in places.get(thing.path, ())):
                yield thing.path, span.first_line, UNDEFINED

    def _reason(self, view: View, symbol: Symbol, source: bytes) -> str:
        shape = self._shape(view.path, symbol)
        if not shape or not self._shapes:
            return ""
        if (shape == "contract") != ("contract" in self._shapes) or (
            shape == "contract" and self._shapes != {"contract"}
        ):
            return PROTOCOL if view.family == "python" else INTERFACE
        without_name = shape == "object" and _CLASS.search(source)
        if view.family == "js" and "type" in self._shapes and without_name:
            return NAMELESS
        return ""

    def _fields(
        self, view: View, name: str, file: ReadFile, known: Collection[tuple[str, int]]
    ) -> Iterator[tuple[str, int, str]]:
        """Members of classes and interfaces that are not symbols: `kind = "x"`, `size: number`."""
        for one in file.mentions.found:
            if one.name != name or one.receiver or one.keyed or (view.path, one.start) in known:
                continue
            if one.kind not in ("definition", "write") or (one.local and view.family == "js"):
                continue
            around = [
                (symbol.span.end - symbol.span.start, at)
                for at, symbol in enumerate(view.facts.symbols)
                if symbol.span.start < one.start < symbol.span.end
            ]
            owner = Thing("symbol", view.path, min(around)[1]) if around else None
            if owner is None or self._program.symbol(owner).kind not in OWNERS | {"type"}:
                continue
            if owner in self._owners:
                yield view.path, one.line, INHERITED
            elif self._is_contract(owner) and self._shapes != {"contract"}:
                yield view.path, one.line, INTERFACE

    @staticmethod
    def _by_prototype(symbol: Symbol, source: bytes) -> bool:
        """Whether it is a member of a prototype, where one prototype inherits from another."""
        is_assigned = symbol.parent == MODULE and symbol.qualified != symbol.name
        return is_assigned and b".prototype." in source and _INHERITS.search(source) is not None

    def _shape(self, path: str, symbol: Symbol) -> Shape:
        view = self._program.files[path]
        nameless = view.family == "js" and symbol.kind in ("method", "property")
        if symbol.parent == MODULE:  # `cart.total = function () {}` has an owner
            return "object" if nameless and symbol.qualified == symbol.name else ""
        owner = view.symbol(symbol.parent)
        if self._is_contract(Thing("symbol", path, symbol.parent)):
            return "contract"
        if owner.kind in OWNERS - {"namespace"}:
            return "object" if _WITHOUT_NAME.search(owner.signature) else "type"
        return "object" if nameless else ""

    def _is_contract(self, owner: Thing) -> bool:
        view, kind = self._program.files[owner.path], self._program.symbol(owner).kind
        if view.family != "python":
            return view.family in _FAMILIES and kind in ("interface", "type")
        bases = view.bases_of(owner.at)
        return any(re.split(r"[\[(]", base)[0].endswith("Protocol") for base in bases)
