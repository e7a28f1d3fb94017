"""Three-way merge of a document.

Where only one side changed, its change is taken; where both made the same change, that one. Members
of objects are merged one by one, and so are lists whose changed ranges do not touch. The rest are
conflicts: a path with the value of each side and of the ancestor, for the caller to resolve.

The merge never chooses between two different changes of the same place by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.ids import EntityId
from holdfast.store import pointer
from holdfast.store.delta import MISSING, common_ends
from holdfast.store.errors import BranchError
from holdfast.store.pointer import ROOT, Path
from holdfast.store.values import same

SIDES = ("source", "target", "ancestor")

EVERYWHERE = "*"
"""In resolutions: all other conflicts of the document."""


@dataclass(frozen=True, slots=True)
class Clash:
    """A path that both sides changed differently; `MISSING` where a side has nothing."""

    id: EntityId
    path: Path
    ancestor: Any
    source: Any
    target: Any

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"id": self.id, "path": pointer.encode(self.path)}
        for side in SIDES:
            value = getattr(self, side)
            if value is not MISSING:
                wire[f"{side}Value"] = value
        return wire


@dataclass(slots=True)
class DocumentMerger:
    """Merges one document. `resolutions` maps pointers to how their conflicts are resolved."""

    id: EntityId
    resolutions: Mapping[str, Any] = field(default_factory=dict)
    clashes: list[Clash] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def merge(self, ancestor: Any, source: Any, target: Any, path: Path = ROOT) -> Any:
        """The merged value; an unresolved conflict keeps the target's value."""
        if _equal(source, target) or _equal(ancestor, source):
            return target
        if _equal(ancestor, target):
            return source
        here = pointer.encode(path)
        if here in self.resolutions:
            return self._resolved(here, ancestor, source, target)
        if isinstance(source, dict) and isinstance(target, dict):
            # If both sides added an object, their members are merged. If both replaced something
            # else by an object, that is a conflict.
            below = {} if ancestor is MISSING else ancestor
            if isinstance(below, dict):
                return self._members(below, source, target, path)
        if isinstance(ancestor, list) and isinstance(source, list) and isinstance(target, list):
            merged = self._merge_lists(ancestor, source, target, path)
            if merged is not None:
                return merged
        if EVERYWHERE in self.resolutions:
            return self._resolved(EVERYWHERE, ancestor, source, target)
        self.clashes.append(Clash(self.id, path, ancestor, source, target))
        return target

    def _members(
        self, ancestor: dict[str, Any], source: dict[str, Any], target: dict[str, Any], path: Path
    ) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for name in [*target, *(name for name in source if name not in target)]:
            value = self.merge(
                ancestor.get(name, MISSING),
                source.get(name, MISSING),
                target.get(name, MISSING),
                (*path, name),
            )
            if value is not MISSING:
                merged[name] = value
        return merged

    def _merge_lists(
        self, ancestor: list[Any], source: list[Any], target: list[Any], path: Path
    ) -> list[Any] | None:
        """The merged list, if the two sides changed separate ranges."""
        if len(ancestor) == len(source) == len(target):
            return [
                self.merge(*values, (*path, str(index)))
                for index, values in enumerate(zip(ancestor, source, target, strict=True))
            ]
        ours, theirs = _list_edit(ancestor, source), _list_edit(ancestor, target)
        if ours.last < theirs.first:
            first, second = ours, theirs
        elif theirs.last < ours.first:
            first, second = theirs, ours
        else:
            return None
        return [
            *ancestor[: first.first],
            *first.new,
            *ancestor[first.last : second.first],
            *second.new,
            *ancestor[second.last :],
        ]

    def _resolved(self, key: str, ancestor: Any, source: Any, target: Any) -> Any:
        self.used.add(key)
        choice = self.resolutions[key]
        if choice in SIDES:
            return {"ancestor": ancestor, "source": source, "target": target}[choice]
        if isinstance(choice, Mapping) and set(choice) == {"value"}:
            return choice["value"]
        raise BranchError(
            f"the resolution of {self.id} at {key!r} must be a side or a value",
            hint='use "source", "target", "ancestor" or {"value": …}',
        )


@dataclass(frozen=True, slots=True)
class _ListEdit:
    """The range `first` to `last` of an ancestor's list that a side replaced by `new`."""

    first: int
    last: int
    new: list[Any]


def _list_edit(ancestor: list[Any], side: list[Any]) -> _ListEdit:
    head, tail = common_ends(ancestor, side)
    return _ListEdit(head, len(ancestor) - tail, side[head : len(side) - tail])


def _equal(one: Any, other: Any) -> bool:
    if one is MISSING or other is MISSING:
        return one is other
    return same(one, other)
