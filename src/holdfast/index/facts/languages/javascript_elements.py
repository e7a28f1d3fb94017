"""Elements and members in JavaScript that are added, replaced, moved or deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.facts import expressions
from holdfast.index.facts.chains import PLAIN
from holdfast.index.facts.languages.javascript_modules import FUNCTIONS
from holdfast.index.facts.languages.javascript_values import LITERALS, unwrapped
from holdfast.index.facts.languages.rules import grow, home, moved, unknown_member
from holdfast.index.facts.model import ANY_TIME, MODULE, SAME_SCOPE
from holdfast.index.facts.walk import Walk

if TYPE_CHECKING:
    from tree_sitter import Node


def sometimes_rule(walk: Walk, node: Node) -> None:
    """`cart ??= new Cart()`: one more value that a variable or a field may have."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or right.type in LITERALS or right.type in FUNCTIONS:
        return
    if walk.field(node, "operator", 3) not in expressions.SOMETIMES:
        return
    found = expressions.read_chain(walk, right)
    if found == "?":
        return
    if left.type == "identifier":
        name, here = walk.text(left, 100), walk.symbol()
        at = home(walk, node, name) if here != MODULE else MODULE
        inside, last = (SAME_SCOPE, -walk.line) if at == here else (here, ANY_TIME)
        walk.bind(node, name, expression=found, scope=at, inside=inside, last=last)
    elif left.type == "member_expression" and walk.text(left, 5) == "this.":
        name, scope = walk.text(left, 100)[5:], walk.enclosing_class()
        if scope != MODULE and PLAIN.match(name.lstrip("#")):
            walk.bind(node, name, expression=found, kind="field", scope=scope, inside=walk.symbol())


_OWNERS = frozenset({"class", "function"})
_GROWING = frozenset({"push", "unshift", "add", "set"})


def deleted_rule(walk: Walk, node: Node) -> None:
    """`delete Cart.prototype.total`, `delete table.key`."""
    target = node.child_by_field_name("argument")
    if target is None:
        return
    if target.type == "subscript_expression":
        whole = target.child_by_field_name("object")
        if whole is not None:
            moved(walk, node, walk.text(whole, 100))
    elif target.type == "member_expression":
        owner, _, name = walk.text(target, 100).rpartition(".")
        unknown_member(walk, node, owner.removesuffix(".prototype"), name)


_MOVING = frozenset({"reverse", "sort", "shift", "splice", "pop", "fill", "copyWithin"})
"""Methods after which elements are no longer where they were."""


def _assigned_members(walk: Walk, node: Node, owner: str, literal: Node) -> None:
    """`Object.assign(table, { k: f })`: the members of a literal, as those of another object."""
    of_class = owner.removesuffix(".prototype")
    for each in literal.named_children[:12]:
        value = each.child_by_field_name("value")
        if each.type == "shorthand_property_identifier":
            key = text = walk.text(each, 80)
        elif each.type == "method_definition" or (value is not None and value.type in FUNCTIONS):
            key = walk.field(each, "name", 80) or walk.field(each, "key", 80).strip("'\"")
            text = f".{key}"
        elif value is not None:
            key = walk.field(each, "key", 80).strip("'\"")
            text = expressions.read_chain(walk, value)
        else:
            continue
        if of_class != owner:
            at = walk.latest.get(of_class)
            known = f"{of_class}.{key}" in walk.latest or text == "?"
            if at is None or known or walk.symbols[at].kind not in _OWNERS:
                unknown_member(walk, each, of_class, key)
            else:
                walk.bind(each, key, expression=text, kind="field", scope=at, inside=MODULE)
        elif key.isidentifier():
            grow(walk, node, owner, f"'{key}'", text)


def _mixed_in(walk: Walk, node: Node, arguments: Node) -> None:
    """`Object.assign(Cart.prototype, priced)`: the members of an object become those of a class."""
    if walk.calls[-1].name == "assign":
        first = walk.text(arguments.named_children[0], 100)
        for each in arguments.named_children[1:6]:
            if each.type == "object" and PLAIN.match(first) and first != "this":
                _assigned_members(walk, node, first, each)
    target, *others = [walk.text(each, 100) for each in arguments.named_children[:6]]
    owner = target.removesuffix(".prototype")
    if owner == target or not PLAIN.match(owner):
        return
    for other in others:
        base = other.removesuffix(".prototype")
        if PLAIN.match(base):
            walk.inherit(owner, base, "mixes in", node.start_point[0] + 1)


def added_rule(walk: Walk, node: Node) -> None:
    """`steps.push(f)`, `table.set("k", f)`: elements added to a container."""
    call, arguments = walk.calls[-1] if walk.calls else None, node.child_by_field_name("arguments")
    if call is not None and arguments is not None and arguments.named_child_count > 1:
        if call.receiver == "Object" and call.name in ("assign", "setPrototypeOf"):
            _mixed_in(walk, node, arguments)
            return
        if call.receiver == "Object" and call.name == "defineProperty":
            owner, key = (walk.text(each, 100) for each in arguments.named_children[:2])
            unknown_member(walk, node, owner.removesuffix(".prototype"), key.strip("'\""))
            return
        if call.receiver == "util" and call.name == "inherits":
            child, base = (walk.text(each, 100) for each in arguments.named_children[:2])
            walk.inherit(child, base, "extends", node.start_point[0] + 1)
            return
    if call is not None and call.name in _MOVING and call.start == node.start_byte:
        moved(walk, node, call.receiver)
    if (
        call is None
        or call.name not in _GROWING
        or arguments is None
        or call.start != node.start_byte
    ):
        return
    count = arguments.named_child_count
    owner = _assigned_if_missing(walk, node) if call.receiver == "?" else call.receiver
    first = arguments.named_child(0) if owner and 0 < count <= ADDED_MAX else None
    if first is None:
        return
    if call.name != "set":
        for each in arguments.named_children if call.name != "add" else [first]:
            if each.type not in LITERALS:
                grow(walk, node, owner, "+", expressions.read_chain(walk, each))
        return
    argument = arguments.named_child(1)
    if count != 2 or argument is None or argument.type in LITERALS:
        return
    text = walk.text(first, 80).strip("'\"`")
    key = f"'{text}'" if first.type == "string" and text.isidentifier() else ""
    grow(walk, node, owner, key, expressions.read_chain(walk, argument))


ADDED_MAX = 4
"""How many elements one call adds, at most; more are a list of data."""


def _assigned_if_missing(walk: Walk, call: Node) -> str:
    """The container in `(table[name] ||= []).push(f)`."""
    function = call.child_by_field_name("function")
    owner = function.child_by_field_name("object") if function is not None else None
    inner = unwrapped(owner) if owner is not None else None
    if inner is None or inner.type != "augmented_assignment_expression":
        return ""
    if walk.field(inner, "operator", 4) not in ("||=", "??="):
        return ""  # `+=` makes another value
    return walk.field(inner, "left", 100)
