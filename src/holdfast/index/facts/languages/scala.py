"""Scala."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.chains import LONGEST
from holdfast.index.facts.languages.rules import calling, heritage, split_list
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk

if TYPE_CHECKING:
    from tree_sitter import Node


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _type(kind: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        block = node.child_by_field_name("body")
        stop = block.start_byte if block else node.end_byte
        index = walk.define(node, walk.field(node, "name", 120), kind, signature_end=stop)
        if index == MODULE:
            return
        extended = node.child_by_field_name("extend")
        if extended is not None:
            heritage(walk, index, walk.text(extended, 1_000), _line(node))
        parameters = walk.field(node, "class_parameters", 2_000)
        for part in split_list(parameters[1:-1]):
            match = re.match(r"(?:\w+\s+)*?(?:val\s+|var\s+)?(\w+)\s*:\s*([^=]+)", part)
            if match:
                walk.bind(node, match.group(1), type=match.group(2), kind="field", scope=index)

    return rule


def _function(walk: Walk, node: Node) -> None:
    block = node.child_by_field_name("body")
    stop = block.start_byte if block else node.end_byte
    member = walk.inside() in CONTAINERS
    head = walk.slice(node.start_byte, stop, 120)
    walk.define(
        node,
        walk.field(node, "name", 120),
        "method" if member else "function",
        signature_end=stop,
        exported="private" not in head.split("def ")[0],
        defined=block is not None,
    )


def _value(walk: Walk, node: Node) -> None:
    name, value = walk.field(node, "pattern", 120), node.child_by_field_name("value")
    if not re.fullmatch(r"\w+", name):
        return
    text = walk.text(value) if value and value.end_byte - value.start_byte < 400 else ""
    field = walk.inside() in CONTAINERS
    walk.bind(
        node,
        name,
        type=walk.field(node, "type"),
        value=text,
        kind="field" if field else "variable",
    )
    if field or not walk.inside():
        walk.define(node, name, "property" if field else "variable", opens=False)


def _new(walk: Walk, node: Node) -> None:
    text = walk.text(node, LONGEST).removeprefix("new").strip()
    walk.call(node, re.split(r"[(\[{\s]", text)[0], "new")


def _import(walk: Walk, node: Node) -> None:
    text = " ".join(walk.text(node, 2_000).split()).removeprefix("import ")
    for item in split_list(text):
        base, brace, group = item.partition("{")
        prefix = base.strip().rstrip(".") if brace else ""
        for each in split_list(group.rstrip("} ")) if brace else [item]:
            path, _, alias = (p.strip() for p in re.sub(r"=>| as ", "\0", each).partition("\0"))
            module, _, name = f"{prefix}.{path}".strip(".").rpartition(".")
            if name in ("_", "*"):
                walk.imported(_line(node), module, "*", "")
            elif alias != "_":
                walk.imported(_line(node), module, name, alias or name)


def _package(walk: Walk, node: Node) -> None:
    name = walk.field(node, "name", 200)
    walk.package = f"{walk.package}.{name}".strip(".")


LANGUAGE = Language(
    name="scala",
    grammar=("tree_sitter_scala", "language"),
    rules={
        "package_clause": _package,
        "import_declaration": _import,
        "class_definition": _type("class"),
        "object_definition": _type("object"),
        "package_object": _type("object"),
        "trait_definition": _type("trait"),
        "enum_definition": _type("enum"),
        "type_definition": _type("type"),
        "function_definition": _function,
        "function_declaration": _function,
        "val_definition": _value,
        "var_definition": _value,
        "call_expression": calling(),
        "instance_expression": _new,
    },
    attributes=("@",),
)
