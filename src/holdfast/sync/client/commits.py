"""The commits of a session without a verdict: sent, answered, and sent again.

A commit is shown at once and kept in the outbox until its outcome is known. Most answers are
verdicts. Two are not, and the commit is sent again after a while:

    RateLimitError   the client was too fast; the server did not look at the commit
    a refusal of a commit that depends on one that waits to be sent again
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UnsetType

from holdfast.ids import BranchName, LocalSeq, Seq
from holdfast.sync.client.errors import CommitRefused
from holdfast.sync.client.outbox import Outbox
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.ports import SessionPort
from holdfast.sync.client.reads import downgraded
from holdfast.sync.client.replica import Replica
from holdfast.sync.wire.errors import ProtocolError
from holdfast.sync.wire.messages import Request, Response, Transact

TOO_FAST = "RateLimitError"

AGAIN_MS = 100
"""How long to wait before sending again if the server does not say."""


@dataclass(frozen=True, slots=True)
class Landed:
    """A commit that is durable at `seq`, as the server reported it."""

    seq: Seq
    branch: BranchName
    local_seq: LocalSeq


@dataclass(slots=True)
class Outstanding:
    """A commit without a verdict, and the connection it was last sent on (0: none yet)."""

    commit: Mapping[str, Any]
    outcome: Outcome[Landed]
    connection: int = 0
    sends: int = 0

    @property
    def layers(self) -> frozenset[int]:
        """The commits that this one was made on top of, as its reads name them."""
        pending = (self.commit.get("reads") or {}).get("pending", ())
        seqs = [read["localSeq"] for read in pending]
        return frozenset(n for each in seqs for n in (each if isinstance(each, list) else [each]))


class Accepted(msgspec.Struct, rename="camel"):
    """The members of the answer to a commit that landed."""

    seq: int
    branch: str = ""


class Commits:
    """The commits of a session without a verdict."""

    def __init__(self, session: SessionPort, replica: Replica, outbox: Outbox) -> None:
        self._session, self._replica, self._outbox = session, replica, outbox
        self.outstanding: dict[LocalSeq, Outstanding] = {}
        self.sent: list[LocalSeq] = []
        """Every localSeq in the order it was sent; used by tests."""
        self._later: set[LocalSeq] = set()
        commits = outbox.commits()
        replica.recall(outbox.bases(), commits)
        for commit in commits:
            self.outstanding[LocalSeq(commit["localSeq"])] = Outstanding(commit, Outcome())

    def add(self, commit: Mapping[str, Any]) -> Outstanding:
        """Keep a commit until there is a verdict."""
        self._outbox.add(commit, self._replica.bases(commit))
        entry = Outstanding(commit, Outcome())
        self.outstanding[LocalSeq(commit["localSeq"])] = entry
        return entry

    def send(self, entry: Outstanding, answered: Callable[[LocalSeq, Response], None]) -> None:
        """Send a commit; one made while others wait to be sent again waits with them."""
        client = self._session.client
        local_seq = LocalSeq(entry.commit["localSeq"])
        if self._later:
            self._later.add(local_seq)
            return
        entry.connection = client.connections
        entry.sends += 1
        self.sent.append(local_seq)
        commit = entry.commit if client.sound else downgraded(entry.commit)

        def build(request: str) -> Request:
            space, session_id = self._session.space, self._session.session_id
            assert session_id is not None
            return Transact(
                request_id=request,
                space=space,
                session_id=session_id,
                commit=dict(client.signed(space, session_id, commit)),
            )

        client.ask(build, lambda response: answered(local_seq, response), lambda _: None)

    def unsent(self) -> list[Outstanding]:
        """Those that were not sent on this connection, oldest first."""
        now = self._session.client.connections
        waiting = sorted(self.outstanding.items())
        return [entry for _, entry in waiting if entry.connection != now]

    # answers that are not verdicts

    def again_in_ms(self, local_seq: LocalSeq, response: Response) -> int | None:
        """When to send a commit again if this answer decides nothing; None if it is a verdict."""
        entry = self.outstanding.get(local_seq)
        if entry is None or isinstance(response.error, UnsetType):
            return None
        if response.error.name == TOO_FAST:
            after = response.error.retry_after
            wait_ms = AGAIN_MS if isinstance(after, UnsetType) else after
        elif entry.layers & self._later:
            wait_ms = 0  # the timer of the commits it depends on is running
        else:
            return None
        entry.connection = 0
        self._later.add(local_seq)
        return wait_ms

    def due(self) -> list[Outstanding]:
        """Those that waited to be sent again, oldest first; they wait no longer."""
        later, self._later = sorted(self._later), set()
        return [self.outstanding[n] for n in later if n in self.outstanding]

    # verdicts

    def accepted(self, response: Response) -> Accepted | None:
        """The answer to a commit that landed; None if it is invalid, which ends the session."""
        try:
            return msgspec.convert(response.ok, Accepted)
        except msgspec.ValidationError as error:
            self._session.fail(
                ProtocolError(f"the server accepted a commit without saying where: {error}")
            )
            return None

    def land(self, local_seq: LocalSeq, accepted: Accepted) -> None:
        """Resolve a commit that is durable."""
        entry = self.outstanding.pop(local_seq, None)
        if entry is not None:
            self._outbox.remove(local_seq)
            landed = Landed(Seq(accepted.seq), BranchName(accepted.branch), local_seq)
            entry.outcome.resolve(landed)

    def refuse(self, local_seq: LocalSeq, error: Exception, keep: bool = False) -> None:
        """Revert commits; their outcomes are rejected once all of them are reverted."""
        reverted = []
        for refusal in self._replica.reject(local_seq, error):
            entry = self.outstanding.pop(refusal.local_seq, None)
            if entry is not None:
                if not keep:
                    self._outbox.remove(refusal.local_seq)
                reverted.append((entry, refusal.error))
        for entry, reason in reverted:
            entry.outcome.reject(reason)

    def refuse_all(self, error: Exception, keep: bool = False) -> None:
        """Revert every commit without a verdict."""
        for local_seq in sorted(self.outstanding):
            if local_seq in self.outstanding:
                self.refuse(local_seq, error, keep)


def commit_refused(response: Response) -> CommitRefused:
    """The refusal of a commit, as an error to raise."""
    error = response.error
    wire = None if isinstance(error, UnsetType) else msgspec.to_builtins(error)
    return CommitRefused.from_wire(wire)
