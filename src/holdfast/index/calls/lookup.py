"""The state that name lookups share, and the interface between their parts.

Every step lowers the confidence and has a reason. When a scope binds a name to something unknown,
the lookup stops there: an outer symbol of the same name would be a wrong answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.index.calls.program import Program, Thing, View
from holdfast.index.calls.signatures import Shape, documented, shape
from holdfast.index.facts.model import Binding, Call, Import

SELF = {
    "python": {"self", "cls"}, "js": {"this"}, "rust": {"self", "Self"}, "jvm": {"this"},
    "c": {"this"}, "csharp": {"this"}, "ruby": {"self"}, "php": {"this", "self", "static"},
    "swift": {"self", "Self"}, "lua": {"self"},
}  # fmt: skip
SUPER = {"csharp": {"base"}, "php": {"parent"}}
"""Words for the base class, other than `super`."""
MEMBERS_IN_SCOPE = frozenset({"jvm", "c", "csharp", "ruby", "swift"})
"""Language families in which a bare name may be a member of the enclosing class."""
SHARED = frozenset({"go", "jvm", "csharp", "php", "c", "ruby", "swift"})
"""Language families in which files of a package or program see each other without imports."""
CALLABLE = frozenset({"function", "method", "constructor", "macro", "property"})
STEPS_MAX = 24
PASSED_ON_MAX = 16
"""The maximum number of modules followed that export another one whole."""
SPENT_MAX = 100
"""The maximum number of expressions evaluated for one; beyond that its value is unknown."""


EITHER = "one of several"
"""The reason for a value that a branch, a condition or a key decides: only one of them is met."""


ANY = "any element"
"""The reason for an element by a key that is unknown: most programs meet all of them."""


PERHAPS = "super past an unknown class"
"""The reason for what `super()` means if a class outside the program may define it before."""


PASSED = "passed as an argument"
"""The reason for a value of a parameter."""


EACH = "each element"
"""The reason for what an iteration gives: all of them are met."""


CHANGED = "may have been replaced"
"""The reason for a member or an element that other code deletes, replaces or moves."""


class Found(NamedTuple):
    """A thing, the confidence in it, and the reason: the step that found it."""

    thing: Thing
    confidence: float
    reason: str


class PassingCall(NamedTuple):
    """A call that passes a value."""

    path: str
    number: int
    """Its position among the calls of the file."""
    call: Call
    imported: frozenset[str]
    """What the file imports under the name of the called value."""


class Lookup(ABC):
    """The state of lookups over one program. Results are cached until `forget`.

    Lookups of names, members and types depend on each other, so their interface is here.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.memo: dict[tuple[str, int, str, int], list[Found]] = {}
        self.above: dict[tuple[str, int], list[Thing]] = {}
        self.after: dict[Thing, list[tuple[list[Thing], bool]]] = {}
        """What follows a class in the orders of its subclasses."""
        self.ordered: dict[Thing, list[Thing]] = {}
        """Each class with its ancestors, in the order of lookups."""
        self.closed: dict[Thing, bool] = {}
        """Classes whose ancestors are all known."""
        self.foreign: dict[tuple[str, int], int] = {}
        """Which classes have bases outside the program."""
        self.supers: dict[tuple[Thing, str], list[Found]] = {}
        """What `super()` means in classes, by the name of the member."""
        self.twins: dict[Thing, bool] = {}
        """Classes that share their full name with another."""
        self.under: dict[Thing, list[Thing]] = {}
        """The subclasses of classes."""
        self.beside: dict[Thing, frozenset[str]] = {}
        """The members of the subclasses of classes, and of what those inherit besides."""
        self.made: dict[tuple[str, int], bool] = {}
        """Classes that a call makes an instance of."""
        self.own: dict[tuple[str, str], list[Found]] = {}
        """What names mean at the top of the file that defines them."""
        self.busy: set[tuple[str, int, str, int]] = set()
        """The lookups in progress, to detect cycles."""
        self.cuts = 0
        """How many lookups were stopped early: results found meanwhile may be incomplete."""
        self.spent = 0
        """How many expressions were evaluated for the current one."""
        self.members: dict[tuple[Thing, str], list[Found]] = {}
        """What names mean on classes and their instances."""
        self.walked, self.without = "", dict[tuple[Thing, str], int]()
        """The name that is looked for in files now, and the files without it, by nesting."""
        self.classes: dict[tuple[str, int], Thing] = {}
        """The enclosing class of each scope."""
        self.owners: dict[str, set[str]] = {}
        """By path: the names of a script whose members are assigned one by one."""
        self.passers: dict[tuple[str, str], list[PassingCall] | None] = {}
        """The calls of a name that pass a value, by family and name; None if they are too many."""
        self.sites: dict[tuple[str, int, str], list[tuple[str, int, str]]] = {}
        """The calls that may pass something to a parameter, with what they pass."""
        self.members_apart: dict[tuple[str, str, str], dict[str, Thing]] = {}
        self.found_apart: dict[tuple[str, str, str], dict[str, list[tuple[str, str, str]]]] = {}
        """Members and base classes declared outside of a class, by family and name."""
        self.gathering: set[tuple[str, str, str]] = set()

    def blocked(self, key: tuple[str, int, str, int]) -> bool:
        """Whether a lookup has to stop: it is in progress already, or too deep."""
        if key in self.busy or len(self.busy) > STEPS_MAX:
            self.cuts += 1
            return True
        return False

    def forget(self) -> None:
        """Clear the caches, after the program changed."""
        self.memo.clear()
        self.above.clear()
        self.after.clear()
        self.ordered.clear()
        self.under.clear()
        self.twins.clear()
        self.beside.clear()
        self.made.clear()
        self.foreign.clear()
        self.closed.clear()
        self.supers.clear()
        self.own.clear()
        self.members.clear()
        self.passers.clear()
        self.sites.clear()
        self.owners.clear()
        self.classes.clear()
        self.members_apart.clear()
        self.found_apart.clear()

    def shape(self, view: View, index: int) -> Shape:
        symbol = view.symbol(index)
        if "@" in symbol.doc and view.facts.language == "javascript":
            return documented(view.facts.language, symbol.name, symbol.signature, symbol.doc)
        method = view.family != "python" or symbol.kind != "function"
        return shape(view.facts.language, symbol.name, symbol.signature, method)

    @abstractmethod
    def evaluate(self, view: View, scope: int, chain: str, line: int = 0) -> list[Found]: ...
    @abstractmethod
    def name(self, view: View, scope: int, name: str) -> list[Found]: ...
    @abstractmethod
    def wildcard(self, view: View, item: Import, name: str) -> list[Found]: ...
    @abstractmethod
    def imported(self, view: View, item: Import) -> list[Found]: ...
    @abstractmethod
    def rust_path(self, view: View, path: str) -> list[Found]: ...
    @abstractmethod
    def defined(self, view: View, indices: list[int]) -> list[Thing]: ...
    @abstractmethod
    def best(self, view: View, things: list[Thing]) -> list[Thing]: ...
    @abstractmethod
    def member(self, thing: Thing, name: str) -> list[Found]: ...
    @abstractmethod
    def decorator(self, view: View, call: Call) -> list[Found]: ...
    @abstractmethod
    def field(self, thing: Thing, name: str) -> list[Found]: ...
    @abstractmethod
    def bases(self, thing: Thing) -> list[Thing]: ...
    @abstractmethod
    def below(self, thing: Thing) -> list[Thing]: ...
    @abstractmethod
    def in_order(self, thing: Thing) -> list[Thing]: ...
    @abstractmethod
    def orders(self, thing: Thing) -> list[tuple[list[Thing], bool]]: ...
    @abstractmethod
    def outside(self, thing: Thing) -> int: ...
    @abstractmethod
    def is_enumeration(self, thing: Thing) -> bool: ...
    @abstractmethod
    def own_class(self, view: View, scope: int) -> Thing | None: ...
    @abstractmethod
    def owner_name(self, view: View, scope: int) -> str: ...
    @abstractmethod
    def apart(self, family: str, full: str, name: str) -> Thing | None: ...
    @abstractmethod
    def type(self, view: View, scope: int, text: str) -> list[Found]: ...
    @abstractmethod
    def is_type(self, thing: Thing) -> bool: ...
    @abstractmethod
    def bound(self, view: View, binding: Binding) -> list[Found]: ...
    @abstractmethod
    def declared(self, view: View, scope: int, text: str) -> list[Found]: ...
    @abstractmethod
    def narrowed(self, view: View, scope: int, name: str, line: int) -> list[Found]: ...
    @abstractmethod
    def grown(self, view: View, at: int, name: str) -> list[Found]: ...
    @abstractmethod
    def default(self, thing: Thing) -> list[Found]: ...
    @abstractmethod
    def read(self, things: list[Found]) -> list[Found]: ...
    @abstractmethod
    def items(self, things: list[Found], key: str) -> list[Found]: ...
    @abstractmethod
    def given(
        self, things: list[Found], places: str, view: View, scope: int, arguments: str
    ) -> list[Found]: ...
    @abstractmethod
    def taken(self, view: View, scope: int, text: str, place: int) -> list[Found]: ...
    @abstractmethod
    def literal_member(self, thing: Thing, key: str) -> list[Found]: ...
    @abstractmethod
    def variable(self, view: View, scope: int, name: str, line: int) -> list[Found] | None: ...
    @abstractmethod
    def passed(self, view: View, at: int, name: str, parameters: list[str]) -> list[Found]: ...
    @abstractmethod
    def result(self, thing: Thing) -> list[Thing]: ...
    @abstractmethod
    def as_owner(self, method: Thing, result: Thing, owner: Thing | None) -> Thing: ...


def symbol_at(view: View, index: int) -> Thing:
    return Thing("symbol", view.path, index)


def instance_of(thing: Thing) -> Thing:
    return Thing("instance", thing.path, thing.at) if thing.kind == "symbol" else thing


def joined(before: Found, after: Found) -> str:
    if before.reason in _SEVERAL:
        return before.reason
    return after.reason if after.reason not in ("member", "import") else before.reason


def because(before: Found, reason: str) -> str:
    """The reason for what follows from a value; that it is one of several is kept."""
    return before.reason if before.reason in _SEVERAL else reason


def either(things: list[Found], reason: str = EITHER) -> list[Found]:
    """Values of which only one is met at a time."""
    others = [f for f in things if f.thing.kind not in _WHOLE]
    if len(things) < 2 or (len(others) < 2 and len(others) < len(things)):
        return things  # also an object, and the elements that are added to it
    kept = [f.reason in _LEAST or f.thing.kind in _WHOLE for f in things]
    return [f if k else f._replace(reason=reason) for f, k in zip(things, kept, strict=True)]


_LEAST = frozenset({EITHER, CHANGED})
_SEVERAL = frozenset({EITHER, ANY, CHANGED})


_WHOLE = frozenset({"literal", "container"})
"""Containers that grow have a part for each step, and all of them count."""


def unique(things: Iterable[Found]) -> list[Found]:
    """Each thing once, with its highest confidence."""
    best: dict[Thing, Found] = {}
    for each in things:
        if each.thing not in best or best[each.thing].confidence < each.confidence:
            best[each.thing] = each
    return list(best.values())
