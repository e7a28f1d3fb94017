"""JSON pointers and document paths: parsing, encoding, and whether two paths overlap.

A pointer is the text form (`/value/items/0`), a path the tuple form (`("value", "items", "0")`).
Patch application, conflict detection and the client's invalidation all use this module, so they
agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.store.errors import PatchError

Path = tuple[str, ...]

ROOT: Path = ()

END = "-"
"""The token for the position after an array's last element."""

INDEX_MAX = 2**32 - 2
_INDEX = re.compile(r"0|[1-9][0-9]*")


def parse(pointer: str) -> Path:
    """The path a pointer names; `""` is the root and `"/"` the member with the empty name."""
    if pointer == "":
        return ROOT
    if not pointer.startswith("/"):
        raise PatchError(
            f"invalid JSON pointer: {pointer}", hint="a pointer is empty or starts with /"
        )
    if "~" not in pointer:
        return tuple(pointer[1:].split("/"))
    # `~1` before `~0`, so that `~01` means the two characters `~1`.
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def encode(path: Sequence[str]) -> str:
    """The pointer that names a path."""
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in path)


def parent(path: Path) -> Path:
    """The path of the container; the root is its own parent."""
    return path[:-1]


def is_prefix(short: Path, long: Path) -> bool:
    """Whether `long` is at or below `short`."""
    return long[: len(short)] == short


def overlap(one: Path, other: Path) -> bool:
    """Whether one path is at or below the other, so that a change at one affects both."""
    return is_prefix(one, other) if len(one) <= len(other) else is_prefix(other, one)


def looks_like_slot(token: str) -> bool:
    """Whether a token could be an array index: no leading zeros, or `-`."""
    return token == END or _INDEX.fullmatch(token) is not None


def slot(token: str) -> int:
    """The array index a token names."""
    if _INDEX.fullmatch(token) is None:
        raise PatchError(f"invalid array index: {token}")
    if len(token) > len(str(INDEX_MAX)) or int(token) > INDEX_MAX:
        raise PatchError(f"array index out of bounds: {token}")
    return int(token)
