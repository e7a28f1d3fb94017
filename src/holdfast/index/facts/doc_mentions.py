"""Names inside comments and strings that refer to symbols of the program.

These are types in a JSDoc comment (`@param {Cart} cart`), `{@link Cart}`, names in `__all__`, and
types in quotes (`cast("Cart", x)`, `Union["Cart", Box]`). Type checkers count them as references.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import tree_sitter

BEFORE_MAX = 400
_TAG = re.compile(r"@(\w+)\s*\Z")
_TYPED = frozenset({
    "param", "parameter", "arg", "argument", "type", "typedef", "returns", "return", "property",
    "prop", "throws", "exception", "extends", "augments", "implements", "template", "this", "enum",
    "yields", "satisfies", "callback", "member", "const", "constant",
})  # fmt: skip
_LINK = re.compile(r"\{@link(?:code|plain)?\s+([\w$.]*)\Z")
_IMPORTED = re.compile(r"""import\(\s*['"]([^'"]{1,200})['"]\s*\)\.\Z""")
_OWNER = re.compile(r"([\w$]+(?:\.[\w$]+)*)\.\Z")
_DOTTED = re.compile(r"((?:\w+\.)*\w+)\.\Z")
_TYPES = frozenset({
    "Union", "Optional", "List", "Dict", "Type", "Sequence", "Callable", "Tuple", "Iterable", "Set",
    "Mapping", "Iterator", "Awaitable", "Generator", "list", "dict", "type", "tuple", "set",
    "AbstractSet", "AsyncGenerator", "AsyncIterable", "AsyncIterator", "ClassVar", "Collection",
    "ContextManager", "Coroutine", "DefaultDict", "Deque", "Final", "FrozenSet", "MutableMapping",
    "MutableSequence", "MutableSet", "Reversible", "defaultdict", "deque", "frozenset",
})  # fmt: skip


def in_comment(comment: str, start: int, end: int, *, types: bool) -> str | None:
    """The receiver of a name in a JSDoc comment; None if the name is an ordinary word.

    `types` tells whether types in braces count; in TypeScript they are in the code instead.
    """
    if not comment.startswith("/**") or comment[end : end + 1] in ("'", '"'):
        return None
    before = comment[max(0, start - BEFORE_MAX) : start]
    if link := _LINK.search(before):
        return link.group(1).rstrip(".")
    opened = _open_brace(before)
    if not types or opened == -1 or comment[end:].lstrip(" ?")[:1] == ":":
        return None
    tag = _TAG.search(before[:opened])
    if tag is None or tag.group(1) not in _TYPED:
        return None
    if imported := _IMPORTED.search(before):
        return f"'{imported.group(1)}'"
    owner = _OWNER.search(before)
    return owner.group(1) if owner else ""


def _open_brace(text: str) -> int:
    """The position of the outermost brace that is still open at the end; -1 if there is none."""
    depth = 0
    found = -1
    for at in range(len(text) - 1, -1, -1):
        if text[at] == "}":
            depth += 1
        elif text[at] == "{":
            if depth:
                depth -= 1
            else:
                found = at
        elif text[at] == "@" and found != -1:
            break
    return found


def dotted_owner(source: bytes, begin: int, start: int) -> str:
    """The names before a name in a quoted type: `shop.cart` in "shop.cart.Cart"."""
    before = source[max(begin, start - BEFORE_MAX) : start].decode("utf-8", "replace")
    owner = _DOTTED.search(before)
    return owner.group(1) if owner else ""


def in_string(
    node: tree_sitter.Node, source: bytes, start: int, end: int
) -> Literal["value", "annotation"] | None:
    """The role of a name in a Python string: "value" in `__all__`, "annotation" as a type,
    or None.
    """
    string = node if node.type == "string" else node.parent
    if string is None or string.type != "string":
        return None
    inner = source[string.start_byte : string.end_byte].strip(b"\"'")
    around = string.parent
    if around is None:
        return None
    if around.type == "list" and around.parent is not None and around.parent.type == "subscript":
        around = around.parent  # the parameters in Callable[["State"], None]
    if around.type in ("list", "tuple") and inner == source[start:end]:
        holder = around.parent
        left = holder.child_by_field_name("left") if holder is not None else None
        named = left is not None and source[left.start_byte : left.end_byte] == b"__all__"
        return "value" if named else None
    if around.type == "subscript":
        owner = around.child_by_field_name("value")
        text = source[owner.start_byte : owner.end_byte].decode("utf-8", "replace") if owner else ""
        return "annotation" if text.rpartition(".")[2] in _TYPES else None
    if around.type == "argument_list" and around.named_child(0) == string:
        return "annotation" if _called(around, source) == "cast" else None
    if around.type == "keyword_argument" and around.parent is not None:
        name = around.child_by_field_name("name")
        bound = name is not None and source[name.start_byte : name.end_byte] == b"bound"
        return "annotation" if bound and _called(around.parent, source) == "TypeVar" else None
    return None


def _called(arguments: tree_sitter.Node, source: bytes) -> str:
    call = arguments.parent
    function = call.child_by_field_name("function") if call is not None else None
    if function is None:
        return ""
    return source[function.start_byte : function.end_byte].decode().rpartition(".")[2]
