"""Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts import MODULE, Kind
from holdfast.index.rules import calling, wrapping
from holdfast.index.walk import CONTAINERS, DOC_MAX, Language, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENT = re.compile(r"#[^\n]*|\\\n")
_QUOTES = re.compile(r"""^[rRbBuUfF]{0,2}(\"\"\"|'''|"|')(.*?)(?:\1)?$""", re.DOTALL)


def docstring(walk: Walk, block: Node | None) -> str:
    """The string that opens a body, without quotes and margin; "" when there is none."""
    first = first_child(block) if block else None
    if first is None or first.type != "expression_statement":
        return ""
    string = first_child(first)
    if string is None or string.type != "string":
        return ""
    quoted = _QUOTES.match(walk.text(string, DOC_MAX))
    if not quoted:
        return ""
    lines = quoted.group(2).expandtabs().split("\n")
    margin = min((len(x) - len(x.lstrip()) for x in lines[1:] if x.strip()), default=0)
    return "\n".join([lines[0].strip(), *(x[margin:].rstrip() for x in lines[1:])]).strip()


def _function(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    kind: Kind = "function"
    if walk.inside() in CONTAINERS:
        kind = "constructor" if name == "__init__" else "method"
        wrapper = walk.wrapper
        if wrapper and b"property" in walk.source[wrapper[0] : node.start_byte]:
            kind = "property"
    # Not up to the body: a comment may stand between the colon and it.
    end = node.child_by_field_name("return_type") or node.child_by_field_name("parameters")
    walk.define(
        node,
        name,
        kind,
        signature_end=end.end_byte if end else None,
        doc=docstring(walk, block),
        exported=not name.startswith("_") or name.startswith("__"),
    )


def _class(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    bases = node.child_by_field_name("superclasses")
    end = bases or node.child_by_field_name("name")
    index = walk.define(
        node,
        name,
        "class",
        signature_end=end.end_byte if end else None,
        doc=docstring(walk, block),
        exported=not name.startswith("_"),
    )
    if bases is None or index == MODULE:
        return
    for base in bases.named_children:
        if base.type not in ("keyword_argument", "comment"):
            child = walk.symbols[index].qualified
            walk.inherit(child, walk.text(base), "extends", node.start_point[0] + 1)


def _assignment(walk: Walk, node: Node) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None:
        return
    name = walk.text(left, 100)
    value = walk.text(right) if right and right.end_byte - right.start_byte < 400 else ""
    if right and right.type == "conditional_expression":  # `repo or Repo()` and the like: no guess
        value = ""
    annotated = walk.field(node, "type")
    owner, _, attribute = name.rpartition(".")
    if owner in ("self", "cls"):
        scope = walk.enclosing_class()
        if scope != MODULE:
            walk.bind(node, attribute, type=annotated, value=value, kind="field", scope=scope)
        return
    if left.type != "identifier":
        return
    if walk.inside() in CONTAINERS:
        walk.bind(node, name, type=annotated, value=value, kind="field")
        return
    walk.bind(node, name, type=annotated, value=value)
    if not walk.inside():
        constant: Kind = "constant" if name.isupper() else "variable"
        exported = not name.startswith("_")
        walk.define(node, name, constant, opens=False, exported=exported)


def _as(walk: Walk, node: Node) -> None:
    target, value = node.child_by_field_name("alias"), first_child(node)
    if target and value:
        walk.bind(node, walk.text(target, 100), value=walk.text(value))


def _walrus(walk: Walk, node: Node) -> None:
    walk.bind(node, walk.field(node, "name", 100), value=walk.field(node, "value"))


def _decorator(walk: Walk, node: Node) -> None:
    what = first_child(node)
    if what and what.type in ("identifier", "attribute"):
        walk.call(node, walk.text(what), "decorator")


def _import(walk: Walk, node: Node) -> None:
    line = node.start_point[0] + 1
    text = _COMMENT.sub("", walk.text(node, 20_000))
    for item in text.removeprefix("import").split(","):
        module, _, alias = (part.strip() for part in item.partition(" as "))
        if module:
            walk.imported(line, module, "", alias or module)


def _import_from(walk: Walk, node: Node) -> None:
    line = node.start_point[0] + 1
    text = _COMMENT.sub("", walk.text(node, 20_000))
    head, _, names = text.partition("import")
    module = head.removeprefix("from").replace(" ", "").strip()
    if not module:
        return
    for item in names.strip().strip("()").split(","):
        name, _, alias = (part.strip() for part in item.partition(" as "))
        if name == "*":
            walk.imported(line, module, "*", "")
        elif name:
            walk.imported(line, module, name, alias or name)


def module(path: str, _package: str) -> str:
    """`src/shop/cart.py` is `shop.cart`; a package is its `__init__.py`."""
    stem = path.rsplit(".", 1)[0]
    parts = stem.split("/")
    if len(parts) > 1 and parts[0] in ("src", "lib", "python"):
        del parts[0]
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


LANGUAGE = Language(
    name="python",
    grammar=("tree_sitter_python", "language"),
    rules={
        "decorated_definition": wrapping,
        "function_definition": _function,
        "class_definition": _class,
        "assignment": _assignment,
        "as_pattern": _as,
        "named_expression": _walrus,
        "call": calling(),
        "decorator": _decorator,
        "import_statement": _import,
        "import_from_statement": _import_from,
    },
    patterns={
        "assignment": (
            "(assignment right: [(call) (identifier) (attribute) (await)])",
            "(assignment type: (_))",
            "(module (expression_statement (assignment left: (identifier)) @n))",
        ),
        "as_pattern": ("(with_item (as_pattern (call) (as_pattern_target)) @n)",),
        "named_expression": ("(named_expression value: (call))",),
    },
    line_comments=("#",),
    block_comments=False,
    attributes=("@",),
    module=module,
)
