"""Resolves the path that an agent typed.

The rules are the built-in read's: a leading `@` is removed and unusual spaces become plain ones,
`~` is expanded, absolute paths are kept as spelled, and four variants are tried for names that
macOS spells differently. A trailing `:N` or `:N-M` is a range, but only if the whole text does not
name a file and the part before the colon does.
"""

from __future__ import annotations

import contextlib
import math
import os
import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.reading.errors import BadArgument, BadRange

Exists = Callable[[str], bool]

_ODD_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_MERIDIEM = re.compile(r" (AM|PM)\.")
_SUFFIX = re.compile(r"([0-9]+)(?:-([0-9]+))?\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """Where paths are resolved: the working directory and the home directory."""

    cwd: str
    home: str

    def expand(self, typed: str) -> str:
        """The absolute path that `typed` spells, whether or not it exists."""
        if "\0" in typed:
            raise BadArgument("The path contains a null byte.")
        path = typed.removeprefix("@")
        if not path.isascii():
            path = _ODD_SPACES.sub(" ", path)
        if path == "~":
            path = self.home
        elif path.startswith("~/"):
            path = self.home + path[1:]
        if path.startswith("/"):
            return path
        return posixpath.normpath(posixpath.join(self.cwd, path))

    def resolve(self, typed: str, exists: Exists) -> tuple[str, bool]:
        """The path meant by `typed`, and whether it exists.

        The first variant that exists, else the plain one.
        """
        plain = self.expand(typed)
        if exists(plain):
            return plain, True
        variant = next((path for path in _variants(plain) if exists(path)), None)
        return (plain, False) if variant is None else (variant, True)


def _variants(path: str) -> Iterator[str]:
    """Spellings that macOS may have given the same name, in the order they are tried."""
    decomposed = unicodedata.normalize("NFD", path)
    yield _MERIDIEM.sub("\u202f\\1.", path)
    yield decomposed
    yield path.replace("'", "\u2019")
    yield decomposed.replace("'", "\u2019")


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asks to read, as typed."""

    path: str
    offset: float | None = None
    limit: float | None = None
    bypass_cache: bool = False
    focus: bool = False
    """Whether a whole first read of a long file is to be folded."""

    def __post_init__(self) -> None:
        for name, value in (("offset", self.offset), ("limit", self.limit)):
            if type(value) is not int and not (value is None or _is_finite(value)):
                raise BadArgument(f"{name} must be a finite number, not {value!r}")

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, object]) -> Request:
        """The request in a tool call's arguments; one error lists every fault.

        As in the built-in tool, numbers may be strings, unknown arguments are ignored, and null is
        the same as absent.
        """
        faults: list[str] = []
        path = arguments.get("path")
        if not isinstance(path, str):
            faults.append("path must be a string")
        offset = _number(arguments.get("offset"), "offset", faults)
        limit = _number(arguments.get("limit"), "limit", faults)
        bypass = arguments.get("bypass_cache")
        if bypass is not None and not isinstance(bypass, bool):
            faults.append("bypass_cache must be a boolean")
        focus = arguments.get("focus")
        if focus is not None and not isinstance(focus, bool):
            faults.append("focus must be a boolean")
        if faults:
            raise BadArgument("; ".join(faults))
        return cls(str(path), offset, limit, bypass_cache=bypass is True, focus=focus is True)


def _number(value: object, name: str, faults: list[str]) -> float | None:
    if value is None:
        return None
    if isinstance(value, str) and len(value) < 40:
        with contextlib.suppress(ValueError):
            value = float(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
    if type(value) is int or _is_finite(value):
        assert isinstance(value, int | float), "checked above"
        return value
    faults.append(f"{name} must be a number")
    return None


def _is_finite(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


class Target(NamedTuple):
    """A request after the range suffix was taken off and the path resolved."""

    typed: str
    """The path as the caller spelled it, without the suffix; diffs and notices show it."""
    path: str
    offset: float | None
    limit: float | None


def accessible(path: str) -> bool:
    """Whether the path exists; False for names that no file system allows."""
    try:
        return os.access(path, os.F_OK)
    except (OSError, ValueError):
        return False


def locate(request: Request, place: Place, exists: Exists = accessible) -> Target:
    """Resolve the path, and its `:range` suffix if it has one."""
    whole, is_there = place.resolve(request.path, exists)
    plain = Target(request.path, whole, request.offset, request.limit)
    if is_there or request.offset is not None or request.limit is not None:
        return plain
    colon = request.path.rfind(":")
    if colon <= 0 or colon == len(request.path) - 1:
        return plain
    typed, suffix = request.path[:colon], request.path[colon + 1 :]
    path, is_there = place.resolve(typed, exists)
    if not is_there:
        return plain
    first, last = parse_suffix(suffix)
    return Target(typed, path, first, None if last is None else last - first + 1)


def parse_suffix(suffix: str) -> tuple[int, int | None]:
    """`N` or `N-M` after the colon."""
    match = _SUFFIX.match(suffix)
    if match is None:
        raise BadRange(f'Invalid range suffix "{suffix}". Use :<start> or :<start>-<end>.')
    words = 'Invalid {} line number "{}". Line numbers must be positive integers.'
    first = _line_number(match[1])
    if first < 1:
        raise BadRange(words.format("start", match[1]))
    if match[2] is None:
        return first, None
    last = _line_number(match[2])
    if last < 1:
        raise BadRange(words.format("end", match[2]))
    if last < first:
        raise BadRange(
            f'Invalid range "{suffix}": end line must be greater than or equal to start line.'
        )
    return first, last


def _line_number(digits: str) -> int:
    """The number, or 0 if it is too large for a line number."""
    return int(digits) if len(digits) <= 15 else 0
