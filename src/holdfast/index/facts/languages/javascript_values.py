"""Bindings in JavaScript: declarations, assignments, fields, and destructured names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts import expressions
from holdfast.index.facts.chains import PLAIN
from holdfast.index.facts.expression_text import either
from holdfast.index.facts.languages.javascript_modules import (
    COMMENT,
    FUNCTIONS,
    REQUIRE,
    specifiers,
)
from holdfast.index.facts.languages.rules import constant_string, heritage
from holdfast.index.facts.model import ANY_TIME, CLASS, MODULE, RESULT, Kind
from holdfast.index.facts.walk import CONTAINERS, Rule, Walk

if TYPE_CHECKING:
    from tree_sitter import Node


LITERALS = frozenset({
    "string", "number", "true", "false", "null", "undefined", "template_string", "regex",
    "unary_expression", "update_expression", "jsx_element", "jsx_self_closing_element",
})  # fmt: skip
"""Values that are irrelevant to calls."""


def class_heritage(walk: Walk, node: Node, index: int) -> None:
    for child in node.named_children:
        if child.type in ("class_heritage", "extends_type_clause"):
            line = node.start_point[0] + 1
            text = walk.text(child)
            heritage(walk, index, text, line)
            for base in _MIXED.findall(text)[:6]:  # `extends Priced(Named(Cart))`
                walk.inherit(walk.symbols[index].qualified, base, "extends", line)


_MIXED = re.compile(r"(?<=[\w$]\()\s*([\w$.]+)\s*(?=[()])")


def assigned(
    walk: Walk, node: Node, name: str, value: Node, qualified: str | None, *, member: bool = False
) -> bool:
    """Define the function or class that is assigned to a name. False if the value is neither."""
    block = value.child_by_field_name("body")
    if value.type in FUNCTIONS:
        member = member or walk.inside() in CONTAINERS
        member = member or (qualified is not None and "." in qualified)
        index = walk.define(
            node,
            name,
            "method" if member else "function",
            signature_end=block.start_byte if block else None,
            qualified=qualified,
        )
        own = walk.field(value, "name", 100)
        if own and own != name and index != MODULE and not member:
            walk.bind(node, own, expression=name)  # its name inside itself
        if block is not None and block.type != "statement_block" and index != MODULE:
            if block.type == "class" and block.child_by_field_name("name") is None:
                class_heritage(walk, block, index)  # `const Priced = (Base) => class extends Base`
                walk.bind(node, RESULT, expression=CLASS)
            else:
                walk.bind(node, RESULT, expression=expressions.read_chain(walk, block))
    elif value.type == "class":
        index = walk.define(
            node,
            name,
            "class",
            signature_end=block.start_byte if block else None,
            qualified=qualified,
        )
        if index != MODULE:
            class_heritage(walk, value, index)
            own = walk.field(value, "name", 100)
            if own and own != name:
                walk.bind(value, own, value=walk.symbols[index].qualified, scope=index)
    else:
        return False
    return True


def is_assigned(walk: Walk, node: Node) -> bool:
    """Whether a class expression is the value of the symbol around it: `const A = class B {}`."""
    at = walk.symbol()
    if at == MODULE or walk.symbols[at].kind != "class":
        return False
    around = node.parent
    while around is not None and around.start_byte >= walk.symbols[at].start:
        if around.type == "class_body":
            return False  # a class in a class
        around = around.parent
    return True


def declarator_rule(walk: Walk, node: Node) -> None:
    left, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if left is None:
        return
    constant_string(walk, left, value)
    if walk.scopes and (value is None or value.type in LITERALS):
        if walk.language.name == "javascript":
            return
        annotated = walk.field(node, "type")
        if annotated and left.type == "identifier":
            walk.bind(node, walk.text(left, 120), type=annotated)
        return
    annotated = walk.field(node, "type") or documented(walk, node)
    text = walk.text(value) if value and value.end_byte - value.start_byte < 400 else ""
    if required := REQUIRE.match(text):
        line, module, member = node.start_point[0] + 1, required.group(1), required.group(2)
        if left.type == "object_pattern":
            for name, alias in specifiers(COMMENT.sub("", walk.text(left, 20_000))):
                walk.imported(line, module, name, alias)
            for each in left.named_children[:20] if "'" not in module else ():
                inner = each.child_by_field_name("value") if each.type == "pair_pattern" else None
                if inner is not None and inner.type == "object_pattern" and not member:
                    unpack(walk, inner, f"'{module}'.{walk.field(each, 'key', 100)}")
        else:
            walk.imported(line, module, member[1:], walk.text(left, 100))
        return
    if left.type in ("object_pattern", "array_pattern"):
        if value is not None:
            unpack(walk, left, expressions.read_chain(walk, value))
        return
    if left.type != "identifier":
        return
    name = walk.text(left, 120)
    if value is not None and assigned(walk, node, name, value, None):
        return
    top = not walk.inside() and not _in_callback(walk, node)
    found = ""
    if value is not None and not (top and value.type == "object"):
        found = expressions.read_chain(walk, value)
        if found == "?" and value.type == "array" and not value.named_child_count and not top:
            found = "[]"  # the name is a variable here, whatever it means outside
    walk.bind(node, name, type=annotated, expression=found, last=_block_end(node))
    if not top and value is not None and _is_called_at_once(value):
        walk.define(node, name, "variable", opens=False, signature_end=value.start_byte)
    if top:
        kind: Kind = "constant" if name.isupper() else "variable"
        if value is not None and value.type == "object":
            kind = "object"
        index = walk.define(
            node,
            name,
            kind,
            opens=kind == "object",
            signature_end=value.start_byte if kind == "object" and value else None,
        )
        if kind == "object" and value is not None and index != MODULE:
            members(walk, value, index)


def _block_end(node: Node) -> int:
    """The last line of the block that a name is known in; 0 for a whole function or file."""
    made = node.parent
    block = made.parent if made is not None and made.type == "lexical_declaration" else None
    if block is None or block.type != "statement_block":
        return 0
    around = block.parent
    if around is None or around.type in _WHOLE_BODIES:
        return 0
    return block.end_point[0] + 1


_WHOLE_BODIES = FUNCTIONS | {
    "function_declaration", "generator_function_declaration", "method_definition",
    "class_static_block",
}  # fmt: skip


def _is_called_at_once(value: Node) -> bool:
    """`var make = (function () {…}())`: counts as a definition, wherever it is."""
    call = unwrapped(value)
    if call is None or call.type != "call_expression":
        return False
    called = call.child_by_field_name("function")
    inner = unwrapped(called) if called is not None else None
    return inner is not None and inner.type in FUNCTIONS


def unwrapped(node: Node) -> Node | None:
    is_group = node.type == "parenthesized_expression" and node.named_child_count == 1
    return node.named_child(0) if is_group else node


def _in_callback(walk: Walk, node: Node) -> bool:
    """Whether a declaration is in an anonymous function that is not called at once.

    The wrapper around a whole script is: `(function () {…})()`, `define(function () {…})`.
    """
    at = node.parent
    while at is not None:
        if at.type in FUNCTIONS:
            around = at.parent
            while around is not None and around.type in ("parenthesized_expression", "arguments"):
                around = around.parent
            if around is None or around.type not in ("call_expression", "unary_expression"):
                return True
            called = around.child_by_field_name("function")
            if called is not None and called.end_byte <= at.start_byte:  # it is an argument
                return walk.text(called, 20) not in ("define", "require", "System.register")
        at = at.parent
    return False


def members(walk: Walk, node: Node, index: int) -> None:
    """Bind the members of an object that have a named value; functions are symbols."""
    keys: list[str] = []
    for each in node.named_children[:60]:
        if each.type == "shorthand_property_identifier":
            key = found = walk.text(each, 100)
        elif each.type == "pair":
            value = each.child_by_field_name("value")
            if value is None or value.type not in _NAMED_VALUES:
                continue
            key = walk.field(each, "key", 100).strip("'\"")
            found = expressions.read_chain(walk, value)
            if value.type == "object":  # its functions are symbols of this object
                walk.bind(each, key, expression=found, kind="field", scope=index, inside=index)
                continue
        else:
            if each.type == "spread_element" and PLAIN.match(spread := walk.text(each, 100)[3:]):
                line = each.start_point[0] + 1
                walk.inherit(walk.symbols[index].qualified, spread, "mixes in", line)
                for before in keys:  # it may replace them
                    walk.bind(each, before, expression="?", kind="field", scope=index,
                              inside=MODULE, last=ANY_TIME)  # fmt: skip
                keys.clear()
            elif each.type == "spread_element" and each.named_child_count:
                inner = each.named_child(0)
                if inner is not None and inner.type == "object":  # `{...{ a: f }}`
                    members(walk, inner, index)
            continue
        keys.append(key)
        walk.bind(each, key, expression=found, kind="field", scope=index,
                  inside=walk.symbols[index].parent)  # fmt: skip


_NAMED_VALUES = frozenset({
    "identifier", "member_expression", "call_expression", "new_expression", "object", "array",
})  # fmt: skip
ATTRIBUTE_VALUES = frozenset({"identifier", "member_expression", "new_expression"})


def pair_rule(walk: Walk, node: Node) -> None:
    value = node.child_by_field_name("value")
    if value is not None:
        name = walk.field(node, "key", 120).strip("'\"")
        owner = prototype_of(walk, node)
        assigned(walk, node, name, value, f"{owner}.{name}" if owner else None, member=True)


def prototype_of(walk: Walk, member: Node) -> str:
    """The function in `Cart.prototype = { member }`; "" elsewhere."""
    literal = member.parent
    around = literal.parent if literal is not None else None
    if around is None or around.type != "assignment_expression":
        return ""
    owner, _, last = walk.field(around, "left", 100).rpartition(".")
    return owner if last == "prototype" and PLAIN.match(owner) else ""


def field_rule(name: str) -> Rule:
    """A rule for a class field; `name` is the grammar's field with its name."""

    def rule(walk: Walk, node: Node) -> None:
        named, value = walk.field(node, name, 120), node.child_by_field_name("value")
        if value is not None and assigned(walk, node, named, value, None):
            return
        found = expressions.read_chain(walk, value) if value else ""
        annotated = walk.field(node, "type") or documented(walk, node)
        walk.bind(node, named, type=annotated, expression=found, kind="field")

    return rule


_DOCUMENTED = re.compile(
    rb"@type\s*\{([^{}*]{1,160})\}\s*(?:[^*]|\*(?!/)){0,200}\*/\s*(?:\w+\s+)?\Z"
)


def documented(walk: Walk, node: Node) -> str:
    """The type in a comment before a node: `/** @type {Cart} */`."""
    start = node.start_byte
    before = walk.source[max(0, start - 300) : start]
    if b"@type" not in before:
        return ""
    found = _DOCUMENTED.search(before)
    return found.group(1).decode("utf-8", "replace").strip("!? ") if found else ""


def _holes(pattern: Node) -> list[int]:
    """How many places are left out before each name: `[first, , third]`; [] if there are none."""
    if pattern.type != "array_pattern" or pattern.child_count == 2 * pattern.named_child_count + 1:
        return []
    found, commas = list[int](), 0
    for each in pattern.children[:60]:
        commas += each.type == ","
        if each.is_named:
            found.append(commas - len(found))
    return found


def unpack(walk: Walk, pattern: Node, value: str, last: int = 0) -> None:
    """`{a, b: c} = value`, `[a, b] = value`: each name is a member or an element of it."""
    if value == "?" and b"=" not in walk.source[pattern.start_byte : pattern.end_byte]:
        return
    if "|" in value:
        value = f"({value})"
    holes = _holes(pattern)
    for number, each in enumerate(pattern.named_children[:20]):
        place = number + holes[number] if holes else number
        kind, item = each.type, f"{value}[{place}]"
        name: Node | None = each
        if kind == "rest_pattern":  # what is left of an array, or of an object
            name = each.named_child(0) if each.named_child_count else None
            item = f"{value}[{place}:]" if pattern.type == "array_pattern" else value
            kind = name.type if name is not None else kind
        if kind == "shorthand_property_identifier_pattern":
            item = f"{value}.{walk.text(each, 100)}"
        elif kind == "pair_pattern":
            name = each.child_by_field_name("value")
            item = f"{value}.{walk.field(each, 'key', 100)}"
            if name is not None and name.type == "assignment_pattern":
                default = name.child_by_field_name("right")
                name = name.child_by_field_name("left")
                usual = expressions.read_chain(walk, default) if default is not None else "?"
                item = either("?" if value == "?" else item, usual)
                item = item if len(item) <= expressions.LONGEST else "?"
        elif kind in ("object_assignment_pattern", "assignment_pattern"):
            name, default = each.child_by_field_name("left"), each.child_by_field_name("right")
            if kind == "object_assignment_pattern":
                item = f"{value}.{walk.text(name, 100)}" if name else "?"
            usual = expressions.read_chain(walk, default) if default is not None else "?"
            if value == "?" or usual != "?":
                item = either("?" if value == "?" else item, usual)
        elif kind not in ("identifier", "array_pattern", "object_pattern"):
            continue
        if name is None or (value == "?" and item.startswith("?")):
            continue
        if name.type in ("array_pattern", "object_pattern"):
            unpack(walk, name, item, last)
        else:
            walk.bind(name, walk.text(name, 100), expression=item, last=last)
