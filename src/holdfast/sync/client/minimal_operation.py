"""Reduce what a transaction wrote to the smallest operation with the same effect.

    was there, now is not        delete
    was not there, or replaced   set
    otherwise                    patch: add, replace, remove for members;
                                 replace for changed slots of an array, one splice for its tail

Only the places that were written are compared. A write that changed nothing gives no operation.
Elements are never moved, and never inserted or removed by index: two writers who did that at once
would shift each other's slots.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.store import pointer
from holdfast.store.delta import MISSING
from holdfast.store.pointer import ROOT, Path, is_prefix
from holdfast.store.values import Hole, same
from holdfast.sync.client.documents import LENGTH, peek

Drafted = dict[str, Any]


def operation(id: str, before: Any, after: Any, written: Iterable[Path]) -> Drafted | None:
    """The operation that turns `before` into `after`, given the paths that were written."""
    paths = set(written)
    # An empty object is not a document.
    if after is MISSING or (after == {} and paths):
        return None if before is MISSING else {"op": "delete", "id": id}
    if before is MISSING or ROOT in paths:
        if before is not MISSING and same(before, after):
            return None
        return {"op": "set", "id": id, "value": after}
    drafted = patches(before, after, paths)
    return {"op": "patch", "id": id, "patches": drafted} if drafted else None


def patches(before: Any, after: Any, written: Iterable[Path]) -> list[Drafted]:
    """Patch operations for the written places, by path."""
    units: set[Path] = set()
    slots: dict[Path, set[str]] = {}
    for path in topmost(written):
        array = _deepest_array(before, after, path)
        if array is None:
            units.add(_unit(before, after, path))
        else:
            slots.setdefault(array, set()).add(path[len(array)])
    for array in list(slots):
        if _sparse(peek(before, array)) or _sparse(peek(after, array)):
            del slots[array]
            units.add(array)
    drafts: list[tuple[Path, Drafted]] = []
    for unit in topmost(units):
        drafted = _member(peek(before, unit), peek(after, unit), unit)
        if drafted is not None:
            drafts.append((unit, drafted))
    for array, tokens in slots.items():
        if not any(is_prefix(unit, array) for unit, _ in drafts):
            drafts += _slots(peek(before, array), peek(after, array), array, tokens)
    return [drafted for place, drafted in sorted(_visible(drafts), key=_order)]


def splices(operation: Drafted) -> list[Path]:
    """The arrays whose length an operation depends on."""
    return [
        pointer.parse(drafted["path"])
        for drafted in operation.get("patches", ())
        if drafted["op"] == "splice"
    ]


def topmost(paths: Iterable[Path]) -> list[Path]:
    """The paths that are not below another of them."""
    tops: list[Path] = []
    for path in sorted(paths):
        if not tops or not is_prefix(tops[-1], path):
            tops.append(path)
    return tops


def _deepest_array(before: Any, after: Any, path: Path) -> Path | None:
    """The deepest array above `path` that both documents have."""
    for depth in range(len(path) - 1, -1, -1):
        above = path[:depth]
        if isinstance(peek(before, above), list) and isinstance(peek(after, above), list):
            return above
    return None


def _unit(before: Any, after: Any, path: Path) -> Path:
    """The place to write as a whole: `path`, or something above it that changed its kind."""
    for depth in range(1, len(path)):
        above = path[:depth]
        old, new = peek(before, above), peek(after, above)
        if isinstance(new, list) or not isinstance(old, dict):
            # `add` creates missing objects, but not arrays, and does not replace other values.
            if old is MISSING and isinstance(new, dict) and not _ambiguous(path[depth]):
                continue
            return above
    return path


def _ambiguous(token: str) -> bool:
    """Whether `add` would create an array to hold this member."""
    return pointer.looks_like_slot(token)


def _member(old: Any, new: Any, path: Path) -> Drafted | None:
    where = pointer.encode(path)
    if old is MISSING or new is MISSING:
        if old is new:
            return None
        if new is MISSING:
            return {"op": "remove", "path": where}
        return {"op": "add", "path": where, "value": new}
    return None if same(old, new) else {"op": "replace", "path": where, "value": new}


def _slots(
    old: list[Any], new: list[Any], array: Path, tokens: set[str]
) -> list[tuple[Path, Drafted]]:
    common = min(len(old), len(new))
    slots: list[tuple[Path, Drafted]] = []
    for token in tokens:
        if token == LENGTH or token == pointer.END or int(token) >= common:
            continue
        if not same(old[int(token)], new[int(token)]):
            place = (*array, token)
            change = {"op": "replace", "path": pointer.encode(place), "value": new[int(token)]}
            slots.append((place, change))
    if len(old) != len(new):
        splice = {"op": "splice", "path": pointer.encode(array), "index": common}
        slots.append((array, {**splice, "remove": len(old) - common, "add": new[common:]}))
    return slots


def _visible(drafts: list[tuple[Path, Drafted]]) -> list[tuple[Path, Drafted]]:
    """Drop operations whose effect a wider operation already has."""
    whole = [place for place, drafted in drafts if drafted["op"] != "splice"]
    tails = {place: drafted["index"] for place, drafted in drafts if drafted["op"] == "splice"}

    def hidden(place: Path, drafted: Drafted) -> bool:
        if any(len(other) < len(place) and is_prefix(other, place) for other in whole):
            return True
        if drafted["op"] == "splice" and place in whole:
            return True
        return any(
            len(array) < len(place)
            and is_prefix(array, place)
            and place[len(array)].isdigit()
            and int(place[len(array)]) >= index
            for array, index in tails.items()
        )

    return [(place, drafted) for place, drafted in drafts if not hidden(place, drafted)]


def _order(entry: tuple[Path, Drafted]) -> tuple[Any, ...]:
    place, drafted = entry
    key = tuple((1, int(token), "") if token.isdigit() else (0, 0, token) for token in place)
    # A splice comes after the slots of its array.
    return (*key, (2, 0, "")) if drafted["op"] == "splice" else key


def _sparse(array: Any) -> bool:
    return isinstance(array, list) and any(element is Hole for element in array)
