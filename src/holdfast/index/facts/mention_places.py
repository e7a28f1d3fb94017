"""What surrounds a name in the syntax tree: an import, a base class, a type, a call. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from holdfast.index.facts.mention_kinds import Kind

if TYPE_CHECKING:
    import tree_sitter

_IMPORT = re.compile(
    r"import|use_declaration|use_clause|use_list|using_directive|use_wildcard|use_as_clause"
)
_BASE = re.compile(
    r"class_heritage|extends|implements|superclass|super_interfaces|interface_type_list|base_list|"
    r"base_class_clause|delegation_specifier|inheritance_specifier|base_clause|interface_clause"
)
_TYPE = re.compile(
    r"^type$|type_annotation|type_arguments|^generic_type$|^user_type$|^named_type$|union_type|"
    r"^type_list$|optional_type|nullable_type|array_type|pointer_type|reference_type|slice_type|"
    r"map_type|type_parameter|type_alias|constraint|type_spec|scoped_type_identifier|"
    r"qualified_type|nested_type_identifier|type_identifier|type_query|type_predicate"
)
CALL = frozenset({
    "call", "call_expression", "new_expression", "object_creation_expression", "macro_invocation",
    "method_invocation", "invocation_expression", "function_call", "member_call_expression",
    "scoped_call_expression", "nullsafe_member_call_expression", "function_call_expression",
    "decorator", "command", "constructor_invocation", "instance_expression", "struct_expression",
})  # fmt: skip
MEMBER = frozenset({
    "attribute", "member_expression", "selector_expression", "field_expression", "field_access",
    "member_access_expression", "navigation_expression", "navigation_suffix", "scoped_identifier",
    "scoped_type_identifier", "qualified_type", "qualified_identifier", "qualified_name",
    "scope_resolution", "class_constant_access_expression", "nested_type_identifier",
    "nested_identifier", "method_index_expression", "dot_index_expression",
    "member_call_expression", "scoped_call_expression", "nullsafe_member_call_expression",
    "nullsafe_member_access_expression", "scoped_property_access_expression", "dotted_name",
    "conditional_access_expression", "member_binding_expression", "stable_type_identifier",
})  # fmt: skip

TAGS = frozenset(
    {"jsx_attribute", "jsx_opening_element", "jsx_closing_element", "jsx_self_closing_element"}
)


def inside(node: tree_sitter.Node, kind: str, steps: int) -> bool:
    at = node.parent
    for _ in range(steps):
        if at is None:
            return False
        if at.type == kind:
            return True
        at = at.parent
    return False


def is_field(parent: tree_sitter.Node, child: tree_sitter.Node, names: Iterable[str]) -> bool:
    return any(
        found is not None and found == child for found in map(parent.child_by_field_name, names)
    )


def holds(outer: tree_sitter.Node, inner: tree_sitter.Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def is_member(node: tree_sitter.Node) -> bool:
    return node.parent is not None and node.parent.type in MEMBER


def called_by(parent: tree_sitter.Node, top: tree_sitter.Node) -> bool:
    """Whether `top` is the callee and not one of the arguments."""
    if parent.type == "decorator":
        return True
    for name in ("function", "constructor", "type", "macro", "name", "method"):
        found = parent.child_by_field_name(name)
        if found is not None:
            return bool(found == top)
    first = parent.named_child(0)
    return first is not None and bool(first == top)


def is_import(node: tree_sitter.Node) -> bool:
    at: tree_sitter.Node | None = node.parent
    for _ in range(8):
        if at is None or at.type.endswith(("block", "body")):
            return False
        if at.type == "import_alias":  # `import Cart = Shop.Cart` names members of a namespace
            return False
        if _IMPORT.search(at.type):
            return True
        if at.type == "export_statement":
            return at.child_by_field_name("source") is not None
        at = at.parent
    return False


def place(node: tree_sitter.Node) -> Kind:
    """ "base", "annotation" or "value", by the nodes around the name."""
    child: tree_sitter.Node = node
    typed = bool(_TYPE.search(node.type))
    at = node.parent
    for _ in range(12):
        if at is None or at.type.endswith(("block", "body", "statement", "module", "program")):
            break
        if _BASE.search(at.type):
            return "base"
        if at.type == "argument_list" and at.parent is not None:
            if at.parent.type == "class_definition":
                return "base"
            break
        if at.type in CALL and not typed:
            break
        typed = typed or bool(_TYPE.search(at.type)) or is_field(at, child, ("type", "return_type"))
        child, at = at, at.parent
    return "annotation" if typed else "value"


def is_taken_out(node: tree_sitter.Node) -> bool:
    """Whether it is the name of a member in `const { total } = cart` or `({ total: sum }) => …`."""
    if node.type == "shorthand_property_identifier_pattern":
        return True
    parent = node.parent
    return parent is not None and parent.type == "pair_pattern" and is_field(parent, node, ("key",))


def error_ranges(root: tree_sitter.Node) -> list[tuple[int, int]]:
    """The byte ranges that could not be parsed, in their order."""
    found, todo = [], [root]
    while todo:
        node = todo.pop()
        if node.type == "ERROR":
            found.append((node.start_byte, node.end_byte))
        elif node.has_error:
            todo += reversed(node.children)
    return found


def is_within(ranges: Sequence[tuple[int, int]], at: int) -> bool:
    """Whether one of these ranges, which are in order and apart, has this byte."""
    place = bisect_right(ranges, at, key=itemgetter(0)) - 1
    return place >= 0 and at < ranges[place][1]


def names_no_value(source: bytes, tag: tree_sitter.Node, name: tree_sitter.Node) -> bool:
    """Whether it is an attribute of a JSX element, or an element of the platform: `<label>`."""
    if tag.type == "jsx_attribute":
        return tag.named_child(0) == name
    word = source[name.start_byte : name.end_byte]
    return is_field(tag, name, ("name",)) and b"." not in word and word[:1].islower()


def is_module(node: tree_sitter.Node) -> bool:
    """Whether it is a module in Python's `from cart import total` or `import shop.cart`."""
    parent = node.parent
    while parent is not None and parent.type in ("dotted_name", "relative_import"):
        node, parent = parent, parent.parent
    if parent is not None and parent.type == "aliased_import" and is_field(parent, node, ("name",)):
        node, parent = parent, parent.parent
    if parent is not None and parent.type == "import_statement":
        return node.type in ("dotted_name", "aliased_import")
    if parent is None or parent.type != "import_from_statement":
        return False
    return is_field(parent, node, ("module_name",))
