"""Name lookup: what a name or a chain of names means at a place in a program.

The rules are the same for all languages: a name is looked up in the enclosing scopes, then among
the imports, then in what the language makes visible implicitly. Members are looked up in their
class and its base classes (`members`, `classes`); types are parsed in `types`, values are followed
in `variables`, `results` and `elements`. The differences between languages are in the tables of
`lookup`.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.index.calls import modules
from holdfast.index.calls.classes import Classes
from holdfast.index.calls.elements import Elements
from holdfast.index.calls.lookup import (
    CALLABLE,
    MEMBERS_IN_SCOPE,
    PASSED,
    SELF,
    SHARED,
    SPENT_MAX,
    SUPER,
    Found,
    because,
    either,
    instance_of,
    joined,
    symbol_at,
    unique,
)
from holdfast.index.calls.members import Members
from holdfast.index.calls.program import OWNERS, TYPES, Thing, View
from holdfast.index.calls.results import Results
from holdfast.index.calls.signatures import is_static
from holdfast.index.calls.steps import Step
from holdfast.index.calls.steps import parse as steps_of
from holdfast.index.calls.types import Types
from holdfast.index.calls.variables import Variables
from holdfast.index.calls.wordlists import BUILT_IN
from holdfast.index.facts.model import MODULE, RESULT, Binding, Import

_EMPTY = ("Map().get", "WeakMap().get", "Map()[", "Set()[")
"""What an empty container gives; what is added to it later is followed apart."""


class Names(Members, Classes, Types, Variables, Results, Elements):
    """Lookups in one program, from the place where a name is used."""

    # chains

    def evaluate(self, view: View, scope: int, chain: str, line: int = 0) -> list[Found]:
        """What a chain refers to at a place in a file; empty when that is unknown."""
        key = (view.path, scope, chain, line)
        known = self.memo.get(key)
        if known is not None:
            return known
        if not chain or chain == "?":
            return []
        if not self.busy:
            self.spent = 0
        self.spent += 1
        if self.spent > SPENT_MAX or self.blocked(key):
            self.cuts += 1
            return []
        cuts = self.cuts
        self.busy.add(key)
        try:
            found = self._evaluate(view, scope, chain, line)
        finally:
            self.busy.discard(key)
        if not self.busy or cuts == self.cuts:  # an incomplete result is not cached
            self.memo[key] = found
        return found

    def _evaluate(self, view: View, scope: int, chain: str, line: int) -> list[Found]:
        found = [
            each for steps in steps_of(chain) for each in self._follow(view, scope, steps, line)
        ]
        if len(steps_of(chain)) < 2:
            return found
        # `where or always`: what is passed is met by the call that passes it.
        found = unique(found)
        inside = [f for f in found if not f.thing.name.startswith(_EMPTY)]
        found = inside or found
        several = either(found)
        return [b if b.reason == PASSED else a for a, b in zip(several, found, strict=True)]

    def _follow(self, view: View, scope: int, steps: tuple[Step, ...], line: int) -> list[Found]:
        found, used = self._start(view, scope, steps, line)
        arguments = ""
        owner: Thing | None = None
        above = steps[0].kind == "name" and steps[0].text == "super"
        for place, step in enumerate(steps[used:]):
            if step.kind == "type":
                arguments = step.text
            elif step.kind == "name":
                owners = self.read(found)
                found = unique(
                    Found(each.thing, each.confidence * before.confidence, joined(before, each))
                    for before in owners
                    for each in self.member(before.thing, step.text)
                )
                owner = owners[0].thing if len(owners) == 1 else None
                if above and not place:  # `super.make()` still has this class as `this`
                    own = self.own_class(view, scope)
                    owner = instance_of(own) if own is not None else owner
            elif step.kind == "call":
                found = self._called(found, owner)
                owner = None
            elif step.kind == "context":
                found = self.given(found, step.text, view, scope, arguments)
            else:
                found = self.items(self.read(found), step.text)
            if not found:
                return []
        return self.read(found)

    def _start(
        self, view: View, scope: int, steps: tuple[Step, ...], line: int
    ) -> tuple[list[Found], int]:
        first = steps[0]
        if first.kind != "name":
            return self._start_value(view, scope, first, line), 1
        name = first.text
        called = len(steps) > 1 and steps[1].kind == "call"
        run = [name]
        for step in steps[1:]:
            if step.kind != "name":
                break
            run.append(step.text)
        if len(run) > 1 and view.dotted:
            for count in range(len(run), 1, -1):
                path = ".".join(run[:count])
                if path in view.dotted:
                    narrowed = self.narrowed(view, scope, path, line)
                    if narrowed:
                        return narrowed, count
        if name == "super" or (name in SUPER.get(view.family, ()) and not called):
            own = self.own_class(view, scope)
            bases = self.bases(own) if own else []
            if view.family == "rust":
                target = modules.find(self.program, view, "super")
                return [Found(target, 0.98, "module path")], 1
            above = [Found(instance_of(base), 0.95, "super") for base in bases]
            if own and not above:
                outside = Thing("external", name=f"the base class of {self.program.label(own)}")
                above = [Found(outside, 0.9, "super")]
            return above, 2 if called else 1
        if name in SELF.get(view.family, ()):
            if view.family == "js" and (bound := self._bound_this(view, scope)):
                return bound, 1
            if view.family == "rust" and name == "self" and len(steps) > 1 and scope == MODULE:
                return [Found(Thing("file", view.path), 0.98, "module path")], 1
            inner = scope != MODULE and view.family == "python"
            if inner and name not in view.facts.symbols[scope].signature:
                if (scope, name) in view.bindings:  # `cls = Cart` makes it an ordinary variable
                    return self.variable(view, scope, name, line) or [], 1
                scope = self._taking(view, scope, name)
            own = self.own_class(view, scope)
            of_class = name == "cls" or (view.family == "js" and self._in_static(view, scope))
            if own and line and len(run) > 1 and view.family == "python":
                fields = view.bindings.get((own.at, run[1]), ())
                if len(fields) > 1:
                    assigned = self._assigned_before(view, scope, fields, line)
                    if assigned:
                        return assigned, 2
            if own and of_class:
                if len(steps) == 1 and self._is_hook(view, scope):
                    return [], 1  # a new subclass, and never the class itself
                return [Found(own, 0.98, name)], 1
            if own or view.family != "python":
                return [Found(instance_of(own), 0.98, name)] if own else [], 1
        for count in range(len(run), 1, -1):  # `import a.b.c` binds the whole path
            path = ".".join(run[:count])
            if path in view.aliases:
                found = self.imported(view, view.aliases[path][-1])
                if found:
                    return found, count
        if view.family == "rust" and name == "crate":
            return [Found(modules.find(self.program, view, "crate"), 0.98, "module path")], 1
        variable = self.variable(view, scope, name, line)
        if variable:
            more = self._with_members(view, name, run) if view.family == "js" else None
            return [*variable, *more[0]] if more and scope == MODULE else variable, 1
        if view.family == "js" and (whole := self._with_members(view, name, run)):
            return whole
        if variable is not None:
            return variable, 1
        return self.name(view, scope, name), 1

    def _with_members(
        self, view: View, name: str, run: list[str]
    ) -> tuple[list[Found], int] | None:
        """The module itself for `exports`, or an object whose members are assigned one by one."""
        whole = run[:2] == ["module", "exports"]
        if (name == "exports" or whole) and name not in view.by_qualified:
            return [Found(Thing("file", view.path), 0.97, "import")], 1 + whole
        held = view.by_qualified.get(name)
        if not held or view.symbol(held[0]).kind not in ("variable", "constant"):
            return None
        owners = self.owners.get(view.path)
        if owners is None:
            owners = {q.rpartition(".")[0] for q in view.by_qualified if "." in q}
            self.owners[view.path] = owners
        if name not in owners:
            return None
        return [Found(Thing("instance", view.path, held[0]), 0.95, "same file")], 1

    def _assigned_before(
        self, view: View, scope: int, bound: Sequence[Binding], line: int
    ) -> list[Found]:
        """What `self.cart` holds if the same function assigned it earlier."""
        above = [b for b in bound if b.inside == scope and b.line < line and b.value]
        if not above:
            return []
        latest = max(above, key=lambda b: b.line)
        # What was just assigned says more than the declared type: `self.field: Field = String()`.
        made = self.evaluate(view, scope, latest.value, latest.line)
        known = bool(made) and all(f.thing.kind == "instance" for f in made)
        found = made if known else self.bound(view, latest)
        return [Found(f.thing, f.confidence * 0.96, because(f, "field type")) for f in found]

    @staticmethod
    def _is_hook(view: View, scope: int) -> bool:
        """Whether a place is in a function that a new subclass is passed to."""
        return scope != MODULE and view.symbol(scope).name == "__init_subclass__"

    @staticmethod
    def _taking(view: View, scope: int, name: str) -> int:
        """The enclosing function with the parameter `self`; a class may be inside a function."""
        at = scope
        while at != MODULE:
            symbol = view.symbol(at)
            if symbol.kind in CALLABLE and name in symbol.signature:
                return at
            at = symbol.parent
        return scope

    @staticmethod
    def _in_static(view: View, scope: int) -> bool:
        """Whether a place is in a static method, where `this` is the class."""
        at = scope
        while at != MODULE and view.symbol(at).kind not in OWNERS:
            if is_static(view.symbol(at).signature):
                return True
            at = view.symbol(at).parent
        return False

    def _bound_this(self, view: View, scope: int) -> list[Found]:
        """What `this` is in a function that declares it: `function f(this: Cart)`."""
        at = scope
        while at != MODULE and view.symbol(at).kind in CALLABLE:
            declared = self.shape(view, at).own.get("this")
            if declared:
                return self.declared(view, at, declared)
            at = view.symbol(at).parent
        return []

    def _start_value(self, view: View, scope: int, first: Step, line: int) -> list[Found]:
        """The value of an expression that does not start with a name."""
        if first.kind == "type":
            return self.declared(view, scope, first.text)
        if first.kind == "group":
            return self.evaluate(view, scope, first.text, line)
        if first.kind == "module":
            return [Found(modules.find(self.program, view, first.text), 0.97, "import")]
        if first.kind == "own":
            prefix = f"{view.symbol(scope).qualified}." if scope != MODULE else ""
            own = view.by_qualified.get(prefix + first.text)
            return [Found(symbol_at(view, own[-1]), 0.95, "object literal")] if own else []
        thing = Thing("literal", view.path, scope, f"{line}\0{first.text}")
        return [Found(thing, 0.97, "element")]

    def _called(self, things: list[Found], owner: Thing | None) -> list[Found]:
        made: list[Found] = []
        for before in things:
            results = [
                Found(
                    self.as_owner(before.thing, t, owner), before.confidence * 0.97, before.reason
                )
                for t in self.result(before.thing)
            ]
            if not results and owner is not None and self._returns_this(before.thing):
                results = [Found(owner, before.confidence * 0.97, before.reason)]
            made += either(results)
        return unique(made) if len(made) > 1 else made

    def _returns_this(self, thing: Thing) -> bool:
        """Whether a method of an object literal returns the object it is called on."""
        if thing.kind != "symbol" or self.program.files[thing.path].family != "js":
            return False
        returned = self.program.files[thing.path].bindings.get((thing.at, RESULT), ())
        return bool(returned) and all(each.value == "this" for each in returned)

    # names

    def name(self, view: View, scope: int, name: str) -> list[Found]:
        """What a bare name means, from the innermost scope outwards."""
        at = scope
        while at != MODULE:
            symbol = view.symbol(at)
            if symbol.kind in OWNERS:
                body = view.family == "python" and at == scope  # the body of the class itself
                if body or view.family in MEMBERS_IN_SCOPE or symbol.kind == "namespace":
                    found = self.member(Thing("symbol", view.path, at), name)
                    if found:
                        return found
            else:
                inner = view.by_qualified.get(f"{symbol.qualified}.{name}", ())
                # A method of an object literal is not in scope under its own name.
                inner = [i for i in inner if view.symbol(i).kind != "method"]
                if inner:
                    return [Found(symbol_at(view, inner[-1]), 0.98, "same scope")]
                item = view.inner_imports.get((at, name))
                if item is not None:
                    return self.imported(view, item)
            at = symbol.parent
        owner = self.owner_name(view, scope)
        if owner and view.family in MEMBERS_IN_SCOPE:
            own = self.own_class(view, scope)
            found = self.member(own, name) if own else []
            if found:
                return found
        found = self.top(view, name) or self._around(view, scope, name)
        if not found and name in BUILT_IN.get(view.family, ()):
            return [Found(Thing("external", name=name), 0.97, "built in")]
        return found

    def top(self, view: View, name: str) -> list[Found]:
        """What a name means at the top of a file: its own symbols, then its imports."""
        local = view.by_qualified.get(name)
        if local:
            # A file may define one name thousands of times and call it in each definition.
            known = self.own.get((view.path, name))
            if known is None:
                reason = "same file"
                if view.family == "python" and any(
                    i.scope == MODULE for i in view.aliases.get(name, ())
                ):
                    reason = "defined or imported"  # depends on the Python version or installation
                known = [Found(thing, 0.98, reason) for thing in self.defined(view, local)]
                self.own[view.path, name] = known
            return known
        taken = view.taken.get(name, [])
        if len(taken) > 1 and view.family == "python":  # `try: … except ImportError: …`
            several = [f for item in taken for f in self.imported(view, item)]
            inside = [f for f in several if f.thing.kind != "external"]
            if inside:
                return either(unique(inside))
        for item in reversed(taken):
            found = self.imported(view, item)
            if found:
                return found
        heads = view.heads.get(name)
        if heads and view.family == "python":
            return [Found(modules.find(self.program, view, name), 0.97, "import")]
        return []

    def _around(self, view: View, scope: int, name: str) -> list[Found]:
        """What the language makes visible without importing that name."""
        program, family = self.program, view.family
        if family in SHARED:
            full = view.facts.module  # some languages see only their own package
            if scope != MODULE and family not in ("go", "jvm", "php"):
                full = view.full(scope)
            while True:
                found = program.exact(family, f"{full}.{name}" if full else name)
                found = [t for t in found if self._visible(view, t)]
                if found:
                    same = all(t.path == view.path for t in found)
                    confidence, reason = (0.98, "same file") if same else (0.94, "same package")
                    return [Found(t, confidence, reason) for t in self.best(view, found)]
                if not full or family in ("go", "jvm", "php"):
                    break
                full = full.rpartition(".")[0]
        for item in view.wildcards:
            found_there = self.wildcard(view, item, name)
            if found_there:
                return [Found(f.thing, f.confidence * 0.92, "wildcard import") for f in found_there]
        if family == "python" and view.path.endswith("__init__.py") and name in view.submodules:
            target = modules.find(program, view, f".{name}")
            if target.kind == "file":
                return [Found(target, 0.97, "module path")]
        if family == "rust":
            target = modules.find(program, view, name)
            if target.kind == "file":
                return [Found(target, 0.97, "module path")]
        if (family, name) in program.packages and family in ("jvm", "csharp", "c", "php", "ruby"):
            return [Found(Thing("package", name=name), 0.97, "full name")]
        return []

    def wildcard(self, view: View, item: Import, name: str) -> list[Found]:
        if view.family == "rust":
            found = self.rust_path(view, item.module)
        else:
            target = modules.find(self.program, view, item.module)
            if view.family == "c" and target.kind == "file":
                return []  # declarations in headers are found by name
            found = [Found(target, 0.97, "import")]
        key = (item.module, -2, name, 0)
        if self.blocked(key):
            return []
        self.busy.add(key)
        try:
            # A module outside the program may or may not have the name.
            return [
                each
                for f in found
                if f.thing.kind != "external"
                for each in self.member(f.thing, name)
            ]
        finally:
            self.busy.discard(key)

    def _visible(self, view: View, thing: Thing) -> bool:
        if thing.path == view.path or view.family not in ("c", "go"):
            return True
        symbol = self.program.symbol(thing)
        return symbol.exported if view.family == "c" else True

    def defined(self, view: View, indices: list[int]) -> list[Thing]:
        """The symbols among several with one name that a use may refer to."""
        things = [symbol_at(view, i) for i in indices]
        defined = [t for t in things if view.symbol(t.at).defined] or things
        if view.family == "js" and len(defined) > 1:
            # If a type and a value share a name, take the value; `type` finds the type.
            values = [t for t in defined if view.symbol(t.at).kind not in ("interface", "type")]
            return (values or defined)[-1:]
        if view.family in ("python", "lua", "bash", "ruby") and len(defined) > 1:
            return defined[-1:]  # the later definition replaces the earlier
        types = [t for t in defined if view.symbol(t.at).kind in TYPES]
        return types[:1] if types and len(types) == len(defined) else defined

    def best(self, view: View, things: list[Thing]) -> list[Thing]:
        symbols = self.program.symbol
        chosen = [t for t in things if symbols(t).defined] or things
        chosen = [t for t in chosen if t.path == view.path] or chosen
        if len(chosen) > 1:
            types = [t for t in chosen if symbols(t).kind in OWNERS]
            if len(types) == len(chosen):
                return [min(chosen)]  # one class in several parts
            near = [t for t in chosen if t.path.rpartition("/")[0] == view.folder]
            if view.family == "c" and len(near) == 1:
                return near
        return sorted(chosen)

    # lookups of imports

    def imported(self, view: View, item: Import) -> list[Found]:
        """What an import binds."""
        if view.family == "rust":
            path = f"{item.module}.{item.name}".strip(".") if item.name else item.module
            return self.rust_path(view, path)
        module = modules.find(self.program, view, item.module)
        reason = "import" if item.alias in (item.name, item.module) or not item.name else "alias"
        if not item.name:
            if view.family == "lua" and module.kind == "file":
                returned = self.member(module, "default")
                return returned or [Found(module, 0.97, "import")]
            return [Found(module, 0.97, reason)]
        if module.kind == "external":
            return [Found(Thing("external", name=f"{item.module}.{item.name}"), 0.97, reason)]
        key = (view.path, -3, f"{item.module}:{item.name}", 0)
        if self.blocked(key):
            return []
        self.busy.add(key)
        try:
            found = self.member(module, item.name)
        finally:
            self.busy.discard(key)
        if not found and view.family == "lua":
            found = [
                each
                for f in self.member(module, "default")
                for each in self.member(f.thing, item.name)
            ]
        again = "re-export" if any("re-export" in f.reason for f in found) else reason
        return [Found(f.thing, min(f.confidence, 0.97), because(f, again)) for f in found]

    def rust_path(self, view: View, path: str) -> list[Found]:
        parts = path.split(".")
        start = modules.find(self.program, view, parts[0])
        if start.kind == "external":
            local = view.by_qualified.get(parts[0])
            if not local:
                return [Found(Thing("external", name=path), 0.97, "import")]
            start = symbol_at(view, local[0])
        found = [Found(start, 0.97, "import")]
        for part in parts[1:]:
            if part == "super" and found and found[0].thing.kind == "file":
                up = modules.find(self.program, self.program.files[found[0].thing.path], "super")
                found = [Found(up, 0.97, "import")]
                continue
            found = [each for f in found for each in self.member(f.thing, part)]
        again = "re-export" if any("re-export" in f.reason for f in found) else "import"
        return [Found(f.thing, min(0.97, f.confidence), again) for f in found]
