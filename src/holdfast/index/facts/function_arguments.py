"""Functions passed as arguments of a call: `map(total, carts)`, `Timer(callback=self.tick)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Protocol

from holdfast.index.facts import chains
from holdfast.index.facts.model import Call, Import, Kind

_KINDS = frozenset({"function", "method", "class"})
_BETWEEN_NAMES = re.compile(r"[^\w$]+")
_FUNCTION = re.compile(r"(?:async\s+)?function\s*\*?\s+([A-Za-z_$][\w$]*)\s*\(")
"""A function of a script that is written where it is passed, with a name."""
_NAMED = re.compile(r"(?:([A-Za-z_]\w*)\s*[=:]\s*)?((?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$][\w$]*)\Z")


class _Named(Protocol):
    name: str
    kind: Kind


def nameable(symbols: Iterable[_Named], imports: Iterable[Import]) -> set[str]:
    """The names by which a file can pass a function or a class."""
    known = {symbol.name for symbol in symbols if symbol.kind in _KINDS}
    known.update(item.alias for item in imports if item.alias)
    return known


CALLBACKS = frozenset({
    "map", "filter", "forEach", "sort", "sorted", "reduce", "some", "every", "find", "then",
    "setTimeout", "flatMap", "submit", "max", "min",
})  # fmt: skip
"""Functions of the platform that call what is passed to them."""


def names_passed(
    arguments: str, parameters: set[str], call: Call, local: Callable[[int, str], bool]
) -> tuple[str, ...]:
    """The arguments that are one of the known names, each as `keyword=name` or `position=name`.

    What calls a function that is passed to it may be given one by a variable: `xs.forEach(visit)`.
    """
    calls_back = call.name in CALLBACKS
    if not calls_back and parameters.isdisjoint(_BETWEEN_NAMES.split(arguments)):
        return ()
    return tuple(
        f"{key or place}={name}"
        for place, (key, name) in enumerate(map(_argument, _split(arguments)))
        if name
        and (
            name.rpartition(".")[2] in parameters
            or (calls_back and "." not in name and local(call.caller, name))
        )
    )


def values_passed(
    arguments: str,
    parameters: set[str],
    local: Callable[[str], bool],
    chain: Callable[[str], str],
    read: Callable[[int], str],
) -> tuple[str, ...]:
    """The arguments that may hold a function or class of this file, or an instance of one.

    These are names, calls of known names (`chain`), and lists and objects of known names; `read`
    returns the expression of the argument at a position.
    """
    found = []
    for place, text in enumerate(_split(arguments)):
        keyed = _KEYED.match(text)
        key, value = (keyed.group(1), text[keyed.end() :]) if keyed else (str(place), text)
        if value.startswith(("*", "...")):
            key = "**" if value.startswith("**") else f"{place}*"
            value = value.lstrip("*. ")
        expression = _value(value, parameters, local, chain)
        if expression in ("partial()", "functools.partial()"):
            expression = read(place)  # what it calls
        container = expression is None and (value[:1] in "[{(" or _REWRITTEN.match(value))
        if container:
            names = _BETWEEN_NAMES.split(value)[:NAMES_MAX]
            if not parameters.isdisjoint(names) or any(n and local(n) for n in names):
                expression = read(place)
        if expression and expression != "?":
            found.append(f"{key}={expression}")
    return tuple(found)


NAMES_MAX = 24
"""How many names of a list or an object are looked at."""
_REWRITTEN = re.compile(r"(?:list|tuple|set|iter|sorted|reversed|deque|map|filter|zip|dict)\(")
"""Functions of the platform that give what they are given."""
_KEYED = re.compile(r"([A-Za-z_]\w*)\s*=(?![=>])\s*")
_VALUE_MAX = 80
_BOUND = re.compile(r"([\w$.]+)\.bind\([\w$.]+\)")
"""A method with its object, as it is passed in scripts: `this.pay.bind(this)`."""


def _value(
    text: str, parameters: set[str], local: Callable[[str], bool], chain: Callable[[str], str]
) -> str | None:
    """A name, or a call of a known name, as an expression; None when it is neither."""
    if text.startswith(("function", "async")) and (written := _FUNCTION.match(text)):
        return written.group(1)
    if not text or len(text) > _VALUE_MAX or not (text[0].isalpha() or text[0] in "_$"):
        return None
    if text.endswith(")") and (bound := _BOUND.fullmatch(text)):
        text = bound.group(1)
    if chains.PLAIN.match(text):
        head, _, last = text.partition(".")
        named = last.rpartition(".")[2] or head
        own = not last and (head == "this" or local(head))
        return text if own or named in parameters else None
    if text[-1] == ")":
        path = chain(text)
        if path.endswith("()") and path.partition(".")[0].removesuffix("()") in parameters:
            return path
    return None


def with_passed(call: Call, passed: tuple[str, ...]) -> Call:
    return Call(
        call.caller, call.name, call.receiver, call.kind, call.line, call.start, call.arity, passed
    )


def _argument(text: str) -> tuple[str, str]:
    """The keyword and the name, if the argument is a name; otherwise empty."""
    if written := _FUNCTION.match(text):
        return "", written.group(1)
    found = _NAMED.match(text)
    return (found.group(1) or "", found.group(2)) if found else ("", "")


_NESTING = re.compile(r"[\"'`()\[\]{}]")
_MARKS = re.compile(r"[\"'`()\[\]{},]")


def _split(text: str) -> list[str]:
    """The arguments of a call, split at commas outside brackets and quotes."""
    if _NESTING.search(text) is None:
        return list(map(str.strip, text.split(",")))
    parts, depth, start, quote = [], 0, 0, ""
    for mark in _MARKS.finditer(text):
        char = mark.group()
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif not depth:
            at = mark.start()
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return parts
