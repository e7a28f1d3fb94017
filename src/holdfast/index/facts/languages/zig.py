"""Zig: an outline, no calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Walk

if TYPE_CHECKING:
    from tree_sitter import Node

_SHAPES: dict[str, Kind] = {
    "struct_declaration": "struct", "opaque_declaration": "struct", "enum_declaration": "enum",
    "union_declaration": "union", "error_set_declaration": "enum",
}  # fmt: skip


def _public(walk: Walk, node: Node) -> bool:
    return walk.slice(node.start_byte, node.end_byte, 10).startswith(("pub ", "export "))


def _function(walk: Walk, node: Node) -> None:
    block = node.child_by_field_name("body")
    walk.define(
        node,
        walk.field(node, "name", 120),
        "method" if walk.inside() in CONTAINERS else "function",
        signature_end=block.start_byte if block else None,
        exported=_public(walk, node),
        defined=block is not None,
    )


def _variable(walk: Walk, node: Node) -> None:
    name = next((c for c in node.named_children if c.type == "identifier"), None)
    shape = next((c for c in node.named_children if c.type in _SHAPES), None)
    if name is None:
        return
    exported = _public(walk, node)
    if shape is not None:
        end = walk.source.find(b"{", shape.start_byte, shape.end_byte)
        stop = end if end != -1 else None
        kind = _SHAPES[shape.type]
        walk.define(node, walk.text(name, 120), kind, signature_end=stop, exported=exported)
    elif not walk.inside():
        walk.define(node, walk.text(name, 120), "constant", opens=False, exported=exported)


def _test(walk: Walk, node: Node) -> None:
    named = next((c for c in node.named_children if c.type in ("string", "identifier")), None)
    if named is not None and walk.symbol() == MODULE:
        end = named.end_byte
        walk.define(node, walk.text(named, 120).strip('"'), "function", signature_end=end)


LANGUAGE = Language(
    name="zig",
    grammar=("tree_sitter_zig", "language"),
    rules={
        "function_declaration": _function,
        "variable_declaration": _variable,
        "test_declaration": _test,
    },
    patterns={
        "variable_declaration": (
            *(f"(variable_declaration ({shape}))" for shape in _SHAPES),
            "(source_file (variable_declaration) @n)",
        )
    },
)
