"""Plays `store/`: paths, patches, codec, hashes, roots, authentication, the engine, the wire.

A case's `status` says whose behaviour it describes. `seed` cases run with the settings of the
protocol's first version, `later` and `beyond` with ours. A seed case that one of our rulings
contradicts has its own expectation in `RULED`, with the reason.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.store import patch, pointer
from tests.conformance.players import Case
from tests.conformance.players.expectations import Failed, check
from tests.conformance.players.store_engine import EnginePlayer
from tests.conformance.players.store_pure import LEVELS as PURE
from tests.conformance.players.store_pure import plain_path, store_step
from tests.conformance.players.store_replica import ReplicaPlayer, ViewPlayer
from tests.conformance.players.store_wire import WirePlayer

Step = dict[str, Any]

RULED: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "branch: patch on a child of an inherited document starts from the empty document"
    " (seed behaviour)": (
        "a first patch on a child branch sees the inherited document",
        [{"step": 4, "equals": {"value": {"a": 1, "b": 2, "c": 3}}}],
    ),
    "branch: forkSeq is not validated at creation, reads then fail (seed behaviour)": (
        "a fork above the parent's head is refused when it is made",
        [
            {"step": 2, "error": {"message_contains": "forkSeq 9"}},
            {"step": 3, "error": {"message_contains": "unknown branch: f"}},
        ],
    ),
}
"""Case name -> why we differ, and what we promise instead."""


def path_step(step: Step) -> Any:
    match step["op"]:
        case "pointer.parse":
            return list(pointer.parse(step["pointer"]))
        case "pointer.encode":
            return pointer.encode(step["path"])
        case "path.parent":
            return list(pointer.parent(tuple(step["path"])))
        case "path.overlap":
            return pointer.overlap(tuple(step["a"]), tuple(step["b"]))
        case "store.resolve" | "store.root":
            return store_step(step)
        case _:
            raise AssertionError(f"no such step: {step['op']!r}")


def patch_step(step: Step) -> Any:
    if step["op"] != "patch.apply":
        raise AssertionError(f"no such step: {step['op']!r}")
    before = json.dumps(step["doc"])
    try:
        return patch.apply(step["doc"], step["patches"])
    finally:
        assert json.dumps(step["doc"]) == before, "the input was changed"


STATELESS: dict[str, Callable[[Step], Any]] = {"path": path_step, "patch": patch_step, **PURE}


def cases(folder: Path) -> Iterator[Case]:
    for file in sorted(folder.glob("*.json")):
        for case in json.loads(file.read_text(encoding="utf-8")):
            yield f"{case['level']}/{case['name']}", partial(play, case)


def play(case: dict[str, Any]) -> None:
    """Play one case; raises if an expectation does not hold."""
    level = case["level"]
    fill: Callable[[Any], Any] = _unchanged
    if level in STATELESS:
        run, close = STATELESS[level], None
        if level in ("path", "store"):
            fill = plain_path
    elif level == "engine":
        player = EnginePlayer(case["status"])
        run, close = player.step, player.close
    elif level == "replica":
        run, close = ReplicaPlayer(case["status"]).step, None
    elif level == "view":
        run, close = ViewPlayer().step, None
    elif level == "wire":
        wire = WirePlayer(case["status"], case.get("options") or {})
        run, close, fill = wire.step, wire.close, wire.fill
    else:
        raise AssertionError(f"no player for the level {level!r}")
    try:
        _play(case, run, fill)
    finally:
        if close is not None:
            close()


def play_engine_case(case: dict[str, Any], url: str, space: str) -> None:
    """Play a case of the engine's level on a store at this URL."""
    player = EnginePlayer(case["status"], url, space)
    try:
        _play(case, player.step, _unchanged)
    finally:
        player.close()


def _unchanged(value: Any) -> Any:
    return value


def _play(case: dict[str, Any], run: Callable[[Step], Any], fill: Callable[[Any], Any]) -> None:
    _, expected = RULED.get(case["name"], ("", case["expect"]))
    wanted: dict[int, list[dict[str, Any]]] = {}
    for expectation in expected:
        wanted.setdefault(expectation["step"], []).append(expectation)
    for index, step in enumerate(case["steps"]):
        try:
            result = run(step)
        except AssertionError:
            raise
        except Exception as error:
            result = Failed(error)
        if index not in wanted:
            assert not isinstance(result, Failed), f"step {index} {step['op']} failed: {result!r}"
        for expectation in wanted.pop(index, []):
            check(fill(expectation), result)
    assert not wanted, f"expectations of steps that do not exist: {sorted(wanted)}"
