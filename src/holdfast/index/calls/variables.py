"""Variables: what a name is bound to at a line, and what is passed to a parameter."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice
from operator import attrgetter

from holdfast.index.calls.lookup import (
    CALLABLE,
    CHANGED,
    EITHER,
    MEMBERS_IN_SCOPE,
    PASSED,
    Found,
    Lookup,
    PassingCall,
    because,
    either,
    unique,
)
from holdfast.index.calls.passed_values import given, without_first
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.calls.signatures import place_in
from holdfast.index.facts.chains import chain
from holdfast.index.facts.model import (
    ANY_TIME,
    MODULE,
    MOVED,
    SAME_SCOPE,
    VALUE,
    Binding,
    Call,
    Symbol,
)

PASSING_MAX = 24
"""With more calls that pass something than this, the value of a parameter is unknown."""
PASSERS_MAX = 500
"""With more calls of its name than this, whichever parameter they pass something to, it is too."""
VALUES_PASSERS_MAX = 5_000
"""The same for calls of values (`decorate(3)(function)`), which have no name."""
CACHED_MAX = 2_000
"""For how many names the calls that pass something are cached."""
GROWN_MAX = 8
_PLACED = frozenset({"+", MOVED})
BRANCHES_MAX = 4
_ANNOTATED = re.compile(r"(?:export\s+)?(?:(?:const|let|var)\s+)?[\w$]+\s*:\s*([^=]+?)\s*=(?!>)")


class Variables(Lookup):
    """Lookups of variables and parameters."""

    def bound(self, view: View, binding: Binding) -> list[Found]:
        """The value of a binding, from its declared type or its expression."""
        scope = binding.scope if binding.inside == SAME_SCOPE else binding.inside
        named = self.declared(view, scope, binding.type) if binding.type else []
        if named and any(f.thing.kind != "method" for f in named):
            return named
        value = binding.value
        if value and value != "?":
            # Evaluated on the line before: `cart = cart.copy()` uses the earlier value.
            line = binding.line - 1 if not binding.field else binding.line
            if value == binding.name and scope != MODULE and view.symbol(scope).kind in OWNERS:
                scope = view.symbol(scope).parent  # `cart = cart` in the body of a class
            found = self.evaluate(view, scope, value, line)
            reason = "assigned from a call" if value.endswith("()") else "assigned name"
            # A known function says more than its declared function type.
            return [Found(f.thing, f.confidence * 0.96, because(f, reason)) for f in found] or named
        return named

    def narrowed(self, view: View, scope: int, name: str, line: int) -> list[Found]:
        """What a type check says about a dotted name."""
        at = scope
        while True:
            bound = view.bindings.get((at, name), ())
            live = [b for b in bound if b.line <= line and (line <= b.last or not b.last)]
            if at != scope:  # the enclosing scope may have run past it
                live = [b for b in bound if not b.last]
            if live:
                return self.bound(view, max(live, key=lambda b: b.line))
            if at == MODULE:
                return []
            at = view.symbol(at).parent

    def grown(self, view: View, at: int, name: str) -> list[Found]:
        """The elements added to a container one by one, each as a container of its own."""
        found = []
        for each in view.grown.get((at, name), ())[:GROWN_MAX]:
            key = each.name.partition("[")[2][:-1].strip("'")
            text = f"[{each.value}]" if key in _PLACED else f"{{{key or '?'}:{each.value}}}"
            scope = each.scope if each.inside == SAME_SCOPE else each.inside
            thing = Thing("literal", view.path, scope, f"{each.line}\0{text}")
            found.append(Found(thing, 0.95, "element"))
        return found

    def variable(self, view: View, scope: int, name: str, line: int) -> list[Found] | None:
        """What a variable or parameter holds; [] when unknown, None when it does not exist."""
        found = self._variable(view, scope, name, line)
        grown: list[Found] = []
        at = scope
        while view.grown:
            if (at, name) in view.grown:
                grown += self.grown(view, at, name)
            if at == MODULE or (at, name) in view.bindings or self._takes(view, at, name):
                break
            at = view.symbol(at).parent
        if not grown or any(f.thing.kind == "container" for f in found or ()):
            return found  # a declared type says what elements there are
        if found is None:  # an object with its own members and added ones
            known = self.name(view, scope, name)
            found = [f for f in known if f.thing.kind == "instance" or self.is_type(f.thing)]
        return [*found, *grown]

    def _takes(self, view: View, at: int, name: str) -> bool:
        return view.symbol(at).kind in CALLABLE and name in self.shape(view, at).parameters

    def _variable(self, view: View, scope: int, name: str, line: int) -> list[Found] | None:
        at, exact = scope, line
        while True:
            symbol = view.symbol(at) if at != MODULE else None
            bound: Sequence[Binding] = view.bindings.get((at, name), ())
            if symbol is not None and bound and symbol.kind not in OWNERS:
                bound = [b for b in bound if not b.field]  # of a function used as a class
            elif bound and at != scope and symbol is not None and view.family in ("python", "js"):
                if view.family == "python":
                    bound = ()  # methods do not see the names in the body of their class
                bound = [b for b in bound if b.inside == SAME_SCOPE]  # not `this.cart = …`
            inside = symbol is not None and symbol.kind in CALLABLE
            if name == "arguments" and inside and view.family == "js":
                return self.passed(view, at, name, [name])
            shape = self.shape(view, at) if inside else None
            parameters = shape.parameters if shape else {}
            if shape and name in shape.own:
                return self.declared(view, at, shape.own[name])
            if shape and name in shape.unpacked and not bound:
                return self.evaluate(view, at, shape.unpacked[name])
            if name not in parameters and not bound and view.family == "js":
                taken = self._taken_apart(view, at, name, parameters)
                if taken is not None:
                    return taken
            if at == MODULE and scope != MODULE:
                line = 0  # the module has run before its functions are called
            chosen = self._live(bound, line, exact, name in parameters) if bound else []
            if chosen and chosen[0].line == line and chosen[0].value.startswith(f"{name}."):
                # `cart = cart.copy()`: the call on that line uses the earlier value.
                chosen = self._live(bound, line - 1, line - 1, name in parameters) or chosen
            bare = bool(chosen) and not chosen[0].value
            may_hide = bare or (chosen and at != scope)
            if may_hide and self._hidden(view, scope, at, name, declared=bare):
                return None
            if chosen and not (at == MODULE and chosen[0].value == name):
                found = [f for each in chosen for f in self.bound(view, each)]
                if len(chosen) > 1:
                    found = either(unique(found))
                if name in parameters and all(b.last < 0 for b in chosen):
                    found = unique([*found, *self._parameter(view, at, name, parameters)])
                if not found and self._hidden(view, scope, at, name, declared=True):
                    return None  # a branch defines a function of that name
                if found or chosen[0].value == "?":
                    return found
                declared = next((b for b in bound if b.type and b.last <= 0), None)
                if declared is not None and declared not in chosen:
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
                    held = self._parameter(view, at, name, parameters)
                    if not held and self._hidden(view, scope, at, name, declared=True):
                        return None  # `if log is None: def log(): …`
                    return held
                if symbol.parent == MODULE and view.family in MEMBERS_IN_SCOPE:
                    own = self.own_class(view, at)
                    field = self.inherited_field(own, name) if own else []
                    if field:
                        return field
            at = symbol.parent

    @staticmethod
    def _hidden(view: View, scope: int, outer: int, name: str, *, declared: bool) -> bool:
        """Whether a function with this name is nearer than the variable, or is its declaration."""
        at = scope
        while at != MODULE and (at != outer or declared):
            symbol = view.symbol(at)
            if symbol.kind not in OWNERS and f"{symbol.qualified}.{name}" in view.by_qualified:
                return True
            if at == outer:
                break
            at = symbol.parent
        return False

    @staticmethod
    def _live(bound: Sequence[Binding], line: int, exact: int, parameter: bool) -> list[Binding]:
        """The bindings that may be in effect at a line, latest first; line 0 is the end of the
        scope.

        A binding with an end encloses its uses, so it is compared with the exact line. A binding in
        a branch does not replace earlier ones, unless the line is in that branch too.
        """
        live = []
        for each in bound:
            if each.last > 0 and not (each.line <= exact <= each.last):
                continue
            if not line or each.last > 0 or each.last == ANY_TIME or each.line <= line:
                live.append(each)
        if len(live) > 1:
            live.sort(key=lambda b: b.line)
        chosen: list[Binding] = []
        for each in reversed(live):
            chosen.append(each)
            if each.last >= 0 or (line and each.last != ANY_TIME and line <= -each.last):
                break
            if len(chosen) == BRANCHES_MAX:
                break
        if not chosen and not parameter:
            # Bound further down, in a loop or before the scope runs.
            chosen = [b for b in bound if b.last <= 0][:1]
        return chosen

    def _parameter(self, view: View, at: int, name: str, parameters: dict[str, str]) -> list[Found]:
        """What a parameter holds: its declared type, or what calls pass to it."""
        type_ = parameters[name]
        if type_.startswith("="):
            symbol = view.symbol(at)
            line = symbol.span.first_line if view.family == "python" else 0
            found = self.evaluate(view, symbol.parent, type_[1:], line)
            passed = self.passed(view, at, name, list(parameters))
            used = not passed or self._left_out(view, symbol, list(parameters).index(name))
            reason = "default value" if used else EITHER
            usual = [Found(f.thing, f.confidence * 0.9, because(f, reason)) for f in found]
            return unique([*usual, *passed])
        place = list(parameters).index(name)
        if not type_ and not place and (own := self._receiver(view, at)):
            return own
        found = self.declared(view, at, type_) if type_ else self._contextual(view, at, place)
        if found and found[0].thing.kind != "external":
            return found
        return self.passed(view, at, name, list(parameters)) or found

    @staticmethod
    def _left_out(view: View, function: Symbol, place: int) -> bool:
        """Whether a call in the file of a function has no argument for a parameter."""
        names = [function.name]
        if function.kind == "constructor" and function.parent != MODULE:
            names.append(view.symbol(function.parent).name)
        calls = [n for name in names for n in view.calls.get(name, ())[:PASSING_MAX]]
        return any(view.facts.calls[number].arity <= place for number in calls)

    def _receiver(self, view: View, at: int) -> list[Found]:
        """What the first parameter of a Python method holds, whatever its name."""
        symbol = view.symbol(at)
        if view.family != "python" or symbol.parent == MODULE or symbol.kind == "function":
            return []
        if "self" in symbol.signature or "cls" in symbol.signature:
            return []  # `self` is not among the parameters
        if view.symbol(symbol.parent).kind not in OWNERS:
            return []
        made = {m.name for m in view.decorators(symbol)}
        if "staticmethod" in made:
            return []
        kind = "symbol" if "classmethod" in made else "instance"
        return [Found(Thing(kind, view.path, symbol.parent), 0.95, "self")]

    def _taken_apart(
        self, view: View, at: int, name: str, parameters: dict[str, str]
    ) -> list[Found] | None:
        """A name that `function f({task, log: write})` destructures from an argument."""
        for pattern in parameters:
            if pattern[:1] not in ("{", "[") or name not in pattern:
                continue
            place = place_in(pattern, name)
            if place is None:
                continue
            steps, usual = place
            given = self.passed(view, at, pattern, list(parameters))
            for step in steps:
                if step[:1] == ".":
                    given = [f for each in given for f in self.member(each.thing, step[1:])]
                else:
                    given = self.items(self.read(given), step)
            held = self.evaluate(view, view.symbol(at).parent, chain(usual))
            return unique(
                [
                    *(Found(f.thing, f.confidence * 0.9, "default value") for f in held),
                    *(Found(f.thing, f.confidence, because(f, PASSED)) for f in given),
                ]
            )
        return None

    def _contextual(self, view: View, at: int, place: int) -> list[Found]:
        """The value of a parameter, from the declared type of what the function is assigned to.

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

    def passed(self, view: View, at: int, name: str, parameters: list[str]) -> list[Found]:
        """The values that calls anywhere in the program pass to a parameter."""
        symbol = view.symbol(at)
        functions = {Thing("symbol", view.path, at)}
        if symbol.kind == "constructor" and symbol.parent != MODULE:
            functions.add(Thing("symbol", view.path, symbol.parent))
        if symbol.name == "__call__" and symbol.parent != MODULE:
            functions.add(Thing("instance", view.path, symbol.parent))
        key = (view.path, -7, f"{name}:{at}", 0)
        known = self.memo.get(key)
        if known is not None:
            return known
        kinds = self.shape(view, at).spread
        spread = kinds.get(name, "*" if name == "arguments" else "")
        before = parameters[: parameters.index(name)]
        by_name = any(kinds.get(each) == "*" for each in before)
        sites = self.sites.get((view.path, at, name))
        if sites is None:
            sites = self._sites(view, at, name, parameters, spread, by_name)
            self.sites[view.path, at, name] = sites
        if not sites or self.blocked(key):
            return []
        found: list[Found] = []
        cuts = self.cuts
        self.busy.add(key)
        try:
            for path, number, value in sites:
                site = self.program.files[path]
                call = site.facts.calls[number]
                chain = call.receiver
                if call.name != VALUE:
                    chain = f"{call.receiver}.{call.name}" if call.receiver else call.name
                reached = self.evaluate(site, call.caller, chain, call.line)
                if not any(f.thing in functions for f in reached):
                    continue
                if self._on_class(site, call, symbol):
                    value = given(without_first(call.passed), name, parameters, spread, by_name)
                if call.kind == "decorator" and (made := self._made_below(site, call, value)):
                    found += made
                    continue
                found += self.evaluate(site, call.caller, value, call.line) if value else []
        finally:
            self.busy.discard(key)
        # An external value does not tell what else is passed.
        inside = [f for f in found if f.thing.kind != "external"]
        passed = unique(
            Found(f.thing, f.confidence * 0.9, CHANGED if f.reason == CHANGED else PASSED)
            for f in inside
        )
        if cuts == self.cuts:
            self.memo[key] = passed
        return passed

    def _made_below(self, site: View, call: Call, name: str) -> list[Found]:
        """What the next decorator below one makes of the function, if that is known."""
        rows = site.decorated.get((call.caller, name), [])
        place = bisect_right(rows, call.start, key=attrgetter("start"))
        around = f"{site.symbol(call.caller).qualified}." if call.caller != MODULE else ""
        same = site.by_qualified.get(around + name, [])
        at = bisect_right(same, call.start, key=lambda i: site.symbol(i).span.start) - 1
        if place == len(rows) or at < 0 or rows[place].start >= site.symbol(same[at]).span.end:
            return []
        makers = [f for f in self.decorator(site, rows[place]) if f.thing.kind == "symbol"]
        results = [t for f in makers if not self.is_type(f.thing) for t in self.result(f.thing)]
        return [Found(t, 0.9, "decorated") for t in results if t.kind == "symbol"]

    def _on_class(self, site: View, call: Call, method: Symbol) -> bool:
        """Whether a call names a method by its class, and passes `self`: `Base.__init__(self)`."""
        if site.family != "python" or call.name != method.name or method.parent == MODULE:
            return False
        if not call.receiver or not call.passed or not call.passed[0].startswith("0="):
            return False
        owner = self.evaluate(site, call.caller, call.receiver, call.line)
        return any(self.is_type(f.thing) for f in owner) and "self" in method.signature

    def _sites(
        self, view: View, at: int, name: str, parameters: list[str], spread: str, by_name: bool
    ) -> list[tuple[str, int, str]]:
        """The calls that may pass something to a parameter, with the passed expressions."""
        symbol = view.symbol(at)
        around = view.symbol(symbol.parent) if symbol.parent != MODULE else None
        names = {symbol.name}
        if around is not None and symbol.kind == "constructor":
            names.add(around.name)
        inside = around.name if around is not None and around.kind in CALLABLE else ""
        if around is not None and symbol.name == "__call__":  # `Tag("b")(function)`
            inside = around.name
        if inside:  # `decorate(3)(function)`
            names.add(VALUE)
        sites: dict[tuple[str, int, int], str] = {}
        for called in sorted(names):
            passing = self._passing(view.family, called)
            if passing is None:
                return []
            for path, number, call, imported in passing:
                # A called value may be the result of the function, perhaps under another name.
                if (
                    called == VALUE
                    and f"{inside}()" not in call.receiver
                    and inside not in imported
                ):
                    continue
                if value := given(call.passed, name, parameters, spread, by_name):
                    sites[path, call.start, number] = value
                    if len(sites) > PASSING_MAX:
                        return []
        return [(path, number, value) for (path, _, number), value in sorted(sites.items())]

    def _passing(self, family: str, called: str) -> list[PassingCall] | None:
        """The calls of a name that pass a value; None if they are too many."""
        key = family, called
        if key in self.passers:
            return self.passers[key]
        most = VALUES_PASSERS_MAX if called == VALUE else PASSERS_MAX
        calls = []
        for path, number in islice(self.program.passing(family, called), most + 1):
            view = self.program.files[path]
            call = view.facts.calls[number]
            items = view.taken.get(call.receiver.removesuffix("()"), ()) if called == VALUE else ()
            calls.append(PassingCall(path, number, call, frozenset(item.name for item in items)))
        if len(self.passers) >= CACHED_MAX:
            self.passers.clear()
        self.passers[key] = calls if len(calls) <= most else None
        return self.passers[key]

    def is_local(self, view: View, scope: int, name: str) -> bool:
        """Whether an enclosing function binds the name, as a variable or a parameter."""
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
