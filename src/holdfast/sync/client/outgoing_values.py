"""Check and copy what a caller writes, before it is shown or sent.

A value that cannot be encoded would be noticed only when its message is sent, when the caller has
returned and other commits wait behind it. So it is refused here, with its path. The caller may
change what it passed afterwards, so a copy is kept.
"""

from __future__ import annotations

from typing import Any

from holdfast.store import codec
from holdfast.store.errors import InvalidValue
from holdfast.store.pointer import Path
from holdfast.sync.client.errors import CommitRefused
from holdfast.sync.client.immutable import thaw
from holdfast.sync.wire.messages import MESSAGE_BYTES_MAX

TOO_LARGE = "MessageTooLargeError"

ENVELOPE_BYTES = 4096
"""Room for the parts of a message other than its commit."""


def sendable(commit: dict[str, Any], unified: bool) -> dict[str, Any]:
    """A copy of a commit that can be sent; raises `InvalidValue` or `CommitRefused`."""
    copied = plain(commit)
    text = codec.encode(copied, unified)
    size = len(text) if text.isascii() else len(text.encode())
    if size > MESSAGE_BYTES_MAX - ENVELOPE_BYTES:
        raise too_large(size)
    assert isinstance(copied, dict)
    return copied


def storable(value: Any, at: Path, unified: bool) -> Any:
    """A copy of a value that can be part of a document, at `at`; or `InvalidValue`."""
    try:
        copied = plain(value)
        codec.encode(copied, unified)
    except InvalidValue as error:
        raise InvalidValue((*at, *error.path), error.reason) from None
    return copied


def plain(value: Any) -> Any:
    """A copy of a value that shares no container with it."""
    try:
        return thaw(value)
    except RecursionError:
        raise InvalidValue((), "it contains itself, or is nested too deep") from None


def too_large(size: int) -> CommitRefused:
    """The refusal of a commit that no server reads."""
    return CommitRefused(
        TOO_LARGE,
        f"the commit is {size} bytes long; at most {MESSAGE_BYTES_MAX - ENVELOPE_BYTES} are sent",
        {"hint": "split the commit, or store large data as blobs"},
    )
