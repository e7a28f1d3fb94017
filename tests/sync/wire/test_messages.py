"""Messages: strict parsing, and shapes that cannot change unnoticed."""

import hashlib
import json
from math import isfinite
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sync.wire import messages
from holdfast.sync.wire.errors import INVALID, InvalidMessage, Unreadable

SHAPES = {2: "58d8e24517e7e7d3"}
"""PROTOCOL_VERSION -> digest of the shapes; a new shape needs a new version and its history."""

COMMAND = {"requestId": "r", "space": "did:key:z", "sessionId": "S"}
REQUESTS: list[dict[str, Any]] = [
    {"type": "hello", "protocol": "memory/v2", "flags": {}},
    {"type": "hello", "protocol": "memory/v2", "flags": {}, "capabilities": ["coverage"]},
    {"type": "session.open", "requestId": "o", "space": "s", "session": {}},
    {
        "type": "session.open",
        "requestId": "o",
        "space": "s",
        "session": {"sessionId": "S", "seenSeq": 41, "sessionToken": "t"},
        "invocation": {"iss": "x"},
        "authorization": {"signature": [1]},
    },
    {"type": "transact", **COMMAND, "commit": {"localSeq": 1}},
    {"type": "graph.query", **COMMAND, "query": {"roots": []}},
    {
        "type": "session.watch.set",
        **COMMAND,
        "watches": [{"id": "w", "kind": "graph", "query": {"roots": []}}],
    },
    {"type": "session.watch.add", **COMMAND, "watches": []},
    {"type": "session.ack", **COMMAND, "seenSeq": 42},
    {
        "type": "branch.create",
        **COMMAND,
        "localSeq": 1,
        "name": "draft",
        "parentBranch": "",
        "forkSeq": 3,
    },
    {"type": "branch.delete", **COMMAND, "localSeq": 2, "name": "draft"},
    {"type": "branch.list", **COMMAND, "includeDeleted": True},
    {"type": "branch.diff", **COMMAND, "branch": "draft", "against": None},
    {"type": "branch.merge", **COMMAND, "source": "draft", "target": "", "resolutions": None},
    {
        "type": "history.read",
        **COMMAND,
        "fromSeq": 0,
        "toSeq": 9,
        "branch": None,
        "ids": ["of:a"],
        "limit": 10,
    },
]


@pytest.mark.shows("SYNC-VERSION")
def test_a_message_cannot_change_shape_without_a_new_protocol_version() -> None:
    kinds = [*messages.Request.__args__, *messages.Answer.__args__]
    _, shapes = msgspec.json.schema_components(kinds)
    text = json.dumps(shapes, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert SHAPES.get(messages.PROTOCOL_VERSION) == digest, (
        "a message changed: raise PROTOCOL_VERSION, add a line to its history, record the digest"
    )
    history = messages.__dict__["__doc__"] + _history()
    assert f"\n{messages.PROTOCOL_VERSION}  " in history


def _history() -> str:
    from pathlib import Path

    return Path(str(messages.__file__)).read_text(encoding="utf-8")


@pytest.mark.parametrize("wire", REQUESTS, ids=lambda wire: str(wire["type"]))
@pytest.mark.shows("SYNC-MESSAGES")
def test_every_request_is_read_and_written_alike(wire: dict[str, object]) -> None:
    request = messages.parse_request(json.dumps(wire))
    assert json.loads(messages.encode(request)) == wire


@pytest.mark.shows("T44")
def test_invocation_and_authorization_of_a_transact_are_dropped() -> None:
    wire = {"type": "transact", **COMMAND, "commit": {"localSeq": 1}, "invocation": {"a": 1}}
    request = messages.parse_request(json.dumps({**wire, "authorization": {"b": 2}}))
    assert request == messages.Transact(
        request_id="r", space="did:key:z", session_id="S", commit={"localSeq": 1}
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "null",
        "[]",
        "{}",
        '{"type":"transact"}',
        '{"type":"subscribe","requestId":"r"}',
        '{"type":"hello","protocol":1,"flags":{}}',
        '{"type":"hello","protocol":"memory/v2","flags":[]}',
        '{"type":"session.open","requestId":"r","space":"s"}',
        '{"type":"session.open","requestId":7,"space":"s","session":{}}',
        '{"type":"session.open","requestId":"r","space":"s","session":{"seenSeq":"4"}}',
        '{"type":"session.ack","requestId":"r","space":"s","sessionId":"S","seenSeq":-1}',
        '{"type":"session.ack","requestId":"r","space":"s","sessionId":"S","seenSeq":1.5}',
        '{"type":"graph.query","requestId":"r","space":"s","sessionId":"S","query":[]}',
        '{"type":"session.watch.set","requestId":"r","space":"s","sessionId":"S","watches":{}}',
        '{"type":"session.watch.add","requestId":"r","space":"s","sessionId":"S",'
        '"watches":[{"id":"w","kind":"stream","query":{}}]}',
    ],
)
@pytest.mark.shows("SYNC-INVALID")
def test_what_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        messages.parse_request(text)


def test_an_answer_is_ok_or_an_error_but_not_both() -> None:
    both = '{"type":"response","requestId":"r","ok":{},"error":{"name":"E","message":"m"}}'
    for text in (both, '{"type":"response","requestId":"r"}'):
        with pytest.raises(InvalidMessage):
            messages.parse_answer(text)


@st.composite
def altered(draw: st.DrawFn) -> dict[str, Any]:
    """A request with some of its members changed, added or left out."""
    wire = dict(draw(st.sampled_from(REQUESTS)))
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from([*wire, "more", "seenSeq", "localSeq"]))
        odd = st.one_of(
            st.none(),
            st.booleans(),
            st.integers(-3, 2**60),
            st.floats(),
            st.text(max_size=3),
            st.sampled_from([3.0, 1e20, [], {}, ["x"], {"id": "w"}, [[[]]] * 600]),
        )
        if draw(st.booleans()):
            wire[name] = draw(odd)
        else:
            wire.pop(name, None)
    return wire


@pytest.mark.shows("SYNC-MESSAGES")
@given(wire=altered(), unified=st.booleans())
def test_the_short_way_to_read_a_frame_agrees_with_the_long_one(
    wire: dict[str, Any], unified: bool
) -> None:
    text = json.dumps(wire)
    short = messages._read(text, unified, messages._REQUEST)
    if short is None:
        return
    assert short == messages._parse(text, unified, messages._REQUESTS)


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
@pytest.mark.shows("SYNC-INVALID")
def test_any_text_is_a_message_or_an_invalid_message(text: str) -> None:
    with pytest.raises(InvalidMessage) as refusal:
        messages.parse_request(text)
    assert refusal.value.request_id == INVALID


MINE = {"requestId": "mine", "space": "s", "sessionId": "S"}


def transact(value: str) -> str:
    """A commit with this text as its value."""
    commit = f'{{"localSeq":1,"operations":[{{"op":"set","id":"a","value":{{"value":{value}}}}}]}}'
    return f'{{"type":"transact",{json.dumps(MINE)[1:-1]},"commit":{commit}}}'


def command(kind: str, **members: Any) -> str:
    return json.dumps({"type": kind, **MINE, **members})


def opening(**session: Any) -> str:
    return json.dumps({"type": "session.open", "requestId": "mine", "space": "s", **session})


@pytest.mark.shows("SYNC-ANSWERED-BY-ID")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        (transact('"\\ud800"'), "TransactionError"),
        (transact('{"\\udfff":1}'), "TransactionError"),
        (transact("[" * 499 + "]" * 499), "TransactionError"),
        (transact("[" * 5_000 + "]" * 5_000), "TransactionError"),
        (transact("[" * 500_000 + "]" * 500_000), "TransactionError"),
        (transact("9007199254740993"), "TransactionError"),
        (transact("9" * 5_000), "TransactionError"),
        (command("graph.query", query={"roots": [], "x": "\ud800"}), "QueryError"),
        (command("session.watch.add", watches=[{"id": "w", "kind": "stream", "query": {}}]),
         "QueryError"),
        (command("session.watch.set", watches=[7]), "QueryError"),
        (command("session.ack", seenSeq=-1), "ProtocolError"),
        (command("session.ack", seenSeq=1.5), "ProtocolError"),
        (command("history.read", fromSeq=-4), "ProtocolError"),
        (opening(session={"seenSeq": -1}), "ProtocolError"),
        (opening(session={"seenSeq": 1.5}), "ProtocolError"),
        (opening(session={"sessionId": 7}), "ProtocolError"),
        (opening(session={"sessionToken": ["x"]}), "ProtocolError"),
        (opening(session={"sessionId": "\ud800"}), "ProtocolError"),
        (opening(session=[]), "InvalidMessageError"),
        (opening(), "InvalidMessageError"),
        (command("subscribe"), "InvalidMessageError"),
        (command("transact"), "InvalidMessageError"),
        (command("graph.query", query=[]), "InvalidMessageError"),
        (command("session.watch.set", watches={}), "InvalidMessageError"),
        (command("session.ack", seenSeq="4"), "InvalidMessageError"),
        ('{"requestId":"mine"}', "InvalidMessageError"),
    ],
)  # fmt: skip
def test_json_that_names_its_request_is_refused_under_that_name(text: str, name: str) -> None:
    """The answer came under `invalid`, and a client that waits for `mine` waited for ever."""
    with pytest.raises(Unreadable) as refusal:
        messages.parse_request(text)
    assert (refusal.value.request_id, refusal.value.name) == ("mine", name)
    assert str(refusal.value).isprintable()


@pytest.mark.shows("SYNC-ANSWERED-BY-ID")
@pytest.mark.parametrize(
    "text",
    [
        '{"type":"transact","requestId":"mine"',
        '{"type":"transact","requestId":"mine","commit":NaN}',
        '{"type":"transact","requestId":7}',
        '{"type":"transact","requestId":"\\ud800"}',
        '["requestId","mine"]',
    ],
)
def test_what_is_not_json_or_has_no_usable_id_is_refused_as_invalid(text: str) -> None:
    with pytest.raises(InvalidMessage) as refusal:
        messages.parse_request(text)
    assert refusal.value.request_id == INVALID


@pytest.mark.shows("SYNC-ANSWERED-BY-ID")
@given(wire=altered(), unified=st.booleans())
def test_no_request_with_an_id_is_refused_under_another(
    wire: dict[str, Any], unified: bool
) -> None:
    answered: str | None = None
    try:
        messages.parse_request(json.dumps(wire), unified)
    except Unreadable as error:
        answered = error.request_id
    id = wire.get("requestId")
    nan = any(isinstance(value, float) and not isfinite(value) for value in wire.values())
    assert answered in (None, id if isinstance(id, str) and not nan else INVALID)


@given(
    st.text(max_size=5),
    st.lists(st.tuples(st.text(max_size=3), st.integers(0, 9), st.none() | st.text(max_size=4))),
    st.lists(st.text(max_size=3)),
)
def test_a_frame_put_together_is_the_frame_written_out(
    name: str, documents: list[tuple[str, int, str | None]], removed: list[str]
) -> None:
    upserts = [
        messages.Upsert(branch="", id=id, seq=seq, deleted=True)
        if text is None
        else messages.Upsert(branch="b", id=id, seq=seq, doc={"value": text})
        for id, seq, text in documents
    ]
    sync = messages.Sync(
        from_seq=1,
        to_seq=2,
        upserts=upserts,
        removes=[messages.Remove(branch=name, id=id) for id in removed],
    )
    whole = messages.encode(messages.Effect(space=name, session_id="S", effect=sync))
    texts = [
        json.dumps(messages.to_wire(one), ensure_ascii=False, separators=(",", ":"))
        for one in upserts
    ]
    tail = messages.effect_tail(1, 2, texts, sync.removes)
    assert json.loads(messages.effect_head(name, "S") + tail) == json.loads(whole)
