"""Variables: what a name is bound to at a line, and what a parameter is given."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.index.calls.lookup import (
    CALLABLE,
    MEMBERS_IN_SCOPE,
    STEPS_MAX,
    Found,
    Lookup,
    unique,
)
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.facts.model import MODULE, SAME_SCOPE, Binding

PASSING_MAX = 64
"""Beyond so many calls that pass functions, what a parameter holds is not known."""
_ANNOTATED = re.compile(r"(?:export\s+)?(?:(?:const|let|var)\s+)?[\w$]+\s*:\s*([^=]+?)\s*=(?!>)")


class Variables(Lookup):
    """Lookups of variables and parameters."""

    def bound(self, view: View, binding: Binding) -> list[Found]:
        """What a binding says that its name holds."""
        scope = binding.scope if binding.inside == SAME_SCOPE else binding.inside
        if binding.type:
            named = self.declared(view, scope, binding.type)
            if named:
                return named
        value = binding.value
        if value and value != "?":
            # As of the line before: `cart = cart.copy()` uses the earlier value.
            line = binding.line - 1 if not binding.field else binding.line
            found = self.evaluate(view, scope, value, line)
            reason = "assigned from a call" if value.endswith("()") else "assigned name"
            return [Found(f.thing, f.confidence * 0.96, reason) for f in found]
        return []

    def narrowed(self, view: View, scope: int, name: str, line: int) -> list[Found]:
        """What a check of the type says about a name with dots."""
        live = [b for b in view.bindings.get((scope, name), ()) if b.line <= line <= b.last]
        return self.bound(view, max(live, key=lambda b: b.line)) if live else []

    def variable(self, view: View, scope: int, name: str, line: int) -> list[Found] | None:
        """What a variable or parameter holds; [] when unknown, None when there is none."""
        at, exact = scope, line
        while True:
            symbol = view.symbol(at) if at != MODULE else None
            bound: Sequence[Binding] = view.bindings.get((at, name), ())
            if symbol is not None and bound and symbol.kind not in OWNERS:
                bound = [b for b in bound if not b.field]  # of a function used as a class
            elif bound and at != scope and symbol is not None and view.family in ("python", "js"):
                bound = [b for b in bound if b.inside == SAME_SCOPE]  # not `self.cart = …`
            inside = symbol is not None and symbol.kind in CALLABLE
            shape = self.shape(view, at) if inside else None
            parameters = shape.parameters if shape else {}
            if shape and name in shape.own:
                return self.declared(view, at, shape.own[name])
            if shape and name in shape.unpacked and not bound:
                return self.evaluate(view, at, shape.unpacked[name])
            if at == MODULE and scope != MODULE:
                line = 0  # the module has run before its functions do
            chosen = self._live(bound, line, exact, name in parameters)
            if chosen is not None and chosen.line == line and chosen.value.startswith(f"{name}."):
                # `cart = cart.copy()`: what is called on that line is the earlier value.
                chosen = self._live(bound, line - 1, line - 1, name in parameters) or chosen
            if chosen is not None and not (at == MODULE and chosen.value == name):
                found = self.bound(view, chosen)
                if found or chosen.value == "?":
                    return found
                declared = next((b for b in bound if b.type and not b.last), None)
                if declared is not None and declared != chosen:
                    return self.bound(view, declared)
                if name not in parameters:
                    return found
            if symbol is None:
                return None
            if symbol.kind in OWNERS:
                if view.family in MEMBERS_IN_SCOPE:
                    field = self.inherited_field(Thing("symbol", view.path, at), name)
                    if field:
                        return field
            elif inside:
                if name in parameters:
                    return self._parameter(view, at, name, parameters)
                if symbol.parent == MODULE and view.family in MEMBERS_IN_SCOPE:
                    own = self.own_class(view, at)
                    field = self.inherited_field(own, name) if own else []
                    if field:
                        return field
            at = symbol.parent

    @staticmethod
    def _live(bound: Sequence[Binding], line: int, exact: int, parameter: bool) -> Binding | None:
        """The binding that holds at a line; 0 stands for the end of the scope.

        A binding that ends encloses what uses it, so its lines are held against the exact line.
        """
        chosen = None
        for each in bound:
            if each.last and not (each.line <= exact <= each.last):
                continue
            if (not line or each.last or each.line <= line) and (
                chosen is None or chosen.line <= each.line
            ):
                chosen = each
        if chosen is None and not parameter:
            # Bound further down: in a loop, or the scope runs later.
            chosen = next((b for b in bound if not b.last), None)
        return chosen

    def _parameter(self, view: View, at: int, name: str, parameters: dict[str, str]) -> list[Found]:
        """What a parameter holds: its declared type, or what calls pass to it."""
        type_ = parameters[name]
        if type_.startswith("="):
            found = self.evaluate(view, view.symbol(at).parent, type_[1:])
            found = [Found(f.thing, f.confidence * 0.9, "default value") for f in found]
            return unique([*found, *self._passed(view, at, name, list(parameters))])
        place = list(parameters).index(name)
        found = self.declared(view, at, type_) if type_ else self._contextual(view, at, place)
        if found and found[0].thing.kind != "external":
            return found
        return self._passed(view, at, name, list(parameters)) or found

    def _contextual(self, view: View, at: int, place: int) -> list[Found]:
        """A parameter by the declared type of what the function is assigned to.

        `const total: Sum = (cart) => …`, or `const shop: Shop = { total(cart) { … } }`.
        """
        symbol = view.symbol(at)
        if view.facts.language not in ("typescript", "tsx"):
            return []
        annotated = _ANNOTATED.match(symbol.signature)
        if annotated:
            return self.taken(view, symbol.parent, annotated.group(1), place)
        if symbol.parent == MODULE or view.symbol(symbol.parent).kind != "object":
            return []
        around = view.symbol(symbol.parent)
        annotated = _ANNOTATED.match(f"{around.signature} =")
        if not annotated:
            return []
        for owner in self.declared(view, around.parent, annotated.group(1)):
            if owner.thing.kind != "instance":
                continue
            there = self.program.files[owner.thing.path]
            for binding in there.bindings.get((owner.thing.at, symbol.name), ()):
                if binding.type:
                    return self.taken(there, owner.thing.at, binding.type, place)
            for each in self.member(owner.thing, symbol.name):
                types = list(self.shape(there, each.thing.at).parameters.values())
                if each.thing.path == there.path and place < len(types):
                    return self.declared(there, each.thing.at, types[place])
        return []

    def _passed(self, view: View, at: int, name: str, parameters: list[str]) -> list[Found]:
        """The functions that are passed to a parameter somewhere in the program."""
        symbol = view.symbol(at)
        function = Thing("symbol", view.path, at)
        called = symbol.name
        if symbol.kind == "constructor" and symbol.parent != MODULE:
            function = Thing("symbol", view.path, symbol.parent)
            called = view.symbol(symbol.parent).name
        sites = self.program.passing.get((view.family, called), ())
        key = (view.path, -7, f"{name}:{at}", 0)
        if not sites or len(sites) > PASSING_MAX or key in self.busy or len(self.busy) > STEPS_MAX:
            return []
        wanted = {f"{parameters.index(name)}", name}
        found: list[Found] = []
        self.busy.add(key)
        try:
            for path, number in sorted(sites):
                site = self.program.files[path]
                call = site.facts.calls[number]
                values = [p.partition("=")[2] for p in call.passed if p.partition("=")[0] in wanted]
                if not values:
                    continue
                chain = f"{call.receiver}.{call.name}" if call.receiver else call.name
                reached = self.evaluate(site, call.caller, chain, call.line)
                if any(f.thing == function for f in reached):
                    found += self.evaluate(site, call.caller, values[0], call.line)
        finally:
            self.busy.discard(key)
        return unique(Found(f.thing, f.confidence * 0.9, "passed as an argument") for f in found)

    def is_local(self, view: View, scope: int, name: str) -> bool:
        """Whether a function around the scope binds the name, as a variable or a parameter."""
        at = scope
        while at != MODULE:
            symbol = view.symbol(at)
            if (at, name) in view.bindings and symbol.kind not in OWNERS:
                return True
            if symbol.kind in CALLABLE:
                shape = self.shape(view, at)
                if name in shape.parameters or name in shape.unpacked:
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
