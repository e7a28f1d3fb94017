"""Types as written, taken apart: unions, wrappers, and containers with what they hold."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from holdfast.index.calls.steps import split

_NOTHING = frozenset({"None", "null", "undefined", "nil", "void", "", "never", "NoneType"})
_FIRST = frozenset({
    "Optional", "Awaitable", "Final", "ClassVar", "Annotated", "Promise", "Readonly", "Partial",
    "NonNullable", "Required", "Task", "PromiseLike", "ReadOnly", "NotRequired", "Unpack",
    "InstanceType", "AsyncContextManager", "AbstractContextManager", "AbstractAsyncContextManager",
    "ContextManager",
})  # fmt: skip
"""Wrappers whose value is used like what they wrap."""
_UNTYPED = frozenset({"Any", "object", "any", "unknown"})
_LAST = frozenset({"Coroutine"})
_CLASS = frozenset({"Type", "type"})
_LISTS = frozenset({
    "list", "List", "Sequence", "MutableSequence", "Iterable", "Iterator", "AsyncIterable",
    "AsyncIterator", "Generator", "AsyncGenerator", "set", "Set", "frozenset", "FrozenSet",
    "AbstractSet", "MutableSet", "deque", "Deque", "Collection", "Array", "ReadonlyArray",
    "ReadonlySet", "IterableIterator", "Reversible", "KeysView", "ValuesView", "WeakSet",
})  # fmt: skip
_MAPS = frozenset({
    "dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict", "Map",
    "ReadonlyMap", "WeakMap", "Record", "ItemsView", "WeakValueDictionary", "WeakKeyDictionary",
    "ChainMap",
})  # fmt: skip
_TUPLES = frozenset({"tuple", "Tuple"})
_ARRAY = re.compile(r"(?:readonly\s+)?(.+)\[\]\Z", re.DOTALL)


class Type(NamedTuple):
    """One alternative of a type.

    `kind` is "class" (an instance of the class named), "itself" (the class as a value), "list",
    "map" or "tuple"; `parts` are the types of what it holds.
    """

    kind: str
    name: str = ""
    parts: tuple[str, ...] = ()


@lru_cache(maxsize=16_384)
def alternatives(text: str) -> tuple[Type, ...]:
    """The types that a value of this declared type may have; without None."""
    return tuple(_alternatives(text, 0))


def _alternatives(text: str, depth: int) -> list[Type]:
    text = text.strip().removeprefix(":").strip().strip("\"'").strip()
    while text[:1] == "(" and text[-1:] == ")" and "=>" not in text:
        text = text[1:-1].strip()
    if text in _NOTHING or depth > 6:
        return []
    parts = split(text, "|")
    if len(parts) > 1:
        return [each for part in parts[:8] for each in _alternatives(part, depth + 1)]
    if "=>" in text:
        return []
    if array := _ARRAY.match(text):
        return [Type("list", "", (array.group(1),))]
    if text.startswith("[") and text.endswith("]"):
        return [Type("tuple", "", tuple(p.strip() for p in split(text[1:-1], ",")))]
    found = re.match(r"([\w.$]+)\s*[\[<](.*)[\]>]\Z", text, re.DOTALL)
    if not found:
        bare = text.rpartition(".")[2]
        return [] if bare in _FIRST or bare in _UNTYPED else [Type("class", text)]
    name, inner = found.group(1).rpartition(".")[2], found.group(2)
    held = tuple(p.strip() for p in split(inner, ","))
    if name == "Union":
        return [each for part in held[:8] for each in _alternatives(part, depth + 1)]
    if name in _FIRST:
        return _alternatives(held[0], depth + 1)
    if name in _LAST:
        return _alternatives(held[-1], depth + 1)
    if name in _CLASS:
        return [Type("itself", each.name) for each in _alternatives(held[0], depth + 1)
                if each.kind == "class"]  # fmt: skip
    if name in _LISTS:
        return [Type("list", "", held[:1])]
    if name in _MAPS and len(held) == 2:
        return [Type("map", "", held)]
    if name in _TUPLES:
        return [Type("list", "", held[:1]) if held[-1] == "..." else Type("tuple", "", held)]
    return [Type("class", text)]


def written(one: Type) -> str:
    """A container as a text that `alternatives` reads back."""
    if one.kind == "list":
        return f"list[{one.parts[0]}]"
    if one.kind == "map":
        return f"dict[{', '.join(one.parts)}]"
    return f"tuple[{', '.join(one.parts)}]"


_ONE = frozenset({"pop", "popleft", "at", "find", "findLast", "shift"})
_SAME = frozenset({"copy", "filter", "slice", "concat", "reverse", "sort", "toSorted", "toReversed",
                   "union", "difference", "intersection", "splice", "__iter__"})  # fmt: skip


ITERATING = frozenset({"forEach", "map", "filter", "find", "findLast", "findIndex", "some", "every",
                       "flatMap", "reduce", "reduceRight", "sort", "toSorted", "from"})  # fmt: skip
"""Methods of containers that give each element to a callback."""


@lru_cache(maxsize=4_096)
def callback_parameters(text: str) -> tuple[str, ...]:
    """The types of the parameters of a function type: `(a: A, b: B) => C`."""
    text = text.strip()
    while text[:1] == "(" and text[-1:] == ")":
        text = text[1:-1].strip()
    for part in split(text, "|"):
        found = re.match(r"\s*(?:<[^()]*>\s*)?\(", part)
        if not found or "=>" not in part:
            continue
        depth, start = 0, found.end()
        for at in range(start - 1, len(part)):
            depth += (part[at] in "([{") - (part[at] in ")]}")
            if not depth:
                inner = split(part[start:at], ",")
                pairs = [each.partition(":") for each in inner]
                return tuple(t.strip() for name, _, t in pairs if name.strip() != "this")
    return ()


def member_result(one: Type, name: str) -> str | None:
    """The type that a method of a container returns; None when it has none that we know."""
    if one.kind == "map":
        key, value = one.parts
        if name in ("get", "pop", "setdefault"):
            return value
        if name in ("items", "entries"):
            return f"list[tuple[{key}, {value}]]"
        if name == "popitem":
            return f"tuple[{key}, {value}]"
        if name in ("values", "keys"):
            return f"list[{value if name == 'values' else key}]"
        return written(one) if name in ("copy", "forEach") else ""
    if one.kind == "list":
        if name in _ONE:
            return one.parts[0]
        if name in ITERATING:
            return written(one)
        if name == "entries":
            return f"list[tuple[int, {one.parts[0]}]]"
        return written(one) if name in _SAME or name == "values" else ""
    return ""


def item(one: Type, key: str) -> str:
    """The type of an element: by iteration ("*"), by position, or by any key."""
    if one.kind == "map":
        return one.parts[0] if key == "*" else one.parts[1]
    if one.kind == "list":
        return one.parts[0]
    if key.isdecimal():
        place = int(key)
        return one.parts[place] if place < len(one.parts) else ""
    return " | ".join(one.parts)
