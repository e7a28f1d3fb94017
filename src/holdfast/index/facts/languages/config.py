"""Configuration files: the keys at the top level, and the tables of TOML and INI."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from holdfast.index.facts.languages.documents import add
from holdfast.index.facts.model import Problem
from holdfast.index.facts.walk import RawFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TOKEN = re.compile(
    # An unclosed string matches to the end, so that it is not searched again from every quote.
    rb'"(?:[^"\\\n]|\\.)*+"?|[{}\[\],:]|//[^\n]*|/\*.*?(?:\*/|\Z)|[^\s{}\[\],:"/]+',
    re.DOTALL,
)


class JsonMember(NamedTuple):
    """A member of an object or an array: its position, its key if it has one, and its value."""

    key: str
    start: int
    value_start: int
    end: int


def line_at(starts: list[int], position: int) -> int:
    """The number of the line that contains a byte."""
    return min(bisect_right(starts, position), max(1, len(starts) - 1))


def members(source: bytes, at: int) -> Iterator[JsonMember]:
    """The members of the JSON object or array that opens at or after `at`, one level deep."""
    depth = 0
    key, start, value_start, end = "", -1, -1, at
    expects_key = False
    for match in _TOKEN.finditer(source, at):
        token = match.group()
        first = token[:1]
        if first == b"/" and token[1:2] in (b"/", b"*"):
            continue
        if depth == 0:
            if token not in (b"{", b"["):
                return
            depth, expects_key = 1, token == b"{"
            continue
        if depth == 1 and token in (b",", b"}", b"]"):
            if value_start != -1:
                yield JsonMember(key, start, value_start, end)
            key, start, value_start = "", -1, -1
            if token != b",":
                return
            continue
        if depth == 1 and token == b":" and expects_key:
            continue
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        if depth == 1 or (depth == 2 and token in (b"{", b"[")):
            if start == -1:
                start = match.start()
                if expects_key:
                    key = token.decode("utf-8", "replace").strip("\"'")
                    continue
            if value_start == -1:
                value_start = match.start()
        end = match.end()
    if value_start != -1:
        yield JsonMember(key, start, value_start, end)


def _json(path: str, source: bytes, starts: list[int], problems: list[Problem]) -> RawFacts | None:
    found = RawFacts()
    for entry in members(source, 0):
        if entry.key:
            value = source[entry.start : min(entry.end, entry.start + 200)]
            add(
                found,
                starts,
                entry.key[:200],
                "key",
                (line_at(starts, entry.start), line_at(starts, entry.end - 1)),
                signature=" ".join(value.decode("utf-8", "replace").split()),
            )
            if entry.key == "name" and path.rpartition("/")[2] == "package.json":
                found.module = _string(source[entry.value_start : entry.end])
    return found


def _string(token: bytes) -> str:
    try:
        value = json.loads(token)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""


def _tables(
    header: re.Pattern[bytes], key: re.Pattern[bytes]
) -> Callable[[str, bytes, list[int], list[Problem]], RawFacts]:
    """A reader for `[table]` lines; the keys before the first table are symbols too."""

    def read(_path: str, source: bytes, starts: list[int], _problems: list[Problem]) -> RawFacts:
        found = RawFacts()
        marks: list[tuple[int, str, bytes]] = []
        within, quote = False, b""
        for line in range(1, len(starts)):
            text = source[starts[line - 1] : min(starts[line], starts[line - 1] + 400)]
            if quote:  # there are no keys inside a multi-line string
                quote = b"" if quote in text else quote
                continue
            match = header.match(text)
            if match:
                within = True
                marks.append((line, match.group(1).strip().decode("utf-8", "replace"), text))
            elif not within and (match := key.match(text)):
                marks.append((line, match.group(1).decode("utf-8", "replace").strip("\"'"), text))
            for mark in (b'"""', b"'''"):
                if text.count(mark) % 2:
                    quote = mark
        for index, (line, name, text) in enumerate(marks):
            last = marks[index + 1][0] - 1 if index + 1 < len(marks) else len(starts) - 1
            signature = text.decode("utf-8", "replace").strip()
            add(found, starts, name, "key", (line, last), signature=signature)
        return found

    return read


_toml = _tables(
    re.compile(rb"\s*\[\[?([^\]\n]+)\]\]?\s*(?:#.*)?\r?\n?\Z"),
    re.compile(rb"([\w.\"'-]+)\s*="),
)
_ini = _tables(re.compile(rb"\s*\[([^\]\n]+)\]"), re.compile(rb"([\w.\-]+)\s*[=:]"))
_YAML_KEY = re.compile(
    rb"""(?:"([^"\n]+)"|'([^'\n]+)'|([^\s#:\-?&*!|>'"%@`{}\[\],][^:\n]*?))\s*:(?:\s|$)"""
)


def _yaml(
    _path: str, source: bytes, starts: list[int], _problems: list[Problem]
) -> RawFacts | None:
    found = RawFacts()
    marks = []
    for line in range(1, len(starts)):
        text = source[starts[line - 1] : min(starts[line], starts[line - 1] + 400)]
        match = _YAML_KEY.match(text)
        if match:
            name = next(group for group in match.groups() if group is not None)
            marks.append((line, name.decode("utf-8", "replace"), text))
    for index, (line, name, text) in enumerate(marks):
        last = marks[index + 1][0] - 1 if index + 1 < len(marks) else len(starts) - 1
        signature = text.decode("utf-8", "replace").strip()
        add(found, starts, name, "key", (line, last), signature=signature)
    return found


def _gomod(
    _path: str, source: bytes, starts: list[int], _problems: list[Problem]
) -> RawFacts | None:
    found = RawFacts()
    match = re.search(rb"^module\s+\"?([^\s\"]+)", source, re.MULTILINE)
    if match:
        found.module = match.group(1).decode("utf-8", "replace")
        line = line_at(starts, match.start())
        add(found, starts, "module", "key", (line, line), signature=f"module {found.module}")
    return found


READERS = {"json": _json, "toml": _toml, "ini": _ini, "yaml": _yaml, "gomod": _gomod}
