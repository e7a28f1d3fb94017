"""Keys of containers: whether a place asks for one element, or for any as it runs again and again.

`table[name]` in a function meets most elements of the table sooner or later. `table["a b"]`,
`table[Kind.A]` and `table[1, 2]` meet one, although it is not known which.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.expression_text import KEY

if TYPE_CHECKING:
    from tree_sitter import Node

    from holdfast.index.facts.walk import Walk

_LITERALS = frozenset({
    "string", "integer", "number", "float", "true", "false", "none", "null", "undefined",
    "concatenated_string", "ellipsis", "regex",
})  # fmt: skip
_JOINED = frozenset({"binary_operator", "binary_expression", "template_string"})
_WITHIN = frozenset({"tuple", "expression_list", "parenthesized_expression", "unary_operator",
                     "unary_expression", "array", "sequence_expression"})  # fmt: skip
_CONSTANT = re.compile(r"[A-Z]\w*(?:\.[\w.]+)?\Z|[A-Z][A-Z\d_]*\b")
_PLACE = re.compile(r"-?\d{1,4}\Z")
_FUNCTIONS = frozenset({
    "arrow_function", "function_expression", "function_declaration", "method_definition",
    "generator_function", "generator_function_declaration",
})  # fmt: skip
"""Those of scripts."""
_AGAIN = _FUNCTIONS | {
    "for_statement", "while_statement", "for_in_statement", "do_statement", "for_in_clause",
    "list_comprehension", "set_comprehension", "dictionary_comprehension",
    "generator_expression", "lambda", "function_definition",
}  # fmt: skip
_HOLDERS = frozenset({"identifier", "attribute", "member_expression"})
_GIVEN = re.compile(
    rb"[ \t]{0,40}(?::[^=\n]{0,80})?=[ \t]{0,40}\(?"
    rb"(?:[a-zA-Z]{0,2}[\"'`]|-?\d|[A-Z][A-Z\d_]*\b|[A-Z]\w*\.\w)"
)
_SIGNS = b" \t:="
_WORD = re.compile(rb"[\w$.]")
PLACES_MAX = 40
"""How many places of a name before a key are looked at."""
LONGEST = 60
CLIMBED_MAX = 24
BEFORE = 2_000
"""How far before a key an assignment of a literal to it is searched for."""


def exact(walk: Walk, index: Node) -> str:
    """A key as an expression has it: a position, or a name in quotes; "" if it is not known."""
    if index.type in ("integer", "number", "unary_operator"):
        text = walk.text(index, 8)
        return text if _PLACE.match(text) else ""
    text = walk.text(index, 80)
    if index.type == "string":
        text = text.strip("\"'")
        return f"'{text}'" if KEY.match(text) else ""
    if text in walk.strings:
        return f"'{walk.strings[text]}'"
    return _held_string(walk, index, text) if index.type == "identifier" else ""


def _held_string(walk: Walk, index: Node, name: str) -> str:
    """The string that a `const` of the same function holds: `const key = "a"; table[key]`.

    Between the two the name is only read as a key, so nothing else declares it there.
    """
    word, end = name.encode(), index.start_byte
    start = max(0, end - BEFORE)
    place = walk.source.rfind(word, start, end)
    for _ in range(PLACES_MAX):
        if place < 0:
            return ""
        before, after = walk.source[max(0, place - 12) : place], place + len(word)
        if _CONST.search(before) and (held := _STRING.match(walk.source, after, end)):
            key = held.group(1).decode("utf-8", "replace")
            return f"'{key}'" if KEY.match(key) and _is_above(walk, index, place) else ""
        inside = _WORD.match(before[-1:]) or _WORD.match(walk.source, after)
        if not inside and not _READ.search(before) and not _COMPUTED.match(walk.source, after):
            return ""
        place = walk.source.rfind(word, start, place)
    return ""


_CONST = re.compile(rb"(?<![\w$.])const[ \t]+\Z")
_READ = re.compile(rb"(?:[\w$)\]]\[|\$\{)\Z")
"""`table[key` and `${key`; `const [key` would declare it."""
_COMPUTED = re.compile(rb"\][ \t]*[(:]")
_STRING = re.compile(rb"[ \t]*=[ \t]*[\"']([^\"'\\\n]{1,60})[\"'][ \t]*;?[ \t]*\r?\n")


def _is_above(walk: Walk, index: Node, place: int) -> bool:
    """Whether a declaration at a place is in a block around a node, in the same function."""
    root = walk.tree.root_node if walk.tree is not None else None
    block = root.descendant_for_byte_range(place, place) if root is not None else None
    while block is not None and block.type not in ("statement_block", "program"):
        block = block.parent
    at = index.parent if block is not None else None
    for _ in range(CLIMBED_MAX):
        if at is None or at.type in _FUNCTIONS or at.type == "class_body":
            return False
        if at == block:
            return True
        at = at.parent
    return False


def is_fixed(walk: Walk, node: Node) -> bool:
    """Whether a subscript asks for one element whenever it runs, or runs only once."""
    keys = node.named_children[1:9]
    return all(_fixed(walk, key, 0) for key in keys) or _runs_once(node)


def is_loop_over(walk: Walk, node: Node, owner: Node, index: Node) -> bool:
    """Whether a loop around `table[key]` takes every key of the table, or counts up to its size."""
    name, key, at = walk.text(owner, 60), walk.text(index, 60), node.parent
    for _ in range(CLIMBED_MAX):
        if at is None or at.type in _BODIES:
            return False
        if at.type in _LOOPS:
            left, right = at.child_by_field_name("left"), at.child_by_field_name("right")
            if left is not None and right is not None and walk.text(left, 60) == key:
                keys = (name, f"{name}.keys()", f"Object.keys({name})", f"range(len({name}))")
                return walk.text(right, 80) in keys
            condition = at.child_by_field_name("condition")
            if at.type == "for_statement" and condition is not None:
                text = walk.text(condition, 120).replace(" ", "").rstrip(";")
                return text == f"{key}<{name}.length"
        at = at.parent
    return False


_LOOPS = frozenset({"for_statement", "for_in_statement"})
_BODIES = frozenset({
    "function_definition", "function_declaration", "method_definition", "class_body", "program",
    "module", "class_definition", "generator_function_declaration",
})  # fmt: skip


def _fixed(walk: Walk, key: Node, depth: int) -> bool:
    kind = key.type
    if kind in _LITERALS or kind in _JOINED:
        return True
    if kind in _WITHIN:
        return depth < 4 and all(_fixed(walk, c, depth + 1) for c in key.named_children[:8])
    text = walk.text(key, LONGEST)
    if _CONSTANT.match(text):
        return True
    if kind not in _HOLDERS or len(text) == LONGEST:
        return False
    return _held_literal(walk.source, text.encode(), key.start_byte)


def _held_literal(source: bytes, word: bytes, end: int) -> bool:
    """Whether a literal or a constant is assigned to a name before a place.

    The places of the name are found first: a pattern for every name would have to be compiled.
    """
    start, place = max(0, end - BEFORE), source.rfind(word, max(0, end - BEFORE), end)
    for _ in range(PLACES_MAX):
        if place < 0:
            return False
        after = place + len(word)
        begins = not _WORD.match(source, max(0, place - 1), place)
        if begins and source[after] in _SIGNS and _GIVEN.match(source, after, end):
            return True
        place = source.rfind(word, start, place)
    return False


def _runs_once(node: Node) -> bool:
    """Whether a node is outside of functions and loops."""
    at = node.parent
    for _ in range(CLIMBED_MAX):
        if at is None:
            return True
        if at.type in _AGAIN:
            return False
        at = at.parent
    return True
