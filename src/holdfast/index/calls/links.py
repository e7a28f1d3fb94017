"""What the names of one file lead to, so that callers are found without reading every file.

A call reaches a symbol by the symbol's own name, or by another name that holds it: an import alias,
a variable, a field, a parameter, a function that returns it. A local variable is only called in its
own file, so only names that other files can use lead out of a file. Flow between the local
variables of a file is computed here, once per file.

    from shop import total as sum_up      total   leads to  sum_up
    self.rule = total                     total   leads to  rule
    def pick(): return total              total   leads to  pick()
    rules = [total]                       total   leads to  rules()
    first = rules[0]                      rules() leads to  first
    apply(total)                          total   leads to  ^apply   (a parameter of `apply`)
    def apply(rule): rule()               ^apply  is called here, by another name

`name()` stands for what `name` returns or contains. If `a` leads to `b`, `a()` leads to `b()`.

Which way it may err: a name may lead to one that never holds the symbol. Every call found this way
is resolved before it is reported, so this costs time but never gives a wrong answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as Collection
from functools import cached_property

from holdfast.index.calls.link_names import passing_of, record_fields
from holdfast.index.calls.link_terms import ANY_DEFAULT, BASE, PASSED_TO, key_of
from holdfast.index.calls.steps import names as names_in
from holdfast.index.calls.wordlists import CALLBACK_TAKERS
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import (
    MODULE,
    RESULT,
    VALUE,
    YIELD,
    Binding,
    Call,
    FileFacts,
    Import,
)
from holdfast.index.facts.walk import CONTAINERS

MEMBERS_APART = frozenset({"rust", "c", "swift", "js", "lua", "jvm", "go"})
"""Families in which members and base classes may be declared outside of their class."""

_CALLABLE = frozenset({"function", "method", "constructor", "macro", "property"})
_ABOVE = frozenset({"super", "super()", "base", "parent"})
_OWN = frozenset({"cls", "self", "this", "static", "Self"})
MAKERS = frozenset({"__init__", "__new__", "__post_init__", "constructor", "initialize",
                    "__construct", "init"})  # fmt: skip
_PROTOCOL = frozenset({
    "__iter__", "__next__", "__getitem__", "__enter__", "__aiter__", "__anext__", "__aenter__",
    "__call__",
})  # fmt: skip
_NO_NAME = frozenset({""})
_WORDS = re.compile(r"[^\W\d]\w*").findall
_DEFAULTS = re.compile(r"\b([^\W\d]\w*)\s*(?::[^=,()]*)?=\s*([\w.]+)").findall
_CLASSES = re.compile(
    r"\b([^\W\d]\w*)\??\s*:[^,()]*?(?:[Tt]ype\[|typeof\s)[\s\"']*([\w.]+)"
).findall
_LIKE = re.compile(r"(?<=\.)\w{3,}\*").findall
_ENTRIES = re.compile(r"(\w+):([\w.]+)(?=[,}])").findall


class _Union(dict[tuple[int, str], tuple[int, str]]):
    """Union-find: groups of variables that may hold the same value."""

    def find(self, node: tuple[int, str]) -> tuple[int, str]:
        top = node
        while (above := self.get(top, top)) != top:
            top = above
        while node != top:
            self[node], node = top, self.get(node, node)
        return top

    def join(self, one: tuple[int, str], other: tuple[int, str]) -> None:
        self[self.find(one)] = self.find(other)


class FileLinks:
    """The names of a file, the names they lead to, and its calls by name."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.family = FAMILIES.get(facts.language, "")
        self._words: dict[int, frozenset[str]] = {}
        self._bound: set[tuple[int, str]] = set()
        self._groups = _Union()
        self._into: dict[str, set[tuple[int, str]]] = defaultdict(set)
        """Name -> variables of this file that may hold it."""
        self.leads: dict[str, set[str]] = defaultdict(set)
        """Name -> names visible to other files that may hold it."""
        self._out: dict[tuple[int, str], set[str]] = defaultdict(set)
        """The same for variables of this file."""
        self._containers: set[tuple[int, str]] = set()
        self._by_variable: dict[tuple[int, str], list[int]] = defaultdict(list)
        self._followed = False

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """The calls by each name; calls of unnamed values by the names in the called expression."""
        table: dict[str, list[int]] = defaultdict(list)
        for number, call in enumerate(self.facts.calls):
            if call.name != VALUE:
                table[call.name].append(number)
            for name in self._behind(call):
                table[name].append(number)
        return dict(table)

    def _behind(self, call: Call) -> tuple[str, ...]:
        """The names through which a call that does not name its function reaches it."""
        if call.name == VALUE or (call.name in ("call", "apply") and self.family == "js"):
            return names_in(call.receiver) if call.receiver else ()
        if call.passed and call.name in CALLBACK_TAKERS:
            return tuple(name for passed in call.passed for name in names_in(_given(passed)))
        return ()

    def _follow(self) -> None:
        if self._followed or not self.family:
            return
        self._followed = True
        facts = self.facts
        local = [b for b in facts.bindings if self._is_local(b)]
        self._bound = {(b.scope, _base(b.name)) for b in local}
        for item in facts.imports:
            self._import(item)
        for binding in facts.bindings:
            self._binding(binding)
        for child in facts.inherits:
            # A class without a constructor uses that of its base.
            name = child.child.rpartition(".")[2]
            self.leads[BASE + child.base.rpartition(".")[2]] |= {name, BASE + name}
        for scope, fields in record_fields(facts).items():  # `Step(run)` of a data class
            self.leads[PASSED_TO + facts.symbols[scope].name].update(fields)
        self._objects()
        self._signatures()
        self._calls()

    def _objects(self) -> None:
        """Record what objects of scripts contain, and methods that are named by a beginning."""
        symbols = self.facts.symbols
        if self.family == "js":
            for symbol in symbols:
                if symbol.parent != MODULE and symbols[symbol.parent].kind == "object":
                    self.leads[symbol.name].add(symbols[symbol.parent].name + VALUE)
        for like in self._likes:
            for symbol in symbols:
                if symbol.name.startswith(like[:-1]):
                    self.leads[symbol.name].add(like)

    @cached_property
    def _likes(self) -> set[str]:
        """The beginnings of names in expressions of this file: `visit_*`."""
        texts = [b.value for b in self.facts.bindings if "*" in b.value]
        texts += [c.receiver for c in self.facts.calls if "*" in c.receiver]
        return {each for text in texts for each in _LIKE(text)}

    def _is_local(self, binding: Binding) -> bool:
        if binding.scope == MODULE or binding.field or binding.name in (RESULT, YIELD):
            return False
        return self.facts.symbols[binding.scope].kind not in CONTAINERS

    def _import(self, item: Import) -> None:
        if not item.alias:
            return
        held = self._exported(item.alias)
        if self.family == "js" and item.name in ("", "default"):
            last = item.module.rpartition("/")[2].partition(".")[0]
            for name in (f"default*{last}", ANY_DEFAULT):
                self.leads[name].add(held)
        elif item.name and item.name != held:
            self.leads[item.name].add(held)
            for mark in ("", VALUE):  # what is passed to the one is passed to the other
                self.leads[f"{PASSED_TO}{held}{mark}"].add(f"{PASSED_TO}{item.name}{mark}")

    def _exported(self, name: str) -> str:
        return exported(self.facts.path, self.family, name)

    def _binding(self, binding: Binding) -> None:
        value = binding.value
        if not value or value == "?":
            return
        scope = binding.scope
        inside = binding.inside if binding.inside >= MODULE else scope
        held = _base(binding.name)
        if self._is_local(binding) and "." not in binding.name:
            into: tuple[int, str] | str = (scope, held)
        elif binding.name in (RESULT, YIELD):
            into = self._result(scope)
        else:
            into = self._exported(held)
        contains = "[" in value or "{" in value or "[" in binding.name
        around = self._given_by(scope) if binding.name in (RESULT, YIELD) else ""
        owner = self.facts.symbols[scope] if scope != MODULE else None
        of_object = self.family == "js" and owner is not None and owner.kind == "object"
        for name in self._named(inside, value):
            if around:
                self._holds(inside, name, around)
            if of_object and owner is not None:
                self._holds(inside, name, owner.name + VALUE)
            self._holds(inside, name, into)
            if not name.endswith(VALUE):
                if contains:
                    self._contains(inside, name, into)
                if key := _key(binding.name):
                    self._holds(inside, name, key)
            elif isinstance(into, str) and not into.endswith(VALUE):
                self.leads[name].add(into + VALUE)  # elements may have elements
        if "{" in value:
            for key, name in _ENTRIES(value):
                self._holds(inside, name.rpartition(".")[2], key)

    def _named(self, scope: int, value: str) -> tuple[str, ...]:
        """The names in an expression; `cls` is also the class around it."""
        found = names_in(value)
        if "cls" not in found:
            return found
        while scope != MODULE and self.facts.symbols[scope].kind not in CONTAINERS:
            scope = self.facts.symbols[scope].parent
        return (*found, self.facts.symbols[scope].name) if scope != MODULE else found

    def _given_by(self, scope: int) -> str:
        """The class that yields the results of this method when its instances are iterated."""
        symbols = self.facts.symbols
        if scope == MODULE or symbols[scope].name not in _PROTOCOL:
            return ""
        parent = symbols[scope].parent
        return symbols[parent].name + VALUE if parent != MODULE else ""

    def _contains(self, scope: int, name: str, into: tuple[int, str] | str) -> None:
        """Record that `into` may be a list or a dictionary that contains the value of `name`."""
        if isinstance(into, str):
            self._holds(scope, name, into if into.endswith(VALUE) else into + VALUE)
        else:
            self._containers.add(into)

    def _result(self, scope: int) -> str:
        if scope == MODULE:
            return VALUE
        symbol = self.facts.symbols[scope]
        # Reading a property calls it.
        return symbol.name if symbol.kind == "property" else symbol.name + VALUE

    def _holds(self, scope: int, name: str, into: tuple[int, str] | str) -> None:
        """Record that `into` may hold the value that `name` has in a scope."""
        if not name:
            return
        bare = name.removesuffix(VALUE)
        source = self._variable(scope, bare)
        if isinstance(into, str):
            if name != into:
                self.leads[name].add(into)
            if source is not None:  # also `self.task = task`
                self._out[source].add(into)
            return
        self._into[name].add(into)
        if source is not None and source != into:
            self._groups.join(source, into)

    def _variable(self, scope: int, name: str) -> tuple[int, str] | None:
        """The variable or parameter that a name may refer to in a scope."""
        words, bound = self._words, self._bound
        while scope != MODULE:
            known = words.get(scope)
            if name in (self._parameters(scope) if known is None else known):
                return scope, name
            if (scope, name) in bound:
                return scope, name
            scope = self.facts.symbols[scope].parent
        return None

    def _parameters(self, scope: int) -> frozenset[str]:
        """All words of a signature, which include its parameters."""
        known = self._words.get(scope)
        if known is None:
            symbol = self.facts.symbols[scope]
            words = _WORDS(symbol.signature) if symbol.kind in _CALLABLE else []
            more = {"arguments"} if words and self._has_arguments else set()
            own = set() if words.count(symbol.name) > 1 else {symbol.name}  # `def run(run=go)`
            known = self._words[scope] = (frozenset(words) | more) - own
        return known

    @cached_property
    def _has_arguments(self) -> bool:
        """Whether functions of a script use all that they are given: `arguments[0]()`."""
        if self.family != "js":
            return False
        values = (b.value for b in self.facts.bindings)
        receivers = (c.receiver for c in self.facts.calls)
        passed = (p for c in self.facts.calls for p in c.passed)
        return any("arguments" in text for texts in (values, receivers, passed) for text in texts)

    def _signatures(self) -> None:
        """Record what parameters hold by default, or by a type that names a class."""
        symbols = self.facts.symbols
        for scope, symbol in enumerate(symbols):
            if symbol.kind not in _CALLABLE:
                continue
            text = symbol.signature
            if "=" in text:
                for name, value in _DEFAULTS(text):
                    self._into[value.rpartition(".")[2]].add((scope, name))
            if "ype[" in text or "typeof" in text:
                for name, value in _CLASSES(text):
                    self._into[value.rpartition(".")[2]].add((scope, name))

    def _calls(self) -> None:
        facts = self.facts
        for number, call in enumerate(facts.calls):
            name = call.name
            if not call.receiver and name != VALUE:
                self._called(call.caller, name, number)
            for each in self._behind(call):
                self._called(call.caller, each.removesuffix(VALUE), number)
            if call.passed and call.kind == "decorator":
                # The result of the decorator replaces what it decorates.
                for made in names_in(call.receiver) if name == VALUE else (name + VALUE,):
                    self.leads[made].update(_given(each).rpartition(".")[2] for each in call.passed)
        for name, number in passing_of(facts):
            self._passes(facts.calls[number], name)
        self._constructions()
        for scope, symbol in enumerate(facts.symbols):
            if symbol.kind not in _CALLABLE:
                continue
            named = symbol.name
            if symbol.kind == "constructor" and symbol.parent != MODULE:
                named = facts.symbols[symbol.parent].name
            around = facts.symbols[symbol.parent] if symbol.parent != MODULE else None
            for word in self._words.get(scope, ()):
                self._into[PASSED_TO + named].add((scope, word))
                self._into[PASSED_TO + symbol.name].add((scope, word))
                if around is not None and (around.kind in _CALLABLE or symbol.name == "__call__"):
                    self._into[PASSED_TO + around.name + VALUE].add((scope, word))

    def _passes(self, call: Call, name: str) -> None:
        """Record what a call passes to the parameters of the function it calls."""
        named = [name]
        if name == VALUE:  # `decorate(3)(work)`: a parameter of what is inside `decorate`
            named = [one for one in names_in(call.receiver) if one.endswith(VALUE)]
        for passed in call.passed:
            value = _given(passed)
            contains = "[" in value or "{" in value
            for given in names_in(value):
                for one in named:
                    self._holds(call.caller, given, PASSED_TO + one)
                    if contains:
                        self._contains(call.caller, given, PASSED_TO + one)

    def _constructions(self) -> None:
        """Record calls that construct an object without naming its class: `super()`, `cls()`."""
        made, facts = (MODULE, "super"), self.facts
        found = [
            number
            for number, call in enumerate(facts.calls)
            if (call.receiver in _ABOVE and call.name in MAKERS)
            or (not call.receiver and (call.name in _ABOVE or call.name in _OWN))
            or "__class__" in (call.name, call.name == VALUE and call.receiver[-9:])
        ]
        if found:
            self._by_variable[made] = found
            for item in facts.inherits:
                self._into[BASE + item.base.rpartition(".")[2]].add(made)
            for symbol in facts.symbols:
                if symbol.kind in CONTAINERS:
                    self._into[BASE + symbol.name].add(made)

    def _called(self, scope: int, name: str, number: int) -> None:
        variable = self._variable(scope, name)
        if variable is not None:
            self._by_variable[variable].append(number)

    # queries

    def reached(self, keys: Collection[str]) -> set[int]:
        """The calls by a name with one of these keys, or by a variable that may hold it."""
        self._follow()
        found = self.called(keys)
        groups: set[tuple[int, str]] = set()
        for key in self._entering.keys() & entered_by(keys):
            groups |= self._entering[key]
        for group in groups & self._grouped.keys():
            found.update(self._grouped[group])
        return found

    def called(self, keys: Collection[str]) -> set[int]:
        """The calls by a name with one of these keys."""
        return {number for key in self._by_key.keys() & keys for number in self._by_key[key]}

    @cached_property
    def _by_key(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = defaultdict(list)
        for name, numbers in self.by_name.items():
            table[key_of(name)] += numbers
        return table

    @cached_property
    def _entering(self) -> dict[str, set[tuple[int, str]]]:
        """Key -> groups of variables that may hold the value of a name with that key."""
        table: dict[str, set[tuple[int, str]]] = defaultdict(set)
        for name, nodes in self._into.items():
            table[key_of(name)].update(map(self._groups.find, nodes))
        return table

    @cached_property
    def _grouped(self) -> dict[tuple[int, str], set[int]]:
        """The calls by the variables of each group."""
        table: dict[tuple[int, str], set[int]] = defaultdict(set)
        for node, numbers in self._by_variable.items():
            table[self._groups.find(node)].update(numbers)
        return table

    def indirect(self) -> Iterator[int]:
        """The calls of parameters, and of values without a name."""
        self._follow()
        for (scope, name), numbers in self._by_variable.items():
            if scope != MODULE and name in self._parameters(scope):
                yield from numbers
        for number, call in enumerate(self.facts.calls):
            if call.name == VALUE:
                yield number

    def pairs(self) -> tuple[dict[str, set[str]], set[str]]:
        """Each name with the names it leads to, and the names whose holders this file calls."""
        self._follow()
        find, path = self._groups.find, self.facts.path
        leads = {name: others - _NO_NAME for name, others in self.leads.items()}
        outs: dict[tuple[int, str], set[str]] = defaultdict(set)
        for node, others in self._out.items():
            outs[find(node)] |= others
        called = {find(node) for node in self._by_variable}
        containers = {find(node) for node in self._containers}
        # Each group gets a name of its own in between, so that the number of pairs is a sum rather
        # than a product.
        through = {group: f"@{path}:{group[0]}:{group[1]}" for group in outs}
        reached, held = set[tuple[int, str]](), set[str]()
        if outs or called:
            for name, nodes in self._into.items():
                for node in nodes:
                    group = find(node)
                    if group in called:
                        held.add(name)
                    if group in through:
                        reached.add(group)
                        leads.setdefault(name, set()).add(through[group])
        for group in reached:
            others = outs[group] - _NO_NAME
            into = leads.setdefault(through[group], set())
            into |= others
            if group in containers:
                into |= {other + VALUE for other in others if not other.endswith(VALUE)}
        return leads, held


def entered_by(keys: Collection[str]) -> set[str]:
    """The keys whose holders within a file may also hold the values of these keys.

    A variable that holds a list also leads to the elements of the list.
    """
    return {*keys, *(key[:-2] for key in keys if key.endswith(VALUE))}


def exported(path: str, family: str, name: str) -> str:
    """The name under which other files use what is called `name` in this file."""
    if name != "default" or family != "js":
        return name
    stem = path.rpartition("/")[2].partition(".")[0]
    return ANY_DEFAULT if stem == "index" else f"default*{stem}"


def _key(name: str) -> str:
    """The element key in the name of a binding: `k` in `table['k']`."""
    return name.partition("['")[2].removesuffix("']")


def _base(name: str) -> str:
    """The variable in the name of a binding: `rules` in `self.rules['k']`."""
    return name.partition("[")[0].rpartition(".")[2]


def _given(passed: str) -> str:
    """The expression of an argument: `shop.work` of `key=shop.work`."""
    return passed.partition("=")[2]
