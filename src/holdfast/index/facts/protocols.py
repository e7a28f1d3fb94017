"""Calls without parentheses: operators, loops, `with`, and properties that are read or written.

`a + b` runs `__add__` of a class of the program, `cart.total` may run a property. To record each of
them would double the calls of a file, and nearly all lead to built-in types. So a file is looked
through only when it defines such a method itself, and only for the names that it defines; and
around the names that hold a value of an imported class.
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
PLACES_MAX = 4_000
CLIMBS_MAX = 6
_WORDS = frozenset({"identifier", "property_identifier"})
_CALLS = frozenset({"call", "call_expression"})
_MEMBERS = frozenset({"attribute", "member_expression"})
_INSIDE = frozenset({"parenthesized_expression", "as_pattern", "argument_list"})
_DEFINED = re.compile(rb"\bdef\s+(__\w+__)\s*\(")
_BINARY = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "@": "__matmul__",
    "%": "__mod__", "//": "__floordiv__", "**": "__pow__", "|": "__or__", "&": "__and__",
    "^": "__xor__", "<<": "__lshift__", ">>": "__rshift__", "==": "__eq__", "!=": "__ne__",
    "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__",
}  # fmt: skip
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_CONVERTED = {"!r": "__repr__", "!s": "__str__", "": "__str__"}
_FUNCTIONS = {
    "len": "__len__", "str": "__str__", "repr": "__repr__", "iter": "__iter__",
    "next": "__next__", "bool": "__bool__", "hash": "__hash__", "abs": "__abs__",
    "int": "__int__", "float": "__float__", "reversed": "__reversed__", "round": "__round__",
    "list": "__iter__", "tuple": "__iter__", "set": "__iter__", "sum": "__iter__",
    "enumerate": "__iter__", "sorted": "__iter__", "any": "__iter__", "all": "__iter__",
    "zip": "__iter__", "max": "__iter__", "min": "__iter__", "frozenset": "__iter__",
}  # fmt: skip
ITERATOR = "[Symbol.iterator]"
ACCESSOR = re.compile(r"\bdef\b|\b(?:get|set)\s+\S+\s*\(")
_ITERATES = frozenset({"for_statement", "for_in_clause"})
_ITERATING = frozenset({"__iter__", "__next__"})
PROTOCOLS = frozenset(
    {*_BINARY.values(), *_UNARY.values(), *_FUNCTIONS.values(), *_ITERATING, "__enter__",
     "__exit__", "__aenter__", "__aexit__", "__aiter__", "__anext__", "__getitem__",
     "__setitem__", "__delitem__", "__contains__", "__iadd__", "__init_subclass__", ITERATOR}
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
    "interpolation": frozenset(_CONVERTED.values()),
    "call": frozenset(_FUNCTIONS.values()) | _ITERATED | {"__enter__"},
    "for_statement": _ITERATED,
    "for_in_clause": _ITERATED,
    "with_item": _WITH,
}
"""What is looked at in Python, and the methods that it may call."""
_QUERY = " ".join(
    f"({kind}{' function: (identifier)' if kind == 'call' else ''}) @{kind}" for kind in _KINDS
)
_QUERY_ENTERING = f"{_QUERY} (call function: (attribute)) @call"
"""With `stack.enter_context(…)`."""
_SCRIPT_KINDS = {"for_in_statement": {ITERATOR}, "spread_element": {ITERATOR}}
_SCRIPT_QUERY = " ".join(f"({kind}) @{kind}" for kind in _SCRIPT_KINDS)
_START, _END = attrgetter("start_byte"), attrgetter("end_byte")


def implicit_calls(walk: Walk) -> list[Call]:
    """The calls that operators, statements and properties of this file make.

    A property that is called (`cart.hook()`) has a call of its own already.
    """
    language = walk.language.name
    if walk.tree is None or language not in ("python", "javascript", "typescript", "tsx"):
        return []
    names = {s.name for s in walk.symbols if s.kind == "property" and ACCESSOR.search(s.signature)}
    if language == "python":
        names |= {n.decode() for n in _DEFINED.findall(walk.source)} & PROTOCOLS
    elif any(s.name == ITERATOR for s in walk.symbols):
        names.add(ITERATOR)
    imported = walk.imported_values.names()
    if not names and not imported:
        return []
    reader, root = _Reader(walk, names), walk.tree.root_node
    own = list(reader.calls(root))
    known = {(c.start, c.name) for c in own}
    return own + [c for c in reader.of_imported(root, imported) if (c.start, c.name) not in known]


class _Reader:
    def __init__(self, walk: Walk, names: set[str]) -> None:
        self._walk, self._names = walk, names
        self._is_python = walk.language.name == "python"
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
            for name, value in self._python(node) if self._is_python else self._script(node):
                if name in protocols and (call := self._call(node, name, value)) is not None:
                    yield call

    def _nodes(self, protocols: set[str]) -> list[Node]:
        """The nodes that may call one of these; the last of the file first, outer before inner."""
        tree = self._walk.tree
        assert tree is not None
        with size_limits(len(self._walk.source)):
            found = captures_by_name(self._walk.language.grammar, self._query(), tree)
        nodes = [
            node
            for kind, names in (_KINDS | _SCRIPT_KINDS).items() if names & protocols
            for node in found.get(kind, ())
        ]  # fmt: skip
        nodes.sort(key=_START)
        nodes.sort(key=_END, reverse=True)
        return nodes[:NODES_MAX]

    def _query(self) -> str:
        if not self._is_python:
            return _SCRIPT_QUERY
        return _QUERY_ENTERING if b".enter_context" in self._walk.source else _QUERY

    def of_imported(self, root: Node, names: set[str]) -> Iterator[Call]:
        """Calls on values of imported classes."""
        plain = sorted(n for n in names if n.isidentifier())
        if not plain:
            return
        for start, end in _places(self._walk.source, plain)[:PLACES_MAX]:
            word = root.named_descendant_for_byte_range(start, end)
            if word is None or word.type not in _WORDS:
                continue
            for node, name, value in self._around(word):
                call = self._call(node, name, value)
                if call is not None:
                    yield call

    def _around(self, word: Node) -> Iterator[tuple[Node, str, Node | str | None]]:
        """What the expressions around a name may call: operators and properties."""
        at, operands = word, [word]
        for _ in range(CLIMBS_MAX):
            up = at.parent
            if up is None:
                return
            kind = up.type
            if kind in _MEMBERS:
                if up.child_by_field_name("object") == at:
                    called = up.parent is not None and up.parent.type in _CALLS
                    if called and up.parent and up.parent.child_by_field_name("function") == up:
                        return
                    name = up.child_by_field_name("attribute") or up.child_by_field_name("property")
                    yield up, self._walk.text(name, 100) if name is not None else "", at
            elif kind not in _INSIDE:
                if self._is_python and kind in _KINDS:
                    found = list(self._python(up))
                    if any(value in operands for _, value in found):
                        yield from ((up, name, value) for name, value in found if name)
                if kind not in ("binary_operator", "unary_operator"):
                    return
                operands = []
            at = up
            operands.append(at)

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
        elif kind == "interpolation":
            sign = field("type_conversion")
            method = _CONVERTED.get(self._walk.text(sign, 4) if sign is not None else "", "")
            yield method, field("expression")
        elif kind == "subscript":
            yield self._subscript(node), field("value")
        elif kind == "call":
            given, name = field("arguments"), _FUNCTIONS.get(self._walk.field(node, "function", 12))
            first = given.named_child(0) if given is not None and given.named_child_count else None
            if self._walk.field(node, "function", 60).endswith(".enter_context"):
                yield "__enter__", first
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

    @staticmethod
    def _script(node: Node) -> Iterator[tuple[str, Node | str | None]]:
        if node.type == "for_in_statement":
            sign = node.child_by_field_name("operator")
            if sign is not None and sign.type == "of":
                yield ITERATOR, node.child_by_field_name("right")
        elif node.type == "spread_element" and node.named_child_count:
            yield ITERATOR, node.named_child(0)

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
        line, start = node.start_point[0] + 1, node.start_byte
        arity = int(self._is_written(node)) if name not in PROTOCOLS else -1
        return Call(self._caller(start), name, text, "implicit", line, start, arity)

    @staticmethod
    def _is_written(node: Node) -> bool:
        """Whether a property is assigned, which runs its setter."""
        around = node.parent
        return (
            around is not None
            and around.type in ("assignment", "assignment_expression")
            and around.child_by_field_name("left") == node
        )

    def _caller(self, start: int) -> int:
        """The innermost symbol around a place that can make calls."""
        at = bisect_right(self._starts, start) - 1
        for place in range(at, max(-1, at - 200), -1):
            symbol = self._walk.symbols[self._symbols[place]]
            if symbol.end > start and symbol.kind not in ("variable", "constant"):
                return self._symbols[place]
        return MODULE


_JOINS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")


def _places(source: bytes, names: list[str]) -> list[tuple[int, int]]:
    """Where the names are written by themselves, or as attributes of `self` or `this`."""
    joined = "|".join(names)
    if not joined.isascii():
        words = re.compile(rb"(?<![\w.])(?:(?:self|this)\.)?(%s)\b" % joined.encode())
        return [found.span(1) for found in words.finditer(source)]
    # Every alternative begins with a letter, so that the search skips to these letters. What is
    # before a match is compared afterwards; no other match begins inside one that is dropped.
    alone = r"\b|".join(names)
    text = rf"self\.(?:{joined})\b|this\.(?:{joined})\b|{alone}\b"
    found = []
    for match in re.compile(text.encode()).finditer(source):
        start, end = match.span()
        if start and source[start - 1] in _JOINS:
            continue
        owned = end - start > 5 and source[start + 4] == _DOT
        found.append((start + 5 if owned else start, end))
    return found


_DOT = ord(".")
