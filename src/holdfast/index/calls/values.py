"""Types, variables and results: the class a type names, what a variable holds or a call returns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.index.calls.lookup import (
    CALLABLE,
    MEMBERS_IN_SCOPE,
    STEPS_MAX,
    Found,
    Lookup,
    instance_of,
    unique,
)
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.calls.steps import parse as steps_of
from holdfast.index.calls.type_texts import (
    ITERATING,
    alternatives,
    callback_parameters,
    item,
    written,
)
from holdfast.index.facts.chains import type_name
from holdfast.index.facts.model import MODULE, RESULT, SAME_SCOPE, YIELD, Binding, Symbol

PASSING_MAX = 64
"""Beyond so many calls that pass functions, what a parameter holds is not known."""
RESULTS_MAX = 6


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
        """An instance of the declared class, what a container holds, or something external."""
        if view.family not in ("python", "js"):
            return self._one_declared(view, scope, text)
        found: list[Found] = []
        for one in alternatives(text):
            if one.kind == "class":
                found += self._one_declared(view, scope, one.name)
            elif one.kind == "itself":
                found += self.type(view, scope, one.name)
            else:
                thing = Thing("container", view.path, scope, written(one))
                found.append(Found(thing, 0.95, "declared type"))
        return unique(found) if len(found) > 1 else found

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
            if key in self.busy or len(self.busy) > STEPS_MAX:
                return []
            self.busy.add(key)
            try:
                held = self.read([Found(outside[0], 0.95, "declared type")])
            finally:
                self.busy.discard(key)
            return [
                Found(instance_of(f.thing), f.confidence, "declared type")
                for f in held
                if self._is_type(f.thing)
            ]
        return self._bound_of(view, scope, head) if head and not outside else []

    def _without_alias(self, thing: Thing) -> list[Found]:
        """The instance of a class; of `type A = B`, what B is."""
        symbol = self.program.symbol(thing)
        view = self.program.files[thing.path]
        if symbol.kind == "type" and view.family == "js":
            _, _, text = symbol.signature.partition("=")
            key = (thing.path, -6, str(thing.at), 0)
            if text and key not in self.busy and len(self.busy) <= STEPS_MAX:
                self.busy.add(key)
                try:
                    found = self.declared(view, symbol.parent, text)
                finally:
                    self.busy.discard(key)
                if found:
                    return found
        return [Found(instance_of(thing), 1.0, "declared type")]

    def _bound_of(self, view: View, scope: int, name: str) -> list[Found]:
        """What a type variable of the enclosing function or class extends."""
        at = scope
        while at != MODULE and name.isidentifier():
            symbol = view.symbol(at)
            sign = "extends" if view.family == "js" else ":"
            found = re.search(
                rf"[<\[,]\s*(?:const\s+)?{name}\s*{sign}\s*([\w.]+)", symbol.signature
            )
            if found and found.group(1) != name:
                return self._one_declared(view, symbol.parent, found.group(1))
            at = symbol.parent
        return []

    def _is_type(self, thing: Thing) -> bool:
        return thing.kind == "symbol" and self.program.symbol(thing).kind in OWNERS | {"type"}

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
            line = binding.line - 1 if binding.kind != "field" else binding.line
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
        at = scope
        while True:
            symbol = view.symbol(at) if at != MODULE else None
            bound: Sequence[Binding] = view.bindings.get((at, name), ())
            if symbol is not None and bound and symbol.kind not in OWNERS:
                bound = [b for b in bound if b.kind != "field"]  # of a function used as a class
            inside = symbol is not None and symbol.kind in CALLABLE
            shape = self.shape(view, at) if inside else None
            parameters = shape.parameters if shape else {}
            if shape and name in shape.own:
                return self.declared(view, at, shape.own[name])
            if at == MODULE and scope != MODULE:
                line = 0  # the module has run before its functions do
            chosen = self._live(bound, line, name in parameters)
            if chosen is not None and chosen.line == line and chosen.value.startswith(f"{name}."):
                # `cart = cart.copy()`: what is called on that line is the earlier value.
                chosen = self._live(bound, line - 1, name in parameters) or chosen
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
    def _live(bound: Sequence[Binding], line: int, parameter: bool) -> Binding | None:
        """The binding that holds at a line; 0 stands for the end of the scope."""
        chosen = None
        for each in bound:
            if each.last and not (each.line <= line <= each.last):
                continue
            if (not line or each.line <= line) and (chosen is None or chosen.line <= each.line):
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
        else:
            found = self.declared(view, at, type_) if type_ else []
        if found and found[0].thing.kind != "external":
            return found
        return self._passed(view, at, name, list(parameters)) or found

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

    def read(self, found: list[Found]) -> list[Found]:
        """What is read where a variable or a property is named."""
        if not any(f.thing.kind == "symbol" for f in found):
            return found
        read: list[Found] = []
        for each in found:
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
        """What a property gives; of a getter and a setter, the getter."""
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
            text = thing.name.partition("\0")[2]
            view = self.program.files[thing.path]
            return [f.thing for f in self.declared(view, thing.at, text)] if text else []
        if thing.kind not in ("symbol", "instance"):
            return []
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        if symbol.kind in OWNERS:
            if thing.kind == "instance" and view.family == "python":
                called = self.member(thing, "__call__")
                return [t for f in called for t in self.result(f.thing)]
            return [instance_of(thing)]
        if symbol.kind in CALLABLE:
            return self._returned(view, thing, symbol)
        if symbol.kind in ("variable", "constant"):
            held = self.read([Found(thing, 1.0, "member")])
            return [t for f in held if f.thing != thing for t in self.result(f.thing)]
        return []

    def _returned(self, view: View, thing: Thing, symbol: Symbol) -> list[Thing]:
        """What a function returns: by its signature, else by its `return` and `yield`."""
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
            text = "|".join(b.value for b in yields[:RESULTS_MAX] if b.value)
            return [Thing("literal", view.path, thing.at, f"{yields[-1].line}\0[{text}]")]
        key = (view.path, -8, str(thing.at), 0)
        results = view.bindings.get((thing.at, RESULT), ())
        found: list[Thing] = []
        if results and key not in self.busy and len(self.busy) <= STEPS_MAX:
            self.busy.add(key)
            try:
                for each in results[:RESULTS_MAX]:
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
        if not found and not results and view.family == "js" and symbol.name[:1].isupper():
            return [Thing("instance", view.path, thing.at)]  # a function used as a constructor
        return list(dict.fromkeys(found))

    def items(self, found: list[Found], key: str) -> list[Found]:
        """The elements of things: by iteration ("*"), by `with`, or by a key."""
        return unique(
            Found(each.thing, each.confidence * before.confidence * 0.97, "element")
            for before in found
            for each in self._item(before.thing, key)
        )

    def _item(self, thing: Thing, key: str) -> list[Found]:
        if thing.kind == "external":
            return [Found(Thing("external", name=f"{thing.name}[]"), 0.9, "external")]
        if thing.kind == "container":
            one = alternatives(thing.name)[0]
            view = self.program.files[thing.path]
            return self.declared(view, thing.at, item(one, key))
        if thing.kind == "literal":
            return self._literal_item(thing, key)
        if thing.kind == "symbol" and key.startswith("'"):
            return self.member(thing, key.strip("'"))  # an object with members
        if thing.kind == "symbol":
            return [Found(thing, 0.97, "element")] if key in ("", "with") else []
        if thing.kind != "instance" or self.program.files[thing.path].family != "python":
            return []
        names = {"*": ("__iter__", "__aiter__"), "with": ("__enter__", "__aenter__")}
        found = [
            Found(result, f.confidence, "element")
            for name in names.get(key, ("__getitem__",))
            for f in self.member(thing, name)
            for result in self.result(f.thing)
        ]
        if key == "with":
            return found or [Found(thing, 0.9, "element")]
        if key != "*":
            return found
        elements: list[Found] = []
        for each in found:
            if each.thing.kind == "instance":
                elements += [
                    Found(result, f.confidence, "element")
                    for name in ("__next__", "__anext__")
                    for f in self.member(each.thing, name)
                    for result in self.result(f.thing)
                ]
            else:
                elements += self._item(each.thing, key)
        return elements

    def given(self, found: list[Found], places: str) -> list[Found]:
        """What functions give their callbacks; `places` are an argument and its parameter."""
        argument, _, parameter = places.partition("^")
        given: list[Found] = []
        for each in found:
            thing = each.thing
            if thing.kind == "method":
                given += self._given_by_container(thing, parameter)
            elif thing.kind == "symbol":
                symbol = self.program.symbol(thing)
                makers = self.member(thing, "constructor") if symbol.kind in OWNERS else [each]
                for maker in makers[:1]:
                    if maker.thing.kind == "symbol":
                        text = self._callback_type(maker.thing, int(argument), int(parameter))
                        view = self.program.files[maker.thing.path]
                        given += self.declared(view, maker.thing.at, text) if text else []
        return [Found(f.thing, f.confidence * 0.95, "given to a callback") for f in given]

    def _given_by_container(self, thing: Thing, parameter: str) -> list[Found]:
        name, _, held = thing.name.partition("\0")
        if name not in ITERATING or parameter not in ("0", "1") or not held:
            return []
        if name in ("reduce", "reduceRight") and parameter == "0":
            return []
        if parameter == "1" and name not in ("reduce", "reduceRight", "sort", "toSorted"):
            return []
        view = self.program.files[thing.path]
        return [
            f for one in alternatives(held) for f in self.declared(view, thing.at, item(one, ""))
        ]

    def _callback_type(self, thing: Thing, argument: int, parameter: int) -> str:
        """The declared type of a parameter of a function that is a parameter."""
        view = self.program.files[thing.path]
        for index in view.by_qualified.get(view.symbol(thing.at).qualified, ())[:4]:
            types = list(self.shape(view, index).parameters.values())
            if argument < len(types):
                found = callback_parameters(types[argument])
                if parameter < len(found):
                    return found[parameter]
        return ""

    def _literal_item(self, thing: Thing, key: str) -> list[Found]:
        line, _, text = thing.name.partition("\0")
        steps = steps_of(text)
        if not steps:
            return []
        first = steps[0][0]
        parts: Sequence[str]
        if first.kind == "list":
            at = int(key) if key.isdecimal() else -1
            parts = first.parts if at < 0 else first.parts[at : at + 1]
        elif key == "*":
            return []  # the keys of a dictionary
        else:
            named = first.parts[1::2]
            wanted = key.strip("'")
            by_key = [v for k, v in zip(first.parts[::2], named, strict=False) if k == wanted]
            parts = by_key if key.startswith("'") and by_key else named
        view = self.program.files[thing.path]
        return [f for p in parts for f in self.evaluate(view, thing.at, p, int(line))]

    def literal_member(self, thing: Thing, key: str) -> list[Found]:
        """A member of an object that is written out; of a list or a dictionary, its methods."""
        line, _, text = thing.name.partition("\0")
        view = self.program.files[thing.path]
        if text.startswith("{") and view.family != "python":
            first = steps_of(text)[0][0]
            for name, value in zip(first.parts[::2], first.parts[1::2], strict=False):
                if name == key:
                    found = self.evaluate(view, thing.at, value, int(line))
                    return [Found(f.thing, f.confidence * 0.97, "object literal") for f in found]
            return []
        return []
