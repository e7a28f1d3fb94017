"""Which documents does a plan reach, and what happens when they change?"""

from holdfast.ids import EntityId, Seq
from holdfast.store.graph import Loaded, TrackedGraph, query_graph, roots_of


def link(entity: str) -> dict[str, object]:
    return {"/": {"link@1": {"id": entity, "path": []}}}


PLAN, TEST, NOTES, REST = map(EntityId, ("of:plan", "of:test", "of:notes", "of:rest"))
plan = {"title": "ship it", "next": link(TEST), "notes": link(NOTES)}
space = {
    PLAN: Loaded(Seq(1), {"value": plan}),
    TEST: Loaded(Seq(1), {"value": {"title": "test it", "next": link(REST)}}),
    NOTES: Loaded(Seq(1), {"value": "a long text"}),
}
step = {"type": "object", "properties": {"title": True, "next": {"$ref": "#/$defs/step"}}}
schema = {"$ref": "#/$defs/step", "$defs": {"step": step}}
query = {"roots": [{"id": PLAN, "selector": {"path": [], "schema": schema}}]}

print("reached:", *[entity["id"] for entity in query_graph(space.get, query)])

graph = TrackedGraph()
graph.grow(space.get, roots_of(query))
print("dangling:", *graph.dangling)

space[REST] = Loaded(Seq(2), {"value": {"title": "rest"}})
print("created:", graph.refresh(space.get, {REST}).entities)

space[PLAN] = Loaded(Seq(3), {"value": {"title": "drop it"}})
graph.refresh(space.get, {PLAN})
print("held:", *[entity["id"] for entity in graph.entities()])
print("still reached:", *graph.reachable())
print("removed:", *graph.prune().removed)
