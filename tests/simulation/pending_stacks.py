"""A bounded check of the pending-stack protocol: every interleaving of a few commits, no more.

One document with two places, x and y. Sessions build commits (write one place, perhaps having read
one), the server processes each session's commits in order, verdicts travel back in order, and
confirmed state is integrated up to some seq. The claim, at every acceptance:

    what the commit read is what was durable right below it

Dials say which protocol is checked:

    names   `newest`: a read through pending commits names only the newest of them (the first
            version); `all`: every one that was seen
    basis   `layer`: only writes above the named commit can break such a read (the first version);
            `confirmed`: writes above the reader's confirmed state can, except the named ones
    folds   `at once`: an accepted commit becomes confirmed state at its seq (the first version);
            `covered`: it stays a layer until everything up to its seq was integrated
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

Place = int
Uid = int

NOTHING: Uid = -1
"""The writer of a place that nobody wrote."""


@dataclass(frozen=True)
class Protocol:
    """The dials."""

    names: str = "all"
    basis: str = "confirmed"
    folds: str = "covered"


LEGACY = Protocol("newest", "layer", "at once")
SOUND = Protocol()


class Built(NamedTuple):
    """A commit as its session made it: what it writes, what it read and saw, what that stood on."""

    uid: Uid
    writes: Place
    reads: Place | None
    saw: Uid
    named: tuple[int, ...]
    seq: int


class Session(NamedTuple):
    """A client and its queue. `verdicts[n]` is the seq of commit n, 0 if it was refused.

    `confirmed` is the writer of each place, as of `seq`.
    """

    built: tuple[Built, ...] = ()
    verdicts: tuple[int, ...] = ()
    delivered: int = 0
    seq: int = 0
    confirmed: tuple[Uid, Uid] = (NOTHING, NOTHING)


class State(NamedTuple):
    """The accepted commits, in order, and what each session knows."""

    log: tuple[tuple[Uid, Place], ...] = ()
    sessions: tuple[Session, ...] = ()


class Violation(Exception):
    """An accepted commit that had seen something else; `trace` leads to it."""

    def __init__(self, trace: list[str]) -> None:
        super().__init__("\n".join(trace))
        self.trace = trace


def layers(session: Session, protocol: Protocol) -> list[int]:
    """The session's commits that stand above its confirmed state, oldest first."""

    def above(number: int) -> bool:
        if number >= session.delivered:
            return True
        return protocol.folds == "covered" and session.verdicts[number] > session.seq

    return [number for number in range(len(session.built)) if above(number)]


def seen(session: Session, place: Place, protocol: Protocol) -> Uid:
    """Who wrote a place, as this client shows it."""
    writer = session.confirmed[place]
    for number in layers(session, protocol):
        if session.built[number].writes == place:
            writer = session.built[number].uid
    return writer


def durable(log: tuple[tuple[Uid, Place], ...], place: Place) -> Uid:
    for uid, written in reversed(log):
        if written == place:
            return uid
    return NOTHING


def admitted(commit: Built, session: Session, state: State, protocol: Protocol) -> bool:
    """The server's decision."""
    if commit.reads is None:
        return True
    above = commit.seq
    excused: set[int] = set()
    if commit.named:
        seqs = []
        for number in commit.named:
            if number >= len(session.verdicts) or not session.verdicts[number]:
                return False
            seqs.append(session.verdicts[number])
        if protocol.basis == "layer":
            above = seqs[-1]
        else:
            excused = set(seqs)
    return not any(
        written == commit.reads and seq > above and seq not in excused
        for seq, (_, written) in enumerate(state.log, start=1)
    )


def successors(
    state: State, protocol: Protocol, budget: tuple[int, ...]
) -> list[tuple[str, State]]:
    """Everything that can happen next."""
    found: list[tuple[str, State]] = []
    total = sum(len(session.built) for session in state.sessions)
    for index, session in enumerate(state.sessions):

        def after(name: str, changed: Session, log: object = None, index: int = index) -> None:
            sessions = (*state.sessions[:index], changed, *state.sessions[index + 1 :])
            found.append((name, State(state.log if log is None else log, sessions)))  # type: ignore[arg-type]

        if len(session.built) < budget[index]:
            stack = layers(session, protocol)
            named = tuple(stack[-1:] if protocol.names == "newest" else stack)
            for writes in (0, 1) if total else (0,):  # the first place written is called x
                after(
                    f"{index} builds {total}: writes {'xy'[writes]}",
                    session._replace(
                        built=(*session.built, Built(total, writes, None, NOTHING, (), 0))
                    ),
                )
                for reads in (0, 1):
                    saw = seen(session, reads, protocol)
                    built = Built(total, writes, reads, saw, named, session.seq)
                    after(
                        f"{index} builds {total}: read {'xy'[reads]} of {saw} at seq {session.seq}"
                        f" through {named}, writes {'xy'[writes]}",
                        session._replace(built=(*session.built, built)),
                    )
        if len(session.verdicts) < len(session.built):
            commit = session.built[len(session.verdicts)]
            if admitted(commit, session, state, protocol):
                log = (*state.log, (commit.uid, commit.writes))
                name = f"{index} lands {commit.uid} at seq {len(log)}"
                if commit.reads is not None and durable(state.log, commit.reads) != commit.saw:
                    raise Violation([name])
                after(name, session._replace(verdicts=(*session.verdicts, len(log))), log)
            else:
                after(
                    f"{index} is refused {commit.uid}",
                    session._replace(verdicts=(*session.verdicts, 0)),
                )
        if len(session.built) == budget[index]:
            continue  # what it hears from here on changes nothing that is claimed
        if session.delivered < len(session.verdicts):
            seq = session.verdicts[session.delivered]
            told = session._replace(delivered=session.delivered + 1)
            if seq and protocol.folds == "at once":
                commit = session.built[session.delivered]
                confirmed = list(session.confirmed)
                if seq > session.seq:
                    confirmed[commit.writes] = commit.uid
                told = told._replace(
                    seq=max(seq, session.seq), confirmed=(confirmed[0], confirmed[1])
                )
            after(f"{index} hears of {session.delivered}", told)
        # Effects travel behind verdicts: what was integrated holds no commit without its verdict.
        limit = len(state.log)
        for number in range(session.delivered, len(session.verdicts)):
            if session.verdicts[number]:
                limit = min(limit, session.verdicts[number] - 1)
        for seq in range(session.seq + 1, limit + 1):
            prefix = state.log[:seq]
            after(
                f"{index} integrates up to seq {seq}",
                session._replace(seq=seq, confirmed=(durable(prefix, 0), durable(prefix, 1))),
            )
    return found


def check(protocol: Protocol, budget: tuple[int, ...], most: int = 5_000_000) -> int:
    """Visit every reachable state; how many. Raises `Violation` with a shortest-found trace."""
    start = State((), tuple(Session() for _ in budget))
    parents: dict[State, tuple[State, str] | None] = {start: None}
    frontier = [start]
    while frontier:
        following: list[State] = []
        for state in frontier:
            try:
                steps = successors(state, protocol, budget)
            except Violation as violation:
                raise Violation([*_trace(parents, state), *violation.trace]) from None
            for name, reached in steps:
                if reached not in parents:
                    parents[reached] = (state, name)
                    following.append(reached)
        frontier = following
        assert len(parents) <= most, "the bound is too wide"
    return len(parents)


def _trace(parents: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    names: list[str] = []
    step = parents[state]
    while step is not None:
        state, name = step
        names.append(name)
        step = parents[state]
    return names[::-1]
