"""JavaScript, and the rules that TypeScript adds to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.chains import LONGEST
from holdfast.index.facts.languages.rules import calling, definition, heritage, split_list, wrapping
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_REQUIRE = re.compile(r"""require\(\s*['"]([^'"]+)['"]\s*\)((?:\.\w+)?)$""")
_IMPORT = re.compile(
    r"""import\s+(?:type\s+|typeof\s+)?(?:(?P<what>.*?)\s*from\s*)?['"](?P<module>[^'"]*)['"]""",
    re.DOTALL,
)
_IMPORT_EQUALS = re.compile(r"""import\s+(\w+)\s*=\s*require\(\s*['"]([^'"]+)['"]""")
_EXPORT_FROM = re.compile(
    r"""export\s+(?:type\s+)?(?P<what>\*(?:\s*as\s+[\w$]+)?|\{.*?\})\s*from\s*['"](?P<module>[^'"]*)['"]""",
    re.DOTALL,
)
_EXPORT_LIST = re.compile(r"export\s+(?:type\s+)?\{(.*?)\}\s*;?\s*$", re.DOTALL)


def specifiers(text: str) -> list[tuple[str, str]]:
    """`{a, b as c, type D}` and `{a, b: c}` as (name there, name here)."""
    found = []
    for item in split_list(text.strip().strip("{}")):
        name, _, alias = item.removeprefix("type ").partition(" as ")
        if not alias and ":" in name:
            name, _, alias = name.partition(":")
        name, alias = name.split("=")[0].strip(), alias.split("=")[0].strip()
        if name and not name.startswith("..."):
            found.append((name, alias or name))
    return found


def _import(walk: Walk, node: Node) -> None:
    line = node.start_point[0] + 1
    text = " ".join(_COMMENT.sub("", walk.text(node, 20_000)).split())
    if equals := _IMPORT_EQUALS.match(text):
        walk.imported(line, equals.group(2), "", equals.group(1))
        return
    match = _IMPORT.match(text)
    if not match:
        return
    module, what = match.group("module"), match.group("what") or ""
    if not what:
        walk.imported(line, module, "", "")
    for item in split_list(what):
        if item.startswith("*"):
            walk.imported(line, module, "", item.partition(" as ")[2].strip())
        elif item.startswith("{"):
            for name, alias in specifiers(item):
                walk.imported(line, module, name, alias)
        else:
            walk.imported(line, module, "default", item.strip())


def _export(walk: Walk, node: Node) -> None:
    line = node.start_point[0] + 1
    if node.child_by_field_name("declaration") is not None:
        wrapping(walk, node)
        head = walk.slice(node.start_byte, node.end_byte, 200)
        named = re.match(r"export\s+default\s+(?:abstract\s+)?(?:async\s+)?"
                         r"(?:class|function\s*\*?)\s+([\w$]+)", head)  # fmt: skip
        if named:
            walk.bind(node, "default", value=named.group(1), scope=MODULE)
        return
    text = " ".join(_COMMENT.sub("", walk.text(node, 20_000)).split())
    if match := _EXPORT_FROM.match(text):
        module, what = match.group("module"), match.group("what")
        if what.startswith("*"):
            alias = what.partition(" as ")[2].strip()
            walk.imported(line, module, "" if alias else "*", alias, reexport=True)
        else:
            for name, alias in specifiers(what):
                walk.imported(line, module, name, alias, reexport=True)
    elif match := _EXPORT_LIST.match(text):
        for name, alias in specifiers(match.group(1)):
            if name != alias:
                walk.bind(node, alias, value=name, scope=MODULE)
    elif re.match(r"export\s+default\b|export\s*=", text):
        value = node.child_by_field_name("value") or first_child(node)
        if value is None:
            return
        if value.type in FUNCTIONS or value.type == "class":
            block = value.child_by_field_name("body")
            kind: Kind = "class" if value.type == "class" else "function"
            walk.define(node, "default", kind, signature_end=block.start_byte if block else None)
        elif value.type == "object":
            walk.define(node, "default", "object", signature_end=value.start_byte)
        else:
            walk.bind(node, "default", value=walk.text(value), scope=MODULE)


def _class(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    if not name:
        return
    index = walk.define(node, name, "class", signature_end=block.start_byte if block else None)
    if index != MODULE:
        class_heritage(walk, node, index)


def class_heritage(walk: Walk, node: Node, index: int) -> None:
    for child in node.named_children:
        if child.type in ("class_heritage", "extends_type_clause"):
            heritage(walk, index, walk.text(child), node.start_point[0] + 1)


def _method(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    kind: Kind = "function"
    if walk.inside() in CONTAINERS:
        kind = "constructor" if name == "constructor" else "method"
        head = walk.slice(node.start_byte, node.end_byte, 16).split()
        if head and head[0] in ("get", "set") and name not in ("get", "set"):
            kind = "property"
    walk.define(
        node,
        name,
        kind,
        signature_end=block.start_byte if block else None,
        exported=not name.startswith("#"),
    )


def _assigned(walk: Walk, node: Node, name: str, value: Node, qualified: str | None) -> bool:
    """Define what a function, a class or an object is assigned to. False when it is neither."""
    block = value.child_by_field_name("body")
    if value.type in FUNCTIONS:
        member = walk.inside() in CONTAINERS or (qualified is not None and "." in qualified)
        walk.define(
            node,
            name,
            "method" if member else "function",
            signature_end=block.start_byte if block else None,
            qualified=qualified,
        )
    elif value.type == "class":
        index = walk.define(
            node,
            name,
            "class",
            signature_end=block.start_byte if block else None,
            qualified=qualified,
        )
        if index != MODULE:
            class_heritage(walk, value, index)
    else:
        return False
    return True


def _declarator(walk: Walk, node: Node) -> None:
    left, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if left is None:
        return
    annotated = walk.field(node, "type")
    text = walk.text(value) if value and value.end_byte - value.start_byte < 400 else ""
    if required := _REQUIRE.match(text):
        line, module, member = node.start_point[0] + 1, required.group(1), required.group(2)
        if left.type == "object_pattern":
            for name, alias in specifiers(walk.text(left)):
                walk.imported(line, module, name, alias)
        else:
            walk.imported(line, module, member[1:], walk.text(left, 100))
        return
    if left.type != "identifier":
        return
    name = walk.text(left, 120)
    if value is not None and _assigned(walk, node, name, value, None):
        return
    walk.bind(node, name, type=annotated, value=text)
    if not walk.inside():
        kind: Kind = "constant" if name.isupper() else "variable"
        if value is not None and value.type == "object":
            kind = "object"
        walk.define(
            node,
            name,
            kind,
            opens=kind == "object",
            signature_end=value.start_byte if kind == "object" and value else None,
        )


def _assignment(walk: Walk, node: Node) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    target = walk.chain(walk.text(left, 200))
    owner, _, name = target.rpartition(".")
    if owner == "this":
        scope = walk.enclosing_class()
        if scope == MODULE:
            scope = walk.symbol()  # a function used as a constructor
        if right.type in FUNCTIONS:
            _assigned(walk, node, name, right, None)
        else:
            walk.bind(node, name, value=walk.text(right), kind="field", scope=scope)
        return
    if target == "module.exports":
        if not _assigned(walk, node, "default", right, "default"):
            if right.type == "object":
                walk.define(node, "default", "object", signature_end=right.start_byte)
                for key, local in specifiers(walk.text(right, 4_000)):
                    if re.fullmatch(r"[\w$.]+", local) and key != local:
                        walk.bind(node, key, value=local, scope=MODULE)
            else:
                walk.bind(node, "default", value=walk.text(right), scope=MODULE)
        return
    if not target:
        return
    owner = owner.removesuffix(".prototype")
    if owner in ("exports", "module.exports"):
        if not _assigned(walk, node, name, right, name):
            walk.bind(node, name, value=walk.text(right), scope=MODULE)
    elif owner:
        _assigned(walk, node, name, right, f"{owner}.{name}")
    else:
        walk.bind(node, name, value=walk.text(right))


def _pair(walk: Walk, node: Node) -> None:
    value = node.child_by_field_name("value")
    if value is not None:
        _assigned(walk, node, walk.field(node, "key", 120).strip("'\""), value, None)


def field_rule(name: str) -> Rule:
    """A rule for a class field, whose name has the field `name`."""

    def rule(walk: Walk, node: Node) -> None:
        named, value = walk.field(node, name, 120), node.child_by_field_name("value")
        if value is not None and _assigned(walk, node, named, value, None):
            return
        text = walk.text(value) if value else ""
        walk.bind(node, named, type=walk.field(node, "type"), value=text, kind="field")

    return rule


def _new(walk: Walk, node: Node) -> None:
    given = node.child_by_field_name("arguments")
    arity = given.named_child_count if given else 0
    walk.call(node, walk.field(node, "constructor", LONGEST), "new", arity)


def _jsx(walk: Walk, node: Node) -> None:
    name = walk.field(node, "name", LONGEST)
    if name[:1].isupper() or "." in name:
        walk.call(node, name)


def _decorator(walk: Walk, node: Node) -> None:
    what = first_child(node)
    if what and what.type in ("identifier", "member_expression"):
        walk.call(node, walk.text(what), "decorator")


def module(path: str, _package: str) -> str:
    """`src/shop.js` is `src.shop`; a folder is its `index`."""
    stem = re.sub(r"(?:\.d)?\.\w+$", "", path)
    return re.sub(r"/index$", "", stem).replace("/", ".")


RULES: dict[str, Rule] = {
    "export_statement": _export,
    "import_statement": _import,
    "function_declaration": definition("function"),
    "generator_function_declaration": definition("function"),
    "class_declaration": _class,
    "class": _class,
    "method_definition": _method,
    "variable_declarator": _declarator,
    "assignment_expression": _assignment,
    "pair": _pair,
    "call_expression": calling(),
    "new_expression": _new,
    "jsx_opening_element": _jsx,
    "jsx_self_closing_element": _jsx,
    "decorator": _decorator,
}
_VALUES = "[(call_expression) (new_expression) (await_expression) (arrow_function) \
(function_expression) (generator_function) (class) (identifier) (member_expression)]"
PATTERNS = {
    "class": ("(class name: (_))",),
    "variable_declarator": (
        f"(variable_declarator value: {_VALUES})",
        "(program (_ (variable_declarator) @n))",
        "(program (export_statement (_ (variable_declarator) @n)))",
    ),
    "assignment_expression": (
        f"(assignment_expression right: {_VALUES})",
        "(program (expression_statement (assignment_expression right: (object)) @n))",
    ),
    "pair": ("(pair value: [(arrow_function) (function_expression)])",),
}

LANGUAGE = Language(
    name="javascript",
    grammar=("tree_sitter_javascript", "language"),
    rules={**RULES, "field_definition": field_rule("property")},
    patterns=PATTERNS,
    attributes=("@",),
    module=module,
)
