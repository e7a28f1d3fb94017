"""Ruby."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.facts.chains import LONGEST
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node


def _type(kind: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        block, name = node.child_by_field_name("body"), node.child_by_field_name("name")
        if name is None:
            return
        parent = node.child_by_field_name("superclass")
        index = walk.define(
            node,
            walk.text(name, 120).replace("::", ".").strip("."),
            kind,
            signature_end=parent.end_byte if parent else name.end_byte if block else None,
        )
        if parent is not None and index != MODULE:
            base = walk.text(parent).lstrip("< ")
            line = node.start_point[0] + 1
            walk.inherit(walk.symbols[index].qualified, base, "extends", line)

    return rule


def _method(walk: Walk, node: Node) -> None:
    name, parameters = node.child_by_field_name("name"), node.child_by_field_name("parameters")
    if name is None:
        return
    text = walk.text(name, 120)
    kind: Kind = "function"
    if walk.inside() in CONTAINERS or walk.inside() == "namespace":
        kind = "constructor" if text == "initialize" else "method"
    end = parameters.end_byte if parameters else name.end_byte
    walk.define(node, text, kind, signature_end=end, exported=not text.startswith("_"))


def _singleton(walk: Walk, node: Node) -> None:
    walk.enter(node, walk.prefix(), walk.inside())


def _call(walk: Walk, node: Node) -> None:
    method, arguments = node.child_by_field_name("method"), node.child_by_field_name("arguments")
    if method is None:
        return
    name = walk.text(method, 120)
    bare = node.child_by_field_name("receiver") is None
    line = node.start_point[0] + 1
    if bare and arguments is not None:
        first = first_child(arguments)
        text = walk.text(first).strip("'\"") if first else ""
        if name in ("require", "require_relative", "load", "autoload"):
            module = ("./" if name == "require_relative" else "") + text
            walk.imported(line, module, "*", "")
            return
        if name in ("include", "extend", "prepend") and walk.symbol() != MODULE:
            for mixed in arguments.named_children:
                child = walk.symbols[walk.symbol()].qualified
                walk.inherit(child, walk.text(mixed), "mixes in", line)
            return
        if name.startswith("attr_") and walk.inside() in CONTAINERS:
            for attribute in arguments.named_children:
                walk.define(
                    attribute, walk.text(attribute, 120).lstrip(":"), "property", opens=False
                )
            return
    start, end = node.start_byte, method.end_byte
    text = walk.slice(start, end) if end - start <= LONGEST else "\0" + name
    walk.call(node, text, arity=arguments.named_child_count if arguments else 0)


def _bare(walk: Walk, node: Node) -> None:
    """A lone name in place of a statement is a call, or a variable without effect."""
    walk.call(node, walk.text(node, 120), arity=0)


def _super(walk: Walk, node: Node) -> None:
    walk.call(node, "super")


def _assignment(walk: Walk, node: Node) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    name, value = walk.text(left, 120), walk.text(right)
    if left.type == "instance_variable" or left.type == "class_variable":
        scope = walk.enclosing_class()
        field = name.lstrip("@")
        walk.bind(node, field, value=value, kind="field", scope=scope, inside=walk.symbol())
    elif left.type == "constant":
        walk.bind(node, name, value=value, scope=walk.symbol())
        walk.define(node, name, "constant", opens=False)
    elif left.type == "identifier":
        walk.bind(node, name, value=value)


LANGUAGE = Language(
    name="ruby",
    grammar=("tree_sitter_ruby", "language"),
    rules={
        "module": _type("namespace"),
        "class": _type("class"),
        "singleton_class": _singleton,
        "method": _method,
        "singleton_method": _method,
        "call": _call,
        "identifier": _bare,
        "super": _super,
        "assignment": _assignment,
    },
    patterns={
        "identifier": ("(body_statement (identifier) @n)", "(then (identifier) @n)"),
        "assignment": (
            "(assignment left: (constant))",
            "(assignment right: [(call) (identifier) (constant) (scope_resolution)])",
        ),
    },
    line_comments=("#",),
    block_comments=False,
)
