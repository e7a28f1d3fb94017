"""Hashes of values, the same on every peer.

There are two, and the peers of a connection agree on one. `hash_of` (canonical hashing) is the
SHA-256 of a stream in which a byte for its type precedes each value, so no two values share a
stream:

    20 null   21 undefined   22 bool + 01/00   23 number + double, big-endian
    24 string + length + UTF-8   25 bytes + length + raw   26 bigint   27 nanoseconds   28 days
    29 content hash + tag + digest   12 instance + tag + state
    10 array … 00, a run of holes being 01 + count   11 object … 00, its members sorted

`merkle_reference` is the older public scheme: a tree of SHA-256 nodes in which every leaf is paired
with the hash of its type's name, so that a part can be proven without the whole.

A blob is hashed as its bytes, and its name is spelled as a merkle reference is.
"""

import struct
from base64 import b32encode, urlsafe_b64encode
from functools import cache
from hashlib import sha256
from math import isfinite
from typing import Final

from holdfast.store.canonical_text import integer_bytes
from holdfast.store.errors import InvalidValue
from holdfast.store.values import (
    INSTANCES,
    NESTING_MAX,
    BigInt,
    ContentHash,
    EpochDays,
    EpochNsec,
    Hole,
    Undefined,
    check,
    is_bigint,
)

REFERENCE_PREFIX: Final = bytes((0x01, 0x07, 0x12, 0x20))
"""CID version 1, merkle reference, SHA-256, 32 bytes."""

_END = b"\x00"


def hash_of(value: object) -> bytes:
    """The canonical hash: 32 bytes, the same however the members of an object are ordered."""
    stream = bytearray()
    try:
        _feed(stream, value, NESTING_MAX)
    except (_Unhashable, UnicodeEncodeError, RecursionError) as problem:
        raise _refusal(value, problem) from None
    return sha256(stream).digest()


def hash_text(digest: bytes) -> str:
    """A canonical hash as text, `fid1:…`."""
    return "fid1:" + urlsafe_b64encode(digest).decode().rstrip("=")


def merkle_reference(value: object) -> bytes:
    """The merkle reference: 36 bytes, the prefix and a SHA-256 root.

    It covers what plain JSON would: undefined members are left out, undefined elements and holes
    are null. Integers and bytes have their own leaves; other rich values are refused.
    """
    try:
        return REFERENCE_PREFIX + _root(value, NESTING_MAX)
    except (_Unhashable, UnicodeEncodeError, RecursionError) as problem:
        raise _refusal(value, problem) from None


def reference_text(reference: bytes) -> str:
    """A merkle reference as text, `ba4jcb…`: base32 of all but the CID version."""
    return "b" + b32encode(reference[1:]).decode().rstrip("=").lower()


def blob_hash(data: bytes) -> str:
    """The name of a blob: its SHA-256 in the spelling of a merkle reference."""
    return reference_text(REFERENCE_PREFIX + sha256(data).digest())


class _Unhashable(Exception):
    """A part of a value that cannot be hashed."""


def _refusal(value: object, problem: Exception) -> InvalidValue:
    # Hashing keeps no path; the check does, and usually refuses for the same reason.
    try:
        check(value, unified=True)
    except InvalidValue as refused:
        return refused
    return InvalidValue((), str(problem) or "nested deeper than the caller's stack allows")


def _sized(data: bytes) -> bytes:
    return _uleb(len(data)) + data


def _uleb(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _sleb(number: int) -> bytes:
    out = bytearray()
    while not -0x40 <= number < 0x40:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number & 0x7F)
    return bytes(out)


def _feed(stream: bytearray, value: object, room: int) -> None:
    kind = type(value)
    if kind is str:
        assert isinstance(value, str)
        stream += b"\x24" + _sized(value.encode())
    elif value is None:
        stream += b"\x20"
    elif kind is bool:
        stream += b"\x22\x01" if value else b"\x22\x00"
    elif isinstance(value, int) and (kind is int or kind is BigInt):
        if is_bigint(value):
            stream += b"\x26" + _sized(integer_bytes(value))
        else:
            stream += b"\x23" + struct.pack(">d", value)
    elif isinstance(value, float) and kind is float:
        if not isfinite(value):
            raise _Unhashable(f"{value!r} is not a finite number")
        stream += b"\x23" + struct.pack(">d", value or 0.0)  # -0 is 0
    elif isinstance(value, bytes) and kind is bytes:
        stream += b"\x25" + _sized(value)
    elif value is Undefined:
        stream += b"\x21"
    elif isinstance(value, EpochNsec):
        stream += b"\x27" + _sized(integer_bytes(value.value))
    elif isinstance(value, EpochDays):
        stream += b"\x28" + _sized(integer_bytes(value.value))
    elif isinstance(value, ContentHash):
        stream += b"\x29" + _sized(value.tag.encode()) + _sized(value.digest)
    elif not room:
        raise _Unhashable(f"nested deeper than {NESTING_MAX}")
    elif isinstance(value, dict) and kind is dict:
        stream += b"\x11"
        for key in _sorted_names(value):
            stream += b"\x24" + _sized(key.encode())
            _feed(stream, value[key], room - 1)
        stream += _END
    elif isinstance(value, list) and kind is list:
        stream += b"\x10"
        run = 0
        for item in value:
            if item is Hole:
                run += 1
                continue
            if run:
                stream += b"\x01" + _uleb(run)
                run = 0
            _feed(stream, item, room - 1)
        if run:
            stream += b"\x01" + _uleb(run)
        stream += _END
    elif isinstance(value, INSTANCES):
        stream += b"\x12" + _sized(value.tag.encode())
        _feed(stream, value.state, room - 1)
    else:
        raise _Unhashable(f"a {kind.__module__}.{kind.__qualname__} has no hash")


def _sorted_names(members: dict[object, object]) -> list[str]:
    names = [name for name in members if type(name) is str]
    if len(names) != len(members):
        raise _Unhashable("a member name is not a string")
    # By code point, which is the order of their UTF-8 bytes.
    return sorted(names)


def _leaf(kind: str, data: bytes) -> bytes:
    """The node of a typed leaf: the hash of the type's name, paired with the bytes themselves."""
    return sha256(_type(kind) + data).digest()


@cache
def _type(kind: str) -> bytes:
    return sha256(f"merkle-structure:{kind}".encode()).digest()


def _fold(nodes: list[bytes]) -> bytes:
    """Hash neighbours in pairs, level by level; an odd last node moves up unchanged."""
    if not nodes:
        return sha256(b"").digest()
    while len(nodes) > 1:
        pairs = [nodes[at : at + 2] for at in range(0, len(nodes), 2)]
        nodes = [sha256(b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return nodes[0]


def _root(value: object, room: int) -> bytes:
    kind = type(value)
    if isinstance(value, str) and kind is str:
        return _leaf("string/utf-8", value.encode())
    if value is None:
        return _leaf("null", b"")
    if kind is bool:
        return _leaf("boolean/byte", b"\x01" if value else b"\x00")
    if isinstance(value, int) and (kind is int or kind is BigInt):
        return _leaf("integer/leb128", _sleb(int(value)))
    if isinstance(value, float) and kind is float:
        if not isfinite(value):
            raise _Unhashable(f"{value!r} is not a finite number")
        if value.is_integer():
            return _leaf("integer/leb128", _sleb(int(value)))
        return _leaf("float/double-precision", struct.pack("<d", value))
    if isinstance(value, bytes) and kind is bytes:
        return _leaf("bytes/raw", value)
    if not room:
        raise _Unhashable(f"nested deeper than {NESTING_MAX}")
    nodes: list[bytes] = []
    if isinstance(value, list) and kind is list:
        for item in value:
            item = None if item is Hole or item is Undefined else item
            nodes.append(_root(item, room - 1))
        return sha256(_type("list/item/ref-tree") + _fold(nodes)).digest()
    if isinstance(value, dict) and kind is dict:
        link = value.get("/")
        if type(link) is bytes and len(link) == 36 and link.startswith(REFERENCE_PREFIX):
            return link[len(REFERENCE_PREFIX) :]
        for name in _sorted_names(value):
            if value[name] is not Undefined:
                key = _leaf("string/utf-8", name.encode())
                nodes.append(sha256(key + _root(value[name], room - 1)).digest())
        return sha256(_type("map/k+v/ref-tree") + _fold(nodes)).digest()
    raise _Unhashable(f"a {kind.__module__}.{kind.__qualname__} has no merkle reference")
