"""Why a frame was not read, addressed to the request that it contains.

A client waits for the answer to its `requestId`. It ignores a refusal under another id, and its
request never settles. So a frame that is JSON and names its request is refused under that id, with
the error that fits the problem:

    a value that cannot be stored     TransactionError in a commit, QueryError in a query or a watch
    a watch of an unknown form        QueryError
    a session or a seq of a bad form  ProtocolError
    everything else                   InvalidMessageError

This is the slow path: it runs only for frames that could not be read.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from holdfast.store.errors import InvalidValue
from holdfast.store.values import NESTING_MAX, check
from holdfast.sync.wire.errors import INVALID, InvalidMessage, UnacceptableContent, Unreadable

HEAD_MAX: Final = 64 * 1024
"""How much of a frame is searched for its requestId when all of it is too much to parse."""

_CONTENT: Final = {
    "transact": "TransactionError",
    "graph.query": "QueryError",
    "session.watch.set": "QueryError",
    "session.watch.add": "QueryError",
}
"""The error with which each kind of request is refused because of a value in it."""

_SEQS: Final = ("seenSeq", "fromSeq", "toSeq", "localSeq", "forkSeq", "limit")

_MEMBER = re.compile(r'\s*"([^"\\]*)"\s*:\s*"([^"\\]*)"\s*,?')
_BEGIN = re.compile(r"\s*\{")


def explained(text: str, error: InvalidMessage, unified: bool) -> Unreadable:
    """The refusal of a frame that is not a request, under the id of the request if it has one."""
    try:
        wire = json.loads(text, parse_int=_integer, parse_constant=_not_json)
    except RecursionError:
        envelope = head(text)
        reason = f"nested deeper than {NESTING_MAX}"
        return _content(envelope, reason) or InvalidMessage(error.hint, _id(envelope))
    except ValueError:
        return error  # not JSON: nothing in it is an id
    if not isinstance(wire, dict):
        return error
    try:
        check(wire, unified)
    except InvalidValue as found:
        return _content(wire, str(found)) or InvalidMessage(str(found), _id(wire))
    name = _shape_error(wire)
    request_id = _id(wire)
    if name is None or request_id == INVALID:
        return InvalidMessage(error.hint, request_id)
    return UnacceptableContent(name, error.hint, request_id)


def request_id_of(text: str) -> str:
    """The id of a request that is too long to be parsed; `invalid` if it does not begin with it."""
    return _id(head(text))


def head(text: str) -> dict[str, str]:
    """The members that a frame begins with, as far as they are plain strings."""
    begin = _BEGIN.match(text)
    fields: dict[str, str] = {}
    at = 0 if begin is None else begin.end()
    while at and (member := _MEMBER.match(text, at, HEAD_MAX)) is not None:
        fields[member[1]] = member[2]
        at = member.end()
    return fields


def _content(wire: dict[str, Any], reason: str) -> Unreadable | None:
    """The refusal of a request for a value in it; None if it is not a known request."""
    request_id, kind = _id(wire), wire.get("type")
    if request_id == INVALID or not isinstance(kind, str):
        return None
    name = _CONTENT.get(kind, "ProtocolError")
    return UnacceptableContent(name, reason, request_id, hint="send other values")


def _id(wire: dict[str, Any]) -> str:
    """The requestId, if it can be sent back."""
    id = wire.get("requestId")
    if not isinstance(id, str) or any("\ud800" <= c <= "\udfff" for c in id):
        return INVALID
    return id


def _shape_error(wire: dict[str, Any]) -> str | None:
    """The error of a request whose parts have a bad form; None if the request itself has one."""
    kind = wire.get("type")
    if not isinstance(wire.get("space"), str):
        return None
    if kind == "session.open":
        return "ProtocolError" if isinstance(wire.get("session"), dict) else None
    if not isinstance(wire.get("sessionId"), str):
        return None
    if kind in ("session.watch.set", "session.watch.add"):
        return "QueryError" if isinstance(wire.get("watches"), list) else None
    numbers = [wire[name] for name in _SEQS if name in wire]
    return "ProtocolError" if any(isinstance(n, int | float) for n in numbers) else None


def _integer(text: str) -> int:
    # Python refuses to parse thousands of digits; an integer of 400 is refused anyway.
    return int(text[:400])


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
