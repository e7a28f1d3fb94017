"""What the platform of a language returns, as expressions of the arguments: `Object.values(x)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from holdfast.index.facts.walk_view import WalkView

Read = Callable[["Node"], str]
"""The expression of a node, in brackets where it needs them; "?" when it is unknown."""
_SAME = frozenset({"freeze", "seal", "create", "preventExtensions"})
_PAIRS_MAX = 12


def called(walk: WalkView, function: Node, arguments: Node, read: Read) -> str:
    """The result of `Object.values(x)`, `f.bind(x)` and others; "" when it is none of them."""
    owner = function.child_by_field_name("object")
    if owner is None:
        return ""
    name = walk.field(function, "property", 20)
    if name == "bind":
        # In brackets it is not another name of the function: what is bound takes the first places.
        return read(owner) if arguments.named_child_count < 2 else f"({read(owner)})"
    first = arguments.named_child(0) if arguments.named_child_count else None
    whole = walk.text(owner, 8) if owner.type == "identifier" else ""
    if first is None or whole not in ("Object", "Array", "Reflect", "Promise"):
        return ""
    if whole == "Promise":  # what it resolves to; `await` and `then` give the same
        if name in ("race", "any"):
            text = read(first)
            return text if text == "?" else f"{text}[]"
        return read(first) if name in ("resolve", "all") else ""
    if whole == "Array":
        return read(first) if name == "from" and arguments.named_child_count == 1 else ""
    if name in _SAME:
        return read(first)
    if name in ("assign", "setPrototypeOf"):
        texts = [t for each in arguments.named_children[:6] if (t := read(each)) not in ("?", "{}")]
        return "|".join(dict.fromkeys(texts)) or "?"
    if name in ("values", "entries"):
        text = read(first)
        if text == "?":
            return text
        return f"[{text}[all]]" if name == "values" else f"[[?,{text}[all]]]"
    return ""


def constructed(walk: WalkView, constructor: Node, arguments: Node | None, read: Read) -> str:
    """`new Map([["k", v]])` as an object, `new Set([v])` as a list; "" for other classes."""
    name = walk.text(constructor, 10)
    if name == "Promise" and arguments is not None:
        return _resolved(walk, arguments, read)
    if name not in ("Map", "Set", "WeakMap", "WeakSet") or arguments is None:
        return ""
    first = arguments.named_child(0) if arguments.named_child_count else None
    if first is None:
        return ""
    if name.endswith("Set"):
        return read(first)
    if first.type != "array":
        text = read(first)
        return "" if text == "?" else f"{{?:{text}[*][1]}}"
    parts = []
    for pair in first.named_children[:_PAIRS_MAX]:
        key, value = pair.named_child(0), pair.named_child(1)
        if pair.type != "array" or key is None or value is None:
            continue
        word = walk.text(key, 80).strip("'\"`") if key.type == "string" else ""
        text = read(value)
        if text != "?":
            parts.append(f"{word if word.isidentifier() else '?'}:{text}")
    return "{" + ",".join(parts) + "}" if parts else ""


def _resolved(walk: WalkView, arguments: Node, read: Read) -> str:
    """What `new Promise((resolve) => resolve(x))` resolves to; "" when that is not seen."""
    runs = arguments.named_child(0) if arguments.named_child_count else None
    if runs is None or runs.type not in ("arrow_function", "function_expression"):
        return ""
    taken, body = runs.child_by_field_name("parameters"), runs.child_by_field_name("body")
    if taken is not None:
        taken = taken.named_child(0) if taken.named_child_count else None
        taken = taken.child_by_field_name("pattern") or taken if taken is not None else None
    else:
        taken = runs.child_by_field_name("parameter")
    if taken is None or taken.type != "identifier" or body is None:
        return ""
    name, found, work = walk.text(taken, 40), dict[str, None](), [body]
    for _ in range(_RESOLVED_MAX):
        if not work:
            return "|".join(found)
        node = work.pop()
        work.extend(reversed(node.named_children[:_RESOLVED_MAX]))
        if node.type == "call_expression" and walk.field(node, "function", 40) == name:
            given = node.child_by_field_name("arguments")
            value = given.named_child(0) if given is not None and given.named_child_count else None
            text = read(value) if value is not None else ""
            if text == "?" or len(found) > 3:
                return ""
            if text:
                found[text] = None
    return ""


_RESOLVED_MAX = 120
"""How many nodes of a function are looked at for what it resolves to."""


_STARTS = re.compile(r"f?[\"'`]([A-Za-z_]\w{2,40})(?:\{|\$\{|[\"'`]\s*\+)")


def member_name(walk: WalkView, node: Node) -> str:
    """The member that a string names; `visit_*` when only its beginning is known."""
    text = walk.text(node, 120)
    if started := _STARTS.match(text):
        return f"{started.group(1)}*"
    plain = text.strip("\"'")
    return plain if node.type == "string" and plain.isidentifier() else ""
