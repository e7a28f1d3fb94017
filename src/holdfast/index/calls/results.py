"""Results: the value of a property, and what calling a function returns."""

from __future__ import annotations

from holdfast.index.calls.lookup import (
    CALLABLE,
    PASSED_ON_MAX,
    Found,
    Lookup,
    instance_of,
)
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.calls.type_texts import OTHER_RESULTS
from holdfast.index.facts.model import CLASS, MODULE, RESULT, YIELD, Symbol

RESULTS_MAX = 6
_OWN_VALUES = frozenset(
    {"self", "this", "cls()", "self.__class__()", "this.constructor()", "this()"}
)
"""What a method returns that is of the class it is called on."""


class Results(Lookup):
    """Lookups of values that are read or returned."""

    def default(self, thing: Thing) -> list[Found]:
        """What a call of a whole script (its default export) refers to."""
        if thing.kind != "file" or self.program.files[thing.path].family != "js":
            return []
        seen = {thing}
        found = self.member(thing, "default")
        # `module.exports = require("./cart")`: what the other script exports.
        while len(found) == 1 and found[0].thing.kind == "file" and len(seen) < PASSED_ON_MAX:
            if found[0].thing in seen:
                break
            seen.add(found[0].thing)
            found = self.member(found[0].thing, "default")
        return [f for f in found if f.thing.kind == "symbol"]

    def read(self, things: list[Found]) -> list[Found]:
        """The values of variables and properties; other things stay as they are."""
        for each in things:
            if each.thing.kind == "symbol":
                break
        else:
            return things
        read: list[Found] = []
        for each in things:
            thing = each.thing
            symbol = self.program.symbol(thing) if thing.kind == "symbol" else None
            held: list[Found] = []
            if symbol is not None and symbol.kind in ("variable", "constant"):
                view = self.program.files[thing.path]
                held = self.variable(view, symbol.parent, symbol.name, 0) or []
            elif symbol is not None and symbol.kind == "property":
                held = [Found(t, 0.97, "property") for t in self._property(thing)]
            if held:
                read += [Found(h.thing, h.confidence * each.confidence, h.reason) for h in held]
            else:
                read.append(each)
        return read

    def _property(self, thing: Thing) -> list[Thing]:
        """The value of a property; of a getter and a setter, the getter's result."""
        view = self.program.files[thing.path]
        for index in view.by_qualified.get(view.symbol(thing.at).qualified, ()):
            found = self.result(Thing("symbol", thing.path, index))
            if found:
                return found
        return []

    def result(self, thing: Thing) -> list[Thing]:
        """What calling a thing returns."""
        if thing.kind == "external":
            return [Thing("external", name=thing.name + "()")]
        if thing.kind == "file":
            return [t for f in self.default(thing) for t in self.result(f.thing)]
        if thing.kind == "method":
            name, _, text = thing.name.partition("\0")
            view = self.program.files[thing.path]
            if not text or name in OTHER_RESULTS:
                return []
            return [f.thing for f in self.declared(view, thing.at, text)]
        if thing.kind == "bound":
            line, _, text = thing.name.partition("\0")
            if text.endswith("\0"):  # only what it passes to its callback is known
                return []
            view = self.program.files[thing.path]
            return [f.thing for f in self.evaluate(view, thing.at, text, int(line))]
        if thing.kind not in ("symbol", "instance"):
            return []
        if thing.name == CLASS:
            return [instance_of(thing)]
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        if symbol.kind in OWNERS:
            if thing.kind == "instance" and view.family == "python":
                called = self.member(thing, "__call__")
                return [t for f in called for t in self.result(f.thing)]
            return self._made(view, thing)
        if symbol.kind in CALLABLE:
            return self._returned(view, thing, symbol)
        if symbol.kind in ("variable", "constant"):
            held = self.read([Found(thing, 1.0, "member")])
            return [t for f in held if f.thing != thing for t in self.result(f.thing)]
        return []

    def _made(self, view: View, thing: Thing) -> list[Thing]:
        """A new instance, or what a constructor may return in its place: `return new Other()`.

        Only in Python does a constructor without `return` make nothing.
        """
        own = instance_of(thing)
        maker = {"python": "__new__", "js": "constructor"}.get(view.family)
        if maker is None:
            return [own]
        others: list[Thing] = []
        always = view.family == "python"
        for made in self.program.exact(view.family, f"{view.full(thing.at)}.{maker}")[-1:]:
            there = self.program.files[made.path]
            for each in there.bindings.get((made.at, RESULT), ())[:RESULTS_MAX]:
                found = self.evaluate(there, made.at, each.value, each.line)
                instances = [f.thing for f in found if f.thing.kind == "instance"]
                always = always and bool(instances)
                others += instances
        return list(dict.fromkeys(others if always and others else [own, *others]))

    def as_owner(self, method: Thing, result: Thing, owner: Thing | None) -> Thing:
        """What an inherited method returns on its owner: `return self` is an owner, not a base."""
        if owner is None or result.kind != "instance" or method.kind != "symbol":
            return result
        if owner.kind not in ("symbol", "instance") or instance_of(owner) == result:
            return result
        view = self.program.files[method.path]
        if Thing("instance", method.path, view.symbol(method.at).parent) != result:
            return result
        returned = view.bindings.get((method.at, RESULT), ())
        for each in returned[:RESULTS_MAX]:
            value = each.value
            for made in view.bindings.get((method.at, value), ())[-1:]:
                value = made.value  # `made = cls()`, `return made`
            if value not in _OWN_VALUES:
                return result
        return owner._replace(kind="instance") if returned else result

    def _returned(self, view: View, thing: Thing, symbol: Symbol) -> list[Thing]:
        """What a function returns: from its signature, else from its `return` and `yield`."""
        if symbol.kind == "constructor":
            own = self.own_class(view, thing.at)
            return [instance_of(own)] if own else []
        written_type = self.shape(view, thing.at).result
        if written_type:
            if view.family in ("python", "js"):
                return [f.thing for f in self.declared(view, thing.at, written_type)]
            return [instance_of(f.thing) for f in self.type(view, thing.at, written_type)]
        if view.family == "lua" and symbol.name in ("new", "create") and symbol.parent != MODULE:
            return [Thing("instance", view.path, symbol.parent)]
        yields = view.bindings.get((thing.at, YIELD), ())
        if yields:
            text = ",".join(b.value for b in yields[:RESULTS_MAX] if b.value)
            return [Thing("literal", view.path, thing.at, f"{yields[-1].line}\0[{text}]")]
        key = (view.path, -8, str(thing.at), 0)
        results = view.bindings.get((thing.at, RESULT), ())
        found: list[Thing] = []
        if results and not self.blocked(key):
            self.busy.add(key)
            try:
                for each in results[:RESULTS_MAX]:
                    if each.value == CLASS and view.family == "js":
                        found.append(thing._replace(kind="symbol", name=CLASS))
                        continue
                    found += [
                        f.thing
                        for f in (
                            self.declared(view, thing.at, each.type)
                            if each.type
                            else self.evaluate(view, thing.at, each.value, each.line)
                        )
                    ]
            finally:
                self.busy.discard(key)
        # In `function Cart() { if (!new.target) return new Cart(); }` too it is a constructor.
        by_itself = all(each.value in (f"{symbol.name}()", "this") for each in results)
        if not found and by_itself and view.family == "js" and symbol.name[:1].isupper():
            return [Thing("instance", view.path, thing.at)]
        return list(dict.fromkeys(found))
