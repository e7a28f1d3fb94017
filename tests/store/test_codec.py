"""Values to text and back, in both modes."""

import json
import sys
from collections.abc import Callable
from decimal import Decimal
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.store.canonical_text import integer_bytes, number_text
from holdfast.store.codec import HOLES_MAX, canonical, decode, encode
from holdfast.store.errors import InvalidValue, MalformedText
from holdfast.store.values import (
    NESTING_MAX,
    SAFE_INTEGER,
    BigInt,
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
    is_bigint,
    same,
)
from tests.store import strategies


def naive_number(number: float) -> str:
    """The language standard's Number::toString, from the digits and the exponent it names."""
    if number == 0:
        return "0"
    if number < 0:
        return "-" + naive_number(-number)
    _, digit_tuple, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, digit_tuple))
    k, n = len(digits), len(digit_tuple) + exponent
    if k <= n <= 21:
        return digits + "0" * (n - k)
    if 0 < n <= 21:
        return digits[:n] + "." + digits[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + digits
    power = ("+" if n > 0 else "-") + str(abs(n - 1))
    return f"{digits[0]}e{power}" if k == 1 else f"{digits[0]}.{digits[1:]}e{power}"


def naive_base64(data: bytes) -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 6)
    return "".join(alphabet[int(bits[at : at + 6], 2)] for at in range(0, len(bits), 6))


def naive_integer(value: int) -> str:
    size = 1
    while not -(1 << (8 * size - 1)) <= value < 1 << (8 * size - 1):
        size += 1
    return naive_base64((value % (1 << (8 * size))).to_bytes(size, "big"))


def naive(value: object, unified: bool) -> str:
    """The encoding, written for reading: one case per rule."""

    def tag(name: str, state: str) -> str:
        return f'{{"/{name}":{state}}}'

    def text(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    match value:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case str():
            return text(value)
        case int() if is_bigint(value):
            return tag("BigInt@1", text(naive_integer(value)))
        case int():
            return str(value)
        case float():
            return naive_number(value)
        case bytes():
            return tag("Bytes@1", text(naive_base64(value)))
        case EpochNsec() | EpochDays():
            return tag(value.tag, text(naive_integer(value.value)))
        case list():
            items: list[str] = []
            for at, item in enumerate(value):
                if item is not Hole or not unified:
                    absent = item is Hole or (item is Undefined and not unified)
                    items.append("null" if absent else naive(item, unified))
                elif at == 0 or value[at - 1] is not Hole:
                    rest = value[at:]
                    run = next((i for i, x in enumerate(rest) if x is not Hole), len(rest))
                    items.append(tag("hole", str(run)))
            return "[" + ",".join(items) + "]"
        case dict():
            pairs = [
                f"{text(name)}:{naive(item, unified)}"
                for name, item in value.items()
                if unified or item is not Undefined
            ]
            object_text = "{" + ",".join(pairs) + "}"
            slashed = unified and len(value) == 1 and next(iter(value)).startswith("/")
            return tag("object", object_text) if slashed else object_text
        case _ if value is Undefined:
            return tag("Undefined@1", "null")
        case Map() | Set() | Error() | RegExp() | UnknownInstance():
            return f"{{{text('/' + value.tag)}:{naive(value.state, unified)}}}"
        case _:
            raise AssertionError(f"no rule for {value!r}")


def nested_text(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.shows("CODEC-TEXT", "CODEC-NUMBER")
@given(strategies.json_values)
def test_plain_text_agrees_with_the_naive_encoder(value: object) -> None:
    assert encode(value, unified=False) == naive(value, unified=False)


@pytest.mark.shows("CODEC-TEXT", "CODEC-HOLE", "CODEC-OBJECT", "CODEC-INTEGER", "CODEC-INSTANCE")
@given(strategies.values)
def test_unified_text_agrees_with_the_naive_encoder(value: object) -> None:
    assert encode(value, unified=True) == naive(value, unified=True)


@pytest.mark.shows("CODEC-OFF-ABSENT")
@given(
    st.recursive(
        st.one_of(strategies.json_scalars, st.just(Undefined)),
        lambda inner: st.one_of(
            st.lists(st.one_of(inner, st.just(Hole))), st.dictionaries(strategies.names, inner)
        ),
        max_leaves=12,
    ).map(lambda value: [value])
)
def test_plain_text_with_absent_values_agrees_with_the_naive_encoder(value: object) -> None:
    assert encode(value, unified=False) == naive(value, unified=False)


@pytest.mark.shows("CODEC-ROUND-TRIP")
@given(strategies.json_values)
def test_json_survives_a_round_trip_in_both_modes(value: object) -> None:
    for unified in (False, True):
        text = encode(value, unified)
        assert same(decode(text, unified), value)
        assert encode(decode(text, unified), unified) == text


@pytest.mark.shows("CODEC-ROUND-TRIP", "CODEC-UNKNOWN", "CODEC-INSTANCE", "CODEC-HOLE")
@given(strategies.values)
def test_any_value_survives_a_unified_round_trip(value: object) -> None:
    text = encode(value, unified=True)
    assert same(decode(text, unified=True), value)
    assert encode(decode(text, unified=True), unified=True) == text


@pytest.mark.shows("CODEC-PROBLEMATIC", "CODEC-UNKNOWN")
@given(strategies.json_values)
@example([{"/hole": HOLES_MAX + 1}])
@example([{"/hole": 1.0}])
def test_whatever_a_peer_tags_is_read_and_written_again_the_same(wire: object) -> None:
    """A campaign drew a tag that stands for more holes than a value may have."""
    try:
        value = decode(json.dumps(wire), unified=True)
    except InvalidValue as error:
        if "holes" in str(error):
            return
        raise
    again = decode(encode(value, unified=True), unified=True)
    assert same(again, value)


@pytest.mark.shows("CODEC-NUMBER")
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e21)
@example(-1.5e300)
@example(5e-324)
@example(1e-7)
@example(0.000001)
@example(123456789012345680000.0)
def test_numbers_are_spelled_by_the_standard(number: float) -> None:
    assert number_text(number) == naive_number(number)
    assert float(number_text(number)) == number


@pytest.mark.shows("CODEC-NUMBER")
@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (100.0, "100"),
        (0.1, "0.1"),
        (-1.5, "-1.5"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1e21, "-1e+21"),
        (1.5e300, "1.5e+300"),
        (1e-6, "0.000001"),
        (-1.234e-6, "-0.000001234"),
        (1e-7, "1e-7"),
        (1.25e-10, "1.25e-10"),
        (12345678901234567.0, "12345678901234568"),
        (123456789012345680000.0, "123456789012345680000"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_a_number_in_a_document_is_spelled_as_javascript_does(number: float, text: str) -> None:
    assert encode({"n": [number]}, unified=False) == f'{{"n":[{text}]}}'


@pytest.mark.shows("CODEC-TEXT")
def test_the_text_is_that_of_json_stringify() -> None:
    value = {"b": [1, None, True], "a": 'é😀\u2028/"\\\x00\b\f\n\r\t\x1f\x7f'}
    expected = '{"b":[1,null,true],"a":"é😀\u2028/\\"\\\\\\u0000\\b\\f\\n\\r\\t\\u001f\x7f"}'
    assert encode(value, unified=False) == expected
    assert encode(value, unified=True) == expected


@pytest.mark.shows("CODEC-OFF-ABSENT", "T8")
def test_off_undefined_members_vanish_and_absent_elements_become_null() -> None:
    value = {"a": Undefined, "b": [Undefined, Hole, 1], "c": {"d": Undefined}}
    assert encode(value, unified=False) == '{"b":[null,null,1],"c":{}}'


@pytest.mark.shows("CODEC-OFF-RICH")
@pytest.mark.parametrize("value", [BigInt(1), b"", EpochNsec(1), Map(), UnknownInstance("M@1", 1)])
def test_off_rich_values_are_refused(value: object) -> None:
    with pytest.raises(InvalidValue, match="only the unified encoding"):
        encode([value], unified=False)


@pytest.mark.shows("CODEC-OFF-RICH")
def test_off_tags_are_ordinary_members() -> None:
    text = '{"n":{"/BigInt@1":"AQ"},"l":{"/object":{"/":1}},"h":[{"/hole":2}]}'
    assert decode(text, unified=False) == json.loads(text)
    assert encode(decode(text, unified=False), unified=False) == text


PAIRS: list[tuple[object, str]] = [
    (Undefined, '{"/Undefined@1":null}'),
    (BigInt(0), '{"/BigInt@1":"AA"}'),
    (BigInt(1), '{"/BigInt@1":"AQ"}'),
    (BigInt(-1), '{"/BigInt@1":"_w"}'),
    (BigInt(128), '{"/BigInt@1":"AIA"}'),
    (BigInt(-128), '{"/BigInt@1":"gA"}'),
    (BigInt(-129), '{"/BigInt@1":"_38"}'),
    (EpochNsec(1), '{"/EpochNsec@1":"AQ"}'),
    (EpochDays(-1), '{"/EpochDays@1":"_w"}'),
    (b"", '{"/Bytes@1":""}'),
    (b"\xfb\xff", '{"/Bytes@1":"-_8"}'),
    (Map([["a", 1], [{"b": 2}, BigInt(1)]]), '{"/Map@1":[["a",1],[{"b":2},{"/BigInt@1":"AQ"}]]}'),
    (Set([1, Undefined]), '{"/Set@1":[1,{"/Undefined@1":null}]}'),
    (
        Error({"type": "TypeError", "name": None, "message": "no", "cause": Error()}),
        '{"/Error@1":{"type":"TypeError","name":null,"message":"no","cause":{"/Error@1":{}}}}',
    ),
    (Error({"/": 1}), '{"/Error@1":{"/object":{"/":1}}}'),
    (RegExp("a+", "gi"), '{"/RegExp@1":{"source":"a+","flags":"gi","flavor":"es2025"}}'),
    ([Hole, Hole, 1, Hole], '[{"/hole":2},1,{"/hole":1}]'),
    ([Hole], '[{"/hole":1}]'),
    ({"/": "short"}, '{"/object":{"/":"short"}}'),
    ({"/object": {"/": 1}}, '{"/object":{"/object":{"/object":{"/":1}}}}'),
    ({"/a": 1, "b": 2}, '{"/a":1,"b":2}'),
    ({"/a": 1, "/b": 2}, '{"/a":1,"/b":2}'),
    (UnknownInstance("Mystery@7", {"a": [1, 2]}), '{"/Mystery@7":{"a":[1,2]}}'),
    (UnknownInstance("", None), '{"/":null}'),
    (UnknownInstance("Mystery@7", BigInt(1)), '{"/Mystery@7":{"/BigInt@1":"AQ"}}'),
    ({"a": Undefined}, '{"a":{"/Undefined@1":null}}'),
]


@pytest.mark.shows(
    "CODEC-UNDEFINED",
    "T8",
    "CODEC-INTEGER",
    "CODEC-BYTES",
    "CODEC-INSTANCE",
    "CODEC-HOLE",
    "CODEC-OBJECT",
    "CODEC-UNKNOWN",
)
@pytest.mark.parametrize(("value", "text"), PAIRS, ids=[text for _, text in PAIRS])
def test_on_a_value_and_its_text(value: object, text: str) -> None:
    assert encode(value, unified=True) == text
    assert same(decode(text, unified=True), value)
    assert encode({"in": [value]}, unified=True) == f'{{"in":[{text}]}}'


@pytest.mark.shows("CODEC-QUOTE")
def test_on_a_quoted_payload_is_taken_as_it_stands() -> None:
    quoted = {"/BigInt@1": "AQ", "x": [{"/hole": 2}, {"/object": {"/": 1}}]}
    assert decode(json.dumps({"/quote": quoted}), unified=True) == quoted
    assert decode('[{"/quote":{"/quote":1}}]', unified=True) == [{"/quote": 1}]


@pytest.mark.shows("CODEC-OBJECT")
def test_on_an_escaped_object_may_have_several_members_and_rich_ones() -> None:
    text = '{"/object":{"a":{"/BigInt@1":"AQ"},"b":1}}'
    assert same(decode(text, unified=True), {"a": BigInt(1), "b": 1})


@pytest.mark.shows("CODEC-OBJECT")
@pytest.mark.parametrize("name", ["\\/BigInt@1", "\\u002fBigInt@1", "\\u002FBigInt@1"])
def test_on_a_tag_may_be_spelled_with_escapes(name: str) -> None:
    assert same(decode(f'{{"{name}":"AQ"}}', unified=True), BigInt(1))


MALFORMED = [
    '{"/Undefined@1":1}',
    '{"/BigInt@1":5}',
    '{"/BigInt@1":""}',
    '{"/BigInt@1":"AAE"}',
    '{"/BigInt@1":"AQ=="}',
    '{"/BigInt@1":"A"}',
    '{"/BigInt@1":"AR"}',
    '{"/BigInt@1":"+w"}',
    '{"/BigInt@1":"é"}',
    '{"/BigInt@1":"A Q"}',
    '{"/EpochNsec@1":null}',
    '{"/EpochDays@1":{"/BigInt@1":"AQ"}}',
    '{"/Bytes@1":[1,2]}',
    '{"/Bytes@1":"/w"}',
    '{"/Map@1":{"a":1}}',
    '{"/Map@1":[1]}',
    '{"/Map@1":[[1,2,3]]}',
    '{"/Map@1":[[1,{"/hole":1}]]}',
    '{"/Set@1":{}}',
    '{"/Set@1":[{"/hole":2}]}',
    '{"/Error@1":"boom"}',
    '{"/Error@1":{"message":5}}',
    '{"/Error@1":{"/BigInt@1":"AQ"}}',
    '{"/Error@1":{"/object":1}}',
    '{"/RegExp@1":{}}',
    '{"/RegExp@1":{"source":1}}',
    '{"/RegExp@1":{"source":"a","extra":1}}',
    '{"/object":5}',
    '{"/object":[{"/":1}]}',
    '{"/hole":2}',
    '[{"/hole":0}]',
    '[{"/hole":-1}]',
    '[{"/hole":true}]',
    '[{"/hole":"2"}]',
    '[{"/hole":1.5}]',
]


@pytest.mark.shows("CODEC-PROBLEMATIC")
@pytest.mark.parametrize("text", MALFORMED)
def test_on_a_malformed_known_tag_is_kept_and_written_unchanged(text: str) -> None:
    value = decode(text, unified=True)
    kept = value[0] if isinstance(value, list) else value
    assert isinstance(kept, Problematic)
    assert kept.problem
    assert encode(value, unified=True) == text
    assert encode({"in": value}, unified=True) == f'{{"in":{text}}}'


@pytest.mark.shows("CODEC-PROBLEMATIC")
def test_on_a_problem_that_is_none_is_refused() -> None:
    for value in (
        Problematic("BigInt@1", "AQ"),
        Problematic("quote", 1),
        Problematic("Mystery@7", 1),
        [Problematic("hole", 2)],
    ):
        with pytest.raises(InvalidValue):
            encode(value, unified=True)


@pytest.mark.shows("CODEC-HOLE-BOMB")
def test_on_a_short_text_cannot_ask_for_endless_holes() -> None:
    run = HOLES_MAX // 2
    assert decode(f'[{{"/hole":{run}}}]', unified=True) == [Hole] * run
    for text in ('[{"/hole":4294967295}]', f'[[{{"/hole":{run}}}],[{{"/hole":{run + 1}}}]]'):
        with pytest.raises(InvalidValue, match="holes"):
            decode(text, unified=True)


@pytest.mark.shows("CODEC-FRESH")
@pytest.mark.parametrize("unified", [False, True])
def test_a_decoded_value_is_a_tree_of_its_own(unified: bool) -> None:
    text = '{"a":[{"b":1}]}'
    first, second = decode(text, unified), decode(text, unified)
    assert isinstance(first, dict)
    assert isinstance(first["a"], list)
    first["a"].append(2)
    assert second == {"a": [{"b": 1}]}


@pytest.mark.shows("CODEC-FRESH")
def test_encoding_leaves_the_value_alone() -> None:
    value = {"a": [Hole, 1.0, {"/": BigInt(1)}], "p": Problematic("Map@1", [{"/object": 1}])}
    before = repr(value)
    encode(value, unified=True)
    canonical(value)
    assert repr(value) == before


@pytest.mark.shows("CODEC-BIG")
def test_a_long_integer_is_a_bigint_on_and_refused_off() -> None:
    assert encode([2**60], unified=True) == encode([BigInt(2**60)], unified=True)
    assert same(decode(encode(2**60, unified=True), unified=True), 2**60)
    with pytest.raises(InvalidValue, match="beyond"):
        encode([2**60], unified=False)


@pytest.mark.shows("CODEC-BIG")
@pytest.mark.parametrize("unified", [False, True])
@pytest.mark.parametrize(
    "digits",
    ["9007199254740993", "-9007199254740993", "18446744073709551617", "1" * 30, "9" * 400],
)
def test_an_integer_that_no_double_spells_is_refused_in_a_text(digits: str, unified: bool) -> None:
    for pad in range(20):  # wherever it stands
        with pytest.raises(InvalidValue) as caught:
            decode(f'{{"{"x" * pad}":[{digits}]}}', unified)
        assert caught.value.path == ("x" * pad, 0)
    with pytest.raises(InvalidValue):
        decode(digits, unified)


@pytest.mark.shows("CODEC-BIG")
@given(st.floats(min_value=2.0**53, max_value=1e21, exclude_max=True), st.booleans())
def test_a_long_integer_that_a_double_spells_is_that_double(number: float, unified: bool) -> None:
    for sign in (1, -1):
        text = encode([sign * number], unified)
        value = decode(text, unified)
        assert value == [sign * number]
        assert isinstance(value, list)
        assert type(value[0]) is float


@pytest.mark.shows("CODEC-BIG")
def test_digits_in_strings_are_just_text() -> None:
    text = '{"12345678901234567":"9007199254740993","safe":9007199254740991}'
    expected = {"12345678901234567": "9007199254740993", "safe": SAFE_INTEGER}
    assert decode(text, unified=False) == expected


@pytest.mark.shows("CODEC-TEXT-BAD")
@pytest.mark.parametrize("unified", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "{", "[1,]", "NaN", "Infinity", "undefined", "1e400", "01", "+1", "\ufeff1"),
        *("'a'", '"\\ud800"', '"\ud800"', '"\x01"', '"\\x41"', "{1:2}", "[1] 2", '{"a":1,}'),
    ],
    ids=ascii,
)
def test_a_text_that_is_not_json_is_refused(text: str, unified: bool) -> None:
    with pytest.raises(MalformedText) as caught:
        decode(text, unified)
    assert str(caught.value).startswith("the text is not JSON: ")


@pytest.mark.shows("CODEC-TEXT-BAD")
@given(st.text(), st.booleans())
def test_any_text_is_read_or_refused_by_name(text: str, unified: bool) -> None:
    try:
        value = decode(text, unified)
    except InvalidValue:
        return
    assert same(decode(encode(value, unified), unified), value)


@pytest.mark.shows("CODEC-DEEP", "CODEC-TEXT-BAD")
@pytest.mark.parametrize("unified", [False, True])
def test_the_deepest_text_is_read_and_a_deeper_one_refused(unified: bool) -> None:
    deepest = nested_text(NESTING_MAX)
    assert encode(decode(deepest, unified), unified) == deepest
    for levels in (NESTING_MAX + 1, 5_000, 200_000):
        with pytest.raises(InvalidValue, match="nested deeper than 500"):
            decode(nested_text(levels), unified)


@pytest.mark.shows("CODEC-DEEP")
@pytest.mark.parametrize("opening", ['{"/object":{"/":', '{"/Mystery@7":[', '{"/Set@1":['])
def test_the_deepest_tags_are_read_and_written(opening: str) -> None:
    closing = "".join({"{": "}", "[": "]"}.get(c, "") for c in reversed(opening))
    depth = NESTING_MAX // 2
    text = opening * depth + "1" + closing * depth
    assert encode(decode(text, unified=True), unified=True) == text
    with pytest.raises(InvalidValue, match="nested deeper than 500"):
        decode(opening * (depth + 1) + "1" + closing * (depth + 1), unified=True)


@pytest.mark.shows("CODEC-DEEP", "CODEC-TEXT-BAD")
def test_a_caller_deep_in_its_own_stack_gets_the_named_error() -> None:
    value = decode(nested_text(400), unified=False)

    def at_depth(frames: int, act: Callable[[], object]) -> object:
        return act() if frames == 0 else at_depth(frames - 1, act)

    here = len(_frames())
    frames = sys.getrecursionlimit() - here - 200
    for act in (
        lambda: encode(value, unified=False),
        lambda: encode([value, 1e30], unified=True),
        lambda: decode(nested_text(400), unified=False),
    ):
        with pytest.raises(InvalidValue, match="nested deeper than"):
            at_depth(frames, act)


def _frames() -> list[object]:
    frames: list[object] = []
    frame = sys._getframe()
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back  # type: ignore[assignment]
    return frames


@pytest.mark.shows("CODEC-REFUSE")
@pytest.mark.parametrize("unified", [False, True])
@pytest.mark.parametrize(
    "bad", [float("nan"), float("inf"), "\ud800", {1: 2}, (1,), {1}, object(), {"\udc00": 1}]
)
def test_encoding_refuses_bad_values_with_their_place(bad: object, unified: bool) -> None:
    with pytest.raises(InvalidValue) as caught:
        encode({"a": [1, bad]}, unified)
    assert caught.value.pointer.startswith("/a/1")


@pytest.mark.shows("CODEC-CYCLE")
@pytest.mark.parametrize("unified", [False, True])
def test_encoding_refuses_a_value_that_contains_itself(unified: bool) -> None:
    value: dict[str, object] = {}
    value["me"] = [value]
    with pytest.raises(InvalidValue, match="contains itself"):
        encode(value, unified)
    with pytest.raises(InvalidValue, match="contains itself"):
        canonical(value)


@pytest.mark.shows("CODEC-CANONICAL")
@given(strategies.values, strategies.values)
def test_values_share_a_canonical_text_exactly_when_they_are_the_same(
    left: object, right: object
) -> None:
    assert (canonical(left) == canonical(right)) == same(left, right)


@pytest.mark.shows("CODEC-CANONICAL")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1.0, "a": {"d": -0.0, "c": 2}}, '{"a":{"c":2,"d":0},"b":1}'),
        ({"\uffff": 1, "😀": 2}, '{"\uffff":1,"😀":2}'),
        ({"b": Undefined, "a": 1e21}, '{"a":1e+21,"b":{"/Undefined@1":null}}'),
        ({"/": 2**60}, '{"/object":{"/":{"/BigInt@1":"EAAAAAAAAAA"}}}'),
    ],
)
def test_a_canonical_text(value: object, text: str) -> None:
    assert canonical(value) == text


@pytest.mark.shows("CODEC-CANONICAL")
@given(st.dictionaries(st.text(), strategies.values), st.randoms(use_true_random=False))
def test_member_order_does_not_change_a_canonical_text(
    members: dict[str, object], random: Random
) -> None:
    names = list(members)
    random.shuffle(names)
    assert canonical({name: members[name] for name in names}) == canonical(members)


@pytest.mark.shows("CODEC-INTEGER")
@given(st.one_of(st.integers(-70000, 70000), st.integers()))
def test_an_integer_takes_no_byte_more_than_it_needs(value: int) -> None:
    data = integer_bytes(value)
    assert int.from_bytes(data, "big", signed=True) == value
    if len(data) > 1:
        assert int.from_bytes(data[1:], "big", signed=True) != value
