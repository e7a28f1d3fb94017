"""Lua."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.languages.rules import calling
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import Language, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node

_REQUIRE = re.compile(r"""require\s*\(?\s*['"]([\w./-]+)['"]\s*\)?((?:\.\w+)?)$""")
_INDEX = re.compile(r"setmetatable\(\s*([\w.]+|\{[^{}]*\})\s*,\s*\{[^}]*__index\s*=\s*([\w.]+)")


def _define(walk: Walk, node: Node, path: str, function: Node) -> None:
    dotted = path.replace(":", ".")
    owner, _, name = dotted.rpartition(".")
    block = function.child_by_field_name("parameters")
    kind: Kind = "method" if owner else "function"
    walk.define(
        node,
        name,
        kind,
        signature_end=block.end_byte if block else None,
        qualified=dotted if owner else None,
        exported=bool(owner) or walk.slice(node.start_byte, node.end_byte, 6) != "local ",
    )


def _function(walk: Walk, node: Node) -> None:
    name = walk.field(node, "name", 120)
    if name:
        _define(walk, node, name, node)


def _assignment(walk: Walk, node: Node) -> None:
    if node.named_child_count < 2:
        return
    names, values = node.named_child(0), node.named_child(1)
    if names is None or values is None:
        return
    for left, right in zip(names.named_children, values.named_children, strict=False):
        name, text = walk.text(left, 120), walk.text(right)
        if required := _REQUIRE.match(text):
            line, module = node.start_point[0] + 1, required.group(1).replace("/", ".")
            walk.imported(line, module, required.group(2)[1:], name)
        elif right.type == "function_definition":
            _define(walk, node, name, right)
        elif right.type == "table_constructor" and not walk.inside():
            walk.define(node, name, "object", signature_end=right.start_byte)
        else:
            if inherited := _INDEX.match(text):
                line = node.start_point[0] + 1
                walk.inherit(name, inherited.group(2), "extends", line)
                if not walk.inside():
                    walk.define(node, name, "object", signature_end=right.start_byte)
                continue
            walk.bind(node, name, value=text)
            if not walk.inside() and re.fullmatch(r"\w+", name):
                kind: Kind = "constant" if name.isupper() else "variable"
                walk.define(node, name, kind, opens=False)


def _field(walk: Walk, node: Node) -> None:
    value = node.child_by_field_name("value")
    if value is not None and walk.prefix():
        _define(walk, node, f"{walk.prefix()}.{walk.field(node, 'name', 120)}", value)


_CALL = calling()


def _call(walk: Walk, node: Node) -> None:
    text = walk.slice(node.start_byte, node.end_byte, 300)
    if inherited := _INDEX.match(text):
        line = node.start_point[0] + 1
        walk.inherit(inherited.group(1).strip("{} "), inherited.group(2), "extends", line)
    _CALL(walk, node)


def _return(walk: Walk, node: Node) -> None:
    what = first_child(node)
    if what is not None:
        walk.bind(node, "default", value=walk.text(what), scope=MODULE)


def module(path: str, _package: str) -> str:
    """`shop/cart.lua` is `shop.cart`; a folder stands for its `init`."""
    stem = path.removesuffix(".lua").removesuffix("/init")
    for root in ("src/", "lua/", "lib/"):
        stem = stem.removeprefix(root)
    return stem.replace("/", ".")


LANGUAGE = Language(
    name="lua",
    grammar=("tree_sitter_lua", "language"),
    rules={
        "function_declaration": _function,
        "assignment_statement": _assignment,
        "field": _field,
        "function_call": _call,
        "return_statement": _return,
    },
    patterns={
        "field": ("(field name: (_) value: (function_definition))",),
        "return_statement": ("(chunk (return_statement) @n)",),
    },
    line_comments=("--",),
    block_comments=False,
    module=module,
)
