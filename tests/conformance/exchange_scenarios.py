"""The exchanges that are recorded, by scenario, with their answers in short form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

FLAGS = {
    "richStorableValues": False,
    "unifiedJsonEncoding": False,
    "canonicalHashing": False,
    "modernSchemaHash": False,
}


@dataclass(frozen=True)
class Differs:
    """What the reference answers instead, why we do not, and the row of docs/sync.md."""

    reference: str
    reason: str
    row: str


@dataclass(frozen=True)
class Exchange:
    """One frame and its answer. `before`: what happens first (flush, disconnect C, branch N)."""

    conn: str
    frame: Any
    answer: str
    differs: Differs | None = None
    before: tuple[str, ...] = ()

    @property
    def text(self) -> str | None:
        """The frame as it is sent; None if nothing is."""
        if self.frame is None or isinstance(self.frame, str):
            return self.frame
        return json.dumps(self.frame)

    @property
    def shown(self) -> Any:
        """The frame as it is recorded; a very long one is shortened."""
        text = self.text
        if text is None or len(text) <= 2_000:
            return self.frame
        return f"{text[:200]} … {len(text)} characters … {text[-40:]}"

    @property
    def request_id(self) -> str | None:
        return self.frame.get("requestId") if isinstance(self.frame, dict) else "r"


@dataclass(frozen=True)
class Scenario:
    """Exchanges with one server, in order."""

    name: str
    source: str
    exchanges: Sequence[Exchange]
    options: dict[str, Any] = field(default_factory=dict)


# frames


def hello(**more: Any) -> dict[str, Any]:
    return {"type": "hello", "protocol": "memory/v2", "flags": FLAGS, **more}


def opening(id: str | None = None, token: str | None = None, space: str = "s", **more: Any) -> Any:
    session = {"sessionId": id, "sessionToken": token, **more}
    named = {name: value for name, value in session.items() if value is not None}
    return {"type": "session.open", "requestId": "r", "space": space, "session": named}


def command(kind: str, session: str = "S", **members: Any) -> dict[str, Any]:
    return {"type": kind, "requestId": "r", "space": "s", "sessionId": session, **members}


def transact(n: Any, *operations: Any, session: str = "S", **more: Any) -> dict[str, Any]:
    commit = {"localSeq": n, "reads": {"confirmed": [], "pending": []}, "operations": operations}
    return command("transact", session, commit={**commit, **more})


def put(id: Any, value: Any) -> dict[str, Any]:
    return {"op": "set", "id": id, "value": {"value": value}}


def patch(id: str, *patches: Any) -> dict[str, Any]:
    return {"op": "patch", "id": id, "patches": list(patches)}


def delete(id: str) -> dict[str, Any]:
    return {"op": "delete", "id": id}


def reads(confirmed: Any = (), pending: Any = ()) -> dict[str, Any]:
    return {"confirmed": list(confirmed), "pending": list(pending)}


def root(id: str, schema: Any = False, path: Sequence[str] = ()) -> dict[str, Any]:
    return {"id": id, "selector": {"path": list(path), "schema": schema}}


def query(*roots: Any, session: str = "S", **more: Any) -> dict[str, Any]:
    return command("graph.query", session, query={"roots": list(roots), **more})


def watch(id: str, *roots: Any, kind: str = "graph", **more: Any) -> dict[str, Any]:
    return {"id": id, "kind": kind, "query": {"roots": list(roots), **more}}


def watch_set(*watches: Any, session: str = "S") -> dict[str, Any]:
    return command("session.watch.set", session, watches=list(watches))


def watch_add(*watches: Any, session: str = "S") -> dict[str, Any]:
    return command("session.watch.add", session, watches=list(watches))


def link(id: str) -> dict[str, Any]:
    return {"/": {"link@1": {"id": id, "path": []}}}


A, B = "A", "B"

# why we differ

BY_ID = Differs(
    "InvalidMessageError under the requestId `invalid`",
    "a client waits for the answer to its own requestId and would wait for ever",
    "JSON with a `requestId` that is not a valid message",
)
SURROGATE = Differs(
    "accepted",
    "a lone surrogate is not text: it has no UTF-8, and a store would change it",
    "a lone surrogate in a value",
)
DEEP = Differs(
    "accepted",
    "work and stack per value stay bounded",
    "nesting of 500 levels or more in a message",
)
ROUNDED = Differs(
    "accepted, and rounded",
    "a value is stored exactly or refused",
    "an integer beyond ±(2^53-1) that is not an exact double",
)
SEQ = Differs(
    "accepted",
    "a resume from a seq that does not exist would promise too much",
    "`seenSeq` that is negative or not whole; a session member of another type",
)
MEMBER = Differs(
    "accepted",
    "ids and tokens are texts",
    "`seenSeq` that is negative or not whole; a session member of another type",
)
KIND = Differs(
    "accepted", "a watch of an unknown kind would never send anything", "a watch of an unknown kind"
)
TWICE = Differs(
    "both are evaluated, and the last one counts",
    "the answer would contain documents that are not watched",
    "two watches of one id in one request",
)
HELLO = Differs(
    "the same refusal, and the connection stays open",
    "the peer has lost track of the connection; on a new one it recovers",
    "a second hello",
)
ZERO = Differs(
    "accepted", "localSeqs begin at 1, so that 0 can mean that there is none", "`localSeq` 0"
)
ID = Differs(
    "accepted",
    "ids are texts, and an empty one cannot be linked to",
    "an id that is empty or a number",
)
UNKNOWN_OP = Differs(
    "accepted",
    "a commit that did nothing would be reported as landed",
    "an unknown patch operation",
)
FUTURE = Differs(
    "accepted",
    "what does not exist yet cannot have been read",
    "a confirmed read at a seq that does not exist yet",
)
NO_READS = Differs("refused", "it says the same as leaving the member out", "`reads: null`")
NO_SELECTOR = Differs(
    "refused", "it says the same as a selector that follows nothing", "a root without a selector"
)
INHERITED = Differs(
    "the patch starts from the empty document",
    "the inherited document is visible on the branch",
    "a first patch on a child branch",
)
CAPABILITY = Differs(
    "InvalidMessageError under the requestId `invalid`",
    "the request is known here, and the refusal names the capability that it needs",
    "a request of a capability that was not agreed",
)
NOT_OPEN = "SessionError: Session is not open on this connection"
INVALID = "invalid InvalidMessageError: Unable to parse memory/v2 message"
UNREADABLE = "InvalidMessageError: Unable to parse memory/v2 message"
FIRST = "handshake ProtocolError: memory/v2 hello is required first"
OPEN_S = (Exchange(A, hello(), "hello.ok"), Exchange(A, opening("S"), 'ok sessionId="S"'))


def flags(**other: Any) -> dict[str, Any]:
    return hello(flags={**FLAGS, **other})


MISMATCH = "handshake ProtocolError: memory/v2 flag mismatch"

HANDSHAKE = [
    Exchange(A, opening("S"), FIRST),
    Exchange(A, transact(1, put("a", 1)), FIRST),
    Exchange(A, query(root("a")), FIRST),
    Exchange(A, watch_set(), FIRST),
    Exchange(A, watch_add(), FIRST),
    Exchange(A, command("session.ack", seenSeq=0), FIRST),
    Exchange(A, hello(protocol="memory/v9"), "handshake UnsupportedProtocol: memory/v9"),
    Exchange(A, hello(protocol="memory"), "handshake UnsupportedProtocol: memory"),
    Exchange(A, flags(richStorableValues=True), MISMATCH),
    Exchange(A, flags(unifiedJsonEncoding=True), MISMATCH),
    Exchange(A, flags(canonicalHashing=True), MISMATCH),
    Exchange(A, flags(modernSchemaHash=True), MISMATCH),
    Exchange(A, hello(flags={}), MISMATCH),
    Exchange(A, hello(more="ignored"), "hello.ok"),
    Exchange(A, opening("S"), "ok serverSeq=0"),
    Exchange(A, hello(), "handshake ProtocolError: hello may only be sent once", HELLO),
    Exchange(B, {"type": "hello", "flags": FLAGS}, INVALID),
    Exchange(B, {"type": "hello", "protocol": 2, "flags": FLAGS}, INVALID),
    Exchange(B, hello(), "hello.ok"),
]

NOT_MESSAGES = [
    *OPEN_S,
    *(
        Exchange(A, text, INVALID)
        for text in (
            "nonsense",
            "",
            "{",
            "[]",
            "null",
            "42",
            '"text"',
            '{"type":"subscribe"}',
            '{"type":7,"requestId":7}',
            '{"type":"transact","requestId":"r","commit":NaN}',
        )
    ),
    Exchange(A, command("subscribe"), UNREADABLE, BY_ID),
    Exchange(A, {"requestId": "r"}, UNREADABLE, BY_ID),
    Exchange(A, command("transact"), UNREADABLE, BY_ID),
    Exchange(A, command("transact", commit=[]), UNREADABLE, BY_ID),
    Exchange(A, command("transact", commit={}, space=7), UNREADABLE, BY_ID),
    Exchange(A, command("graph.query"), UNREADABLE, BY_ID),
    Exchange(A, command("graph.query", query=[]), UNREADABLE, BY_ID),
    Exchange(A, command("session.watch.set"), UNREADABLE, BY_ID),
    Exchange(A, command("session.watch.add", watches={}), UNREADABLE, BY_ID),
    Exchange(A, command("session.ack"), UNREADABLE, BY_ID),
    Exchange(A, command("session.ack", seenSeq="4"), UNREADABLE, BY_ID),
    Exchange(A, {"type": "session.open", "requestId": "r", "space": "s"}, UNREADABLE, BY_ID),
    Exchange(A, transact(1, put("a", 1)), "ok seq=1"),
]

DEEP_TEXT = '{"type":"transact","requestId":"r","space":"s","sessionId":"S","commit":%s}'
DEEP_COMMIT = '{"localSeq":9,"operations":[{"op":"set","id":"a","value":{"value":%s}}]}'


def nested(levels: int) -> str:
    return DEEP_TEXT % (DEEP_COMMIT % ("[" * levels + "]" * levels))


CONTENT = [
    *OPEN_S,
    Exchange(A, transact(1, put("a", "\ud800")), "TransactionError: surrogate", SURROGATE),
    Exchange(A, transact(1, put("\udfff", 1)), "TransactionError: surrogate", SURROGATE),
    Exchange(A, query(root("\ud800")), "QueryError: surrogate", SURROGATE),
    Exchange(A, nested(400), "ok seq=1"),
    Exchange(A, nested(499), "TransactionError: nested deeper than 500", DEEP),
    Exchange(A, nested(100_000), "TransactionError: nested deeper than 500", DEEP),
    Exchange(A, transact(2, put("a", 2**53 - 1)), "ok seq=2"),
    Exchange(A, transact(3, put("a", 2**53 + 1)), "TransactionError: 2^53", ROUNDED),
    Exchange(A, transact(3, put("a", -(2**60) - 1)), "TransactionError: 2^53", ROUNDED),
    Exchange(A, command("session.ack", seenSeq=-1), "ProtocolError: -1 is not a seq", SEQ),
    Exchange(A, command("session.ack", seenSeq=1.5), "ProtocolError: seenSeq", SEQ),
    Exchange(A, opening("T", seenSeq=-1), "ProtocolError: -1 is not a seq", SEQ),
    Exchange(A, opening("T", seenSeq=1.5), "ProtocolError: seenSeq", SEQ),
    Exchange(A, opening(7), "ProtocolError: sessionId", MEMBER),  # type: ignore[arg-type]
    Exchange(A, opening("T", {}), "ProtocolError: sessionToken", MEMBER),  # type: ignore[arg-type]
    Exchange(A, watch_add(watch("w", root("a"), kind="stream")), "QueryError: kind", KIND),
    Exchange(A, transact(3, put("a", [None, True, 0.5, "ü€😀"])), "ok seq=3"),
    Exchange(A, query(root("a")), "ok serverSeq=3"),
]

UNSAFE = "ProtocolError: Invalid memory space identifier for store path"

SESSIONS = [
    Exchange(A, hello(), "hello.ok"),
    Exchange(A, opening(), 'ok sessionId="$session1"'),
    Exchange(A, opening("S"), 'ok sessionId="S";serverSeq=0;resumed=null'),
    Exchange(A, opening("S"), "SessionRevokedError: session S resume token is no longer valid"),
    Exchange(A, opening("S", "guessed"), "SessionRevokedError: session S"),
    Exchange(A, opening("S", "$token2"), "ok resumed=true"),
    Exchange(A, opening("S", "$token2"), "SessionRevokedError: session S"),
    Exchange(B, hello(), "hello.ok"),
    *(
        Exchange(B, frame, NOT_OPEN)
        for frame in (
            transact(1, put("a", 1)),
            query(root("a")),
            watch_set(),
            watch_add(),
            command("session.ack", seenSeq=0),
        )
    ),
    Exchange(B, opening("S"), "SessionRevokedError: session S"),
    Exchange(B, opening("S", "$token3"), "A:revoked > ok resumed=true"),
    Exchange(A, transact(1, put("a", 1)), NOT_OPEN),
    Exchange(B, transact(1, put("a", 1)), "ok seq=1"),
    *(
        Exchange(B, opening("S", space=space), UNSAFE)
        for space in ("../../evil", "nested/space", "..", ".", "", "a\\b", "a\0b")
    ),
    Exchange(B, opening("S", space="other"), "ok serverSeq=0"),
    Exchange(B, command("session.ack", seenSeq=1), "ok serverSeq=1"),
    Exchange(B, command("session.ack", seenSeq=0), "ok serverSeq=1"),
    Exchange(A, opening("S", "$token4"), "ok resumed=true", before=("disconnect B",)),
    Exchange(A, opening("S", "$token4"), "SessionRevokedError: session S"),
]

DOC = {"list": [1, 2, 3], "map": {"x": 1}}


def patched(n: int, *patches: Any, answer: str, differs: Differs | None = None) -> Exchange:
    return Exchange(A, transact(n, patch("a", *patches)), answer, differs)


REFUSED = "TransactionError: "

COMMITS = [
    *OPEN_S,
    Exchange(A, transact(1, put("a", DOC)), 'ok seq=1;branch=""'),
    Exchange(A, transact(1, put("a", DOC)), "ok seq=1"),
    Exchange(A, transact(1, put("a", 2)), "ProtocolError: commit replay mismatch for session S"),
    Exchange(A, transact(2, put("b", 1), put("c", 2), delete("b")), "ok seq=2"),
    patched(3, {"op": "replace", "path": "/value/map/x", "value": 2}, answer="ok seq=3"),
    patched(4, {"op": "replace", "path": "/value/map/new", "value": 2}, answer="ok seq=4"),
    patched(5, {"op": "add", "path": "/value/made/0", "value": "m"}, answer="ok seq=5"),
    patched(6, {"op": "add", "path": "/value/list/-", "value": 4}, answer="ok seq=6"),
    patched(7, {"op": "remove", "path": "/value/list/0"}, answer="ok seq=7"),
    patched(8, {"op": "move", "from": "/value/list/0", "path": "/value/list/2"}, answer="ok seq=8"),
    patched(
        9,
        {"op": "splice", "path": "/value/list", "index": 1, "remove": 9, "add": ["s"]},
        answer="ok seq=9",
    ),
    Exchange(A, query(root("a")), "ok serverSeq=9"),
    Exchange(A, transact(10), REFUSED + "requires at least one operation"),
    Exchange(A, transact(10, {"op": "set", "id": "a", "value": 7}), REFUSED),
    Exchange(A, transact(10, {"op": "merge", "id": "a"}), REFUSED),
    patched(10, {"op": "remove", "path": "/value/none"}, answer=REFUSED),
    patched(10, {"op": "remove", "path": ""}, answer=REFUSED),
    patched(10, {"op": "replace", "path": "/value/none/x", "value": 1}, answer=REFUSED),
    patched(10, {"op": "replace", "path": "/value/list/9", "value": 1}, answer=REFUSED),
    patched(10, {"op": "add", "path": "/value/list/9", "value": 1}, answer=REFUSED),
    patched(10, {"op": "add", "path": "value", "value": 1}, answer=REFUSED),
    patched(10, {"op": "move", "from": "/value", "path": "/value/map"}, answer=REFUSED),
    patched(
        10,
        {"op": "splice", "path": "/value/list", "index": 9, "remove": 0, "add": []},
        answer=REFUSED,
    ),
    patched(
        10,
        {"op": "splice", "path": "/value/map", "index": 0, "remove": 0, "add": []},
        answer=REFUSED,
    ),
    patched(10, {"op": "frobnicate", "path": "/value"}, answer=REFUSED, differs=UNKNOWN_OP),
    Exchange(A, transact(0, put("a", 1)), REFUSED + "localSeq", ZERO),
    Exchange(A, transact(10, put("", 1)), REFUSED, ID),
    Exchange(A, transact(10, put(7, 1)), REFUSED, ID),
    Exchange(A, transact(10, put("a", 1), branch="none"), REFUSED + "unknown branch: none"),
    Exchange(A, transact(10, put("x", 1), reads=None), "ok seq=10", NO_READS),
    Exchange(A, transact(11, delete("a")), "ok seq=11"),
    Exchange(A, transact(12, patch("a", {"op": "add", "path": "/value", "value": 1})), "ok seq=12"),
    Exchange(A, transact(12, delete("a")), "ProtocolError: commit replay mismatch"),
    Exchange(A, {**transact(13, put("a", 1)), "invocation": {}, "more": 1}, "ok seq=13"),
]


def seen(id: str, seq: int, *path: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "path": list(path), "seq": seq, **more}


READS = [
    *OPEN_S,
    Exchange(A, transact(1, put("a", DOC), reads=reads([seen("a", 0)])), "ok seq=1"),
    Exchange(A, transact(2, put("a", DOC), reads=reads([seen("a", 0)])), "ConflictError: a"),
    Exchange(A, transact(2, put("b", 1), reads=reads([seen("a", 1, "value")])), "ok seq=2"),
    patched(3, {"op": "replace", "path": "/value/map/x", "value": 2}, answer="ok seq=3"),
    Exchange(A, transact(4, put("b", 2), reads=reads([seen("a", 1, "value", "list")])), "ok seq=4"),
    Exchange(
        A,
        transact(5, put("b", 3), reads=reads([seen("a", 1, "value", "map", "x")])),
        "ConflictError: a",
    ),
    Exchange(
        A,
        transact(5, put("b", 3), reads=reads([seen("a", 99, "value")])),
        "ProtocolError: names seq 99",
        FUTURE,
    ),
    Exchange(
        A,
        transact(5, put("b", 3), reads=reads([], [{"id": "b", "path": [], "localSeq": 4}])),
        "ok seq=5",
    ),
    Exchange(
        A,
        transact(6, put("b", 4), reads=reads([], [{"id": "b", "path": [], "localSeq": 99}])),
        "ConflictError: pending dependency not resolved: 99",
    ),
    Exchange(A, transact(7, put("c", 1), reads=reads([seen("c", 0)])), "ok seq=6"),
]

LINKED = {"type": "object", "properties": {"to": True}}

QUERIES = [
    *OPEN_S,
    Exchange(A, transact(1, put("a", {"to": link("b")}), put("b", 1)), "ok seq=1"),
    Exchange(A, transact(2, put("b", 2)), "ok seq=2"),
    Exchange(A, query(root("a")), 'ok entities[].id=["a"]'),
    Exchange(A, query(root("a", LINKED)), 'ok entities[].id=["a","b"]'),
    Exchange(A, query(root("a", True), atSeq=1), "ok serverSeq=2;entities[].seq=[1,1]"),
    Exchange(A, query(root("none")), 'ok entities[].id=["none"]'),
    Exchange(A, query(root("b"), root("a")), 'ok entities[].id=["a","b"]'),
    Exchange(A, query(), "ok entities[].id=[]"),
    Exchange(A, query(root("a"), branch="none"), "QueryError: unknown branch: none"),
    Exchange(A, query(root("a"), atSeq=9), "QueryError: seq 9 is out of range"),
    Exchange(A, query(root("a"), subscribe=True), "ProtocolError: subscriptions were removed"),
    Exchange(A, query({"id": "a"}), 'ok entities[].id=["a"]', NO_SELECTOR),
    Exchange(A, command("graph.query", query={"roots": 7}), "QueryError: roots"),
]

MAY_NOT = "ProtocolError: session.watch.add may not replace an existing watch id"

WATCHES = [
    *OPEN_S,
    Exchange(B, hello(), "hello.ok"),
    Exchange(B, opening("W"), "ok serverSeq=0"),
    Exchange(A, watch_set(watch("w", root("a"))), 'ok sync.upserts[].id=["a"]'),
    Exchange(B, transact(1, put("a", {"to": link("b")}), session="W"), "ok seq=1"),
    Exchange(A, None, "effect a@1", before=("flush",)),
    Exchange(B, transact(2, put("other", 1), session="W"), "ok seq=2"),
    Exchange(A, None, "", before=("flush",)),
    Exchange(A, watch_add(watch("w", root("a"))), "ok sync.upserts[].id=[]"),
    Exchange(A, watch_add(watch("w", root("other"))), MAY_NOT),
    Exchange(A, watch_add(watch("l", root("a", True))), "ok sync.upserts[].id=[]"),
    Exchange(B, transact(3, put("b", 1), put("a", {"to": link("b"), "n": 1}), session="W"),
             "ok seq=3"),
    Exchange(A, None, "effect a@3 b@3", before=("flush",)),
    Exchange(B, transact(4, delete("b"), session="W"), "ok seq=4"),
    Exchange(A, None, "effect b-", before=("flush",)),
    Exchange(A, command("session.ack", seenSeq=4), "ok serverSeq=4"),
    Exchange(A, transact(1, put("a", {"n": 2})), "ok seq=5"),
    Exchange(A, None, "effect a@5", before=("flush",)),
    Exchange(A, watch_add(watch("x", root("c")), watch("x", root("d"))), MAY_NOT, TWICE),
    Exchange(A, watch_add(watch("bad", root("a"), branch="none")), "QueryError: unknown branch"),
    Exchange(A, watch_set(watch("n", root("other"))),
             'ok sync.upserts[].id=["other"];sync.removes[].id=["a","b"]'),
    Exchange(A, watch_set(), 'ok sync.upserts[].id=[];sync.removes[].id=["other"]'),
    Exchange(B, transact(5, put("other", 2), session="W"), "ok seq=6"),
    Exchange(A, None, "", before=("flush",)),
    Exchange(A, watch_set(watch("q", root("other"), kind="query")),
             'ok sync.upserts[].id=["other"]'),
    Exchange(A, watch_add(watch("d", root("other"), branch="draft")),
             "ok sync.upserts[].branch=[\"draft\"]", before=("branch draft",)),
    Exchange(B, transact(6, put("other", 3), session="W", branch="draft"), "ok seq=7"),
    Exchange(A, None, "effect other@7", before=("flush",)),
    Exchange(
        A,
        transact(2, put("a", 1), reads=reads([seen("other", 2)])),
        "ConflictError: other",
    ),
]  # fmt: skip

RESUMED = [
    *OPEN_S,
    Exchange(A, transact(1, put("a", link("b")), put("b", 1), put("c", 1)), "ok seq=1"),
    Exchange(A, watch_set(watch("w", root("a", True))), 'ok sync.upserts[].id=["a","b"]'),
    Exchange(B, hello(), "hello.ok"),
    Exchange(B, opening("W"), "ok serverSeq=1"),
    Exchange(
        B, transact(1, put("a", link("c")), session="W"), "ok seq=2", before=("disconnect A",)
    ),
    Exchange("C", hello(), "hello.ok"),
    Exchange(
        "C",
        opening("S", "$token1", seenSeq=1),
        'ok resumed=true;sync.upserts[].id=["a","c"];sync.removes[].id=["b"]',
    ),
    Exchange("C", transact(1, put("a", link("b")), put("b", 1), put("c", 1)), "ok seq=1"),
    Exchange("C", transact(2, put("c", 2)), "ok seq=3"),
    Exchange("C", None, "effect c@3", before=("flush",)),
    Exchange("D", hello(), "hello.ok", before=("disconnect C",)),
    Exchange("D", opening("S", "$token3"), "ok resumed=true;sync=null"),
]

BRANCHES = [
    *OPEN_S,
    Exchange(A, transact(1, put("a", {"x": 1})), "ok seq=1"),
    Exchange(
        A,
        transact(2, patch("a", {"op": "add", "path": "/value/y", "value": 2}), branch="draft"),
        "ok seq=2",
        INHERITED,
        before=("branch draft",),
    ),
    Exchange(A, query(root("a"), branch="draft"), "ok serverSeq=2", INHERITED),
    Exchange(A, query(root("a")), "ok entities[].seq=[1]"),
    Exchange(A, transact(3, put("a", 3)), "ok seq=3"),
    Exchange(A, query(root("a"), branch="draft", atSeq=0), "QueryError: out of range"),
    *(
        Exchange(A, frame, f"ProtocolError: needs the capability {needs}", CAPABILITY)
        for needs, frame in (
            ("branches", command("branch.list")),
            ("branches", command("branch.create", localSeq=4, name="x")),
            ("branches", command("branch.delete", localSeq=4, name="draft")),
            ("branches", command("branch.diff", branch="draft")),
            ("branches", command("branch.merge", source="draft")),
            ("history", command("history.read", fromSeq=0)),
        )
    ),
]

SCENARIOS = [
    Scenario("hello comes first, once, and with the same terms", "4.4", HANDSHAKE),
    Scenario("what is not a message", "4.1", NOT_MESSAGES),
    Scenario("values and members that are legal JSON", "4.2, 4.11", CONTENT),
    Scenario("sessions are opened, resumed and taken over", "4.5, 4.7", SESSIONS),
    Scenario("commits land, are replayed or refused", "1, 2.4, 3.4, 3.5", COMMITS),
    Scenario("commits depend on what they read", "3.2, 3.3", READS),
    Scenario("graphs are queried", "4.8, 6", QUERIES),
    Scenario("watches stay current", "4.9, 4.10", WATCHES),
    Scenario("a session comes back", "4.5", RESUMED),
    Scenario("branches", "7", BRANCHES),
]
