"""JavaScript, and the rules that TypeScript extends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from holdfast.index.facts.chains import LONGEST
from holdfast.index.facts.languages.javascript_assignments import assignment_rule
from holdfast.index.facts.languages.javascript_elements import (
    added_rule,
    deleted_rule,
    sometimes_rule,
)
from holdfast.index.facts.languages.javascript_flow import (
    callback_rule,
    instance_rule,
    loop_rule,
    result_rule,
)
from holdfast.index.facts.languages.javascript_modules import export_rule, import_rule
from holdfast.index.facts.languages.javascript_values import (
    class_heritage,
    declarator_rule,
    field_rule,
    is_assigned,
    pair_rule,
    prototype_of,
)
from holdfast.index.facts.languages.rules import PASSED_BYTES_MAX, calling, definition
from holdfast.index.facts.model import MODULE, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node


def _class(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    if not name or (node.type == "class" and is_assigned(walk, node)):
        return
    index = walk.define(node, name, "class", signature_end=block.start_byte if block else None)
    if index != MODULE:
        class_heritage(walk, node, index)


_PLACES = frozenset({"class_body", "object", "interface_body", "object_type", "object_pattern"})


def out_of_place(node: Node) -> bool:
    """Whether a method is in an impossible place, as the parser creates for text with errors."""
    if node.type not in ("method_definition", "method_signature", "abstract_method_signature"):
        return False
    around, before = node.parent, node.prev_sibling
    if around is not None and around.type not in _PLACES:
        return True
    # A call in a body that was parsed as a type: `return total(…)` after an error.
    broken = node.has_error or (before is not None and before.type == "ERROR")
    return broken and node.type != "method_definition"


_COMPUTED = re.compile(r"""\[\s*['"]([\w$]+)['"]\s*\]\Z""")


_MODIFIERS = frozenset({"public", "private", "protected", "static", "override", "abstract"})


def _method(walk: Walk, node: Node) -> None:
    if out_of_place(node):
        return
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    if computed := _COMPUTED.match(name):
        name = computed.group(1)
    kind: Kind = "method"  # also of an object literal
    owner = prototype_of(walk, node)
    if walk.inside() in CONTAINERS:
        kind = "constructor" if name == "constructor" else "method"
        head = walk.slice(node.start_byte, node.end_byte, 60).split()
        word = next((each for each in head if each not in _MODIFIERS), "")
        if word in ("get", "set") and name not in ("get", "set"):
            kind = "property"
    walk.define(
        node,
        name,
        kind,
        signature_end=block.start_byte if block else None,
        qualified=f"{owner}.{name}" if owner else None,
        exported=not name.startswith("#"),
    )


def _new(walk: Walk, node: Node) -> None:
    arguments = node.child_by_field_name("arguments")
    arity = arguments.named_child_count if arguments else 0
    number = len(walk.calls)
    walk.call(node, walk.field(node, "constructor", LONGEST), "new", arity)
    if arguments is not None and arity and len(walk.calls) > number:
        first, last = arguments.start_byte + 1, arguments.end_byte - 1
        if last - first < PASSED_BYTES_MAX:
            walk.passing.append((number, first, last))


_CALL = calling()


def _call(walk: Walk, node: Node) -> None:
    before = len(walk.calls)
    _CALL(walk, node)
    added_rule(walk, node)
    end, depth = walk.other_this
    if node.start_byte < end and depth == len(walk.scopes) and len(walk.calls) > before:
        call = walk.calls[-1]
        if call.receiver == "this" or call.receiver.startswith("this."):
            walk.calls[-1] = msgspec.structs.replace(call, receiver="?")


def _jsx(walk: Walk, node: Node) -> None:
    name = walk.field(node, "name", LONGEST)
    if name[:1].isupper() or "." in name:
        walk.call(node, name)


def _decorator(walk: Walk, node: Node) -> None:
    what = first_child(node)
    if what and what.type in ("identifier", "member_expression"):
        walk.call(node, walk.text(what), "decorator")


def module(path: str, _package: str) -> str:
    """`src/shop.js` is `src.shop`; a folder stands for its `index`."""
    stem = re.sub(r"(?:\.d)?\.\w+$", "", path)
    return re.sub(r"/index$", "", stem).replace("/", ".")


RULES: dict[str, Rule] = {
    "export_statement": export_rule,
    "import_statement": import_rule,
    "function_declaration": definition("function"),
    "generator_function_declaration": definition("function"),
    "class_declaration": _class,
    "class": _class,
    "method_definition": _method,
    "variable_declarator": declarator_rule,
    "assignment_expression": assignment_rule,
    "pair": pair_rule,
    "for_in_statement": loop_rule,
    "return_statement": result_rule,
    "yield_expression": result_rule,
    "arrow_function": callback_rule,
    "function_expression": callback_rule,
    "binary_expression": instance_rule,
    "unary_expression": deleted_rule,
    "augmented_assignment_expression": sometimes_rule,
    "call_expression": _call,
    "new_expression": _new,
    "jsx_opening_element": _jsx,
    "jsx_self_closing_element": _jsx,
    "decorator": _decorator,
}
PATTERNS = {
    "class": ("(class name: (_))",),
    "binary_expression": ('(binary_expression operator: "instanceof")',),
    "pair": ("(pair value: [(arrow_function) (function_expression)])",),
    "unary_expression": ('(unary_expression operator: "delete")',),
    "augmented_assignment_expression": (
        '(augmented_assignment_expression operator: ["||=" "??=" "&&="])',
    ),
}

LANGUAGE = Language(
    name="javascript",
    grammar=("tree_sitter_javascript", "language"),
    rules={**RULES, "field_definition": field_rule("property")},
    patterns=PATTERNS,
    values=True,
    attributes=("@",),
    module=module,
)
