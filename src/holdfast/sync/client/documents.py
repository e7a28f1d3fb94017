"""Reading and writing one place in a document, by path.

A missing member reads as `MISSING`; a place below something missing is not found; a place below a
scalar is a mismatch. Every array has a `length`. Writing copies the containers on the way and
shares the rest, so the original document is not changed.
"""

from __future__ import annotations

from typing import Any

from holdfast.store import pointer
from holdfast.store.delta import MISSING
from holdfast.store.pointer import Path
from holdfast.sync.client.errors import NotFound, TypeMismatch

LENGTH = "length"


def get(document: Any, path: Path, id: str) -> Any:
    """The value of a document at `path`; `MISSING` if the last container has no such member."""
    node = document
    for depth, token in enumerate(path):
        if node is MISSING:
            raise NotFound(id, path[:depth])
        node = member(node, token, id, path[:depth])
    return node


def member(node: Any, token: str, id: str, at: Path) -> Any:
    """One member of a container, `MISSING` if there is none."""
    if isinstance(node, dict):
        return node.get(token, MISSING)
    if isinstance(node, list):
        if token == LENGTH:
            return len(node)
        index = _index(token)
        return node[index] if index is not None and index < len(node) else MISSING
    raise TypeMismatch(id, at, _kind(node))


def peek(document: Any, path: Path) -> Any:
    """Like `get`, but returns `MISSING` for whatever cannot be reached."""
    node = document
    for token in path:
        if isinstance(node, dict):
            node = node.get(token, MISSING)
        elif isinstance(node, list):
            index = _index(token)
            if index is None or index >= len(node):
                return MISSING
            node = node[index]
        else:
            return MISSING
    return node


def put(document: Any, path: Path, value: Any, id: str) -> Any:
    """The document with `value` at `path`, or with nothing there if it is `MISSING`.

    Missing containers are created: an array where the next step could be an index, else an object.
    """
    if not path:
        return value
    return _put(document, path, 0, value, id)


def _put(node: Any, path: Path, depth: int, value: Any, id: str) -> Any:
    token = path[depth]
    last = depth == len(path) - 1
    if node is MISSING:
        if value is MISSING:
            raise NotFound(id, path[:depth])
        # The root of a document is always an object, even under a number.
        node = [] if depth and pointer.looks_like_slot(token) else {}
    if isinstance(node, dict):
        if last and value is MISSING:
            return {name: member for name, member in node.items() if name != token}
        below = value if last else _put(node.get(token, MISSING), path, depth + 1, value, id)
        return {**node, token: below}
    if isinstance(node, list):
        return _put_slot(node, path, depth, value, id)
    raise TypeMismatch(id, path[:depth], _kind(node))


def _put_slot(array: list[Any], path: Path, depth: int, value: Any, id: str) -> list[Any]:
    token = path[depth]
    last = depth == len(path) - 1
    if token == LENGTH and last:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise TypeMismatch(id, path, f"the length {value!r}")
        return array[:value] + [None] * (value - len(array))
    index = len(array) if token == pointer.END else _index(token)
    if index is None:
        raise TypeMismatch(id, path[:depth], "an array without such a member")
    if last and value is MISSING:
        # An array has no missing elements: the last one goes, any other becomes null.
        if index == len(array) - 1:
            return array[:-1]
        value = None if index < len(array) else MISSING
        if value is MISSING:
            return array
    grown = array + [None] * (index + 1 - len(array))
    there = array[index] if index < len(array) else MISSING
    grown[index] = value if last else _put(there, path, depth + 1, value, id)
    return grown


def _index(token: str) -> int | None:
    if token == pointer.END or not pointer.looks_like_slot(token):
        return None
    index = int(token)
    return index if index <= pointer.INDEX_MAX else None


def _kind(node: Any) -> str:
    if node is None:
        return "null"
    return {bool: "a boolean", int: "a number", float: "a number", str: "a string"}.get(
        type(node), "a value"
    )
