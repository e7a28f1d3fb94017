"""Parsed type expressions: unions, wrappers, and containers with their element types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from holdfast.index.calls.steps import split

_NOTHING = frozenset({"None", "null", "undefined", "nil", "void", "", "never", "NoneType"})
_FIRST = frozenset({
    "Optional", "Awaitable", "Final", "ClassVar", "Annotated", "Promise", "Readonly", "Partial",
    "NonNullable", "Required", "Task", "PromiseLike", "ReadOnly", "NotRequired", "Unpack",
    "InstanceType", "AsyncContextManager", "AbstractContextManager", "AbstractAsyncContextManager",
    "ContextManager", "Awaited", "Omit", "Pick", "NoInfer", "Mutable", "WritableDraft", "Draft",
})  # fmt: skip
"""Wrappers that are used like the type they wrap."""
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
    "map" or "tuple"; `parts` are its element types, or the result type of a "function". For
    "object" `name` is the type's text, for "value" an expression; "member" is the type of the
    members `parts` of the type `name`.
    """

    kind: str
    name: str = ""
    parts: tuple[str, ...] = ()


@lru_cache(maxsize=16_384)
def alternatives(text: str) -> tuple[Type, ...]:
    """The types that a value of this declared type may have, without None."""
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
    if text.startswith("{") and text.endswith("}"):
        return _object(text)
    if "=>" in text and not text.startswith(("list[", "dict[", "tuple[")):
        result = returned_type(text)
        return [Type("function", "", (result,))] if result and _PLAIN.match(result) else []
    if "&" in text and len(parts := split(text, "&")) > 1:
        return [each for part in parts[:8] for each in _alternatives(part, depth + 1)]
    if of_value := _TYPEOF.match(text):
        return [Type("value", of_value.group(2) + ("()" if of_value.group(1) else ""))]
    if keyed := _KEYED.match(text):
        return [Type("member", keyed.group(1), tuple(re.findall(r"[\w$]+", keyed.group(2))))]
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
    if name == "Callable":
        return [Type("function", "", held[-1:])] if _PLAIN.match(held[-1]) else []
    if name in _LISTS:
        return [Type("list", "", held[:1])]
    if name in _MAPS and len(held) == 2:
        return [Type("map", "", held)]
    if name in _TUPLES:
        return [Type("list", "", held[:1]) if held[-1] == "..." else Type("tuple", "", held)]
    return [Type("class", text)]


_PLAIN = re.compile(r"[\w.$]+(?:[\[<][\w.$, |\[\]<>]*[\]>])?\Z")
_TYPEOF = re.compile(r"(ReturnType\s*<\s*)?typeof\s+([\w.$]+)\s*>?\Z")
_KEYED = re.compile(r"""([^\[\]]+(?:<.*>)?)((?:\[["'][\w$]+["']\])+)\Z""", re.DOTALL)
_INDEX = re.compile(
    r"\{\s*(?:readonly\s+)?\[\s*\w+\s*(?::|in\b)([^\]]*)\]\??\s*:(.*?)[;,]?\s*\}\Z", re.DOTALL
)
_MEMBER = re.compile(r"(?:readonly\s+)?([\w$#]+|\"[\w$]+\"|'[\w$]+')\??\s*(:|(?=[(<]))")


def _object(text: str) -> list[Type]:
    if (index := _INDEX.match(text)) and len(split(index.group(2), ";")) == 1:
        return [Type("map", "", (index.group(1).strip(), index.group(2).strip()))]
    return [Type("object", text)]


def container(text: str) -> Type:
    """The container whose text `written` returned."""
    found = alternatives(text)
    return found[0] if found else Type("object", "{}")


@lru_cache(maxsize=4_096)
def object_members(text: str) -> Mapping[str, str]:
    """The members of an object type and their types; a method has a function type."""
    found: dict[str, str] = {}
    name, start, depth, begins = "", 0, 0, True
    at, end = 1, len(text.rstrip()) - 1
    while at < end:
        char = text[at]
        if not depth and begins and (member := _MEMBER.match(text, at)):
            if name:
                found.setdefault(name, text[start:at].strip(" ;,\n"))
            name, start = member.group(1).strip("\"'"), member.end()
            at, begins = member.end(), False
            continue
        if char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and text[at - 1] not in "-="):
            depth -= 1
        begins = char in ";,\n {" or (begins and char.isspace())
        at += 1
    if name:
        found.setdefault(name, text[start:end].strip(" ;,\n"))
    return found


def returned_type(text: str) -> str | None:
    """What a function of this type returns; None if it is not a function type."""
    text = text.strip()
    while text[:1] == "(" and text[-1:] == ")" and _closes(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    opened = text.find("(")
    if opened == -1 or (opened and not text.startswith("<")):
        return None
    rest = text[_closes(text, opened) + 1 :].strip()
    for sign in ("=>", ":"):
        if rest.startswith(sign):
            return rest[len(sign) :].strip()
    return None


def _closes(text: str, opened: int) -> int:
    depth = 0
    for at in range(opened, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at
    return len(text)


@lru_cache(maxsize=4_096)
def instantiated(signature: str, arguments: str) -> Mapping[str, str]:
    """The type parameters of a function with their types at a call.

    `arguments` is the text of the type arguments, or `=` and the expected result type.
    """
    opened = signature.find("<")
    closed = _angle(signature, opened) if opened != -1 else -1
    if closed == -1 or "(" in signature[:opened]:
        return {}
    parameters = [p.strip() for p in split(signature[opened + 1 : closed], ",")]
    names = [re.split(r"\s|=", p.removeprefix("const "))[0] for p in parameters]
    if arguments.startswith("="):
        result = re.search(r"\)\s*:\s*([\w.$]+)\s*<(.*)>\Z", signature)
        wanted = re.match(r"=\s*([\w.$]+)\s*<(.*)>\Z", arguments)
        if not result or not wanted:
            return {}
        if result.group(1).rpartition(".")[2] != wanted.group(1).rpartition(".")[2]:
            return {}
        slots = [p.strip() for p in split(result.group(2), ",")]
        given = [p.strip() for p in split(wanted.group(2), ",")]
        known = {s: g for s, g in zip(slots, given, strict=False) if s in names}
    else:
        given = [p.strip() for p in split(arguments, ",")]
        known = dict(zip(names, given, strict=False))
    for name, parameter in zip(names, parameters, strict=True):
        default = re.split(r"(?<![=<>])=(?!>)", parameter, maxsplit=1)
        if name not in known and len(default) == 2:
            known[name] = substituted(default[1].strip(), known)
    return known


def substituted(text: str, types: Mapping[str, str]) -> str:
    """A type with type parameters replaced."""
    if not types:
        return text
    return re.sub(r"(?<![\w.$\"'])[A-Za-z_$][\w$]*", lambda m: types.get(m[0], m[0]), text)


def _angle(text: str, opened: int) -> int:
    depth = 0
    for at in range(opened, len(text)):
        depth += (text[at] == "<") - (text[at] == ">" and text[at - 1] not in "-=")
        if not depth:
            return at
    return -1


def written(one: Type) -> str:
    """The text of a container type, which `alternatives` parses again."""
    if one.kind == "object":
        return one.name
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
"""Methods of containers that pass each element to a callback."""
OTHER_RESULTS = frozenset({"map", "flatMap", "reduce", "reduceRight", "some", "every", "findIndex",
                           "forEach"})  # fmt: skip
"""Those of which the result is not the container or an element of it."""


_CALLABLE = re.compile(r"(?:[\w.]+\.)?Callable\[\s*\[(.*?)\]\s*,")


@lru_cache(maxsize=4_096)
def callback_parameters(text: str) -> tuple[str, ...]:
    """The types of the parameters of a function type: `(a: A, b: B) => C`, `Callable[[A], C]`."""
    text = text.strip()
    if named := _CALLABLE.match(text):
        return tuple(part.strip(" \"'") for part in split(named.group(1), ","))
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
    """The type that a method of a container returns; empty when it is not known."""
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
    if one.kind != "tuple":
        return ""
    if key.isdecimal():
        place = int(key)
        return one.parts[place] if place < len(one.parts) else ""
    return " | ".join(one.parts)
