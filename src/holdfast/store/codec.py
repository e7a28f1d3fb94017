"""Encode values as text and decode them, for the wire and the disk.

There are two modes, and both peers agree on one. Off is plain JSON: undefined members are dropped,
undefined elements and holes become null, and everything else that JSON lacks is refused. On
(`unified`) encodes such a value as an object with one member whose name starts with a slash,
`{"/BigInt@1":"AQ"}`:

    /Undefined@1 null      /BigInt@1 /EpochNsec@1 /EpochDays@1   base64url of two's complement
    /Bytes@1 base64url     /Map@1 pairs   /Set@1 items   /Error@1 /RegExp@1 members
    /hole n                a run of n missing elements
    /object {…}            a real object that would look like a tag
    /quote …               a payload that is not decoded

The text is what JavaScript's `JSON.stringify` writes, so that equal documents have equal text on
both sides. msgspec writes the same except for unusual numbers, which are formatted here.

Decoding never guesses. A known tag with a malformed state becomes a `Problematic` that is encoded
unchanged, an unknown tag an `UnknownInstance`. An integer that is not an exact double is refused
rather than rounded. May refuse a text that another peer would accept; never decodes it differently.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, TypeAlias, cast

import msgspec

from holdfast.store.canonical_text import (
    base64url,
    integer_bytes,
    integer_of,
    number_text,
    unbase64url,
)
from holdfast.store.errors import InvalidValue, MalformedText
from holdfast.store.values import (
    INSTANCES,
    MOMENTS,
    NESTING_MAX,
    SAFE_INTEGER,
    BigInt,
    EpochDays,
    EpochNsec,
    Error,
    Hole,
    Instance,
    Map,
    Problematic,
    RegExp,
    Set,
    Undefined,
    UnknownInstance,
    Value,
    check,
    is_bigint,
    is_ordinary,
    is_plain,
    shape_problem,
)

HOLES_MAX: Final = 1 << 20
"""How many holes one text may contain: a few bytes can encode a very long run."""

_ENCODER = msgspec.json.Encoder()
_SORTING = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder()
_Writing: TypeAlias = tuple[object, object, str | int, bool, int]
"""A value to encode, its place in the tree, its mode, and the nesting left."""

_Part: TypeAlias = tuple[object, object, str | int]
"""A tree to decode, and the place of the result in its owner."""

_LONG = re.compile(r"[0-9]{16}").search
_TWO_DIGITS = re.compile(r"[0-9][0-9]").search


def encode(value: object, unified: bool) -> str:
    """The text of a value; raises `InvalidValue` with the path of what cannot be encoded."""
    return _encode(value, unified, _ENCODER)


def encode_with_parts(
    value: object, parts: Sequence[object], unified: bool
) -> tuple[str, list[str]]:
    """The text of a value and of some of its parts, checked only once."""
    if is_plain(value, unified):
        write = _ENCODER.encode
        try:
            return write(value).decode(), [write(part).decode() for part in parts]
        except (UnicodeEncodeError, RecursionError):
            pass  # the slow path names the place, or succeeds if only the stack was too deep
    return encode(value, unified), [encode(part, unified) for part in parts]


def canonical(value: object) -> str:
    """A text that two values share exactly when they are the same value.

    Members are sorted by code point and every rich value is tagged, whatever the mode.
    """
    return _encode(value, True, _SORTING)


def decode(text: str, unified: bool) -> Value:
    """The value of a text, as a new tree that the caller may change."""
    try:
        value = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise MalformedText(str(error)) from None
    except RecursionError:
        raise InvalidValue((), f"nested deeper than {NESTING_MAX}") from None
    if _has_long_number(text) or (_is_wide(text) and _is_deep(value)):
        try:
            value = _sound(value, NESTING_MAX, ())
        except RecursionError:
            raise InvalidValue((), "nested deeper than the caller's stack allows") from None
    if unified and _maybe_rich(text):
        return _rich(value)
    return cast("Value", value)


def is_simple(text: str, unified: bool) -> bool:
    """Whether any JSON decoder reads this text as `decode` does, if it is JSON at all.

    May be false for a text that is simple.
    """
    return not (_has_long_number(text) or _is_wide(text) or (unified and _maybe_rich(text)))


def _has_long_number(text: str) -> bool:
    """Whether there may be an integer that is not an exact double."""
    # A run of 16 digits covers two of the places 7, 15, 23, …; looking there first is cheap.
    return _TWO_DIGITS(text[7::8]) is not None and _LONG(text) is not None


def _is_wide(text: str) -> bool:
    """Whether there are enough containers to be nested too deep."""
    return len(text) > 2 * NESTING_MAX and text.count("[") + text.count("{") > NESTING_MAX


def _is_deep(value: object) -> bool:
    """Whether a decoded tree is nested too deep."""
    level = [value]
    for _ in range(NESTING_MAX):
        level = [
            child
            for box in level
            for child in (box.values() if type(box) is dict else box)  # type: ignore[attr-defined]
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def _maybe_rich(text: str) -> bool:
    # The slash of a tag may be escaped.
    return '"/' in text or '"\\' in text


def _encode(value: object, unified: bool, encoder: msgspec.json.Encoder) -> str:
    try:
        if is_plain(value, unified):
            return encoder.encode(value).decode()
        return encoder.encode(_wire(value, unified)).decode()
    except _Refused:
        check(value, unified)
        raise AssertionError("check() refuses it too") from None
    except (UnicodeEncodeError, RecursionError):
        check(value, unified)
        raise InvalidValue((), "nested deeper than the caller's stack allows") from None


class _Refused(Exception):
    """A value that cannot be encoded. `check` then finds its path, which encoding does not keep."""


def _wire(value: object, unified: bool) -> object:
    """A value as the tree that msgspec encodes. Iterative, because values may be deep."""
    if value is Undefined and not unified:
        raise _Refused
    top: list[object] = [None]
    todo: list[_Writing] = [(value, top, 0, unified, NESTING_MAX)]
    while todo:
        value, target, key, unified, room = todo.pop()
        kind = type(value)
        if kind is dict or kind is list or isinstance(value, INSTANCES):
            if not room:
                raise _Refused
            if kind is dict:
                wire = _wire_members(value, unified, room, todo)  # type: ignore[arg-type]
            elif kind is list:
                wire = _wire_elements(value, unified, room, todo)  # type: ignore[arg-type]
            else:
                wire = _wire_instance(value, unified, room, todo)  # type: ignore[arg-type]
        else:
            wire = _wire_scalar(value, unified, room)
        target[key] = wire  # type: ignore[index]
    return top[0]


def _wire_members(
    value: dict[object, object], unified: bool, room: int, todo: "list[_Writing]"
) -> object:
    members: dict[str, object] = {}
    slashed = False
    if unified and len(value) == 1:
        (name,) = value
        slashed = type(name) is str and name.startswith("/")
        room -= slashed
        if not room:
            raise _Refused
    for name, item in value.items():
        if type(name) is not str:
            raise _Refused
        if item is Undefined and not unified:
            continue
        members[name] = item
        if type(item) is not str:
            todo.append((item, members, name, unified, room - 1))
    return {"/object": members} if slashed else members


def _wire_elements(
    items: list[object], unified: bool, room: int, todo: "list[_Writing]"
) -> list[object]:
    elements: list[object] = []
    for item in items:
        if item is Hole or (item is Undefined and not unified):
            if not unified:
                elements.append(None)
            elif room < 2:
                raise _Refused
            elif elements and isinstance(elements[-1], _HoleRun):
                elements[-1].holes += 1
            else:
                elements.append(_HoleRun(1))
        elif isinstance(item, Problematic) and item.tag == "hole" and _run(item.state):
            raise InvalidValue((), "a Problematic run of holes would be decoded as holes here")
        else:
            elements.append(item)
    for at, item in enumerate(elements):
        if type(item) is _HoleRun:
            elements[at] = {"/hole": item.holes}
        elif type(item) is not str:
            todo.append((item, elements, at, unified, room - 1))
    return elements


def _wire_instance(value: Instance, unified: bool, room: int, todo: "list[_Writing]") -> object:
    if not unified or type(value.tag) is not str or shape_problem(value):
        raise _Refused
    if isinstance(value, Problematic):
        _still_malformed(value)
        unified = False  # its state is encoded unchanged
    tagged: dict[str, object] = {}
    todo.append((value.state, tagged, f"/{value.tag}", unified, room - 1))
    return tagged


def _wire_scalar(value: object, unified: bool, room: int) -> object:
    kind = type(value)
    if value is None or kind is str or kind is bool:
        return value
    if kind is int and not is_bigint(value):
        return value
    if isinstance(value, float) and kind is float:
        if is_ordinary(value):
            return value
        if not isfinite(value):
            raise _Refused
        if -SAFE_INTEGER <= value <= SAFE_INTEGER and value.is_integer():
            return int(value)
        return msgspec.Raw(number_text(value).encode())
    if not unified or not room:
        raise _Refused
    if isinstance(value, int) and (kind is int or kind is BigInt):
        return {"/BigInt@1": base64url(integer_bytes(value))}
    if value is Undefined:
        return {"/Undefined@1": None}
    if isinstance(value, bytes) and kind is bytes:
        return {"/Bytes@1": base64url(value)}
    if isinstance(value, MOMENTS) and type(value.value) in (int, BigInt):
        return {f"/{value.tag}": base64url(integer_bytes(value.value))}
    raise _Refused


@dataclass(slots=True)
class _HoleRun:
    """A run of holes."""

    holes: int


def _still_malformed(value: Problematic) -> None:
    """Refuse a Problematic whose state is valid: the peer would decode a proper value."""
    try:
        check(value, unified=True)
    except InvalidValue:
        raise _Refused from None
    if not isinstance(_rich({f"/{value.tag}": _wire(value.state, False)}), Problematic):
        raise InvalidValue((), f"a Problematic {value.tag} must not have a valid state")


def _sound(value: object, room: int, path: tuple[str | int, ...]) -> object:
    """The decoded tree with long integers as doubles; refuses those that are not exact."""
    if type(value) is int and not -SAFE_INTEGER <= value <= SAFE_INTEGER:
        try:
            double = float(value)
        except OverflowError:
            double = None
        if double is None or number_text(double) != str(value):
            raise InvalidValue(path, "an integer beyond ±(2^53-1) that is not an exact double")
        return double
    if isinstance(value, list | dict):
        if not room:
            raise InvalidValue(path, f"nested deeper than {NESTING_MAX}")
        pairs = enumerate(value) if isinstance(value, list) else list(value.items())
        for key, item in pairs:
            if type(item) is int or type(item) is list or type(item) is dict:
                value[key] = _sound(item, room - 1, (*path, key))
    return value


def _run(state: object) -> int:
    """The length of a run of holes; 0 if the state is not one. In JSON 1.0 is the number 1."""
    if type(state) is float and state.is_integer():
        state = int(state)
    return state if type(state) is int and state > 0 else 0


def _rich(wire: object) -> Value:
    """A decoded tree with its tags as values. Changes the tree in place; iterative."""
    holes = 0
    top: list[object] = [None]
    todo: list[_Part] = [(wire, top, 0)]
    while todo:
        wire, target, key = todo.pop()
        value = wire
        if isinstance(wire, dict):
            tag = _tag(wire)
            if tag is None:
                todo.extend((item, wire, name) for name, item in wire.items())
            else:
                value, parts = _instance(tag, wire[f"/{tag}"])
                todo.extend(parts)
        elif isinstance(wire, list):
            elements: list[object] = []
            for item in wire:
                run = _hole_run(item)
                if run:
                    holes += run
                    if holes > HOLES_MAX:
                        raise InvalidValue((), f"more than {HOLES_MAX} holes")
                    elements.extend([Hole] * run)
                else:
                    todo.append((item, elements, len(elements)))
                    elements.append(None)
            value = elements
        if isinstance(target, UnknownInstance):
            target.state = cast("Value", value)
        else:
            target[key] = value  # type: ignore[index]
    return cast("Value", top[0])


def _instance(tag: str, state: object) -> tuple[Value, list[_Part]]:
    """The value of a tag, and its parts that are still to be decoded."""
    try:
        return _known_instance(tag, state)
    except ValueError as error:
        return Problematic(tag, cast("Value", state), str(error)), []


def _known_instance(tag: str, state: object) -> tuple[Value, list[_Part]]:
    """Like `_instance`; raises ValueError, with the state unchanged, if it is malformed."""
    match tag:
        case "object":
            members = _members(state)
            return cast("Value", members), [(x, members, name) for name, x in members.items()]
        case "quote":
            return cast("Value", state), []
        case "hole":
            raise ValueError("expected a run of holes in an array")
        case "Undefined@1":
            if state is not None:
                raise ValueError("expected null")
            return Undefined, []
        case "BigInt@1":
            return BigInt(integer_of(state)), []
        case EpochNsec.tag:
            return EpochNsec(integer_of(state)), []
        case EpochDays.tag:
            return EpochDays(integer_of(state)), []
        case "Bytes@1":
            return unbase64url(state), []
        case Map.tag:
            pairs = _items(state)
            if not all(len(_items(pair)) == 2 for pair in pairs):
                raise ValueError("expected pairs")
            return Map(cast("list[Value]", pairs)), [
                (item, pair, at) for pair in pairs for at, item in enumerate(_items(pair))
            ]
        case Set.tag:
            items = _items(state)
            return Set(cast("list[Value]", items)), [
                (item, items, at) for at, item in enumerate(items)
            ]
        case Error.tag:
            members = _members(state)
            if _tag(members) == "object":
                members = _members(members["/object"])
            elif _tag(members) is not None:
                raise ValueError("expected members")
            error = _shaped(Error(cast("dict[str, Value]", members)))
            return error, [(item, members, name) for name, item in members.items()]
        case RegExp.tag:
            members = _members(state)
            if not {"source"} <= members.keys() <= {"source", "flags", "flavor"}:
                raise ValueError("expected source, flags and flavor")
            return _shaped(RegExp(**members)), []  # type: ignore[arg-type]
        case _:
            unknown = UnknownInstance(tag, None)
            return unknown, [(state, unknown, "state")]


def _shaped(value: Error | RegExp) -> Error | RegExp:
    problem = shape_problem(value)
    if problem:
        raise ValueError(problem)
    return value


def _members(state: object) -> dict[str, object]:
    if not isinstance(state, dict):
        raise ValueError("expected an object")
    return state


def _items(state: object) -> list[object]:
    if not isinstance(state, list) or any(map(_hole_run, state)):
        raise ValueError("expected an array without holes")
    return state


def _tag(wire: dict[str, object]) -> str | None:
    if len(wire) != 1:
        return None
    (name,) = wire
    return name[1:] if name.startswith("/") else None


def _hole_run(wire: object) -> int:
    """The length of the run of holes that an element encodes, or 0."""
    return _run(wire["/hole"]) if isinstance(wire, dict) and wire.keys() == {"/hole"} else 0
