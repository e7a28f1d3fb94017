"""Go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.chains import type_name
from holdfast.index.facts.languages.rules import calling, definition
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import Language, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node

_RECEIVER = re.compile(r"\(\s*(?:(\w+)\s+)?\*?\s*([\w.]+)")


def _exported(name: str) -> bool:
    return name[:1].isupper()


def _function(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    walk.define(
        node,
        name,
        "function",
        signature_end=block.start_byte if block else None,
        exported=_exported(name),
    )


def _method(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    receiver = _RECEIVER.match(walk.field(node, "receiver", 200))
    owner = receiver.group(2) if receiver else ""
    index = walk.define(
        node,
        name,
        "method",
        signature_end=block.start_byte if block else None,
        qualified=f"{owner}.{name}" if owner else name,
        exported=_exported(name),
    )
    if receiver and receiver.group(1) and index != MODULE:
        walk.bind(node, receiver.group(1), type=owner, kind="parameter", scope=index)


def _type(walk: Walk, node: Node) -> None:
    name, shape = walk.field(node, "name", 120), node.child_by_field_name("type")
    kinds: dict[str, Kind] = {"struct_type": "struct", "interface_type": "interface"}
    kind = kinds.get(shape.type, "type") if shape else "type"
    index = walk.define(
        node, name, kind, signature_end=_brace(walk, node), exported=_exported(name)
    )
    if index != MODULE and shape is not None and kind == "type":
        # Methods are not inherited, but fields and embedded members are.
        walk.inherit(walk.symbols[index].qualified, walk.text(shape), "embeds", _line(node))


def _brace(walk: Walk, node: Node) -> int:
    at = walk.source.find(b"{", node.start_byte, node.end_byte)
    return at if at != -1 else node.end_byte


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _field(walk: Walk, node: Node) -> None:
    annotated = walk.field(node, "type")
    names = node.children_by_field_name("name")
    for name in names:
        walk.bind(node, walk.text(name, 100), type=annotated, kind="field")
    if not names and walk.inside() == "struct":
        child = walk.symbols[walk.symbol()].qualified
        walk.inherit(child, annotated, "embeds", _line(node))
        walk.bind(node, type_name(annotated).rpartition(".")[2], type=annotated, kind="field")


def _embedded(walk: Walk, node: Node) -> None:
    if walk.inside() == "interface":
        child = walk.symbols[walk.symbol()].qualified
        walk.inherit(child, walk.text(node), "embeds", _line(node))


def _short(walk: Walk, node: Node) -> None:
    _pairs(walk, node, node.child_by_field_name("left"), node.child_by_field_name("right"))


def _pairs(walk: Walk, node: Node, left: Node | None, right: Node | None) -> None:
    if left is None or right is None:
        return
    names, values = left.named_children, right.named_children
    for name, value in zip(names, values, strict=False):
        if name.type == "identifier":
            walk.bind(node, walk.text(name, 100), value=walk.text(value))


def _variable(walk: Walk, node: Node) -> None:
    names, annotated = node.children_by_field_name("name"), walk.field(node, "type")
    value = node.child_by_field_name("value")
    values = value.named_children if value else []
    top = not walk.inside()
    kind: Kind = "constant" if node.type == "const_spec" else "variable"
    for i, name in enumerate(names):
        text = walk.text(name, 100)
        value_text = walk.text(values[i]) if i < len(values) else ""
        walk.bind(node, text, type=annotated, value=value_text)
        if top and text != "_":
            walk.define(node, text, kind, opens=False, exported=_exported(text))


def _conversion(walk: Walk, node: Node) -> None:
    """`Max[int](1)` is parsed as a conversion; with type arguments it is recorded as a call."""
    callee = node.child_by_field_name("type")
    if callee is not None and callee.type == "generic_type":
        walk.call(node, walk.field(callee, "type"))


def _import(walk: Walk, node: Node) -> None:
    path, name = walk.field(node, "path").strip('"`'), walk.field(node, "name", 100)
    if name == ".":
        walk.imported(_line(node), path, "*", "")
    elif name == "_":
        walk.imported(_line(node), path, "", "")
    else:
        last = re.sub(r"/v\d+$", "", path).rpartition("/")[2]
        guess = re.sub(r"\.v\d+$", "", last).removeprefix("go-").removesuffix("-go")
        walk.imported(_line(node), path, "", name or guess.replace("-", "_"))


def _package(walk: Walk, node: Node) -> None:
    name = first_child(node)
    walk.package = walk.text(name, 100) if name else ""


def module(path: str, package: str) -> str:
    """The module is the folder; at the root, the name in the package clause."""
    folder = path.rpartition("/")[0]
    return folder.replace("/", ".") if folder else package


LANGUAGE = Language(
    name="go",
    grammar=("tree_sitter_go", "language"),
    rules={
        "package_clause": _package,
        "import_spec": _import,
        "function_declaration": _function,
        "method_declaration": _method,
        "type_spec": _type,
        "type_alias": _type,
        "method_elem": definition("method"),
        "type_elem": _embedded,
        "field_declaration": _field,
        "short_var_declaration": _short,
        "var_spec": _variable,
        "const_spec": _variable,
        "call_expression": calling(),
        "type_conversion_expression": _conversion,
    },
    patterns={
        "type_elem": ("(interface_type (type_elem) @n)",),
        "const_spec": ("(source_file (const_declaration (const_spec) @n))",),
        "type_conversion_expression": ("(type_conversion_expression type: (generic_type))",),
        "field_declaration": (
            "(type_spec (struct_type (field_declaration_list (field_declaration) @n)))",
        ),
    },
    module=module,
)
