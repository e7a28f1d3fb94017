"""C++: C with classes, namespaces and templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.facts.languages import c, source_repair
from holdfast.index.facts.languages.rules import wrapping
from holdfast.index.facts.walk import Language, Walk

if TYPE_CHECKING:
    from tree_sitter import Node


def _namespace(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 200), node.child_by_field_name("body")
    if name and block is not None:
        dotted = name.replace("::", ".").replace(" ", "")
        walk.define(node, dotted, "namespace", signature_end=block.start_byte)


def _using(walk: Walk, node: Node) -> None:
    text = walk.text(node).removeprefix("using").rstrip("; ").strip()
    line = node.start_point[0] + 1
    if text.startswith("namespace "):
        path = text.removeprefix("namespace ").strip().replace("::", ".")
        walk.imported(line, path, "*", "")
    else:
        module, _, name = text.removeprefix("typename ").replace("::", ".").rpartition(".")
        walk.imported(line, module, name, name)


def _alias(walk: Walk, node: Node) -> None:
    name = walk.field(node, "name", 120)
    walk.define(node, name, "type", opens=False)
    prefix = walk.prefix()
    child = f"{prefix}.{name}" if prefix else name
    walk.inherit(child, walk.field(node, "type"), "embeds", node.start_point[0] + 1)


LANGUAGE = Language(
    name="cpp",
    grammar=("tree_sitter_cpp", "language"),
    rules={
        **c.RULES,
        "class_specifier": c.SPECIFIER("class"),
        "template_declaration": wrapping,
        "namespace_definition": _namespace,
        "using_declaration": _using,
        "alias_declaration": _alias,
        "new_expression": c.NEW,
    },
    patterns={**c.PATTERNS, "class_specifier": ("(class_specifier body: (_))",)},
    repair=source_repair.c_family,
)
