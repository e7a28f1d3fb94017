"""Differences between two documents: as a list of changes, or as a patch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from holdfast.store import pointer
from holdfast.store.pointer import ROOT, Path
from holdfast.store.values import same


class _Missing:
    """Represents a missing member; unlike null, it cannot be stored."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One path where two documents differ; `MISSING` on the side that has nothing there."""

    path: Path
    before: Any
    after: Any

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"path": pointer.encode(self.path)}
        if self.before is not MISSING:
            wire["before"] = self.before
        if self.after is not MISSING:
            wire["after"] = self.after
        return wire


def changes(before: Any, after: Any, path: Path = ROOT) -> list[ValueChange]:
    """The deepest paths where two values differ, in document order."""
    if before is MISSING or after is MISSING:
        return [] if before is after else [ValueChange(path, before, after)]
    if isinstance(before, dict) and isinstance(after, dict):
        values: list[ValueChange] = []
        for name in [*before, *(name for name in after if name not in before)]:
            values += changes(before.get(name, MISSING), after.get(name, MISSING), (*path, name))
        return values
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        values = []
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            values += changes(one, other, (*path, str(index)))
        return values
    return [] if same(before, after) else [ValueChange(path, before, after)]


def patches(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, Any]]:
    """Patch operations that turn one document into the other."""
    return _patches(before, after, ROOT)


def _patches(before: Any, after: Any, path: Path) -> list[dict[str, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        patches: list[dict[str, Any]] = []
        for name in before:
            here = (*path, name)
            if name not in after:
                patches.append({"op": "remove", "path": pointer.encode(here)})
            else:
                patches += _patches(before[name], after[name], here)
        for name in after:
            if name not in before:
                here = (*path, name)
                patches.append({"op": "add", "path": pointer.encode(here), "value": after[name]})
        return patches
    if isinstance(before, list) and isinstance(after, list):
        return _list_patches(before, after, path)
    if same(before, after):
        return []
    return [{"op": "replace", "path": pointer.encode(path), "value": after}]


def _list_patches(before: list[Any], after: list[Any], path: Path) -> list[dict[str, Any]]:
    head, tail = common_ends(before, after)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) == len(new):
        patches: list[dict[str, Any]] = []
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            patches += _patches(one, other, (*path, str(head + index)))
        return patches
    splice = {"op": "splice", "path": pointer.encode(path), "index": head}
    return [{**splice, "remove": len(old), "add": new}]


def common_ends(one: list[Any], other: list[Any]) -> tuple[int, int]:
    """How many elements two lists share at the start, and how many more at the end."""
    most = min(len(one), len(other))
    head = 0
    while head < most and same(one[head], other[head]):
        head += 1
    tail = 0
    while tail < most - head and same(one[-1 - tail], other[-1 - tail]):
        tail += 1
    return head, tail
