"""Runs campaigns in batches, each in a process of its own, and keeps what they found.

A batch that hangs, runs out of memory or ends its interpreter is a problem of that batch and not
the end of the run. Campaigns take turns, so that a run that is ended early has tried some of each.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.hostile.campaigns import CAMPAIGNS, KINDS, Campaign
from tests.hostile.faults import small_disk
from tests.hostile.result import Result

FORMAT = 2
"""1: campaigns with outcomes, problems, seeds and times.
2: each with its kind."""

BATCH_S = 1_800.0
"""A batch that takes longer hangs; on a quiet machine the longest takes a few minutes."""

TURNS = 10_000
LOST = "wrong: the batch was lost"

ANSWER_BYTES = 1 << 16
MEMORY_KIB = 2 << 20


@dataclass
class Record:
    """What all batches of one campaign found, and what they cost."""

    campaign: Campaign
    result: Result = field(default_factory=Result)
    seeds: list[int] = field(default_factory=list)
    seconds: float = 0.0
    processor_seconds: float = 0.0

    def add(self, seed: int, batch: Result, seconds: float, processor_seconds: float) -> None:
        self.seeds.append(seed)
        self.result.outcomes.update(batch.outcomes)
        self.result.problems += batch.problems
        self.seconds += seconds
        self.processor_seconds += processor_seconds

    def to_wire(self) -> dict[str, Any]:
        return {
            "name": self.campaign.name,
            "kind": kind_of(self.campaign.name),
            "what": self.campaign.what,
            "tests": self.campaign.tests,
            "tried": self.result.tried,
            "outcomes": dict(sorted(self.result.outcomes.items())),
            "problems": self.result.problems,
            "seeds": self.seeds,
            "seconds": round(self.seconds, 1),
            "processor_seconds": round(self.processor_seconds, 1),
        }


def kind_of(name: str) -> str:
    """The kind of a campaign: fuzz, crash, simulation or property."""
    return next((kind for kind, names in KINDS.items() if name in names), "")


def results_of(text: str) -> dict[str, Result]:
    """The results in a file that a run wrote, by campaign."""
    kept = json.loads(text)
    if kept.get("format") != FORMAT:
        raise ValueError(f"format {kept.get('format')} of campaign results; expected {FORMAT}")
    return {
        each["name"]: Result(Counter(each["outcomes"]), list(each["problems"]))
        for each in kept["campaigns"]
    }


def resumed(text: str, campaigns: Sequence[Campaign]) -> list[Record]:
    """The records of a run that was ended, to go on with; batches that were lost are run again."""
    kept = {each["name"]: each for each in json.loads(text)["campaigns"]}
    results, records = results_of(text), []
    for campaign in campaigns:
        record = Record(campaign)
        if campaign.name in kept and LOST not in results[campaign.name].outcomes:
            each = kept[campaign.name]
            record.result, record.seeds = results[campaign.name], list(each["seeds"])
            record.seconds, record.processor_seconds = each["seconds"], each["processor_seconds"]
        records.append(record)
    return records


def joined(texts: Sequence[str]) -> str:
    """The results of runs beside each other, as one; what they tried of a campaign is added up."""
    runs = [json.loads(text) for text in texts]
    records: dict[str, Record] = {each.name: Record(each) for each in CAMPAIGNS}
    for whole in runs:
        results = results_of(json.dumps(whole))
        for each in whole["campaigns"]:
            record, seeds = records[each["name"]], each["seeds"]
            if not set(record.seeds).isdisjoint(seeds):
                raise ValueError(f"two runs have the same seeds of {each['name']}")
            record.seeds += seeds
            record.result.outcomes.update(results[each["name"]].outcomes)
            record.result.problems += results[each["name"]].problems
            record.seconds += each["seconds"]
            record.processor_seconds += each["processor_seconds"]
    commits = dict.fromkeys(name for whole in runs for name in whole["commit"].split())
    tried = [record.to_wire() for record in records.values() if record.seeds]
    all_of_them = {**runs[0], "commit": " ".join(commits), "campaigns": tried}
    return json.dumps(all_of_them, indent=1, ensure_ascii=False) + "\n"


def written(out: Path, about: dict[str, Any], records: Sequence[Record]) -> None:
    """Replace the file in one step, so that it is whole whenever the run ends."""
    whole = {"format": FORMAT, **about, "campaigns": [record.to_wire() for record in records]}
    fresh = out.with_name(f"{out.name}.new")
    fresh.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    fresh.replace(out)


def run_in_turns(
    records: Sequence[Record],
    seed: int,
    limit_s: float | None,
    after: Callable[[Record, Sequence[Record]], None],
) -> None:
    """Run batches by turns, each with a seed of its own, add them to the records and call `after`.

    A campaign ends when its batches took `limit_s`, or tried what a soak tries. Without a limit
    each runs once, as long as in CI.
    """
    left = [record for record in records if not _is_done(record, limit_s)]
    turn = _next_turn(records)
    while left:
        for record in list(left):
            each = record.campaign
            count = each.count if limit_s is None else each.batch
            own = seed if limit_s is None else seed * TURNS + turn
            _run_batch(record, count, own)
            if limit_s is None or _is_done(record, limit_s):
                left.remove(record)
            after(record, records)
        turn += 1


def run_together(
    records: Sequence[Record],
    seed: int,
    limit_s: float,
    after: Callable[[Record, Sequence[Record]], None],
) -> None:
    """Run batches by turns until all of them together took `limit_s`, however much they tried.

    The campaign that took least so far is next, so that a slow one does not take the others' time.
    """
    turn = _next_turn(records)
    while sum(record.seconds for record in records) < limit_s:
        record = min(records, key=lambda each: each.seconds)
        _run_batch(record, record.campaign.batch, seed * TURNS + turn)
        after(record, records)
        turn += 1


def _next_turn(records: Sequence[Record]) -> int:
    return 1 + max((max(r.seeds) % TURNS for r in records if r.seeds), default=-1)


def _is_done(record: Record, limit_s: float | None) -> bool:
    if limit_s is None:
        return False
    is_over = bool(record.seeds) and record.seconds >= limit_s
    return is_over or record.result.tried >= record.campaign.soak


def _run_batch(record: Record, count: int, seed: int) -> None:
    began, spent = time.monotonic(), _children_s()
    try:
        batch = in_own_process(lambda folder: record.campaign.run(count, seed, folder))
    except BatchLost as error:
        batch = Result(Counter({LOST: 1}), [f"seed {seed}: {error}"])
    record.add(seed, batch, time.monotonic() - began, _children_s() - spent)


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


class BatchLost(Exception):
    """Raised when a batch ended without a result."""


def in_own_process(act: Callable[[Path], Result], wait_s: float = BATCH_S) -> Result:
    """What `act` returns in a process of its own, with a folder that is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-campaign-"))
    try:
        # Many small files are made and removed: in memory, where this machine allows it.
        with small_disk(folder, MEMORY_KIB):
            folder.chmod(0o755)  # PostgreSQL runs as another user
            try:
                text, status = _forked(act, folder, wait_s)
            finally:
                _end_processes_of(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if text is None:
        raise BatchLost(f"no result after {wait_s:.0f} s")
    if not text:
        raise BatchLost(f"the process ended with {os.waitstatus_to_exitcode(status)}")
    kept = json.loads(text)
    return Result(Counter(kept["outcomes"]), kept["problems"])


def _end_processes_of(folder: Path) -> None:
    """End what a batch started and did not end: a host, for one, goes on when its agent is killed.

    Known by the folder of the batch in its environment, its command or its working directory.
    """
    name = os.fsencode(folder)
    for place in Path("/proc").glob("[0-9]*"):
        if int(place.name) == os.getpid():
            continue
        with suppress(OSError):  # it has ended, or belongs to another user
            said = (place / "environ").read_bytes() + (place / "cmdline").read_bytes()
            if name in said or os.fsencode(os.readlink(place / "cwd")).startswith(name):
                os.kill(int(place.name), signal.SIGKILL)


def _forked(act: Callable[[Path], Result], folder: Path, wait_s: float) -> tuple[str | None, int]:
    """What the child wrote (None if it took too long), and how it ended."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _answer(act, folder, writing)
    os.close(writing)
    text = None
    try:
        text = _read_all(reading, time.monotonic() + wait_s)
    finally:
        os.close(reading)
        if text is None:
            os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    return text, status


def _answer(act: Callable[[Path], Result], folder: Path, writing: int) -> None:
    """In the child: run, write the result to the pipe, and end."""
    tempfile.tempdir = str(folder)
    try:
        result = act(folder / "world")
    except BaseException as error:
        result = Result(Counter({"wrong: the batch failed": 1}))
        result.problem("".join(traceback.format_exception(error))[-3_000:])
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        json.dump({"outcomes": result.outcomes, "problems": result.problems}, pipe)
    os._exit(0)


def _read_all(reading: int, end: float) -> str | None:
    """Everything until the pipe is closed; None if that takes too long."""
    pieces: list[bytes] = []
    while (left := end - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            piece = os.read(reading, ANSWER_BYTES)
            if not piece:
                return b"".join(pieces).decode("utf-8", "replace")
            pieces.append(piece)
    return None
