"""Julia: an outline, no calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import Language, Rule, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = re.compile(r"(?:\w+\.)*([\w!]+|[^\w\s(]+)")


def _headed(kind: Kind) -> Rule:
    """A rule for a definition whose first child is a signature or the head of a type."""

    def rule(walk: Walk, node: Node) -> None:
        head = first_child(node)
        named = _NAME.match(walk.text(head, 200)) if head else None
        if head and named:
            walk.define(node, named.group(1), kind, signature_end=head.end_byte)

    return rule


def _short(walk: Walk, node: Node) -> None:
    """`price(x) = x + 1` is a function; inside a function it is an ignored local."""
    head = first_child(node)
    inside = walk.symbol() == MODULE or walk.inside() == "namespace"
    named = _NAME.match(walk.text(head, 200)) if head and inside else None
    if head and named:
        walk.define(node, named.group(1), "function", signature_end=head.end_byte)


LANGUAGE = Language(
    name="julia",
    grammar=("tree_sitter_julia", "language"),
    rules={
        "module_definition": _headed("namespace"),
        "function_definition": _headed("function"),
        "macro_definition": _headed("macro"),
        "struct_definition": _headed("struct"),
        "abstract_definition": _headed("type"),
        "primitive_definition": _headed("type"),
        "assignment": _short,
    },
    patterns={"assignment": ("(assignment . (call_expression))",)},
    line_comments=("#",),
    block_comments=False,
)
