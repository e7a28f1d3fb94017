"""Nodes of a syntax tree: their document order and fields, and the bytes lost to syntax errors."""

from __future__ import annotations

from itertools import compress, count
from operator import attrgetter, eq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

_START, _END = attrgetter("start_byte"), attrgetter("end_byte")


def in_order(nodes: list[tree_sitter.Node]) -> list[int]:
    """Sort nodes by start, outer nodes first, and return the starts.

    Patterns with children complete late, so captures are only nearly in document order. Sorting by
    start is cheap then, and the ends matter only where starts are equal.
    """
    nodes.sort(key=_START)
    begins = list(map(_START, nodes))
    for at in compress(count(), map(eq, begins, begins[1:])):
        if nodes[at].end_byte < nodes[at + 1].end_byte:
            # Two stable sorts by plain attributes are cheaper than one by a computed key.
            nodes.sort(key=_END, reverse=True)
            nodes.sort(key=_START)
            break
    return begins


def lost_bytes(root: tree_sitter.Node) -> int:
    """How many bytes of a file are inside syntax errors, or missing."""
    lost, work = 0, [root]
    while work:
        node = work.pop()
        if node.is_error:
            lost += node.end_byte - node.start_byte
        elif node.is_missing:
            lost += 1
        elif node.has_error:
            work.extend(node.children)
    return lost


def is_field(parent: tree_sitter.Node, field: str, child: tree_sitter.Node) -> bool:
    """Whether a node is this field of its parent."""
    found = parent.child_by_field_name(field)
    return found is not None and found == child
