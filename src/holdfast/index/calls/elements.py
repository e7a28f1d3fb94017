"""Elements: what containers and literals hold, and what is passed to callbacks."""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.index.calls.lookup import (
    ANY,
    CHANGED,
    EACH,
    EITHER,
    Found,
    Lookup,
    because,
    either,
    unique,
)
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.calls.steps import Step
from holdfast.index.calls.steps import parse as steps_of
from holdfast.index.calls.type_texts import (
    ITERATING,
    OTHER_RESULTS,
    alternatives,
    callback_parameters,
    container,
    instantiated,
    item,
    substituted,
)

MEMBERS_MAX = 8
"""With more members than this, an element by an unknown key is unknown."""


_ITERATORS = ("[Symbol.iterator]", "[Symbol.asyncIterator]")
_MOVED = "\0[?]"
"""The end of a literal that says that the elements of a container were moved or replaced."""


class _Entry(NamedTuple):
    """One element of a literal, and the place where its value is evaluated."""

    view: View
    scope: int
    line: int
    key: str
    value: str
    spread: bool = False


def _slice(key: str) -> slice:
    first, _, last = key.partition(":")
    return slice(int(first) if first else None, int(last) if last else None)


class Elements(Lookup):
    """Lookups of elements, and of the arguments of callbacks."""

    def items(self, things: list[Found], key: str) -> list[Found]:
        """The elements of things: by iteration ("*"), by `with`, or by a key."""
        several = EITHER if key else ANY
        first = key == "next"
        whole = key == "all"
        key = "" if key in ("_", "all") else "*" if first else key
        held = [(before, each) for before in things for each in self._item(before.thing, key)]
        items = unique(
            Found(
                each.thing,
                each.confidence * before.confidence * 0.97,
                because(each, because(before, "element")),
            )
            for before, each in held
        )
        inside = [pair for pair in held if pair[1].thing.kind != "external"]
        all_met = all(b.reason == EACH and e.reason == EACH for b, e in inside)
        if key == "*" and not first:
            return [f._replace(reason=EACH) if f.thing.kind == "literal" else f for f in items]
        if whole:  # `Object.values(table)`: each of them
            return [f._replace(reason=EACH) if f.reason in (ANY, "element") else f for f in items]
        if key in ("*", "with"):
            return either(items) if first else items
        if key and len(things) > 1 and all(f.reason == EACH for f in things):
            return items  # `for name, step in pairs`: one of each pair
        if key and all_met:  # `for (const [name, step] of Object.entries(table))`
            return [f._replace(reason=EACH) for f in items]
        if key and any(f.thing.kind == "literal" and f.thing.name.endswith(_MOVED) for f in things):
            return [f._replace(reason=CHANGED) for f in items]
        if several == EITHER and all(f.reason == EACH for f in items):
            return items
        return either(items, several)

    def _item(self, thing: Thing, key: str) -> list[Found]:
        if thing.kind == "external":
            return [Found(Thing("external", name=f"{thing.name}[]"), 0.9, "external")]
        if ":" in key and not key.startswith("'") and thing.kind != "literal":
            return [Found(thing, 0.97, "element")]
        if thing.kind == "container":
            one = container(thing.name)
            view = self.program.files[thing.path]
            return self.declared(view, thing.at, item(one, key))
        if thing.kind == "literal":
            return self._literal_item(thing, key)
        if thing.kind == "symbol" and key.startswith("'"):
            known = self.member(thing, key.strip("'"))  # an object with members
            return known or self._computed_members(thing)
        if key == "" and thing.kind in ("symbol", "instance") and self._is_script_object(thing):
            return self._computed_members(thing, "")
        if thing.kind == "symbol" and key == "*" and self.is_enumeration(thing):
            return [Found(thing._replace(kind="instance"), 0.97, "element")]
        if thing.kind == "symbol":
            held = self.program.symbol(thing).kind in ("variable", "constant")
            kept = key == "with" or (key == "" and not held)
            return [Found(thing, 0.97, "element")] if kept else []
        if thing.kind != "instance":
            return []
        if self.program.files[thing.path].family != "python":
            if key == "*":
                return self._iterated(thing)
            return self.member(thing, key.strip("'")) if key.startswith("'") else []
        names = {"*": ("__iter__", "__aiter__"), "with": ("__enter__", "__aenter__")}
        found = [
            Found(self.as_owner(f.thing, result, thing), f.confidence, "element")
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

    def _iterated(self, thing: Thing) -> list[Found]:
        """What iterating over an instance of a script's class gives: `*[Symbol.iterator]() {…}`."""
        found: list[Found] = []
        for name in _ITERATORS:
            for made in self.member(thing, name):
                for each in self.result(made.thing):
                    if each.kind == "literal":
                        found += self._item(each, "*")
                    elif each != thing:
                        steps = [t for f in self.member(each, "next") for t in self.result(f.thing)]
                        found += [f for t in steps for f in self.member(t, "value")]
        return found

    def _is_script_object(self, thing: Thing) -> bool:
        view = self.program.files[thing.path]
        return view.family == "js" and view.symbol(thing.at).kind == "object"

    def _computed_members(self, thing: Thing, start: str = "[") -> list[Found]:
        """The members of an object of a script whose keys are computed: `[name]: f`; cached."""
        if not self._is_script_object(thing):
            return []
        key, cuts = (thing, f"{start}]"), self.cuts
        known = self.members.get(key)
        if known is None:
            known = self._all_members(thing, start)
            if cuts == self.cuts:  # an incomplete result is not cached
                self.members[key] = known
        return known

    def _all_members(self, thing: Thing, start: str = "") -> list[Found]:
        """What an object of a script holds under any key, or any that is computed: `[name]: f`."""
        view = self.program.files[thing.path]
        own = [
            Found(Thing("symbol", thing.path, index), 0.9, "element")
            for index, symbol in enumerate(view.facts.symbols)
            if symbol.parent == thing.at
            and symbol.kind in ("method", "function", "class")
            and symbol.name.startswith(start)
        ]
        fields = [n for scope, n in view.bindings if scope == thing.at and n.startswith(start)]
        held = [f for name in fields[:MEMBERS_MAX] for f in self.field(thing, name)]
        found = unique([*own, *held])
        return found if len(found) <= MEMBERS_MAX else []

    def given(
        self, things: list[Found], places: str, view: View, scope: int, arguments: str
    ) -> list[Found]:
        """What functions pass to callbacks; `places` is an argument and a parameter of it."""
        argument, _, parameter = places.partition("^")
        if argument == "f":
            return self._of_function_types(things, int(parameter))
        if argument == "p":
            return [f for each in things for f in self._of_parameter(each.thing, int(parameter))]
        given: list[Found] = []
        for each in things:
            thing = each.thing
            if thing.kind == "method":
                given += self._given_by_container(thing, parameter)
            elif thing.kind == "bound" and parameter in ("0", "1"):
                held = thing.name.removesuffix("\0")
                if held.endswith(")[]"):  # `find`: what it returns is an element
                    held = held.replace("\0(", "\0", 1)[:-3]
                whole = Found(
                    thing._replace(kind="literal", name=held), each.confidence, each.reason
                )
                mapped = held.partition("\0")[2][:1] == "{"
                given += self.items([whole], "" if mapped and parameter == "0" else "*")
            elif thing.kind == "symbol":
                symbol = self.program.symbol(thing)
                makers = self.member(thing, "constructor") if symbol.kind in OWNERS else [each]
                for maker in makers[:1]:
                    if maker.thing.kind == "symbol":
                        text = self._callback_type(maker.thing, int(argument), int(parameter))
                        if arguments and text:
                            known = instantiated(self.program.symbol(thing).signature, arguments)
                            if (exact := substituted(text, known)) != text:
                                given += self.declared(view, scope, exact)
                                continue
                        there = self.program.files[maker.thing.path]
                        if text:
                            given += self.declared(there, maker.thing.at, text)
                        else:
                            given += self._called_with(maker.thing, int(argument), int(parameter))
        return [Found(f.thing, f.confidence * 0.95, "given to a callback") for f in given]

    def _called_with(self, thing: Thing, argument: int, parameter: int) -> list[Found]:
        """What a function passes to the callback it takes: `function f(done) { done(null, x) }`."""
        view = self.program.files[thing.path]
        names = list(self.shape(view, thing.at).parameters)
        if argument >= len(names):
            return []
        found: list[Found] = []
        for call in view.called_inside(thing.at, names[argument]):
            value = next((p[2:] for p in call.passed if p.startswith(f"{parameter}=")), "")
            found += self.evaluate(view, call.caller, value, call.line) if value else []
        return found

    def _of_parameter(self, thing: Thing, place: int) -> list[Found]:
        """An instance of the type that a function or a constructor declares for a parameter."""
        if thing.kind != "symbol":
            return []
        if self.program.symbol(thing).kind in OWNERS:
            makers = [f.thing for f in self.member(thing, "constructor")[:1]]
            return [f for t in makers if t != thing for f in self._of_parameter(t, place)]
        view = self.program.files[thing.path]
        types = list(self.shape(view, thing.at).parameters.values())
        text = types[place] if place < len(types) else ""
        return self.declared(view, thing.at, text) if text and text[:1] != "=" else []

    def _of_function_types(self, things: list[Found], place: int) -> list[Found]:
        """What a function type, named by an alias, passes to its parameter."""
        given: list[Found] = []
        for each in things:
            if each.thing.kind == "instance" and self.program.symbol(each.thing).kind == "type":
                view = self.program.files[each.thing.path]
                text = view.symbol(each.thing.at).signature.partition("=")[2]
                given += self.taken(view, each.thing.at, text, place)
        return given

    def taken(self, view: View, scope: int, text: str, place: int) -> list[Found]:
        """What a function of a declared type receives in the parameter at `place`."""
        if "=>" in text:
            types = callback_parameters(text)
            found = self.declared(view, scope, types[place]) if place < len(types) else []
        else:
            found = self._of_function_types(self.declared(view, scope, text), place)
        return [Found(f.thing, f.confidence * 0.97, "declared type") for f in found]

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
        """The declared type of a parameter of the callback that `thing` takes as an argument."""
        view = self.program.files[thing.path]
        for index in view.by_qualified.get(view.symbol(thing.at).qualified, ())[:4]:
            types = list(self.shape(view, index).parameters.values())
            if argument < len(types):
                text = types[argument]
                found = callback_parameters(text) or self._of_alias(view, text)
                if parameter < len(found):
                    return found[parameter]
        return ""

    def _of_alias(self, view: View, text: str) -> tuple[str, ...]:
        """The parameters of a function type with a name: `Handler = Callable[[Cart], None]`."""
        if view.family != "python" or not text.isidentifier():
            return ()
        for index in view.by_qualified.get(text, ()):
            return callback_parameters(view.symbol(index).signature.partition("=")[2])
        return ()

    def _literal_item(self, thing: Thing, key: str) -> list[Found]:
        line, _, text = thing.name.partition("\0")
        steps = steps_of(text)
        if not steps:
            return []
        first = steps[0][0]
        if first.kind != "list" and key == "*":
            if self.program.files[thing.path].family == "python":
                return []  # the keys of a dictionary
            pair = thing._replace(name=f"{line}\0[?,({text})[all]]")  # of a `Map`
            return [Found(pair, 0.97, "element")] if len(text) <= LONGEST else []
        if ":" in key and not key.startswith("'"):
            plain = first.kind == "list" and not any(p[:1] == "*" for p in first.parts)
            kept = ",".join(first.parts[_slice(key)]) if plain else text[1:-1]
            whole = thing._replace(name=f"{line}\0[{kept}]")
            return [Found(whole, 0.97, "element")] if kept else []
        entries = self._entries(thing, first, int(line), 0)
        if first.kind == "list":
            place = key.lstrip("-")
            exact = place.isdecimal() and not any(e.spread for e in entries)
            if exact:
                fits = -len(entries) <= int(key) < len(entries)
                entries = [entries[int(key)]] if fits else []
        elif key.startswith("'"):
            named = [e for e in entries if e.key == key.strip("'")]
            entries = named[-1:] or [e for e in entries if e.key in ("?", "") or e.spread]
        found = [f for e in entries for f in self.evaluate(e.view, e.scope, e.value, e.line)]
        return [f for f in found if f.thing.kind != "external" or "()" not in f.thing.name]

    def _entries(self, thing: Thing, first: Step, line: int, depth: int) -> list[_Entry]:
        """The elements of a list or an object, including those of spread values."""
        view = self.program.files[thing.path]
        if first.kind == "list":
            pairs = [("*", p[1:]) if p[:1] == "*" else ("", p) for p in first.parts]
        else:
            pairs = list(zip(first.parts[::2], first.parts[1::2], strict=False))
        entries: list[_Entry] = []
        for key, value in pairs:
            if key != "*":
                entries.append(_Entry(view, thing.at, line, key, value))
                continue
            for each in self.evaluate(view, thing.at, value, line) if depth < 3 else ():
                below, _, text = each.thing.name.partition("\0")
                steps = steps_of(text) if each.thing.kind == "literal" else ()
                if steps and steps[0][0].kind == first.kind:
                    entries += self._entries(each.thing, steps[0][0], int(below), depth + 1)
                    continue
                item = f"({value})[*]" if first.kind == "list" else f"({value})[]"
                entries.append(_Entry(view, thing.at, line, "", item, spread=True))
        return entries

    def literal_member(self, thing: Thing, key: str) -> list[Found]:
        """A member of an object literal, or a method of a list or dictionary literal."""
        line, _, text = thing.name.partition("\0")
        view = self.program.files[thing.path]
        steps = steps_of(text)
        if not steps:
            return []
        first = steps[0][0]
        own = key in first.parts[::2] or key not in ("get", "values", "forEach")
        if first.kind == "map" and view.family != "python" and own:
            entries = self._entries(thing, first, int(line), 0)
            later: list[Found] = []
            for each in reversed(entries):
                if each.spread and len(later) < MEMBERS_MAX:
                    inner = f"{each.value.removesuffix('[]')}.{key}"
                    later += self.evaluate(each.view, each.scope, inner, each.line)
                elif each.key == key:
                    found = [*self.evaluate(each.view, each.scope, each.value, each.line), *later]
                    found = either(unique(found)) if later else found
                    reason = "object literal"
                    return [Found(f.thing, f.confidence * 0.97, because(f, reason)) for f in found]
            return later
        result = _method_result(first, text, key)
        if key in OTHER_RESULTS and result:
            return [
                Found(thing._replace(kind="bound", name=f"{line}\0{result}\0"), 0.97, "element")
            ]
        made = thing._replace(kind="bound", name=f"{line}\0{result}")
        return [Found(made, 0.97, "element")] if result else []


_REORDERING = frozenset({"filter", "sort", "toSorted", "reverse", "toReversed", "slice"})
"""Methods of a list whose result has its elements at other places."""


_MIXED = re.compile(r"\[\(\[[^()]*\]\)\[\*\]\]")
"""What they give: a list with any element in its one place. Once more, it stays the same."""
LONGEST = 800
"""Methods of a literal with a longer expression are not followed: each may add to it."""


def _method_result(first: Step, text: str, name: str) -> str:
    """The expression of what a method of a list or dictionary literal returns."""
    values = first.parts[1::2] if first.kind == "map" else first.parts
    if not values or len(values) > 12 or len(text) > LONGEST:
        return ""
    if first.kind == "list" and name == "entries":
        return f"[[?,({text})[*]]]"
    if first.kind == "list" and name == "flat":
        return f"[*({text})[*]]"
    if first.kind == "list" and name in ("find", "findLast"):
        return f"({text})[]"
    if first.kind == "list" and name == "next":
        return f"{{value:({text})[next]}}"
    if first.kind == "list" and name in _REORDERING:
        return text if _MIXED.fullmatch(text) else f"[({text})[*]]"
    if name in ITERATING or name in ("copy", "concat", "__iter__"):
        return text
    if first.kind == "map":
        if name == "values":
            return f"[{','.join(values)}]"
        if name == "items":
            return f"[{','.join(f'[?,{v}]' for v in values)}]"
        return f"({text})[]" if name in ("get", "pop", "setdefault") else ""
    if name == "at":
        return f"({text})[_]"
    return f"({text})[]" if name in ("pop", "shift", "popleft") else ""
