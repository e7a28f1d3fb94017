"""Links from memory to code, and whether the code has changed since. Connects store and index.

A note about code can record which code it saw. Anywhere in a document, the member `code` is such a
link if it is an object with a path; the object that contains it may have other members:

    {"text": "…", "code": {"path": "src/cart.py", "symbol": "Cart.total", "sha256": "…"}}

`sha256` is the digest of the symbol's lines, or of the whole file if no symbol is named. `root` may
be omitted; then the tree of the request is used. A link is *drifted* if the bytes have changed,
*missing* if the file or symbol does not exist, and *unverified* if it has no digest: a link is
never called current without one. A link may state its `format` (default 1). A link of a later
format is unverified, because its digest may mean something else.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.errors import UsageError
from holdfast.files.regular import read_regular

LINK_FORMAT = 1
"""The format that is written, and the newest that can be read.

1: path, symbol, sha256, root; the format itself is left out. Since November 2026 also beside other
   members of its object; before, such a link was data.
"""

Read = Callable[[str, str | None], bytes | None]
"""Returns the bytes of a path below a root, or None; a root of None is that of the request."""

State = Literal["current", "drifted", "missing", "unverified"]

DEPTH_MAX = 100
SOURCE_BYTES_MAX = 64 << 20
"""A larger file counts as missing."""


@dataclass(frozen=True, slots=True)
class CodeLink:
    """Some code, and the digest it had when the document was written."""

    path: str
    symbol: str | None = None
    sha256: str | None = None
    root: str | None = None
    format: int = LINK_FORMAT

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "path": self.path,
            "symbol": self.symbol,
            "sha256": self.sha256,
            "root": self.root,
            "format": None if self.format == 1 else self.format,
        }
        return {"code": {name: value for name, value in wire.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class Judged:
    """A link and the state of its code. `lines` is where the code is now, if it exists."""

    link: CodeLink
    state: State
    why: str
    lines: tuple[int, int] | None = None
    sha256: str | None = None
    """The digest of the code as it is now."""


def links_in(value: Any, depth: int = 0) -> Iterator[tuple[tuple[str, ...], CodeLink]]:
    """Every link in a document, with the path to the object that has it as its `code`."""
    if depth > DEPTH_MAX:
        return
    if isinstance(value, Mapping):
        link = _link(value)
        if link is not None:
            yield (), link
        members: Any = (item for item in value.items() if link is None or item[0] != "code")
    elif isinstance(value, list | tuple):
        members = ((str(at), item) for at, item in enumerate(value))
    else:
        return
    for name, member in members:
        for path, link in links_in(member, depth + 1):
            yield (name, *path), link


def _link(value: Mapping[str, Any]) -> CodeLink | None:
    code = value.get("code")
    if not isinstance(code, Mapping) or not isinstance(code.get("path"), str):
        return None
    rest = {name: code.get(name) for name in ("symbol", "sha256", "root")}
    if any(part is not None and not isinstance(part, str) for part in rest.values()):
        return None
    format = code.get("format", 1)
    if not isinstance(format, int) or isinstance(format, bool) or format < 1:
        return None
    return CodeLink(code["path"], **rest, format=format)


def judge(link: CodeLink, read: Read) -> Judged:
    """The state of a link. `read` returns the bytes of a path below a root, or None."""
    if link.format > LINK_FORMAT:
        why = f"the link has format {link.format}; this version reads up to {LINK_FORMAT}"
        return Judged(link, "unverified", why)
    source = read(link.path, link.root)
    if source is None:
        return Judged(link, "missing", "there is no such file")
    part = _part(link, source)
    if part is None:
        return Judged(link, "missing", f"the file has no {link.symbol}")
    text, lines = part
    now = hashlib.sha256(text).hexdigest()
    if link.sha256 is None:
        return Judged(link, "unverified", "the link carries no digest", lines, now)
    if now == link.sha256.lower():
        return Judged(link, "current", "the code is as it was", lines, now)
    return Judged(link, "drifted", "the code has changed since", lines, now)


def _part(link: CodeLink, source: bytes) -> tuple[bytes, tuple[int, int]] | None:
    rows = source.split(b"\n")
    if link.symbol is None:
        return source, (1, len(rows))
    # Imported here: links to whole files need no parser.
    from holdfast.index.building.prepare import extract_facts
    from holdfast.index.facts.naming import symbols_named

    facts = extract_facts(link.path, source)
    named = symbols_named(facts, link.symbol)
    if len(named) != 1:
        return None  # with several symbols of that name the right one is unknown
    span = named[0].span
    return b"\n".join(rows[span.first_line - 1 : span.last_line]), (span.first_line, span.last_line)


def link_to(
    path: str, source: bytes, symbol: str | None = None, root: str | None = None
) -> CodeLink:
    """A link to code as it is now; raises KeyError when there is no such symbol."""
    part = _part(CodeLink(path, symbol), source)
    if part is None:
        raise KeyError(symbol)
    return CodeLink(path, symbol, hashlib.sha256(part[0]).hexdigest(), root)


def with_digests(value: Any, root: str | None, read: Read, depth: int = 0) -> Any:
    """The value, with the digest of its code in each link that has none.

    Raises `UsageError` for a link to code that does not exist. In a patch, the value of a path that
    ends in `/code` is a link too.
    """
    if depth > DEPTH_MAX:
        return value
    if isinstance(value, list | tuple):
        return [with_digests(one, root, read, depth + 1) for one in value]
    if not isinstance(value, Mapping):
        return value
    members = {
        name: member if name == "code" else with_digests(member, root, read, depth + 1)
        for name, member in value.items()
    }
    link = _link(value)
    if link is not None:
        members["code"] = _digested(link, root, read).to_wire()["code"]
    elif "code" in value:
        members["code"] = with_digests(value["code"], root, read, depth + 1)
    at, written = value.get("path"), value.get("value")
    if "op" in value and isinstance(at, str) and at.endswith("/code") and link is None:
        patched = _link({"code": written})
        if patched is not None:
            members["value"] = _digested(patched, root, read).to_wire()["code"]
    return members


def _digested(link: CodeLink, given_root: str | None, read: Read) -> CodeLink:
    root = link.root or given_root
    if link.sha256 is not None or root is None or link.format > LINK_FORMAT:
        return link
    path = os.path.relpath(link.path, root) if os.path.isabs(link.path) else link.path
    source = read(path, root)
    if source is None:
        hint = "name a file relative to that directory, or a symbol of it: FILE:SYMBOL"
        raise UsageError(f"there is no file {link.path} below {root} to link to", hint)
    try:
        return link_to(path, source, link.symbol, root)
    except KeyError:
        raise UsageError(
            f"{link.path} does not have exactly one symbol {link.symbol}",
            symbol_hint(path, source, link.symbol or ""),
        ) from None


def symbol_hint(path: str, source: bytes, spelling: str) -> str:
    """The symbols of a file that are spelled most like a name."""
    from difflib import get_close_matches

    from holdfast.index.building.prepare import extract_facts

    names = [symbol.qualified for symbol in extract_facts(path, source).symbols]
    ends = [name for name in names if name.rpartition(".")[2] == spelling.rpartition(".")[2]]
    near = ends or get_close_matches(spelling, names, 3, 0.5)
    return (
        f"did you mean {' or '.join(near[:3])}?"
        if near
        else f"the outline of {path} lists its symbols"
    )


def near_misses(value: Any, at: str = "", depth: int = 0) -> Iterator[str]:
    """Messages about members named `code` that look like links but are not, with a correction."""
    if depth > DEPTH_MAX:
        return
    if isinstance(value, list | tuple):
        for place, one in enumerate(value):
            yield from near_misses(one, f"{at}/{place}", depth + 1)
    if not isinstance(value, Mapping):
        return
    code = value.get("code")
    if "code" in value and _link(value) is None:
        path = None
        if isinstance(code, Mapping):
            path = next((code[n] for n in ("file", "filename") if isinstance(code.get(n), str)), "")
        elif isinstance(code, str) and _PATH.match(code):
            path = code.partition(":")[0]
        if path is not None:
            example = f'{{"code": {{"path": "{path or "src/a.py"}"}}}}'
            yield f"{at}/code is not a link to code; a link is {example}, with a symbol if you like"
    for name, member in value.items():
        yield from near_misses(member, f"{at}/{name}", depth + 1)


_PATH = re.compile(r"[\w.-]*(?:/[\w.-]+)*\.[A-Za-z]\w{0,8}(?::[\w.:#]+)?\Z")
"""A text that names a file, optionally with a symbol."""


def _read_regular(path: str) -> bytes | None:
    return read_regular(path, SOURCE_BYTES_MAX + 1)


def reader_below(
    root: str, read_file: Callable[[str], bytes | None] = _read_regular
) -> Callable[[str, str | None], bytes | None]:
    """A function that reads files only below a root; a link's own root must be the same.

    `read_file` reads a real path, and decides whether it may be read.
    """
    base = os.path.realpath(root)

    def read(path: str, named: str | None) -> bytes | None:
        if named is not None and os.path.realpath(named) != base:
            return None
        whole = os.path.realpath(os.path.join(base, path))
        if not whole.startswith(base.rstrip("/") + "/"):
            return None
        try:
            source = read_file(whole)
        except OSError:
            return None
        return None if source is None or len(source) > SOURCE_BYTES_MAX else source

    return read
