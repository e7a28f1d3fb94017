"""The hashes that every peer computes alike."""

import hashlib
import struct
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.errors import InvalidValue
from holdfast.store.hashing import (
    blob_hash,
    hash_of,
    hash_text,
    merkle_reference,
    reference_text,
)
from holdfast.store.values import (
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
    same,
)
from tests.store import strategies
from tests.store.test_values import nested


def stream(hexadecimal: str) -> bytes:
    return hashlib.sha256(bytes.fromhex(hexadecimal)).digest()


STREAMS: list[tuple[object, str]] = [
    (None, "20"),
    (Undefined, "21"),
    (True, "22 01"),
    (False, "22 00"),
    (0, "23 0000000000000000"),
    (-0.0, "23 0000000000000000"),
    (1, "23 3ff0000000000000"),
    (1.0, "23 3ff0000000000000"),
    (-1.5, "23 bff8000000000000"),
    ("", "24 00"),
    ("é", "24 02 c3a9"),
    ("a" * 200, "24 c801" + "61" * 200),
    (b"", "25 00"),
    (b"\x01\x02\x03", "25 03 010203"),
    (BigInt(0), "26 01 00"),
    (BigInt(-1), "26 01 ff"),
    (BigInt(128), "26 02 0080"),
    (2**64, "26 09 010000000000000000"),
    (EpochNsec(0), "27 01 00"),
    (EpochDays(-129), "28 02 ff7f"),
    (ContentHash("fid1", b"\x07"), "29 04 66696431 01 07"),
    ([], "10 00"),
    ([None, True], "10 20 2201 00"),
    ([Hole, Hole, None, Hole], "10 01 02 20 01 01 00"),
    ([Hole] * 200, "10 01 c801 00"),
    ([Undefined], "10 21 00"),
    ({}, "11 00"),
    ({"b": None, "a": True}, "11 24 01 61 2201 24 01 62 20 00"),
    ({"\uffff": None, "😀": None}, "11 24 03 efbfbf 20 24 04 f09f9880 20 00"),
    ({"a": Undefined}, "11 24 01 61 21 00"),
    (UnknownInstance("X@1", None), "12 03 584031 20"),
    (Problematic("X@1", None), "12 03 584031 20"),
    (Set([None]), "12 05 5365744031 10 20 00"),
    (Map([[None, True]]), "12 05 4d61704031 10 10 20 2201 00 00"),
    (Error({"message": ""}), "12 07 4572726f724031 11 24 07 6d657373616765 24 00 00"),
    (
        RegExp("a", "", "x"),
        "12 08 5265674578704031 11 24 05 666c616773 24 00"
        "24 06 666c61766f72 24 01 78 24 06 736f75726365 24 01 61 00",
    ),
]


@pytest.mark.shows("HASH-STREAM")
@pytest.mark.parametrize(("value", "fed"), STREAMS, ids=[repr(v)[:40] for v, _ in STREAMS])
def test_the_canonical_hash_is_over_the_tagged_stream(value: object, fed: str) -> None:
    assert hash_of(value) == stream(fed)


@pytest.mark.shows("HASH-ORDER")
@given(st.dictionaries(st.text(), strategies.json_values), st.randoms(use_true_random=False))
def test_member_order_changes_no_hash(members: dict[str, object], random: Random) -> None:
    names = list(members)
    random.shuffle(names)
    shuffled = {name: members[name] for name in names}
    assert hash_of(shuffled) == hash_of(members)
    assert merkle_reference(shuffled) == merkle_reference(members)


@pytest.mark.shows("HASH-STREAM")
@given(strategies.values, strategies.values)
def test_values_share_a_canonical_hash_exactly_when_they_are_the_same(
    left: object, right: object
) -> None:
    assert (hash_of(left) == hash_of(right)) == same(left, right)


@pytest.mark.shows("HASH-TEXT")
def test_a_canonical_hash_as_text() -> None:
    assert hash_text(hash_of(None)) == "fid1:Nqnn8clbgv-5l0PgxcTOldg8mkMKrFn4TvPL-rYUUGg"


# Computed once with the public implementation of merkle references, its JSON flavour.
MERKLE: list[tuple[object, str]] = [
    (None, "30addfff105e3b612a7798a446a1b85f29b942d98ae0c1aa86bc5a28fbf7dde7"),
    (True, "1f4d28ae96597546e4e61ed281e4ecb096fc38e3d884cfe21038b936f8a44b00"),
    (False, "5f8053aa629a10173d637c8e599d089ad151aaaebfafc8da00527b409f3bd984"),
    (0, "151331af292d77ec5ab6f74e6148a33a9abdb917e0c16900404a81bbdd68b8c3"),
    (1, "5ccc2c80388b21401d3c0a863ca9cd94bc3e2ae64c7f2c0e6f151f5b7c669966"),
    (-1, "b4d190b31bbc5ae525f77bc2aac0c929f38bff473c4e22870556b6fba15c31fb"),
    (63, "604229bb1cf78fadfb65ec1bcf533d17da7c5ab89b6ba568af3f61d7c283f08c"),
    (64, "c6ead3a3a4c3bae5da1e8995e47a47fce7e2e9753ee9e8847445022c97618e8c"),
    (-64, "5a10294ed8660e5cd9ec7ac04d7c2cc3b51fda9d8fa153d5035c6c659452561f"),
    (-65, "110ce124a8103e951ed882dc973a3810cc29dcb125f48ace7d74393e0c355acb"),
    (127, "ec0e38e33a697008973effde5d39f7a8e4ac0736e1771c53abb5bac91e1f14b7"),
    (128.0, "53df5e1783cbb1c0ba6b7ff356a27bf71e98be5ccb85da7769ad9c23ae61f937"),
    (1.5, "68146588a213362b3d1146a6ac20d7e26f992437f911e6ddda5eb414d4136769"),
    (-0.0, "151331af292d77ec5ab6f74e6148a33a9abdb917e0c16900404a81bbdd68b8c3"),
    (1e21, "d382b8fd9c61067f9b1db07db16002afee792d914300934b553a3a8c462e9b18"),
    ("", "e97c48642f9c08b09b26e54e046b31b2ff3b82843698dcba040c47348322fcc8"),
    ("a", "ff7dbc36db2126e268247aa807a44cb626d95c19e5f6a890b209c1b5fd04cef2"),
    ("é😀", "1d0435a6dde7e34278723b3b98982702aac446d868f9766fb537e5ace6e128f3"),
    ([], "7de22fdc14f1284c62661b2ef7350c0c3f14a6bb3ebfa97eea0e188bec775af7"),
    ([1], "41260e81e09c37f04b3ca46b0ca31e85979f28abf4c9d63ba20950d9255aa430"),
    ([1, 2, 3], "b59ce05d0132d994988d670a688441a7e627462ce11f26f99a432b73c000a51e"),
    ([[], {}], "2fb4b1e4289e74bd97b07c0b4e14e8471608e9aa7f9428b61a54169f8d7f5bde"),
    ({}, "89585db346dfdedaafd9fd665258632f07cf0a49ede627c6bfd986f7fe95e0ac"),
    (
        {"b": 1, "a": [True, None]},
        "3a24de25ae5f1d50de03bd7185a838c4d4126efd9886130f5eb5b341309aa301",
    ),
    (
        {"x": Undefined, "y": 1},
        "4eda1d53d8506651b8d016e1aafb9682337d5c58767889e30987e140201099f4",
    ),
    ([Undefined, 1], "9aaa6c6a3603ed58f56b8d5e641cc1964dbda60aa50aece9f30aef1febd5f416"),
    ([Hole, 1], "9aaa6c6a3603ed58f56b8d5e641cc1964dbda60aa50aece9f30aef1febd5f416"),
    ({"\uffff": 1, "😀": 2}, "f453dea7d2f1d98a7fbc01be05095386f8c0602a6f903e3aa1d71a1ca4a96f5a"),
    (b"\x01\x02\x03", "9900be55e017c35e6ecc6ea8f19ae38db6df5bf53d8129dc87f7acafd5c3988f"),
]


@pytest.mark.shows("HASH-MERKLE")
@pytest.mark.parametrize(("value", "digest"), MERKLE, ids=[repr(v) for v, _ in MERKLE])
def test_the_merkle_reference_is_the_public_one(value: object, digest: str) -> None:
    assert merkle_reference(value).hex() == "01071220" + digest


@pytest.mark.shows("HASH-MERKLE")
def test_a_merkle_reference_as_text() -> None:
    big = merkle_reference(BigInt(12345678901234567890))
    assert reference_text(big) == "ba4jcbb7e3f3gdppn5jbn2mpyovqhtwzmcc3yy73beu6f6dvyyk3cxla6"
    empty = reference_text(merkle_reference({}))
    assert empty == "ba4jcbckylwzunx663kx5t7lgkjmgglyhz4fet3pge7dl7wmg677jlyfm"


@pytest.mark.shows("HASH-MERKLE")
def test_a_reference_stands_for_what_it_refers_to() -> None:
    assert merkle_reference({"a": {"/": merkle_reference(1)}}) == merkle_reference({"a": 1})
    assert merkle_reference({"a": {"/": b"short"}}) != merkle_reference({"a": 1})


def naive_reference(value: object) -> bytes:
    """The scheme as its description has it: a tree first, then one recursion that folds it."""

    def digest(node: object) -> bytes:
        if isinstance(node, str):
            return hashlib.sha256(node.encode()).digest()
        assert isinstance(node, list)
        layer = [x if isinstance(x, bytes) else digest(x) for x in node]
        if not layer:
            return hashlib.sha256(b"").digest()
        while len(layer) > 1:
            rest, layer = layer, []
            while rest:
                left, *rest = rest
                if rest:
                    right, *rest = rest
                    left = hashlib.sha256(left + right).digest()
                layer.append(left)
        return layer[0]

    def integer(number: int) -> bytes:
        size = 1
        while not -(1 << (7 * size - 1)) <= number < 1 << (7 * size - 1):
            size += 1
        groups = [(number >> (7 * at)) & 0x7F for at in range(size)]
        return bytes([group | 0x80 for group in groups[:-1]] + groups[-1:])

    def tree(value: object) -> object:
        match value:
            case None:
                return ["merkle-structure:null", b""]
            case bool():
                return ["merkle-structure:boolean/byte", bytes([value])]
            case str():
                return ["merkle-structure:string/utf-8", value.encode()]
            case int() | float() if value == int(value):
                return ["merkle-structure:integer/leb128", integer(int(value))]
            case float():
                data = struct.pack("<d", value)
                return ["merkle-structure:float/double-precision", data]
            case list():
                return ["merkle-structure:list/item/ref-tree", [tree(x) for x in value]]
            case dict():
                members = sorted(value.items(), key=lambda pair: pair[0].encode())
                pairs = [[tree(name), tree(item)] for name, item in members]
                return ["merkle-structure:map/k+v/ref-tree", pairs]
            case _:
                raise AssertionError(f"no tree for {value!r}")

    return bytes.fromhex("01071220") + digest(tree(value))


@pytest.mark.shows("HASH-MERKLE")
@given(strategies.json_values)
def test_merkle_references_agree_with_the_naive_tree(value: object) -> None:
    assert merkle_reference(value) == naive_reference(value)


@pytest.mark.shows("HASH-BLOB")
def test_a_blob_is_named_by_its_bytes() -> None:
    name = blob_hash(bytes([1, 2, 3, 4]))
    assert name == "ba4jcbh3eu5d6dol7cmp2xnvui4uwzg3paia6ph5tyu2w43dx5cnwvadk"


@pytest.mark.shows("HASH-BLOB")
@given(st.binary(), st.binary())
def test_different_blobs_have_different_names(left: bytes, right: bytes) -> None:
    assert (blob_hash(left) == blob_hash(right)) == (left == right)


@pytest.mark.shows("HASH-REFUSE")
@pytest.mark.parametrize(
    "bad",
    [float("nan"), float("-inf"), "\ud800", {1: 2}, (1,), object(), nested(501), {"\udc00": 1}],
    ids=["nan", "infinity", "surrogate", "name", "tuple", "object", "deep", "surrogate-name"],
)
def test_what_cannot_be_stored_has_no_hash(bad: object) -> None:
    for hashed in (hash_of, merkle_reference):
        with pytest.raises(InvalidValue) as caught:
            hashed([bad])
        assert caught.value.path[:1] == (0,)


@pytest.mark.shows("HASH-REFUSE")
def test_a_hole_is_hashed_only_in_an_array() -> None:
    for value in (Hole, {"a": Hole}):
        with pytest.raises(InvalidValue):
            hash_of(value)


@pytest.mark.shows("HASH-REFUSE")
@pytest.mark.parametrize(
    "rich", [EpochNsec(1), Map(), Undefined, UnknownInstance("X@1", 1)], ids=repr
)
def test_what_json_lacks_has_no_merkle_reference(rich: object) -> None:
    with pytest.raises(InvalidValue, match="no merkle reference"):
        merkle_reference(rich)


@pytest.mark.shows("HASH-REFUSE")
def test_the_deepest_value_has_a_hash() -> None:
    assert len(hash_of(nested(500))) == 32
    assert len(merkle_reference(nested(500))) == 36
