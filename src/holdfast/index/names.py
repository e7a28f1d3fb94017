"""What a name or a chain of names means, somewhere in a program.

The rules are few and the same everywhere: a name is looked for in the scopes around it, then among
the imports, then in what the language makes visible without saying so; a member is looked for in
its class, then in the classes above it. What differs between languages is in the tables on top.

Every step costs confidence and leaves a word that says what it was. A name that a scope binds to
something unknown ends the search: better no answer than the answer of an outer namesake.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.index import modules
from holdfast.index.chains import type_name
from holdfast.index.facts import MODULE, Import
from holdfast.index.program import OWNERS, TYPES, Program, Thing, View
from holdfast.index.signatures import Shape, shape
from holdfast.index.wordlists import BUILT_IN

SELF = {
    "python": {"self", "cls"}, "js": {"this"}, "rust": {"self", "Self"}, "jvm": {"this"},
    "c": {"this"}, "csharp": {"this"}, "ruby": {"self"}, "php": {"this", "self", "static"},
    "swift": {"self", "Self"}, "lua": {"self"},
}  # fmt: skip
SUPER = frozenset({"super", "super()", "base", "parent"})
MEMBERS_IN_SCOPE = frozenset({"jvm", "c", "csharp", "ruby", "swift"})
"""Where a bare name may be a member of the class around it."""
SHARED = frozenset({"go", "jvm", "csharp", "php", "c", "ruby", "swift"})
"""Where files of one package, or of one program, see each other without importing."""
CALLABLE = frozenset({"function", "method", "constructor", "macro", "property"})
STEPS_MAX = 24


class Found(NamedTuple):
    """A thing, how sure it is, and the word for the step that found it."""

    thing: Thing
    confidence: float
    reason: str


class Names:
    """Lookups over one program. Answers are remembered until `forget`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.memo: dict[tuple[str, int, str, int], list[Found]] = {}
        self.above: dict[tuple[str, int], list[Thing]] = {}
        self.busy: set[tuple[str, int, str, int]] = set()
        self.orphans: dict[str, dict[tuple[str, str], Thing]] | None = None

    def forget(self) -> None:
        """Drop what was remembered, after the program changed."""
        self.memo.clear()
        self.above.clear()
        self.orphans = None

    # chains

    def evaluate(self, view: View, scope: int, chain: str, line: int = 0) -> list[Found]:
        """What a chain stands for at a place in a file; empty when that is not known."""
        key = (view.path, scope, chain, line if scope != MODULE else 0)
        known = self.memo.get(key)
        if known is not None:
            return known
        if key in self.busy or len(self.busy) > STEPS_MAX or not chain or chain == "?":
            return []
        self.busy.add(key)
        try:
            found = self._evaluate(view, scope, chain, line)
        finally:
            self.busy.discard(key)
        if not self.busy:  # what was cut off by a loop is not remembered as unknown
            self.memo[key] = found
        return found

    def _evaluate(self, view: View, scope: int, chain: str, line: int) -> list[Found]:
        parts = chain.split(".")
        found, used = self._start(view, scope, parts, line)
        for part in parts[used:]:
            name = part.rstrip("()")
            found = _unique(
                Found(each.thing, each.confidence * before.confidence, _join(before, each))
                for before in found
                for each in self.member(before.thing, name)
            )
            found = self._called(found, part)
            if not found:
                return []
        return found

    def _start(
        self, view: View, scope: int, parts: list[str], line: int
    ) -> tuple[list[Found], int]:
        head = parts[0]
        name = head.rstrip("()")
        if head in SUPER or (name == "super" and head == "super()"):
            own = self.own_class(view, scope)
            bases = self.bases(own) if own else []
            if view.family == "rust":
                target = modules.find(self.program, view, "super")
                return [Found(target, 0.98, "module path")], 1
            return [Found(_instance(base), 0.95, "super") for base in bases], 1
        if name in SELF.get(view.family, ()):
            if view.family == "rust" and name == "self" and len(parts) > 1 and scope == MODULE:
                return [Found(Thing("file", view.path), 0.98, "module path")], 1
            own = self.own_class(view, scope)
            found = [Found(_instance(own), 0.98, name)] if own else []
            return self._called(found, head) if head.endswith("()") else found, 1
        for count in range(len(parts), 1, -1):  # `import a.b.c` binds the whole path
            path = ".".join(parts[:count])
            if path in view.aliases:
                found = self.imported(view, view.aliases[path][-1])
                if found:
                    return found, count
        if view.family == "rust" and name == "crate":
            return [Found(modules.find(self.program, view, "crate"), 0.98, "module path")], 1
        variable = self.variable(view, scope, name, line)
        if variable is not None:
            return self._called(variable, head), 1
        return self._called(self.name(view, scope, name), head), 1

    def _called(self, found: list[Found], part: str) -> list[Found]:
        for _ in range((len(part) - len(part.rstrip("()"))) // 2):
            found = _unique(
                Found(result, before.confidence * 0.97, before.reason)
                for before in found
                for result in self.result(before.thing)
            )
        return found

    # names

    def name(self, view: View, scope: int, name: str) -> list[Found]:
        """What a bare name means, looking outwards from a scope."""
        at = scope
        while at != MODULE:
            symbol = view.symbol(at)
            if symbol.kind in OWNERS:
                if view.family in MEMBERS_IN_SCOPE or symbol.kind == "namespace":
                    found = self.member(Thing("symbol", view.path, at), name)
                    if found:
                        return found
            else:
                inner = view.by_qualified.get(f"{symbol.qualified}.{name}")
                if inner:
                    return [Found(_symbol(view, inner[-1]), 0.98, "same scope")]
                for item in view.aliases.get(name, ()):
                    if item.scope == at:
                        return self.imported(view, item)
            at = symbol.parent
        owner = self._owner_name(view, scope)
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
            return [Found(thing, 0.98, "same file") for thing in self._defined(view, local)]
        for item in reversed(view.aliases.get(name, [])):
            found = self.imported(view, item)
            if found:
                return found
        heads = view.heads.get(name)
        if heads and view.family == "python":
            return [Found(modules.find(self.program, view, name), 0.97, "import")]
        return []

    def _around(self, view: View, scope: int, name: str) -> list[Found]:
        """What the language makes visible without an import of that name."""
        program, family = self.program, view.family
        if family in SHARED:
            full = view.facts.module  # some languages see only their own package, not those above
            if scope != MODULE and family not in ("go", "jvm", "php"):
                full = view.full(scope)
            while True:
                found = program.exact(family, f"{full}.{name}" if full else name)
                found = [t for t in found if self._visible(view, t)]
                if found:
                    same = all(t.path == view.path for t in found)
                    confidence, reason = (0.98, "same file") if same else (0.94, "same package")
                    return [Found(t, confidence, reason) for t in self._best(view, found)]
                if not full or family in ("go", "jvm", "php"):
                    break
                full = full.rpartition(".")[0]
        for item in view.wildcards:
            found_there = self._wildcard(view, item, name)
            if found_there:
                return [Found(f.thing, f.confidence * 0.92, "wildcard import") for f in found_there]
        if family == "rust":
            target = modules.find(program, view, name)
            if target.kind == "file":
                return [Found(target, 0.97, "module path")]
        if (family, name) in program.packages and family in ("jvm", "csharp", "c", "php", "ruby"):
            return [Found(Thing("package", name=name), 0.97, "full name")]
        return []

    def _wildcard(self, view: View, item: Import, name: str) -> list[Found]:
        if view.family == "rust":
            found = self._rust_path(view, item.module)
        else:
            target = modules.find(self.program, view, item.module)
            if view.family == "c" and target.kind == "file":
                return []  # what headers declare is found by its name
            found = [Found(target, 0.97, "import")]
        key = (item.module, -2, name, 0)
        if key in self.busy or len(self.busy) > STEPS_MAX:
            return []
        self.busy.add(key)
        try:
            # A module outside the program may have the name or not: that is no answer.
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

    def _defined(self, view: View, indices: list[int]) -> list[Thing]:
        """Of several symbols with one name, those that a use may mean."""
        things = [_symbol(view, i) for i in indices]
        defined = [t for t in things if view.symbol(t.at).defined] or things
        if view.family in ("python", "js", "lua", "bash", "ruby") and len(defined) > 1:
            return defined[-1:]  # the later definition replaces the earlier
        types = [t for t in defined if view.symbol(t.at).kind in TYPES]
        return types[:1] if types and len(types) == len(defined) else defined

    def _best(self, view: View, things: list[Thing]) -> list[Thing]:
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

    # what imports bind

    def imported(self, view: View, item: Import) -> list[Found]:
        """What an import binds."""
        if view.family == "rust":
            path = f"{item.module}.{item.name}".strip(".") if item.name else item.module
            return self._rust_path(view, path)
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
        if key in self.busy or len(self.busy) > STEPS_MAX:
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
        return [Found(f.thing, min(f.confidence, 0.97), again) for f in found]

    def _rust_path(self, view: View, path: str) -> list[Found]:
        parts = path.split(".")
        start = modules.find(self.program, view, parts[0])
        if start.kind == "external":
            local = view.by_qualified.get(parts[0])
            if not local:
                return [Found(Thing("external", name=path), 0.97, "import")]
            start = _symbol(view, local[0])
        found = [Found(start, 0.97, "import")]
        for part in parts[1:]:
            if part == "super" and found and found[0].thing.kind == "file":
                up = modules.find(self.program, self.program.files[found[0].thing.path], "super")
                found = [Found(up, 0.97, "import")]
                continue
            found = [each for f in found for each in self.member(f.thing, part)]
        again = "re-export" if any("re-export" in f.reason for f in found) else "import"
        return [Found(f.thing, min(0.97, f.confidence), again) for f in found]

    # members

    def member(self, thing: Thing, name: str) -> list[Found]:
        """What `name` means on a thing."""
        if thing.kind == "file":
            return self._member_of_file(thing, name)
        if thing.kind == "package":
            return self._member_of_package(thing, name)
        if thing.kind == "external":
            return [Found(Thing("external", name=f"{thing.name}.{name}"), 0.9, "external")]
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        if thing.kind == "symbol" and symbol.kind in ("variable", "constant", "property"):
            known = self.variable(view, symbol.parent, symbol.name, 0) or []
            return [each for f in known for each in self.member(f.thing, name)]
        if view.family == "ruby" and name == "new" and thing.kind == "symbol":
            return [Found(thing, 0.97, "constructor")]
        return self._member_of_class(thing, name)

    def _member_of_file(self, thing: Thing, name: str) -> list[Found]:
        view = self.program.files[thing.path]
        local = view.by_qualified.get(name)
        if local:
            return [Found(each, 0.97, "import") for each in self._defined(view, local)]
        key = (view.path, -4, name, 0)
        if key in self.busy or len(self.busy) > STEPS_MAX:
            return []
        self.busy.add(key)
        try:
            for binding in reversed(view.bindings.get((MODULE, name), [])):
                if binding.value and binding.value != name:
                    found = self.evaluate(view, MODULE, binding.value)
                    if found:
                        return [Found(f.thing, f.confidence * 0.98, "re-export") for f in found]
            for item in reversed(view.aliases.get(name, [])):
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
                    found = self._wildcard(view, item, name)
                    if found:
                        return [Found(f.thing, f.confidence * 0.97, "re-export") for f in found]
        finally:
            self.busy.discard(key)
        if view.family == "js":  # `module.exports = Cart` and then `require('./cart').make`
            whole = self.member(thing, "default")
            return [each for f in whole if f.thing != thing for each in self.member(f.thing, name)]
        return []

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
                return [Found(t, 0.97, "import") for t in self._best(first, found)]
            if (family, full) in program.packages:
                return [Found(Thing("package", name=full), 0.97, "full name")]
        folder = f"{thing.path}/{name}"
        if thing.path and program.folders.get(folder):
            return [
                Found(Thing("package", path=folder, name=folder.replace("/", ".")), 0.97, "import")
            ]
        return []

    def _member_of_class(self, thing: Thing, name: str) -> list[Found]:
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
                    reason = "inherited" if inherited else found[0].reason
                    return [Found(f.thing, f.confidence * confidence, reason) for f in found]
                above.extend(self.bases(each))
            level, confidence = above, confidence * 0.98
        return []

    def _own_member(self, thing: Thing, name: str) -> list[Found]:
        program = self.program
        view = program.files[thing.path]
        full = view.full(thing.at)
        found = list(program.exact(view.family, f"{full}.{name}"))
        if not found:
            orphan = self._orphans(view.family).get((full, name))
            found = [orphan] if orphan else []
        if found and view.family in ("python", "js", "lua") and len(found) > 1:
            found = [t for t in found if t.path == thing.path][-1:] or found[-1:]
        elif len(found) > 1:
            found = [t for t in found if program.symbol(t).defined] or found
        callables = [
            t for t in found if program.symbol(t).kind not in ("property", "variable", "constant")
        ]
        if callables:
            return [Found(t, 1.0, "member") for t in callables]
        field = self.field(thing, name)
        if field:
            return field
        if not found and view.family == "jvm" and name != "Companion":
            companion = program.exact("jvm", f"{full}.Companion.{name}")
            found = companion or found
        return [Found(t, 1.0, "member") for t in found]

    def field(self, thing: Thing, name: str) -> list[Found]:
        """What a field of a class holds, from its type or from what was assigned to it."""
        view = self.program.files[thing.path]
        for binding in view.bindings.get((thing.at, name), []):
            found = self._bound(view, thing.at, binding.type, binding.value, binding.line)
            if found:
                return [Found(f.thing, f.confidence * 0.96, "field type") for f in found]
        return []

    def bases(self, thing: Thing) -> list[Thing]:
        """The classes that a class names as above it, as far as they are known."""
        if thing.kind not in ("symbol", "instance"):
            return []
        known = self.above.get((thing.path, thing.at))
        if known is not None:
            return known
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        key = (view.path, thing.at, "<bases>", 0)
        if key in self.busy or len(self.busy) > STEPS_MAX:
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

    def own_class(self, view: View, scope: int) -> Thing | None:
        """The class whose members `self` has, at a scope."""
        at = scope
        while at != MODULE:
            symbol = view.symbol(at)
            if symbol.kind in OWNERS:
                return Thing("symbol", view.path, at)
            at = symbol.parent
        owner = self._owner_name(view, scope)
        if not owner:
            return None
        found = self.type(view, MODULE, owner)
        return found[0].thing if found and found[0].thing.kind == "symbol" else None

    def _owner_name(self, view: View, scope: int) -> str:
        """The class that a member defined elsewhere says it belongs to."""
        at = scope
        while at != MODULE and view.symbol(at).parent != MODULE:
            at = view.symbol(at).parent
        return view.symbol(at).qualified.rpartition(".")[0] if at != MODULE else ""

    def _orphans(self, family: str) -> dict[tuple[str, str], Thing]:
        """Members defined away from their class, by the full name of the class and their own."""
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
        self.foreign: dict[str, dict[str, list[tuple[View, str, str]]]] = {}
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
                            table.setdefault(key, _symbol(view, index))
            for item in view.facts.inherits:
                if item.child not in view.by_qualified:
                    for found in self.type(view, MODULE, item.child):
                        if found.thing.kind == "symbol":
                            full = self.program.label(found.thing)
                            family = self.foreign.setdefault(view.family, {})
                            family.setdefault(full, []).append((view, item.child, item.base))
        self.memo.clear()
        self.above.clear()

    # types and values

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
                return self._rust_path(view, name)
            found = self.name(view, scope, parts[0])
            for part in parts[1:]:
                found = [each for f in found for each in self.member(f.thing, part)]
        if not found and len(parts) > 1:
            found = [Found(t, 0.97, "full name") for t in self.program.exact(view.family, name)]
        return [f for f in found if self._is_type(f.thing)][:1]

    def declared(self, view: View, scope: int, text: str) -> list[Found]:
        """An instance of the class that a declaration names, or something from outside."""
        named = self.type(view, scope, text)
        if named:
            return [Found(_instance(f.thing), f.confidence * 0.96, "declared type") for f in named]
        head, _, rest = type_name(text).partition(".")
        outside = [f.thing for f in self.name(view, scope, head)] if head else []
        if outside and outside[0].kind == "external":
            name = f"{outside[0].name}.{rest}" if rest else outside[0].name
            return [Found(Thing("external", name=name), 0.9, "declared type")]
        return []

    def _is_type(self, thing: Thing) -> bool:
        return thing.kind == "symbol" and self.program.symbol(thing).kind in OWNERS | {"type"}

    def _bound(self, view: View, scope: int, type_: str, value: str, line: int) -> list[Found]:
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
        """What a variable or parameter holds: [] when that is unknown, None when there is none."""
        at = scope
        while True:
            bound = view.bindings.get((at, name))
            if bound:
                before = [b for b in bound if not line or b.line <= line] or bound[:1]
                chosen = before[-1]
                if not (at == MODULE and chosen.value == name):
                    # Looked up as of the line before, or `cart = cart.copy()` would chase itself.
                    return self._bound(view, at, chosen.type, chosen.value, chosen.line - 1)
            if at == MODULE:
                return None
            symbol = view.symbol(at)
            if symbol.kind in OWNERS:
                if view.family in MEMBERS_IN_SCOPE:
                    field = self._inherited_field(Thing("symbol", view.path, at), name)
                    if field:
                        return field
            elif symbol.kind in CALLABLE:
                parameters = self.shape(view, at).parameters
                if name in parameters:
                    return self.declared(view, at, parameters[name])
                if symbol.parent == MODULE and view.family in MEMBERS_IN_SCOPE:
                    own = self.own_class(view, at)
                    field = self._inherited_field(own, name) if own else []
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

    def _inherited_field(self, thing: Thing, name: str) -> list[Found]:
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
        """What a script stands for when it is called as a whole."""
        if thing.kind != "file" or self.program.files[thing.path].family != "js":
            return []
        return [f for f in self.member(thing, "default") if f.thing.kind == "symbol"]

    def shape(self, view: View, index: int) -> Shape:
        symbol = view.symbol(index)
        return shape(view.facts.language, symbol.name, symbol.signature)

    def result(self, thing: Thing) -> list[Thing]:
        """What calling a thing gives."""
        if thing.kind == "external":
            return [Thing("external", name=thing.name + "()")]
        if thing.kind == "file":
            return [t for f in self.default(thing) for t in self.result(f.thing)]
        if thing.kind not in ("symbol", "instance"):
            return []
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        if symbol.kind in OWNERS:
            return [_instance(thing)]
        if symbol.kind in CALLABLE:
            if symbol.kind == "constructor":
                own = self.own_class(view, thing.at)
                return [_instance(own)] if own else []
            written = self.shape(view, thing.at).result
            if written:
                return [_instance(f.thing) for f in self.type(view, thing.at, written)]
            if (
                view.family == "lua"
                and symbol.name in ("new", "create")
                and symbol.parent != MODULE
            ):
                return [Thing("instance", view.path, symbol.parent)]
        return []


def _symbol(view: View, index: int) -> Thing:
    return Thing("symbol", view.path, index)


def _instance(thing: Thing) -> Thing:
    return Thing("instance", thing.path, thing.at) if thing.kind == "symbol" else thing


def _join(before: Found, after: Found) -> str:
    return after.reason if after.reason not in ("member", "import") else before.reason


def _unique(found) -> list[Found]:  # type: ignore[no-untyped-def]
    best: dict[Thing, Found] = {}
    for each in found:
        if each.thing not in best or best[each.thing].confidence < each.confidence:
            best[each.thing] = each
    return list(best.values())
