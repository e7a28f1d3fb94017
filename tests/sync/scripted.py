"""A session whose server says exactly what the test tells it to."""

from typing import Any

from holdfast.sync.client.space_session import SpaceSession
from tests.conformance.players.store_replica import ReplicaPlayer

Operation = dict[str, Any]


class Script:
    """Commits by label, verdicts by label."""

    def __init__(self, status: str = "ours") -> None:
        self.player = ReplicaPlayer(status)
        self.player.step({"op": "replica.open"})
        self._seq = 0

    @property
    def session(self) -> SpaceSession:
        assert self.player.session is not None
        return self.player.session

    def commit(self, label: str, *operations: Operation, reads: Any = ()) -> None:
        """Reads are written as `"of:A"` (its value) or `("of:A", "value", "x")`."""
        looks = [
            {"id": read, "path": ["value"]}
            if isinstance(read, str)
            else {"id": read[0], "path": list(read[1:])}
            for read in reads
        ]
        self.player.step(
            {"op": "replica.commit", "label": label, "operations": operations, "reads": looks}
        )

    def accept(self, label: str, seq: int | None = None) -> Any:
        self._seq = self._seq + 1 if seq is None else seq
        return self.player.step({"op": "server.accept", "label": label, "seq": self._seq})

    def reject(self, label: str, message: str = "synthetic conflict") -> Any:
        return self.player.step({"op": "server.reject", "label": label, "message": message})

    def effect(self, seq: int, *entries: tuple[str, Any]) -> None:
        """Something changed at `seq`: ids with their payload, None for a deleted one."""
        self._seq = max(self._seq, seq)
        upserts = [_upsert(id, seq, value) for id, value in entries]
        sync = {"fromSeq": 0, "toSeq": seq, "upserts": upserts, "removes": []}
        self.player.step({"op": "server.effect", "sync": sync})

    def sync(self, id: str, seq: int, value: Any) -> None:
        respond = {"fromSeq": 0, "toSeq": seq, "upserts": [_upsert(id, seq, value)], "removes": []}
        self._seq = max(self._seq, seq)
        self.player.step({"op": "replica.sync", "id": id, "respond": respond})

    def visible(self, id: str) -> Any:
        """The payload that is shown; None if there is no document."""
        document = self.session.replica.visible(id)
        return None if document is None else document.get("value")

    def error(self, label: str) -> Exception | None:
        outcome = self.player.commits[label].outcome
        assert outcome.settled, f"{label} has no verdict"
        return outcome.error

    def settled(self, label: str) -> bool:
        return self.player.commits[label].outcome.settled

    def wire(self, label: str) -> Any:
        return self.player.commits[label].wire

    @property
    def told(self) -> list[tuple[str, list[str]]]:
        return [(note.kind, list(note.ids)) for note in self.player.notifications]

    @property
    def kinds(self) -> list[str]:
        return [note.kind for note in self.player.notifications]


def _upsert(id: str, seq: int, value: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"branch": "", "id": id, "seq": seq}
    return {**entry, "deleted": True} if value is None else {**entry, "doc": {"value": value}}


def put(id: str, value: Any) -> Operation:
    return {"op": "set", "id": id, "value": {"value": value}}


def edit(id: str, *patches: Operation) -> Operation:
    return {"op": "patch", "id": id, "patches": list(patches)}


def delete(id: str) -> Operation:
    return {"op": "delete", "id": id}
