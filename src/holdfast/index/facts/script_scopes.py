"""Which declaration binds each mention of a bare name in JavaScript and TypeScript.

A name belongs to the innermost enclosing block, function or type that declares it; `var` belongs to
the function. Types and values are two spaces: a type parameter never hides a variable. All
declarations of a name are mentions of it, so the mentions alone decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.index.facts.node_order import is_field
from holdfast.index.facts.python_scopes import TOP, UNKNOWN

if TYPE_CHECKING:
    import tree_sitter

CLIMB_MAX = 240
TYPE, VALUE = 1, 2
BOTH = TYPE | VALUE
WORDS = frozenset({
    "identifier", "type_identifier", "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
})  # fmt: skip
_FUNCTIONS = frozenset({
    "function_declaration", "function_expression", "arrow_function", "method_definition",
    "generator_function", "generator_function_declaration", "function_signature",
    "method_signature", "abstract_method_signature", "call_signature", "construct_signature",
    "function_type", "constructor_type", "class_static_block",
})  # fmt: skip
_SCOPES = _FUNCTIONS | {
    "class", "class_declaration", "abstract_class_declaration", "interface_declaration",
    "type_alias_declaration", "statement_block", "switch_body", "for_statement", "for_in_statement",
    "catch_clause", "conditional_type", "index_signature",
}  # fmt: skip
_OWN_NAME = frozenset({"function_expression", "generator_function", "class"})
"""Expressions whose name is seen only inside."""
_DECLARES = {
    "function_declaration": VALUE, "generator_function_declaration": VALUE,
    "function_signature": VALUE, "class_declaration": BOTH, "abstract_class_declaration": BOTH,
    "interface_declaration": TYPE, "type_alias_declaration": TYPE, "enum_declaration": BOTH,
    "internal_module": BOTH, "module": BOTH, "function_expression": VALUE,
    "generator_function": VALUE, "class": BOTH, "type_parameter": TYPE, "mapped_type_clause": TYPE,
}  # fmt: skip
_PATTERNS = {
    "required_parameter": "pattern", "optional_parameter": "pattern", "assignment_pattern": "left",
    "object_assignment_pattern": "left", "pair_pattern": "value", "rest_pattern": "",
    "object_pattern": "", "array_pattern": "",
}  # fmt: skip
"""Patterns, and the part of each that holds the names that it binds."""
_IMPORTS = frozenset({
    "import_clause", "namespace_import", "import_require_clause", "import_alias",
    "import_specifier",
})  # fmt: skip
_ANY_SPACE = frozenset({
    "export_specifier", "nested_identifier", "nested_type_identifier", "export_statement",
    "extends_clause", "import_alias",
})  # fmt: skip

Key = tuple[int, int]
_TOP: Key = (TOP, TOP)


class _Scope(NamedTuple):
    key: Key
    kind: str


class _Place(NamedTuple):
    """A mention: the scopes around it, innermost first, and which spaces it is in."""

    name: str
    start: int
    before: int
    scopes: tuple[_Scope, ...]
    space: int
    declares: bool
    required: bool
    own: bool
    """Whether it is the name of a function expression: its parameters and variables hide it."""


class Held(NamedTuple):
    """Where the declaration of a mention is, TOP without one; the same word before that; where the
    scope of the declaration starts; and whether it is `const Cart = require("./cart")`.
    """

    start: int
    before: int
    scope: int
    required: bool = False


class ScriptScopes:
    """Notes the mentions of a file one by one; after the last, `held` decides all."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._places: list[_Place] = []
        self._unknown: list[int] = []

    def note(self, node: tree_sitter.Node, start: int, name: str, before: int) -> None:
        """Note a bare name; `before` is where the same word was last written."""
        scopes = _scopes(node)
        if scopes is None:
            self._unknown.append(start)
            return
        declared = _declared(node)
        space = TYPE if node.type == "type_identifier" else VALUE
        if declared is None:
            around = node.parent.type if node.parent is not None else ""
            space = BOTH if around in _ANY_SPACE else space
        else:
            space, scopes = declared[1], _from(scopes, *declared)
        required = declared is not None and _is_required(node, declared[2], self._source)
        own = declared is not None and declared[0] == "inner" and declared[2].type in _OWN_NAME
        self._places.append(
            _Place(name, start, before, scopes, space, declared is not None, required, own)
        )

    def held(self) -> dict[int, Held]:
        """For each mention the declaration that binds it."""
        first: dict[tuple[Key, str, int], Held] = {}
        for one in sorted(self._places, key=lambda place: place.own):
            if one.declares:
                key = one.scopes[0].key
                made = Held(one.start, one.before, key[0], one.required)
                for space in (TYPE, VALUE):
                    if one.space & space:
                        first.setdefault((key, one.name, space), made)
        found = dict.fromkeys(self._unknown, Held(UNKNOWN, -1, UNKNOWN))
        for one in self._places:
            found[one.start] = _held(one, first)
        return found


def _held(place: _Place, first: dict[tuple[Key, str, int], Held]) -> Held:
    if place.declares:
        return Held(place.start, place.before, place.scopes[0].key[0], place.required)
    for scope in place.scopes:
        for space in (VALUE, TYPE):
            held = first.get((scope.key, place.name, space)) if place.space & space else None
            if held is not None:
                return held
    return Held(TOP, -1, TOP)


def _scopes(node: tree_sitter.Node) -> tuple[_Scope, ...] | None:
    """The scopes around a node, innermost first; None if that is not known."""
    found: list[_Scope] = []
    at = node.parent
    for _ in range(CLIMB_MAX):
        if at is None:
            return (*found, _Scope(_TOP, "top"))
        if at.type == "enum_body":
            return None  # the members are in scope there
        if at.type in _SCOPES:
            found.append(_Scope((at.start_byte, at.end_byte), at.type))
        at = at.parent
    return None


def _from(
    scopes: tuple[_Scope, ...], how: str, _space: int, by: tree_sitter.Node
) -> tuple[_Scope, ...]:
    """The scopes from the one that gets a declared name."""
    if how == "import":
        return scopes[-1:]
    if how == "var":
        at = next(n for n, one in enumerate(scopes) if one.kind in _FUNCTIONS or one.kind == "top")
        return scopes[at:]
    if how == "outer" and scopes[0].key == (by.start_byte, by.end_byte):
        return scopes[1:]
    return scopes


def _is_required(node: tree_sitter.Node, by: tree_sitter.Node, source: bytes) -> bool:
    """Whether the whole value of a name is what a CommonJS module exports."""
    if by.type == "import_require_clause":
        return True
    if by.type != "variable_declarator" or not is_field(by, "name", node):
        return False
    value = by.child_by_field_name("value")
    called = value.child_by_field_name("function") if value is not None else None
    return called is not None and source[called.start_byte : called.end_byte] == b"require"


def _declared(node: tree_sitter.Node) -> tuple[str, int, tree_sitter.Node] | None:
    """How a name is declared here, in which spaces, and by which node; None for a use."""
    child, at = node, node.parent
    for _ in range(CLIMB_MAX):
        if at is None:
            return None
        kind = at.type
        if kind in _DECLARES:
            if not is_field(at, "name", child):
                return None
            inside = kind in _OWN_NAME or kind in ("type_parameter", "mapped_type_clause")
            return "inner" if inside else "outer", _DECLARES[kind], at
        if kind in _IMPORTS:
            return "import", BOTH, at
        if kind == "infer_type":
            return "inner", TYPE, at
        if kind == "formal_parameters":
            return "inner", VALUE, at
        if kind == "arrow_function":
            return ("inner", VALUE, at) if is_field(at, "parameter", child) else None
        if kind == "catch_clause":
            return ("inner", VALUE, at) if is_field(at, "parameter", child) else None
        if kind == "variable_declarator":
            if not is_field(at, "name", child) or at.parent is None:
                return None
            return "var" if at.parent.type == "variable_declaration" else "inner", VALUE, at
        if kind == "for_in_statement":
            word = at.child_by_field_name("kind")
            if word is None or not is_field(at, "left", child):
                return None
            return "var" if word.type == "var" else "inner", VALUE, at
        if kind not in _PATTERNS:
            return None
        part = _PATTERNS[kind]
        if part and not is_field(at, part, child):
            return None
        child, at = at, at.parent
    return None
