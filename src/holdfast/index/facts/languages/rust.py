"""Rust."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.chains import type_name
from holdfast.index.facts.languages.rules import calling, definition, split_list
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_PATH = bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123)) + b"_.:()"


def _public(walk: Walk, node: Node) -> bool:
    return walk.source[node.start_byte : node.start_byte + 4] == b"pub " or (
        walk.source[node.start_byte : node.start_byte + 4] == b"pub("
    )


def _item(kind: Kind, member: Kind | None = None) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        block = node.child_by_field_name("body")
        chosen = member if member and walk.inside() in CONTAINERS else kind
        walk.define(
            node,
            walk.field(node, "name", 120),
            chosen,
            signature_end=block.start_byte if block else None,
            exported=_public(walk, node) or walk.inside() == "trait",
        )

    return rule


def _value(kind: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        name = walk.field(node, "name", 120)
        walk.bind(node, name, type=walk.field(node, "type"))
        inside = walk.inside()
        if not inside or inside == "namespace" or inside in CONTAINERS:
            walk.define(node, name, kind, opens=False, exported=_public(walk, node))

    return rule


def _trait(walk: Walk, node: Node) -> None:
    block = node.child_by_field_name("body")
    index = walk.define(
        node,
        walk.field(node, "name", 120),
        "trait",
        signature_end=block.start_byte if block else None,
        exported=_public(walk, node),
    )
    bounds = walk.field(node, "bounds").lstrip(": ")
    if index != MODULE and bounds:
        for base in bounds.split("+"):
            walk.inherit(walk.symbols[index].qualified, base.strip(), "extends", _line(node))


def _impl(walk: Walk, node: Node) -> None:
    """`impl Trait for Type` adds members to a type that may be defined elsewhere."""
    owner = type_name(walk.field(node, "type"))
    if not owner:
        return
    owner = owner.removeprefix("crate.").removeprefix("self.")
    prefix = walk.prefix()
    qualified = f"{prefix}.{owner}" if prefix else owner
    symbol = next(
        (
            i
            for i, s in enumerate(walk.symbols)
            if s.qualified == qualified and s.kind in CONTAINERS
        ),
        None,
    )
    trait = walk.field(node, "trait")
    if trait:
        walk.inherit(qualified, trait, "implements", _line(node))
    walk.enter(node, qualified, "class", symbol)


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _module(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    if block is None:
        walk.imported(_line(node), "self." + name, "", name, reexport=_public(walk, node))
        return
    walk.define(
        node, name, "namespace", signature_end=block.start_byte, exported=_public(walk, node)
    )


def _use(walk: Walk, node: Node) -> None:
    text = _COMMENT.sub("", walk.text(node, 20_000))
    public = text.startswith("pub")
    text = text.partition("use ")[2].rstrip("; \n").replace("\n", " ")
    work = [("", text)]
    while work:
        base, item = work.pop(0)
        if "{" in item:
            head, _, rest = item.partition("{")
            head = head.strip().rstrip(":").replace("::", ".").strip()
            path = f"{base}.{head}".strip(".") if head else base
            work = [(path, each) for each in split_list(rest.rsplit("}", 1)[0])] + work
            continue
        name, _, alias = (part.strip() for part in item.partition(" as "))
        name = name.replace("::", ".").strip(".").replace(" ", "")
        full = f"{base}.{name}".strip(".")
        if name == "self":
            full = base
        module, _, last = full.rpartition(".")
        if last == "*":
            walk.imported(_line(node), module, "*", "", reexport=public)
        elif alias != "_":
            walk.imported(_line(node), module, last, alias or last, reexport=public)


def _field(walk: Walk, node: Node) -> None:
    walk.bind(node, walk.field(node, "name", 100), type=walk.field(node, "type"), kind="field")


def _let(walk: Walk, node: Node) -> None:
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    if pattern is None:
        return
    name = walk.text(pattern, 100).removeprefix("mut ").strip()
    if not re.fullmatch(r"\w+", name):
        return
    text = walk.text(value) if value and value.end_byte - value.start_byte < 400 else ""
    walk.bind(node, name, type=walk.field(node, "type"), value=text)


def _macro(walk: Walk, node: Node) -> None:
    walk.call(node, walk.field(node, "macro", 200), "macro")


def _token(walk: Walk, node: Node) -> None:
    """Inside a macro there are only tokens; a name before a parenthesis is recorded as a call."""
    end = node.end_byte
    if walk.source[end : end + 1] != b"(":
        return
    before = walk.source[max(0, node.start_byte - 120) : node.start_byte]
    path = before[len(before.rstrip(_PATH)) :]
    if b"(" in path:  # only empty brackets are part of a path: `self.cart().total(…)`
        path = path[path.replace(b"()", b"..").rfind(b"(") + 1 :]
    walk.call(node, (path + walk.source[node.start_byte : end]).decode("utf-8", "replace"))


def module(path: str, _package: str) -> str:
    """`src/shop/cart.rs` is `shop.cart`; a crate root is `crate`, with its folder before it."""
    crate, source, rest = path.rpartition("src/")
    if not source:
        crate, rest = "", path
    rest = rest.removesuffix(".rs")
    if rest in ("lib", "main"):
        rest = "crate"
    rest = rest.removesuffix("/mod")
    return f"{crate}{rest}".replace("/", ".")


LANGUAGE = Language(
    name="rust",
    grammar=("tree_sitter_rust", "language"),
    rules={
        "function_item": _item("function", "method"),
        "function_signature_item": _item("function", "method"),
        "struct_item": _item("struct"),
        "enum_item": _item("enum"),
        "union_item": _item("union"),
        "trait_item": _trait,
        "impl_item": _impl,
        "mod_item": _module,
        "type_item": _item("type"),
        "associated_type": _item("type"),
        "macro_definition": definition("macro"),
        "const_item": _value("constant"),
        "static_item": _value("variable"),
        "field_declaration": _field,
        "let_declaration": _let,
        "use_declaration": _use,
        "call_expression": calling(),
        "macro_invocation": _macro,
        "identifier": _token,
    },
    patterns={"identifier": ("(token_tree (identifier) @n . (token_tree))",)},
    attributes=("#[", "#!["),
    module=module,
)
