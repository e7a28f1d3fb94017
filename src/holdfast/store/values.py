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
from typing import ClassVar, Final, TypeAlias

import msgspec

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
class UnknownInstance:
    """An instance of a type we do not know. We may keep it and send it on, nothing else."""

    tag: str
    state: "Value"


@dataclass(slots=True)
class Problematic:
    """A malformed instance of a type we know. `state` is JSON as it came; it goes out unchanged."""

    tag: str
    state: "Value"
    problem: str = ""


Instance: TypeAlias = Map | Set | Error | RegExp | UnknownInstance | Problematic
"""A tag and a state."""

Value: TypeAlias = (
    "bool | int | float | str | bytes | list[Value] | dict[str, Value] | "
    "Absent | EpochNsec | EpochDays | ContentHash | Instance | None"
)

INSTANCES: Final = (Map, Set, Error, RegExp, UnknownInstance, Problematic)
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
            if (not item and room > 1) or is_plain(item, unified, room - 1):
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
    # Only a value that needs a closer look pays for the import, and the walk needs our types.
    from holdfast.store.examination import examine

    examine(value, unified)


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
        case UnknownInstance(tag):
            return f"the tag {tag} is known" if tag in KNOWN_TAGS else ""
        case Problematic():
            return ""
    return ""
