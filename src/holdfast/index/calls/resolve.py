"""Call resolution: which symbol a call reaches, with what confidence, and why.

A call is resolved only along a path that can be explained: a scope, an import, a type. When several
symbols fit equally the call is *ambiguous* and names them all; when its receiver is of unknown type
it is *unresolved*, with the methods of that name as leads if they are few. When the path leaves the
program it is *external*.

Which way it may err: an edge may be missing. A reported edge can be wrong only where the target is
decided at run time (a rebound name, a patched class, an override in a subclass of the declared
type) or where its reason says that it is a guess; then its confidence is at most GUESS.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from holdfast.index.calls.confidence import calibrated
from holdfast.index.calls.lookup import (
    ANY,
    CHANGED,
    EITHER,
    SELF,
    SUPER,
    Found,
    because,
    either,
)
from holdfast.index.calls.makers import REPLACED, SEVERAL, SEVERAL_MAX, Makers
from holdfast.index.calls.names import Names
from holdfast.index.calls.program import OWNERS, MemoryProgram, Program, Thing, View
from holdfast.index.calls.wordlists import CALLBACK_TAKERS, COMMON_METHODS, EVENT_TAKERS
from holdfast.index.facts.model import MODULE, VALUE, Call, FileFacts, file_id
from holdfast.index.facts.protocols import ACCESSOR, PROTOCOLS

GUESS = 0.5
LEADS_MAX = 8
OVERRIDDEN = "overridden in a subclass"
ABSTRACT = "abstract"
SAME_MAX = 16
"""With more symbols of one name than this, none is taken to be in the same object literal."""
NEAR = 40
"""Methods of one object literal are not further apart than this many lines."""
NO_MEMBER = "no such member on the known receiver"


EdgeKind = Literal["call", "new", "decorator", "macro"]


class Edge(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A call that reaches a symbol. `caller` is the id of a symbol, or of the file."""

    caller: str
    callee: str
    path: str
    line: int
    kind: EdgeKind
    confidence: float
    reason: str


class OpenCall(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A call that is not resolved. `candidates` are ids of symbols, in no particular order."""

    caller: str
    path: str
    line: int
    text: str
    why: Literal["ambiguous", "unresolved", "external"]
    detail: str
    candidates: tuple[str, ...] = ()


def _kind(call: Call) -> EdgeKind:
    return "call" if call.kind == "" or call.kind == "implicit" else call.kind


class Resolver(Makers):
    """Resolves the calls of a program whose files may be replaced."""

    def __init__(self, files: Iterable[FileFacts] = (), program: Program | None = None) -> None:
        self.program = MemoryProgram(files) if program is None else program
        self.names = Names(self.program)
        self._methods: dict[tuple[str, str], list[Thing] | None] = {}

    def replace(self, facts: FileFacts) -> None:
        self.program.add(facts)
        self.forget()

    def remove(self, path: str) -> None:
        self.program.remove(path)
        self.forget()

    def forget(self) -> None:
        """Clear the caches."""
        self.names.forget()
        self._methods.clear()

    def calls(self, view: View, call: Call) -> tuple[Edge | OpenCall, ...]:
        """The symbols that a call reaches, or why they are unknown.

        If a value may be one of several functions, a call of it reaches each of them.
        """
        found, detail = self._targets(view, call)
        symbols = [f for f in found if f.thing.kind == "symbol"]
        chosen = self._fitting(view, call, symbols)
        alone = len(chosen) == 1 and len(symbols) == len(found)
        if alone and chosen[0].reason in (ANY, EITHER):  # all of them have this one
            chosen = [chosen[0]._replace(reason="assigned name")]
        if view.family == "python":
            named = [f for f in chosen if f.reason != "passed as an argument"]
            here = Thing("symbol", view.path, call.caller)
            around = [f for each in named for f in self._decorated(each)]
            chosen += [f for f in around if f.thing != here]
        if len(chosen) == 1 or (chosen and view.family in SEVERAL and len(chosen) <= SEVERAL_MAX):
            return tuple(self._edge(view, call, each) for each in chosen)
        if call.kind == "implicit":
            return ()  # of a built-in type, or of an unknown one
        if chosen:
            detail = f"{len(chosen)} definitions fit"
            return (self._open(view, call, "ambiguous", detail, chosen),)
        external = next((f for f in found if f.thing.kind == "external"), None)
        if external:
            first: Edge | OpenCall = self._open(view, call, "external", external.thing.name, [])
        else:
            first = self._lead(view, call, detail)
        if not call.passed or call.name not in CALLBACK_TAKERS or isinstance(first, Edge):
            return (first,)
        return (first, *(self._edge(view, call, each) for each in self._callbacks(view, call)))

    def _callbacks(self, view: View, call: Call) -> list[Found]:
        """Functions passed to a built-in that calls them: `map(double, xs)`."""
        found: list[Found] = []
        for each in call.passed:
            place, _, value = each.partition("=")
            late = call.name in EVENT_TAKERS or (call.name == "then" and place != "0")
            reason = "called back on an event" if late else "called back"
            held = self.names.evaluate(view, call.caller, value, call.line)
            found += [Found(f.thing, f.confidence * 0.9, reason) for f in held]
        return [f for f in found if self._runs(f.thing)]

    def _decorated(self, target: Found) -> list[Found]:
        """The functions that decorators replace a function with."""
        thing, reason = target.thing, because(target, "decorated")
        view = self.program.files[thing.path]
        symbol = view.symbol(thing.at)
        found: list[Found] = []
        for made in view.decorators(symbol):
            if found:
                break  # the outermost decorator's function calls those of the others
            for maker in self.names.decorator(view, made):
                results = self.names.result(maker.thing)
                run = self._of_values([Found(t, 0.9, reason) for t in results])
                inside = [f for f in run if self._inside(f.thing, maker.thing)]
                found += either(inside) if len(results) > 1 else inside
        return found

    def _inside(self, thing: Thing, maker: Thing) -> bool:
        """Whether a function is defined inside `maker`, rather than passed to it."""
        if thing.kind != "symbol" or maker.kind not in ("symbol", "instance"):
            return False
        if maker.path != thing.path:
            return False
        outer = f"{self.program.symbol(maker).qualified}."
        return self.program.symbol(thing).qualified.startswith(outer)

    def _runs(self, thing: Thing) -> bool:
        kinds = ("function", "method")
        return thing.kind == "symbol" and self.program.symbol(thing).kind in kinds

    def _edge(self, view: View, call: Call, target: Found) -> Edge:
        return Edge(
            self.id(view, call.caller),
            self.program.symbol(target.thing).id,
            view.path,
            call.line,
            _kind(call),
            calibrated(view.family, target.reason, target.confidence),
            target.reason,
        )

    def id(self, view: View, index: int) -> str:
        return view.symbol(index).id if index != MODULE else file_id(view.path)

    def _open(
        self,
        view: View,
        call: Call,
        why: Literal["ambiguous", "unresolved", "external"],
        detail: str,
        things: list[Found],
    ) -> OpenCall:
        dot = "" if call.name == VALUE else "."
        receiver = call.receiver.partition("|[")[0]  # without what `map` makes of a list
        text = f"{receiver}{dot}{call.name}" if receiver else call.name
        ids = tuple(self.program.symbol(f.thing).id for f in things)
        return OpenCall(self.id(view, call.caller), view.path, call.line, text, why, detail, ids)

    def _targets(self, view: View, call: Call) -> tuple[list[Found], str]:
        names, name = self.names, call.name
        if call.receiver == "?":
            return [], "the receiver is an expression"
        if not call.receiver:
            found = self._bare(view, call)
            if found is None:
                return [], "a variable of unknown value"
            return [each for f in found for each in self._constructor(f)], "no such name in reach"
        path = f"{call.receiver}.{name}"
        if path in view.dotted:  # `cart.total = f`, and then `cart.total()`
            held = self._of_values(names.narrowed(view, call.caller, path, call.line))
            if held:
                return held, ""
        receivers = names.evaluate(view, call.caller, call.receiver, call.line)
        if name == VALUE:
            return self._of_values(receivers), "the value that is called is not known"
        if call.receiver == "super()" and view.family == "python" and call.kind != "implicit":
            above = self._above(view, call)
            if above:
                return above, ""
        found = []
        for receiver in receivers:
            if name in ("call", "apply") and view.family == "js" and self._callable(receiver.thing):
                found.append(receiver)
                continue
            for each in names.member(receiver.thing, name):
                if call.kind == "implicit":
                    if not self._runs_unasked(each, name):
                        continue
                    each = self._accessor(each, call)
                reason = each.reason
                if reason in ("member", "import"):
                    reason = receiver.reason
                elif reason == "inherited" and receiver.reason not in ("self", "this", "super"):
                    reason = f"{receiver.reason}, inherited"
                confidence = receiver.confidence * each.confidence
                if each.thing.kind in ("method", "bound"):
                    kind = receiver.thing.name.partition("[")[0]  # `list`, `dict` or `tuple`
                    outside = Thing("external", name=f"{kind}.{name}")
                    found.append(Found(outside, confidence, "built in"))
                    continue
                if each.thing.kind == "instance":
                    found.extend(self._of_values([Found(each.thing, confidence, reason)]))
                    continue
                found.extend(self._constructor(Found(each.thing, confidence, reason)))
                if self._is_property(each.thing):  # the call is of its result
                    results = names.result(each.thing)
                    values = [Found(t, confidence, "called property") for t in results]
                    found.extend(self._of_values(values))
            if found and receiver.reason == "super" and view.family == "python":
                break  # the first base that has it
        if not receivers and call.receiver == "this" and view.family == "js":
            return self._beside(view, call), "the type of the receiver is not known"
        if any(f.thing.kind == "literal" for f in receivers) and (
            len({f.thing for f in found if f.thing.kind == "symbol"}) > 1
        ):  # an object, and what was added to it
            found = either(found)
        if receivers and view.family in SEVERAL and call.kind != "implicit":
            if not found:
                found = self._in_subclasses(receivers, name, "defined in a subclass")
            elif len(found) == 1 and self._callable(found[0].thing):
                below = self._in_subclasses(receivers, name, OVERRIDDEN)
                others = [f for f in below if f.thing != found[0].thing][: SEVERAL_MAX - 1]
                if others and names.is_abstract(found[0].thing):
                    found = [found[0]._replace(reason=ABSTRACT)]
                elif others:
                    replaced = all(f.thing != found[0].thing for f in below)
                    if replaced and not names.is_made_here(receivers[0].thing):
                        found = [found[0]._replace(reason=REPLACED)]
                found += others
        if receivers and not found and not all(self._is_open(f.thing) for f in receivers):
            return [], NO_MEMBER
        return found, "the type of the receiver is not known"

    def _beside(self, view: View, call: Call) -> list[Found]:
        """A member of the object literal of a method: `{ add() { this.get() }, get() {} }`."""
        at = call.caller
        while at != MODULE and view.symbol(at).kind != "method":
            at = view.symbol(at).parent
        if at == MODULE:
            return []
        method = view.symbol(at)
        around = method.qualified.rpartition(".")[0]
        same = view.by_qualified.get(f"{around}.{call.name}" if around else call.name, ())
        if len(same) > SAME_MAX:
            return []
        beside = [i for i in same if view.symbol(i).kind == "method"]
        if len(beside) != 1 or view.symbol(beside[0]).parent != method.parent:
            return []
        near = abs(view.symbol(beside[0]).span.first_line - method.span.first_line)
        # Only a literal with a name is known to be the same one. A function that makes a class for
        # a base (a mixin) is in no literal, and a subclass may define the member, too.
        owner = view.symbol(method.parent) if method.parent != MODULE else None
        named = owner is not None and owner.kind == "object"
        found = Found(Thing("symbol", view.path, beside[0]), 0.9, "this" if named else CHANGED)
        return [found] if near < NEAR else []

    def _above(self, view: View, call: Call) -> list[Found]:
        """What `super().name` means: the next in the order of the class, or of a subclass."""
        own = self.names.own_class(view, call.caller)
        if own is None:
            return []
        found = [f for f in self.names.above_in_order(own, call.name) if self._makes(f.thing)]
        return found if len(found) <= SEVERAL_MAX else []

    def _is_open(self, thing: Thing) -> bool:
        """Whether code elsewhere may add members to a thing: an object or function of a script."""
        if thing.kind != "instance" or self.program.files[thing.path].family != "js":
            return False
        return self.program.symbol(thing).kind not in OWNERS | {"type"}

    def _runs_unasked(self, found: Found, name: str) -> bool:
        """Whether reading or writing a member runs a function; a plain field runs none."""
        if name in PROTOCOLS:  # a class statement does not ask the metaclass
            return name != "__init_subclass__" or found.reason != "metaclass"
        signed = self._is_property(found.thing) and self.program.symbol(found.thing).signature
        return bool(signed and ACCESSOR.search(signed))

    def _accessor(self, found: Found, call: Call) -> Found:
        """Of a getter and a setter, the one that a read or a write runs."""
        if call.name in PROTOCOLS:
            return found
        view = self.program.files[found.thing.path]
        qualified = view.symbol(found.thing.at).qualified
        for index in view.by_qualified.get(qualified, ()):
            if self.names.shape(view, index).most == call.arity:
                return found._replace(thing=Thing("symbol", view.path, index))
        return found

    def _is_property(self, thing: Thing) -> bool:
        return thing.kind == "symbol" and self.program.symbol(thing).kind == "property"

    def _in_subclasses(self, receivers: list[Found], name: str, reason: str) -> list[Found]:
        """The definitions in subclasses of a member of `self`."""
        private = name[:1] == "#" or (name[:2] == "__" and name[-2:] != "__")
        own = [f.thing for f in receivers if f.reason in ("self", "this")] if not private else []
        if reason != OVERRIDDEN:
            own = [each for each in own if not self._has_outside(each)]
        found: dict[Thing, Found] = {}
        for each in own[:1]:
            # Files of JavaScript may assign members to classes of other files.
            script = self.program.files[each.path].family == "js"
            if not script and name not in self.names.names_beside(each):
                continue
            for below in self.names.below(each):
                for f in self.names.member(below._replace(kind=each.kind), name):
                    if f.thing.kind == "symbol" and self._callable(f.thing):
                        found[f.thing] = Found(f.thing, 0.9, reason)
        return list(found.values()) if len(found) <= SEVERAL_MAX else []

    def _has_outside(self, thing: Thing) -> bool:
        """Whether a base class is outside the program and may define the member."""
        view = self.program.files[thing.path]
        named = view.bases_of(thing.at)
        return len(self.names.bases(thing)) < len(named)

    def _bare(self, view: View, call: Call) -> list[Found] | None:
        names, name = self.names, call.name
        if name == "super" and view.family == "python":
            return [Found(Thing("external", name="super"), 0.97, "built in")]
        above = name == "super" or name in SUPER.get(view.family, ())
        if above or name in SELF.get(view.family, ()):
            own = names.own_class(view, call.caller)
            if own is None and view.family == "python":  # `def build(cls, **options)`
                return names.variable(view, call.caller, name, call.line) or []
            if own is None:
                return []
            if view.family == "ruby" and name == "super":
                method = view.symbol(call.caller).name if call.caller != MODULE else ""
                return [
                    Found(f.thing, f.confidence * 0.95, "super")
                    for base in names.bases(own)
                    for f in names.member(base, method)
                ]
            if above:
                return [Found(t, 0.95, "super") for t in names.bases(own)[:1]]
            return self._own_or_below(own, name)
        if call.kind != "new":
            known = names.variable(view, call.caller, name, call.line)
            if known is not None:
                held = [f for f in known if f.thing.kind in ("symbol", "external")]
                if held and view.family == "python" and held[0].thing.kind == "external":
                    # `Cart = wrap(Cart)`: calling it still reaches the wrapped class.
                    same = self._of_one_name(view, name)
                    held = [Found(t, 0.95, "same file") for t in same] or held
                held = held or self._of_values(known)
                return held or (
                    None
                    if names.is_local(view, call.caller, name)
                    else (names.name(view, call.caller, name) or None)
                )
        found = names.name(view, call.caller, name)
        if (
            call.kind == "new"
            and view.family == "js"
            and not any(f.thing.kind in ("symbol", "external", "file") for f in found)
        ):
            found = names.variable(view, call.caller, name, call.line) or found
        if not found and view.family == "rust" and call.kind == "macro":
            found = [Found(t, 0.8, "macro name") for t in self.program.macros(name)]
        return found

    def _fitting(self, view: View, call: Call, things: list[Found]) -> list[Found]:
        """The overloads that accept the number of arguments."""
        best: dict[Thing, Found] = {}
        for each in things:
            if each.thing not in best or each.confidence > best[each.thing].confidence:
                best[each.thing] = each
        unique = list(best.values())
        if len(unique) < 2 or call.arity < 0 or view.family in SEVERAL:
            return unique
        fits = []
        for each in unique:
            target = self.program.files[each.thing.path]
            shape = self.names.shape(target, each.thing.at)
            if shape.required <= call.arity and (shape.most == -1 or call.arity <= shape.most):
                fits.append(each)
        return fits or unique

    def _lead(self, view: View, call: Call, detail: str) -> Edge | OpenCall:
        """For an unknown receiver: if there is only one method of that name, guess it."""
        if not call.receiver or call.name[:2] in (VALUE, "__") or detail == NO_MEMBER:
            return self._open(view, call, "unresolved", detail, [])
        all_named = () if call.name in COMMON_METHODS else self._named(view.family, call.name)
        named = [t for t in all_named or () if (t.path, t.at) != (view.path, call.caller)]
        if not named or len(named) > LEADS_MAX:
            return self._open(view, call, "unresolved", detail, [])
        if len(named) > 1:
            found = [Found(t, 0.2, "method name") for t in sorted(named)]
            return self._open(view, call, "ambiguous", f"{detail}; methods of that name", found)
        close = named[0].path == view.path
        return Edge(
            self.id(view, call.caller),
            self.program.symbol(named[0]).id,
            view.path,
            call.line,
            _kind(call),
            GUESS if close else 0.35,
            "only method of that name",
        )

    def _named(self, family: str, name: str) -> list[Thing] | None:
        """The methods with this name and a body, or None if there are too many; cached."""
        key = (family, name)
        if key not in self._methods:
            # One of them may be the caller itself, which is not a lead.
            self._methods[key] = self.program.methods(family, name, LEADS_MAX + 1)
        return self._methods[key]
