"""Calls without parentheses: operators, loops, `with`, and properties that are read or written.

`a + b` runs `__add__` of a class of the program, `cart.total` may run a property. To record each of
them would double the calls of a file, and nearly all lead to built-in types. So a file is looked
through only when it defines such a method itself, and only for the names that it defines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from holdfast.index.facts import expressions
from holdfast.index.facts.model import MODULE, Call
from holdfast.index.facts.parse import captures_by_name, size_limits

if TYPE_CHECKING:
    from tree_sitter import Node

    from holdfast.index.facts.walk import Walk

NODES_MAX = 200_000
_DEFINED = re.compile(rb"\bdef\s+(__\w+__)\s*\(")
_BINARY = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "@": "__matmul__",
    "%": "__mod__", "//": "__floordiv__", "**": "__pow__", "|": "__or__", "&": "__and__",
    "^": "__xor__", "<<": "__lshift__", ">>": "__rshift__", "==": "__eq__", "!=": "__ne__",
    "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__",
}  # fmt: skip
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_FUNCTIONS = {
    "len": "__len__", "str": "__str__", "repr": "__repr__", "iter": "__iter__",
    "next": "__next__", "bool": "__bool__", "hash": "__hash__", "abs": "__abs__",
    "int": "__int__", "float": "__float__", "reversed": "__reversed__", "round": "__round__",
    "list": "__iter__", "tuple": "__iter__", "set": "__iter__", "sum": "__iter__",
}  # fmt: skip
_ACCESSOR = re.compile(r"\bdef\b|\b(?:get|set)\s+\S+\s*\(")
_ITERATES = frozenset({"for_statement", "for_in_clause"})
_ITERATING = frozenset({"__iter__", "__next__"})
PROTOCOLS = frozenset(
    {*_BINARY.values(), *_UNARY.values(), *_FUNCTIONS.values(), *_ITERATING, "__enter__",
     "__exit__", "__aenter__", "__aexit__", "__aiter__", "__anext__", "__getitem__",
     "__setitem__", "__delitem__", "__contains__", "__iadd__"}
)  # fmt: skip


_WITH = frozenset({"__enter__", "__exit__", "__aenter__", "__aexit__"})
_ITERATED = frozenset({*_ITERATING, "__aiter__", "__anext__"})
_OPERATORS = frozenset({*_BINARY.values(), "__contains__"})
_KINDS = {
    "binary_operator": _OPERATORS,
    "comparison_operator": _OPERATORS,
    "augmented_assignment": frozenset({"__iadd__"}),
    "unary_operator": frozenset(_UNARY.values()),
    "subscript": frozenset({"__getitem__", "__setitem__", "__delitem__"}),
    "call": frozenset(_FUNCTIONS.values()) | _ITERATED,
    "for_statement": _ITERATED,
    "for_in_clause": _ITERATED,
    "with_item": _WITH,
}
"""What is looked at in Python, and the methods that it may call."""
_QUERY = " ".join(
    f"({kind}{' function: (identifier)' if kind == 'call' else ''}) @{kind}" for kind in _KINDS
)
_START, _END = attrgetter("start_byte"), attrgetter("end_byte")


def implicit_calls(walk: Walk) -> list[Call]:
    """The calls that operators, statements and properties of this file make.

    A property that is called (`cart.hook()`) has a call of its own already.
    """
    language = walk.language.name
    if walk.tree is None or language not in ("python", "javascript", "typescript", "tsx"):
        return []
    names = {s.name for s in walk.symbols if s.kind == "property" and _ACCESSOR.search(s.signature)}
    if language == "python":
        names |= {n.decode() for n in _DEFINED.findall(walk.source)} & PROTOCOLS
    if not names:
        return []
    return list(_Reader(walk, names).calls(walk.tree.root_node))


class _Reader:
    def __init__(self, walk: Walk, names: set[str]) -> None:
        self._walk, self._names = walk, names
        starts = sorted((s.start, -s.end, at) for at, s in enumerate(walk.symbols))
        self._starts = [start for start, _, _ in starts]
        self._symbols = [at for _, _, at in starts]

    def calls(self, root: Node) -> Iterator[Call]:
        """By properties, found by their names, and by protocols, found by the kinds of nodes."""
        yield from self._properties(root)
        protocols = self._names & PROTOCOLS
        if not protocols:
            return
        for node in self._nodes(protocols):
            for name, value in self._python(node):
                if name in protocols and (call := self._call(node, name, value)) is not None:
                    yield call

    def _nodes(self, protocols: set[str]) -> list[Node]:
        """The nodes that may call one of these; the last of the file first, outer before inner."""
        tree = self._walk.tree
        assert tree is not None
        with size_limits(len(self._walk.source)):
            found = captures_by_name(self._walk.language.grammar, _QUERY, tree)
        nodes = [
            node
            for kind, names in _KINDS.items() if names & protocols
            for node in found.get(kind, ())
        ]  # fmt: skip
        nodes.sort(key=_START)
        nodes.sort(key=_END, reverse=True)
        return nodes[:NODES_MAX]

    def _properties(self, root: Node) -> Iterator[Call]:
        names = sorted(self._names - PROTOCOLS)
        if not names:
            return
        words = b"|".join(re.escape(name.encode()) for name in names)
        for found in re.finditer(rb"\.\s*(%s)\b(?!\s*\()" % words, self._walk.source):
            word = root.named_descendant_for_byte_range(*found.span(1))
            node = word.parent if word is not None else None
            if node is None or node.type not in ("attribute", "member_expression"):
                continue
            owner = node.child_by_field_name("object")
            if owner is None or owner.end_byte > found.start(1):
                continue
            call = self._call(node, found.group(1).decode(), owner)
            if call is not None:
                yield call

    def _python(self, node: Node) -> Iterator[tuple[str, Node | str | None]]:
        kind, field = node.type, node.child_by_field_name
        if kind in ("binary_operator", "comparison_operator"):
            yield from self._operator(node)
        elif kind == "augmented_assignment":
            yield "__iadd__", field("left")
        elif kind == "unary_operator":
            yield _UNARY.get(node.children[0].type, ""), field("argument")
        elif kind == "subscript":
            yield self._subscript(node), field("value")
        elif kind == "call":
            given, name = field("arguments"), _FUNCTIONS.get(self._walk.field(node, "function", 12))
            first = given.named_child(0) if given is not None and given.named_child_count else None
            if name and first is not None:
                yield from self._iterated(first) if name == "__iter__" else [(name, first)]
        elif kind in _ITERATES:
            yield from self._iterated(field("right"))
        elif kind == "with_item":
            value = field("value")
            if value is not None and value.type == "as_pattern":
                value = value.named_child(0)
            for name in ("__enter__", "__exit__", "__aenter__", "__aexit__"):
                yield name, value

    def _iterated(self, value: Node | None) -> Iterator[tuple[str, Node | str | None]]:
        text = expressions.read(self._walk, value) if value is not None else "?"
        for name in ("__iter__", "__aiter__"):
            yield name, value
        if text != "?":
            yield "__next__", f"{text}.__iter__()"
            yield "__anext__", f"{text}.__aiter__()"

    def _operator(self, node: Node) -> Iterator[tuple[str, Node | str | None]]:
        signs = [c.type for c in node.children if not c.is_named]
        parts = node.named_children
        if len(parts) != 2 or not signs:
            return
        if signs[-1] in ("in", "not in"):
            yield "__contains__", parts[1]
        else:
            yield _BINARY.get(signs[-1], ""), parts[0]

    @staticmethod
    def _subscript(node: Node) -> str:
        parent = node.parent
        if parent is not None and parent.type == "delete_statement":
            return "__delitem__"
        if parent is not None and parent.type == "assignment":
            return "__setitem__" if parent.child_by_field_name("left") == node else "__getitem__"
        return "__getitem__"

    def _call(self, node: Node, name: str, value: Node | str | None) -> Call | None:
        if value is None:
            return None
        text = value if isinstance(value, str) else expressions.read(self._walk, value)
        if text in ("?", ""):
            return None
        if "|" in text:
            text = f"({text})"
        line = node.start_point[0] + 1
        return Call(self._caller(node.start_byte), name, text, "implicit", line, node.start_byte)

    def _caller(self, start: int) -> int:
        """The innermost symbol around a place that can make calls."""
        at = bisect_right(self._starts, start) - 1
        for place in range(at, max(-1, at - 200), -1):
            symbol = self._walk.symbols[self._symbols[place]]
            if symbol.end > start and symbol.kind not in ("variable", "constant"):
                return self._symbols[place]
        return MODULE
