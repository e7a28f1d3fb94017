"""Every message on the wire, as types.

One frame is one JSON object with a `type`. `parse_request` and `parse_answer` turn a frame into one
of the types below or raise `InvalidMessage`; a member that a type does not have is ignored, so a
newer peer may send more than we understand. Commits, queries and documents are opaque here: the
store and the traversal check them.

A peer may name `capabilities` in its hello. The answer repeats those that both have, and only then
do the messages and members marked below appear; a peer that names none sees the first version.

    coverage    toSeq promises that every watched change up to it was sent; a resume starts from the
                client's own seenSeq
    conflicts   a ConflictError has `conflicts` and `retryAfterSeq`; every error may have a `hint`
    identity    hello.ok has `sessionOpen`; session.open is signed over its challenge and audience
    branches    branch.create, branch.delete, branch.list, branch.diff, branch.merge
    history     history.read
    removes     documents that are no longer reached are removed while the session runs
    existing    session.open creates no space: one that does not exist is refused by name. For
                peers that only read; every server has it, and clients name it only if asked to
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from holdfast.store import codec
from holdfast.store.errors import InvalidValue
from holdfast.sync.wire.decode_failure import explained
from holdfast.sync.wire.errors import InvalidMessage

PROTOCOL: Final = "memory/v2"

PROTOCOL_VERSION: Final = 2
"""The shapes of the messages below.

1  hello, session.open, transact, graph.query, session.watch.set, session.watch.add, session.ack
2  capabilities: conflicts with detail, signed opens, branches, history, removes, coverage
"""

CAPABILITIES: Final = frozenset(
    {"coverage", "conflicts", "identity", "branches", "history", "removes"}
)

EXISTING: Final = "existing"
"""The capability of a client that wants no space created."""

MESSAGE_BYTES_MAX: Final = 33 * 1024 * 1024
"""The longest message. A commit may be 32 MiB; this leaves room around it."""

HANDSHAKE: Final = "handshake"
"""The requestId under which a hello is refused: it has none of its own."""


class Message(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type"):
    """The root of all messages; `type` on the wire says which one it is."""


class Part(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A piece of a message."""


# what both peers must agree on


class Flags(Part, frozen=True, kw_only=True, omit_defaults=False):
    """How values are written and hashed; both peers must have the same."""

    rich_storable_values: bool = False
    unified_json_encoding: bool = False
    canonical_hashing: bool = False
    modern_schema_hash: bool = False


# from a client


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """The first message of a connection. Flags stay raw: a peer with others is told both sets."""

    protocol: str
    flags: dict[str, Any]
    capabilities: list[str] | UnsetType = UNSET


class SessionDescriptor(Part, frozen=True, kw_only=True):
    """Which session to open: none named is a fresh one; a token resumes."""

    session_id: str | UnsetType = UNSET
    seen_seq: int | UnsetType = UNSET
    session_token: str | UnsetType = UNSET


class SessionOpen(Message, frozen=True, kw_only=True, tag="session.open"):
    """Open or resume a session of a space."""

    request_id: str
    space: str
    session: SessionDescriptor
    invocation: Any = UNSET
    authorization: Any = UNSET


class Command(Message, frozen=True, kw_only=True):
    """A request within a session."""

    request_id: str
    space: str
    session_id: str


class Transact(Command, frozen=True, kw_only=True, gc=False, tag="transact"):
    """Land a commit."""

    # Not for the collector (gc=False): what is read off the wire holds no cycle to be found.

    commit: dict[str, Any]


class GraphQuery(Command, frozen=True, kw_only=True, tag="graph.query"):
    """Read a graph once."""

    query: dict[str, Any]


class WatchSpec(Part, frozen=True, kw_only=True):
    """One interest of a session."""

    id: str
    kind: Literal["graph", "query"]
    query: dict[str, Any]


class WatchSet(Command, frozen=True, kw_only=True, tag="session.watch.set"):
    """Replace the session's watches."""

    watches: list[WatchSpec]


class WatchAdd(Command, frozen=True, kw_only=True, tag="session.watch.add"):
    """Add to the session's watches."""

    watches: list[WatchSpec]


class Ack(Command, frozen=True, kw_only=True, tag="session.ack"):
    """Everything up to `seen_seq` is part of the client's confirmed state."""

    seen_seq: int


class BranchCreate(Command, frozen=True, kw_only=True, tag="branch.create"):
    """Fork a branch, as a write with a seq of its own. Capability: branches."""

    local_seq: int
    name: str
    parent_branch: str = ""
    fork_seq: int | None = None


class BranchDelete(Command, frozen=True, kw_only=True, tag="branch.delete"):
    """Close a branch to writes, as a write with a seq of its own. Capability: branches."""

    local_seq: int
    name: str


class BranchList(Command, frozen=True, kw_only=True, tag="branch.list"):
    """Name the branches of the space. Capability: branches."""

    include_deleted: bool = False


class BranchDiff(Command, frozen=True, kw_only=True, tag="branch.diff"):
    """How a branch differs from where it was forked, or from another. Capability: branches."""

    branch: str
    against: str | None = None


class BranchMerge(Command, frozen=True, kw_only=True, tag="branch.merge"):
    """What merging would do, as a commit to send with transact. Capability: branches."""

    source: str
    target: str = ""
    resolutions: dict[str, Any] | None = None


class HistoryRead(Command, frozen=True, kw_only=True, tag="history.read"):
    """The commits after `from_seq` up to `to_seq`, a page at a time. Capability: history."""

    from_seq: int
    to_seq: int | None = None
    branch: str | None = None
    ids: list[str] | None = None
    limit: int = 256


Request: TypeAlias = (
    Hello
    | SessionOpen
    | Transact
    | GraphQuery
    | WatchSet
    | WatchAdd
    | Ack
    | BranchCreate
    | BranchDelete
    | BranchList
    | BranchDiff
    | BranchMerge
    | HistoryRead
)

# from a server


class Challenge(Part, frozen=True, kw_only=True):
    """A value to be signed once, before `expires_at` (seconds since 1970)."""

    value: str
    expires_at: int


class OpenTerms(Part, frozen=True, kw_only=True):
    """What a signed session.open must repeat."""

    audience: str
    challenge: Challenge


class HelloOk(Message, frozen=True, kw_only=True, tag="hello.ok"):
    """The connection is ready."""

    protocol: str
    flags: dict[str, Any]
    capabilities: list[str] | UnsetType = UNSET
    session_open: OpenTerms | UnsetType = UNSET


class Refused(Part, frozen=True, kw_only=True):
    """Why a request was refused: the error's name and its sentence, and what more there is."""

    name: str
    message: str
    hint: str | UnsetType = UNSET
    conflicts: list[dict[str, Any]] | UnsetType = UNSET
    retry_after_seq: int | UnsetType = UNSET
    retry_after: int | UnsetType = UNSET


class Response(Message, frozen=True, kw_only=True, tag="response"):
    """The answer to one request: `ok` or `error`."""

    request_id: str
    ok: Any = UNSET
    error: Refused | UnsetType = UNSET


class Upsert(Part, frozen=True, kw_only=True):
    """A document as it is now: `doc`, or `deleted`."""

    branch: str
    id: str
    seq: int
    doc: Any = UNSET
    deleted: bool | UnsetType = UNSET


class Remove(Part, frozen=True, kw_only=True):
    """A document that no watch includes any more. It need not be deleted."""

    branch: str
    id: str


class Sync(Part, frozen=True, kw_only=True, tag="sync", tag_field="type"):
    """What changed in the watch union between two seqs; sorted by branch and id."""

    from_seq: int
    to_seq: int
    upserts: list[Upsert]
    removes: list[Remove]


class Effect(Message, frozen=True, kw_only=True, tag="session/effect"):
    """Something a session watches has changed."""

    space: str
    session_id: str
    effect: Sync


class Revoked(Message, frozen=True, kw_only=True, tag="session/revoked"):
    """The session is no longer this connection's."""

    space: str
    session_id: str
    reason: str


Answer: TypeAlias = HelloOk | Response | Effect | Revoked


def parse_request(text: str, unified: bool = False) -> Request:
    """A client's frame as a message, or an `Unreadable` that names its request if it has one."""
    try:
        return _request(text, unified)
    except InvalidMessage as error:
        raise explained(text, error, unified) from None


def _request(text: str, unified: bool) -> Request:
    request: Request = _read(text, unified, _REQUEST) or _parse(text, unified, _REQUESTS)
    for name in _SEQS[type(request)]:
        _whole(getattr(request, name))
    if isinstance(request, SessionOpen):
        _whole(request.session.seen_seq)
    return request


def parse_answer(text: str, unified: bool = False) -> Answer:
    """A server's frame as a message, or `InvalidMessage`."""
    answer: Answer = _read(text, unified, _ANSWER) or _parse(text, unified, _ANSWERS)
    if isinstance(answer, Response) and (answer.ok is UNSET) == (answer.error is UNSET):
        raise InvalidMessage("a response has either ok or error")
    return answer


def _read(text: str, unified: bool, decoder: msgspec.json.Decoder[Any]) -> Any:
    """An ordinary message in one step; None if it needs `_parse`."""
    if not codec.is_simple(text, unified):
        return None
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _parse(text: str, unified: bool, kinds: dict[str, type[Message]]) -> Any:
    try:
        wire: Any = codec.decode(text, unified)
    except InvalidValue as error:
        raise InvalidMessage(str(error)) from None
    name = wire.get("type") if isinstance(wire, dict) else None
    # Looked up here: msgspec would resolve the union of all kinds again for every message.
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InvalidMessage("the type of the message is not known here")
    try:
        return msgspec.convert(wire, kind)
    except msgspec.ValidationError as error:
        raise InvalidMessage(str(error)) from None


def _by_type(union: Any) -> dict[str, type[Message]]:
    return {kind.__struct_config__.tag: kind for kind in union.__args__}


_REQUESTS, _ANSWERS = _by_type(Request), _by_type(Answer)
_REQUEST, _ANSWER = msgspec.json.Decoder(Request), msgspec.json.Decoder(Answer)

_SEQS: Final = {
    kind: tuple(
        name
        for name in ("seen_seq", "from_seq", "to_seq", "local_seq", "fork_seq", "limit")
        if name in kind.__struct_fields__
    )
    for kind in _REQUESTS.values()
}
"""Which members of a message are whole numbers that must not be negative."""


def _whole(number: object) -> None:
    if isinstance(number, int) and not 0 <= number <= 2**53 - 1:
        raise InvalidMessage(f"{str(number)[:40]} is not a seq")


def to_wire(message: Message | Part) -> dict[str, Any]:
    """A message as the object that is sent. Documents in it are shared, not copied."""
    config = message.__struct_config__
    wire: dict[str, Any] = {}
    if config.tag_field is not None:
        wire[config.tag_field] = config.tag
    for name, member in zip(
        message.__struct_fields__, message.__struct_encode_fields__, strict=True
    ):
        value = getattr(message, name)
        if value is not UNSET:
            wire[member] = _plain(value)
    return wire


def _plain(value: Any) -> Any:
    if isinstance(value, Message | Part):
        return to_wire(value)
    if isinstance(value, list) and value and isinstance(value[0], Part):
        return [to_wire(item) for item in value]
    return value


def encode(message: Message, unified: bool = False) -> str:
    """A message as a frame."""
    return codec.encode(to_wire(message), unified)


def landed_frame(request_id: str, ok: dict[str, Any], unified: bool) -> str:
    """The frame of a response to a commit, whose documents came off the wire a moment ago.

    They hold nothing that cannot be written, so in plain mode they need no second look.
    """
    response = {"type": "response", "requestId": request_id, "ok": ok}
    return codec.encode(response, True) if unified else _JSON.encode(response).decode()


def effect_head(space: str, session_id: str) -> str:
    """How the frame of an `Effect` begins: with whose it is."""
    return (
        f'{{"type":"session/effect","space":{_quoted(space)},"sessionId":{_quoted(session_id)},'
        '"effect":'
    )


def effect_tail(
    from_seq: int, to_seq: int, upserts: Sequence[str], removes: Sequence[Remove]
) -> str:
    """How it goes on: with what changed. The upserts are written out already.

    Together the same text as `encode` makes; what many sessions receive is encoded once.
    """
    removed = "[]"
    if removes:
        removed = _JSON.encode([to_wire(remove) for remove in removes]).decode()
    return (
        f'{{"type":"sync","fromSeq":{from_seq},"toSeq":{to_seq},'
        f'"upserts":[{",".join(upserts)}],"removes":{removed}}}}}'
    )


_JSON = msgspec.json.Encoder()


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    return _JSON.encode(text).decode()
