"""Which scope of a Python file binds each mention of a bare name, by the rules of the language.

A name belongs to the innermost enclosing scope that binds it. Classes are skipped from inside their
functions, `global` and `nonlocal` are followed, and default values, annotations, decorators, base
classes and the first iterable of a comprehension are evaluated outside of what they belong to. All
bindings of a name are mentions of it, so the mentions alone decide.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

from holdfast.index.facts.node_order import is_field

if TYPE_CHECKING:
    import tree_sitter

TOP, UNNAMED, UNKNOWN = -1, -2, -3
"""In place of the byte at which a function or a class starts: the file itself; a lambda, a
comprehension or a type parameter list; a scope that was not determined."""
CLIMB_MAX = 240
_COMPREHENSIONS = frozenset({
    "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression",
})  # fmt: skip
_TARGETS = frozenset({
    "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "expression_list",
    "tuple", "list", "parenthesized_expression", "list_splat", "as_pattern_target",
})  # fmt: skip
_GENERIC = frozenset({"function_definition", "class_definition", "type_alias_statement"})
_PARAMETERS = frozenset({"parameters", "lambda_parameters"})
_DECLARED = {"global_statement": "global", "nonlocal_statement": "nonlocal"}

Kind = Literal["function", "class", "unnamed", "top"]


class _Scope(NamedTuple):
    """A scope; `key` is unique in the file, `start` is the byte at which its statement starts."""

    kind: Kind
    key: tuple[int, int]
    start: int


_TOP = _Scope("top", (-1, 0), TOP)


class _Place(NamedTuple):
    """A mention: the scopes around it, innermost first, and what it does there."""

    name: bytes
    start: int
    scopes: tuple[_Scope, ...]
    binds: bool
    until: int
    """Where the statement that binds it ends: from there on the name is bound."""


class PythonScopes:
    """Notes the mentions of a file one by one; after the last, `holders` decides all."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._places: list[_Place] = []
        self._around: dict[int, tuple[_Scope, ...]] = {}
        self._declared: dict[tuple[tuple[int, int], bytes], str] = {}
        self._unknown: list[int] = []

    def note(self, node: tree_sitter.Node, start: int, name: bytes) -> None:
        """Note a bare name; `node` is its identifier, or the string that it is in."""
        scopes = self._scopes(node)
        if scopes is None:
            self._unknown.append(start)
            return
        binds, until = False, 0
        if node.type == "identifier":
            bound = _binding(node)
            if bound is not None:
                binds, until = True, bound.end_byte
                if bound.type in ("function_definition", "class_definition"):
                    until = start
                scopes = self._bound_in(node, bound, scopes)
            elif node.parent is not None and (how := _DECLARED.get(node.parent.type)):
                self._declared[scopes[0].key, name] = how
        self._places.append(_Place(name, start, scopes, binds, until))

    def holders(self) -> dict[int, tuple[int, bool]]:
        """For each mention: where the scope that binds it starts, and whether that is local."""
        bound: dict[tuple[tuple[int, int], bytes], list[_Place]] = defaultdict(list)
        for place in self._places:
            if place.binds:
                bound[place.scopes[0].key, place.name].append(place)
        first = {key: min(one.until for one in places) for key, places in bound.items()}
        found = dict.fromkeys(self._unknown, (UNKNOWN, True))
        for place in self._places:
            scope = self._holder(place, first)
            local = scope.kind in ("function", "unnamed")
            found[place.start] = (UNNAMED if scope.kind == "unnamed" else scope.start, local)
        return found

    def _holder(self, place: _Place, first: dict[tuple[tuple[int, int], bytes], int]) -> _Scope:
        nonlocal_ = False
        for number, scope in enumerate(place.scopes):
            key = scope.key, place.name
            how = self._declared.get(key)
            if how == "global" and not nonlocal_:
                return _TOP
            if how == "nonlocal":
                nonlocal_ = True
                continue
            if key not in first:
                continue
            if scope.kind != "class":
                return scope
            # A class body binds its names one after the other, and is not seen from inside.
            if number == 0 and (place.binds or first[key] <= place.start):
                return scope
        return _TOP

    def _bound_in(
        self, node: tree_sitter.Node, bound: tree_sitter.Node, scopes: tuple[_Scope, ...]
    ) -> tuple[_Scope, ...]:
        """The scopes from the one that gets the name."""
        if bound.type in _PARAMETERS and bound.parent is not None:
            own = _Scope(
                "unnamed" if bound.parent.type == "lambda" else "function",
                (bound.parent.start_byte, bound.parent.end_byte),
                bound.parent.start_byte,
            )
            return (own, *scopes)
        if bound.type == "for_in_clause" and bound.parent is not None:
            own = _Scope("unnamed", (bound.parent.start_byte, bound.parent.end_byte), UNNAMED)
            return scopes if scopes[0] == own else (own, *scopes)
        if bound.type == "type_alias_statement" and scopes[0].key == (bound.start_byte,) * 2:
            return scopes[1:]  # its type parameters are not visible outside
        if bound.type == "named_expression":
            while scopes[0].kind == "unnamed" and self._is_comprehension(scopes[0]):
                scopes = scopes[1:]
        return scopes

    def _is_comprehension(self, scope: _Scope) -> bool:
        return self._source[scope.key[0] : scope.key[0] + 1] in (b"[", b"{", b"(")

    def _scopes(self, node: tree_sitter.Node) -> tuple[_Scope, ...] | None:
        """The scopes around a place, innermost first; None if there are too many levels."""
        inner: list[_Scope] = []
        before, child, at = node, node, node.parent
        result: tuple[_Scope, ...] = (_TOP,)
        passed: list[tuple[int, int]] = []
        for _ in range(CLIMB_MAX):
            if at is None:
                break
            made = _opened(at, child, before)
            if made is not None:
                known = self._around.get(made.key[0] << 32 | made.key[1])
                if known is not None:
                    result = known
                    break
                passed.append((len(inner), made.key[0] << 32 | made.key[1]))
                inner.append(made)
            if at.type in _GENERIC and _has_type_parameters(at) and not is_field(at, "name", child):
                inner.append(_Scope("unnamed", (at.start_byte, at.start_byte), UNNAMED))
            before, child, at = child, at, at.parent
        else:
            return None
        whole = (*inner, *result)
        for number, key in passed:
            self._around[key] = whole[number:]
        return whole


def _opened(
    at: tree_sitter.Node, child: tree_sitter.Node, before: tree_sitter.Node
) -> _Scope | None:
    """The scope of a node around a child, unless the child is evaluated outside of it."""
    kind = at.type
    key = (at.start_byte, at.end_byte)
    if kind in ("function_definition", "class_definition"):
        own: Kind = "function" if kind == "function_definition" else "class"
        return _Scope(own, key, at.start_byte) if is_field(at, "body", child) else None
    if kind == "lambda":
        return _Scope("unnamed", key, UNNAMED) if is_field(at, "body", child) else None
    if kind in _COMPREHENSIONS:
        if child.type == "for_in_clause" and is_field(child, "right", before):
            clauses = (one for one in at.named_children if one.type == "for_in_clause")
            if next(clauses, None) == child:
                return None  # the first iterable
        return _Scope("unnamed", key, UNNAMED)
    return None


def _binding(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The statement, clause or list of parameters that binds a name here; None for a use."""
    child, at = node, node.parent
    for _ in range(CLIMB_MAX):
        if at is None:
            return None
        kind = at.type
        if kind in _PARAMETERS:
            return at
        if kind in ("typed_parameter", "dictionary_splat_pattern"):
            if is_field(at, "type", child):
                return None
        elif kind in ("default_parameter", "typed_default_parameter"):
            if not is_field(at, "name", child):
                return None
        elif kind in ("function_definition", "class_definition", "named_expression"):
            return at if is_field(at, "name", child) else None
        elif kind in ("assignment", "augmented_assignment", "for_statement", "for_in_clause"):
            return at if is_field(at, "left", child) else None
        elif kind == "delete_statement":
            return at
        elif kind == "type":
            return _generic_name(at)
        elif kind == "as_pattern":
            last = at.named_child(at.named_child_count - 1)
            return at if last is not None and last == child and child != at.named_child(0) else None
        elif kind in ("dotted_name", "splat_pattern", "aliased_import"):
            return _bound_word(node, child, at)
        elif kind == "generic_type" and child == at.named_child(0):
            outer = at.parent.parent if at.parent is not None else None
            alias = outer is not None and outer.type == "type_alias_statement"
            return outer if alias and is_field(outer, "left", at.parent) else None  # type: ignore[arg-type]
        elif kind not in _TARGETS:
            return None
        child, at = at, at.parent
    return None


def _has_type_parameters(at: tree_sitter.Node) -> bool:
    if at.type != "type_alias_statement":
        return at.child_by_field_name("type_parameters") is not None
    left = at.child_by_field_name("left")
    inner = left.named_child(0) if left is not None else None
    return inner is not None and inner.type == "generic_type"


def _generic_name(at: tree_sitter.Node) -> tree_sitter.Node | None:
    """The list of type parameters, or the statement `type X = …`, that binds a name here."""
    around = at.parent
    if around is not None and around.type == "constrained_type":
        if around.named_child(0) != at or around.parent is None:
            return None
        at, around = around.parent, around.parent.parent
    if around is None:
        return None
    if around.type == "type_alias_statement":
        return around if is_field(around, "left", at) else None
    if around.type != "type_parameter" or around.parent is None:
        return None
    if is_field(around.parent, "type_parameters", around):
        return around
    outer = around.parent.parent if around.parent.type == "generic_type" else None
    alias = outer.parent if outer is not None else None
    if alias is None or alias.type != "type_alias_statement":
        return None
    return around if is_field(alias, "left", outer) else None  # type: ignore[arg-type]


def _bound_word(
    node: tree_sitter.Node, child: tree_sitter.Node, at: tree_sitter.Node
) -> tree_sitter.Node | None:
    """The statement or the pattern that binds a word of a dotted name, an alias or a splat."""
    around = at.parent
    if around is None:
        return None
    if at.type == "aliased_import":
        return around if is_field(at, "alias", child) else None
    if at.type == "splat_pattern":
        return at
    if around.type == "import_statement":
        return around if at.named_child(0) == node else None
    if around.type == "import_from_statement":
        return None if is_field(around, "module_name", at) else around
    single = at.named_child_count == 1
    if around.type in ("case_pattern", "union_pattern", "keyword_pattern"):
        return around if single else None
    return None
