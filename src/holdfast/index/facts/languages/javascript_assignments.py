"""Assignments in JavaScript: to fields, exports, prototypes, members and variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts import expressions
from holdfast.index.facts.branches import branch_end
from holdfast.index.facts.chains import PLAIN
from holdfast.index.facts.languages.javascript_modules import (
    FUNCTIONS,
    REQUIRE,
    specifiers,
)
from holdfast.index.facts.languages.javascript_values import (
    ATTRIBUTE_VALUES,
    LITERALS,
    assigned,
    documented,
    members,
    unpack,
)
from holdfast.index.facts.languages.rules import grow, home
from holdfast.index.facts.model import ANY_TIME, MODULE
from holdfast.index.facts.walk import Walk

if TYPE_CHECKING:
    from tree_sitter import Node

_EXPORTS = ("exports", "module.exports")


def assignment_rule(walk: Walk, node: Node) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    kind = right.type
    if (kind in LITERALS and kind != "null") or (kind == "object" and walk.scopes):
        return
    if left.type in ("array_pattern", "object_pattern"):
        unpack(walk, left, expressions.read_chain(walk, right))
        return
    if kind == "object" and walk.field(node, "left", 100).endswith(".prototype"):
        return  # its members are symbols
    if kind in ("call_expression", "new_expression"):
        made = _PROTOTYPE.fullmatch(walk.text(node, 200))
        if made:  # `Dog.prototype = Object.create(Animal.prototype)`
            walk.inherit(made.group(1), made.group(2), "extends", node.start_point[0] + 1)
    if left.type == "subscript_expression" and _element(walk, node, left, right):
        return
    target = walk.chain(walk.text(left, 200))
    owner, _, name = target.rpartition(".")
    if owner == "this":
        _of_this(walk, node, name, right)
    elif target == "module.exports":
        _export_whole(walk, node, right)
    elif not target or "?" in target:  # `makers[1] = function makeOne() {…}`
        named = walk.field(right, "name", 120) if kind in FUNCTIONS else ""
        if named:
            assigned(walk, node, named, right, None)
    elif owner.endswith(".prototype") and kind not in FUNCTIONS and kind != "class":
        _of_prototype(walk, node, owner, name, right)
    elif kind == "object" and owner and owner not in _EXPORTS:
        at = walk.define(node, name, "object", signature_end=right.start_byte, qualified=target)
        if at != MODULE:
            members(walk, right, at)
    elif owner:
        _member(walk, node, owner.removesuffix(".prototype"), name, right)
    else:
        _variable(walk, node, name, right)


def _of_this(walk: Walk, node: Node, name: str, right: Node) -> None:
    """`this.total = 1`: a field of the class, or of a function used as a constructor."""
    scope = walk.enclosing_class()
    if scope == MODULE:
        scope = walk.symbol()
    if right.type in FUNCTIONS:
        owned = walk.symbols[scope].qualified if scope != MODULE else ""
        assigned(walk, node, name, right, f"{owned}.{name}" if owned else None)
        if owned:
            walk.symbols[-1].parent = scope
        return
    value = expressions.read_chain(walk, right)
    if value == f"this.{name}":
        return  # `this.pay = this.pay.bind(this)` is the same method
    annotated = documented(walk, node)
    walk.bind(node, name, type=annotated, expression=value, kind="field", scope=scope,
              inside=walk.symbol())  # fmt: skip


_BESIDE = re.compile(
    r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|/\*.*?(?:\*/|\Z)|//[^\n]*""", re.DOTALL
)
"""Strings, which are kept, and comments."""


def _export_whole(walk: Walk, node: Node, right: Node) -> None:
    """`module.exports = value`."""
    named = walk.field(right, "name", 120)
    if right.type == "class" and named:  # the class defines itself
        walk.bind(node, "default", value=named, scope=MODULE)
    elif assigned(walk, node, "default", right, "default"):
        return
    elif right.type == "object":
        named_values = specifiers(_BESIDE.sub(r"\1", walk.text(right, 4_000)))
        passed_on = {key for key, local in named_values if _passed_on(walk, node, key, local)}
        spreads = right.named_children[:40] if walk.symbol() == MODULE else []
        for each in reversed(spreads):  # the last one counts where two have a name
            spread = each.type == "spread_element" and REQUIRE.fullmatch(walk.text(each, 200)[3:])
            if spread and not spread.group(2):  # `...require("./tools")`
                walk.imported(node.start_point[0] + 1, spread.group(1), "*", "", reexport=True)
        walk.define(node, "default", "object", signature_end=right.start_byte)
        for key, local in named_values:
            if key not in passed_on and re.fullmatch(r"[\w$.]+", local) and key != local:
                walk.bind(node, key, value=local, scope=MODULE)
    elif not _passed_on(walk, node, "default", walk.text(right, 200)):
        walk.bind(node, "default", value=walk.text(right), scope=MODULE)


def _passed_on(walk: Walk, node: Node, name: str, text: str) -> bool:
    """Note `exports.Cart = require("./cart")`: what a module exports from another one."""
    required = REQUIRE.fullmatch(text)
    if required is None or walk.symbol() != MODULE:
        return False
    line, module, member = node.start_point[0] + 1, required.group(1), required.group(2)
    walk.imported(line, module, member[1:], name, reexport=True)
    return True


def _of_prototype(walk: Walk, node: Node, owner: str, name: str, right: Node) -> None:
    """`Cart.prototype.pay = Base.prototype.pay`: a member that is defined elsewhere."""
    if name == "constructor" or not PLAIN.match(owner):
        return
    held = expressions.read_chain(walk, right).replace(".prototype.", ".")
    of = owner.removesuffix(".prototype")
    at = walk.latest.get(of)
    if held != "?" and at is not None:
        walk.bind(node, name, expression=held, kind="field", scope=at, inside=MODULE)
    walk.define(node, name, "property", opens=False, qualified=f"{of}.{name}")


def _member(walk: Walk, node: Node, owner: str, name: str, right: Node) -> None:
    """`cart.pay = pay`, `exports.pay = pay`."""
    if owner in _EXPORTS:
        if _passed_on(walk, node, name, walk.text(right, 200)):
            return
        if not assigned(walk, node, name, right, name):
            walk.bind(node, name, value=walk.text(right), scope=MODULE)
        return
    if inner := walk.prefix():  # a member of something defined in this function
        local = f"{inner}.{owner}"
        if any(s.qualified == local for s in walk.symbols[-60:]):
            owner = local
    if not assigned(walk, node, name, right, f"{owner}.{name}") and right.type in ATTRIBUTE_VALUES:
        value = expressions.read_chain(walk, right)
        own = walk.symbol()
        if walk.inside() == "class" and walk.symbols[own].name == owner:  # a static block
            walk.bind(node, name, expression=value, kind="field", scope=own, inside=MODULE)
        walk.bind(node, f"{owner}.{name}", expression=value)


def _variable(walk: Walk, node: Node, name: str, right: Node) -> None:
    here = walk.symbol()
    if right.type in FUNCTIONS:
        at = home(walk, node, name) if here != MODULE else MODULE
        assigned(walk, node, name, right, None)
        if at != here:  # a variable of an enclosing function
            walk.bind(node, name, expression=f".{name}", scope=at, inside=here, last=ANY_TIME)
        return
    value = expressions.read_chain(walk, right)
    last = -branch_end(node) if value != "?" else 0
    walk.bind(node, name, expression=value, last=last)
    if here != MODULE and value != "?" and (at := home(walk, node, name)) != here:
        # A variable of an enclosing function, or of the file.
        walk.bind(node, name, expression=value, scope=at, inside=here, last=ANY_TIME)


_PROTOTYPE = re.compile(
    r"([\w$.]+)\.prototype\s*=\s*(?:Object\.create\(\s*|new\s+)([\w$.]+?)(?:\.prototype)?\s*[(),].*",
    re.DOTALL,
)


def _element(walk: Walk, node: Node, left: Node, right: Node) -> bool:
    """`table["k"] = f`: an element of a container. False for a function or class."""
    if right.type in FUNCTIONS or right.type == "class":
        return False
    whole = left.child_by_field_name("object")
    value = expressions.read_chain(walk, right)
    if whole is not None and value != "?":
        item = expressions.read(walk, left)
        key = item[item.rfind("[") + 1 : -1] if item.endswith("]") else ""
        grow(walk, node, walk.text(whole, 100), key, value)
    return True
