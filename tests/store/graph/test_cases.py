"""Plays the query steps of the conformance cases against the traversal and an in-memory space."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.ids import EntityId
from holdfast.store.graph import query_graph
from tests.store.graph.world import World

CASES = Path(__file__).parents[2] / "conformance" / "cases" / "store" / "cases.json"


def _queried() -> list[Any]:
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    return [
        case
        for case in cases
        if case["level"] == "engine" and any(step["op"] == "query" for step in case["steps"])
    ]


def _contains(actual: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(actual, dict) and all(
            key in actual and _contains(actual[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return len(actual) == len(wanted) and all(map(_contains, actual, wanted))
    return bool(actual == wanted)


def _play(world: World, step: dict[str, Any]) -> Any:
    match step["op"]:
        case "open":
            return None
        case "branch.create":
            world.fork(step["name"], step.get("parent", ""))
            return None
        case "transact":
            documents = {}
            for operation in step["commit"]["operations"]:
                assert operation["op"] in {"set", "delete"}, operation
                documents[operation["id"]] = operation.get("value")
            world.commit(documents, step["commit"].get("branch", ""))
            return None
        case "query":
            query = step["query"]
            load = world.at(query.get("branch", ""), query.get("atSeq"))
            entities = query_graph(load, query, space=step["space"])
            return {"serverSeq": world.seq, "entities": entities}
        case op:
            raise AssertionError(f"unknown step {op}")


@pytest.mark.shows("TRAV-CASES")
@pytest.mark.parametrize("case", _queried(), ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    world, results = World(), [None] * len(case["steps"])
    for index, step in enumerate(case["steps"]):
        results[index] = _play(world, step)
    checked = 0
    for expect in case["expect"]:
        step, result = case["steps"][expect["step"]], results[expect["step"]]
        if step["op"] != "query":
            continue
        checked += 1
        assert result is not None
        for kind in expect.keys() - {"step"}:
            match kind:
                case "ids":
                    assert [entity["id"] for entity in result["entities"]] == expect["ids"]
                case "equals":
                    assert result == expect["equals"]
                case "contains":
                    assert _contains(result, expect["contains"])
                case _:
                    raise AssertionError(f"unknown expectation {kind}")
    assert checked == sum(step["op"] == "query" for step in case["steps"])


def test_the_cases_hold_every_query_step_we_know_of() -> None:
    steps = [step for case in _queried() for step in case["steps"]]
    assert sum(step["op"] == "query" for step in steps) >= 29


def _wire_queries() -> list[tuple[str, World, dict[str, Any], Any]]:
    """Every graph.query of the wire cases that is answered with entities, and what precedes it."""
    found = []
    for case in json.loads(CASES.read_text(encoding="utf-8")):
        if case["level"] != "wire":
            continue
        world = World()
        for index, step in enumerate(case["steps"]):
            message = step.get("message", {})
            if message.get("type") == "transact":
                operations = message["commit"]["operations"]
                if all(operation["op"] in {"set", "delete"} for operation in operations):
                    world.commit({o["id"]: o.get("value") for o in operations})
            wanted = [e for e in case["expect"] if e["step"] == index]
            if message.get("type") == "graph.query" and wanted:
                answer = (wanted[0].get("frames") or wanted[0]["frames_contain"])[-1]
                if "entities" in answer.get("ok", {}):
                    found.append((case["name"], world, message["query"], answer["ok"]["entities"]))
    return found


@pytest.mark.shows("TRAV-CASES")
def test_queries_on_the_wire_are_answered_as_the_cases_say() -> None:
    assert _wire_queries()
    for name, world, query, entities in _wire_queries():
        assert query_graph(world.at(), query) == entities, name


@pytest.mark.shows("TRAV-DANGLING")
def test_every_link_of_a_case_is_tracked_even_when_it_dangles() -> None:
    from holdfast.store.graph import TrackedGraph, roots_of

    world = World()
    world.commit({"of:a": {"value": {"l": {"/": {"link@1": {"id": "of:late", "path": []}}}}}})
    graph = TrackedGraph()
    query = {"roots": [{"id": "of:a", "selector": {"path": [], "schema": True}}]}
    graph.grow(world.at(), roots_of(query))
    assert graph.tracks(EntityId("of:late"))
    world.commit({"of:late": {"value": "here"}})
    change = graph.refresh(world.at(), {EntityId("of:late")})
    assert [(entity["id"], entity["seq"]) for entity in change.entities] == [("of:late", 2)]
