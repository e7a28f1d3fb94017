"""Elixir: an outline without calls. In its grammar, definitions are calls too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.facts.model import Kind
from holdfast.index.facts.walk import Language, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS: dict[str, Kind] = {
    "defmodule": "namespace", "defimpl": "namespace", "defprotocol": "interface",
    "def": "function", "defp": "function", "defdelegate": "function",
    "defmacro": "macro", "defmacrop": "macro", "defguard": "macro", "defguardp": "macro",
    "describe": "section", "test": "function",
}  # fmt: skip


def _call(walk: Walk, node: Node) -> None:
    word = walk.field(node, "target", 20)
    kind = _KINDS.get(word)
    if kind is None:
        return
    arguments = next((c for c in node.named_children if c.type == "arguments"), None)
    first = first_child(arguments) if arguments else None
    if arguments is None or first is None:
        return
    name = _name(walk, first)
    if not name:
        return
    prefix = walk.prefix()
    full = f"{prefix}.{name}" if prefix else name
    before = walk.symbols[-1] if walk.symbols else None
    if before and before.qualified == full and before.kind == kind and kind != "namespace":
        # The next clause of one function.
        before.end, before.last_line = node.end_byte, node.end_point[0] + 1
        walk.enter(node, full, kind, len(walk.symbols) - 1)
        return
    keywords = next((c for c in arguments.named_children if c.type == "keywords"), None)
    end = keywords.start_byte if keywords else arguments.end_byte
    index = walk.define(node, name, kind, signature_end=end, exported=not word.endswith("p"))
    if index >= 0:
        walk.symbols[index].signature = walk.symbols[index].signature.rstrip(",")


def _name(walk: Walk, node: Node) -> str:
    """The name in `total(cart) when cart != nil`, `total`, `Shop.Cart`, `"adds up"`."""
    while node.type == "binary_operator":
        left = node.child_by_field_name("left")
        if left is None:
            return ""
        node = left
    if node.type == "call":
        return walk.field(node, "target", 120)
    return walk.text(node, 120).strip('"') if node.type in ("identifier", "alias", "string") else ""


LANGUAGE = Language(
    name="elixir",
    grammar=("tree_sitter_elixir", "language"),
    rules={"call": _call},
    patterns={"call": ("(call target: (identifier) (arguments))",)},
    line_comments=("#",),
    block_comments=False,
    attributes=("@",),
)
