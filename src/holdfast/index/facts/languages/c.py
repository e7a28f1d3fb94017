"""C, and the rules that C++ extends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.chains import LONGEST
from holdfast.index.facts.languages import source_repair
from holdfast.index.facts.languages.rules import calling
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk, last_child

if TYPE_CHECKING:
    from tree_sitter import Node

_DECLARED = re.compile(
    # Scopes are atomic groups: nested `<…>` could be matched in exponentially many ways.
    r"[\s*&(]*+(?:\w+::(?=[*&]))?[*&\s]*+((?>(?:[\w~]+(?:<[^()]*>)?::)*)(?:operator\s*(?:\(\)|[^\s(\w]+|\s[\w\s*&:]+)|~?\w+))"
    r"(?:<[^()]*>)?\s*\(", re.DOTALL)  # fmt: skip
_VARIABLE = re.compile(r"[\s*&]*(\w+)\s*(?:\[|=|\(|\{|$)")
_OWNED = re.compile(r"(?:std::)?make_(?:unique|shared)<([\w:]+)>")
_ANGLES = re.compile(r"<[^<>]*>")


def declared(text: str) -> str:
    """The dotted name that a function declarator declares; "" if it does not declare a function."""
    match = _DECLARED.match(text)
    if not match:
        return ""
    return _ANGLES.sub("", match.group(1)).replace("::", ".").strip()


def _function(walk: Walk, node: Node) -> None:
    declarator = node.child_by_field_name("declarator")
    block = node.child_by_field_name("body")
    if declarator is None:
        return
    name = declared(walk.text(declarator, 600))
    if node.has_error:
        # `void Lock() EXCLUDES(m) {}`: the parser mistakes the macro for the name.
        for child in node.children[:8]:
            if child.start_byte >= declarator.start_byte:
                break
            if child.is_error:
                name = declared(walk.text(child, 600)) or name
    if _TEST.match(name) and node.child_by_field_name("type") is None:
        name = _named_by_macro(walk.text(declarator, 600)) or name
    stop = block.start_byte if block else node.end_byte
    head = walk.slice(node.start_byte, declarator.start_byte)
    function(walk, node, name, stop, "static" not in head.split(), True)


_TEST = re.compile(r"(?:[A-Z]+_)*(?:TEST|TESTS|BENCHMARK|SCENARIO|MATCHER|FUZZ)(?:_[A-Z0-9]+)*\Z")


def _named_by_macro(text: str) -> str:
    """`TEST_F(Cart, Adds)` is `Cart.Adds`; `TEST_CASE("adds")` is `adds`."""
    inner = text.partition("(")[2].rpartition(")")[0]
    words = re.findall(r"[A-Za-z_]\w*", inner)
    return ".".join(words[:2])


def function(walk: Walk, node: Node, name: str, stop: int, exported: bool, defined: bool) -> None:
    """Define a function under its last name, in the class that its path or position names."""
    owner, _, last = name.rpartition(".")
    kind: Kind = "function"
    if owner or walk.inside() in CONTAINERS:
        kind = "method"
        place = owner.rpartition(".")[2] or walk.prefix().rpartition(".")[2]
        if last == place:
            kind = "constructor"
    prefix = walk.prefix()
    walk.define(
        node,
        last,
        kind,
        signature_end=stop,
        qualified=f"{prefix}.{name}" if prefix else name,
        exported=exported,
        defined=defined,
        opens=defined,
    )


def _specifier(kind: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        block, name = node.child_by_field_name("body"), walk.field(node, "name", 120)
        if block is None or not name:
            return
        name = _ANGLES.sub("", name).replace("::", ".")
        index = walk.define(node, name, kind, signature_end=block.start_byte)
        for child in node.named_children:
            if child.type == "base_class_clause" and index != MODULE:
                for base in walk.text(child).lstrip(": ").split(","):
                    base = re.sub(r"\b(?:public|private|protected|virtual)\b", "", base)
                    walk.inherit(
                        walk.symbols[index].qualified, base, "extends", node.start_point[0] + 1
                    )

    return rule


_POINTED = re.compile(r"\(\s*(?:\w+\s+)?(?:[\w:]+::)?[*&^]?\s*(?:const\s+)?(\w+)\s*[)\[]")


def _typedef_name(declarator: str) -> str:
    """The name that a declarator of a typedef declares: `*Name`, `Name[3]`, `(*Name)(int)`."""
    pointed = _POINTED.match(declarator.lstrip("*& \t\r\n"))
    if pointed:
        return pointed.group(1)
    plain = re.search(r"(\w+)\W*$", re.sub(r"\[[^\]]*\]", "", declarator.split("(")[0]))
    return plain.group(1) if plain else ""


def _typedef(walk: Walk, node: Node) -> None:
    declarators = node.children_by_field_name("declarator")
    names = [_typedef_name(walk.text(each, 200)) for each in declarators[:16]]
    names = [name for name in names if name]
    if not names:
        return
    for other in names[1:]:  # before the first one, which may open a scope
        walk.define(node, other, "type", opens=False)
    _typedef_of(walk, node, names[0])


def _typedef_of(walk: Walk, node: Node, name: str) -> None:
    shape = node.child_by_field_name("type")
    block = shape.child_by_field_name("body") if shape else None
    anonymous = shape is not None and shape.child_by_field_name("name") is None
    if block is not None and anonymous and shape is not None:
        kinds: dict[str, Kind] = {"struct_specifier": "struct", "union_specifier": "union",
                                  "enum_specifier": "enum"}  # fmt: skip
        kind = kinds.get(shape.type, "type")
        walk.define(node, name, kind, signature_end=block.start_byte)
        return
    index = walk.define(node, name, "type", opens=False)
    if shape is not None and index != MODULE:
        base = walk.field(shape, "name") or walk.text(shape, 120)
        walk.inherit(name, base, "embeds", node.start_point[0] + 1)


def declaration(walk: Walk, node: Node) -> None:
    """A prototype, a global, a local or a field."""
    declarator = node.child_by_field_name("declarator")
    if declarator is None:
        return
    inside = walk.inside()
    text = walk.text(declarator, 400)
    local = inside in ("function", "method", "constructor")
    shape = declarator
    for _ in range(4):  # `int *f(void)`: the function declarator is inside a pointer declarator
        if shape.type != "pointer_declarator" and shape.type != "reference_declarator":
            break
        shape = last_child(shape) or shape
    if shape.type == "function_declarator" and not local:
        name = declared(text)
        if name:
            function(walk, node, name, node.end_byte, True, False)
        return
    value = declarator.child_by_field_name("value")
    match = _VARIABLE.match(text)
    if not match:
        return
    name = match.group(1)
    annotated = walk.field(node, "type")
    value_text = walk.text(value) if value and value.end_byte - value.start_byte < 400 else ""
    if owned := _OWNED.match(value_text):
        annotated = owned.group(1)
    walk.bind(
        node,
        name,
        type="" if annotated.startswith("auto") else annotated,
        value=value_text,
        kind="field" if inside in CONTAINERS else "variable",
    )
    if not inside or inside == "namespace":
        walk.define(node, name, "variable", opens=False)


def _define(kind: Kind) -> Rule:
    def rule(walk: Walk, node: Node) -> None:
        if kind == "constant" and node.child_by_field_name("value") is None:
            return  # an include guard
        walk.define(node, walk.field(node, "name", 120), kind, opens=False)

    return rule


def _include(walk: Walk, node: Node) -> None:
    path = walk.field(node, "path").strip('"')
    walk.imported(node.start_point[0] + 1, path, "*", "")


def _new(walk: Walk, node: Node) -> None:
    arguments = node.child_by_field_name("arguments")
    arity = arguments.named_child_count if arguments else 0
    walk.call(node, walk.field(node, "type", LONGEST), "new", arity)


RULES: dict[str, Rule] = {
    "preproc_include": _include,
    "preproc_function_def": _define("macro"),
    "preproc_def": _define("constant"),
    "function_definition": _function,
    "struct_specifier": _specifier("struct"),
    "union_specifier": _specifier("union"),
    "enum_specifier": _specifier("enum"),
    "type_definition": _typedef,
    "declaration": declaration,
    "field_declaration": declaration,
    "call_expression": calling(),
}
PATTERNS = {
    "struct_specifier": ("(struct_specifier body: (_))",),
    "union_specifier": ("(union_specifier body: (_))",),
    "enum_specifier": ("(enum_specifier body: (_))",),
}

LANGUAGE = Language(
    name="c",
    grammar=("tree_sitter_c", "language"),
    rules=RULES,
    patterns=PATTERNS,
    repair=source_repair.c_family,
)

NEW = _new
SPECIFIER = _specifier
