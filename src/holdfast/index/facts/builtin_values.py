"""What built-in functions of Python return, as expressions of their arguments: `next(iter(x))`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index.facts import chains, platform_values
from holdfast.index.facts.expression_text import KEY, UNKNOWN, either, grouped, typed
from holdfast.index.facts.model import MODULE

if TYPE_CHECKING:
    from tree_sitter import Node

    from holdfast.index.facts.platform_values import Read
    from holdfast.index.facts.walk_view import WalkView

PARTS_MAX = 12
_SAME = frozenset({"list", "tuple", "set", "sorted", "reversed", "iter", "frozenset", "deque",
                   "aiter"})  # fmt: skip
SPECIAL = _SAME | {"next", "anext", "cast", "enumerate", "zip", "require", "import", "type",
                    "copy", "deepcopy", "partial", "TypeVar", "replace", "getattr",
                    "import_module", "__import__", "dict", "staticmethod", "classmethod",
                    "property", "max", "min", "super", "enter_context",
                    "enter_async_context"}  # fmt: skip
IMPORTING = frozenset({"require", "import"})
"""Those of a script; the others are functions of its own there: `partial(f, 1)`."""
BY_KEY = frozenset({"get", "pop", "setdefault"})
ASYNC = frozenset({"run", "gather", "wait_for", "create_task", "ensure_future", "shield"})


def special(walk: WalkView, name: str, argument_list: Node, read: Read) -> str:
    """Built-in functions that return their argument in another form."""
    arguments = [c for c in argument_list.named_children[:4] if c.type != "comment"]
    if not arguments:
        return ""
    if name == "super":  # of another class than the one around it
        given = [walk.text(each, 100) for each in arguments]
        at = walk.enclosing_class()
        own = walk.symbols[at].name if at != MODULE else ""
        plain = len(given) == 2 and chains.PLAIN.match(given[0])
        return f"{given[0]}.__base__" if plain and given[0] not in (own, "__class__") else ""
    if name == "cast":
        return typed(walk.text(arguments[0], 160).strip("\"'")) if len(arguments) == 2 else ""
    if name == "getattr":
        owner = read(arguments[0])
        written = _written(walk, arguments[1]) if len(arguments) > 1 else None
        key = platform_values.member_name(walk, written) if written is not None else ""
        found = f"{grouped(owner)}.{key}" if owner != UNKNOWN and key else UNKNOWN
        other = read(arguments[2]) if len(arguments) > 2 else UNKNOWN
        both = either(found, other)
        return "" if both == UNKNOWN else both
    if name == "dict":
        pairs = [(walk.field(a, "name", 60), a.child_by_field_name("value")) for a in arguments]
        texts = [f"{k}:{read(v)}" for k, v in pairs if k and v is not None]
        if texts:
            return "{" + ",".join(texts) + "}"
    if name in ("require", "import", "import_module", "__import__"):
        text = walk.text(arguments[0], 160)
        return f"'{text[1:-1]}'" if text[:1] in ("'", '"') and "'" not in text[1:-1] else ""
    if name == "TypeVar":
        for each in arguments[1:]:
            bound = each.child_by_field_name("value")
            if walk.field(each, "name", 10) == "bound" and bound is not None:
                quoted = walk.text(bound, 100).strip("\"'") if bound.type == "string" else ""
                return quoted if chains.PLAIN.match(quoted) else read(bound)
        return ""
    first = read(arguments[0])
    if first == UNKNOWN:
        return ""
    first = grouped(first)
    if name == "property":
        return f"{first}()"
    if name == "type":
        return f"{first}.__class__" if len(arguments) == 1 else ""
    if name in ("next", "anext"):
        return f"{first}[next]"
    if name.startswith("enter_"):
        return f"{first}[with]"
    if name in ("max", "min"):
        several = [a for a in arguments if a.type != "keyword_argument"]
        if len(several) == 1:
            return f"{first}[*]"
        values = dict.fromkeys(read(each) for each in several)
        return "" if UNKNOWN in values else "|".join(values)
    if name == "enumerate":
        return f"[[?,{first}[*]]]"
    if name == "zip":
        others = [grouped(read(each)) for each in arguments]
        return "[[" + ",".join("?" if o == UNKNOWN else f"{o}[*]" for o in others) + "]]"
    return first


def _written(walk: WalkView, node: Node) -> Node:
    """A name that a statement just above gives a string: `name = "visit_" + kind`."""
    if node.type != "identifier":
        return node
    name, at = walk.text(node, 100), node
    while at.parent is not None and at.parent.type not in ("block", "module"):
        at = at.parent
    for _ in range(4):
        above = at.prev_named_sibling
        if above is None:
            break
        made = above.named_child(0) if above.type == "expression_statement" else None
        if made is not None and made.type == "assignment" and walk.field(made, "left") == name:
            return made.child_by_field_name("right") or node
        at = above
    return node


def by_key(walk: WalkView, owner: str, argument_list: Node, read: Read) -> str:
    """`table.get("k", other)` on a dictionary literal of this file."""
    arguments = [c for c in argument_list.named_children[:3] if c.type != "comment"]
    if not arguments or arguments[0].type != "string" or not chains.PLAIN.match(owner):
        return ""
    key, name = walk.text(arguments[0], 80).strip("\"'"), owner.rpartition(".")[2]
    made = any(b.name == name and b.value[:1] == "{" for b in walk.bindings[-NEAR:])
    if not made or not KEY.match(key):
        return ""
    other = read(arguments[1]) if len(arguments) > 1 else UNKNOWN
    return either(f"{owner}['{key}']", other)


NEAR = 200
"""How many earlier bindings are searched for the literal of a dictionary."""


def awaited(name: str, argument_list: Node, read: Read) -> str:
    """Functions of asyncio that return the result of what they run."""
    texts = [read(each) for each in argument_list.named_children[:PARTS_MAX]]
    if not texts or texts[0] == UNKNOWN:
        return ""
    return f"[{','.join(texts)}]" if name == "gather" else grouped(texts[0])
