"""Plays the replica's and the view's steps: a real client core, and a server that says as told.

Cases of the protocol's first version (`seed`) run with its manner: scalar pending reads, accepted
layers folded at once, no cascade on the client. The others run with ours.
"""

from typing import Any

import msgspec

from holdfast.ids import LocalSeq
from holdfast.sync.client.actions import Action, Send, Wake
from holdfast.sync.client.client import TURN, Client
from holdfast.sync.client.commits import Landed
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.reads import Read
from holdfast.sync.client.replica import ORIGINAL, Notification
from holdfast.sync.client.space_session import SpaceSession
from holdfast.sync.client.watch_view import WatchView
from holdfast.sync.wire.messages import (
    CAPABILITIES,
    Effect,
    Hello,
    HelloOk,
    Message,
    Response,
    SessionOpen,
    Sync,
    Transact,
    WatchAdd,
    to_wire,
)

Step = dict[str, Any]

SPACE = "did:key:case"


def as_sync(written: dict[str, Any]) -> Sync:
    return msgspec.convert({"type": "sync", **written}, Sync)


class _Commit:
    """A commit the case made: its wire form, its request, and what was known when it settled."""

    def __init__(self, outcome: Outcome[Landed], wire: dict[str, Any], request: str) -> None:
        self.outcome, self.wire, self.request = outcome, wire, request
        self.reverted_before_resolve = False


class ReplicaPlayer:
    """One session, live from `replica.open` on; the case is the server."""

    def __init__(self, status: str) -> None:
        self.original = status == "seed"
        self.client = Client(lambda: 0.0, capabilities=() if self.original else CAPABILITIES)
        self.session: SpaceSession | None = None
        self.notifications: list[Notification] = []
        self.commits: dict[str, _Commit] = {}
        self.sent: list[Message] = []
        self.newest = 0

    def step(self, step: Step) -> Any:
        acts = {
            "replica.open": self._open,
            "replica.commit": self._commit,
            "replica.sync": self._sync,
            "replica.visible": self._visible,
            "replica.wire": self._wire,
            "replica.sent": self._sent,
            "replica.notifications": self._notifications,
            "server.accept": self._accept,
            "server.reject": self._reject,
            "server.effect": self._effect,
        }
        if step["op"] not in acts:
            raise AssertionError(f"no such step: {step['op']!r}")
        return acts[step["op"]](step)

    @property
    def _opened(self) -> SpaceSession:
        assert self.session is not None, "the case opens its replica first"
        return self.session

    def _run(self) -> None:
        """Do what the client wants done; timers fire at once."""
        while actions := self.client.take():
            for action in actions:
                self._do(action)

    def _do(self, action: Action) -> None:
        match action:
            case Send(message):
                self.sent.append(message)
                if isinstance(message, Hello):
                    capabilities = msgspec.UNSET if self.original else sorted(CAPABILITIES)
                    self.client.receive(
                        HelloOk(
                            protocol=message.protocol,
                            flags=message.flags,
                            capabilities=capabilities,
                        )
                    )
                elif isinstance(message, SessionOpen):
                    opened = {"sessionId": "case", "sessionToken": "t", "serverSeq": 0}
                    self.client.receive(Response(request_id=message.request_id, ok=opened))
            case Wake(name, _) if name == TURN:
                self.client.timer(TURN)
            case _:
                pass

    def _open(self, step: Step) -> Any:
        self.session = self.client.mount(SPACE)
        self.session.replica.subscribe(self.notifications.append)
        self.client.start()
        self._run()
        self.client.transport_up()
        self._run()
        if self.original:
            self.session.replica.manner = ORIGINAL

    def _commit(self, step: Step) -> Any:
        looks = [
            Read(
                read["id"],
                tuple(read["path"]),
                shape=bool(read.get("nonRecursive", False)),
                seq=read.get("seq"),
                branch=read.get("branch"),
            )
            for read in step.get("reads", ())
        ]
        before = len(self.sent)
        outcome = self._opened.commit(step["operations"], looks, step.get("branch", ""))
        self._run()
        (message,) = (m for m in self.sent[before:] if isinstance(m, Transact))
        commit = _Commit(outcome, message.commit, message.request_id)
        self.commits[step["label"]] = commit

        def settled(_: Outcome[Landed]) -> None:
            commit.reverted_before_resolve = (
                bool(self.notifications) and self.notifications[-1].kind == "revert"
            )

        outcome.then(settled)

    def _accept(self, step: Step) -> Any:
        commit = self.commits[step["label"]]
        self.newest = max(self.newest, step.get("seq", self.newest + 1))
        ok = {
            "seq": step.get("seq", self.newest),
            "branch": commit.wire.get("branch", ""),
            "revisions": [],
        }
        self.client.receive(Response(request_id=commit.request, ok=ok))
        self._run()
        return self._verdict(commit)

    def _reject(self, step: Step) -> Any:
        commit = self.commits[step["label"]]
        error = {
            "name": step.get("name", "ConflictError"),
            "message": step.get("message", "synthetic conflict"),
        }
        response = {"requestId": commit.request, "error": error, "type": "response"}
        self.client.receive(msgspec.convert(response, Response))
        self._run()
        return self._verdict(commit)

    def _verdict(self, commit: _Commit) -> Any:
        assert commit.outcome.settled, "the verdict is told"
        error = commit.outcome.error
        if error is None:
            return {"ok": True, "seq": commit.outcome.result().seq}
        return {
            "error": {"name": getattr(error, "name", type(error).__name__), "message": str(error)},
            "reverted_before_resolve": commit.reverted_before_resolve,
        }

    def _effect(self, step: Step) -> Any:
        effect = as_sync(step["sync"])
        self.client.receive(Effect(space=SPACE, session_id="case", effect=effect))
        self._run()

    def _sync(self, step: Step) -> Any:
        before = len(self.sent)
        self._opened.sync(step["id"], branch=step.get("branch", ""))
        self._run()
        asked = [m for m in self.sent[before:] if isinstance(m, WatchAdd)]
        for message in asked:
            ok = {"serverSeq": step["respond"]["toSeq"], "sync": to_wire(as_sync(step["respond"]))}
            self.client.receive(Response(request_id=message.request_id, ok=ok))
        self._run()

    def _visible(self, step: Step) -> Any:
        return self._opened.replica.visible(step["id"], step.get("branch", ""))

    def _wire(self, step: Step) -> Any:
        return self.commits[step["label"]].wire

    def _sent(self, step: Step) -> list[LocalSeq]:
        return self._opened.sent

    def _notifications(self, step: Step) -> Any:
        return [{"type": told.kind, "ids": told.ids} for told in self.notifications]


class ViewPlayer:
    """A watch view and nothing else."""

    def __init__(self) -> None:
        self.view = WatchView()

    def step(self, step: Step) -> Any:
        match step["op"]:
            case "view.apply":
                self.view.apply(as_sync(step["sync"]))
                return None
            case "view.entities":
                return [entity.id for entity in self.view.entities]
            case _:
                raise AssertionError(f"no such step: {step['op']!r}")
