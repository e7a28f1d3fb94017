"""Imports and exports of JavaScript: `import`, `export`, `require`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts import expressions
from holdfast.index.facts.languages.rules import split_list, wrapping
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node


FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
REQUIRE = re.compile(r"""require\(\s*['"]([^'"]+)['"]\s*\)((?:\.\w+)?)$""")
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
    """`{a, b as c, type D}` and `{a, b: c}` as pairs (exported name, local name)."""
    found = []
    for item in split_list(text.strip().strip("{}")):
        name, _, alias = item.removeprefix("type ").partition(" as ")
        if not alias and ":" in name:
            name, _, alias = name.partition(":")
        name, alias = name.split("=")[0].strip(), alias.split("=")[0].strip()
        if name and not name.startswith("..."):
            found.append((name, alias or name))
    return found


def import_rule(walk: Walk, node: Node) -> None:
    line = node.start_point[0] + 1
    text = " ".join(COMMENT.sub("", walk.text(node, 20_000)).split())
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


def export_rule(walk: Walk, node: Node) -> None:
    line = node.start_point[0] + 1
    if node.child_by_field_name("declaration") is not None:
        wrapping(walk, node)
        head = walk.slice(node.start_byte, node.end_byte, 200)
        named = re.match(r"export\s+default\s+(?:abstract\s+)?(?:async\s+)?"
                         r"(?:class|function\s*\*?)\s+([\w$]+)", head)  # fmt: skip
        if named:
            walk.bind(node, "default", value=named.group(1), scope=MODULE)
        return
    text = " ".join(COMMENT.sub("", walk.text(node, 20_000)).split())
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
        elif value.type in ("new_expression", "call_expression"):
            walk.bind(node, "default", expression=expressions.read_chain(walk, value), scope=MODULE)
        else:
            walk.bind(node, "default", value=walk.text(value), scope=MODULE)
