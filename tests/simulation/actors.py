"""A client in the simulation: the real client core, driven by virtual time, watched closely."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.ids import LocalSeq
from holdfast.store.delta import MISSING
from holdfast.store.errors import InvalidValue
from holdfast.store.values import same
from holdfast.sync.client.actions import Dial, HangUp, Send, Wake
from holdfast.sync.client.client import Client
from holdfast.sync.client.commits import Landed
from holdfast.sync.client.errors import NotFound, TypeMismatch
from holdfast.sync.client.outbox import Base, Remembered
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.replica import Notification
from holdfast.sync.client.space_session import SpaceSession
from holdfast.sync.client.transaction import Transaction
from holdfast.sync.wire import messages
from holdfast.sync.wire.messages import Sync, WatchSpec
from tests.simulation.oracle import Look

if TYPE_CHECKING:
    from tests.simulation.network import Wire
    from tests.simulation.world import World

SPACE = "did:key:simulation"


class MemoryOutbox:
    """An outbox that survives a client but not the simulation. The twin of the SQLite one."""

    def __init__(self) -> None:
        self.remembered: Remembered | None = None
        self.next = 1
        self.pending: dict[int, Any] = {}
        self.kept: dict[tuple[str, str], tuple[int, Base]] = {}

    def session(self) -> Remembered | None:
        return self.remembered

    def opened(self, session_id: str, token: str | None) -> None:
        self.remembered = Remembered(session_id, token)

    def next_local_seq(self) -> int:
        return self.next

    def commits(self) -> list[dict[str, Any]]:
        return [copy.deepcopy(self.pending[n]) for n in sorted(self.pending)]

    def add(self, commit: Any, bases: Sequence[Base] = ()) -> None:
        self.pending[commit["localSeq"]] = copy.deepcopy(dict(commit))
        for base in bases:
            self.kept[base.branch, base.id] = (commit["localSeq"], copy.deepcopy(base))
        self.used(LocalSeq(commit["localSeq"]))

    def bases(self) -> list[Base]:
        return [copy.deepcopy(base) for _, (_, base) in sorted(self.kept.items())]

    def used(self, local_seq: LocalSeq) -> None:
        self.next = max(self.next, local_seq + 1)

    def remove(self, local_seq: LocalSeq) -> None:
        self.pending.pop(local_seq, None)
        oldest = min(self.pending, default=2**62)
        self.kept = {key: kept for key, kept in self.kept.items() if kept[0] >= oldest}

    def close(self) -> None:
        pass


class Actor:
    """One client process, its one session, and everything it was ever told."""

    def __init__(self, world: World, name: str, outbox: MemoryOutbox, session_id: str) -> None:
        self.world, self.name, self.outbox = world, name, outbox
        self.random = world.random
        self.client = Client(self.random.random, capabilities=world.capabilities)
        self.session: SpaceSession = self.client.mount(SPACE, session_id, outbox)
        self.wire: Wire | None = None
        self.alive = True
        self.open_transaction: tuple[Transaction, list[Look]] | None = None
        self.outcomes: dict[int, Outcome[Landed]] = {}
        self.waiting: list[Outcome[Any]] = []
        self.mirror: dict[tuple[str, str], Any] = {}
        self.reverted: set[int] = set()
        self.shown: dict[tuple[str, str], int] = {}
        self.sends: set[tuple[int, int]] = set()
        """Which commit was sent on which connection."""
        self._timers: dict[str, int] = {}
        self._found_right: dict[tuple[str, str], tuple[int, Any]] = {}
        for key in self.session.replica.records:
            self.mirror[key] = copy.deepcopy(self.session.replica.visible(key[1], key[0]))
        self.session.replica.subscribe(self._notified)
        self.session.view.subscribe_sync(self._synced)
        for local_seq, entry in self.session.outstanding.items():
            self._follow(local_seq, entry.outcome)
        self.client.start()
        self.pump()

    # the world around

    def pump(self) -> None:
        """Do what the client core wants done."""
        while self.alive and (actions := self.client.take()):
            for action in actions:
                match action:
                    case Dial():
                        self.world.time.after(self.random.uniform(0, 20), self._dialled)
                    case Send(message):
                        self._count(message)
                        frame = self.client.frame(message)
                        if self.wire is not None and frame is not None:
                            self.wire.send("up", frame)
                    case Wake(name, delay_ms):
                        self._wake(name, delay_ms)
                    case HangUp():
                        self._timers.clear()
                        if self.wire is not None:
                            self.wire.cut()

    def _count(self, message: messages.Message) -> None:
        """INV-35: a commit is sent at most once on a connection."""
        if isinstance(message, messages.Transact):
            sent = (self.client.connections, int(message.commit["localSeq"]))
            assert sent not in self.sends, f"{self.name}: {sent[1]} was sent twice on a connection"
            self.sends.add(sent)

    def _wake(self, name: str, delay_ms: float) -> None:
        number = self._timers[name] = self._timers.get(name, 0) + 1

        def fire() -> None:
            if self.alive and self._timers.get(name) == number:
                self.client.timer(name)
                self.pump()

        self.world.time.after(delay_ms, fire)

    def _dialled(self) -> None:
        if not self.alive:
            return
        if not self.world.calm and self.random.random() < self.world.faults.dial:
            self.client.transport_down("nobody answers")
        else:
            self.wire = self.world.connect(self)
            self.client.transport_up()
        self.pump()

    def receive(self, frame: str) -> None:
        if self.alive:
            self.client.receive(messages.parse_answer(frame))
            self.pump()

    def disconnected(self, code: int | None = None) -> None:
        self.wire = None
        if self.alive:
            self.client.transport_down("cut", code)
            self.pump()

    def crash(self) -> None:
        """The process is gone; whoever waited in it is gone too."""
        self.alive = False
        if self.wire is not None:
            self.wire.cut()

    # what it is told

    def _notified(self, told: Notification) -> None:
        for key, (before, after) in told.documents.items():
            known = self.mirror.get(key)
            assert _alike(known, before), (
                f"{self.name}: {key} changed silently from {known} to {before} before {told.kind}"
            )
            self.mirror[key] = copy.deepcopy(after)
        if told.kind == "integrate":
            assert told.changes, f"{self.name}: integrate without a change"
        if told.kind == "revert":
            assert told.reason is not None

    def _synced(self, sync: Sync | None) -> None:
        if sync is None:
            return
        for upsert in sync.upserts:
            key = (upsert.branch, upsert.id)
            entity = self.session.view.get(upsert.id, upsert.branch)
            if entity is not None:
                assert entity.seq >= self.shown.get(key, 0), f"{self.name}: {key} went back"
                self.shown[key] = entity.seq
        for remove in sync.removes:
            self.shown.pop((remove.branch, remove.id), None)
        if self.world.sound:
            self._check_whole(sync)

    def _check_whole(self, sync: Sync) -> None:
        """INV-8: of a commit, a view shows everything that it watches, or nothing."""
        for upsert in sync.upserts:
            if upsert.seq not in self.world.oracle.commits:
                continue  # it never existed, or what a branch was forked from
            commit = self.world.oracle.commits[upsert.seq][1]
            if commit.get("branch", "") != upsert.branch:
                continue  # inherited from the branch above
            for operation in commit["operations"]:
                beside = self.session.view.get(operation["id"], upsert.branch)
                assert beside is None or beside.seq >= upsert.seq, (
                    f"{self.name}: {upsert.id} is as of seq {upsert.seq}, and {operation['id']}, "
                    f"written by the same commit, as of {beside.seq}"
                )

    def _follow(self, local_seq: int, outcome: Outcome[Landed]) -> None:
        self.outcomes[local_seq] = outcome

        def settled(known: Outcome[Landed]) -> None:
            if known.error is not None:
                for record in self.session.replica.records.values():
                    assert all(layer.local_seq != local_seq for layer in record.layers), (
                        f"{self.name}: told of a refusal before it was reverted"
                    )

        outcome.then(settled)

    # what it does

    def begin(self, branch: str) -> Transaction:
        transaction = Transaction(self.session, branch)
        self.open_transaction = (transaction, [])
        return transaction

    def look(self, id: str, path: tuple[str, ...]) -> Any:
        assert self.open_transaction is not None
        transaction, looks = self.open_transaction
        wrote_here = any(operation["id"] == id for operation in transaction.operations())
        try:
            value = transaction.read(id, path)
        except (NotFound, TypeMismatch):
            value = MISSING
        if not wrote_here:  # what it wrote itself says nothing about the server
            looks.append(Look(id, path, value if value is MISSING else copy.deepcopy(value)))
        return value

    def submit(self) -> None:
        """Commit the open transaction; its verdict will be checked against what it saw."""
        assert self.open_transaction is not None
        (transaction, looks), self.open_transaction = self.open_transaction, None
        local_seq = self.session.replica.next_local_seq
        outcome: Outcome[Any] = transaction.commit()
        if self.session.replica.next_local_seq > local_seq:
            self.world.saw(self, local_seq, looks)
            self._follow(local_seq, outcome)
        self.pump()

    def commit(self, operations: list[dict[str, Any]], branch: str) -> None:
        """Write without looking."""
        local_seq = self.session.replica.next_local_seq
        outcome = self.session.commit(operations, (), branch)
        if self.session.replica.next_local_seq > local_seq:
            self._follow(local_seq, outcome)
        self.pump()

    def write_nonsense(self, id: str, value: Any) -> None:
        """A value that cannot be encoded is refused at once, and leaves nothing behind."""
        before = (self.session.replica.visible(id), list(self.session.outstanding))
        operation = {"op": "set", "id": id, "value": {"value": [value]}}
        try:
            self.session.commit([operation])
        except InvalidValue:
            after = (self.session.replica.visible(id), list(self.session.outstanding))
            assert before == after, f"{self.name}: a refused value left something behind"
        else:
            raise AssertionError(f"{self.name}: {value!r} was accepted")

    def watch(self, kind: str, watches: list[WatchSpec]) -> None:
        add = self.session.watch_add if kind == "add" else self.session.watch_set
        self.waiting.append(add(watches))
        self.pump()

    # checks

    def check(self, everything: bool = False) -> None:
        """What holds at every instant. What was found right and is still the same is not redone."""
        replica, oracle = self.session.replica, self.world.oracle
        if everything:
            self._found_right.clear()
        for (branch, id), record in replica.records.items():
            known = self._found_right.get((branch, id))
            if known is not None and known[0] == record.seq and known[1] is record.document:
                pass
            elif record.seq and self.world.sound:
                self._found_right[branch, id] = (record.seq, record.document)
                true = oracle.at(branch, id, record.seq)
                assert _alike(true, record.document), (
                    f"{self.name}: {id} on {branch!r} at seq {record.seq} "
                    f"is {true}, not {record.document}"
                )
            seqs = [layer.local_seq for layer in record.layers if layer.landed is None]
            assert seqs == sorted(seqs), f"{self.name}: layers out of order"
        for key in self.mirror.keys() | replica.records.keys():
            visible = replica.visible(key[1], key[0])
            assert _alike(self.mirror.get(key), visible), (
                f"{self.name}: {key} is {visible} and nobody was told since {self.mirror.get(key)}"
            )
        for entry in self.session.outstanding.values():
            assert entry.sends <= 1 + self.client.connections
        order = [(entity.branch, entity.id) for entity in self.session.view.entities]
        assert order == sorted(set(order)), f"{self.name}: the view is out of order"


def _alike(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return same(one, other)
