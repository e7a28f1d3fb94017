"""Everything that happens in one simulation, decided by one seed.

Clients look, write, watch, crash and steal each other's sessions; they write what is too large and
what cannot be encoded; intruders try sessions whose token they do not have. The network is late,
repeats itself and breaks; servers restart, sometimes between landing a commit and saying so. In
half of the worlds there are two servers over one store and one table of sessions, which may miss
each other's announcements. Then the faults stop, everything still on its way arrives, and nothing
may be left open or differ.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from msgspec import to_builtins

from holdfast.errors import StoreError
from holdfast.ids import SessionId, SpaceId
from holdfast.store.graph import query_graph
from holdfast.store.model import Applied, Guard
from holdfast.store.store import Store, open_store
from holdfast.store.values import same
from holdfast.sync.client.errors import NotFound, TypeMismatch
from holdfast.sync.client.space_session import Stage
from holdfast.sync.server.connection import Connection
from holdfast.sync.server.limits import Limits
from holdfast.sync.server.session_registry import NullSessionStore
from holdfast.sync.server.session_store import SessionStore
from holdfast.sync.server.settings import OnCommitted, ServerSettings
from holdfast.sync.wire import messages
from holdfast.sync.wire.close_codes import TOO_BIG
from holdfast.sync.wire.messages import CAPABILITIES, Effect, Flags, HelloOk, Response, WatchSpec
from tests.simulation.actors import SPACE, Actor, MemoryOutbox
from tests.simulation.cluster import MemoryRows, Node
from tests.simulation.network import Time, Wire
from tests.simulation.oracle import Look, Oracle


@dataclass(frozen=True)
class Faults:
    """How bad it is: probabilities, and the usual delay."""

    delay_ms: float = 4
    duplicate: float = 0.05
    dial: float = 0.1
    cut: float = 0.08
    restart: float = 0.02
    crash_in_commit: float = 0.01
    client_crash: float = 0.02
    takeover: float = 0.02
    intrusion: float = 0.02
    save: float = 0.05
    deaf: float = 0.2
    """How often a server misses an announcement of the other."""


MESSAGE_MAX, FRAME_MAX = 20_000, 30_000
NONSENSE: tuple[Any, ...] = (float("nan"), "\ud800", 2**60, b"x", {1: 2}, object())
REFUSALS = ("ConflictError", "TransactionError", "MessageTooLargeError")
FLAGS = to_builtins(Flags())
DOCUMENTS = ("of:a", "of:b", "of:c", "of:d")
BRANCHES = ("", "draft")
SCHEMAS: tuple[Any, ...] = (False, True, {"type": "object", "properties": {"next": True}})


class World:
    """One simulation. `run` plays it; an assertion names what broke."""

    def __init__(
        self,
        seed: int,
        clients: int = 3,
        steps: int = 60,
        faults: Faults | None = None,
        capabilities: frozenset[str] = CAPABILITIES - {"identity"},
        servers: int | None = None,
    ) -> None:
        self.seed, self.steps = seed, steps
        self.random = Random(seed)
        self.faults = faults or Faults()
        self.capabilities = capabilities
        self.sound = "coverage" in capabilities
        self.calm = False
        self.time = Time()
        self.oracle = Oracle()
        self.store: Store = open_store("memory:", SPACE)
        self.looks: dict[tuple[str, int], list[Look]] = {}
        self.refused: set[tuple[str, int]] = set()
        self.shared: set[str] = set()
        self.arrivals: dict[tuple[str, int], int] = {}
        self.reconnects: dict[str, int] = {}
        self.oversized: set[tuple[str, int]] = set()
        self.owners: dict[str, tuple[Node, Connection, str]] = {}
        self.claimed: set[str] = set()
        """Who opened each session last: at which server, on which connection, with which token."""
        self._serial = 0
        self._receiving: Connection | None = None
        count = 1 + self.random.randrange(2) if servers is None else servers
        rows = MemoryRows(self) if count > 1 else None
        self.nodes = [Node(self, rows) for _ in range(count)]
        self.store.create_branch("draft", "", 0)
        self.oracle.fork("draft", 0)
        self.actors = [
            Actor(self, f"client{n}", MemoryOutbox(), f"session{n}") for n in range(clients)
        ]

    # the servers

    @property
    def now_ms(self) -> int:
        return int(self.time.now)

    def settings(self, sessions: SessionStore | None) -> ServerSettings:
        return ServerSettings(
            open_space=lambda _: self.store,
            clock_ms=lambda: self.now_ms,
            new_id=partial(self._name, "session"),
            new_token=partial(self._name, "token"),
            commit=self._commit,
            session_store=sessions or NullSessionStore(),
            session_ttl_ms=2_000,
            remove_after_ms=100,
            drain_wait_ms=20,
            limits=Limits(message_bytes_max=MESSAGE_MAX),
        )

    def announce(self, hear: Callable[[Node], None]) -> None:
        """Tell the other servers something, late or never."""
        for node in self.nodes:
            here = self._receiving is not None and node.has(self._receiving)
            if not here and (self.calm or self.random.random() >= self.faults.deaf):
                delay = self.random.expovariate(1 / self.faults.delay_ms)
                self.time.after(delay, partial(hear, node))

    def _name(self, kind: str) -> str:
        self._serial += 1
        return f"{kind}{self._serial}"

    def _commit(
        self,
        store: Store,
        session: str,
        commit: Mapping[str, Any],
        tell: OnCommitted,
        guard: Guard | None,
    ) -> None:
        node, connection, _ = self.owners[session]
        assert connection is self._receiving, f"{session} was written by a former owner"
        chance = self.random.random() if not self.calm else 1.0
        if chance < self.faults.crash_in_commit / 2:
            node.doomed = True  # the server dies before the commit lands
            return
        key = (session, commit["localSeq"])
        answer: Applied | StoreError
        try:
            answer = store.transact(session, commit, guard)
            self.oracle.landed(session, dict(commit), answer.seq)
        except StoreError as refusal:
            answer = refusal
            self.refused.add(key)
        if isinstance(answer, Applied) and len(self.nodes) > 1:
            self.announce(Node.look)
        if chance < self.faults.crash_in_commit:
            node.doomed = True  # … or right after
            return
        tell(answer)

    # connections

    def connect(self, actor: Actor) -> Wire:
        node = self.random.choice(self.nodes)
        server, connection = node.server, node.server.connect()
        state: dict[str, int] = {"ready": False, "open": False}

        def up(frame: str) -> None:
            if server is not node.server:
                return
            if len(frame) > FRAME_MAX:
                wire.cut(TOO_BIG)
                return
            self._count(actor, frame)
            self.receive(node, connection, frame)
            if node.doomed:
                node.restart()
            else:
                node.deliver()

        def down(frame: str) -> None:
            self._check_frame(actor, frame, state)
            actor.receive(frame)

        def broken(code: int | None) -> None:
            node.wires.pop(wire, None)
            connection.disconnected()
            actor.disconnected(code)

        duplicates = 0 if self.calm else self.faults.duplicate
        wire = Wire(self.time, self.random, self.faults.delay_ms, duplicates, up, down, broken)
        node.wires[wire] = connection
        self.reconnects[actor.name] = self.reconnects.get(actor.name, -1) + 1
        return wire

    def receive(self, node: Node, connection: Connection, frame: str) -> None:
        """A frame reaches a server; who owns a session from then on is noted."""
        self._receiving = connection
        try:
            connection.receive(frame)
        finally:
            self._receiving = None
        for session in connection.sessions.values():
            # Each open makes a token. A former owner still has the session with its own, and a
            # frame that is not about the session does not tell it otherwise.
            if session.token_digest not in self.claimed:
                self.claimed.add(session.token_digest)
                self.owners[session.id] = (node, connection, session.token_digest)

    def _count(self, actor: Actor, frame: str) -> None:
        if '"transact"' in frame:
            request = messages.parse_request(frame)
            if isinstance(request, messages.Transact):
                key = (request.session_id, request.commit["localSeq"])
                self.arrivals[key] = self.arrivals.get(key, 0) + 1

    def _check_frame(self, actor: Actor, frame: str, state: dict[str, int]) -> None:
        """Order on the wire: hello.ok, then an open, then effects; syncs sorted, each id once."""
        answer = messages.parse_answer(frame)
        if isinstance(answer, HelloOk):
            state["ready"] = 1
        elif isinstance(answer, Response):
            assert state["ready"]
            if isinstance(answer.ok, dict) and "sessionToken" in answer.ok:
                state["open"] = True
        elif isinstance(answer, Effect):
            assert state["open"], "an effect before its session was open"
            keys = [(entry.branch, entry.id) for entry in answer.effect.upserts]
            assert keys == sorted(set(keys))
            # On this connection: what an earlier owner was sent may still be on its way to it.
            to_seq, told = answer.effect.to_seq, f"told {answer.session_id}"
            assert to_seq >= state.get(told, 0), "toSeq went back"
            state[told] = to_seq

    # what transactions saw

    def saw(self, actor: Actor, local_seq: int, looks: list[Look]) -> None:
        assert actor.session.session_id is not None
        self.looks[actor.session.session_id, local_seq] = looks

    # playing

    def run(self) -> None:
        for _ in range(self.steps):
            self._step()
            for actor in self.actors:
                actor.check()
        self._come_to_rest()
        self._check_at_rest()
        self.store.close()

    def _step(self) -> None:
        faults = self.faults
        actor = self.random.choice(self.actors)
        happening = self.random.choices(
            ("cut", "restart", "crash", "takeover", "intrusion", "save", "act"),
            (
                faults.cut,
                faults.restart,
                faults.client_crash,
                faults.takeover,
                faults.intrusion,
                faults.save,
                1,
            ),
        )[0]
        match happening:
            case "cut":
                if actor.wire is not None:
                    actor.wire.cut()
            case "restart":
                self.random.choice(self.nodes).restart()
            case "crash":
                self._crash(actor)
            case "takeover":
                self._take_over(actor)
            case "intrusion":
                self._intrude(actor)
            case "save":
                self.random.choice(self.nodes).save()
            case _:
                self._act(actor)
        until = self.time.now + self.random.expovariate(1 / 8)
        while (at := self.time.next_at) is not None and at <= until:
            self.time.run_next()
        self.time.now = until

    def _act(self, actor: Actor) -> None:
        if actor.session.stage is Stage.CLOSED:
            self._replace(actor)
            return
        if actor.open_transaction is not None:
            self._write_something(actor)
            actor.submit()
            return
        choice = self.random.random()
        branch = self.random.choice(BRANCHES)
        if choice < 0.02:
            actor.write_nonsense(self.random.choice(DOCUMENTS), self.random.choice(NONSENSE))
        elif choice < 0.04:
            self._write_too_much(actor, branch)
        elif choice < 0.55:
            actor.begin(branch)
            self._look_around(actor)
            if self.random.random() < 0.8:
                self._write_something(actor)
                actor.submit()
        elif choice < 0.75:
            operations = [self._blind(id) for id in self._some_documents()]
            actor.commit(operations, branch)
        elif choice < 0.97:
            actor.watch("add", [self._watch() for _ in range(self.random.randint(1, 2))])
        else:
            actor.watch("set", [self._watch()])

    def _write_too_much(self, actor: Actor, branch: str) -> None:
        """More than the server reads, or more than its socket does."""
        size = self.random.choice((MESSAGE_MAX + 1, FRAME_MAX + 1))
        id = self.random.choice(DOCUMENTS)
        local_seq = actor.session.replica.next_local_seq
        actor.commit([{"op": "set", "id": id, "value": {"value": {"n": "x" * size}}}], branch)
        if actor.session.replica.next_local_seq > local_seq:
            self.oversized.add((str(actor.session.session_id), local_seq))

    def _intrude(self, actor: Actor) -> None:
        """Someone opens the session of another without its token, and writes."""
        id = actor.session.session_id
        assert id is not None
        node = self.random.choice(self.nodes)
        connection = node.server.connect()
        hello: dict[str, Any] = {"type": "hello", "protocol": "memory/v2", "flags": FLAGS}
        if self.random.random() < 0.5:
            hello["capabilities"] = ["coverage"]
        known = self.owners.get(id)
        owned = known is not None and known[0].has(known[1])
        session: dict[str, Any] = {"sessionId": id}
        if self.random.random() < 0.5:
            session["sessionToken"] = "guessed"
        opening = {"type": "session.open", "requestId": "o", "space": SPACE, "session": session}
        operation = {"op": "set", "id": "of:stolen", "value": {"value": 1}}
        commit = {"localSeq": 1_000_000, "operations": [operation]}
        writing = {"type": "transact", "requestId": "w", "space": SPACE, "sessionId": id}
        self.receive(node, connection, json.dumps(hello))
        self.receive(node, connection, json.dumps(opening))
        opened = "ok" in json.loads(connection.take()[-1])
        if opened:
            # Its time was over, or its server forgot it: then it is a new session of that name.
            assert not owned, f"{id} was taken without its token"
            self.shared.add(id)
        else:
            self.receive(node, connection, json.dumps({**writing, "commit": commit}))
            (refusal,) = connection.take()
            assert json.loads(refusal)["error"]["name"] == "SessionError"
        connection.disconnected()
        node.deliver()

    def _some_documents(self) -> list[str]:
        return self.random.sample(DOCUMENTS, self.random.choice((1, 1, 2)))

    def _look_around(self, actor: Actor) -> None:
        for id in self._some_documents():
            path: tuple[str, ...] = self.random.choice(
                ((), ("value",), ("value", "n"), ("value", "list"), ("value", "m", "x"))
            )
            actor.look(id, path)

    def _write_something(self, actor: Actor) -> None:
        assert actor.open_transaction is not None
        transaction, _ = actor.open_transaction
        for id in self._some_documents():
            kind = self.random.random()
            try:
                if kind < 0.4:
                    seen = actor.look(id, ("value", "n"))
                    transaction.write(id, ("value", "n"), seen + 1 if isinstance(seen, int) else 1)
                elif kind < 0.6:
                    actor.look(id, ("value", "list"))
                    transaction.write(id, ("value", "list", "-"), self._number())
                elif kind < 0.7:
                    transaction.write(id, ("value", "m", self.random.choice("xyz")), self._number())
                elif kind < 0.8:
                    target = self.random.choice(DOCUMENTS)
                    transaction.write(id, ("value", "next"), {"/": {"link@1": {"id": target}}})
                elif kind < 0.9:
                    transaction.delete(id)
                else:
                    transaction.write(id, ("value", "list", "length"), 0)
            except (NotFound, TypeMismatch):
                continue  # a document of another shape: nothing is written to it

    def _number(self) -> int:
        return self.random.randint(0, 99)

    def _blind(self, id: str) -> dict[str, Any]:
        kind = self.random.random()
        if kind < 0.4:
            value: dict[str, Any] = {"n": self._number(), "list": [], "m": {}}
            if self.random.random() < 0.5:
                value["next"] = {"/": {"link@1": {"id": self.random.choice(DOCUMENTS)}}}
            return {"op": "set", "id": id, "value": {"value": value}}
        if kind < 0.5:
            return {"op": "delete", "id": id}
        patches: list[dict[str, Any]] = [
            self.random.choice(
                (
                    {"op": "add", "path": "/value/m/y", "value": self._number()},
                    {"op": "append", "path": "/value/list", "values": [self._number()]},
                    {"op": "increment", "path": "/value/n", "by": 1},
                    {"op": "remove", "path": "/value/m/x"},
                    {"op": "replace", "path": "/value/n", "value": self._number()},
                )
            )
        ]
        return {"op": "patch", "id": id, "patches": patches}

    def _watch(self) -> WatchSpec:
        id, branch = self.random.choice(DOCUMENTS), self.random.choice(BRANCHES)
        number = self.random.randrange(len(SCHEMAS))
        root = {"id": id, "selector": {"path": [], "schema": SCHEMAS[number]}}
        query: dict[str, Any] = {"roots": [root]}
        if branch:
            query["branch"] = branch
        return WatchSpec(id=f"{branch}:{id}:{number}", kind="graph", query=query)

    def _crash(self, actor: Actor) -> None:
        """The process dies; another one starts from the same outbox."""
        actor.crash()
        place = self.actors.index(actor)
        remembered = actor.outbox.remembered
        session_id = remembered.session_id if remembered else actor.session.session_id
        assert session_id is not None
        again = Actor(self, actor.name, actor.outbox, session_id)
        self.actors[place] = again

    def _replace(self, actor: Actor) -> None:
        """A client whose session is over begins another one."""
        actor.crash()
        name = self._name("session")
        self.actors[self.actors.index(actor)] = Actor(self, actor.name, MemoryOutbox(), name)

    def _take_over(self, actor: Actor) -> None:
        """Someone opens the session of another with its token; the other one must notice."""
        if actor.session.token is None or len(self.actors) > 5:
            return
        outbox = MemoryOutbox()
        assert actor.session.session_id is not None
        outbox.opened(actor.session.session_id, actor.session.token)
        # Two owners of one session must not use the same localSeq for different commits.
        self._serial += 1
        outbox.next = actor.outbox.next + 1_000 * self._serial
        self.shared.add(actor.session.session_id)
        self.actors.append(Actor(self, self._name("thief"), outbox, actor.session.session_id))

    # the end

    def _come_to_rest(self) -> None:
        """No more faults: everybody connects, and what is on its way arrives."""
        self.calm = True
        for node in self.nodes:
            node.look()
            node.server.registry.check(self.now_ms)
            node.deliver()
        for actor in self.actors:
            if actor.open_transaction is not None:
                if actor.session.stage is Stage.CLOSED:
                    actor.open_transaction[0].abort()
                else:
                    actor.submit()
            actor.pump()
        for _ in range(20_000):
            if not self.time.run_next():
                break
        else:
            raise AssertionError("it never comes to rest")

    def _check_at_rest(self) -> None:
        for actor in self.actors:
            actor.check(everything=True)
            self._check_settled(actor)
            if actor.session.stage is not Stage.CLOSED:
                assert actor.session.stage is Stage.LIVE, f"{actor.name}: {actor.session.stage}"
                if self.sound:
                    self._check_view(actor)
        self._check_store()
        self._check_reads()
        self._check_order()

    def _check_settled(self, actor: Actor) -> None:
        """INV-6, INV-7: every commit has a verdict, and it is the server's."""
        id = actor.session.session_id
        assert id is not None
        assert not actor.session.outstanding
        assert not any(actor.outbox.pending) or actor.session.stage is Stage.CLOSED
        for local_seq, outcome in actor.outcomes.items():
            assert outcome.settled, f"{actor.name}: commit {local_seq} was never answered"
            landed = self.oracle.accepted.get((id, local_seq))
            if outcome.error is None:
                assert outcome.result().seq == landed, (
                    f"{actor.name}: {local_seq} is not at {landed}"
                )
            elif getattr(outcome.error, "name", "") in REFUSALS:
                assert landed is None, f"{actor.name}: {local_seq} was refused and landed"
        for key in self.oversized:
            assert key not in self.oracle.accepted, f"{key} is larger than the server reads"
        for waiting in actor.waiting:
            assert waiting.settled, f"{actor.name}: a watch was never answered"

    def _check_view(self, actor: Actor) -> None:
        """INV-28, INV-29: the client has what the server believes, and that is what there is."""
        session, view = actor.session, actor.session.view
        (node,) = [node for node in self.nodes if actor.wire in node.wires]
        space = node.server.space(SpaceId(SPACE))
        known = node.server.registry.find(
            SpaceId(SPACE), SessionId(str(session.session_id)), self.now_ms
        )
        assert known is not None
        assert set(known.watch_set.watches) == set(session.watches), f"{actor.name}: other watches"
        mirrored = {key: entry.seq for key, entry in known.watch_set.known.items()}
        shown = {(entity.branch, entity.id): entity.seq for entity in view.entities}
        assert mirrored == shown, f"{actor.name}: the server believes {mirrored}, not {shown}"
        for watch in session.watches.values():
            branch = watch.query.get("branch", "")
            for entity in query_graph(space.view_at(branch, None), watch.query, space=SPACE):
                seen = view.get(entity["id"], branch)
                assert seen is not None, f"{actor.name}: {entity['id']} on {branch!r} is missing"
                assert seen.seq == entity["seq"]
                assert _alike(seen.document, entity["document"])
                visible = session.replica.visible(entity["id"], branch)
                assert _alike(visible, entity["document"]), (
                    f"{actor.name}: {entity['id']} looks like {visible}, not {entity['document']}"
                )

    def _check_store(self) -> None:
        """INV-9, INV-22: the store is the fold of its commits, now and at some seq before."""
        assert self.store.newest_seq() == self.oracle.seq
        for branch, id in self.oracle.lines:
            heads = {b.name: b.head_seq for b in self.store.branches()}
            assert _alike(self.store.read(id, branch), self.oracle.at(branch, id, self.oracle.seq))
            if heads[branch]:  # type: ignore[index]
                at = self.random.randint(0, heads[branch])  # type: ignore[index]
                assert _alike(self.store.read(id, branch, at), self.oracle.at(branch, id, at))

    def _check_reads(self) -> None:
        """INV-1: an accepted commit saw exactly what was durable right below it."""
        if not self.sound:
            return
        for key, looks in self.looks.items():
            seq = self.oracle.accepted.get(key)
            if seq is None:
                continue
            branch = self.oracle.commits[seq][1].get("branch", "")
            for look in looks:
                true = self.oracle.place(branch, look.id, look.path, seq - 1)
                assert same(true, look.value) or true is look.value, (
                    f"{key} landed at {seq} having seen {look}, but there was {true}"
                )

    def _check_order(self) -> None:
        """INV-5, INV-35: seqs follow localSeqs; a commit is sent no more often than needed."""
        for actor in self.actors:
            often = Counter(local_seq for _, local_seq in actor.sends)
            for local_seq, times in often.items():
                assert times <= actor.client.connections, f"{actor.name}: {local_seq} {times} times"
        for key in self.oracle.accepted:
            assert self.arrivals.get(key, 0) >= 1, f"{key} landed and nobody sent it"
        by_session: dict[str, list[tuple[int, int]]] = {}
        for (session, local_seq), seq in self.oracle.accepted.items():
            # One that was refused and then landed when it was sent again comes later. And when two
            # clients fight for one session, each has an order of its own.
            if (session, local_seq) not in self.refused and session not in self.shared:
                by_session.setdefault(session, []).append((local_seq, seq))
        for session, pairs in by_session.items():
            pairs.sort()
            seqs = [seq for _, seq in pairs]
            assert seqs == sorted(seqs), f"{session}: {pairs}"


def _alike(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return same(one, other)


def play(seed: int, **how: Any) -> None:
    """Run one seed; whatever breaks is named together with it."""
    try:
        World(seed, **how).run()
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error
    except Exception as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
