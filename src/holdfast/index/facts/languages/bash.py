"""Bash and related shells. Every command is a call; only calls of known functions resolve."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.languages.rules import definition
from holdfast.index.facts.languages.shell_repair import repaired
from holdfast.index.facts.model import Call
from holdfast.index.facts.walk import Language, Walk

if TYPE_CHECKING:
    from tree_sitter import Node

_HERE = re.compile(r"""^["']?(?:\$\{?\w+\}?|\$\(.*\))/""")


def _command(walk: Walk, node: Node) -> None:
    name = walk.field(node, "name", 120)
    argument = walk.field(node, "argument", 300)
    if name in ("source", ".") and argument:
        path = _HERE.sub("./", argument).strip("\"'")
        walk.imported(node.start_point[0] + 1, path, "*", "")
    elif re.fullmatch(r"[\w:.+-]+", name) and name != ":":
        # Function names may contain dashes and colons, so they are not parsed as chains.
        line = node.start_point[0] + 1
        arity = len(node.children_by_field_name("argument"))
        walk.calls.append(Call(walk.symbol(), name, "", "", line, node.start_byte, arity))


def _variable(walk: Walk, node: Node) -> None:
    walk.define(node, walk.field(node, "name", 120), "variable", opens=False)


LANGUAGE = Language(
    name="bash",
    grammar=("tree_sitter_bash", "language"),
    rules={
        "function_definition": definition("function"),
        "command": _command,
        "variable_assignment": _variable,
    },
    patterns={
        "variable_assignment": (
            "(program (variable_assignment) @n)",
            "(program (declaration_command (variable_assignment) @n))",
        )
    },
    line_comments=("#",),
    block_comments=False,
    repair=repaired,
)
