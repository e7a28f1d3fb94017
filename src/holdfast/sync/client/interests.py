"""The documents that a program wants up to date, turned into as few watches as possible.

A program names documents one by one. The interests of one turn become one `session.watch.add`; one
that is already covered is not sent. A watch is named after what it watches, so the same interest
twice, in any member order, is one watch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.ids import BranchName, EntityId
from holdfast.store.hashing import hash_of
from holdfast.store.pointer import Path, is_prefix
from holdfast.sync.wire.messages import WatchSpec


@dataclass(frozen=True, slots=True)
class Interest:
    """A document, and how far from it to follow links: `path` into its value, then `schema`."""

    branch: BranchName
    id: EntityId
    path: Path
    schema: Any

    @property
    def name(self) -> str:
        """The same for the same interest, whatever the order of the schema's members."""
        described = [self.branch, self.id, "graph", list(self.path), self.schema]
        return "w:" + hash_of(described).hex()[:32]

    @property
    def everything(self) -> bool:
        """Whether every link below `path` is followed."""
        return self.schema is True or self.schema == {}

    def covers(self, other: Interest) -> bool:
        """Whether watching this one reaches everything that the other would."""
        if (self.branch, self.id) != (other.branch, other.id):
            return False
        if self.everything:
            return is_prefix(self.path, other.path)
        return self.name == other.name

    def to_watch(self) -> WatchSpec:
        root = {"id": self.id, "selector": {"path": list(self.path), "schema": self.schema}}
        query: dict[str, Any] = {"roots": [root]}
        if self.branch:
            query["branch"] = self.branch
        return WatchSpec(id=self.name, kind="graph", query=query)


class Interests:
    """The interests of one session: those the server knows, and those not sent yet."""

    def __init__(self) -> None:
        self._interests: dict[tuple[BranchName, EntityId], list[Interest]] = {}
        self.waiting: list[Interest] = []

    def want(self, interest: Interest) -> bool:
        """Add an interest; False if a known one already covers it."""
        interests = self._interests.setdefault((interest.branch, interest.id), [])
        if any(other.covers(interest) for other in interests):
            return False
        # Waiting interests that the new one covers need not be sent.
        covered = [other for other in self.waiting if interest.covers(other)]
        for other in covered:
            self.waiting.remove(other)
            interests.remove(other)
        interests.append(interest)
        self.waiting.append(interest)
        return True

    def take(self) -> list[Interest]:
        """The interests to send now."""
        waiting, self.waiting = self.waiting, []
        return waiting

    def forget(self, interests: Iterable[Interest]) -> None:
        """Forget interests that could not be watched, so that they can be requested again."""
        for interest in interests:
            own = self._interests.get((interest.branch, interest.id), [])
            if interest in own:
                own.remove(interest)
