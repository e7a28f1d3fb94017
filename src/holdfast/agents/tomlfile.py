"""Adds and removes one table of a TOML file and leaves every other byte as it is.

Our table is a block of lines at the end of the file, so it can be removed as a block. The file ends
as it did before, with or without a newline: this tells a removal whether the newline before the
block was ours. The result of an edit is parsed and compared with the expected values; if they
differ, the file is left alone.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from holdfast.agents.errors import BadSettingsFile

_HEADER = re.compile(r"\s*\[\[?\s*(?P<name>[^\[\]]+?)\s*\]\]?\s*(?:#.*)?\Z")
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def loads(text: str, name: str = "settings") -> dict[str, Any]:
    """The values of a text."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number with thousands of digits
        raise BadSettingsFile(name, str(error)) from error


def put_table(
    text: str, path: tuple[str, ...], values: Mapping[str, Any], name: str = "settings"
) -> str:
    """The text with this table added at its end; an existing table of this path is replaced."""
    before = loads(text, name)
    if _at(before, path) == dict(values):
        return text
    rest = remove_table(text, path, name)
    newline = "\r\n" if "\r\n" in rest else "\n"
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in values.items()]
    block = newline.join(lines)
    if not rest:
        after = block + newline
    elif rest.endswith("\n"):
        after = rest + newline + block + newline
    else:
        after = rest + newline + newline + block
    _check(before, after, path, dict(values), name)
    return after


def remove_table(text: str, path: tuple[str, ...], name: str = "settings") -> str:
    """The text without the table at this path and the tables below it."""
    before = loads(text, name)
    if _at(before, path) is None:
        return text
    lines: list[str] = []
    dropping, last = False, ""
    for line, header in _lines(text):
        if header is not None:
            starts = header[: len(path)] == path
            if starts and not dropping and lines and not lines[-1].strip():
                # Also remove the blank line that separated the block.
                lines.pop()
            elif dropping and not starts and not last.strip():
                lines.append(last)
            dropping = starts
        if not dropping:
            lines.append(line)
        last = line
    after = "".join(lines)
    if dropping and not last.endswith("\n"):
        after = after.removesuffix("\n").removesuffix("\r")
    _check(before, after, path, None, name)
    return after


def _check(
    before: dict[str, Any], after: str, path: tuple[str, ...], value: Any, name: str
) -> None:
    """Check that the new text has the old values except at this path."""
    place = ".".join(path)
    try:
        table = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        raise BadSettingsFile(name, f"{place} is not a table of its own there") from None
    if _at(table, path) != value or _without(table, path) != _without(before, path):
        raise BadSettingsFile(name, f"{place} is not a table of its own there")


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return None
        values = values[key]
    return values


def _without(values: Any, path: tuple[str, ...]) -> Any:
    """The values without this path, and without tables that became empty."""
    if not isinstance(values, dict):
        return values
    out = dict(values)
    if len(path) == 1:
        out.pop(path[0], None)
    elif path[0] in out:
        inner = _without(out[path[0]], path[1:])
        if inner == {}:
            out.pop(path[0])
        else:
            out[path[0]] = inner
    return out


def _lines(text: str) -> list[tuple[str, tuple[str, ...] | None]]:
    """Each line with its newline and, if it opens a table, the table's path."""
    out: list[tuple[str, tuple[str, ...] | None]] = []
    quotes = ""
    # Only \n ends a line in TOML; `splitlines` would also split at other characters in a string.
    for line in re.findall(r"[^\n]*\n|[^\n]+\Z", text):
        header = None if quotes else _HEADER.match(line.rstrip("\r\n"))
        path = None
        if header is not None:
            try:
                path = _path(tomllib.loads(f"[{header['name']}]"))
            except tomllib.TOMLDecodeError:
                path = None
        out.append((line, path))
        quotes = _quotes_after(line, quotes)
    return out


def _path(values: dict[str, Any]) -> tuple[str, ...]:
    out = []
    while values:
        (key,) = values
        out.append(key)
        values = values[key]
    return tuple(out)


def _quotes_after(line: str, quotes: str) -> str:
    """Which kind of multi-line string is open at the end of a line."""
    at = 0
    while at < len(line):
        if quotes:
            end = line.find(quotes, at)
            if end < 0:
                return quotes
            at, quotes = end + 3, ""
        elif line[at] == "#":
            return ""
        elif line.startswith(('"""', "'''"), at):
            quotes = line[at : at + 3]
            at += 3
        elif line[at] in "\"'":
            at = _string_end(line, at)
        else:
            at += 1
    return quotes


def _string_end(line: str, at: int) -> int:
    quote = line[at]
    at += 1
    while at < len(line) and line[at] != quote:
        at += 2 if quote == '"' and line[at] == "\\" else 1
    return at + 1


def _key(key: str) -> str:
    return key if _BARE.match(key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    assert isinstance(value, list | tuple), "text, numbers, truth, lists and tables are written"
    return f"[{', '.join(map(_value, value))}]"
