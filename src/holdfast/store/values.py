"""The values a document may contain in addition to plain JSON.

Most documents are JSON, and JSON values are ordinary Python values: None, bool, int, float, str,
list, dict. A peer that uses the unified encoding may also send values that JavaScript has and JSON
lacks. Each has its own type, so that it cannot be confused with the JSON that encodes it:

    Undefined, Hole       a member without a value; a missing array element
    BigInt                an integer of any size; bytes are bytes
    EpochNsec, EpochDays  a moment, a date, counted from 1970
    Map, Set, Error, RegExp
    UnknownInstance       an instance of a type we do not know, kept as it is
    Problematic           a malformed instance of a known type, passed on unchanged

A number is a double. An int that a double cannot represent exactly is a BigInt, whatever its Python
type: it is never rounded. A value that could not be read back as written is refused with its path
(`InvalidValue`). May refuse what another peer would accept; never alters a value.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Final, TypeAlias

import msgspec

SAFE_INTEGER: Final = 2**53 - 1
"""The largest int n such that n and n + 1 are both exact doubles."""

NESTING_MAX: Final = 500
"""How many containers may be open at once in an encoded text."""


class Absent(Enum):
    """JavaScript's two kinds of missing value; both are singletons."""

    UNDEFINED = "undefined"
    HOLE = "hole"

    def __repr__(self) -> str:
        return self.name.capitalize()


Undefined: Final = Absent.UNDEFINED
Hole: Final = Absent.HOLE


class BigInt(int):
    """An integer of any size, distinct from the number with the same value."""

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
    """The hash of a value, as a value. It can be hashed but not encoded."""

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
    """Values in order, without duplicates."""

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
    """An instance of an unknown type, stored and passed on unchanged."""

    tag: str
    state: "Value"


@dataclass(slots=True)
class Problematic:
    """A malformed instance of a known type. `state` is the received JSON, passed on unchanged."""

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
"""Tags of the encoding itself; they are not types."""

KNOWN_TAGS: Final = META_TAGS | {
    "Undefined@1",
    "BigInt@1",
    "Bytes@1",
    *(kind.tag for kind in (EpochNsec, EpochDays, Map, Set, Error, RegExp)),
}
"""Tags that an `UnknownInstance` cannot have."""

_PROBE = msgspec.json.Encoder()


def same(left: object, right: object) -> bool:
    """Whether two values are the same value.

    The order of members does not matter. `1` and `1.0` are the same number; `True` is not a number,
    and a BigInt is not equal to the number with the same value.
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
    """Whether an int is a BigInt: by its type, or because it is not an exact double."""
    if isinstance(value, BigInt):
        return True
    return type(value) is int and not -SAFE_INTEGER <= value <= SAFE_INTEGER


def is_plain(value: object, unified: bool, room: int = NESTING_MAX) -> bool:
    """Whether msgspec writes this value exactly as JavaScript would, strings aside.

    Every write runs this, so it is one loop over exact types. False only means that a slower check
    is needed: for an unusual number, a rich value, an escape or an invalid value. Lone surrogates
    are not detected here but when encoding.
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
    """Whether every JSON encoder writes this double the same: finite, not integral, no exponent."""
    return (1e-3 <= number < 1e15 or -1e15 < number <= -1e-3) and number % 1 != 0


def check(value: object, unified: bool = False) -> None:
    """Raise `InvalidValue` with the path of the first value that this mode cannot encode."""
    try:
        if is_plain(value, unified):
            _PROBE.encode(value)
            return
    except (UnicodeEncodeError, RecursionError):
        pass  # the slow check names the place, or succeeds if only the stack was too deep
    # Imported late: few values need it, and it imports the types above.
    from holdfast.store.value_check import examine

    examine(value, unified)


def shape_problem(value: Instance) -> str:
    """What is wrong with the state of a known instance; empty if it is valid."""
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
