"""Random pairs of a reader and a writer, judged by values alone.

A reader reads everything readable in a document (`length` included), a writer edits it, and the
reader commits. Whatever the store accepts, the values must be the same before and after. No
hypothesis here: a million pairs must fit into a soak, so a document is a few small containers and
all its paths are read by one store in one go.
"""

from __future__ import annotations

import copy
from collections import Counter
from functools import partial
from random import Random
from typing import Any

from holdfast.ids import Seq
from holdfast.store import admit, patch, pointer
from holdfast.store.admit import Reach, RevisionWrite
from holdfast.store.errors import PatchError

NOTHING = ("nothing",)
NAMES = ["x", "y", "0", "1", "list", "length"]


def value(random: Random, depth: int = 2) -> Any:
    kind = random.randrange(6 if depth else 3)
    if kind < 2:
        return random.randrange(3)
    if kind == 2:
        return random.choice(["", "p", "pq"])
    if kind == 3:
        return {name: value(random, depth - 1) for name in random.sample(NAMES, 2)}
    return [value(random, depth - 1) for _ in range(random.randrange(4))]


def readable(document: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Everything that can be read in a document, by path; the length of lists and strings too."""
    found = {path: document}
    if isinstance(document, dict):
        for name, below in document.items():
            found |= readable(below, (*path, name))
    elif isinstance(document, list):
        for index, below in enumerate(document):
            found |= readable(below, (*path, str(index)))
    if isinstance(document, list | str):
        found[*path, "length"] = len(document)
    return found


def shape_of(seen: Any) -> Any:
    if isinstance(seen, dict):
        return ("members", sorted(seen))
    return ("elements", len(seen)) if isinstance(seen, list) else seen


def edit(random: Random, paths: list[tuple[str, ...]]) -> dict[str, Any]:
    """An edit at or near a path that is there."""

    def place() -> str:
        path = random.choice(paths)
        if random.random() < 0.5:
            path = (*path, random.choice(["0", "1", "2", "-", "x", "y", "list"]))
        return pointer.encode(("value", *path))

    kind = random.choice(list(patch._ACTS))
    here = {"op": kind, "path": place()}
    match kind:
        case "replace" | "add" | "remove-by-value":
            return {**here, "value": value(random, 1)}
        case "move":
            return {**here, "from": place()}
        case "splice":
            index, remove = random.randrange(3), random.randrange(3)
            return {**here, "index": index, "remove": remove, "add": [7] * random.randrange(2)}
        case "append" | "add-unique":
            return {**here, "values": [random.randrange(3)]}
        case "increment":
            return {**here, "by": 1}
        case _:
            return here


def pairs(count: int, seed: int, reach: Reach) -> dict[str, int]:
    """Judge so many pairs of a path read and an edit; how often which outcome came.

    There must be no `missed`: the value at the path changed, and the reader would be admitted.
    """
    random, outcomes = Random(seed), Counter[str]()
    while outcomes.total() < count:
        document = {"value": value(random, 3)}
        before = readable(document["value"])
        paths = list(before)
        operation = edit(random, paths)
        try:
            changed = patch.apply(copy.deepcopy(document), [operation])
        except PatchError:
            continue
        whole = isinstance(changed, dict) and "value" in changed
        after = readable(changed["value"]) if whole else {}
        write = RevisionWrite(Seq(2), "patch", [operation])
        wanted = random.sample(paths, min(len(paths), 6))
        wanted += [(*path, random.choice(["length", "0", "x"])) for path in wanted[:2]]
        for path in wanted:
            for shape in (False, True):
                was, now = before.get(path, NOTHING), after.get(path, NOTHING)
                if shape and reach is Reach.LEAF:
                    was, now = shape_of(was), shape_of(now)
                full = ("value", *path)
                had = partial(patch.has, document)
                found = admit.first_overlap(full, shape, [write], reach, had)
                same = was == now and type(was) is type(now)
                if found is not None:
                    outcomes["refused, rightly" if not same else "refused, though it held"] += 1
                elif same:
                    outcomes["held"] += 1
                else:
                    outcomes[f"missed: {operation} hid {was!r} -> {now!r} at {full} {shape}"] += 1
    return dict(outcomes)
