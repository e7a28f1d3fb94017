"""What a document may hold, beside plain JSON.

Documents are JSON for almost everyone, and JSON values are ordinary Python values here: None,
bool, int, float, str, list, dict. A peer that speaks the unified encoding may also send what
JavaScript has and JSON has not; each of those is a type of its own, so that nothing is confused
with the JSON that spells it:

    Undefined, Hole       a member without a value; a missing array element
    BigInt                an integer of any size; bytes are bytes
    EpochNsec, EpochDays  a moment, a date, counted from 1970
    Map, Set, Error, RegExp
    Unknown               an instance of a type we do not know, kept as it is
    Problematic           a malformed instance of a type we know, sent on unchanged

A number is a double. An int that a double cannot hold exactly is a BigInt, whatever its Python
type: it is never rounded. A value is refused by name and place (`InvalidValue`) when it could not
be read back as it was written. May refuse what some peer would have taken; never alters a value.
"""

from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from typing import ClassVar, Final, TypeAlias

import msgspec

from holdfast.store.errors import InvalidValue, Step

SAFE_INTEGER: Final = 2**53 - 1
"""The largest int whose neighbours are doubles too."""

NESTING_MAX: Final = 500
"""How many containers may be open at once in an encoded text."""


class Absent(Enum):
    """The two ways in which JavaScript has no value; each exists once."""

    UNDEFINED = "undefined"
    HOLE = "hole"

    def __repr__(self) -> str:
        return self.name.capitalize()


Undefined: Final = Absent.UNDEFINED
Hole: Final = Absent.HOLE


class BigInt(int):
    """An integer of any size that stays apart from the number of the same worth."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"BigInt({int(self)})"


@dataclass(frozen=True, slots=True)
class EpochNsec:
    """A moment: nanoseconds since 1970 began, in UTC."""

    tag: ClassVar[str] = "EpochNsec@1"
    value: int


@dataclass(frozen=True, slots=True)
class EpochDays:
    """A date: days since 1 January 1970."""

    tag: ClassVar[str] = "EpochDays@1"
    value: int


@dataclass(frozen=True, slots=True)
class ContentHash:
    """The hash of some value, as a value. It can be hashed; it has no encoding."""

    tag: str
    digest: bytes


@dataclass(slots=True)
class Map:
    """Pairs `[key, value]` in order; a key may be any value."""

    tag: ClassVar[str] = "Map@1"
    entries: "list[Value]" = field(default_factory=list)

    @property
    def state(self) -> "Value":
        return self.entries


@dataclass(slots=True)
class Set:
    """Values in order, each meant to be there once."""

    tag: ClassVar[str] = "Set@1"
    items: "list[Value]" = field(default_factory=list)

    @property
    def state(self) -> "Value":
        return self.items


@dataclass(slots=True)
class Error:
    """A JavaScript error: `type`, `name` (None when it equals the type), `message`, and more."""

    tag: ClassVar[str] = "Error@1"
    members: "dict[str, Value]" = field(default_factory=dict)

    @property
    def state(self) -> "Value":
        return self.members


@dataclass(frozen=True, slots=True)
class RegExp:
    """A pattern, its flags, and the dialect it is written in."""

    tag: ClassVar[str] = "RegExp@1"
    source: str
    flags: str = ""
    flavor: str = "es2025"

    @property
    def state(self) -> "Value":
        return {"source": self.source, "flags": self.flags, "flavor": self.flavor}


@dataclass(slots=True)
class Unknown:
    """An instance of a type we do not know. We may keep it and send it on, nothing else."""

    tag: str
    state: "Value"


@dataclass(slots=True)
class Problematic:
    """A malformed instance of a type we know. `state` is JSON as it came; it goes out unchanged."""

    tag: str
    state: "Value"
    problem: str = ""


Instance: TypeAlias = Map | Set | Error | RegExp | Unknown | Problematic
"""A tag and a state."""

Value: TypeAlias = (
    "bool | int | float | str | bytes | list[Value] | dict[str, Value] | "
    "Absent | EpochNsec | EpochDays | ContentHash | Instance | None"
)

INSTANCES: Final = (Map, Set, Error, RegExp, Unknown, Problematic)
MOMENTS: Final = (EpochNsec, EpochDays)

META_TAGS: Final = frozenset({"object", "quote", "hole"})
"""Tags that shape the text and name no type."""

KNOWN_TAGS: Final = META_TAGS | {
    "Undefined@1",
    "BigInt@1",
    "Bytes@1",
    *(kind.tag for kind in (EpochNsec, EpochDays, Map, Set, Error, RegExp)),
}
"""Tags that an `Unknown` cannot have."""

_PROBE = msgspec.json.Encoder()


def same(left: object, right: object) -> bool:
    """Whether two values are the same value.

    Member order is nothing, the order of everything else counts. `1` and `1.0` are one number;
    `True` is not a number and a BigInt is not the number of its worth.
    """
    if left is right:
        return True
    kind, other = type(left), type(right)
    if kind is dict:
        assert isinstance(left, dict)
        if not isinstance(right, dict) or len(left) != len(right):
            return False
        for key, value in left.items():
            if key not in right or not same(value, right[key]):
                return False
        return True
    if kind is list:
        assert isinstance(left, list)
        if not isinstance(right, list) or len(left) != len(right):
            return False
        return all(map(same, left, right))
    if isinstance(left, INSTANCES):
        return (
            isinstance(right, INSTANCES)
            and kind is other
            and left.tag == right.tag
            and same(left.state, right.state)
        )
    if isinstance(left, int | float) and isinstance(right, int | float):
        if (kind is bool) != (other is bool):
            return False
        return left == right and is_bigint(left) == is_bigint(right)
    return kind is other and left == right


def is_bigint(value: object) -> bool:
    """Whether an int is a BigInt: by its type, or because no double stands for it alone."""
    if isinstance(value, BigInt):
        return True
    return type(value) is int and not -SAFE_INTEGER <= value <= SAFE_INTEGER


def is_plain(value: object, unified: bool, room: int = NESTING_MAX) -> bool:
    """Whether msgspec writes this value exactly as JavaScript would, strings aside.

    This is the hot path of every write, so it is one loop over exact types. False only means that
    a closer look is needed: at an unusual number, a rich value, an escape, a bad value. It sees no
    lone surrogates; encoding does.
    """
    kind = type(value)
    if kind is dict:
        if not room:
            return False
        for key in value:  # type: ignore[attr-defined]
            if type(key) is not str:
                return False
        if unified and len(value) == 1 and key[:1] == "/":  # type: ignore[arg-type]
            return False
        items = value.values()  # type: ignore[attr-defined]
    elif kind is list:
        if not room:
            return False
        items = value
    else:
        items = (value,)
    for item in items:
        kind = type(item)
        if kind is str or item is None or kind is bool:
            continue
        if kind is int:
            if -SAFE_INTEGER <= item <= SAFE_INTEGER:
                continue
            return False
        if kind is dict or kind is list:
            if is_plain(item, unified, room - 1):
                continue
            return False
        if kind is float and is_ordinary(item):
            continue
        return False
    return True


def is_ordinary(number: float) -> bool:
    """Whether every JSON writer spells this double alike: no exponent, not integral, finite."""
    return (1e-3 <= number < 1e15 or -1e15 < number <= -1e-3) and number % 1 != 0


def check(value: object, unified: bool = False) -> None:
    """Refuse, by name and place, a value that the encoding of this mode cannot carry."""
    try:
        if is_plain(value, unified):
            _PROBE.encode(value)
            return
    except (UnicodeEncodeError, RecursionError):
        pass  # the careful walk says where, or that only our caller's stack was short
    _examine(value, unified)


def shape_problem(value: Instance) -> str:
    """What is wrong with the shape of a known instance; empty when it is as its type has it."""
    match value:
        case Map(entries):
            pairs = [x for x in entries if isinstance(x, list) and len(x) == 2 and Hole not in x]
            return "" if len(pairs) == len(entries) else "expected pairs"
        case Set(items):
            return "expected items" if any(item is Hole for item in items) else ""
        case Error(members):
            for name in ("type", "name", "message", "stack"):
                text = members.get(name, "")
                if not isinstance(text, str) and not (name == "name" and text is None):
                    return f"expected {name} to be text"
        case RegExp(source, flags, flavor):
            if not all(isinstance(text, str) for text in (source, flags, flavor)):
                return "expected source, flags and flavor to be text"
        case Unknown(tag):
            return f"the tag {tag} is known" if tag in KNOWN_TAGS else ""
        case Problematic():
            return ""
    return ""


class _Mode(Enum):
    """What may stand at a place."""

    PLAIN = "plain"  # JSON, undefined, holes
    UNIFIED = "unified"  # everything
    BARE = "bare"  # JSON alone: inside a Problematic


@dataclass(slots=True)
class _Place:
    """A value still to be looked at, and how we came to it."""

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
        """Open so many containers here, or refuse."""
        if self.nesting + levels <= NESTING_MAX:
            return
        # A value that contains itself ends up here too, and deserves the truer name.
        seen: set[int] = set()
        for place in self.trail():
            if id(place.value) in seen:
                raise place.refuse("the value contains itself")
            seen.add(id(place.value))
        raise self.refuse(f"nested deeper than {NESTING_MAX}")

    def inside(self, value: object, step: Step | None, levels: int = 1) -> "_Place":
        return _Place(value, self.mode, self.nesting + levels, self, step)


def _examine(value: object, unified: bool) -> None:
    """The careful walk. Its own stack, so that the caller's depth does not matter."""
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
    """Whether there is nothing to say about a value: most need no place of their own."""
    kind = type(value)
    if kind is str:
        return value.isascii()  # type: ignore[attr-defined, no-any-return]
    return value is None or kind is bool or (kind is float and isfinite(value))  # type: ignore[arg-type]


def _examine_members(place: _Place, members: dict[object, object]) -> "list[_Place]":
    levels = 1
    inside = []
    for key, item in members.items():
        if type(key) is not str:
            raise place.refuse(f"the member name {key!r} is not a string")
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
    # The state of a Problematic is text to us: nothing in it is decoded, nothing rich is in it.
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
            raise place.refuse(f"an {kind.__name__} counts in whole numbers")
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
        raise place.refuse("undefined has no text of its own in plain JSON")
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
            raise place.refuse("a lone surrogate is no character") from None


def _needs_unified(place: _Place, what: str) -> None:
    if place.mode is not _Mode.UNIFIED:
        raise place.refuse(f"only the unified encoding carries {what}")
