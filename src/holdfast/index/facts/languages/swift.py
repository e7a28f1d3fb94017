"""Swift."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.chains import LONGEST, type_name
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Walk, first_child, last_child

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS: dict[str, Kind] = {"class": "class", "actor": "class", "struct": "struct", "enum": "enum"}


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _type(walk: Walk, node: Node) -> None:
    name, block = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None:
        return
    words = walk.slice(node.start_byte, name.start_byte, 300).split()
    bases = [walk.text(c) for c in node.named_children if c.type == "inheritance_specifier"]
    if "extension" in words:
        owner = type_name(walk.text(name, 200))
        for base in bases:
            walk.inherit(owner, base, "implements", _line(node))
        known = {s.qualified: i for i, s in enumerate(walk.symbols) if s.kind in CONTAINERS}
        walk.enter(node, owner, "class", known.get(owner))
        return
    kind: Kind = next((_KINDS[word] for word in words if word in _KINDS), "class")
    if node.type == "protocol_declaration":
        kind = "interface"
    index = walk.define(
        node,
        walk.text(name, 120),
        kind,
        signature_end=block.start_byte if block else None,
        exported="private" not in words and "fileprivate" not in words,
    )
    if index != MODULE:
        for base in bases:
            walk.inherit(walk.symbols[index].qualified, base, "extends", _line(node))


def _function(walk: Walk, node: Node) -> None:
    block = node.child_by_field_name("body")
    stop = block.start_byte if block else node.end_byte
    kind: Kind = "function"
    name = walk.field(node, "name", 120)
    if node.type == "init_declaration":
        name, kind = "init", "constructor"
    elif walk.inside() in CONTAINERS:
        kind = "method"
    head = walk.slice(node.start_byte, stop, 120).split("(")[0]
    walk.define(
        node,
        name,
        kind,
        signature_end=stop,
        exported="private " not in head,
        defined=block is not None,
    )


def _property(walk: Walk, node: Node) -> None:
    name = walk.field(node, "name", 120)
    if not re.fullmatch(r"\w+", name):
        return
    annotated = next(
        (walk.text(c).lstrip(": ") for c in node.named_children if c.type == "type_annotation"), ""
    )
    field = walk.inside() in CONTAINERS
    walk.bind(
        node,
        name,
        type=annotated,
        value=walk.field(node, "value"),
        kind="field" if field else "variable",
    )
    computed = node.child_by_field_name("computed_value")
    if field or not walk.inside():
        walk.define(
            node,
            name,
            "property" if field else "variable",
            signature_end=computed.start_byte if computed else None,
            opens=computed is not None,
        )


def _call(walk: Walk, node: Node) -> None:
    suffix = last_child(node)
    if suffix is None or suffix.type != "call_suffix":
        return
    start, end = node.start_byte, suffix.start_byte
    text = walk.slice(start, end)
    if end - start > LONGEST:
        text = "\0" + walk.slice(end - LONGEST, end)
    arguments = first_child(suffix)
    arity = arguments.named_child_count if arguments and arguments.type == "value_arguments" else -1
    walk.call(node, text.rstrip(), "", arity)


def _import(walk: Walk, node: Node) -> None:
    words = walk.text(node).split()
    walk.imported(_line(node), words[-1], "*", "")


def _alias(walk: Walk, node: Node) -> None:
    match = re.search(r"typealias\s+(\w+)[^=]*=\s*(.+)", walk.text(node), re.DOTALL)
    if match:
        walk.define(node, match.group(1), "type", opens=False)
        walk.inherit(match.group(1), match.group(2), "embeds", _line(node))


LANGUAGE = Language(
    name="swift",
    grammar=("tree_sitter_swift", "language"),
    rules={
        "import_declaration": _import,
        "class_declaration": _type,
        "protocol_declaration": _type,
        "function_declaration": _function,
        "protocol_function_declaration": _function,
        "init_declaration": _function,
        "property_declaration": _property,
        "typealias_declaration": _alias,
        "call_expression": _call,
    },
    attributes=("@",),
)
