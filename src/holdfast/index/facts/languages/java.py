"""Java."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.facts.chains import LONGEST
from holdfast.index.facts.languages.rules import calling, heritage, split_list
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import Language, Rule, Walk

if TYPE_CHECKING:
    from tree_sitter import Node


def _type(kind: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        block = node.child_by_field_name("body")
        stop = block.start_byte if block else node.end_byte
        name = node.child_by_field_name("name")
        if name is None:
            return
        index = walk.define(
            node,
            walk.text(name, 120),
            kind,
            signature_end=stop,
            exported=_visible(walk, node.start_byte, stop),
        )
        if index == MODULE:
            return
        header = walk.slice(name.end_byte, stop, 2_000)
        heritage(walk, index, header.partition(" permits ")[0], node.start_point[0] + 1)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            for part in split_list(walk.text(parameters, 2_000)[1:-1]):
                annotated, _, field = part.rpartition(" ")
                walk.bind(node, field, type=annotated, kind="field", scope=index)

    return rule


def _visible(walk: Walk, start: int, stop: int) -> bool:
    head = walk.source[start : min(stop, start + 300)]
    return b"private " not in head.split(b"(")[0]


def _method(walk: Walk, node: Node) -> None:
    block = node.child_by_field_name("body")
    stop = block.start_byte if block else node.end_byte
    constructs = node.type != "method_declaration"
    walk.define(
        node,
        walk.field(node, "name", 120),
        "constructor" if constructs else "method",
        signature_end=stop,
        exported=_visible(walk, node.start_byte, stop),
    )


def _declaration(walk: Walk, node: Node) -> None:
    annotated = walk.field(node, "type")
    kind = "field" if node.type == "field_declaration" else "variable"
    for declarator in node.children_by_field_name("declarator"):
        value = declarator.child_by_field_name("value")
        walk.bind(
            node,
            walk.field(declarator, "name", 100),
            type="" if annotated == "var" else annotated,
            value=walk.text(value) if value and value.end_byte - value.start_byte < 400 else "",
            kind="field" if kind == "field" else "variable",
        )


def _constant(walk: Walk, node: Node) -> None:
    """A field; constants are symbols too."""
    _declaration(walk, node)
    head = walk.slice(node.start_byte, node.end_byte, 80).split("=")[0]
    if ("static " in head and "final " in head) or walk.inside() == "interface":
        for declarator in node.children_by_field_name("declarator"):
            name = walk.field(declarator, "name", 100)
            walk.define(node, name, "constant", opens=False, exported="private " not in head)


def _named(walk: Walk, node: Node) -> None:
    """A name with a type before it: a loop variable, a resource."""
    annotated = walk.field(node, "type")
    value = walk.field(node, "value") if node.type == "resource" else ""
    walk.bind(
        node,
        walk.field(node, "name", 100),
        type="" if annotated == "var" else annotated,
        value=value,
    )


def _new(walk: Walk, node: Node) -> None:
    arguments = node.child_by_field_name("arguments")
    arity = arguments.named_child_count if arguments else 0
    walk.call(node, walk.field(node, "type", LONGEST), "new", arity)


def _explicit(walk: Walk, node: Node) -> None:
    arguments = node.child_by_field_name("arguments")
    arity = arguments.named_child_count if arguments else 0
    walk.call(node, walk.field(node, "constructor", LONGEST), "new", arity)


def _reference(walk: Walk, node: Node) -> None:
    text = walk.text(node, LONGEST)
    if text.endswith("::new"):
        walk.call(node, text.removesuffix("::new"), "new")
    else:
        walk.call(node, text)


def _import(walk: Walk, node: Node) -> None:
    text = " ".join(walk.text(node, 500).rstrip("; ").split())
    path = text.removeprefix("import ").removeprefix("static ").replace(" ", "")
    module, _, name = path.rpartition(".")
    walk.imported(node.start_point[0] + 1, module, name, "" if name == "*" else name)


def _package(walk: Walk, node: Node) -> None:
    walk.package = walk.text(node).split("package", 1)[1].strip("; \n")


LANGUAGE = Language(
    name="java",
    grammar=("tree_sitter_java", "language"),
    rules={
        "package_declaration": _package,
        "import_declaration": _import,
        "class_declaration": _type("class"),
        "interface_declaration": _type("interface"),
        "enum_declaration": _type("enum"),
        "record_declaration": _type("class"),
        "annotation_type_declaration": _type("interface"),
        "method_declaration": _method,
        "constructor_declaration": _method,
        "compact_constructor_declaration": _method,
        "field_declaration": _constant,
        "constant_declaration": _constant,
        "local_variable_declaration": _declaration,
        "enhanced_for_statement": _named,
        "resource": _named,
        "method_invocation": calling(),
        "object_creation_expression": _new,
        "explicit_constructor_invocation": _explicit,
        "method_reference": _reference,
    },
    attributes=("@",),
)
