"""Which functions a call passes as arguments: `map(total, carts)`, `Timer(callback=self.tick)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from holdfast.index.facts import chains, expressions
from holdfast.index.facts.model import Call, Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from holdfast.index.facts.walk import SymbolDraft, Walk

_KINDS = frozenset({"function", "method", "class"})
_BETWEEN_NAMES = re.compile(r"[^\w$]+")
_NAMED = re.compile(r"(?:([A-Za-z_]\w*)\s*[=:]\s*)?((?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$][\w$]*)\Z")


def nameable(symbols: Iterable[SymbolDraft], imports: Iterable[Import]) -> set[str]:
    """The names by which a file can pass a function or a class."""
    known = {symbol.name for symbol in symbols if symbol.kind in _KINDS}
    known.update(item.alias for item in imports if item.alias)
    return known


def names_passed(arguments: str, known: set[str]) -> tuple[str, ...]:
    """The arguments that are one of the known names, each as `keyword=name` or `place=name`."""
    if known.isdisjoint(_BETWEEN_NAMES.split(arguments)):
        return ()
    return tuple(
        f"{key or place}={name}"
        for place, (key, name) in enumerate(map(_argument, _split(arguments)))
        if name and name.rpartition(".")[2] in known
    )


def values_passed(
    walk: Walk,
    arguments: str,
    known: set[str],
    local: Callable[[int, str], bool],
    scope: int,
    span: tuple[int, int],
) -> tuple[str, ...]:
    """The arguments that may hold a function, a class or an instance of one of this file.

    Names, calls of known names, and lists and objects of known names.
    """
    found = []
    for place, text in enumerate(_split(arguments)):
        keyed = _KEYED.match(text)
        key, value = (keyed.group(1), text[keyed.end() :]) if keyed else (str(place), text)
        if value.startswith(("*", "...")):
            key = "**" if value.startswith("**") else f"{place}*"
            value = value.lstrip("*. ")
        read = _value(walk, value, known, lambda name: local(scope, name))
        container = read is None and value[:1] in ("[", "{", "(")
        if container and not known.isdisjoint(_BETWEEN_NAMES.split(value)):
            node = _argument_node(walk, span, place)
            read = expressions.read(walk, node) if node is not None else None
        if read and read != "?":
            found.append(f"{key}={read}")
    return tuple(found)


_KEYED = re.compile(r"([A-Za-z_]\w*)\s*=(?![=>])\s*")
_VALUE_MAX = 80


def _value(walk: Walk, text: str, known: set[str], local: Callable[[str], bool]) -> str | None:
    """A name, or a call of a known one, as an expression; None when it is neither."""
    if not text or len(text) > _VALUE_MAX or not (text[0].isalpha() or text[0] in "_$"):
        return None
    if chains.PLAIN.match(text):
        head, _, last = text.partition(".")
        named = last.rpartition(".")[2] or head
        return text if named in known or (not last and local(head)) else None
    if text[-1] == ")":
        chain = walk.chain(text)
        if chain.endswith("()") and chain.partition(".")[0].removesuffix("()") in known:
            return chain
    return None


def _argument_node(walk: Walk, span: tuple[int, int], place: int) -> Node | None:
    root = walk.tree.root_node if walk.tree is not None else None
    around = root.descendant_for_byte_range(*span) if root is not None else None
    if around is None or place >= around.named_child_count:
        return None
    given = [c for c in around.named_children if c.type != "comment"]
    node = given[place] if place < len(given) else None
    if node is not None and node.type == "keyword_argument":
        return node.child_by_field_name("value")
    if node is not None and node.type in ("list_splat", "dictionary_splat", "spread_element"):
        return node.named_child(0) if node.named_child_count else None
    return node


def with_passed(call: Call, passed: tuple[str, ...]) -> Call:
    return Call(
        call.caller, call.name, call.receiver, call.kind, call.line, call.start, call.arity, passed
    )


def _argument(text: str) -> tuple[str, str]:
    """The keyword and the name in an argument that is a name; empty when it is not."""
    found = _NAMED.match(text)
    return (found.group(1) or "", found.group(2)) if found else ("", "")


def _split(text: str) -> list[str]:
    """The arguments of a call, split at the commas that no bracket or quote encloses."""
    parts, depth, start, quote = [], 0, 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return parts
