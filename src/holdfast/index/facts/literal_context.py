"""The type that the place of an object literal gives it, as an expression.

In TypeScript a key of `const rule: Rule = { code() {} }` names the member `code` of `Rule`, and the
compiler counts both as one. The type comes from what surrounds the literal: an annotation, the type
that a function returns, the parameter it is passed to, a member or an element of such a type. The
result is an expression as in `expressions`; `f^p^0` is the type of the first parameter of `f`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

CLIMB_MAX = 24
TYPE_MAX = 200
_FUNCTIONS = frozenset({
    "arrow_function", "function_expression", "function_declaration", "method_definition",
    "generator_function", "generator_function_declaration",
})  # fmt: skip
_SAME_TYPE = frozenset({
    "parenthesized_expression", "ternary_expression", "await_expression", "binary_expression",
})  # fmt: skip
_ANNOTATED = frozenset({
    "variable_declarator", "public_field_definition", "required_parameter", "optional_parameter",
})  # fmt: skip
_PROMISE = re.compile(r"(?:Promise|PromiseLike|MaybePromise|ValueOrPromise)<(.*)>\Z", re.DOTALL)

_EXPORTED = rb"(?<![\w$.])(?:module\.)?exports"

Chain = Callable[[str], str]
"""The normalised chain of a source text, or "?"."""


def key_context(node: tree_sitter.Node, source: bytes, chain: Chain) -> str:
    """The type of the literal in which this node is a key; "" when nothing gives it one."""
    holder = node.parent
    if holder is None or holder.type not in ("pair", "method_definition"):
        return ""
    key = holder.child_by_field_name("key" if holder.type == "pair" else "name")
    literal = holder.parent
    if key is None or key != node or literal is None or literal.type != "object":
        return ""
    return _Context(source, chain).of(literal, 0)


SHORT = ("shorthand_property_identifier", "shorthand_property_identifier_pattern")
"""`total` in the literal `{ total }`, and in the pattern `{ total }`."""


def short_context(node: tree_sitter.Node, source: bytes, chain: Chain) -> str:
    """The type of the literal or the pattern in which a word is both a key and a variable."""
    whole = node.parent
    if whole is not None and whole.type == "object_assignment_pattern":  # with a default value
        whole = whole.parent
    if whole is None:
        return ""
    made = _Context(source, chain)
    return made.of(whole, 0) if whole.type == "object" else made.taken_apart(whole)


def is_exported(short: tree_sitter.Node, source: bytes) -> bool:
    """Whether a key of a literal is a name that a CommonJS module exports."""
    literal = short.parent
    at = literal.parent if literal is not None else None
    if literal is None or at is None:
        return False
    if at.type == "variable_declarator":  # const api = { total }; module.exports = api
        name = at.child_by_field_name("name")
        text = source[name.start_byte : name.end_byte] if name is not None else b""
        pattern = _EXPORTED + rb"\s*=\s*" + re.escape(text) + rb"(?![\w$.(])"
        return re.search(pattern, source) is not None
    first = at.child_by_field_name("left") if at.type == "assignment_expression" else None
    if at.type == "arguments":  # Object.assign(exports, { total })
        first = at.named_child(0)
    text = source[first.start_byte : first.end_byte] if first is not None else b""
    return re.fullmatch(_EXPORTED, text) is not None


def defines_function(key: tree_sitter.Node) -> bool:
    """Whether the key of a literal is the name of a function, which is a symbol."""
    holder = key.parent
    value = holder.child_by_field_name("value") if holder is not None else None
    return value is None or value.type in _FUNCTIONS


def is_function_key(node: tree_sitter.Node) -> bool:
    """Whether it is the key of a function in a literal: `total` in `{ total: () => 1 }`."""
    holder = node.parent
    if holder is None or holder.type != "pair" or node.type != "property_identifier":
        return False
    return holder.child_by_field_name("key") == node and defines_function(node)


def indexed_type(string: tree_sitter.Node, source: bytes) -> str:
    """The type in `T["member"]`, for the string in it; "" elsewhere."""
    at: tree_sitter.Node | None = string
    for _ in range(3):
        at = at.parent if at is not None else None
        if at is not None and at.type == "lookup_type" and at.named_child_count:
            whole = at.named_child(0)
            if whole is None or string.start_byte < whole.end_byte:
                return ""
            return _Context(source, str).written(whole)
    return ""


class _Context:
    """Climbs from a value to what gives it a type."""

    def __init__(self, source: bytes, chain: Chain) -> None:
        self._source, self._chain = source, chain

    def of(self, value: tree_sitter.Node, depth: int) -> str:
        """The expression of the type that is expected of a value."""
        child, parent = value, value.parent
        while parent is not None and depth < CLIMB_MAX and parent.type in _SAME_TYPE:
            child, parent, depth = parent, parent.parent, depth + 1
        if parent is None or depth >= CLIMB_MAX:
            return ""
        kind = parent.type
        if kind in ("as_expression", "satisfies_expression"):
            named = parent.named_child(1) if parent.named_child_count > 1 else None
            return self.written(named)
        if kind in _ANNOTATED:
            return self.written(parent.child_by_field_name("type"))
        if kind == "assignment_expression":
            left = parent.child_by_field_name("left")
            return self._known(self._chain(self._text(left))) if left is not None else ""
        if kind == "pair":
            key = self._text(parent.child_by_field_name("key")).strip("'\"")
            outer = parent.parent
            around = self.of(outer, depth + 1) if outer is not None else ""
            return f"{around}.{key}" if around and key.isidentifier() else ""
        if kind == "array":
            around = self.of(parent, depth + 1)
            return f"{around}[]" if around else ""
        if kind == "arguments":
            return self._argument(parent, child)
        if kind in ("return_statement", "arrow_function"):
            return self._returned(parent, child, depth + 1)
        return ""

    def taken_apart(self, pattern: tree_sitter.Node) -> str:
        """The expression of the value that a pattern takes apart."""
        around = pattern.parent
        if around is None or pattern.type != "object_pattern":
            return ""
        if around.type == "variable_declarator":
            value = around.child_by_field_name("value")
            written = self.written(around.child_by_field_name("type"))
            return written or self._known(self._chain(self._text(value)))
        if around.type in _ANNOTATED:
            return self.written(around.child_by_field_name("type"))
        if around.type == "pair_pattern" and around.parent is not None:
            key = self._text(around.child_by_field_name("key"))
            outer = self.taken_apart(around.parent)
            return f"{outer}.{key}" if outer and key.isidentifier() else ""
        return ""

    def _returned(self, at: tree_sitter.Node, child: tree_sitter.Node, depth: int) -> str:
        function: tree_sitter.Node | None = at
        if at.type == "arrow_function":
            body = at.child_by_field_name("body")
            if body is None or body != child:
                return ""
        while function is not None and function.type not in _FUNCTIONS:
            function, depth = function.parent, depth + 1
            if depth >= CLIMB_MAX * 4:
                return ""
        if function is None:
            return ""
        declared = self.written(function.child_by_field_name("return_type"))
        if declared:
            promised = _PROMISE.fullmatch(declared[1:-1])
            return f"<{promised.group(1).strip()}>" if promised else declared
        if function.type == "method_definition":
            name, literal = function.child_by_field_name("name"), function.parent
            if name is None or literal is None or literal.type != "object":
                return ""
            around = self.of(literal, CLIMB_MAX // 2)
            return f"{around}.{self._text(name)}()" if around else ""
        around = self.of(function, CLIMB_MAX // 2)
        return f"{around}()" if around else ""

    def _argument(self, argument: tree_sitter.Node, child: tree_sitter.Node) -> str:
        call = argument.parent
        if call is None:
            return ""
        callee = call.child_by_field_name("function") or call.child_by_field_name("constructor")
        if callee is None:
            return ""
        places = [c for c in argument.named_children[:8] if c.type != "comment"]
        place = next((i for i, c in enumerate(places) if c == child), -1)
        function = self._known(self._chain(self._text(callee)))
        return f"{function}^p^{place}" if function and place >= 0 else ""

    def written(self, node: tree_sitter.Node | None) -> str:
        """A written type as an expression; `: T` loses its colon."""
        text = " ".join(self._text(node).lstrip(":").split())
        if not text or text in ("any", "unknown", "const", "object") or len(text) > TYPE_MAX:
            return ""
        return f"<{text}>" if text.count("<") == text.count(">") - text.count("=>") else ""

    def _text(self, node: tree_sitter.Node | None) -> str:
        if node is None or node.end_byte - node.start_byte > TYPE_MAX * 2:
            return ""
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    @staticmethod
    def _known(chain: str) -> str:
        return "" if not chain or "?" in chain else chain
