"""Values reduced to small expressions, built from syntax nodes.

A chain of names (`chains.py`) is enough for most callees. The value of a variable, a field or a
function is often more complex: one of two values, an element of a list, a cast. Those become
expressions that the resolver can evaluate:

    a.b().c           a chain
    a|b               one of several: `a or b`, `b if a else c`, `a ?? b`
    a[]   a[2]  a['k']  an element: by any key, by position, by a name
    a[_]              an element by one key that is not known: `a[KEYS.first]`
    a[*]              what an iteration gives
    a[all]            each element, by a key that a loop takes from it: `for k in a: a[k]`
    a[next]           one of what an iteration gives
    a[with]           what `with a` gives
    <T>               an instance of the type, as written: `cast(T, x)`, `x as T`
    a[1:]  a[-1]      a slice, and an element from the end
    [a,*b]  {*:b}     what b holds is held, too
    [a,b]  {k:a}      a list and an object; `.k` as a value is a function of that name defined there
    'm'               the module m: `require('m')`
    f^0^1             what f gives the function passed as its argument 0, as parameter 1 of that

Anything else is "?". Reading is bounded in depth and in length.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts import builtin_values, chains, fixed_keys, platform_values
from holdfast.index.facts.builtin_values import ASYNC, BY_KEY, IMPORTING, SPECIAL
from holdfast.index.facts.expression_text import KEY, UNKNOWN, either, grouped, typed
from holdfast.index.facts.model import MODULE

if TYPE_CHECKING:
    from tree_sitter import Node

    from holdfast.index.facts.walk import Walk

DEPTH_MAX = 12
LONGEST = 400
PARTS_MAX = 12

_WRAPPED = frozenset({"await", "parenthesized_expression", "await_expression",
                      "non_null_expression", "satisfies_expression"})  # fmt: skip
_NAMES = frozenset({"identifier", "this", "super", "property_identifier", "type_identifier",
                    "private_property_identifier"})  # fmt: skip
_LISTS = frozenset({"list", "tuple", "set", "array", "expression_list"})


def read(walk: Walk, node: Node, depth: int = 0) -> str:
    """The expression of a node, or "?"."""
    found = _read(walk, node, depth)
    return found if len(found) <= LONGEST else UNKNOWN


def _read(walk: Walk, node: Node, depth: int) -> str:
    if depth > DEPTH_MAX:
        return UNKNOWN
    kind = node.type
    if kind in _NAMES:
        text = walk.text(node, 100)
        return walk.loops.get(text, text) if walk.loops else text
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(walk, node, depth + 1)
    if kind in _WRAPPED:
        inner = node.named_child(0) if node.named_child_count else None
        return _read(walk, inner, depth + 1) if inner else UNKNOWN
    if kind in _LISTS:
        return _list(walk, node, depth + 1)
    if kind == "function_expression":
        return walk.field(node, "name", 100) or UNKNOWN
    return UNKNOWN


def _member(walk: Walk, node: Node, depth: int) -> str:
    owner = node.child_by_field_name("object")
    name = node.child_by_field_name("attribute") or node.child_by_field_name("property")
    if owner is None or name is None:
        return UNKNOWN
    text = _read(walk, owner, depth)
    return UNKNOWN if text == UNKNOWN else f"{grouped(text)}.{walk.text(name, 100)}"


def _call(walk: Walk, node: Node, depth: int) -> str:
    function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    if function is None:
        return UNKNOWN
    argument_list = node.child_by_field_name("arguments")

    def plain_text(one: Node) -> str:
        return _read(walk, one, depth)

    if function.type in ("identifier", "attribute", "import"):
        name = walk.text(function, 100).rpartition(".")[2]
        found = ""
        special = name in SPECIAL and (name in IMPORTING or walk.language.name == "python")
        if special and argument_list is not None:
            found = builtin_values.special(walk, name, argument_list, plain_text)
        elif name in ASYNC and argument_list is not None and walk.text(function, 8) == "asyncio.":
            found = builtin_values.awaited(name, argument_list, plain_text)
        elif name in BY_KEY and argument_list is not None and function.type == "attribute":
            table = walk.text(function, 100).rpartition(".")[0]
            found = builtin_values.by_key(walk, table, argument_list, plain_text)
        if found:
            return found
    found = ""

    def argument_text(one: Node) -> str:
        return grouped(_read(walk, one, depth))

    if node.type == "new_expression":
        found = platform_values.constructed(walk, function, argument_list, argument_text)
    elif function.type == "member_expression" and argument_list is not None:
        found = platform_values.called(walk, function, argument_list, argument_text)
        found = found or _mapped(walk, function, argument_list, depth)
        if not found and walk.field(function, "property", 20) in BY_KEY:
            table = walk.field(function, "object", 100)
            found = builtin_values.by_key(walk, table, argument_list, plain_text)
    if found:
        return found
    text = _read(walk, function, depth)
    if text == UNKNOWN:
        return _called_at_once(walk, function, depth)
    return f"{grouped(text)}()"


def _mapped(walk: Walk, function: Node, argument_list: Node, depth: int) -> str:
    """`xs.map((x) => value)`: a list of the values, or what a class says that has such a method."""
    owner = function.child_by_field_name("object")
    made = argument_list.named_child(0) if argument_list.named_child_count else None
    if walk.field(function, "property", 8) != "map" or owner is None or made is None:
        return ""
    before, text = walk.loops, _read(walk, owner, depth)
    value = UNKNOWN
    if made.type in ("identifier", "member_expression"):
        value = _read(walk, made, depth)
        value = value if value == UNKNOWN else f"{grouped(value)}()"
    elif made.type == "arrow_function" and (body := _result_of(made)) is not None:
        walk.loops = dict(before)
        taken = made.child_by_field_name("parameter") or made.child_by_field_name("parameters")
        for number, each in enumerate(_names_of(taken)):
            element = f"{grouped(text)}[*]" if text != UNKNOWN and len(text) <= 100 else UNKNOWN
            walk.loops[walk.text(each, 100)] = UNKNOWN if number else element
        try:
            value = _read(walk, body, depth)
        finally:
            walk.loops = before
    listed = f"[{value}]" if value[:1] != UNKNOWN else UNKNOWN
    own = f"{grouped(text)}.map()" if chains.PLAIN.match(text) else UNKNOWN
    return either(own, listed)


def _names_of(taken: Node | None) -> list[Node]:
    """The parameters of an arrow function that are names."""
    if taken is None or taken.type == "identifier":
        return [taken] if taken is not None else []
    return [c for c in taken.named_children[:6] if c.type == "identifier"]


def _result_of(function: Node) -> Node | None:
    """What a function returns, if that is all it does or its last statement."""
    body = function.child_by_field_name("body")
    if body is None or body.type != "statement_block":
        return body
    last = next((c for c in reversed(body.named_children) if c.type != "comment"), None)
    if last is None or last.type != "return_statement" or not last.named_child_count:
        return None
    return last.named_child(0)


def _called_at_once(walk: Walk, function: Node, depth: int) -> str:
    """The result of `(function () { …; return x; })()`."""
    while function.type == "parenthesized_expression" and function.named_child_count == 1:
        inner = function.named_child(0)
        if inner is None:
            return UNKNOWN
        function = inner
    value = _result_of(function) if function.type in _FUNCTIONS else None
    return _read(walk, value, depth) if value is not None else UNKNOWN


def _sum(walk: Walk, node: Node, depth: int) -> str:
    """`a + b`: lists are joined; otherwise the result of the operator's method."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    if left is None or right is None or sign is None or sign.type not in _SIGNS:
        return UNKNOWN
    first, second = _read(walk, left, depth), _read(walk, right, depth)
    if "[" in (first[:1], second[:1]) and sign.type == "+":
        return f"[{','.join(f'*{t}' for t in (first, second) if t != UNKNOWN)}]"
    method = _SIGNS[sign.type]
    if first.endswith("()") or walk.imported_values.holds(first):
        return f"{grouped(first)}.{method}()"
    if chains.PLAIN.match(first) and method.encode() in walk.source:
        return f"{first}.{method}()"
    return UNKNOWN


def _signed(walk: Walk, node: Node, depth: int) -> str:
    """`-a`: the result of the operator's method."""
    value = node.child_by_field_name("argument")
    method = _ONE_SIDED.get(node.children[0].type, "") if node.child_count else ""
    if value is None or not method or method.encode() not in walk.source:
        return UNKNOWN
    text = _read(walk, value, depth)
    return UNKNOWN if text == UNKNOWN else f"{grouped(text)}.{method}()"


_ONE_SIDED = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_SIGNS = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "@": "__matmul__",
    "%": "__mod__", "//": "__floordiv__", "**": "__pow__", "|": "__or__", "&": "__and__",
}  # fmt: skip


def _operator(walk: Walk, node: Node, depth: int) -> str:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    if left is None or right is None or sign is None:
        return UNKNOWN
    word = sign.type
    if word in ("and", "&&"):
        return _read(walk, right, depth)
    if word in ("or", "||", "??"):
        return either(_read(walk, left, depth), _read(walk, right, depth))
    return UNKNOWN


def _conditional(walk: Walk, node: Node, depth: int) -> str:
    first = node.child_by_field_name("consequence")
    second = node.child_by_field_name("alternative")
    if first is None or second is None:
        children = [c for c in node.named_children if c.type != "comment"]
        if len(children) != 3:
            return UNKNOWN
        first, second = children[0], children[2]
        checked = _checked(walk, children[1], first)
        if checked:
            return either(checked, _read(walk, second, depth))
    return either(_read(walk, first, depth), _read(walk, second, depth))


def _checked(walk: Walk, condition: Node, value: Node) -> str:
    """The type of a value from the condition around it: `x if isinstance(x, T)`."""
    argument_list = condition.child_by_field_name("arguments") if condition.type == "call" else None
    if argument_list is None or argument_list.named_child_count != 2:
        return ""
    if walk.field(condition, "function", 20) != "isinstance":
        return ""
    subject, type_ = argument_list.named_children
    if type_.type not in ("identifier", "attribute") or walk.text(subject) != walk.text(value):
        return ""
    return typed(walk.text(type_, 160))


def _yielded(walk: Walk, node: Node, depth: int) -> str:
    """`x = yield y`: what `Generator[Y, X, R]` says is sent."""
    at = walk.symbol()
    sent = _SENT.search(walk.symbols[at].signature) if at != MODULE else None
    return typed(sent.group(1)) if sent and sent.group(1) != "None" else UNKNOWN


_SENT = re.compile(r"Generator\[[^\[\],]+(?:\[[^\[\]]*\])?,\s*[\"']?([A-Za-z_][\w.]*)")


def _subscript(walk: Walk, node: Node, depth: int) -> str:
    owner = node.child_by_field_name("value") or node.child_by_field_name("object")
    index = node.child_by_field_name("subscript") or node.child_by_field_name("index")
    if owner is None or index is None:
        return UNKNOWN
    if owner.type in ("identifier", "attribute"):
        name = walk.text(owner, 100).rpartition(".")[2]
        if name in ("Union", "Optional"):  # an alias of types
            parts = node.named_children[1 : PARTS_MAX + 1]
            texts = [_read(walk, part, depth) for part in parts]
            return "|".join(t for t in texts if t != UNKNOWN) or UNKNOWN
    text = _read(walk, owner, depth)
    if text == UNKNOWN:
        return UNKNOWN
    text = grouped(text)
    if index.type == "slice":
        bounds = walk.text(index, 20)
        # With a step, or with a bound that is not known, the places are others.
        return f"{text}[{bounds}]" if _BOUNDS.match(bounds) else f"[{text}[*]]"
    if text == "globals()" and index.type == "string":
        return walk.text(index, 80).strip("\"'")
    if index.type in _JOINED and (key := platform_values.member_name(walk, index)):
        return f"{text}.{key}"
    if (key := fixed_keys.exact(walk, index)) and node.named_child_count == 2:
        return f"{text}[{key}]"
    if index.type == "identifier" and fixed_keys.is_loop_over(walk, node, owner, index):
        return f"{text}[all]"
    return f"{text}[_]" if fixed_keys.is_fixed(walk, node) else f"{text}[]"


_JOINED = frozenset({"binary_operator", "binary_expression", "template_string"})
_BOUNDS = re.compile(r"(?:-?\d{1,4})?:(?:-?\d{1,4})?\Z")


def _list(walk: Walk, node: Node, depth: int) -> str:
    parts = [c for c in node.named_children[: PARTS_MAX + 1] if c.type != "comment"][:PARTS_MAX]
    texts = [_part(walk, part, depth) for part in parts]
    return f"[{','.join(texts)}]" if any(t != UNKNOWN for t in texts) else UNKNOWN


def _part(walk: Walk, node: Node, depth: int) -> str:
    """An element of a list; a spread one starts with `*`."""
    if node.type in ("list_splat", "spread_element") and node.named_child_count:
        inner = node.named_child(0)
        text = _read(walk, inner, depth) if inner is not None else UNKNOWN
        return text if text == UNKNOWN else f"*{grouped(text)}"
    return _read(walk, node, depth)


def _comprehension(walk: Walk, node: Node, depth: int) -> str:
    """A list with the value of its body, using the names that its loops bind."""
    body, before = node.child_by_field_name("body"), walk.loops
    if body is None:
        return UNKNOWN
    walk.loops = dict(before)
    try:
        for each in node.named_children[1:5]:
            if each.type == "for_in_clause":
                _looped(walk, each, depth)
        if body.type == "pair":
            value = body.child_by_field_name("value")
            text = _read(walk, value, depth) if value is not None else UNKNOWN
            return UNKNOWN if text == UNKNOWN else f"{{?:{text}}}"
        text = _read(walk, body, depth)
    finally:
        walk.loops = before
    return UNKNOWN if text == UNKNOWN else f"[{text}]"


def _looped(walk: Walk, clause: Node, depth: int) -> None:
    left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
    value = _read(walk, right, depth) if left is not None and right is not None else UNKNOWN
    if left is None or value == UNKNOWN or len(value) > 100:
        return
    value = f"{grouped(value)}[*]"
    if left.type == "identifier":
        walk.loops[walk.text(left, 100)] = value
    elif left.type in ("pattern_list", "tuple_pattern"):
        for place, name in enumerate(left.named_children[:6]):
            if name.type == "identifier":
                walk.loops[walk.text(name, 100)] = f"{value}[{place}]"


def _object(walk: Walk, node: Node, depth: int) -> str:
    parts = []
    for each in node.named_children[:40]:
        key, text = "", UNKNOWN
        if each.type == "pair":
            name, value = each.child_by_field_name("key"), each.child_by_field_name("value")
            if name is None or value is None:
                continue
            key = walk.text(name, 80).strip("\"'")
            text = f".{key}" if value.type in _FUNCTIONS else _read(walk, value, depth)
        elif each.type == "method_definition":
            key = walk.field(each, "name", 80)
            text = f".{key}"
        elif each.type == "shorthand_property_identifier":
            key = text = walk.text(each, 80)
        elif each.type in ("dictionary_splat", "spread_element") and each.named_child_count:
            inner = each.named_child(0)
            text = _read(walk, inner, depth) if inner is not None else UNKNOWN
            if text != UNKNOWN:
                parts.append(f"*:{text}")
            continue
        if text != UNKNOWN:
            parts.append(f"{key if KEY.match(key) else '?'}:{text}")
    return "{" + ",".join(parts) + "}" if parts else UNKNOWN


_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})


def _as(walk: Walk, node: Node, depth: int) -> str:
    parts = node.named_children  # `as const` has no type
    if len(parts) > 1:
        found = typed(walk.text(parts[1], 160))
        if found != UNKNOWN:
            return found
    return _read(walk, parts[0], depth) if parts else UNKNOWN


def _assigned(walk: Walk, node: Node, depth: int) -> str:
    """`a = b = c`, `(a := b)`: the value."""
    value = node.child_by_field_name("right") or node.child_by_field_name("value")
    return _read(walk, value, depth) if value else UNKNOWN


def _assigned_sometimes(walk: Walk, node: Node, depth: int) -> str:
    """`a ??= b`: the value that it had, or the new one."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or walk.field(node, "operator", 3) not in SOMETIMES:
        return UNKNOWN
    return either(_read(walk, left, depth), _read(walk, right, depth))


SOMETIMES = frozenset({"||=", "??=", "&&="})


def _last(walk: Walk, node: Node, depth: int) -> str:
    """`(a, b)`: the last one."""
    value = node.named_child(node.named_child_count - 1) if node.named_child_count else None
    return _read(walk, value, depth) if value is not None else UNKNOWN


_READERS = {
    "augmented_assignment_expression": _assigned_sometimes,
    "sequence_expression": _last,
    "attribute": _member,
    "member_expression": _member,
    "call": _call,
    "call_expression": _call,
    "new_expression": _call,
    "boolean_operator": _operator,
    "binary_expression": _operator,
    "conditional_expression": _conditional,
    "ternary_expression": _conditional,
    "subscript": _subscript,
    "subscript_expression": _subscript,
    "list_comprehension": _comprehension,
    "set_comprehension": _comprehension,
    "generator_expression": _comprehension,
    "dictionary_comprehension": _comprehension,
    "binary_operator": _sum,
    "yield": _yielded,
    "unary_operator": _signed,
    "dictionary": _object,
    "object": _object,
    "as_expression": _as,
    "assignment": _assigned,
    "assignment_expression": _assigned,
    "named_expression": _assigned,
}


def read_chain(walk: Walk, node: Node) -> str:
    """The expression of a node; faster if its text is a plain chain."""
    start, end = node.start_byte, node.end_byte
    if end - start <= 100 and node.type in _CHAINS:
        text = walk.source[start:end].decode("utf-8", "replace")
        if chains.PLAIN.match(text):
            return text
    return read(walk, node)


_CHAINS = frozenset({"identifier", "attribute", "member_expression"})


def argument(walk: Walk, span: tuple[int, int], place: int) -> str:
    """The expression of an argument, given the span of all arguments and its position."""
    root = walk.tree.root_node if walk.tree is not None else None
    around = root.descendant_for_byte_range(*span) if root is not None else None
    argument_list = [c for c in around.named_children if c.type != "comment"] if around else []
    node = argument_list[place] if place < len(argument_list) else None
    if node is not None and node.type == "keyword_argument":
        node = node.child_by_field_name("value")
    elif node is not None and node.type in ("list_splat", "dictionary_splat", "spread_element"):
        node = node.named_child(0) if node.named_child_count else None
    return read(walk, node) if node is not None else ""
