"""PHP."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.languages.rules import calling, definition, heritage, split_list
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node


def _type(kind: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        block = node.child_by_field_name("body")
        stop = block.start_byte if block else node.end_byte
        index = walk.define(node, walk.field(node, "name", 120), kind, signature_end=stop)
        if index != MODULE:
            line = node.start_point[0] + 1
            heritage(walk, index, walk.slice(node.start_byte, stop, 2_000), line)

    return rule


def _method(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    stop = block.start_byte if block else node.end_byte
    head = walk.slice(node.start_byte, stop, 80)
    walk.define(
        node,
        name,
        "constructor" if name == "__construct" else "method",
        signature_end=stop,
        exported="private " not in head,
        defined=block is not None,
    )


def _trait_use(walk: Walk, node: Node) -> None:
    if walk.inside() in CONTAINERS:
        child = walk.symbols[walk.symbol()].qualified
        for name in walk.text(node).removeprefix("use").split("{")[0].rstrip(";").split(","):
            walk.inherit(child, name, "mixes in", node.start_point[0] + 1)


def _property(walk: Walk, node: Node) -> None:
    annotated = walk.field(node, "type")
    for child in node.named_children:
        if child.type == "property_element":
            name = walk.text(child, 120).split("=")[0].strip().lstrip("$")
            walk.bind(node, name, type=annotated, kind="field")


def _promotion(walk: Walk, node: Node) -> None:
    scope = walk.enclosing_class()
    if scope != MODULE:
        name = walk.field(node, "name", 120).lstrip("$")
        walk.bind(node, name, type=walk.field(node, "type"), kind="field", scope=scope)


def _constant(walk: Walk, node: Node) -> None:
    name = first_child(node)
    if name is not None:
        walk.define(node, walk.text(name, 120), "constant", opens=False)


def _assignment(walk: Walk, node: Node) -> None:
    left, right = walk.field(node, "left", 120), walk.field(node, "right")
    if left.startswith("$this->"):
        scope = walk.enclosing_class()
        name = left.removeprefix("$this->")
        walk.bind(node, name, value=right, kind="field", scope=scope, inside=walk.symbol())
    elif left.startswith("$"):
        walk.bind(node, left[1:], value=right)


def _new(walk: Walk, node: Node) -> None:
    name = first_child(node)
    if name is not None and name.type in ("name", "qualified_name", "relative_scope"):
        walk.call(node, walk.text(name).lstrip("\\"), "new")


def _use(walk: Walk, node: Node) -> None:
    line = node.start_point[0] + 1
    text = " ".join(walk.text(node, 5_000).rstrip("; ").split()).removeprefix("use ")
    text = re.sub(r"^(?:function|const) ", "", text)
    base, brace, group = text.partition("{")
    prefix = base.strip().strip("\\").replace("\\", ".") if brace else ""
    for item in split_list(group.rstrip("} ") if brace else text):
        path, _, alias = (part.strip() for part in item.partition(" as "))
        path = re.sub(r"^(?:function|const) ", "", path).strip("\\").replace("\\", ".")
        module, _, name = f"{prefix}.{path}".strip(".").rpartition(".")
        walk.imported(line, module, name, alias or name)


def _require(walk: Walk, node: Node) -> None:
    quoted = re.findall(r"""['"]([^'"]+)['"]""", walk.text(node))
    if quoted:
        walk.imported(node.start_point[0] + 1, "./" + quoted[-1].lstrip("/"), "*", "")


def _namespace(walk: Walk, node: Node) -> None:
    walk.package = walk.field(node, "name", 200).replace("\\", ".")


def _prepare(text: str) -> str:
    return text.replace("$", "").lstrip("\\")


LANGUAGE = Language(
    name="php",
    grammar=("tree_sitter_php", "language_php"),
    rules={
        "namespace_definition": _namespace,
        "namespace_use_declaration": _use,
        "require_expression": _require,
        "require_once_expression": _require,
        "include_expression": _require,
        "include_once_expression": _require,
        "class_declaration": _type("class"),
        "interface_declaration": _type("interface"),
        "trait_declaration": _type("trait"),
        "enum_declaration": _type("enum"),
        "function_definition": definition("function"),
        "method_declaration": _method,
        "use_declaration": _trait_use,
        "property_declaration": _property,
        "property_promotion_parameter": _promotion,
        "const_element": _constant,
        "assignment_expression": _assignment,
        "function_call_expression": calling(),
        "member_call_expression": calling(),
        "nullsafe_member_call_expression": calling(),
        "scoped_call_expression": calling(),
        "object_creation_expression": _new,
    },
    patterns={
        "assignment_expression": (
            "(assignment_expression right: [(object_creation_expression) (variable_name) "
            "(function_call_expression) (member_call_expression) (scoped_call_expression) "
            "(member_access_expression)])",
        ),
    },
    line_comments=("//", "#"),
    attributes=("#[",),
    prepare=_prepare,
)
