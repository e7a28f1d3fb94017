"""Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.languages.rules import calling, wrapping
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, DOC_MAX, Language, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENT = re.compile(r"#[^\n]*|\\\n")
_OPENING = re.compile(r"""[rRbBuUfF]{0,2}(\"\"\"|'''|"|')""")


def docstring(walk: Walk, block: Node | None) -> str:
    """The string that opens a body, without quotes and margin; "" when there is none."""
    if block is None:
        return ""
    start = block.start_byte
    if walk.source[start : start + 1] not in _QUOTED:
        return ""  # decided by the first byte, without visiting nodes
    first = first_child(block)
    if first is None or first.type != "expression_statement":
        return ""
    string = first_child(first)
    if string is None or string.type != "string":
        return ""
    text = walk.text(string, DOC_MAX)
    opening = _OPENING.match(text)
    if not opening:
        return ""
    text = text[opening.end() :].removesuffix(opening.group(1))
    if "\t" in text:
        text = text.expandtabs()
    if "\n" not in text:
        return text.strip()
    first_line, rest = text.split("\n", 1)
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        lines = _without_margin(rest.split("\n"))
        return f"{first_line.strip()}\n{lines}".strip()
    # A faster way when a space is the only white space.
    rest = "\n" + rest
    margin = min(map(len, _MARGINS.findall(rest)), default=0)
    rest = rest.replace("\n" + " " * margin, "\n")
    if " \n" in rest:
        rest = _TRAILING.sub("\n", rest)
    return (first_line.strip() + rest).strip()


def _without_margin(lines: list[str]) -> str:
    bare = [line.lstrip() for line in lines]
    margin = min((len(x) - len(y) for x, y in zip(lines, bare, strict=True) if y), default=0)
    return "\n".join([line[margin:].rstrip() for line in lines])


_MARGINS = re.compile(r"\n( *)(?=[^ \n])")
_TRAILING = re.compile(r"(?<! ) +\n")
_QUOTED = b"\"'rRbBuUfF"
"""What the first byte of a body is when it may open with a string."""


def _function(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    kind: Kind = "function"
    if walk.inside() in CONTAINERS:
        kind = "constructor" if name == "__init__" else "method"
        wrapper = walk.wrapper
        if wrapper and b"property" in walk.source[wrapper[0] : node.start_byte]:
            kind = "property"
    # Not up to the body: a comment may follow the colon.
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
    left = node.child_by_field_name("left")
    if left is None:
        return
    kind = left.type
    if kind not in ("identifier", "attribute"):
        return
    name = walk.text(left, 100)
    scope = None
    top = False
    if kind == "attribute":
        owner, _, name = name.rpartition(".")
        if owner not in ("self", "cls"):
            return
        scope = walk.enclosing_class()
        if scope == MODULE:
            return
    else:
        top = not walk.inside()
    # What stands between the name and the value: the type, if there is one.
    right = node.child_by_field_name("right")
    between = walk.source[left.end_byte : right.start_byte if right else node.end_byte]
    annotated = walk.field(node, "type") if b":" in between else ""
    value = ""
    if right and right.type != "conditional_expression":
        # `repo or Repo()`: unknown
        start, end = right.start_byte, right.end_byte
        value = walk.slice(start, end) if end - start < 400 else ""
    field = scope is not None or walk.inside() in CONTAINERS
    walk.bind(
        node, name, type=annotated, value=value, kind="field" if field else "variable", scope=scope
    )
    if top:
        constant: Kind = "constant" if name.isupper() else "variable"
        exported = not name.startswith("_")
        walk.define(node, name, constant, opens=False, exported=exported)


def _as(walk: Walk, node: Node) -> None:
    """`with make() as it`; an `except` or a `case` does not tell the type of its name."""
    target, value = node.child_by_field_name("alias"), first_child(node)
    if target and value and value.type == "call" and target.type == "as_pattern_target":
        holder = node.parent
        if holder and holder.type == "with_item":
            walk.bind(node, walk.text(target, 100), value=walk.text(value))


def _walrus(walk: Walk, node: Node) -> None:
    value = node.child_by_field_name("value")
    if value and value.type == "call":
        walk.bind(node, walk.field(node, "name", 100), value=walk.text(value))


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
            "(assignment type: (type))",
            "(module (expression_statement (assignment left: (identifier)) @n))",
        ),
    },
    line_comments=("#",),
    block_comments=False,
    attributes=("@",),
    module=module,
)
