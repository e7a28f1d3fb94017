"""Expressions of the facts, parsed into steps that are followed one after the other."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class Step(NamedTuple):
    """One step: what to do, and with what.

    name      a name, or a member of what came before
    call      call it
    item      an element: "" any, "*" by iteration, "next" the next of one, "with", a position, or
              `'key'`
    type      an instance of a type, as written; behind a name, type arguments, or with `=` the
              type that the result has to have
    list      a list; `parts` are its expressions
    map       an object or a dictionary; `parts` are keys and expressions in turn
    own       a function that an object literal defines
    module    a module by its name
    group     an expression in parentheses
    context   what a function passes to its callback: which argument ("f": it is a function type),
              which parameter of it; after "p", the type of its own parameter at that place
    """

    kind: str
    text: str = ""
    parts: tuple[str, ...] = ()


_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ENDS = frozenset(".([{<|,}])>^")


@lru_cache(maxsize=16_384)
def parse(text: str) -> tuple[tuple[Step, ...], ...]:
    """The alternatives of an expression, each as steps. Unknown alternatives are left out."""
    return tuple(steps for part in split(text, "|") if (steps := _steps(part)))


def split(text: str, sign: str) -> list[str]:
    """The parts of a text between `sign`, ignoring signs inside brackets and quotes."""
    if sign not in text:
        return [text]
    parts, start, at, size = [], 0, 0, len(text)
    while at < size:
        char = text[at]
        if char in _CLOSERS or char == "'":
            at = _after(text, at)
            continue
        if char == sign:
            parts.append(text[start:at])
            start = at + 1
        at += 1
    parts.append(text[start:])
    return parts


def _after(text: str, at: int) -> int:
    """The position after the closing bracket or quote of the one that opens at `at`."""
    if text[at] == "'":
        end = text.find("'", at + 1)
        return end + 1 if end != -1 else len(text)
    opener, closer, depth = text[at], _CLOSERS[text[at]], 0
    for i in range(at, len(text)):
        if text[i] == opener:
            depth += 1
        elif text[i] == closer:
            depth -= 1
            if not depth:
                return i + 1
    return len(text)


def _steps(text: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    at, size = 0, len(text)
    while at < size:
        char = text[at]
        if char == "?":
            return ()
        if char in _CLOSERS:
            end = _after(text, at)
            inner = text[at + 1 : end - 1]
            steps.append(_bracket(char, inner, first=not steps))
            at = end
        elif char == "^":
            end = at + 1
            while end < size and (text[end].isdecimal() or text[end] in "^fp"):
                end += 1
            steps.append(Step("context", text[at + 1 : end]))
            at = end
        elif char == "'":
            end = _after(text, at)
            steps.append(Step("module", text[at + 1 : end - 1]))
            at = end
        else:
            own = char == "." and not steps
            at += char == "."
            end = at
            while end < size and text[end] not in _ENDS:
                end += 1
            if end == at:
                return ()
            steps.append(Step("own" if own else "name", text[at:end]))
            at = end
    return tuple(steps)


def _bracket(char: str, inner: str, *, first: bool) -> Step:
    if char == "<":
        return Step("type", inner)
    if char == "{":
        pairs = [part.partition(":")[::2] for part in split(inner, ",")]
        return Step("map", f"{{{inner}}}", tuple(each for pair in pairs for each in pair))
    if char == "(":
        return Step("group", inner) if first else Step("call")
    if first:
        return Step("list", f"[{inner}]", tuple(split(inner, ",")))
    return Step("item", inner)


def names(text: str) -> tuple[str, ...]:
    """The names in an expression by which its value can be reached: `f` in `[f,g.h]`.

    Most expressions are simple, or lists of simple ones, and are not parsed.
    """
    text = text.lstrip("*")  # a spread value
    if text.isidentifier():
        return (text,)
    return _names_in(text)


@lru_cache(maxsize=16_384)
def _names_in(text: str) -> tuple[str, ...]:
    if _is_flat(text) is None or "'" in text or _gives_elements(text):
        return _names(text)
    leaves = [name + VALUE_OF if behind else name for name, behind in _leaves(text)]
    return tuple(leaves) if len(leaves) <= NAMES_MAX else _names(text)


NAMES_MAX = 64
"""The approximate maximum of names found in one expression."""
_LEAF = r"(?:\w+(?:\(\))?\.)*\w+(?:\(\)|\[(?:\w*|\*|'\w*')\])*"
_LEAVES = rf"{_LEAF}(?:\|{_LEAF})*"
"""`a.b()[*]|c`: the last name of each, or what it returns or holds."""
_is_flat = re.compile(
    rf"{_LEAVES}|\[{_LEAVES}(?:,{_LEAVES})*\]|\{{\w+:{_LEAVES}(?:,\w+:{_LEAVES})*\}}"
).fullmatch
_leaves = re.compile(
    r"(?:\w+(?:\(\))?\.)*(\w+)((?:\(\)|(?<=[\w)\]])\[(?:\w*|\*|'\w*')\])*)"
).findall


_ELEMENTS = frozenset({
    "values", "items", "get", "pop", "setdefault", "copy", "shift", "at", "find", "popleft",
    "forEach", "map", "filter", "some", "every", "flatMap", "reduce", "sort", "slice", "concat",
    "reduceRight", "entries", "findLast", "toSorted",
})  # fmt: skip
"""Methods of containers that return their elements."""
_gives_elements = re.compile(rf"\.(?:{'|'.join(sorted(_ELEMENTS))})\b").search


@lru_cache(maxsize=16_384)
def _names(text: str) -> tuple[str, ...]:
    found: list[str] = []
    work = [text.lstrip("*")]
    while work and len(found) < NAMES_MAX:
        for steps in parse(work.pop()):
            last = steps[-1]
            inner = [p for s in steps for p in ((s.text,) if s.kind == "group" else s.parts)]
            work.extend(part.lstrip("*") for part in inner if part and part not in ("?", "*"))
            if last.kind in ("name", "own"):
                found.append(last.text)
            elif last.kind in ("call", "item", "context"):
                heads = [s.text for s in steps if s.kind == "name"]
                if heads:
                    found.append(heads[-1] + VALUE_OF)
                if len(heads) > 1 and heads[-1] in _ELEMENTS:  # of the container
                    found.append(heads[-2] + VALUE_OF)
                if last.kind == "item" and last.text[:1] == "'":
                    found.append(last.text.strip("'"))
    return tuple(found)


VALUE_OF = "()"
"""After a name: what it returns or holds."""
