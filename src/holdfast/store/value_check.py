"""The slow check of a value that failed the fast one.

It keeps the path of every value it visits, so that an error can name the place. That makes it slow,
so `values.check` and the codec call it only when something is unusual.
"""

from dataclasses import dataclass
from enum import Enum
from math import isfinite

from holdfast.store.errors import InvalidValue, Step
from holdfast.store.values import (
    INSTANCES,
    MOMENTS,
    NESTING_MAX,
    SAFE_INTEGER,
    Absent,
    BigInt,
    ContentHash,
    Hole,
    Instance,
    Problematic,
    is_bigint,
    shape_problem,
)


class _Mode(Enum):
    """Which values are allowed at a place."""

    PLAIN = "plain"  # JSON, undefined, holes
    UNIFIED = "unified"  # everything
    BARE = "bare"  # JSON alone: inside a Problematic


@dataclass(slots=True)
class _Place:
    """A value still to be checked, and its path."""

    value: object
    mode: _Mode
    nesting: int = 0
    parent: "_Place | None" = None
    step: Step | None = None

    def refuse(self, reason: str) -> InvalidValue:
        return InvalidValue(self.path(), reason)

    def path(self) -> tuple[Step, ...]:
        return tuple(place.step for place in self.trail() if place.step is not None)

    def trail(self) -> "list[_Place]":
        """The places from the root to here."""
        trail: list[_Place] = []
        place: _Place | None = self
        while place is not None:
            trail.append(place)
            place = place.parent
        return trail[::-1]

    def enter(self, levels: int = 1) -> None:
        """Refuse to nest this many more containers if that is too deep."""
        if self.nesting + levels <= NESTING_MAX:
            return
        # A value that contains itself ends up here too; say so.
        ids: set[int] = set()
        for place in self.trail():
            if id(place.value) in ids:
                raise place.refuse("the value contains itself")
            ids.add(id(place.value))
        raise self.refuse(f"nested deeper than {NESTING_MAX}")

    def inside(self, value: object, step: Step | None, levels: int = 1) -> "_Place":
        return _Place(value, self.mode, self.nesting + levels, self, step)


def examine(value: object, unified: bool) -> None:
    """Refuse the first invalid value. Iterative: the caller's stack depth does not matter."""
    todo = [_Place(value, _Mode.UNIFIED if unified else _Mode.PLAIN)]
    while todo:
        place = todo.pop()
        value = place.value
        if isinstance(value, INSTANCES):
            todo.append(_examine_instance(place, value))
        elif type(value) is dict:
            todo.extend(_examine_members(place, value))
        elif type(value) is list:
            place.enter()
            todo.extend(
                place.inside(item, index) for index, item in enumerate(value) if not _quiet(item)
            )
        else:
            _examine_scalar(place, value)


def _quiet(value: object) -> bool:
    """Whether a value is certainly valid; most are, and need no `_Place`."""
    kind = type(value)
    if kind is str:
        return value.isascii()  # type: ignore[attr-defined, no-any-return]
    return value is None or kind is bool or (kind is float and isfinite(value))  # type: ignore[arg-type]


def _shown(key: object) -> str:
    """An invalid member name, shortened: its text may be arbitrarily long."""
    short = key is None or isinstance(key, bool | float)
    short = short or (isinstance(key, int) and abs(key) <= SAFE_INTEGER)
    return repr(key) if short else f"(a {type(key).__name__})"


def _examine_members(place: _Place, members: dict[object, object]) -> "list[_Place]":
    levels = 1
    inside = []
    for key, item in members.items():
        if type(key) is not str:
            raise place.refuse(f"the member name {_shown(key)} is not a string")
        if not key.isascii():
            _examine_text(place.inside(key, key))
        if len(members) == 1 and key.startswith("/") and place.mode is _Mode.UNIFIED:
            levels = 2  # its `/object` wrapper
        if not _quiet(item):
            inside.append(place.inside(item, key, levels))
    place.enter(levels)
    return inside


def _examine_instance(place: _Place, value: Instance) -> _Place:
    _needs_unified(place, f"a {type(value).__name__}")
    place.enter()
    _examine_text(place.inside(value.tag, None))
    problem = shape_problem(value)
    if problem:
        raise place.refuse(f"not a proper {type(value).__name__}: {problem}")
    # The state of a Problematic is not decoded, so it contains no rich values.
    mode = _Mode.BARE if isinstance(value, Problematic) else place.mode
    return _Place(value.state, mode, place.nesting + 1, place, None)


def _examine_scalar(place: _Place, value: object) -> None:
    kind = type(value)
    if value is None or kind is bool:
        return
    if kind is str:
        _examine_text(place)
    elif isinstance(value, int) and (kind is int or kind is BigInt):
        if is_bigint(value):
            if kind is int and place.mode is not _Mode.UNIFIED:
                raise place.refuse(f"an integer of {value.bit_length()} bits is beyond ±(2^53-1)")
            _needs_unified(place, "a BigInt")
            place.enter()
    elif isinstance(value, float) and kind is float:
        if not isfinite(value):
            raise place.refuse(f"{value!r} is not a finite number")
    elif isinstance(value, Absent):
        _examine_absent(place, value)
    elif kind is bytes:
        _needs_unified(place, "bytes")
        place.enter()
    elif isinstance(value, MOMENTS):
        _needs_unified(place, f"an {kind.__name__}")
        if type(value.value) not in (int, BigInt):
            raise place.refuse(f"an {kind.__name__} must be an integer")
        place.enter()
    elif kind is ContentHash:
        raise place.refuse("a content hash has no encoding; store its text")
    else:
        raise place.refuse(f"a {kind.__module__}.{kind.__qualname__} is not a value")


def _examine_absent(place: _Place, value: Absent) -> None:
    above = None if place.parent is None else place.parent.value
    if place.mode is _Mode.BARE:
        raise place.refuse(f"{value.value} cannot be part of a malformed instance")
    if value is Hole and type(above) is not list:
        raise place.refuse("a hole can only be an element of an array")
    if above is None and place.mode is _Mode.PLAIN:
        raise place.refuse("plain JSON cannot represent undefined at the top level")
    if place.mode is _Mode.UNIFIED:
        place.enter()


def _examine_text(place: _Place) -> None:
    text = place.value
    if type(text) is not str:
        raise place.refuse("a tag is a string")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise place.refuse("a lone surrogate is not a character") from None


def _needs_unified(place: _Place, what: str) -> None:
    if place.mode is not _Mode.UNIFIED:
        raise place.refuse(f"only the unified encoding can represent {what}")
