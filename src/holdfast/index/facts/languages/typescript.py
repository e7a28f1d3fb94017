"""TypeScript and TSX: JavaScript with types to follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.index.facts.languages import javascript, javascript_values, source_repair
from holdfast.index.facts.languages.rules import definition
from holdfast.index.facts.model import MODULE
from holdfast.index.facts.walk import Language, Walk

if TYPE_CHECKING:
    from tree_sitter import Node


def _property(walk: Walk, node: Node) -> None:
    walk.bind(node, walk.field(node, "name", 120), type=walk.field(node, "type"), kind="field")


def _parameter_property(walk: Walk, node: Node) -> None:
    """`constructor(private repo: Repo)` declares a field."""
    scope = walk.enclosing_class()
    if scope != MODULE:
        walk.bind(
            node,
            walk.field(node, "pattern", 120),
            type=walk.field(node, "type"),
            kind="field",
            scope=scope,
        )


def _namespace(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120).strip("'\""), node.child_by_field_name("body")
    walk.define(node, name, "namespace", signature_end=block.start_byte if block else None)


_DECLARED = definition("function", member="method", defined=False)


def _signature(walk: Walk, node: Node) -> None:
    if not javascript.out_of_place(node):
        _DECLARED(walk, node)


LANGUAGE = Language(
    name="typescript",
    grammar=("tree_sitter_typescript", "language_typescript"),
    rules={
        **{k: v for k, v in javascript.RULES.items() if not k.startswith("jsx")},
        "abstract_class_declaration": javascript.RULES["class_declaration"],
        "interface_declaration": definition("interface", after=javascript_values.class_heritage),
        "type_alias_declaration": definition("type"),
        "enum_declaration": definition("enum"),
        "internal_module": _namespace,
        "module": _namespace,
        "function_signature": _signature,
        "method_signature": _signature,
        "abstract_method_signature": _signature,
        "property_signature": _property,
        "public_field_definition": javascript_values.field_rule("name"),
        "required_parameter": _parameter_property,
    },
    patterns={
        **javascript.PATTERNS,
        "required_parameter": ("(required_parameter (accessibility_modifier))",),
        "property_signature": (
            "(interface_body (property_signature) @n)",
            "(type_alias_declaration value: (object_type (property_signature) @n))",
            "(type_alias_declaration value: (intersection_type"
            " (object_type (property_signature) @n)))",
        ),
    },
    values=True,
    repair=source_repair.typescript,
    attributes=("@",),
    module=javascript.module,
)

TSX = replace(
    LANGUAGE,
    name="tsx",
    grammar=("tree_sitter_typescript", "language_tsx"),
    rules={**LANGUAGE.rules, **{k: v for k, v in javascript.RULES.items() if k.startswith("jsx")}},
)
