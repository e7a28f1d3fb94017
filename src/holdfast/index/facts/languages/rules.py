"""Rules that many languages share, and helpers for writing rules."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.index.facts import chains, expressions
from holdfast.index.facts.expression_text import KEY
from holdfast.index.facts.model import (
    ANY_TIME,
    MODULE,
    MOVED,
    SAME_SCOPE,
    VALUE,
    Call,
    CallKind,
    InheritanceKind,
    Kind,
)
from holdfast.index.facts.walk import CONTAINERS, Rule, Walk

if TYPE_CHECKING:
    import tree_sitter


def definition(
    kind: Kind,
    *,
    name: str = "name",
    body: str = "body",
    member: Kind | None = None,
    defined: bool = True,
    after: Callable[[Walk, tree_sitter.Node, int], None] | None = None,
) -> Rule:
    """A rule for a node with a name and an optional body. `member` is its kind inside a class."""

    def rule(walk: Walk, node: tree_sitter.Node) -> None:
        named = node.child_by_field_name(name)
        if named is None:
            return
        block = node.child_by_field_name(body)
        chosen = member if member and walk.inside() in CONTAINERS else kind
        index = walk.define(
            node,
            walk.text(named, 120),
            chosen,
            signature_end=block.start_byte if block else None,
            defined=defined,
        )
        if after and index != MODULE:
            after(walk, node, index)

    return rule


def calling(arguments: str = "arguments", kind: CallKind = "") -> Rule:
    """A rule for a call whose callee is the text before its arguments."""

    def rule(walk: Walk, node: tree_sitter.Node) -> None:
        # By far the most frequent rule, so it is optimised: few calls, and a cache.
        argument_list = node.child_by_field_name(arguments)
        start = node.start_byte
        if argument_list is None:
            walk.call(node, walk.text(node, chains.LONGEST), kind)
            return
        end = argument_list.start_byte
        # Only the last name of a long chain matters.
        raw = (
            walk.source[start:end]
            if end - start <= chains.LONGEST
            else (b"\0" + walk.source[end - chains.LONGEST : end])
        )
        known = walk.callees.get(raw)
        if known is None:
            known = walk.read_callee(raw)
            if walk.language.values and (
                known[0] == "?" or b"](" in raw or _REWRITTEN.search(known[0])
            ):
                known = callee_value(walk, node, known)
                if _OF_FILE.search(raw):
                    del walk.callees[raw]  # it depends on the rest of the file
                else:
                    walk.callees[raw] = known
        if known[1]:
            scopes = walk.scopes
            caller = scopes[-1].symbol if scopes else MODULE
            count = argument_list.named_child_count
            if count:
                last = argument_list.end_byte - 1
                if last - end < PASSED_BYTES_MAX:
                    walk.passing.append((len(walk.calls), end + 1, last))
            walk.calls.append(Call(caller, known[1], known[0], kind, walk.line, start, count))

    return rule


PASSED_BYTES_MAX = 120
"""Longer arguments are not searched for names of functions."""
_REWRITTEN = re.compile(
    r"(?<!\w)(?:next|anext|cast|iter|reversed|sorted|list|require|getattr|import_module|__import__|"
    r"dict|type|max|min|copy|deepcopy|super)\(\)|\.(?:get|pop|setdefault|enter_context|map)\(\)"
)
_OF_FILE = re.compile(rb"\.\s*(?:get|pop|setdefault)\s*\(|super\s*\(\s*\w|\[")


def callee_value(walk: Walk, node: tree_sitter.Node, value: tuple[str, str]) -> tuple[str, str]:
    """The receiver and the name of a callee that is not a chain of names."""
    function = node.child_by_field_name("function")
    if function is None:
        return value
    name = function.child_by_field_name("attribute") or function.child_by_field_name("property")
    if name is not None:
        owner = function.child_by_field_name("object")
        return (expressions.read(walk, owner) if owner else "?", walk.text(name, 100))
    if function.type in ("identifier", "super", "import"):
        return value
    return expressions.read(walk, function), VALUE


_BRACKET = re.compile(r"[(\[{<>}\])]")


def split_list(text: str, holes: bool = False) -> list[str]:
    """The parts of a list, split at commas outside brackets; empty ones only if there are holes."""
    if not _BRACKET.search(text):
        return [part for part in map(str.strip, text.split(",")) if part or holes]
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and text[i - 1 : i] not in ("-", "=")):
            depth -= 1
        elif char == "," and depth <= 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part or holes]


_HERITAGE = re.compile(r"\b(extends|implements|with)\b")


def heritage(walk: Walk, index: int, text: str, line: int) -> None:
    """Parse `extends A implements B, C` and record what the symbol inherits."""
    pieces = _HERITAGE.split(_without_arguments(text))
    kinds: dict[str, InheritanceKind] = {"implements": "implements", "with": "mixes in"}
    child = walk.symbols[index].qualified
    for word, bases in zip(pieces[1::2], pieces[2::2], strict=True):
        for base in split_list(bases.split("{")[0]):
            walk.inherit(child, base, kinds.get(word, "extends"), line)


def _without_arguments(text: str) -> str:
    """A heritage clause without type arguments, which may contain unions and bases."""
    if "<" not in text:
        return text
    kept, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char == "<":
            if not depth:
                kept.append(text[start:i])
            depth += 1
        elif char == ">" and depth and text[i - 1] not in "-=":
            depth -= 1
            start = i + 1
    if not depth:
        kept.append(text[start:])
    return "".join(kept)


def wrapping(walk: Walk, node: tree_sitter.Node) -> None:
    """A rule for a node around a definition, such as decorators or `export`."""
    if walk.wrapper is None or walk.wrapper[1] < node.end_byte:
        walk.wrapper = (node.start_byte, node.end_byte, node.start_point[0] + 1)


NEAR = 200
"""How many symbols are searched for a variable of the module."""
FAR = 20_000
"""How much of a function is searched for a declaration."""
CLIMBED_MAX = 8
"""How many functions around a name are searched for its declaration."""
PLACES_MAX = 200
"""How many places of a name in one function are looked at."""
DECLARED = sys.maxsize
_NEW_LINE = 10
DECLARED_BEFORE = 200
"""How far before a name `const`, `let` or `var` is searched for."""
_DECLARED = re.compile(rb"\b(?:const|let|var)\s+\Z")
_ASSIGNED = re.compile(rb"\s*(?::[^=\n]+)?=[^=]")
_WORD_ENDS = re.compile(rb".\b", re.DOTALL)
_NESTED = re.compile(r"([\w$.#]+)(?:\[(?:[\"'](\w+)[\"']|[^\[\]]*)\]|\.setdefault\(\)|\.get\(\))")


def home(walk: Walk, node: tree_sitter.Node, name: str) -> int:
    """The scope of a container: the function that declares it, or the module.

    After `CLIMBED_MAX` functions without a declaration it is the function around the node.
    """
    word = name.encode()
    scope = walk.symbol()
    for _ in range(CLIMBED_MAX):
        if scope == MODULE:
            break
        symbol = walk.symbols[scope]
        given = symbol.signature.partition("(")[2]
        if name in given and re.search(rf"\b{re.escape(name)}\b", given):
            return scope
        end, seen = min(node.start_byte, symbol.start + FAR), walk.searched.get((scope, name), 0)
        found = _declares(walk.source, word, symbol.start, end, max(symbol.start, seen))
        walk.searched[scope, name] = found
        if found == DECLARED:
            return scope
        scope = symbol.parent
    if scope != MODULE:
        return walk.symbol()
    known = any(s.name == name and s.parent == MODULE for s in walk.symbols[:NEAR])
    return MODULE if known else walk.symbol()


def _declares(source: bytes, word: bytes, start: int, end: int, seen: int) -> int:
    """`DECLARED` if a name is declared, or assigned at the beginning of a line, in a part of the
    source; otherwise up to where it was searched for. Up to `seen` it was searched for before.

    The places of the name are found first: a pattern for every name would have to be compiled.
    """
    if seen == DECLARED:
        return DECLARED
    at = source.find(word, seen, end)
    for _ in range(PLACES_MAX):
        if at < 0:
            return max(seen, end - len(word) + 1)
        after = at + len(word)
        line = max(start, source.rfind(b"\n", max(start, at - DECLARED_BEFORE), at) + 1)
        begins = line == 0 or source[line - 1] == _NEW_LINE
        if begins and not source[line:at].strip(b" \t") and _ASSIGNED.match(source, after, end):
            return DECLARED
        before = source[max(start, at - DECLARED_BEFORE) : at]
        if _DECLARED.search(before) and _WORD_ENDS.match(source, after - 1, end):
            return DECLARED
        at = source.find(word, at + 1, end)
    return at if at >= 0 else max(seen, end - len(word) + 1)


def _constructor_of(walk: Walk) -> int:
    """The function whose prototype has the method around this place; MODULE if there is none."""
    at = walk.symbol()
    owner = walk.symbols[at].qualified.rpartition(".")[0] if at != MODULE else ""
    for index in range(min(len(walk.symbols), NEAR) - 1, -1, -1) if owner else ():
        if walk.symbols[index].qualified == owner and walk.symbols[index].kind == "function":
            return index
    return MODULE


def constant_string(walk: Walk, left: tree_sitter.Node, value: tree_sitter.Node | None) -> None:
    """Remember a constant of the module that is a string: it may be a key.

    Only if the file writes its name once, and otherwise only reads it.
    """
    if walk.scopes or value is None or value.type != "string":
        return
    name = walk.text(left, 60)
    text = walk.text(value, 60).strip("\"'")
    if name.isupper() and KEY.match(text) and name in walk.constants:
        walk.strings[name] = text


def grow(walk: Walk, node: tree_sitter.Node, owner: str, key: str, value: str) -> None:
    """Record an element added to a container: `+` for appended, else by its key."""
    if nested := _NESTED.fullmatch(owner):  # `table[name].append(f)`
        owner, text = nested.group(1), f"{key or '?'}:{value}".replace("'", "")
        value = f"[{value}]" if key == "+" else f"{{{text}}}"
        key = f"'{nested.group(2)}'" if nested.group(2) else ""
    moved = key == MOVED
    if not chains.PLAIN.match(owner.replace(".#", ".")) or ("?" in value and not moved):
        return
    head, _, name = owner.rpartition(".")
    scope = walk.enclosing_class()
    if not head:
        at = home(walk, node, owner)
        here = at == walk.symbol()
        inside = SAME_SCOPE if here else walk.symbol()
        last = 0 if here and not moved else ANY_TIME
        named = f"{owner}[{key}]"
        walk.bind(node, named, expression=value, scope=at, inside=inside, last=last)
        return
    if scope == MODULE and head == "this":
        scope = _constructor_of(walk)
    if scope != MODULE and head in ("self", "cls", "this", walk.symbols[scope].name):
        inside = walk.symbol()
        named = f"{name}[{key}]"
        last = ANY_TIME if moved else 0
        walk.bind(
            node, named, expression=value, kind="field", scope=scope, inside=inside, last=last
        )


def moved(walk: Walk, node: tree_sitter.Node, owner: str) -> None:
    """Record that the elements of a container are moved or replaced, if its literal is near."""
    name = owner.rpartition(".")[2]
    if any(b.name == name and b.value[:1] in _WHOLE for b in walk.bindings[-NEAR:]):
        grow(walk, node, owner, MOVED, "?")


_WHOLE = frozenset("[{")


def unknown_member(walk: Walk, node: tree_sitter.Node, owner: str, name: str) -> None:
    """Record that a member of a class or an object of this file is deleted or replaced."""
    first = max(0, len(walk.symbols) - NEAR)
    for index in range(len(walk.symbols) - 1, first - 1, -1):
        symbol = walk.symbols[index]
        if symbol.qualified == owner and symbol.kind in CONTAINERS:
            inside = walk.symbol()
            walk.bind(
                node, name, expression="?", kind="field", scope=index, inside=inside, last=ANY_TIME
            )
            return
