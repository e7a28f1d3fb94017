"""Blank parts of a shell script that cannot be parsed.

One unusual expansion can make the parser fail on everything after it. But functions in scripts
start and end on separate lines, so a script can be parsed piece by piece: a piece that does not
parse on its own is replaced by spaces, so offsets stay the same. A function with a blanked body is
still a symbol; only its calls are lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_OPENS = re.compile(
    # Possessive, so that it cannot backtrack.
    rb"([ \t]*+)(?:function[ \t]++[\w:.+-]++(?:[ \t]*+\([ \t]*+\))?+|[\w:.+-]++[ \t]*+\([ \t]*+\))"
    rb"[ \t]*+([{(])?+[ \t]*+(?:#.*+)?\r?\n?\Z"
)
_BRACE = re.compile(rb"[ \t]*+([{(])[ \t]*+(?:#.*+)?\r?\n?\Z")
_AFTER = (b" ", b"\t", b";", b"&", b"|", b"<", b">", b"#")
"""What may follow the brace that closes a function."""
PIECES_MAX = 2_000


def repaired(source: bytes, fits: Callable[[bytes], bool]) -> bytes:
    """The source with pieces blanked where they do not parse; same length."""
    lines = source.splitlines(keepends=True)
    out = []
    for number, (first, body, last) in enumerate(_pieces(lines)):
        piece = b"".join(lines[first:last])
        if number >= PIECES_MAX or fits(piece):
            out.append(piece)
        elif body is None:
            out.append(_blank(piece))
        else:
            out += lines[first:body]
            out.append(_blank(b"".join(lines[body : last - 1]), b":"))
            out.append(lines[last - 1])
    return b"".join(out)


def _pieces(lines: list[bytes]) -> Iterator[tuple[int, int | None, int]]:
    """The functions, with the first line of their bodies, and the text between them."""
    at = between = 0
    endless: set[bytes] = set()
    while at < len(lines):
        found = _function(lines, at, endless)
        if found is None:
            at += 1
            continue
        if between < at:
            yield between, None, at
        yield at, *found
        at = between = found[1]
    if between < at:
        yield between, None, at


def _function(lines: list[bytes], at: int, endless: set[bytes]) -> tuple[int, int] | None:
    """The first line of the body and the line after the closing brace, if a function starts here.

    `endless` collects end markers that do not occur any more, so that each is searched for once.
    """
    opens = _OPENS.match(lines[at])
    if opens is None:
        return None
    body, brace = at + 1, opens.group(2)
    if brace is None:
        below = _BRACE.match(lines[body]) if body < len(lines) else None
        if below is None:
            return None
        body, brace = body + 1, below.group(1)
    end: bytes = opens.group(1) + (b"}" if brace == b"{" else b")")
    if end in endless:
        return None
    for line in range(body, len(lines)):
        rest = lines[line].removeprefix(end)
        if rest is not lines[line] and (not rest.strip() or rest[:1] in _AFTER):
            return (body, line + 1) if line > body else None
    endless.add(end)
    return None


def _blank(text: bytes, first: bytes = b"") -> bytes:
    """The text replaced by spaces, except line breaks; starts with `first` if it fits."""
    blank = re.sub(rb"[^\r\n]", b" ", text)
    return blank.replace(b" ", first, 1) if first else blank
