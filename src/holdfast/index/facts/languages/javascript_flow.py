"""Temporary bindings in JavaScript: loops, callbacks, type checks; and results of functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts import expressions
from holdfast.index.facts.chains import PLAIN
from holdfast.index.facts.languages.javascript_values import LITERALS, class_heritage, unpack
from holdfast.index.facts.model import CLASS, MODULE, RESULT, YIELD
from holdfast.index.facts.walk import CONTAINERS, Walk, first_child, last_child

if TYPE_CHECKING:
    from tree_sitter import Node


def loop_rule(walk: Walk, node: Node) -> None:
    """`for (const x of xs)`: the name is an element until the loop ends."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    if left is None or right is None or sign is None or sign.type != "of":
        return
    value = expressions.read_chain(walk, right)
    if value == "?":
        return
    value = f"({value})[*]" if "|" in value else f"{value}[*]"
    last = node.end_point[0] + 1
    if left.type == "identifier":
        walk.bind(node, walk.text(left, 100), expression=value, last=last)
    elif left.type in ("array_pattern", "object_pattern"):
        unpack(walk, left, value, last)


def result_rule(walk: Walk, node: Node) -> None:
    """What a function returns or yields, if its signature does not declare it."""
    value = first_child(node)
    if value is None or value.type in LITERALS:
        return
    at = walk.symbol()
    if at == MODULE or walk.inside() in CONTAINERS or _typed(walk.symbols[at].signature):
        _define_named(walk, value)
        return
    if _is_inner(walk, node, at):
        _define_named(walk, value)
        return
    name = RESULT if node.type == "return_statement" else YIELD
    if value.type == "class" and (named := walk.field(value, "name", 100)):
        walk.bind(node, name, expression=named)
        return  # the class defines itself
    if value.type == "function_expression" and (named := walk.field(value, "name", 100)):
        walk.bind(node, name, expression=named)
        _define_named(walk, value)
        return
    if value.type == "class" and name == RESULT:  # `return class extends Base {…}`
        class_heritage(walk, value, at)
        walk.bind(node, name, expression="?" if _has_methods(walk, at) else CLASS)
        return
    found = expressions.read_chain(walk, value)
    if name == YIELD and found != "?" and b"*" in walk.source[node.start_byte : value.start_byte]:
        found = f"*{found}"  # `yield* inner()`
    walk.bind(node, name, expression=found)


def _has_methods(walk: Walk, at: int) -> bool:
    """Whether an object without a name in a function has methods, which are not of its class."""
    near = walk.symbols[at + 1 : at + 1 + _NEAR]
    before = walk.bindings[-_NEAR:]
    returned = any((b.scope, b.name, b.value) == (at, RESULT, CLASS) for b in before)
    return not returned and any(s.parent == at and s.kind == "method" for s in near)


_NEAR = 60
"""How many symbols and bindings of a function are looked at for other methods."""


def _define_named(walk: Walk, value: Node) -> None:
    """`return function make() {…}` defines a function with a name."""
    if value.type == "function_expression" and (named := walk.field(value, "name", 100)):
        block = value.child_by_field_name("body")
        walk.define(value, named, "function", signature_end=block.start_byte if block else None)


_PASSED_IN = frozenset({
    "arguments", "parenthesized_expression", "array", "call_expression", "unary_expression",
    "assignment_pattern", "binary_expression", "ternary_expression",
})  # fmt: skip
"""Where a function expression with a name is a definition by itself."""
_ANONYMOUS = frozenset({"arrow_function", "function_expression", "generator_function"})
_WITH_RETURNS = _ANONYMOUS | {
    "function_declaration", "generator_function_declaration", "method_definition",
}  # fmt: skip


def _typed(signature: str) -> bool:
    return re.search(r"\)\s*:\s*[^)]*\Z", signature) is not None


def _is_inner(walk: Walk, node: Node, at: int) -> bool:
    """Whether a return is of a function without a name inside the one that the symbol names.

    That is a callback, or the last of `const retry = (times) => (run) => { return run; }`.
    """
    around, found = node.parent, False
    for _ in range(12):
        if around is None or around.start_byte <= walk.symbols[at].start:
            return found and around is not None and around.type in _WITH_RETURNS
        if around.type in _ANONYMOUS:
            if found or not _is_symbol(walk, around, at):
                return True
            found = True
        around = around.parent
    return False


def _is_symbol(walk: Walk, function: Node, at: int) -> bool:
    """Whether a function expression is the value that the symbol names."""
    return function.end_byte <= walk.symbols[at].end and (
        walk.symbols[at].end - function.end_byte <= 2
    )


def _taker(walk: Walk, node: Node, parent: Node) -> tuple[str, str]:
    """The position of a function among the arguments and the callee; "f" for a function type."""
    if parent.type == "return_statement":
        at = walk.symbol()
        typed = _RESULT_TYPE.search(walk.symbols[at].signature) if at != MODULE else None
        return ("f", f"<{typed.group(1)}>") if typed else ("", "?")
    call = parent.parent
    if call is None:
        return "", "?"
    callee = call.child_by_field_name("function") or call.child_by_field_name("constructor")
    text = expressions.read_chain(walk, callee) if callee else "?"
    if text == "?":
        return "", text
    if "|" in text:
        text = f"({text})"
    few = parent.named_children if parent.named_child_count <= 6 else []
    place = next((str(i) for i, c in enumerate(few) if c == node), "")
    # The callee's type parameters come from type arguments or from the variable's type.
    arguments = walk.field(call, "type_arguments", 160)
    if not arguments and call.parent is not None and call.parent.type == "variable_declarator":
        expected = walk.field(call.parent, "type", 160).lstrip(": ")
        arguments = f"<={expected}>" if expected.endswith(">") else ""
    if arguments.endswith(">") and arguments.count("<") == arguments.count(">"):
        text += " ".join(arguments.split())
    return place, text


_RESULT_TYPE = re.compile(r"\)\s*:\s*([\w.$]+(?:<[^()]*>)?)\Z")


def callback_rule(walk: Walk, node: Node) -> None:
    """A function passed to a call: its parameters hold what the callee passes."""
    parent = node.parent
    if parent is not None and parent.type in _PASSED_IN:
        _define_named(walk, node)
    if parent is None or parent.type not in ("arguments", "return_statement"):
        return
    if node.type == "function_expression" and parent.type == "arguments":
        final = last_child(parent)
        if final is None or final.type != "this":  # `xs.forEach(function () {…}, this)`
            walk.other_this = (node.end_byte, len(walk.scopes))
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    if parameters is None:
        return
    place, text = _taker(walk, node, parent)
    last = node.end_point[0] + 1
    single = parameters.type == "identifier"
    for number, each in enumerate([parameters] if single else parameters.named_children[:6]):
        name = each if single else each.child_by_field_name("pattern") or each
        annotated = "" if single else walk.field(each, "type")
        value = f"{text}^{place}^{number}" if text != "?" and place else "?"
        if place == "1" and not number and text == "Array.from":
            first = parent.named_child(0)
            held = expressions.read(walk, first) if first is not None else "?"
            value = "?" if held == "?" else f"({held})[*]"
        if place == "0" and not number and text.endswith(".then"):
            value = text.removesuffix(".then")  # what the promise resolves to, as with `await`
        if name.type == "identifier":
            walk.bind(each, walk.text(name, 100), type=annotated, expression=value, last=last)
        elif name.type in ("object_pattern", "array_pattern") and not annotated:
            unpack(walk, name, value, last)


def instance_rule(walk: Walk, node: Node) -> None:
    """`x instanceof T` in a condition: x is a T where the condition holds."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    subject, type_ = walk.text(left, 160), walk.text(right, 160)
    if not (PLAIN.match(subject) and PLAIN.match(type_)):
        return
    negated, up = False, node.parent
    for _ in range(8):
        if up is None:
            return
        if up.type == "unary_expression":
            negated = not negated
        elif up.type == "binary_expression":
            sign = up.child_by_field_name("operator")
            if sign is None or sign.type != ("||" if negated else "&&"):
                return
        elif up.type != "parenthesized_expression":
            break
        up = up.parent
    if up is None:
        return
    last = 0
    if up.type == "if_statement":
        block = up.child_by_field_name("consequence")
        if block is None:
            return
        if not negated:
            last = block.end_point[0] + 1
        else:
            final = block if block.type in _ENDS else last_child(block)
            around = up.parent
            if final is None or around is None or final.type not in _ENDS:
                return
            walk.line = up.end_point[0] + 1
            last = around.end_point[0] + 1
    elif not negated and up.type == "ternary_expression":
        last = up.end_point[0] + 1
    if last:
        walk.bind(node, subject, type=type_, last=last)
    walk.line = node.start_point[0] + 1


_ENDS = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})
