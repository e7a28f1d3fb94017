"""Classes of a program: their fields, base classes, and members defined elsewhere."""

from __future__ import annotations

from holdfast.index.calls.lookup import Found, Lookup, symbol_at
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.facts.model import MODULE

BELOW_MAX = 64
ABOVE_MAX = 64


def _merged(rows: list[list[Thing]]) -> list[Thing]:
    """Rows of classes as one, each class behind all that are before it in some row."""
    order: list[Thing] = []
    rows = [list(row) for row in rows if row]
    while rows and len(order) < ABOVE_MAX:
        tails = {each for row in rows for each in row[1:]}
        first = next((row[0] for row in rows if row[0] not in tails), rows[0][0])
        order.append(first)
        rows = [kept for row in rows if (kept := [each for each in row if each != first])]
    return order


class Classes(Lookup):
    """Lookups of the enclosing class and of base classes."""

    def field(self, thing: Thing, name: str) -> list[Found]:
        """What a field of a class holds, by its type or by its assignments."""
        view = self.program.files[thing.path]
        bindings = view.bindings.get((thing.at, name), [])
        if len(bindings) > 1:  # a declared type says more than any value
            bindings = sorted(bindings, key=lambda b: not b.type)
        for binding in bindings:
            found = self.bound(view, binding)
            if found:
                found = [Found(f.thing, f.confidence * 0.96, "field type") for f in found]
                break
        else:
            found = []
        return [*found, *self.grown(view, thing.at, name)] if view.grown else found

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
            for base in view.bases.get(symbol.qualified, ()):
                above = [each.thing for each in self.type(view, symbol.parent, base)]
                found.extend(t for t in above if t != Thing("symbol", thing.path, thing.at))
            for other, child, text in self._foreign_bases(view.family).get(view.full(thing.at), ()):
                if (other.path, child) != (view.path, symbol.qualified):
                    found.extend(f.thing for f in self.type(other, MODULE, text))
        finally:
            self.busy.discard(key)
        if alone and self.orphans is not None:
            self.above[thing.path, thing.at] = found
        return found

    def below(self, thing: Thing) -> list[Thing]:
        """The classes below a class, nearest first; not all of many."""
        family = self.program.files[thing.path].family
        known = self.children.get(family)
        if known is None:
            known = self.children[family] = {}
            for path in sorted(self.program.files):
                view = self.program.files[path]
                for item in view.facts.inherits if view.family == family else ():
                    known.setdefault(item.base.rpartition(".")[2], []).append((view, item.child))
        found: dict[Thing, None] = {}
        level = [Thing("symbol", thing.path, thing.at)]
        while level and len(found) < BELOW_MAX:
            under: list[Thing] = []
            for base in level:
                for view, child in known.get(self.program.symbol(base).name, ())[:BELOW_MAX]:
                    for index in view.by_qualified.get(child, ()):
                        one = symbol_at(view, index)
                        if one not in found and base in self.bases(one):
                            found[one] = None
                            under.append(one)
            level = under
        return list(found)

    def in_order(self, thing: Thing) -> list[Thing]:
        """A class and those above it, in the order in which Python looks for a member.

        The order is that of the language (C3); bases that contradict each other are left as found.
        """
        key = (thing.path, thing.at, "<order>", 0)
        start = Thing("symbol", thing.path, thing.at)
        if self.blocked(key):
            return [start]
        self.busy.add(key)
        try:
            bases = self.bases(start)
            rows = [self.in_order(base) for base in bases]
        finally:
            self.busy.discard(key)
        return [start, *_merged([*rows, bases])]

    def own_class(self, view: View, scope: int) -> Thing | None:
        """The class that `self` refers to in a scope."""
        at = scope
        while at != MODULE:
            symbol = view.symbol(at)
            if symbol.kind in OWNERS:
                return Thing("symbol", view.path, at)
            at = symbol.parent
        owner = self.owner_name(view, scope)
        if not owner:
            return None
        found = self.type(view, MODULE, owner)
        return found[0].thing if found and found[0].thing.kind == "symbol" else None

    def owner_name(self, view: View, scope: int) -> str:
        """The class named by a member that is defined outside of it."""
        at = scope
        while at != MODULE and view.symbol(at).parent != MODULE:
            at = view.symbol(at).parent
        return view.symbol(at).qualified.rpartition(".")[0] if at != MODULE else ""

    def orphans_of(self, family: str) -> dict[tuple[str, str], Thing]:
        """Members defined outside their class, by the full name of the class and their own name."""
        self._gather()
        assert self.orphans is not None, "gathered above"
        return self.orphans.get(family, {})

    def _foreign_bases(self, family: str) -> dict[str, list[tuple[View, str, str]]]:
        self._gather()
        return self.foreign.get(family, {})

    def _gather(self) -> None:
        if self.orphans is not None:
            return
        self.orphans = {}
        self.foreign = {}
        for path in sorted(self.program.files):
            view = self.program.files[path]
            if view.family not in ("rust", "c", "swift", "js", "lua", "jvm", "go"):
                continue
            for index, symbol in enumerate(view.facts.symbols):
                if symbol.parent == MODULE and "." in symbol.qualified:
                    owner = symbol.qualified.rpartition(".")[0]
                    for found in self.type(view, MODULE, owner):
                        if found.thing.kind == "symbol":
                            key = (self.program.label(found.thing), symbol.name)
                            table = self.orphans.setdefault(view.family, {})
                            table.setdefault(key, symbol_at(view, index))
            for item in view.facts.inherits:
                if item.child not in view.by_qualified:
                    for found in self.type(view, MODULE, item.child):
                        if found.thing.kind == "symbol":
                            full = self.program.label(found.thing)
                            family = self.foreign.setdefault(view.family, {})
                            family.setdefault(full, []).append((view, item.child, item.base))
        self.memo.clear()
        self.above.clear()
