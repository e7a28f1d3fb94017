"""Types: the class that a type expression names."""

from __future__ import annotations

import re

from holdfast.index.calls.lookup import (
    Found,
    Lookup,
    instance_of,
    unique,
)
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.calls.type_texts import (
    alternatives,
    written,
)
from holdfast.index.facts.chains import type_name
from holdfast.index.facts.model import MODULE


class Types(Lookup):
    """Lookups of type expressions."""

    def type(self, view: View, scope: int, text: str) -> list[Found]:
        """The class that a type expression names."""
        name = type_name(text)
        if not name:
            return []
        if name in ("Self", "self", "static", "this") or name.endswith(".Self"):
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
            found = [f._replace(thing=self._as_type(f.thing)) for f in found]
        if not found and len(parts) > 1:
            found = [Found(t, 0.97, "full name") for t in self.program.exact(view.family, name)]
        return [f for f in found if self.is_type(f.thing)][:1]

    def declared(self, view: View, scope: int, text: str) -> list[Found]:
        """An instance of the declared class, what a container holds, or something external."""
        if view.family not in ("python", "js"):
            return self._one_declared(view, scope, text)
        if view.family == "python":  # `list["Cart"]`; in TypeScript quotes index a member
            text = text.replace('"', "").replace("'", "")
        found: list[Found] = []
        for one in alternatives(text):
            if one.kind == "class":
                found += self._one_declared(view, scope, one.name)
            elif one.kind == "itself":
                found += self.type(view, scope, one.name) or [
                    f._replace(thing=f.thing._replace(kind="symbol"))
                    for f in self._one_declared(view, scope, one.name)  # a type variable
                    if f.thing.kind == "instance"
                ]
            elif one.kind == "value":
                found += self.evaluate(view, scope, one.name)
            elif one.kind == "function":
                thing = Thing("method", view.path, scope, f"call\0{one.parts[0]}")
                found.append(Found(thing, 0.95, "declared type"))
            elif one.kind == "member":
                found += self._indexed(view, scope, one.name, one.parts)
            else:
                thing = Thing("container", view.path, scope, written(one))
                found.append(Found(thing, 0.95, "declared type"))
        return unique(found) if len(found) > 1 else found

    def _indexed(self, view: View, scope: int, text: str, keys: tuple[str, ...]) -> list[Found]:
        """`Cart["items"]`: the type of a member."""
        found = self.declared(view, scope, text)
        for key in keys:
            found = [each for f in found for each in self.member(f.thing, key)]
        return [f for f in found if f.thing.kind in ("instance", "container", "external")]

    def _one_declared(self, view: View, scope: int, text: str) -> list[Found]:
        named = self.type(view, scope, text)
        if named:
            return [
                Found(each.thing, f.confidence * each.confidence * 0.96, "declared type")
                for f in named
                for each in self._without_alias(f.thing)
            ]
        name = type_name(text)
        head, _, rest = name.partition(".")
        outside = [f.thing for f in self.name(view, scope, head)] if head else []
        if outside and outside[0].kind == "external":
            name = f"{outside[0].name}.{rest}" if rest else outside[0].name
            return [Found(Thing("external", name=name), 0.9, "declared type")]
        if outside and view.family == "python" and outside[0].kind == "symbol":
            # An alias: `Handler = Union[A, B]`, or a type variable with a bound.
            key = (view.path, -5, f"{text}:{scope}", 0)
            if self.blocked(key):
                return []
            self.busy.add(key)
            try:
                held = self.read([Found(outside[0], 0.95, "declared type")])
            finally:
                self.busy.discard(key)
            return [
                Found(instance_of(f.thing), f.confidence, "declared type")
                for f in held
                if self.is_type(f.thing)
            ]
        return self._bound_of(view, scope, head) if head and not outside else []

    def _without_alias(self, thing: Thing) -> list[Found]:
        """The instance of a class; for `type A = B`, that of B."""
        symbol = self.program.symbol(thing)
        view = self.program.files[thing.path]
        if symbol.kind == "type" and view.family == "js":
            _, _, text = symbol.signature.partition("=")
            key = (thing.path, -6, str(thing.at), 0)
            if text and not self.blocked(key):
                self.busy.add(key)
                try:
                    found = self.declared(view, symbol.parent, text)
                finally:
                    self.busy.discard(key)
                # Inline members belong to the alias itself: `type A = B & {total: Money}`.
                if found and "{" not in text:
                    return found
                own = Found(instance_of(thing), 1.0, "declared type")
                return [own, *(f for f in found if f.thing.name[:1] != "{")]
        return [Found(instance_of(thing), 1.0, "declared type")]

    def _as_type(self, thing: Thing) -> Thing:
        """The type for a name that is also a value: `interface Cart` beside `const Cart`."""
        if thing.kind == "file":  # `const Cart = require("./cart")`
            whole = self.default(thing)
            return whole[0].thing if whole else thing
        if thing.kind != "symbol" or self.is_type(thing):
            return thing
        view = self.program.files[thing.path]
        index = view.types.get(view.symbol(thing.at).qualified)
        return thing if index is None else Thing("symbol", thing.path, index)

    def _bound_of(self, view: View, scope: int, name: str) -> list[Found]:
        """The bound of a type variable of the enclosing function or class."""
        at = scope
        while at != MODULE and name.isidentifier():
            symbol = view.symbol(at)
            sign = "extends" if view.family == "js" else ":"
            found = re.search(
                rf"[<\[,]\s*(?:(?:const|in|out)\s+)*{name}\s*{sign}\s*([\w.]+)", symbol.signature
            )
            if found and found.group(1) != name:
                return self._one_declared(view, symbol.parent, found.group(1))
            at = symbol.parent
        return []

    def is_type(self, thing: Thing) -> bool:
        return thing.kind == "symbol" and self.program.symbol(thing).kind in OWNERS | {"type"}
