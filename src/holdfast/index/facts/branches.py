"""Find the branch of a function that a statement is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

_BRANCHES = frozenset({
    "if_statement", "elif_clause", "else_clause", "try_statement", "except_clause", "for_statement",
    "while_statement", "case_clause", "catch_clause", "for_in_statement", "do_statement",
})  # fmt: skip
_BLOCKS = frozenset({"block", "statement_block"})
_BARE = frozenset({"if_statement", "else_clause"})
"""Branches that may be one statement without braces."""


def branch_end(node: tree_sitter.Node) -> int:
    """The last line of the branch that contains a statement; 0 if it is not in a branch."""
    if not node.start_point[1]:
        return 0
    up = node.parent
    for _ in range(6):
        if up is None:
            return 0
        around = up.parent
        if up.type in _BLOCKS and around is not None:
            if around.type in _BRANCHES:
                return up.end_point[0] + 1
            if around.type != "with_statement":
                return 0
        elif up.type == "switch_case" or (
            up.type == "expression_statement" and around is not None and around.type in _BARE
        ):
            return up.end_point[0] + 1
        up = around
    return 0
