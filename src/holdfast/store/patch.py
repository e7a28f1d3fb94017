"""Applying edits to documents.

A patch is a list of small operations, applied left to right; the first failure fails the list.
There are nine kinds. Five depend on the current value:

    replace  add  remove  move  splice

Four commute with themselves, so writers who only append or count need not read first:

    append  add-unique  remove-by-value  increment

The input is never changed. A draft copies a container the first time it is edited and shares
everything else, so applying a hundred patches copies each touched container once, not a hundred
times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from holdfast.store import pointer
from holdfast.store.errors import PatchError
from holdfast.store.pointer import Path
from holdfast.store.values import NESTING_MAX, SAFE_INTEGER, same

Operation = Mapping[str, Any]

# Named once: `dict | list` in a check creates a new union each time.
_CONTAINERS = (dict, list)
_NUMBERS = (int, float)


def apply(document: Any, operations: Iterable[Operation]) -> Any:
    """The document after the operations; the argument is not changed."""
    return fold(document, [operations])


def fold(document: Any, patches: Iterable[Iterable[Operation]]) -> Any:
    """The document after several patches, oldest first."""
    draft = _DocumentDraft(document)
    for patch in patches:
        for operation in patch:
            draft.apply(operation)
    return draft.root


def apply_to_document(document: dict[str, Any] | None, operations: Any) -> dict[str, Any]:
    """A stored document after a patch: a missing one starts empty, and the result is an object."""
    after = apply({} if document is None else document, operations)
    if not isinstance(after, dict):
        raise PatchError(
            "a patch must leave an explicit document object, not a bare value",
            hint='wrap a payload as {"value": …}',
        )
    return after


def has(document: Any, path: Path) -> bool:
    """Whether a document has something at this path."""
    return _DocumentDraft(document).exists(path)


def get(document: Any, path: Path) -> Any:
    """The value of a document at this path."""
    return _DocumentDraft(document).value(path)


class _DocumentDraft:
    """A document being edited. Containers in `_own` are private copies; all others are shared."""

    def __init__(self, root: Any) -> None:
        self.root = root
        # Holds the containers themselves, so that their ids are not reused.
        self._own: dict[int, Any] = {}

    def apply(self, operation: Operation) -> None:
        # The type is compared first: `isinstance` with `Mapping` takes ten times as long.
        is_mapping = type(operation) is dict or isinstance(operation, Mapping)
        kind = operation.get("op") if is_mapping else None
        act = _ACTS.get(kind) if isinstance(kind, str) else None
        if act is None:
            name = kind if isinstance(kind, str) else f"a {type(kind).__name__}"
            raise PatchError(f"unknown patch operation: {name}", hint=f"known: {', '.join(_ACTS)}")
        act(self, operation)

    def owned(self, container: Any) -> Any:
        if id(container) in self._own:
            return container
        copy = container.copy()
        self._own[id(copy)] = copy
        return copy

    def fresh(self, container: Any) -> Any:
        self._own[id(container)] = container
        return container

    def container(self, path: Path, whole: Path, *, create: bool = False) -> Any:
        """The container at `path`, as a private copy. Errors name the path `whole`."""
        if not isinstance(self.root, _CONTAINERS):
            raise _missing(whole)
        node = self.root = self.owned(self.root)
        for depth, token in enumerate(path):
            key: Any = token
            if isinstance(node, list):
                key = pointer.slot(token)
                if key >= len(node):
                    raise _missing(whole)
            elif token not in node:
                if not create:
                    raise _missing(whole)
                following = whole[depth + 1]
                node[token] = self.fresh([] if pointer.looks_like_slot(following) else {})
            child = node[key]
            if not isinstance(child, _CONTAINERS):
                raise PatchError(
                    f"path is not traversable at {pointer.encode(whole)}: "
                    f"{pointer.encode(path[: depth + 1])} is not a container"
                )
            node[key] = self.owned(child)
            node = node[key]
        return node

    def value(self, path: Path) -> Any:
        node = self.root
        for token in path:
            if isinstance(node, list):
                index = pointer.slot(token)
                if index >= len(node):
                    raise _missing(path)
                node = node[index]
            elif isinstance(node, dict) and token in node:
                node = node[token]
            else:
                raise _missing(path)
        return node

    def put(self, path: Path, value: Any) -> None:
        """Write at a path whose parent exists (`replace`)."""
        if isinstance(value, _CONTAINERS) or len(path) > NESTING_MAX:
            _check_depth(path, value)
        if not path:
            self.root = value
            return
        container = self.container(path[:-1], path)
        if isinstance(container, list):
            container[_existing(container, path)] = value
        else:
            container[path[-1]] = value

    def insert(self, path: Path, value: Any) -> None:
        """Write or insert, creating missing parents (`add`)."""
        if isinstance(value, _CONTAINERS) or len(path) > NESTING_MAX:
            _check_depth(path, value)
        if not path:
            self.root = value
            return
        container = self.container(path[:-1], path, create=True)
        if isinstance(container, dict):
            container[path[-1]] = value
        elif path[-1] == pointer.END:
            container.append(value)
        else:
            index = pointer.slot(path[-1])
            if index > len(container):
                raise PatchError(f"array index out of bounds: {path[-1]}")
            container.insert(index, value)

    def take(self, path: Path) -> Any:
        """Remove and return the value at a path (`remove`)."""
        container = self.container(path[:-1], path)
        if isinstance(container, list):
            return container.pop(_existing(container, path))
        if path[-1] not in container:
            raise PatchError(f"missing object key at {pointer.encode(path)}")
        return container.pop(path[-1])

    def exists(self, path: Path) -> bool:
        try:
            self.value(path)
        except PatchError:
            return False
        return True

    def array(self, path: Path, kind: str) -> list[Any]:
        """The existing array at `path`, as a private copy."""
        target = self.value(path)
        if not isinstance(target, list):
            raise PatchError(f"{kind} target is not an array at {pointer.encode(path)}")
        container: list[Any] = self.container(path, path)
        return container


def _check_depth(path: Path, *values: Any) -> None:
    """Refuse `values` at `path` if they would nest the document too deep."""
    level, depth = list(values), len(path)
    while True:
        level = [node for node in level if isinstance(node, _CONTAINERS)]
        if depth + bool(level) > NESTING_MAX:
            raise PatchError(f"the document would be nested deeper than {NESTING_MAX} levels")
        if not level:
            return
        level = [
            below for node in level for below in (node.values() if isinstance(node, dict) else node)
        ]
        depth += 1


def _missing(path: Path) -> PatchError:
    return PatchError(f"missing path {pointer.encode(path)}")


def _existing(array: list[Any], path: Path) -> int:
    index = pointer.slot(path[-1])
    if index >= len(array):
        raise PatchError(
            f"array index out of bounds: {index} (missing path {pointer.encode(path)})"
        )
    return index


def _member(operation: Operation, name: str) -> Any:
    if name not in operation:
        raise PatchError(f"patch operation {operation['op']} requires {name}")
    return operation[name]


def _path(operation: Operation, name: str = "path") -> Path:
    text = _member(operation, name)
    if not isinstance(text, str):
        raise PatchError(f"invalid JSON pointer: a {type(text).__name__}")
    return pointer.parse(text)


def _count(operation: Operation, name: str) -> int:
    number = _member(operation, name)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        where = pointer.encode(_path(operation))
        raise PatchError(f"invalid splice at {where}: {name} is not a whole number")
    return number


def _list(operation: Operation, name: str) -> list[Any]:
    values = _member(operation, name)
    if not isinstance(values, list):
        raise PatchError(f"patch operation {operation['op']} needs a list of {name}")
    return values


def _replace(draft: _DocumentDraft, operation: Operation) -> None:
    draft.put(_path(operation), _member(operation, "value"))


def _add(draft: _DocumentDraft, operation: Operation) -> None:
    draft.insert(_path(operation), _member(operation, "value"))


def _remove(draft: _DocumentDraft, operation: Operation) -> None:
    path = _path(operation)
    if not path:
        raise PatchError("root remove must be represented as a delete operation")
    draft.take(path)


def _move(draft: _DocumentDraft, operation: Operation) -> None:
    source, target = _path(operation, "from"), _path(operation)
    if not source:
        raise PatchError("cannot move the root value")
    if len(target) > len(source) and pointer.is_prefix(source, target):
        raise PatchError("cannot move a value into its own descendant")
    draft.value(source)
    draft.insert(target, draft.take(source))


def _splice(draft: _DocumentDraft, operation: Operation) -> None:
    path = _path(operation)
    array = draft.array(path, "splice")
    index, remove = _count(operation, "index"), _count(operation, "remove")
    if index < 0 or remove < 0 or index > len(array):
        raise PatchError(f"invalid splice at {pointer.encode(path)}")
    added = _list(operation, "add")
    _check_depth((*path, pointer.END), *added)
    array[index : index + remove] = added


def _grown(draft: _DocumentDraft, operation: Operation) -> list[Any]:
    """The array that append and add-unique extend; created if missing."""
    path = _path(operation)
    if not draft.exists(path):
        draft.insert(path, draft.fresh([]))
    return draft.array(path, str(operation["op"]))


def _append(draft: _DocumentDraft, operation: Operation) -> None:
    values = _list(operation, "values")
    _check_depth((*_path(operation), pointer.END), *values)
    _grown(draft, operation).extend(values)


def _add_unique(draft: _DocumentDraft, operation: Operation) -> None:
    values = _list(operation, "values")
    _check_depth((*_path(operation), pointer.END), *values)
    array = _grown(draft, operation)
    for value in values:
        if not any(same(value, present) for present in array):
            array.append(value)


def _remove_by_value(draft: _DocumentDraft, operation: Operation) -> None:
    path, value = _path(operation), _member(operation, "value")
    if draft.exists(path):
        array = draft.array(path, "remove-by-value")
        array[:] = [present for present in array if not same(value, present)]


def _increment(draft: _DocumentDraft, operation: Operation) -> None:
    path, amount = _path(operation), _member(operation, "by")
    if not _is_number(amount) or not _in_range(amount) or amount == 0:
        raise PatchError("increment requires a finite non-zero amount")
    if not draft.exists(path):
        draft.insert(path, amount)
        return
    present = draft.value(path)
    if not _is_number(present):
        raise PatchError(f"increment target is not a number at {pointer.encode(path)}")
    total = present + amount
    if not _in_range(total):
        raise PatchError(f"increment leaves the range of numbers at {pointer.encode(path)}")
    draft.put(path, total)


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _in_range(number: int | float) -> bool:
    return abs(number) <= SAFE_INTEGER if isinstance(number, int) else math.isfinite(number)


_ACTS: dict[str, Callable[[_DocumentDraft, Operation], None]] = {
    "replace": _replace,
    "add": _add,
    "remove": _remove,
    "move": _move,
    "splice": _splice,
    "append": _append,
    "add-unique": _add_unique,
    "remove-by-value": _remove_by_value,
    "increment": _increment,
}
