"""C#."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.chains import LONGEST, type_name
from holdfast.index.facts.languages.preprocessor_repair import repaired
from holdfast.index.facts.languages.rules import calling, definition, split_list
from holdfast.index.facts.model import MODULE, InheritanceKind, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk, last_child

if TYPE_CHECKING:
    from tree_sitter import Node


def _type(kind: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        block = node.child_by_field_name("body")
        name = walk.field(node, "name", 120)
        stop = block.start_byte if block else node.end_byte
        index = walk.define(node, name, kind, signature_end=stop)
        if index == MODULE:
            return
        for child in node.named_children:
            if child.type == "base_list":
                for base in split_list(walk.text(child, 2_000).lstrip(": ")):
                    bare = type_name(base)
                    implements = re.match(r"I[A-Z]", bare.rpartition(".")[2])
                    how: InheritanceKind = "implements" if implements else "extends"
                    qualified = walk.symbols[index].qualified
                    walk.inherit(qualified, base.split("(")[0], how, node.start_point[0] + 1)
            elif child.type == "parameter_list":
                for part in split_list(walk.text(child, 2_000)[1:-1]):
                    annotated, _, field = part.split("=")[0].strip().rpartition(" ")
                    walk.bind(node, field, type=annotated, kind="field", scope=index)

    return rule


def _function(kind: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        block = node.child_by_field_name("body")
        stop = block.start_byte if block else node.end_byte
        head = walk.slice(node.start_byte, stop, 120)
        walk.define(
            node,
            walk.field(node, "name", 120),
            kind,
            signature_end=stop,
            exported="private " not in head.split("(")[0],
            defined=block is not None,
        )
        for child in node.named_children:
            if child.type == "constructor_initializer":
                text = walk.text(child, 400).lstrip(": ")
                walk.call(child, text.split("(")[0].strip(), "new")

    return rule


def _property(walk: Walk, node: Node) -> None:
    name, annotated = walk.field(node, "name", 120), walk.field(node, "type")
    walk.bind(node, name, type=annotated, kind="field")
    accessors = node.child_by_field_name("accessors")
    walk.define(node, name, "property", signature_end=accessors.start_byte if accessors else None)


def _variables(walk: Walk, node: Node) -> None:
    annotated = walk.field(node, "type")
    field = walk.inside() in CONTAINERS
    for child in node.named_children:
        if child.type != "variable_declarator":
            continue
        value = last_child(child)
        value_text = walk.text(value) if value and child.named_child_count > 1 else ""
        walk.bind(
            node,
            walk.field(child, "name", 100),
            type="" if annotated == "var" else annotated,
            value=value_text if len(value_text) < 400 else "",
            kind="field" if field else "variable",
        )


def _foreach(walk: Walk, node: Node) -> None:
    annotated = walk.field(node, "type")
    if annotated != "var":
        walk.bind(node, walk.field(node, "left", 100), type=annotated)


def _new(walk: Walk, node: Node) -> None:
    arguments = node.child_by_field_name("arguments")
    arity = arguments.named_child_count if arguments else 0
    walk.call(node, walk.field(node, "type", LONGEST), "new", arity)


def _using(walk: Walk, node: Node) -> None:
    text = walk.text(node).rstrip("; ").removeprefix("global ")
    text = " ".join(text.split()).removeprefix("using ")
    line = node.start_point[0] + 1
    if text.startswith("static "):
        walk.imported(line, text.removeprefix("static "), "*", "")
    elif "=" in text:
        alias, _, path = (part.strip() for part in text.partition("="))
        module, _, name = type_name(path).rpartition(".")
        walk.imported(line, module, name, alias)
    else:
        walk.imported(line, text, "*", "")


def _namespace(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 200), node.child_by_field_name("body")
    walk.define(node, name, "namespace", signature_end=block.start_byte if block else None)


def _file_namespace(walk: Walk, node: Node) -> None:
    walk.package = walk.field(node, "name", 200)


LANGUAGE = Language(
    name="csharp",
    grammar=("tree_sitter_c_sharp", "language"),
    rules={
        "using_directive": _using,
        "namespace_declaration": _namespace,
        "file_scoped_namespace_declaration": _file_namespace,
        "class_declaration": _type("class"),
        "interface_declaration": _type("interface"),
        "struct_declaration": _type("struct"),
        "record_declaration": _type("class"),
        "enum_declaration": _type("enum"),
        "delegate_declaration": definition("type"),
        "method_declaration": _function("method"),
        "constructor_declaration": _function("constructor"),
        "local_function_statement": _function("function"),
        "property_declaration": _property,
        "variable_declaration": _variables,
        "foreach_statement": _foreach,
        "invocation_expression": calling(),
        "object_creation_expression": _new,
    },
    attributes=("[",),
    repair=repaired,
)
