"""Calls of classes, values and variables: the constructor or function that they reach."""

from __future__ import annotations

from holdfast.index.calls.lookup import (
    CALLABLE,
    CHANGED,
    EITHER,
    Found,
    because,
    either,
)
from holdfast.index.calls.names import Names
from holdfast.index.calls.program import OWNERS, Program, Thing, View
from holdfast.index.facts.model import CLASS, MODULE, Import

SEVERAL = frozenset({"python", "js"})
"""Language families whose values are followed; if several symbols fit, all are callees."""
SEVERAL_MAX = 8
REPLACED = "overridden in every subclass"


class Makers:
    """What calling a class or a value reaches."""

    program: Program
    names: Names

    def _makes(self, thing: Thing) -> bool:
        return self._callable(thing) or (
            thing.kind == "symbol" and self.program.symbol(thing).kind in OWNERS
        )

    def _callable(self, thing: Thing) -> bool:
        return thing.kind == "symbol" and self.program.symbol(thing).kind in CALLABLE

    def _of_values(self, values: list[Found]) -> list[Found]:
        """What calling values reaches: functions and classes, and `__call__` of an instance."""
        found: list[Found] = []
        for each in values:
            if each.thing.kind in ("symbol", "external", "file"):
                found += self._constructor(each)
            elif each.thing.kind == "instance":
                found += [
                    Found(f.thing, f.confidence * each.confidence, each.reason)
                    for f in self.names.member(each.thing, "__call__")
                    if f.thing.kind == "symbol"
                ]
        return found

    def _own_or_below(self, own: Thing, name: str) -> list[Found]:
        """What `cls()` or `new this()` makes: the class, or a subclass with its own constructor."""
        found = [Found(own, 0.95, name)]
        if self.program.files[own.path].family not in SEVERAL:
            return found
        maker = "__init__" if name == "cls" else "constructor"
        below = self.names.below(own)[: SEVERAL_MAX * 2]
        # Without a constructor the call reaches the class itself, as the outline names it.
        plain = name == "this" and self.program.symbol(own).kind == "class"
        plain = plain and not any(
            f.thing.kind == "symbol" and self.program.symbol(f.thing).kind == "constructor"
            for f in self.names.member(own, maker)
        )
        others = [
            Found(each, 0.9, EITHER)
            for each in below
            if (f"{self.program.symbol(each).qualified}.{maker}")
            in self.program.files[each.path].by_qualified
            or plain
        ][: SEVERAL_MAX - 1]
        if others and not self.names.is_made_here(own):
            found = [Found(own, 0.95, REPLACED)]
        return found + others

    def _constructor(self, target: Found) -> list[Found]:
        """Calling a class reaches its constructor, if it defines one."""
        thing = target.thing
        if thing.kind == "file":
            whole = self.names.default(thing)
            return [e for f in whole for e in self._constructor(f._replace(reason=target.reason))]
        if thing.kind != "symbol":
            return [target] if thing.kind == "external" else []
        if thing.name == CLASS:
            return self._constructor_above(target)
        symbol = self.program.symbol(thing)
        if symbol.kind not in OWNERS:
            return (
                [target]
                if symbol.kind in CALLABLE or symbol.kind == "type"
                else (self._held(target))
            )
        view = self.program.files[thing.path]
        if view.family == "python" and "metaclass" in symbol.signature:
            called = [f for f in self.names.member(thing, "__call__") if f.reason == "metaclass"]
            if called:  # it decides whether there is an instance
                return [Found(thing, target.confidence, CHANGED)]
        full = view.full(thing.at)
        for name in ("__init__", "constructor", "initialize", "__construct", "init", symbol.name):
            made = [t for t in self.program.exact(view.family, f"{full}.{name}")
                    if self.program.symbol(t).kind == "constructor"]  # fmt: skip
            made = [t for t in made if self.program.symbol(t).defined] or made
            if made:
                return [Found(t, target.confidence, target.reason) for t in made]
        if view.family not in SEVERAL:
            return [target]
        maker = "__init__" if view.family == "python" else "constructor"
        above = [
            Found(f.thing, target.confidence * 0.95, "inherited constructor")
            for f in self.names.member(thing, maker)
            if f.thing.kind == "symbol" and self.program.symbol(f.thing).kind == "constructor"
        ]
        if view.family == "python":  # of a data class
            above += [
                Found(f.thing, target.confidence * 0.95, "run by the constructor")
                for f in self.names.member(thing, "__post_init__")
                if f.thing.kind == "symbol"
            ]
        return [target, *above]

    def _constructor_above(self, target: Found) -> list[Found]:
        """What calling a class without a name reaches: its constructor, or that of its base."""
        thing = target.thing
        own = f"{self.program.symbol(thing).qualified}.constructor"
        at = self.program.files[thing.path].by_qualified.get(own)
        if at:
            return [target._replace(thing=Thing("symbol", thing.path, at[-1]))]
        reason = because(target, "inherited constructor")
        bases = self.names.bases(thing)[:SEVERAL_MAX]
        above = [Found(base, target.confidence * 0.95, reason) for base in bases]
        return either([made for each in above for made in self._constructor(each)])

    def _held(self, target: Found) -> list[Found]:
        """Calling a variable reaches what it holds, if that is known."""
        view = self.program.files[target.thing.path]
        symbol = view.symbol(target.thing.at)
        known = self.names.variable(view, symbol.parent, symbol.name, 0) or []
        held = [
            Found(f.thing, f.confidence * target.confidence, because(f, "assigned name"))
            for f in known
            if f.thing.kind == "external" or self._makes(f.thing)
        ]
        if view.family == "python" and not any(f.thing.kind == "symbol" for f in held):
            # `def f`, followed by `f = faster.f`, perhaps in a branch.
            same = self._of_one_name(view, symbol.qualified)
            held = [Found(t, target.confidence, target.reason) for t in same] or held
            if not held and symbol.parent == MODULE:  # `Cart = Cart` after an import of it
                taken = [f for i in view.taken.get(symbol.name, ()) for f in self._taken(view, i)]
                held = [f for f in taken if f.thing.kind in ("symbol", "external")][:1]
        if held:
            classes = [f for f in held if f.thing.name == CLASS or self.names.is_type(f.thing)]
            made = [each for f in classes for each in self._constructor(f)]
            return [*(f for f in held if f not in classes), *made]
        # The value is unknown, so the variable itself is the best answer.
        return [Found(target.thing, target.confidence * 0.85, "held in a variable")]

    def _taken(self, view: View, item: Import) -> list[Found]:
        return [f for f in self.names.imported(view, item) if f.thing.kind != "file"]

    def _of_one_name(self, view: View, qualified: str) -> list[Thing]:
        """The last function or class with this name in a file."""
        things = [Thing("symbol", view.path, i) for i in view.by_qualified.get(qualified, ())]
        return [t for t in things if self._makes(t)][-1:]
