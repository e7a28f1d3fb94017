"""Bindings in Python: assignments of names, attributes and items, and lambdas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.facts import expressions
from holdfast.index.facts.branches import branch_end
from holdfast.index.facts.chains import PLAIN
from holdfast.index.facts.languages.rules import constant_string, grow, moved, unknown_member
from holdfast.index.facts.model import ANY_TIME, MODULE, RESULT, Kind
from holdfast.index.facts.walk import CONTAINERS, Walk

if TYPE_CHECKING:
    from tree_sitter import Node


def assignment_rule(walk: Walk, node: Node) -> None:
    left = node.child_by_field_name("left")
    if left is None:
        return
    right = node.child_by_field_name("right")
    if right is not None and right.type == "lambda" and left.type == "identifier":
        _lambda(walk, node, left, right)
        return
    constant_string(walk, left, right)
    literal = right is not None and right.type in LITERALS and walk.scopes
    if literal and node.child_by_field_name("type") is None:
        return
    kind = left.type
    if kind in PATTERNS:
        if right is not None:
            unpack(walk, left, expressions.read(walk, right))
        return
    if kind == "subscript" and right is not None:
        _item(walk, node, left, right)
        return
    if kind not in ("identifier", "attribute"):
        return
    name = walk.text(left, 100)
    scope = None
    top = False
    if kind == "attribute":
        owner, _, name = name.rpartition(".")
        if owner not in ("self", "cls"):
            if right is not None:
                _attribute(walk, node, owner, name, right)
            return
        scope = walk.enclosing_class()
        if scope == MODULE:
            return
    else:
        top = not walk.inside()
        scope = walk.elsewhere.get((walk.symbol(), name)) if walk.elsewhere else None
    # The text between the name and the value has the type, if there is one.
    between = walk.source[left.end_byte : right.start_byte if right else node.end_byte]
    annotated = walk.field(node, "type") if b":" in between else ""
    value = ""
    if right is not None and right.type not in LITERALS:
        value = expressions.read_chain(walk, right)
        if value == "?" and right.type in _EMPTY and not right.named_child_count and walk.scopes:
            value = "[]"  # the name is a variable here, whatever it means outside
    field = kind == "attribute" or walk.inside() in CONTAINERS
    last = 0
    if value and value != "?" and not field:
        last = ANY_TIME if scope is not None else -branch_end(node)
    walk.bind(
        node,
        name,
        type=annotated,
        expression=value,
        kind="field" if field else "variable",
        scope=scope,
        inside=walk.symbol(),
        last=last,
    )
    if top:
        constant: Kind = "constant" if name.isupper() else "variable"
        exported = not name.startswith("_")
        walk.define(node, name, constant, opens=False, exported=exported)


_EMPTY = frozenset({"list", "dictionary"})
PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
LITERALS = frozenset({"string", "integer", "float", "true", "false", "none", "lambda",
                       "concatenated_string", "comparison_operator", "not_operator"})  # fmt: skip


def unpack(walk: Walk, pattern: Node, value: str, last: int = 0) -> None:
    """`a, b = value`: each name is an element of it."""
    if value == "?" and not last:
        return
    if "|" in value:
        value = f"({value})"
    names = pattern.named_children
    size, starred = len(names), False
    for place, name in enumerate(names[:8]):
        # After a star, positions are counted from the end.
        at = place - size if starred else place
        item = "?" if value == "?" else f"{value}[{at}]"
        if name.type == "identifier":
            walk.bind(name, walk.text(name, 100), expression=item, last=last)
        elif name.type == "list_splat_pattern" and value != "?":
            end = "" if place == size - 1 else str(place + 1 - size)
            part, starred = f"{value}[{place}:{end}]", True
            walk.bind(name, walk.text(name, 100).lstrip("* "), expression=part, last=last)
        elif name.type == "attribute" and value != "?":
            _unpacked_field(walk, name, item)
        elif name.type == "subscript" and (whole := name.child_by_field_name("value")):
            moved(walk, name, walk.text(whole, 100))  # `t[0], t[1] = t[1], t[0]`
        elif name.type in PATTERNS:
            unpack(walk, name, item, last)


def _unpacked_field(walk: Walk, name: Node, item: str) -> None:
    """`self.a, self.b = make()`."""
    owner, _, field = walk.text(name, 100).rpartition(".")
    scope = walk.enclosing_class()
    if owner in ("self", "cls") and scope != MODULE:
        inside = walk.symbol()
        walk.bind(name, field, expression=item, kind="field", scope=scope, inside=inside)


def _lambda(walk: Walk, node: Node, left: Node, right: Node) -> None:
    """`name = lambda x: …` defines a function with that name."""
    block = right.child_by_field_name("body")
    name = walk.text(left, 120)
    here = walk.symbol()
    scope = walk.elsewhere.get((here, name)) if walk.elsewhere else None
    if scope is not None:  # `nonlocal name`
        walk.bind(node, name, expression=f".{name}", scope=scope, inside=here, last=ANY_TIME)
    kind: Kind = "method" if walk.inside() in CONTAINERS else "function"
    end = block.start_byte if block else None
    index = walk.define(node, name, kind, signature_end=end, exported=not name.startswith("_"))
    if block is not None and index != MODULE and block.type not in LITERALS:
        walk.bind(node, RESULT, expression=expressions.read_chain(walk, block))


def _attribute(walk: Walk, node: Node, owner: str, name: str, right: Node) -> None:
    """`cart.total = f`: a field of a class in this file; otherwise bound as `cart.total`."""
    if not PLAIN.match(owner):
        return
    if right.type in LITERALS:
        if right.type == "lambda":
            unknown_member(walk, node, owner, name)
        return
    value = expressions.read_chain(walk, right)
    if value == "?":
        unknown_member(walk, node, owner, name)
        return
    for index, symbol in enumerate(walk.symbols[-200:], max(0, len(walk.symbols) - 200)):
        if symbol.kind == "class" and symbol.qualified == owner:
            inside = walk.symbol()
            walk.bind(node, name, expression=value, kind="field", scope=index, inside=inside)
            return
    walk.bind(node, f"{owner}.{name}", expression=value)


def _item(walk: Walk, node: Node, left: Node, right: Node) -> None:
    """`table["k"] = f`: an element of a container."""
    if right.type in LITERALS:
        return
    whole = left.child_by_field_name("value")
    value = expressions.read_chain(walk, right) if whole is not None else "?"
    index = left.child_by_field_name("subscript")
    if whole is not None and index is not None and index.type == "slice":  # `table[:] = [f]`
        moved(walk, node, walk.text(whole, 100))
        if value != "?":
            grow(walk, node, walk.text(whole, 100), "+", f"({value})[*]")
        return
    if value == "?" or whole is None:
        return
    item = expressions.read(walk, left)
    key = item[item.rfind("[") + 1 : -1] if item.endswith("]") else ""
    grow(walk, node, walk.text(whole, 100), key, value)


def added_rule(walk: Walk, node: Node) -> None:
    """`steps.append(f)` and `steps += [f]`: elements added to a container."""
    if node.type == "augmented_assignment":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if walk.field(node, "operator", 2) == "|=" and left.type in ("identifier", "attribute"):
            _merged(walk, node, walk.text(left, 100), right)
            return
        if right.type not in ("list", "tuple"):
            return
        value = expressions.read_chain(walk, right)
        if value != "?":
            grow(walk, node, walk.text(left, 100), "+", f"{value}[*]")
        return
    call, arguments = walk.calls[-1], node.child_by_field_name("arguments")
    if arguments is None or not call.receiver or not arguments.named_child_count:
        return
    if call.name == "update":
        _updated(walk, node, call.receiver, arguments)
        return
    if arguments.named_child_count > 2:
        return
    argument = arguments.named_child(arguments.named_child_count - 1)
    if argument is None or argument.type in LITERALS:
        return
    value = expressions.read_chain(walk, argument)
    if value == "?":
        return
    if call.name == "setattr":
        return
    key = "+"
    if call.name == "setdefault":
        first = arguments.named_child(0)
        text = walk.text(first, 80).strip("'\"") if first is not None else ""
        is_fixed = first is not None and first.type == "string" and text.isidentifier()
        key = f"'{text}'" if is_fixed and arguments.named_child_count == 2 else ""
    grow(walk, node, call.receiver, key, f"{value}[*]" if call.name == "extend" else value)


GROWING = frozenset({"append", "appendleft", "add", "insert", "extend", "setdefault", "update"})


MOVING = frozenset({"reverse", "sort", "pop", "remove", "clear", "popleft", "rotate", "popitem"})
"""Methods after which elements are no longer where they were."""


def moved_rule(walk: Walk, node: Node) -> None:
    """`steps.reverse()`: its elements are at other places."""
    call = walk.calls[-1]
    if call.receiver and call.start == node.start_byte:
        moved(walk, node, call.receiver)


def deleted_rule(walk: Walk, node: Node) -> None:
    """`del Cart.total`, `del total` in the body of a class, `del table[0]`."""
    for each in node.named_children[:8]:
        for target in each.named_children[:8] if each.type == "expression_list" else (each,):
            if target.type == "attribute":
                owner, _, name = walk.text(target, 100).rpartition(".")
                unknown_member(walk, target, owner, name)
            elif target.type == "identifier" and walk.inside() in CONTAINERS:
                unknown_member(walk, target, walk.prefix(), walk.text(target, 100))
            elif target.type == "subscript" and (whole := target.child_by_field_name("value")):
                moved(walk, target, walk.text(whole, 100))


def _merged(walk: Walk, node: Node, owner: str, right: Node) -> None:
    """`table |= {"k": f}`: elements by their keys; those of another value are not known."""
    known = right.type == "dictionary"
    for pair in right.named_children[:12] if known else ():
        key = pair.child_by_field_name("key")
        if key is not None and key.type == "string":
            text = walk.text(key, 60).strip("\"'")
            _pair(walk, node, owner, text, pair.child_by_field_name("value"))
    if not known:
        moved(walk, node, owner)


def _updated(walk: Walk, node: Node, owner: str, arguments: Node) -> None:
    """`table.update({"k": f})`, `table.update(k=f)`: elements by their keys."""
    for each in arguments.named_children[:8]:
        if each.type == "keyword_argument":
            _pair(
                walk, node, owner, walk.field(each, "name", 60), each.child_by_field_name("value")
            )
        for pair in each.named_children[:12] if each.type == "dictionary" else ():
            key = pair.child_by_field_name("key")
            if key is not None and key.type == "string":
                text = walk.text(key, 60).strip("\"'")
                _pair(walk, node, owner, text, pair.child_by_field_name("value"))


def _pair(walk: Walk, node: Node, owner: str, key: str, value: Node | None) -> None:
    if value is None or value.type in LITERALS or not key.isidentifier():
        return
    text = expressions.read_chain(walk, value)
    if text != "?":
        grow(walk, node, owner, f"'{key}'", text)


def set_rule(walk: Walk, node: Node) -> None:
    """`setattr(cart, "total", f)`."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count != 3:
        return
    owner, name, value = arguments.named_children
    key = walk.text(name, 80).strip("\"'")
    if name.type == "string" and key.isidentifier():
        _attribute(walk, node, walk.text(owner, 100), key, value)
    elif name.type != "string":
        unknown_member(walk, node, walk.text(owner, 100), "*")


def elsewhere_rule(walk: Walk, node: Node) -> None:
    """`global x`, `nonlocal x`: the scope that assignments of the name belong to."""
    at = walk.symbol()
    if at == MODULE:
        return
    scope = MODULE if node.type == "global_statement" else walk.symbols[at].parent
    for each in node.named_children[:20]:
        walk.elsewhere[at, walk.text(each, 100)] = scope
