"""Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from holdfast.index.facts import expressions
from holdfast.index.facts.comments import DOC_MAX
from holdfast.index.facts.languages.python_flow import (
    as_rule,
    case_rule,
    lambda_rule,
    loop_rule,
    narrowed_rule,
    result_rule,
    walrus_rule,
)
from holdfast.index.facts.languages.python_values import (
    GROWING,
    MOVING,
    added_rule,
    assignment_rule,
    deleted_rule,
    elsewhere_rule,
    moved_rule,
    set_rule,
)
from holdfast.index.facts.languages.rules import calling, wrapping
from holdfast.index.facts.model import MODULE, RESULT, VALUE, Call, Kind
from holdfast.index.facts.walk import (
    CONTAINERS,
    SIGNATURE_MAX,
    Language,
    Walk,
    first_child,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENT = re.compile(r"#[^\n]*|\\\n")
_FROM = re.compile(r"from\s*([\w.\s]*?)(?<![\w])import(?!\w)(.*)", re.DOTALL)
_OPENING = re.compile(r"""[rRbBuUfF]{0,2}(\"\"\"|'''|"|')""")


def docstring(walk: Walk, block: Node | None) -> str:
    """The string at the start of a body, without quotes and margin; "" when there is none."""
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
"""The possible first bytes of a body that starts with a string."""


def _function(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    kind: Kind = "function"
    if walk.inside() in CONTAINERS:
        kind = "constructor" if name == "__init__" else "method"
        wrapper = walk.wrapper
        if wrapper and _PROPERTY.search(walk.source, wrapper[0], node.start_byte):
            kind = "property"
    # Ends before the colon, which a comment may follow.
    parameters = node.child_by_field_name("parameters")
    end = node.child_by_field_name("return_type") or parameters
    index = walk.define(
        node,
        name,
        kind,
        signature_end=end.end_byte if end else None,
        doc=docstring(walk, block),
        exported=not name.startswith("_") or name.startswith("__"),
    )
    if parameters is None or index == MODULE or end is None:
        return
    if end.end_byte - node.start_byte > SIGNATURE_MAX:
        _long_signature(walk, parameters, end)


_PROPERTY = re.compile(rb"property|\.(?:setter|getter|deleter)\b")


def _long_signature(walk: Walk, parameters: Node, end: Node) -> None:
    """Bind the parameters and the result of a function whose signature is cut."""
    for each in parameters.named_children[:200]:
        annotated = each.child_by_field_name("type")
        name = each.child_by_field_name("name") or first_child(each)
        if annotated is not None and name is not None:
            walk.bind(each, walk.text(name, 100), type=walk.text(annotated), kind="parameter")
    if end != parameters:
        walk.bind(end, RESULT, type=walk.text(end))


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
    if walk.has_subclass_hook:
        _subclassed(walk, node, bases, walk.symbols[index].parent)
    for base in bases.named_children:
        if base.type not in ("keyword_argument", "comment"):
            child = walk.symbols[index].qualified
            walk.inherit(child, walk.text(base), "extends", node.start_point[0] + 1)


def _subclassed(walk: Walk, node: Node, bases: Node, caller: int) -> None:
    """A class statement calls `__init_subclass__` of its base; of several, the order decides."""
    named = [c for c in bases.named_children[:3] if c.type not in ("keyword_argument", "comment")]
    if len(named) == 1 and named[0].type in ("identifier", "attribute"):
        owner, line, start = walk.text(named[0], 100), node.start_point[0] + 1, node.start_byte
        name = "__init_subclass__"
        walk.calls.append(Call(caller, name, owner, "implicit", line, start, 0))


_CALL = calling()


def _call(walk: Walk, node: Node) -> None:
    _CALL(walk, node)
    name = walk.calls[-1].name if walk.calls else ""
    if name == "isinstance":
        narrowed_rule(walk, node)
    elif name in GROWING:
        added_rule(walk, node)
    elif name == "setattr":
        set_rule(walk, node)
    elif name in MOVING:
        moved_rule(walk, node)


def _decorator(walk: Walk, node: Node) -> None:
    what = first_child(node)
    if what is None:
        return
    before = len(walk.calls)
    if what.type == "call":  # its result is called with the decorated function
        value = expressions.read(walk, what)
        if value != "?":
            start = node.start_byte
            walk.calls.append(Call(walk.symbol(), VALUE, value, "decorator", walk.line, start, 1))
    elif what.type in ("identifier", "attribute"):
        walk.call(node, walk.text(what), "decorator")
    if len(walk.calls) > before:
        whole = node.parent
        made = whole.child_by_field_name("definition") if whole else None
        if made is not None and len(walk.calls) > before:
            # A decorator is called with the decorated function.
            name = (f"0={walk.field(made, 'name', 100)}",)
            walk.calls[-1] = msgspec.structs.replace(walk.calls[-1], passed=name)


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
    # A module may have the word in its name: `from importlib.metadata import version`.
    found = _FROM.match(text)
    if not found:
        return
    module, names = "".join(found.group(1).split()), found.group(2)
    for item in names.strip().strip("()").split(","):
        name, _, alias = (part.strip() for part in item.partition(" as "))
        if name == "*":
            walk.imported(line, module, "*", "")
        elif name:
            walk.imported(line, module, name, alias or name)


def module(path: str, _package: str) -> str:
    """`src/shop/cart.py` is `shop.cart`; a package stands for its `__init__.py`."""
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
        "assignment": assignment_rule,
        "augmented_assignment": added_rule,
        "as_pattern": as_rule,
        "named_expression": walrus_rule,
        "call": _call,
        "for_statement": loop_rule,
        "for_in_clause": loop_rule,
        "lambda": lambda_rule,
        "return_statement": result_rule,
        "yield": result_rule,
        "class_pattern": case_rule,
        "decorator": _decorator,
        "delete_statement": deleted_rule,
        "global_statement": elsewhere_rule,
        "nonlocal_statement": elsewhere_rule,
        "import_statement": _import,
        "import_from_statement": _import_from,
    },
    values=True,
    line_comments=("#",),
    block_comments=False,
    attributes=("@",),
    module=module,
)
