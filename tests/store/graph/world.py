"""A space in memory, as plainly as it can be: every write kept, every read a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from holdfast.ids import EntityId, Seq
from holdfast.store.graph import Load, Loaded

Json = Any


class World:
    """Documents on branches; counts what is read through `at`."""

    def __init__(self) -> None:
        self.seq = 0
        self.writes: list[tuple[str, int, str, Json]] = []
        self.parents: dict[str, tuple[str, int]] = {}
        self.reads: Counter[str] = Counter()

    def commit(self, documents: Mapping[str, Json], branch: str = "") -> None:
        """Write whole documents; None deletes."""
        self.seq += 1
        self.writes += [(branch, self.seq, entity, doc) for entity, doc in documents.items()]

    def fork(self, name: str, parent: str = "") -> None:
        self.parents[name] = (parent, self.seq)

    def find(self, entity: str, branch: str = "", seq: int | None = None) -> Loaded | None:
        at = self.seq if seq is None else seq
        for written_on, written_at, written, document in reversed(self.writes):
            if (written_on, written) == (branch, entity) and written_at <= at:
                return Loaded(Seq(written_at), document)
        if branch in self.parents:
            parent, fork_seq = self.parents[branch]
            return self.find(entity, parent, min(at, fork_seq))
        return None

    def at(self, branch: str = "", seq: int | None = None) -> Load:
        """Reads as of now, or as of `seq`."""
        fixed = self.seq if seq is None else seq

        def load(entity: EntityId) -> Loaded | None:
            self.reads[entity] += 1
            return self.find(entity, branch, fixed)

        return load


def link(entity: str | None = None, *path: str, **more: Json) -> dict[str, Json]:
    body: dict[str, Json] = {"path": list(path), **more}
    if entity is not None:
        body["id"] = entity
    return {"/": {"link@1": body}}


def query(*ids: str, path: tuple[str, ...] = (), schema: Json = True) -> dict[str, Json]:
    selector: dict[str, Json] = {"path": list(path), "schema": schema}
    return {"roots": [{"id": entity, "selector": selector} for entity in ids]}


NODES = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "next": {"$ref": "#/$defs/node"},
                "others": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
}
"""A recursive schema: nodes that name the next one and a list of others."""


def chain(first: int, last: int, **more: Json) -> dict[str, Json]:
    """Documents `of:first` to `of:last`, each a node that names the next and the last."""
    documents = {}
    for n in range(first, last + 1):
        value: dict[str, Json] = {"name": f"node {n}", "hidden": link("of:never"), **more}
        value["others"] = [link(f"of:{last}")]
        if n < last:
            value["next"] = link(f"of:{n + 1}")
        documents[f"of:{n}"] = {"value": value}
    return documents
