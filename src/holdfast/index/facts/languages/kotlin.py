"""Kotlin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.chains import LONGEST, type_name
from holdfast.index.facts.languages import source_repair
from holdfast.index.facts.languages.rules import split_list
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk, last_child

if TYPE_CHECKING:
    from tree_sitter import Node

_EXTENSION = re.compile(r"fun\s+(?:<[^>]*>\s*)?([\w.]+)(?:<[^>]*>)?\??\.\s*\w+\s*(?:<[^>]*>)?\s*\(")


def child_of(node: Node, *kinds: str) -> Node | None:
    """The first named child with one of these types; this grammar has few named fields."""
    return next((child for child in node.named_children if child.type in kinds), None)


def _type(default: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        block = child_of(node, "class_body", "enum_class_body")
        name = node.child_by_field_name("name") or child_of(node, "identifier")
        stop = block.start_byte if block else node.end_byte
        head = walk.slice(node.start_byte, name.start_byte if name else stop, 300).split()
        kind = default
        if "interface" in head:
            kind = "interface"
        elif "enum" in head:
            kind = "enum"
        text = walk.text(name, 120) if name else "Companion"
        index = walk.define(node, text, kind, signature_end=stop, exported="private" not in head)
        if index == MODULE:
            return
        bases = child_of(node, "delegation_specifiers")
        if bases is not None:
            for base in split_list(walk.text(bases, 2_000)):
                called = "(" in base
                child, bare = walk.symbols[index].qualified, base.split("(")[0].split(" by ")[0]
                how = "extends" if called else "implements"
                walk.inherit(
                    child, bare, "extends" if how == "extends" else "implements", _line(node)
                )
        constructor = child_of(node, "primary_constructor")
        if constructor is not None:
            opened = walk.text(constructor, 2_000)
            inner = opened[opened.find("(") + 1 : opened.rfind(")")]
            for part in split_list(inner):
                match = re.match(r"(?:@\w+\s*)*(?:\w+\s+)*?(?:val|var)\s+(\w+)\s*:\s*([^=]+)", part)
                if match:
                    walk.bind(node, match.group(1), type=match.group(2), kind="field", scope=index)

    return rule


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _function(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), child_of(node, "function_body")
    stop = block.start_byte if block else node.end_byte
    head = walk.slice(node.start_byte, stop, 300)
    kind: Kind = "method" if walk.inside() in CONTAINERS else "function"
    qualified = None
    extended = _EXTENSION.search(head)
    if extended and not walk.inside():
        qualified, kind = f"{type_name(extended.group(1))}.{name}", "method"
    walk.define(
        node,
        name,
        kind,
        signature_end=stop,
        qualified=qualified,
        exported="private " not in head.split("fun ")[0],
        defined=block is not None,
    )


def _constructor(walk: Walk, node: Node) -> None:
    block = child_of(node, "block")
    stop = block.start_byte if block else node.end_byte
    walk.define(node, "constructor", "constructor", signature_end=stop)


def _property(walk: Walk, node: Node) -> None:
    declared = child_of(node, "variable_declaration")
    if declared is None:
        return
    name, _, annotated = (part.strip() for part in walk.text(declared).partition(":"))
    last = last_child(node)
    value = walk.text(last) if last and last.type != "variable_declaration" else ""
    field = walk.inside() in CONTAINERS
    walk.bind(node, name, type=annotated, value=value, kind="field" if field else "variable")
    if field or not walk.inside():
        head = walk.slice(node.start_byte, declared.start_byte, 80)
        kind: Kind = "property" if field else "constant" if "const " in head else "variable"
        walk.define(node, name, kind, opens=False, exported="private " not in head)


def _call(walk: Walk, node: Node) -> None:
    count = node.named_child_count
    last = last_child(node)
    if last is None or count < 2:
        return
    start, end = node.start_byte, last.start_byte
    if last.type == "annotated_lambda" and count > 2:  # `f(1) { … }`
        arguments = node.named_children[count - 2]
        end = arguments.start_byte if arguments.type == "value_arguments" else end
    text = walk.slice(start, end)
    if end - start > LONGEST:
        text = "\0" + walk.slice(end - LONGEST, end)
    arity = last.named_child_count if last.type == "value_arguments" else -1
    walk.call(node, text.rstrip(), "", arity)


def _delegation(walk: Walk, node: Node) -> None:
    walk.call(node, walk.text(node).split("(")[0], "new")


def _import(walk: Walk, node: Node) -> None:
    text = walk.text(node).removeprefix("import").strip()
    path, _, alias = (part.strip() for part in text.partition(" as "))
    module, _, name = path.rstrip(";").rpartition(".")
    walk.imported(_line(node), module, name, "" if name == "*" else alias or name)


def _package(walk: Walk, node: Node) -> None:
    walk.package = walk.text(node).removeprefix("package").strip("; \n")


def _alias(walk: Walk, node: Node) -> None:
    text = walk.text(node)
    match = re.search(r"typealias\s+(\w+)[^=]*=\s*(.+)", text, re.DOTALL)
    if match:
        walk.define(node, match.group(1), "type", opens=False)
        walk.inherit(match.group(1), match.group(2), "embeds", _line(node))


LANGUAGE = Language(
    name="kotlin",
    repair=source_repair.kotlin,
    grammar=("tree_sitter_kotlin", "language"),
    rules={
        "package_header": _package,
        "import": _import,
        "class_declaration": _type("class"),
        "object_declaration": _type("object"),
        "companion_object": _type("object"),
        "function_declaration": _function,
        "secondary_constructor": _constructor,
        "property_declaration": _property,
        "type_alias": _alias,
        "call_expression": _call,
        "constructor_delegation_call": _delegation,
    },
    attributes=("@",),
)
