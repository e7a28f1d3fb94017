"""Types, variables and results: the class a type names, what a variable holds or a call returns."""

from __future__ import annotations

from holdfast.index.calls.lookup import CALLABLE, MEMBERS_IN_SCOPE, Found, Lookup, instance_of
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.facts.chains import type_name
from holdfast.index.facts.model import MODULE


class Values(Lookup):
    """Lookups of types, variables and results."""

    def type(self, view: View, scope: int, text: str) -> list[Found]:
        """The class that a type, as written, names."""
        name = type_name(text)
        if not name:
            return []
        if name in ("Self", "self", "static", "this"):
            own = self.own_class(view, scope)
            return [Found(own, 0.97, "own type")] if own else []
        parts = name.split(".")
        found: list[Found] = []
        if len(parts) > 1 and name in view.aliases:
            found = self.imported(view, view.aliases[name][-1])
        else:
            if view.family == "rust" and parts[0] in ("crate", "self", "super"):
                return self.rust_path(view, name)
            found = self.name(view, scope, parts[0])
            for part in parts[1:]:
                found = [each for f in found for each in self.member(f.thing, part)]
        if not found and len(parts) > 1:
            found = [Found(t, 0.97, "full name") for t in self.program.exact(view.family, name)]
        return [f for f in found if self._is_type(f.thing)][:1]

    def declared(self, view: View, scope: int, text: str) -> list[Found]:
        """An instance of the declared class, or something external."""
        named = self.type(view, scope, text)
        if named:
            return [
                Found(instance_of(f.thing), f.confidence * 0.96, "declared type") for f in named
            ]
        head, _, rest = type_name(text).partition(".")
        outside = [f.thing for f in self.name(view, scope, head)] if head else []
        if outside and outside[0].kind == "external":
            name = f"{outside[0].name}.{rest}" if rest else outside[0].name
            return [Found(Thing("external", name=name), 0.9, "declared type")]
        return []

    def _is_type(self, thing: Thing) -> bool:
        return thing.kind == "symbol" and self.program.symbol(thing).kind in OWNERS | {"type"}

    def bound(self, view: View, scope: int, type_: str, value: str, line: int) -> list[Found]:
        if type_:
            named = self.declared(view, scope, type_)
            if named:
                return named
        if value:
            found = self.evaluate(view, scope, value, line)
            reason = "assigned from a call" if value.endswith("()") else "assigned name"
            return [Found(f.thing, f.confidence * 0.96, reason) for f in found]
        return []

    def variable(self, view: View, scope: int, name: str, line: int) -> list[Found] | None:
        """What a variable or parameter holds; [] when unknown, None when there is none."""
        at = scope
        while True:
            bound = view.bindings.get((at, name))
            if bound:
                before = [b for b in bound if not line or b.line <= line] or bound[:1]
                chosen = before[-1]
                if not (at == MODULE and chosen.value == name):
                    # As of the line before: `cart = cart.copy()` uses the earlier value.
                    return self.bound(view, at, chosen.type, chosen.value, chosen.line - 1)
            if at == MODULE:
                return None
            symbol = view.symbol(at)
            if symbol.kind in OWNERS:
                if view.family in MEMBERS_IN_SCOPE:
                    field = self.inherited_field(Thing("symbol", view.path, at), name)
                    if field:
                        return field
            elif symbol.kind in CALLABLE:
                parameters = self.shape(view, at).parameters
                if name in parameters:
                    return self.declared(view, at, parameters[name])
                if symbol.parent == MODULE and view.family in MEMBERS_IN_SCOPE:
                    own = self.own_class(view, at)
                    field = self.inherited_field(own, name) if own else []
                    if field:
                        return field
            at = symbol.parent

    def is_local(self, view: View, scope: int, name: str) -> bool:
        """Whether a function around the scope binds the name, as a variable or a parameter."""
        at = scope
        while at != MODULE:
            symbol = view.symbol(at)
            if (at, name) in view.bindings and symbol.kind not in OWNERS:
                return True
            if symbol.kind in CALLABLE and name in self.shape(view, at).parameters:
                return True
            at = symbol.parent
        return False

    def inherited_field(self, thing: Thing, name: str) -> list[Found]:
        level, seen = [thing], 0
        while level and seen < 16:
            above: list[Thing] = []
            for each in level:
                seen += 1
                found = self.field(each, name)
                if found:
                    return found
                above.extend(self.bases(each))
            level = above
        return []

    def default(self, thing: Thing) -> list[Found]:
        """What calling a whole script refers to."""
        if thing.kind != "file" or self.program.files[thing.path].family != "js":
            return []
        return [f for f in self.member(thing, "default") if f.thing.kind == "symbol"]

    def result(self, thing: Thing) -> list[Thing]:
        """What calling a thing returns."""
        if thing.kind == "external":
            return [Thing("external", name=thing.name + "()")]
        if thing.kind == "file":
            return [t for f in self.default(thing) for t in self.result(f.thing)]
        if thing.kind not in ("symbol", "instance"):
            return []
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        if symbol.kind in OWNERS:
            return [instance_of(thing)]
        if symbol.kind in CALLABLE:
            if symbol.kind == "constructor":
                own = self.own_class(view, thing.at)
                return [instance_of(own)] if own else []
            written = self.shape(view, thing.at).result
            if written:
                return [instance_of(f.thing) for f in self.type(view, thing.at, written)]
            if (
                view.family == "lua"
                and symbol.name in ("new", "create")
                and symbol.parent != MODULE
            ):
                return [Thing("instance", view.path, symbol.parent)]
        return []
