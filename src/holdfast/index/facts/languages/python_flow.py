"""Temporary bindings in Python: loops, `with`, type checks; and results of functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts import chains, expressions
from holdfast.index.facts.languages.python_values import LITERALS, PATTERNS, unpack
from holdfast.index.facts.model import MODULE, RESULT, YIELD
from holdfast.index.facts.walk import CONTAINERS, Walk, first_child

if TYPE_CHECKING:
    from tree_sitter import Node

_PLAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")


def loop_rule(walk: Walk, node: Node) -> None:
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
    elif left.type in PATTERNS:
        unpack(walk, left, value, last)
    walk.line = node.start_point[0] + 1


_BY_KEY = frozenset({"sorted", "max", "min", "nlargest", "nsmallest", "groupby", "sort"})
_EACH = {"map": 0, "filter": 0, "takewhile": 0, "dropwhile": 0, "filterfalse": 0, "reduce": 1}
"""Functions that call their first argument; the parameter that holds an element."""


def lambda_rule(walk: Walk, node: Node) -> None:
    """A lambda that is passed to a call: its parameters hold what the callee passes."""
    parent = node.parent
    keyed = parent if parent is not None and parent.type == "keyword_argument" else None
    arguments = keyed.parent if keyed is not None else parent
    taken = node.child_by_field_name("parameters")
    if arguments is None or arguments.type != "argument_list" or taken is None:
        return
    call = arguments.parent
    callee = call.child_by_field_name("function") if call is not None else None
    if callee is None:
        return
    last = node.end_point[0] + 1
    for number, each in enumerate(taken.named_children[:4]):
        if each.type == "identifier":
            value = _given(walk, node, callee, arguments, keyed, number)
            walk.bind(each, walk.text(each, 100), expression=value, last=last)


def _given(
    walk: Walk, node: Node, callee: Node, arguments: Node, keyed: Node | None, number: int
) -> str:
    """What a callee passes to a parameter of the lambda."""
    name = walk.text(callee, 100).rpartition(".")[2]
    given = [c for c in arguments.named_children[:6] if c.type != "comment"]
    held: Node | None = None
    if keyed is not None:
        if name in _BY_KEY and walk.field(keyed, "name", 8) == "key":
            held = callee.child_by_field_name("object") if name == "sort" else given[0]
        elif name.startswith("n") and len(given) > 1:
            held = given[1]
    elif name in _EACH and given[0] == node:
        place = number + 1 if name == "map" else 1
        held = given[place] if place < len(given) and number >= _EACH[name] else None
    elif chains.PLAIN.match(walk.text(callee, 100)):
        found = next((str(i) for i, c in enumerate(given) if c == node), "")
        return f"{walk.text(callee, 100)}^{found}^{number}" if found else "?"
    text = expressions.read(walk, held) if held is not None and held != keyed else "?"
    return text if text == "?" else f"({text})[*]"


def result_rule(walk: Walk, node: Node) -> None:
    """What a function without a declared result returns or yields."""
    at = walk.symbol()
    if at == MODULE or walk.inside() in CONTAINERS or "->" in walk.symbols[at].signature:
        return
    value = first_child(node)
    if value is not None and value.type not in LITERALS:
        name = RESULT if node.type == "return_statement" else YIELD
        found = expressions.read_chain(walk, value)
        if name == YIELD and found != "?":
            words = walk.slice(node.start_byte, value.start_byte, 20).split()
            found = f"*{found}" if words[1:] == ["from"] else found
        walk.bind(node, name, expression=found)


def as_rule(walk: Walk, node: Node) -> None:
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


def walrus_rule(walk: Walk, node: Node) -> None:
    value = node.child_by_field_name("value")
    if value and value.type not in LITERALS:
        found = expressions.read_chain(walk, value)
        walk.bind(node, walk.field(node, "name", 100), expression=found)


def narrowed_rule(walk: Walk, node: Node) -> None:
    """`isinstance(x, T)` in a condition: x is a T where the condition holds."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count != 2:
        return
    subject, type_ = (walk.text(c, 160) for c in arguments.named_children)
    if type_ in ("self.__class__", "type(self)"):
        type_ = "Self"
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


def case_rule(walk: Walk, node: Node) -> None:
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
