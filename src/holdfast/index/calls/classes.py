"""Classes of a program: their fields, base classes, and members defined elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.index.calls.lookup import (
    CHANGED,
    Found,
    Lookup,
    because,
    either,
    symbol_at,
    unique,
)
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.facts.model import ANY_TIME, CLASS, MODULE, RESULT

GATHERED_MAX = 8
"""Maximum nesting of lookups of members declared outside their class."""
BELOW_MAX = 64
CHECKED_MAX = 256
"""How many classes are looked at to find those below one."""
FIELDS_MAX = 6
"""How many assignments of a field are followed: it may hold any of their values."""
ABOVE_MAX = 64
ANCESTORS_MAX = 2_000
"""With more ancestors than this, unless they were asked for before, a class has none."""
ORDERS_MAX = 8
"""How many orders of subclasses are looked at for what `super()` means."""
FIRST, LATER = 2, 1
_NO_MEMBERS = frozenset({"object", "ABC", "abc.ABC", "Protocol", "typing.Protocol", "Generic",
                         "typing.Generic"})  # fmt: skip
"""Classes of the standard library that pass a call of `super()` on."""
_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_KNOWN = frozenset({"symbol", "instance", "container", "literal"})


def _merged(rows: list[list[Thing]]) -> list[Thing]:
    """Merge rows of classes into one, keeping the order of each row; at most `ABOVE_MAX`."""
    rows = [row for row in rows if row]
    at = [0] * len(rows)
    tails = Counter(each for row in rows for each in row[1:])
    order: dict[Thing, None] = {}
    while len(order) < ABOVE_MAX:
        heads = [row[place] for row, place in zip(rows, at, strict=True) if place < len(row)]
        if not heads:
            break
        order[next((head for head in heads if not tails[head]), heads[0])] = None
        for number, row in enumerate(rows):
            while at[number] < len(row) and row[at[number]] in order:
                at[number] += 1
                if at[number] < len(row):
                    tails[row[at[number]]] -= 1
    return list(order)


class Classes(Lookup):
    """Lookups of the enclosing class and of base classes."""

    def field(self, thing: Thing, name: str) -> list[Found]:
        """What a field of a class holds, from its declared type or its assignments."""
        view = self.program.files[thing.path]
        bindings = view.bindings.get((thing.at, name), [])
        if len(bindings) > 1:  # a declared type comes before values
            bindings = sorted(bindings, key=lambda b: not b.type)
        found: list[Found] = []
        known_type = thing.at not in view.record_fields
        for binding in bindings[:FIELDS_MAX]:
            held = self.bound(view, binding)
            found += [Found(f.thing, f.confidence * 0.96, because(f, "field type")) for f in held]
            if held and (binding.type or view.family not in ("python", "js")):
                break
        if bindings and name in (fields := view.record_fields.get(thing.at, ())):
            known = [f for f in found if f.thing.kind in _KNOWN]
            if not known or bindings[0].value:  # `Step(run)` of a data class
                passed = self.passed(view, thing.at, name, list(fields))
                found = either(unique([*known, *passed])) or found
        outside: list[Found] = []
        if name in view.set_outside and not (bindings and bindings[0].type and known_type):
            outside = self._set_outside(view, thing, name)
            found += outside
        found = unique(found) if len(found) > 1 else found
        if outside or (len(bindings) > 1 and not bindings[0].type):
            found = either(found)
            if any(b.value == "?" and b.last == ANY_TIME for b in bindings):
                found = [f._replace(reason=CHANGED) for f in found]
        if not view.grown or any(f.thing.kind == "container" for f in found):
            return found  # a declared type says what elements there are
        return [*found, *self.grown(view, thing.at, name)]

    def _set_outside(self, view: View, thing: Thing, name: str) -> list[Found]:
        """What is assigned to a field of an instance, not by its class: `wolf.mind = Hunter()`."""
        found: list[Found] = []
        start = Thing("symbol", thing.path, thing.at)
        for each in view.set_outside[name][:FIELDS_MAX]:
            key = (view.path, -10, f"{each.line}:{each.name}", 0)
            if self.blocked(key):
                continue
            self.busy.add(key)
            try:
                owners = self.evaluate(view, each.scope, each.name.rpartition(".")[0], each.line)
                if any(f.thing.kind == "instance" and start in self.in_order(f.thing)
                       for f in owners):  # fmt: skip
                    held = self.bound(view, each)
                    found += [f._replace(reason=because(f, "field type")) for f in held]
            finally:
                self.busy.discard(key)
        return found

    def bases(self, thing: Thing) -> list[Thing]:
        """The known base classes of a class."""
        if thing.kind not in ("symbol", "instance"):
            return []
        known = self.above.get((thing.path, thing.at))
        if known is not None:
            return known
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        key = (view.path, thing.at, "<bases>", 0)
        if self.blocked(key):
            return []
        alone = not self.busy
        self.busy.add(key)
        found: list[Thing] = []
        try:
            scope = thing.at if symbol.kind == "function" else symbol.parent
            for base in view.bases_of(thing.at):
                above = self._named_base(view, scope, base)
                found.extend(t for t in above if t != Thing("symbol", thing.path, thing.at))
            for path, child, text in self._bases_apart(view.family, view.full(thing.at)):
                if (path, child) != (view.path, symbol.qualified):
                    other = self.program.files[path]
                    found.extend(f.thing for f in self.type(other, MODULE, text))
        finally:
            self.busy.discard(key)
        if alone:
            self.above[thing.path, thing.at] = found
        return found

    def _named_base(self, view: View, scope: int, base: str) -> list[Thing]:
        """The known classes that a class statement means by the name of a base."""
        above = [each.thing for each in self.type(view, scope, base)]
        if not above and view.family in ("python", "js") and scope != MODULE:
            held = self.evaluate(view, scope, base)  # a parameter
            above = [f.thing for f in held if self.is_type(f.thing)]
        if not above and view.family == "js":  # `extends Priced(Cart)`: its inner class
            named = [f.thing for f in self.name(view, scope, base)]
            above = [self._inner_class(t) for t in named if t.kind == "symbol"]
        return above

    def _inner_class(self, thing: Thing) -> Thing:
        """The class that a function defines, if it is the only one; otherwise the function."""
        view = self.program.files[thing.path]
        if view.symbol(thing.at).kind != "function":
            return thing
        inner = view.inner_classes.get(thing.at, ())
        return symbol_at(view, inner[0]) if len(inner) == 1 else thing

    def is_abstract(self, method: Thing) -> bool:
        """Whether a method is declared only for subclasses to define it."""
        view = self.program.files[method.path]
        symbol = view.symbol(method.at)
        return any(made.name == "abstractmethod" for made in view.decorators(symbol))

    def is_enumeration(self, thing: Thing) -> bool:
        """Whether a class has its instances as members: `class Level(Enum)`."""
        view = self.program.files[thing.path]
        if view.family != "python" or view.symbol(thing.at).kind != "class":
            return False
        around = view.symbol(thing.at).parent
        return any(
            base.rpartition(".")[2] in _ENUMERATIONS
            and not any(self.is_type(f.thing) for f in self.name(view, around, base))
            for base in view.bases_of(thing.at)
        )

    def is_made_here(self, thing: Thing) -> bool:
        """Whether the file of a class makes instances of it, or another one with arguments."""
        key = (thing.path, thing.at)
        if key not in self.made:
            view = self.program.files[thing.path]
            name = view.symbol(thing.at).name
            passing = self.program.passing(view.family, name)
            factory = any(b.value == CLASS for b in view.bindings.get((thing.at, RESULT), ()))
            made = name in view.calls or next(passing, None) is not None
            self.made[key] = made and not factory  # calling that makes a class
        return self.made[key]

    def below(self, thing: Thing) -> list[Thing]:
        """The subclasses of a class, direct ones first; may stop after `BELOW_MAX`."""
        family, cuts = self.program.files[thing.path].family, self.cuts
        start = Thing("symbol", thing.path, thing.at)
        if (known := self.under.get(start)) is not None:
            return known
        found: dict[Thing, None] = {}
        level, left = [start], CHECKED_MAX
        while level and len(found) < BELOW_MAX and left > 0:
            under: list[Thing] = []
            for base in level:
                named = self.program.symbol(base).name
                for path, child in dict.fromkeys(self.program.below(family, named, BELOW_MAX)):
                    view = self.program.files[path]
                    for index in view.by_qualified.get(child, ())[:BELOW_MAX]:
                        one = symbol_at(view, index)
                        left -= 1
                        if one not in found and left > 0 and base in self.bases(one):
                            found[one] = None
                            under.append(one)
            level = under
        if cuts == self.cuts:
            self.under[start] = list(found)
        return list(found)

    def names_beside(self, thing: Thing) -> frozenset[str]:
        """The members of the subclasses of a class, and of the other classes that they inherit."""
        start = Thing("symbol", thing.path, thing.at)
        known = self.beside.get(start)
        if known is None:
            cuts, found, names = self.cuts, set[Thing](), set[str]()
            for each in self.below(start):
                found.update(self.in_order(each))
            for one in found.difference(self.in_order(start)):
                names |= self.program.files[one.path].own_names.get(one.at, set())
            known = frozenset(names)
            if cuts == self.cuts:
                self.beside[start] = known
        return known

    def in_order(self, thing: Thing) -> list[Thing]:
        """A class and its ancestors in Python's method resolution order; at most `ABOVE_MAX`.

        Bases with no consistent order (C3 fails) keep the order in which they were found. Every
        class is merged once: without that, a grid of bases takes exponential time. A class that is
        above itself, or has too many ancestors, is alone in its order, and so is what inherits it.
        """
        start = Thing("symbol", thing.path, thing.at)
        known, cuts = self.ordered, self.cuts
        if start in known:
            return known[start]
        made: dict[Thing, list[Thing]] = {}
        opened, work = {start}, [(start, iter(self.bases(start)))]
        while work:
            one, left = work[-1]
            base = next((b for b in left if b not in known and b not in made), None)
            if base is None:
                work.pop()
                bases = self.bases(one)
                rows = [known.get(b) or made[b] for b in bases]
                lost = any(len(r) == 1 and self.bases(r[0]) for r in rows)
                made[one] = [one, *([] if lost else _merged([*rows, bases]))]
            elif base in opened or len(opened) == ANCESTORS_MAX:
                made |= {each: [each] for each, _ in work}
                break
            else:
                opened.add(base)
                work.append((base, iter(self.bases(base))))
        if cuts == self.cuts:  # an incomplete result is not cached
            known.update(made)
        return made[start]

    def orders(self, thing: Thing) -> list[tuple[list[Thing], bool]]:
        """What follows a class in its own order, and in those of its subclasses; each once.

        The flag says that all classes of an order are known. Only the first `ORDERS_MAX` are found.
        """
        start = Thing("symbol", thing.path, thing.at)
        if (known := self.after.get(start)) is not None:
            return known
        cuts = self.cuts
        rows: dict[tuple[Thing, ...], bool] = {}
        for each in (start, *self.below(start)[:BELOW_MAX]):
            order = self.in_order(each)
            if start in order:
                place = order.index(start)
                after = tuple(order[place + 1 :])
                shortened = len(order) > ABOVE_MAX and rows
                if shortened and after == next(iter(rows))[: len(after)]:
                    continue  # the same order, less of it
                rows[after] = rows.get(after, True) and self._all_known(each)
            if len(rows) == ORDERS_MAX:
                break
        found = [(list(row), known_all) for row, known_all in rows.items()]
        if cuts == self.cuts:
            self.after[start] = found
        return found

    def _all_known(self, thing: Thing) -> bool:
        known = self.closed.get(thing)
        if known is None:
            known = not any(self.outside(each) for each in self.in_order(thing))
            self.closed[thing] = known
        return known

    def outside(self, thing: Thing) -> int:
        """Whether a base class is outside the program; `FIRST` if the first one is."""
        kept = self.foreign.get((thing.path, thing.at))
        if kept is not None:
            return kept
        view, cuts = self.program.files[thing.path], self.cuts
        symbol, found = view.symbol(thing.at), 0
        named = [b for b in view.bases_of(thing.at) if b not in _NO_MEMBERS]
        for place, base in enumerate(named[:ABOVE_MAX]):
            if not self._named_base(view, symbol.parent, base):
                found = found or (FIRST if not place else LATER)
        if cuts == self.cuts:
            self.foreign[thing.path, thing.at] = found
        return found

    def own_class(self, view: View, scope: int) -> Thing | None:
        """The class that `self` refers to in a scope."""
        known = self.classes.get((view.path, scope))
        if known is not None:
            return known
        at, inner = scope, ""
        while at != MODULE:
            symbol = view.symbol(at)
            # In a function that makes a class without a name: `(Base) => class extends Base {…}`.
            of_made = inner == "method" and symbol.kind == "function" and view.family == "js"
            if symbol.kind in OWNERS or (of_made and view.bases_of(at)):
                known = self.classes[view.path, scope] = Thing("symbol", view.path, at)
                return known
            at, inner = symbol.parent, symbol.kind
        owner = self.owner_name(view, scope)
        if not owner:
            return None
        found = self.type(view, MODULE, owner)
        if not found and view.family == "js" and owner in view.by_qualified:
            # `app.use = function () {…}`, `View.prototype.show = function () {…}`
            return symbol_at(view, view.by_qualified[owner][0])
        return found[0].thing if found and found[0].thing.kind == "symbol" else None

    def owner_name(self, view: View, scope: int) -> str:
        """The class that a member defined outside of it names in its qualified name."""
        at = scope
        while at != MODULE and view.symbol(at).parent != MODULE:
            at = view.symbol(at).parent
        return view.symbol(at).qualified.rpartition(".")[0] if at != MODULE else ""

    def apart(self, family: str, full: str, name: str) -> Thing | None:
        """The member `name`, declared outside the class with this full name, if there is one."""
        owner = full.rpartition(".")[2]
        key = (family, owner, name)
        if key not in self.members_apart:
            if key in self.gathering or len(self.gathering) > GATHERED_MAX:
                return None
            table: dict[str, Thing] = {}
            with self._alone(key):
                for thing in self.program.apart(*key):
                    view = self.program.files[thing.path]
                    written = view.symbol(thing.at).qualified.rpartition(".")[0]
                    for found in self.type(view, MODULE, written):
                        if found.thing.kind == "symbol":
                            table.setdefault(self.program.label(found.thing), thing)
            self.members_apart[key] = table
        return self.members_apart[key].get(full)

    def _bases_apart(self, family: str, full: str) -> list[tuple[str, str, str]]:
        """Base classes declared outside the class with this full name."""
        key = (family, full.rpartition(".")[2], "")
        if key not in self.found_apart:
            if key in self.gathering or len(self.gathering) > GATHERED_MAX:
                return []
            table: dict[str, list[tuple[str, str, str]]] = {}
            with self._alone(key):
                for path, child, base in self.program.bases_apart(*key[:2]):
                    for found in self.type(self.program.files[path], MODULE, child):
                        if found.thing.kind == "symbol":
                            label = self.program.label(found.thing)
                            table.setdefault(label, []).append((path, child, base))
            self.found_apart[key] = table
        return self.found_apart[key].get(full, [])

    @contextmanager
    def _alone(self, key: tuple[str, str, str]) -> Iterator[None]:
        """Look up as if nothing else were in progress, so that the result can be kept."""
        before, self.busy = self.busy, {("", -9, str(key), 0)}
        self.gathering.add(key)
        try:
            yield
        finally:
            self.busy = before
            self.gathering.discard(key)
