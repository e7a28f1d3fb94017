"""Member lookup: what a name means on a module, a package or a class.

A member is looked up in its class, then in the base classes, level by level.
"""

from __future__ import annotations

import re

from holdfast.index.calls import modules
from holdfast.index.calls.classes import FIRST, ORDERS_MAX
from holdfast.index.calls.lookup import (
    CALLABLE,
    CHANGED,
    PASSED_ON_MAX,
    PERHAPS,
    Found,
    Lookup,
    because,
    either,
    instance_of,
    unique,
)
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.calls.signatures import is_static
from holdfast.index.calls.type_texts import (
    container,
    member_result,
    object_members,
    returned_type,
)
from holdfast.index.facts.model import MODULE, SAME_SCOPE, VALUE, Call

LIKE_MAX = 8
ASSIGNED_MAX = 4
"""How many assignments of an attribute of a function are looked at."""
_METACLASS = re.compile(r"\bmetaclass\s*=\s*([\w.]+)")


class Members(Lookup):
    """Lookups of members on known things."""

    def member(self, thing: Thing, name: str) -> list[Found]:
        """What `name` means on a thing."""
        kept = self.members.get((thing, name))
        if kept is not None:
            return kept
        if thing.kind == "file":
            return self._member_of_module(thing, name)
        if thing.kind == "package":
            return self._member_of_package(thing, name)
        if thing.kind == "external":
            return [Found(Thing("external", name=f"{thing.name}.{name}"), 0.9, "external")]
        if thing.kind == "container":
            one = container(thing.name)
            if one.kind == "object":
                return self._member_of_object(thing, one.name, name)
            result = member_result(one, name) or ""
            return [Found(thing._replace(kind="method", name=f"{name}\0{result}"), 0.97, "element")]
        if thing.kind == "literal":
            return self.literal_member(thing, name)
        if thing.kind in ("method", "bound"):
            return []
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        if name.endswith("*"):
            return self._members_like(thing, name[:-1])
        if thing.kind == "symbol" and symbol.kind in ("variable", "constant", "property"):
            known = self.read([Found(thing, 1.0, "member")])
            return [e for f in known if f.thing != thing for e in self.member(f.thing, name)]
        if name == "prototype" and view.family == "js" and symbol.kind in OWNERS | CALLABLE:
            return [Found(instance_of(thing), 0.97, "member")]
        if name == "__class__" and view.family == "python":
            return [Found(thing._replace(kind="symbol"), 0.97, "member")]
        if name == "__base__" and view.family == "python":
            return [Found(instance_of(base), 0.97, "super") for base in self.bases(thing)]
        if view.family == "ruby" and name == "new" and thing.kind == "symbol":
            return [Found(thing, 0.97, "constructor")]
        cuts = self.cuts
        found = self._member_of_class(thing, name)
        if not found and symbol.kind == "function" and view.family == "python":
            found = self._member_of_decorator(view, thing, name)
        if not found and symbol.kind == "function":
            found = self._attribute(view, thing, name)
        if not found and name.isupper() and self.is_enumeration(thing):
            found = [Found(instance_of(thing), 0.97, "member")]
        if not found and name == "constructor" and view.family == "js" and symbol.kind == "class":
            found = [Found(thing._replace(kind="symbol"), 0.97, "member")]  # without one written
        if cuts == self.cuts:  # an incomplete result is not cached
            self.members[thing, name] = found
        return found

    def _member_of_module(self, thing: Thing, name: str) -> list[Found]:
        """A member of a file; one without it is not asked again while a name is looked for."""
        depth = len(self.busy)
        if self.without.get((thing, name), depth + 1) <= depth:
            self.cuts += 1
            return []
        first, cuts, alone = not self.walked, self.cuts, not depth
        self.walked = self.walked or name
        try:
            found = self._member_of_file(thing, name)
            if not found and name != "default" and self.program.files[thing.path].family == "js":
                found = self._member_of_whole(thing, name)
            if cuts == self.cuts or alone:  # an incomplete result is not cached
                self.members[thing, name] = found
            elif not found and name == self.walked:
                self.without[thing, name] = depth
        finally:
            if first:
                self.walked = ""
                self.without.clear()
        return found

    def _attribute(self, view: View, thing: Thing, name: str) -> list[Found]:
        """An attribute that is assigned to a function where it is defined: `run.stop = halt`."""
        symbol = view.symbol(thing.at)
        for owner in (symbol.name, symbol.qualified):
            bound = view.bindings.get((symbol.parent, f"{owner}.{name}"), ())[:ASSIGNED_MAX]
            if bound:
                found = unique(f for each in bound for f in self.bound(view, each))
                return either(found) if len(bound) > 1 else found
        return []

    def decorator(self, view: View, call: Call) -> list[Found]:
        """What a decorator is, once its own arguments were given."""
        chain = call.receiver
        if call.name != VALUE:
            chain = f"{call.receiver}.{call.name}" if call.receiver else call.name
        return self.evaluate(view, call.caller, chain, call.line)

    def _members_like(self, thing: Thing, start: str) -> list[Found]:
        """The methods of a class whose names have a beginning: `getattr(self, "visit_" + x)`.

        If it has none, those of its subclasses: a base class calls what they define.
        """
        found: dict[str, Thing] = {}
        for owner in self.in_order(thing)[:LIKE_MAX]:
            for like in self._named_like(owner, start):
                found.setdefault(self.program.symbol(like).name, like)
        things = list(found.values())
        if not things:
            below = self.below(thing)[:LIKE_MAX]
            things = [like for owner in below for like in self._named_like(owner, start)]
        if len(things) > LIKE_MAX:
            return []
        return [Found(like, 0.8, "name by its beginning") for like in things]

    def _named_like(self, owner: Thing, start: str) -> list[Thing]:
        return [
            Thing("symbol", owner.path, index)
            for index, symbol in enumerate(self.program.files[owner.path].facts.symbols)
            if symbol.parent == owner.at and symbol.name.startswith(start)
        ]

    def _member_of_decorator(self, view: View, thing: Thing, name: str) -> list[Found]:
        """A member of a function that is an instance of the class that decorates it."""
        symbol = view.symbol(thing.at)
        return [
            each
            for made in view.decorators(symbol)
            for f in self.decorator(view, made)
            if f.thing.kind == "symbol" and self.is_type(f.thing)
            for each in self.member(instance_of(f.thing), name)
        ]

    def _member_of_object(self, thing: Thing, text: str, name: str) -> list[Found]:
        """A member of an inline object type: `{total: Money, pay(): Receipt}`."""
        held = object_members(text).get(name)
        if held is None:
            return []
        result = returned_type(held)
        if result is not None:
            return [Found(thing._replace(kind="method", name=f"{name}\0{result}"), 0.97, "element")]
        return self.declared(self.program.files[thing.path], thing.at, held)

    def _member_of_file(self, thing: Thing, name: str) -> list[Found]:
        view = self.program.files[thing.path]
        local = view.by_qualified.get(name)
        if local:
            return [Found(each, 0.97, "import") for each in self.defined(view, local)]
        key = (view.path, -4, name, 0)
        if self.blocked(key):
            return []
        self.busy.add(key)
        try:
            for binding in reversed(view.bindings.get((MODULE, name), [])):
                if binding.value and binding.value != name:
                    found = self.evaluate(view, MODULE, binding.value)
                    if found:
                        return [
                            Found(f.thing, f.confidence * 0.98, because(f, "re-export"))
                            for f in found
                        ]
            taken = view.taken.get(name, [])
            if view.family == "js" and sum(item.reexport for item in taken) > 1:
                # `if (fast) module.exports = require("./a"); else module.exports = …`
                held = [f for one in taken if one.reexport for f in self.imported(view, one)]
                return either(unique(held))
            for item in reversed(taken):
                if view.family in ("python", "lua") or item.reexport or view.family == "js":
                    found = self.imported(view, item)
                    if found and found[0].thing.kind != "external":
                        return [Found(f.thing, f.confidence * 0.99, "re-export") for f in found]
            child = self._child_module(view, name)
            if child:
                return [Found(child, 0.97, "import")]
            if view.family == "js" and name == "default":
                return []
            for item in view.wildcards:
                if view.family in ("python", "c", "bash", "ruby", "php") or item.reexport:
                    found = self.wildcard(view, item, name)
                    if found:
                        return [Found(f.thing, f.confidence * 0.97, "re-export") for f in found]
        finally:
            self.busy.discard(key)
        return []

    def _member_of_whole(self, thing: Thing, name: str) -> list[Found]:
        """`module.exports = Cart` and then `require('./cart').make`."""
        key = (thing.path, -4, f"whole {name}", 0)
        if self.blocked(key):
            return []
        self.busy.add(key)
        try:
            return self._follow_whole(thing, name)
        finally:
            self.busy.discard(key)

    def _follow_whole(self, thing: Thing, name: str) -> list[Found]:
        seen = {thing}
        whole = self.member(thing, "default")
        while len(whole) == 1 and whole[0].thing.kind == "file" and len(seen) < PASSED_ON_MAX:
            other = whole[0].thing  # `module.exports = require('./other')`
            if other in seen:
                return []
            seen.add(other)
            found = self._member_of_file(other, name)
            if found:
                return found
            whole = self.member(other, "default")
        held = [f for f in whole if f.thing.kind != "file"]
        return [each for f in held for each in self.member(f.thing, name)]

    def _child_module(self, view: View, name: str) -> Thing | None:
        if view.family == "python" and view.path.endswith(("__init__.py", "__init__.pyi")):
            found = modules.find(self.program, view, "." + name)
            return found if found.kind != "external" else None
        if view.family == "rust":
            crate, parts = modules.crate_of(view.path)
            child = modules.rust_file(self.program, crate, [*parts, name])
            return child if child and child.path != view.path else None
        return None

    def _member_of_package(self, thing: Thing, name: str) -> list[Found]:
        program = self.program
        if thing.name == modules.CRATE:
            child = modules.rust_file(program, thing.path, [name])
            return [Found(child, 0.97, "module path")] if child else []
        if thing.path:  # a folder: of Python modules or of a Go package
            for suffix in (".py", "/__init__.py", ".pyi"):
                if f"{thing.path}/{name}{suffix}" in program.files:
                    return [Found(Thing("file", f"{thing.path}/{name}{suffix}"), 0.97, "import")]
        for family in ("go",) if thing.path else ("jvm", "csharp", "php", "c", "ruby", "swift"):
            full = f"{thing.name}.{name}" if thing.name else name
            found = program.exact(family, full)
            if found:
                first = program.files[found[0].path]
                return [Found(t, 0.97, "import") for t in self.best(first, found)]
            if (family, full) in program.packages:
                return [Found(Thing("package", name=full), 0.97, "full name")]
        folder = f"{thing.path}/{name}"
        if thing.path and program.folders.get(folder):
            return [
                Found(Thing("package", path=folder, name=folder.replace("/", ".")), 0.97, "import")
            ]
        return []

    def _member_of_class(self, thing: Thing, name: str) -> list[Found]:
        if self.program.files[thing.path].family == "python" and len(self.bases(thing)) > 1:
            return self._member_in_order(thing, name)
        seen: set[tuple[str, int]] = set()
        level, confidence = [thing], 0.97
        while level and len(seen) < 64:
            above: list[Thing] = []
            for each in level:
                if each.kind not in ("symbol", "instance") or (each.path, each.at) in seen:
                    continue
                seen.add((each.path, each.at))
                found = self._own_member(each, name)
                if found:
                    inherited = each.at != thing.at or each.path != thing.path
                    reason = because(found[0], "inherited") if inherited else found[0].reason
                    return [Found(f.thing, f.confidence * confidence, reason) for f in found]
                above.extend(self.bases(each))
            level, confidence = above, confidence * 0.98
        return self._member_of_metaclass(thing, name)

    def _member_in_order(self, thing: Thing, name: str) -> list[Found]:
        """A member of a class with several bases."""
        for each in self.in_order(thing):
            if not self._may_own(each, name):
                continue
            found = self._own_member(each._replace(kind=thing.kind), name)
            if found:
                own = (each.path, each.at) == (thing.path, thing.at)
                reason = found[0].reason if own else because(found[0], "inherited")
                return [
                    Found(f.thing, f.confidence * (0.97 if own else 0.95), reason) for f in found
                ]
        return self._member_of_metaclass(thing, name)

    def _may_own(self, thing: Thing, name: str) -> bool:
        """Whether a Python class may have a member itself; decided without looking it up.

        A class with as many as 64 ancestors is asked for every name that is called on it.
        """
        view = self.program.files[thing.path]
        if name in view.own_names.get(thing.at, ()) or name in view.set_outside:
            return True
        several = self.twins.get(thing)
        if several is None:  # a stub beside a module has the same full name
            several = len(self.program.exact(view.family, view.full(thing.at))) > 1
            self.twins[thing] = several
        return several

    def above_in_order(self, thing: Thing, name: str) -> list[Found]:
        """The members that `super().name` may mean in a class.

        A subclass with several bases may put other classes between this one and its bases. An order
        without the member does not count if all of its classes are known: the call would fail.
        """
        kept = self.supers.get((thing, name))
        if kept is not None:
            return kept
        found: dict[Thing, Found] = {}
        cuts, orders = self.cuts, self.orders(thing)
        sure = len(orders) < ORDERS_MAX
        own = set(orders[0][0]) if orders else set()
        for order, whole in orders:
            outside = self.outside(thing) == FIRST
            for each in order:
                held = self._of_class(each, name)
                if held:
                    found |= {f.thing: Found(f.thing, 0.95, because(f, "super")) for f in held}
                    outside = outside or not (whole or each in own)
                    break
                outside = outside or bool(self.outside(thing) or self.outside(each))
                outside = outside or (name[:2] == "__" and self._is_decorated(each))
            else:
                outside = outside or not whole or name[:2] == "__"  # `object` has those
            sure = sure and not outside
        things = list(found.values())
        things = either(things) if sure else [f._replace(reason=PERHAPS) for f in things]
        if cuts == self.cuts:
            self.supers[thing, name] = things
        return things

    def _of_class(self, thing: Thing, name: str) -> list[Found]:
        """A member that a class statement has; `super()` sees nothing that `self.name = …` adds."""
        view = self.program.files[thing.path]
        rows = view.bindings.get((thing.at, name))
        if rows and all(row.inside != SAME_SCOPE for row in rows):
            full = f"{view.full(thing.at)}.{name}"
            own = [Found(t, 1.0, "member") for t in self.program.exact(view.family, full)][-1:]
            outside = any(not self._is_within(view, row.inside, thing.at) for row in rows)
            return self._replaced(thing, name, own) if own and outside else own
        return self._own_member(thing._replace(kind="instance"), name)

    @staticmethod
    def _is_within(view: View, scope: int, outer: int) -> bool:
        """Whether a scope is a class, or a function in it: `self.name = …`."""
        while scope not in (MODULE, outer):
            scope = view.symbol(scope).parent
        return scope == outer

    def _replaced(self, thing: Thing, name: str, found: list[Found]) -> list[Found]:
        """A method of a class, and what else is assigned to it: `Cart.total = other`."""
        view = self.program.files[thing.path]
        if view.family not in ("python", "js"):
            return found
        rows = view.bindings.get((thing.at, name)) or view.bindings.get((thing.at, "*"))
        if not rows:
            return found
        if all((row.inside == SAME_SCOPE and row.value != "?") or row.type for row in rows):
            return found
        held = [f for f in self.field(thing, name) if f.thing.kind == "symbol"]
        return [f._replace(reason=CHANGED) for f in unique([*found, *held])]

    def _is_decorated(self, thing: Thing) -> bool:
        """Whether a decorator may add to a class: `dataclass` writes `__init__` and more."""
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        return (symbol.parent, symbol.name) in view.decorated

    def _member_of_metaclass(self, thing: Thing, name: str) -> list[Found]:
        """A member of a class itself that its metaclass defines."""
        if thing.kind != "symbol" or self.program.files[thing.path].family != "python":
            return []
        for each in self.in_order(thing):
            view = self.program.files[each.path]
            written = _METACLASS.search(view.symbol(each.at).signature)
            if written:
                found = self.type(view, view.symbol(each.at).parent, written.group(1))
                return [
                    Found(m.thing, m.confidence * 0.95, "metaclass")
                    for f in found
                    for m in self.member(f.thing, name)
                ]
        return []

    def _own_member(self, thing: Thing, name: str) -> list[Found]:
        program = self.program
        view = program.files[thing.path]
        full = view.full(thing.at)
        found = list(program.exact(view.family, f"{full}.{name}"))
        if not found:
            apart = self.apart(view.family, full, name)
            found = [apart] if apart else []
        if view.family == "js" and len(found) > 1:
            found = self._of_one_meaning(thing, found)
            static = thing.kind == "symbol"
            same = [t for t in found if is_static(program.symbol(t).signature) == static]
            found = same or found
        if found and view.family in ("python", "js", "lua") and len(found) > 1:
            found = [t for t in found if t.path == thing.path][-1:] or found[-1:]
        elif len(found) > 1:
            found = [t for t in found if program.symbol(t).defined] or found
        callables = [
            t for t in found if program.symbol(t).kind not in ("property", "variable", "constant")
        ]
        if callables:
            whole = [Found(t, 1.0, "member") for t in callables]
            return self._replaced(thing, name, whole)
        # `self.items.add(x)` alone does not define a field.
        held = (thing.at, name) in view.bindings
        held = held or (not found and not self._defined_above(thing, name))
        field = self.field(thing, name) if held else []
        if field:
            return field
        if not found and view.family == "jvm" and name != "Companion":
            companion = program.exact("jvm", f"{full}.Companion.{name}")
            found = companion or found
        return [Found(t, 1.0, "member") for t in found]

    def _defined_above(self, thing: Thing, name: str) -> bool:
        """Whether a base class has a member to which elements are added here."""
        view = self.program.files[thing.path]
        if not view.grown or (thing.at, name) not in view.grown:
            return False
        return any(self.member(base._replace(kind=thing.kind), name) for base in self.bases(thing))

    def _of_one_meaning(self, thing: Thing, things: list[Thing]) -> list[Thing]:
        """Keep only members of a class, or only those of a function with the same name."""
        symbol = self.program.symbol
        wanted = symbol(thing).kind in CALLABLE
        same = []
        for each in things:
            parent = symbol(each).parent
            around = self.program.files[each.path].symbol(parent).kind if parent != MODULE else ""
            if not around or (around in CALLABLE) == wanted:
                same.append(each)
        return same or things
