"""Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from holdfast.index.facts import expressions
from holdfast.index.facts.comments import DOC_MAX
from holdfast.index.facts.languages.rules import calling, wrapping
from holdfast.index.facts.model import MODULE, RESULT, YIELD, Kind
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
        if wrapper and _PROPERTY.search(walk.source, wrapper[0], node.start_byte):
            kind = "property"
    # Not up to the body: a comment may follow the colon.
    given = node.child_by_field_name("parameters")
    end = node.child_by_field_name("return_type") or given
    index = walk.define(
        node,
        name,
        kind,
        signature_end=end.end_byte if end else None,
        doc=docstring(walk, block),
        exported=not name.startswith("_") or name.startswith("__"),
    )
    if given is None or index == MODULE or end is None:
        return
    if end.end_byte - node.start_byte > SIGNATURE_MAX:
        _long_signature(walk, given, end)


_PROPERTY = re.compile(rb"property|\.(?:setter|getter|deleter)\b")


def _long_signature(walk: Walk, given: Node, end: Node) -> None:
    """Parameters and the result of a function whose signature is cut short."""
    for each in given.named_children[:200]:
        annotated = each.child_by_field_name("type")
        name = each.child_by_field_name("name") or first_child(each)
        if annotated is not None and name is not None:
            walk.bind(each, walk.text(name, 100), type=walk.text(annotated), kind="parameter")
    if end != given:
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
    for base in bases.named_children:
        if base.type not in ("keyword_argument", "comment"):
            child = walk.symbols[index].qualified
            walk.inherit(child, walk.text(base), "extends", node.start_point[0] + 1)


def _assignment(walk: Walk, node: Node) -> None:
    left = node.child_by_field_name("left")
    if left is None:
        return
    right = node.child_by_field_name("right")
    literal = right is not None and right.type in _LITERALS and walk.scopes
    if literal and node.child_by_field_name("type") is None:
        return
    kind = left.type
    if kind in _PATTERNS:
        if right is not None:
            _unpack(walk, left, expressions.read(walk, right))
        return
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
    between = walk.source[left.end_byte : right.start_byte if right else node.end_byte]
    annotated = walk.field(node, "type") if b":" in between else ""
    value = ""
    if right is not None and right.type not in _LITERALS:
        value = expressions.read_chain(walk, right)
    field = scope is not None or walk.inside() in CONTAINERS
    walk.bind(
        node,
        name,
        type=annotated,
        expression=value,
        kind="field" if field else "variable",
        scope=scope,
        inside=walk.symbol(),
    )
    if top:
        constant: Kind = "constant" if name.isupper() else "variable"
        exported = not name.startswith("_")
        walk.define(node, name, constant, opens=False, exported=exported)


_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
_LITERALS = frozenset({"string", "integer", "float", "true", "false", "none", "lambda",
                       "concatenated_string", "comparison_operator", "not_operator"})  # fmt: skip


def _unpack(walk: Walk, pattern: Node, value: str, last: int = 0) -> None:
    """`a, b = value`: each name is an element of it."""
    if value == "?" and not last:
        return
    if "|" in value:
        value = f"({value})"
    for place, name in enumerate(pattern.named_children[:8]):
        item = "?" if value == "?" else f"{value}[{place}]"
        if name.type == "identifier":
            walk.bind(name, walk.text(name, 100), expression=item, last=last)
        elif name.type in _PATTERNS:
            _unpack(walk, name, item, last)


def _loop(walk: Walk, node: Node) -> None:
    """`for x in xs`, also in a comprehension: the name is an element until the loop ends."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    value = expressions.read_chain(walk, right)
    if value != "?":
        value = f"({value})[*]" if "|" in value else f"{value}[*]"
    last = 0
    if node.type == "for_in_clause":
        whole = node.parent
        last = whole.end_point[0] + 1 if whole else node.end_point[0] + 1
        # The body of a comprehension is before its loop, perhaps on an earlier line.
        walk.line = whole.start_point[0] + 1 if whole else walk.line
    elif value == "?":
        return
    if left.type == "identifier":
        walk.bind(node, walk.text(left, 100), expression=value, last=last)
    elif left.type in _PATTERNS:
        _unpack(walk, left, value, last)
    walk.line = node.start_point[0] + 1


def _result(walk: Walk, node: Node) -> None:
    """What a function without a declared result returns or yields."""
    at = walk.symbol()
    if at == MODULE or walk.inside() in CONTAINERS or "->" in walk.symbols[at].signature:
        return
    value = first_child(node)
    if value is not None and value.type not in _LITERALS:
        name = RESULT if node.type == "return_statement" else YIELD
        walk.bind(node, name, expression=expressions.read_chain(walk, value))


def _as(walk: Walk, node: Node) -> None:
    """`with make() as it`, `except Error as it`; a `case` does not tell the type of its name."""
    target, value = node.child_by_field_name("alias"), first_child(node)
    holder = node.parent
    if not target or not value or not holder or target.type != "as_pattern_target":
        return
    name = walk.text(target, 100)
    if holder.type == "with_item":
        found = expressions.read_chain(walk, value)
        if found != "?" and name.isidentifier():
            walk.bind(
                node, name, expression=f"({found})[with]" if "|" in found else found + "[with]"
            )
    elif holder.type == "except_clause" and name.isidentifier():
        walk.bind(node, name, type=_union(walk.text(value)), last=holder.end_point[0] + 1)


def _union(text: str) -> str:
    """`(A, B)` as a type: `A | B`."""
    return text.strip("()").strip(", ").replace(",", " |") if text[:1] == "(" else text


def _walrus(walk: Walk, node: Node) -> None:
    value = node.child_by_field_name("value")
    if value and value.type not in _LITERALS:
        found = expressions.read_chain(walk, value)
        walk.bind(node, walk.field(node, "name", 100), expression=found)


_CALL = calling()
_PLAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")


def _call(walk: Walk, node: Node) -> None:
    _CALL(walk, node)
    if walk.calls and walk.calls[-1].name == "isinstance" and not walk.calls[-1].receiver:
        _narrowed(walk, node)


def _narrowed(walk: Walk, node: Node) -> None:
    """`isinstance(x, T)` in a condition: x is a T where the condition holds."""
    given = node.child_by_field_name("arguments")
    if given is None or given.named_child_count != 2:
        return
    subject, type_ = (walk.text(c, 160) for c in given.named_children)
    if not _PLAIN.match(subject):
        return
    negated, at, up, kind = False, node, node.parent, ""
    for _ in range(8):
        if up is None:
            return
        kind = up.type
        if kind == "not_operator":
            negated = not negated
        elif kind == "boolean_operator":
            sign = up.child_by_field_name("operator")
            if sign is None or sign.type != ("or" if negated else "and"):
                return
        elif kind != "parenthesized_expression":
            break
        at, up = up, up.parent
    if up is None:
        return
    last = 0
    if kind in ("if_statement", "elif_clause"):
        block = up.child_by_field_name("consequence")
        if up.child_by_field_name("condition") != at or block is None:
            return
        if not negated:
            last = block.end_point[0] + 1
        else:
            final = block.named_child(block.named_child_count - 1)
            around = up.parent
            if kind != "if_statement" or final is None or around is None or final.type not in _ENDS:
                return
            walk.line = up.end_point[0] + 1
            last = around.end_point[0] + 1
    elif negated:
        return
    elif kind in ("assert_statement", "while_statement"):
        around = up.parent if kind == "assert_statement" else up
        last = around.end_point[0] + 1 if around else 0
    elif kind in ("conditional_expression", "if_clause"):
        around = up if kind == "conditional_expression" else up.parent
        if around is None:
            return
        walk.line = around.start_point[0] + 1
        last = around.end_point[0] + 1
    if last:
        walk.bind(node, subject, type=_union(type_), last=last)
    walk.line = node.start_point[0] + 1


_ENDS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})


def _case(walk: Walk, node: Node) -> None:
    """`case T():` below `match x`: x is a T there."""
    clause = node.parent.parent if node.parent else None
    if clause is None or clause.type != "case_clause" or not clause.parent:
        return
    whole = clause.parent.parent
    subject = whole.child_by_field_name("subject") if whole else None
    named = first_child(node)
    if subject and named and _PLAIN.match(walk.text(subject, 100)):
        last = clause.end_point[0] + 1
        walk.bind(node, walk.text(subject, 100), type=walk.text(named, 100), last=last)


def _decorator(walk: Walk, node: Node) -> None:
    what = first_child(node)
    if what and what.type in ("identifier", "attribute"):
        before = len(walk.calls)
        walk.call(node, walk.text(what), "decorator")
        whole = node.parent
        made = whole.child_by_field_name("definition") if whole else None
        if made is not None and len(walk.calls) > before:
            # A decorator is called with what it decorates.
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
        "call": _call,
        "for_statement": _loop,
        "for_in_clause": _loop,
        "return_statement": _result,
        "yield": _result,
        "class_pattern": _case,
        "decorator": _decorator,
        "import_statement": _import,
        "import_from_statement": _import_from,
    },
    values=True,
    line_comments=("#",),
    block_comments=False,
    attributes=("@",),
    module=module,
)
