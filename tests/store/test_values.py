"""Which values may be stored, and when two of them are the same."""

import copy
import datetime
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.codec import encode
from holdfast.store.errors import InvalidValue
from holdfast.store.values import (
    NESTING_MAX,
    SAFE_INTEGER,
    BigInt,
    ContentHash,
    EpochDays,
    EpochNsec,
    Error,
    Hole,
    Map,
    Problematic,
    RegExp,
    Set,
    Undefined,
    UnknownInstance,
    check,
    is_ordinary,
    is_plain,
    same,
)
from tests.store import strategies


def nested(levels: int, inner: object = None) -> object:
    """`inner` in so many lists and objects, in turn."""
    value = inner
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def refused(value: object, unified: bool = False) -> InvalidValue:
    with pytest.raises(InvalidValue) as caught:
        check(value, unified)
    with pytest.raises(InvalidValue) as encoding:
        encode(value, unified)
    assert str(encoding.value) == str(caught.value)
    return caught.value


@pytest.mark.shows("CODEC-REFUSE")
@pytest.mark.parametrize(
    ("value", "pointer", "reason"),
    [
        ({"a": [1, float("nan")]}, "/a/1", "nan is not a finite number"),
        (float("inf"), "", "inf is not a finite number"),
        ({"a": float("-inf")}, "/a", "-inf is not a finite number"),
        ({"a/b": {"~": "\ud800"}}, "/a~1b/~0", "a lone surrogate is not a character"),
        ({"a": {"\udfff": 1}}, "/a/\udfff", "a lone surrogate is not a character"),
        ({"a": {1: 2}}, "/a", "the member name 1 is not a string"),
        ({"a": {None: 2}}, "/a", "the member name None is not a string"),
        ({"a": {True: 2}}, "/a", "the member name True is not a string"),
        ([(1, 2)], "/0", "a builtins.tuple is not a value"),
        ([{1}], "/0", "a builtins.set is not a value"),
        ([bytearray()], "/0", "a builtins.bytearray is not a value"),
        (object(), "", "a builtins.object is not a value"),
        (datetime.date(2026, 1, 1), "", "a datetime.date is not a value"),
    ],
)
@pytest.mark.parametrize("unified", [False, True])
def test_what_cannot_be_stored_is_refused_with_its_place(
    value: object, pointer: str, reason: str, unified: bool
) -> None:
    error = refused(value, unified)
    assert (error.pointer, error.reason) == (pointer, reason)
    assert str(error).encode()


@pytest.mark.shows("CODEC-REFUSE")
def test_the_sentence_names_the_place_and_the_reason() -> None:
    assert str(refused({"a": [float("nan")]})) == (
        "/a/0 cannot be stored: nan is not a finite number"
    )
    assert str(refused(())) == "the value cannot be stored: a builtins.tuple is not a value"


@pytest.mark.shows("CODEC-BIG")
@pytest.mark.parametrize(
    "value",
    [SAFE_INTEGER + 1, -SAFE_INTEGER - 1, 2**64, 1 << 20_000],
    ids=["first", "first-negative", "64-bit", "long"],
)
def test_an_integer_no_double_stands_for_is_refused_in_plain_json(value: int) -> None:
    assert "beyond ±(2^53-1)" in refused([value]).reason
    check([value], unified=True)


@pytest.mark.shows("CODEC-BIG")
@pytest.mark.parametrize("value", [SAFE_INTEGER, -SAFE_INTEGER])
def test_the_last_safe_integers_are_numbers(value: int) -> None:
    check(value)


@pytest.mark.shows("CODEC-OFF-RICH")
@pytest.mark.parametrize(
    "value",
    [
        BigInt(1),
        b"a",
        EpochNsec(1),
        EpochDays(1),
        Map(),
        Set(),
        Error(),
        RegExp("a"),
        UnknownInstance("Mystery@7", None),
        Problematic("BigInt@1", 5),
    ],
    ids=repr,
)
def test_plain_json_refuses_what_only_the_unified_encoding_carries(value: object) -> None:
    assert "only the unified encoding can represent" in refused({"a": value}).reason
    check({"a": value}, unified=True)


@pytest.mark.shows("CODEC-OFF-ABSENT")
def test_undefined_and_holes_are_refused_where_they_have_no_meaning() -> None:
    assert "cannot represent undefined" in refused(Undefined).reason
    check(Undefined, unified=True)
    for unified in (False, True):
        check({"a": Undefined, "b": [Undefined, Hole]}, unified)
        assert "element of an array" in refused(Hole, unified).reason
        assert refused({"a": Hole}, unified).pointer == "/a"
    assert "element of an array" in refused(UnknownInstance("Mystery@7", Hole), True).reason


@pytest.mark.shows("CODEC-INSTANCE")
@pytest.mark.parametrize(
    "value",
    [
        Map([[1]]),
        Map([1]),
        Map([[Hole, 1]]),
        Set([Hole]),
        Error({"message": 5}),
        Error({"type": None}),
        RegExp(5),  # type: ignore[arg-type]
        EpochNsec(1.5),  # type: ignore[arg-type]
        EpochDays(True),
        UnknownInstance("BigInt@1", "AQ"),
        UnknownInstance("hole", 1),
        UnknownInstance(5, 1),  # type: ignore[arg-type]
        UnknownInstance("\ud800", 1),
        Problematic("BigInt@1", [Undefined]),
        Problematic("BigInt@1", b"a"),
        ContentHash("fid1", b""),
        Map([[1, float("nan")]]),
    ],
    ids=repr,
)
def test_an_instance_that_would_read_back_differently_is_refused(value: object) -> None:
    refused([value], unified=True)


@pytest.mark.shows("CODEC-DEEP")
@pytest.mark.parametrize("unified", [False, True])
@pytest.mark.parametrize("inner", [1, 1e30], ids=["ordinary", "unusual"])
def test_nesting_has_a_limit(unified: bool, inner: object) -> None:
    check(nested(NESTING_MAX, inner), unified)
    error = refused(nested(NESTING_MAX + 1, inner), unified)
    assert error.reason == "nested deeper than 500"
    assert len(error.path) == NESTING_MAX
    refused(nested(100_000, inner), unified)


@pytest.mark.shows("CODEC-DEEP")
def test_tags_and_escapes_count_as_nesting() -> None:
    check(nested(NESTING_MAX - 1, b"a"), unified=True)
    refused(nested(NESTING_MAX, b"a"), unified=True)
    refused(nested(NESTING_MAX - 1, {"/": 1}), unified=True)
    check(nested(NESTING_MAX - 1, {"/": 1}), unified=False)
    check(nested(NESTING_MAX - 2, {"/": 1}), unified=True)
    check(nested(NESTING_MAX - 2, [Hole]), unified=True)
    refused(nested(NESTING_MAX - 1, [Hole]), unified=True)
    check(nested(NESTING_MAX - 1, [Hole]), unified=False)


@pytest.mark.shows("CODEC-CYCLE")
@pytest.mark.parametrize("unified", [False, True])
def test_a_value_that_contains_itself_is_refused(unified: bool) -> None:
    members: dict[str, object] = {}
    members["a"] = [1, members, members]
    error = refused({"top": members}, unified)
    assert error.reason == "the value contains itself"
    assert error.pointer in ("/top/a/1", "/top/a/2")
    items: list[object] = []
    items.extend([items, items])
    assert refused(items, unified).reason == "the value contains itself"


@pytest.mark.shows("CODEC-CYCLE")
def test_an_instance_that_contains_itself_is_refused() -> None:
    unknown = UnknownInstance("Mystery@7", None)
    unknown.state = [unknown]
    assert refused(unknown, unified=True).reason == "the value contains itself"


@pytest.mark.shows("CODEC-CYCLE")
def test_a_value_that_stands_twice_in_a_document_is_no_cycle() -> None:
    shared: list[object] = [1e30]
    check({"a": shared, "b": [shared, shared]})


@pytest.mark.shows("CODEC-REFUSE")
@given(strategies.json_values)
def test_any_json_may_be_stored(value: object) -> None:
    check(value, unified=False)
    check(value, unified=True)


@given(strategies.values)
def test_any_value_may_be_stored_in_the_unified_encoding(value: object) -> None:
    check(value, unified=True)


@given(strategies.values, st.booleans())
def test_the_quick_look_never_passes_what_the_careful_walk_refuses(
    value: object, unified: bool
) -> None:
    if is_plain(value, unified):
        check([value, 1e30], unified)  # 1e30 makes it walk


@pytest.mark.shows("CODEC-NUMBER")
@given(st.floats())
def test_an_ordinary_number_is_spelled_alike_by_everyone(number: float) -> None:
    if is_ordinary(number):
        assert "e" not in repr(number)
        assert not number.is_integer()


@pytest.mark.shows("CODEC-SAME")
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        (0.0, -0.0),
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1}),
        (2**60, BigInt(2**60)),
        (Map([[1, 2]]), Map([[1.0, 2]])),
        (UnknownInstance("x", {"a": 1, "b": 2}), UnknownInstance("x", {"b": 2, "a": 1})),
        (RegExp("a"), RegExp("a")),
        (b"a", b"a"),
        (EpochNsec(5), EpochNsec(5)),
        (ContentHash("fid1", b"a"), ContentHash("fid1", b"a")),
        (Problematic("BigInt@1", 5, "one"), Problematic("BigInt@1", 5, "other")),
    ],
    ids=repr,
)
def test_the_same(left: object, right: object) -> None:
    assert same(left, right)
    assert same(right, left)


@pytest.mark.shows("CODEC-SAME")
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (True, 1),
        (False, 0),
        (True, 1.0),
        (None, False),
        ("1", 1),
        ([1], [1, 1]),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 1}),
        ({}, []),
        ({"a": Undefined}, {}),
        ({"a": Undefined}, {"a": None}),
        ([Hole], [Undefined]),
        ([Hole], [None]),
        (1, BigInt(1)),
        (2**53, 2.0**53),
        (2**60, 2**60 + 1),
        (2**60, float(2**60)),
        (EpochNsec(5), EpochDays(5)),
        (EpochNsec(5), 5),
        (b"a", "a"),
        (Set([1]), Map([[1, 1]])),
        (Set([1]), Set([2])),
        (Set([1]), [1]),
        (UnknownInstance("x", 1), UnknownInstance("y", 1)),
        (UnknownInstance("BigInt@1", 5), Problematic("BigInt@1", 5)),
        ([{"a": [1, {"b": True}]}], [{"a": [1, {"b": 1}]}]),
    ],
    ids=repr,
)
def test_not_the_same(left: object, right: object) -> None:
    assert not same(left, right)
    assert not same(right, left)


@pytest.mark.shows("CODEC-SAME")
@given(strategies.values)
def test_a_value_is_the_same_as_its_copy(value: object) -> None:
    assert same(value, copy.deepcopy(value))


@given(strategies.values, strategies.values)
def test_sameness_has_no_direction(left: object, right: object) -> None:
    assert same(left, right) == same(right, left)


def test_undefined_and_hole_exist_once() -> None:
    for absent in (Undefined, Hole):
        assert copy.deepcopy(absent) is absent
        assert pickle.loads(pickle.dumps(absent)) is absent
    assert repr([Undefined, Hole, BigInt(5)]) == "[Undefined, Hole, BigInt(5)]"
