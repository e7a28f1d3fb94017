"""Blank branches of `#if` that cannot be parsed.

The grammar parses all branches of a condition one after the other, which works when each of them is
complete. But a branch may open a brace that is closed after `#endif`, or contain one of two heads
of the same function; then the parser fails on everything around it. Of such a condition only the
first branch is kept; the others and the directives are replaced by spaces, so offsets stay the
same. Conditions with complete branches are unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

_DIRECTIVE = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(.*)", re.DOTALL)
_OTHER = re.compile(rb"[ \t]*#")
_ASIDE = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL
)
_NEVER = re.compile(rb"[ \t]*(?:0|false)[ \t]*(?:/[/*].*)?\r?\n?\Z", re.DOTALL)
_NOT_BRACES = bytes(set(range(256)) - set(b"{}"))
_NOT_PARENTHESES = bytes(set(range(256)) - set(b"()"))


@dataclass(slots=True)
class _Condition:
    """An open `#if`: the lines of its directives, and the text of each branch so far."""

    starts: list[int]
    never: bool
    branches: list[bytearray] = field(default_factory=lambda: [bytearray()])


def repaired(source: bytes, fits: Callable[[bytes], bool]) -> bytes:
    """The source with only one branch of each condition that breaks the syntax; same length.

    Decided by the branches alone; `fits` is not used.
    """
    lines = source.splitlines(keepends=True)
    plain = _ASIDE.sub(_blanked, source).splitlines(keepends=True)
    out, around = list(lines), [bytearray()]
    opened: list[_Condition] = []
    runs_on = False
    for at, line in enumerate(plain):
        directive = None if runs_on else _DIRECTIVE.match(line)
        other = runs_on or (directive is None and _OTHER.match(line) is not None)
        runs_on = (other or directive is not None) and line.rstrip(b"\r\n").endswith(b"\\")
        if directive is None:
            if not other:
                around[-1] += line
            continue
        word = directive.group(1)
        if word.startswith(b"if"):
            never = word == b"if" and _NEVER.fullmatch(directive.group(2)) is not None
            opened.append(_Condition([at], never))
            around.append(opened[-1].branches[0])
        elif not opened:
            continue
        elif word != b"endif":
            condition = opened[-1]
            condition.starts.append(at)
            condition.branches.append(bytearray())
            around[-1] = condition.branches[-1]
        else:
            condition = opened.pop()
            around.pop()
            kept = 1 if condition.never and len(condition.branches) > 1 else 0
            if not all(map(_whole, condition.branches)):
                _keep_one(out, [*condition.starts, at], kept)
            around[-1] += condition.branches[kept]
    return b"".join(out)


def _whole(branch: bytearray) -> bool:
    """Whether a branch consists of complete statements and definitions."""
    code = bytes(branch).strip()
    if not code:
        return True
    if code[-1:] not in b";}" or code.startswith((b"{", b"}", b"else")):
        return False
    return _balanced(code, _NOT_BRACES, b"{") and _balanced(code, _NOT_PARENTHESES, b"(")


def _balanced(code: bytes, others: bytes, opens: bytes) -> bool:
    depth = 0
    for mark in code.translate(None, others):
        depth += 1 if mark == opens[0] else -1
        if depth < 0:
            return False
    return depth == 0


def _keep_one(out: list[bytes], starts: list[int], branch: int) -> None:
    """Blank the directives on these lines and every branch but one."""
    for number, (first, last) in enumerate(pairwise(starts)):
        out[first] = _blank(out[first])
        if number != branch:
            out[first + 1 : last] = [_blank(line) for line in out[first + 1 : last]]
    out[starts[-1]] = _blank(out[starts[-1]])


def _blanked(match: re.Match[bytes]) -> bytes:
    return _blank(match.group())


def _blank(text: bytes) -> bytes:
    """The text with everything but line breaks replaced by spaces."""
    return re.sub(rb"[^\r\n]", b" ", text)
