"""Resolve what a mention refers to, over a whole program.

Mentions are resolved like calls: by scopes, imports and types. With a receiver of unknown type a
mention is undecided, unless only one symbol of the program has the name; that is a guess, and its
reason says so.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from typing import Literal, NamedTuple

import msgspec

from holdfast.index.calls import modules
from holdfast.index.calls.lookup import SUPER, Found
from holdfast.index.calls.names import Names
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.calls.signatures import is_static
from holdfast.index.calls.wordlists import COMMON_METHODS
from holdfast.index.facts.mentions import Mention
from holdfast.index.facts.model import MODULE, Import
from holdfast.index.facts.python_scopes import TOP, UNKNOWN
from holdfast.index.references.python_names import DEFINED_OR_IMPORTED, held, with_others

LEVELS_MAX = 64
OVERLOADS_MAX = 64
"""The maximum number of members with one name in a class."""
GUESS_HERE, GUESS_ELSEWHERE = 0.5, 0.35
ONLY = "only symbol of that name"
ONLY_TYPES = frozenset({"interface", "type"})
ONLY_VALUES = frozenset({"function", "variable", "constant"})


class Meaning(NamedTuple):
    """`undecided`: the receiver is unknown. `other`: known, and not a symbol of the program.

    `missing`: the receivers found are of classes that do not have this member; in a mixin another
    base of the final class has it.
    """

    what: Literal["symbols", "other", "undecided", "missing"]
    found: tuple[Found, ...] = ()


OTHER = Meaning("other")
UNDECIDED = Meaning("undecided")


class Scopes:
    """Finds the innermost symbol at a byte offset, for many offsets of one file."""

    def __init__(self, view: View) -> None:
        opened: list[tuple[int, int]] = []
        self._starts: list[int] = []
        self._scopes: list[int] = []
        spans = [(s.span.start, -s.span.end, i) for i, s in enumerate(view.facts.symbols)]
        for start, end, index in sorted(spans):
            self._close(opened, start)
            self._mark(start, index)
            opened.append((-end, index))
        self._close(opened, -1)

    def _close(self, opened: list[tuple[int, int]], before: int) -> None:
        while opened and (before < 0 or opened[-1][0] <= before):
            end, _ = opened.pop()
            self._mark(end, opened[-1][1] if opened else MODULE)

    def _mark(self, at: int, scope: int) -> None:
        self._starts.append(at)
        self._scopes.append(scope)

    def at(self, start: int) -> int:
        place = bisect_right(self._starts, start) - 1
        return self._scopes[place] if place >= 0 else MODULE


_OUTSIDE = re.compile(r"[A-Z]\w*\^p\^\d(?:\.\w+)*\Z")


def _is_type(view: View, scope: int) -> bool:
    return scope != MODULE and view.symbol(scope).kind in OWNERS | {"type"}


class Meanings:
    """Resolves the mentions of a program."""

    def __init__(self, names: Names) -> None:
        self._names, self._program = names, names.program
        self._bare_names: dict[tuple[str, int, str], list[Found]] = {}
        self._members: dict[tuple[Thing, str], list[Found]] = {}
        self._spans: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        """By path and name: start, end and index of the symbols of that name, by their start."""

    def of(self, view: View, scope: int, mention: Mention) -> Meaning:
        names, name = self._names, mention.name
        if view.family == "python" and not mention.receiver and mention.kind != "import":
            if mention.holder != UNKNOWN:
                return self._by_scope(view, scope, mention)
            if mention.local:
                return UNDECIDED  # nested too deeply
        if view.family == "js" and mention.holder != UNKNOWN and mention.kind != "import":
            return self._declared(view, scope, mention)
        if mention.local and mention.kind != "import":
            return self._inner(view, scope, mention)
        if mention.kind == "import":
            return self._imported(view, mention)
        if mention.keyed:
            return self._keyed(view, scope, mention)
        if mention.kind == "definition":
            own = self._defined(view, mention)
            field = [] if own.found else self._own_field(view, scope, mention.name)
            return self._symbols(field) if field else own
        if mention.kind == "write" and mention.receiver and view.family == "js":
            own_field = self._made_here(view, mention)
            if own_field is not None:
                return own_field
        if mention.receiver == "?":
            return self._guess(view, mention)
        if mention.receiver in SUPER and not names.evaluate(view, scope, mention.receiver):
            return OTHER  # the base class is not in the program
        if not mention.receiver:
            candidates = self._named(view, scope, name)
            if not candidates and names.variable(view, scope, name, mention.line) is not None:
                return OTHER
            return self._symbols(candidates) if candidates else self._bare(view, mention)
        receivers = names.evaluate(view, scope, mention.receiver, mention.line)
        if not receivers:
            return self._guess(view, mention)
        members = [
            Found(each.thing, before.confidence * each.confidence, before.reason)
            for before in receivers
            for each in self._member(before.thing, name)
        ]
        lacking = () if members else tuple(r for r in receivers if self._lacks(r.thing, name))
        return Meaning("missing", lacking) if lacking else self._symbols(members)

    def _lacks(self, thing: Thing, name: str) -> bool:
        """Whether a class of Python neither defines the member nor is known to assign it."""
        if thing.kind not in ("symbol", "instance"):
            return False
        view = self._program.files[thing.path]
        if view.family != "python" or view.symbol(thing.at).kind not in OWNERS:
            return False
        return not view.bindings.get((thing.at, name))

    def of_receiver(self, view: View, scope: int, mention: Mention) -> list[Thing]:
        """The members that the type of a receiver declares: of `cart` in `cart.total = …`."""
        receivers = self._names.evaluate(view, scope, mention.receiver, mention.line)
        return [
            found.thing
            for each in receivers
            if each.thing.kind == "instance"
            for found in self._member(each.thing, mention.name)
            if found.thing.kind in ("symbol", "field")
        ]

    def _keyed(self, view: View, scope: int, mention: Mention) -> Meaning:
        """A key of an object literal: a member of the type the literal has to have.

        A function in the literal is a symbol as well; that one comes first.
        """
        own = self._defined(view, mention) if mention.kind == "definition" else OTHER
        receivers = self._names.evaluate(view, scope, mention.receiver, mention.line)
        members = [
            Found(each.thing, before.confidence * each.confidence, before.reason)
            for before in receivers
            for each in self._member(before.thing, mention.name)
            if each.thing.kind in ("symbol", "field")
        ]
        if not receivers and (outside := _OUTSIDE.match(mention.receiver)):
            # Literals for the same function of the platform share its type.
            thing = Thing("field", "", 0, f"{outside.group()}.{mention.name}")
            members = [Found(thing, 0.9, "declared type")]
        return Meaning("symbols", (*own.found, *members)) if own.found or members else OTHER

    def _named(self, view: View, scope: int, name: str) -> list[Found]:
        """What a bare name refers to in a scope; cached, as some names occur thousands of times."""
        key = (view.path, scope, name)
        if key not in self._bare_names:
            candidates = self._names.name(view, scope, name)
            items = view.aliases.get(name, ()) if view.family == "js" else ()
            if items and not any(f.thing.kind == "symbol" for f in candidates):
                candidates = self.imported(view, items[-1])
            self._bare_names[key] = candidates
        return self._bare_names[key]

    def _inner(self, view: View, scope: int, mention: Mention) -> Meaning:
        """A local name: a symbol inside one of the enclosing functions, or a variable."""
        at = scope
        while at != MODULE:
            symbol = view.symbol(at)
            written = mention.kind in ("definition", "write")
            # On a later line it is a local variable with the function's name.
            here = symbol.name == mention.name and symbol.span.first_line == mention.line
            before = symbol.signature[: max(0, mention.start - symbol.span.start)]
            here = here and not (view.family == "js" and "(" in before)  # a parameter
            if written and here and symbol.parent != MODULE:
                return self._defined(view, mention)
            inner = view.by_qualified.get(f"{symbol.qualified}.{mention.name}")
            if view.family == "js":  # functions of object literals are not in scope
                inner = [i for i in inner or () if view.symbol(i).kind != "method"]
            if inner and symbol.kind not in OWNERS:
                candidate = Found(Thing("symbol", view.path, inner[-1]), 0.98, "same scope")
                return Meaning("symbols", (candidate,))
            at = symbol.parent
        return OTHER

    def _by_scope(self, view: View, scope: int, mention: Mention) -> Meaning:
        """A bare name of Python: the scope that binds it is known."""
        if mention.holder != TOP:
            return self._symbols(held(view, scope, mention, self.imported))
        candidates = self._named(view, MODULE, mention.name)
        if mention.kind in ("definition", "write") and scope != MODULE:
            own = Thing("symbol", view.path, scope)
            if any(one.thing == own for one in candidates):
                candidates = [Found(own, 1.0, "definition")]
        if candidates:
            return self._symbols(with_others(self._program, candidates, self.imported))
        if self._names.variable(view, MODULE, mention.name, mention.line) is not None:
            return OTHER
        return self._bare(view, mention)

    def _declared(self, view: View, scope: int, mention: Mention) -> Meaning:
        """A bare name of a script: the declaration that binds it is known, or there is none."""
        if mention.holder == TOP:
            candidates = self._named(view, scope, mention.name)
            if (
                not candidates
                and self._names.variable(view, scope, mention.name, mention.line) is None
            ):
                return self._bare(view, mention)
            # Without a declaration it is not a variable of a function of this file.
            return self._symbols([one for one in candidates if one.thing.path != view.path])
        own = self._declared_at(view, mention)
        if own != MODULE:
            reason = "definition" if mention.start == mention.holder else "same scope"
            return Meaning("symbols", (Found(Thing("symbol", view.path, own), 0.98, reason),))
        items = view.aliases.get(mention.name, ())
        inside = [item for item in items if (item.scope != MODULE) == mention.local]
        if inside:
            item = inside[-1]
            exported = self._required(view, item, mention)
            if exported:
                return self._symbols(exported)
            return self._symbols(self._in_space(self.imported(view, item), mention))
        later = self._assigned(view, scope, mention)
        return self._symbols(
            [Found(Thing("symbol", view.path, i), 0.98, "same scope") for i in later]
        )

    @staticmethod
    def _assigned(view: View, scope: int, mention: Mention) -> list[int]:
        """The functions that are assigned to a variable after its declaration: `let f; f = …`."""
        at = scope
        while True:
            owner = f"{view.symbol(at).qualified}." if at != MODULE else ""
            is_inside = at == MODULE or view.symbol(at).span.start <= mention.holder
            if is_inside and (at == MODULE or view.symbol(at).name != mention.name):
                symbols = view.by_qualified.get(f"{owner}{mention.name}", ())
                return [
                    i
                    for i in symbols[-OVERLOADS_MAX:]
                    if view.symbol(i).kind != "method"
                    and view.symbol(i).span.start > mention.holder
                ][-1:]
            at = view.symbol(at).parent

    def _in_space(self, candidates: list[Found], mention: Mention) -> list[Found]:
        """The types or the values with an imported name if a module has both; an import is both."""
        results = []
        for one in candidates:
            if one.thing.kind != "symbol":
                continue
            there = self._program.files[one.thing.path]
            same = there.by_qualified.get(there.symbol(one.thing.at).qualified, ())[:OVERLOADS_MAX]
            kinds = {there.symbol(i).kind for i in same}
            if not (kinds & ONLY_TYPES and kinds & ONLY_VALUES):
                results.append(one)
                continue
            other = {"import": frozenset[str](), "annotation": ONLY_VALUES}
            apart = other.get(mention.kind, ONLY_TYPES)
            results += [
                Found(Thing("symbol", there.path, i), one.confidence, one.reason)
                for i in same
                if there.symbol(i).kind not in apart
            ]
        return results

    def named_at(self, view: View, mention: Mention) -> int:
        """The symbol whose name is this mention; MODULE if there is none."""
        if mention.holder == mention.start:
            return self._declared_at(view, mention)
        spans = self._named_spans(view, mention.name)
        at = bisect_right(spans, (mention.start, 0, 0))
        return spans[at][2] if at < len(spans) and spans[at][0] == mention.start else MODULE

    def _declared_at(self, view: View, mention: Mention) -> int:
        """The symbol whose name is at the declaration; MODULE if that is not a symbol."""
        spans = self._named_spans(view, mention.name)
        last = bisect_right(spans, (mention.holder, sys.maxsize, 0))
        for start, end, index in reversed(spans[max(0, last - LEVELS_MAX) : last]):
            if start <= mention.before:
                break  # the first word in a symbol's text is its name
            if mention.holder < end:
                return index
        return MODULE

    def imported(self, view: View, item: Import) -> list[Found]:
        """What an import binds: the symbol itself, even if it is a variable."""
        candidates = self._names.imported(view, item)
        if item.name != "default" or any(f.thing.kind == "symbol" for f in candidates):
            return candidates
        module = modules.find(self._program, view, item.module)
        there = self._program.files.get(module.path) if module.kind == "file" else None
        for binding in there.bindings.get((MODULE, "default"), ()) if there is not None else ():
            for index in there.by_qualified.get(binding.value, ())[:1] if there else ():
                return [Found(Thing("symbol", module.path, index), 0.97, "import")]
        return candidates

    def _symbols(self, candidates: list[Found]) -> Meaning:
        symbols = tuple(each for each in candidates if each.thing.kind in ("symbol", "field"))
        return Meaning("symbols", symbols) if symbols else OTHER

    def _bare(self, view: View, mention: Mention) -> Meaning:
        """A bare name that no scope has; a wildcard import of an unknown module may bind it."""
        return UNDECIDED if view.wildcards and view.family in ("python", "js") else OTHER

    def _required(self, view: View, item: Import, mention: Mention) -> list[Found]:
        """What a CommonJS module exports whole, if a mention is a name for it."""
        if not mention.required or item.name:
            return []
        found = self.imported(view, msgspec.structs.replace(item, name="default"))
        return found if any(one.thing.kind == "symbol" for one in found) else []

    def _imported(self, view: View, mention: Mention) -> Meaning:
        if mention.keyed:
            return OTHER
        for item in view.aliases.get(mention.name, ()):
            if exported := self._required(view, item, mention):
                return self._symbols(exported)
        items = [
            item for item in view.facts.imports if mention.name in (item.name, item.alias)
        ] or [item for item in view.facts.imports if item.module.split(".")[-1] == mention.name]
        above = [item for item in items if item.line <= mention.line] or items
        if not above:
            return OTHER
        candidates, item = self.imported(view, above[-1]), above[-1]
        if view.family != "python":
            return self._symbols(
                self._in_space(candidates, mention) if view.family == "js" else candidates
            )
        own = view.by_qualified.get(item.alias, ()) if item.scope == MODULE else ()
        return self._symbols([
            *with_others(self._program, candidates, self.imported),
            *(Found(Thing("symbol", view.path, i), 0.8, DEFINED_OR_IMPORTED) for i in own[-1:]),
        ])  # fmt: skip

    def _made_here(self, view: View, mention: Mention) -> Meaning | None:
        """The member that `cart.total = function () {…}` defines."""
        start = mention.start - len(mention.receiver.encode()) - 1
        spans = self._named_spans(view, mention.name)
        at = bisect_right(spans, (start, 0, 0))
        if at == len(spans) or spans[at][0] != start:
            return None
        candidate = Found(Thing("symbol", view.path, spans[at][2]), 1.0, "definition")
        return Meaning("symbols", (candidate,))

    def _named_spans(self, view: View, name: str) -> list[tuple[int, int, int]]:
        spans = self._spans.get((view.path, name))
        if spans is None:
            spans = self._spans[view.path, name] = sorted(
                (symbol.span.start, symbol.span.end, index)
                for index, symbol in enumerate(view.facts.symbols)
                if symbol.name == name
            )
        return spans

    def _defined(self, view: View, mention: Mention) -> Meaning:
        """The symbol whose name is defined here: the innermost enclosing one with that name."""
        spans = self._named_spans(view, mention.name)
        last = bisect_right(spans, (mention.start, sys.maxsize, 0))
        around = [
            (end - start, index)
            for start, end, index in spans[max(0, last - LEVELS_MAX) : last]
            if mention.start < end
        ]
        if not around:
            return OTHER
        best = min(around)
        symbol = view.symbol(best[1])
        behind = view.family == "js" and mention.before >= symbol.span.start
        if behind and mention.name in symbol.signature.partition("=")[0]:
            return OTHER  # `cart.total = function total() {…}`: a name of its own
        return Meaning("symbols", (Found(Thing("symbol", view.path, best[1]), 1.0, "definition"),))

    def _member(self, thing: Thing, name: str) -> list[Found]:
        """The symbol of a member itself, not its value."""
        known = self._members.get((thing, name))
        if known is None:
            known = self._members[thing, name] = self._looked_up(thing, name)
        return known

    def _looked_up(self, thing: Thing, name: str) -> list[Found]:
        if thing.kind not in ("symbol", "instance"):
            return self._names.member(thing, name)
        program = self._program
        if program.symbol(thing).kind not in OWNERS | {"type"}:
            return self._names.member(thing, name)
        level, seen, confidence = [thing], set[Thing](), 0.97
        while level and len(seen) < LEVELS_MAX:
            above: list[Thing] = []
            for each in level:
                if each in seen or each.kind not in ("symbol", "instance"):
                    continue
                seen.add(each)
                view = program.files[each.path]
                full = view.full(each.at)
                things = list(program.exact(view.family, f"{full}.{name}"))
                if not things:
                    apart = self._names.apart(view.family, full, name)
                    things = [apart] if apart else []
                if view.family == "js" and len(things) > 1:
                    of_class = thing.kind == "symbol"
                    things = [
                        t for t in things if is_static(program.symbol(t).signature) == of_class
                    ] or things
                things = things or [f.thing for f in self._own_field(view, each.at, name)]
                if things:
                    return [Found(one, confidence, "member") for one in things[-OVERLOADS_MAX:]]
                above += self._names.bases(each)
            level, confidence = above, confidence * 0.98
        return []

    @staticmethod
    def _own_field(view: View, owner: int, name: str) -> list[Found]:
        """A member of a type that is not a symbol: `message: string` in an interface."""
        if view.facts.language not in ("typescript", "tsx") or not _is_type(view, owner):
            return []
        if not any(b.field for b in view.bindings.get((owner, name), ())):
            return []
        return [Found(Thing("field", view.path, owner, name), 1.0, "definition")]

    def _guess(self, view: View, mention: Mention) -> Meaning:
        """Guess a called method if only one symbol has the name; anything else stays undecided."""
        name = mention.name
        if not self._program.has_inner(view.family, name):
            return OTHER
        only = self._program.only(view.family, name)
        if only is None or mention.kind != "call" or name in COMMON_METHODS:
            return UNDECIDED
        near = GUESS_HERE if only.path == view.path else GUESS_ELSEWHERE
        return Meaning("symbols", (Found(only, near, ONLY),))
