"""What must be so after a worker (`tests/store/crash.py`) was killed, and rounds of such deaths.

The space is opened again, and what is there is compared with what the worker told: commit by
commit, and as whole worlds, which a twin folds from the commits alone.
"""

from __future__ import annotations

import copy
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from holdfast.errors import StoreError
from holdfast.ids import LocalSeq, SessionId
from holdfast.store import patch
from holdfast.store.checks import text_digest
from holdfast.store.model import CommitKey
from holdfast.store.store import Store, open_store
from holdfast.store.tables import CommitRow
from tests.store.crash import DOCUMENTS, POINTS, SETTINGS

World = dict[str, Any]


@dataclass
class Ledger:
    """What the worker told, over all its lives."""

    commits: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    acknowledged: dict[tuple[str, int], int] = field(default_factory=dict)
    lifecycle: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    merges: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    blobs: dict[str, str] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    copied: set[str] = field(default_factory=set)
    in_doubt: set[tuple[str, int]] = field(default_factory=set)
    texts: dict[int, str] = field(default_factory=dict)
    """The texts of commits, as they were before retention removed them."""

    def whole(self, row: CommitRow) -> CommitRow:
        """A commit with its text; a removed one was the text whose digest is left."""
        if not row.squashed:
            self.texts[row.seq] = row.original
            return row
        text = self.texts[row.seq]
        assert row.digest == text_digest(text)
        return row._replace(original=text)

    def hear(self, line: dict[str, Any]) -> None:
        kind = line.get("try_") or line["done"]
        if kind == "blob":
            self.blobs[line["hash"]] = line["data"]
        elif kind == "import":
            if "try_" in line:
                self.copies[line["space"]] = line["digest"]
            else:
                self.copied.add(line["space"])
        elif kind != "collect":
            self._hear_write(kind, line)

    def _hear_write(self, kind: str, line: dict[str, Any]) -> None:
        if "commit" in line:
            line["localSeq"] = line["commit"]["localSeq"]
        key = (line["session"], line["localSeq"])
        if "try_" in line:
            self.in_doubt.add(key)
            if kind == "commit":
                self.commits[key] = line["commit"]
            elif kind == "merge":
                self.merges[key] = line
            else:
                self.lifecycle[key] = line
            return
        self.in_doubt.discard(key)
        if line.get("seq") is not None:
            self.acknowledged[key] = line["seq"]
        if kind == "close":
            self.closed.add(self.lifecycle[key]["name"])


class Workers:
    """Starts workers and hears them out."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.crash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def live_and_die(self, order: dict[str, Any], ledger: Ledger) -> str:
        """Let one worker live; how it died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        for text in self._process.stdout:
            line = json.loads(text)
            if "died" in line:
                return str(line["died"])
            ledger.hear(line)
        raise AssertionError("the workers' server is gone")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        assert self._process.stdout is not None
        self._process.stdout.close()


DEATHS = 8
"""Of one space, before the next one is taken."""


# what must be so after every death


def check(store: Store, ledger: Ledger) -> None:
    # On PostgreSQL the dead client's transaction may still be ending; a write waits for that.
    store.engine.writing.begin()
    store.engine.writing.rollback()
    assert store.verify().findings == []
    stored = store.engine.tables.commits(0, 10**6)  # type: ignore[arg-type]
    rows = [ledger.whole(row) for row in stored]
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1)), "seqs are gap-free"
    landed = {(str(row.session), int(row.local_seq)): row for row in rows}
    for key, seq in ledger.acknowledged.items():
        assert key in landed, f"{key} was acknowledged at seq {seq} and is gone"
        assert landed[key].seq == seq
    for key, row in landed.items():
        if key in ledger.commits:
            assert store.engine.decode(row.original) == ledger.commits[key]
        else:
            assert key in ledger.merges or key in ledger.lifecycle, f"nobody wrote {key}"
    for name in ledger.closed:
        branch = store.branch(name)
        assert branch is not None
        assert branch.status == "deleted"
    for hash, data in ledger.blobs.items():
        assert store.blob(hash)[0].hex() == data
    check_worlds(store, rows)


def check_worlds(store: Store, rows: list[CommitRow]) -> None:
    """The twin copies the world at every fork and folds commits one by one."""
    worlds: dict[str, list[World]] = {"": [{}]}
    forks = {branch.name: branch for branch in store.branches()}
    for row in rows:
        message = store.engine.decode(row.original)
        for history in worlds.values():
            history.append(history[-1])
        lifecycle = message.get("branchLifecycle")
        if lifecycle is None:
            worlds[row.branch][-1] = after(worlds[row.branch][-1], message["operations"])
        elif lifecycle["op"] == "create":
            branch = forks[row.branch]
            assert branch.parent is not None
            assert branch.fork_seq is not None
            inherited = worlds[branch.parent][branch.fork_seq]
            worlds[row.branch] = [inherited] * (row.seq + 1)
    assert set(worlds) == set(forks)
    for branch_name, history in worlds.items():
        for id in DOCUMENTS:
            assert store.read(id, branch_name) == history[-1].get(id)


def after(world: World, operations: list[dict[str, Any]]) -> World:
    world = dict(world)
    for operation in operations:
        id = operation["id"]
        if operation["op"] == "set":
            world[id] = operation["value"]
        elif operation["op"] == "delete":
            world.pop(id, None)
        else:
            world[id] = patch.apply(copy.deepcopy(world.get(id, {})), operation["patches"])
    return world


def replay_what_is_in_doubt(store: Store, ledger: Ledger) -> None:
    """Sending it again settles it: it lands once, and the second time nothing happens."""
    for key in sorted(ledger.in_doubt):
        by = CommitKey(SessionId(key[0]), LocalSeq(key[1]))
        stored = store.engine.tables.seq_of(by)
        act = _again(store, ledger, by)
        before = store.newest_seq()
        try:
            first = act()
        except StoreError:
            # Its branch was closed or its name taken by what landed instead; then it is not there.
            assert stored is None or key in ledger.commits
            assert store.newest_seq() == before
            continue
        grown = store.newest_seq() - before
        assert grown == 0 if stored is not None else grown <= 1
        assert act() == first, "a replayed merge answers its seq too"
        assert store.newest_seq() == before + grown
        if key in ledger.commits:
            ledger.acknowledged[key] = first
    ledger.in_doubt.clear()


def _again(store: Store, ledger: Ledger, by: CommitKey) -> Callable[[], Any]:
    key = (str(by.session), int(by.local_seq))
    if key in ledger.commits:
        return lambda: int(store.transact(key[0], ledger.commits[key]).seq)
    if key in ledger.merges:
        line = ledger.merges[key]
        resolutions = dict.fromkeys(DOCUMENTS, "source")

        def merged() -> int | None:
            applied = store.merge(by, line["source"], line["target"], resolutions)
            return None if applied is None else int(applied.seq)

        return merged
    line = ledger.lifecycle[key]
    if line["try_"] == "fork":
        return lambda: store.create_branch(line["name"], line["of"], by=by)
    return lambda: store.delete_branch(line["name"], by=by)


def check_copies(url: str, ledger: Ledger) -> None:
    """An import is there whole, or not at all."""
    for space, digest in ledger.copies.items():
        with open_store(url, space, SETTINGS) as store:
            store.engine.writing.begin()
            store.engine.writing.rollback()
            if store.newest_seq() == 0:
                assert space not in ledger.copied, "an acknowledged import is gone"
                assert store.engine.tables.blob_hashes() == []
                assert len(store.branches()) == 1
                continue
            lines = list(store.export(space.partition("-copy-")[0]))
            assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == digest
            assert store.verify().findings == []
    ledger.copies.clear()


def rounds(
    workers: Workers,
    url: str,
    space: str,
    deaths: int,
    orders: Iterator[dict[str, Any]],
    seed: int = 0,
) -> None:
    """Let workers write to one space, one after the other, and check after each death."""
    ledger = Ledger()
    for life in range(deaths):
        order = {"url": url, "space": space, "life": life, "seed": seed + life, **next(orders)}
        assert workers.live_and_die(order, ledger) == "SIGKILL", order
        with open_store(url, space, SETTINGS) as store:
            check(store, ledger)
            replay_what_is_in_doubt(store, ledger)
            assert store.verify().findings == []
            for row in store.engine.tables.commits(0, 10**6):  # type: ignore[arg-type]
                ledger.whole(row)
        check_copies(url, ledger)


def at_point(point: str, random: Random) -> Iterator[dict[str, Any]]:
    """Orders to die at the n-th passage of a point."""
    most = 3 if "compacting" in point else 40 if "statement" in point else 15
    while True:
        yield {"point": point, "nth": random.randint(1, most), "lifetime": 30}


def at_random(random: Random) -> Iterator[dict[str, Any]]:
    """Orders to die at a moment that the clock decides."""
    while True:
        yield {"point": "", "nth": 0, "lifetime": random.expovariate(1 / 0.05)}


def campaign(count: int, seed: int, url: str) -> dict[str, int]:
    """So many deaths in spaces of their own, by turns at every point and at random moments.

    How often each place of death was survived; a promise that was not kept is raised.
    """
    random, survived = Random(seed), dict[str, int]()
    workers = Workers()
    try:
        for turn in range(-(-count // DEATHS)):
            point = [*POINTS, ""][turn % (len(POINTS) + 1)]
            orders = at_point(point, random) if point else at_random(random)
            space, deaths = f"did:key:deaths-{seed}-{turn}", min(DEATHS, count - turn * DEATHS)
            try:
                rounds(workers, url, space, deaths, orders, seed + turn)
            except Exception as error:
                raise AssertionError(f"seed {seed}, turn {turn}, {point}: {error!r}") from error
            name = point or "at a random moment"
            survived[name] = survived.get(name, 0) + deaths
    finally:
        workers.close()
    return survived
