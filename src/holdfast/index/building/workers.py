"""Prepare many files on all cores.

The parser holds the interpreter's lock, so threads do not help: batches of files go to worker
processes, and the results come back in order. A few files are prepared in this process, because
starting a worker would take longer; so are all files when no process can be started. When a file
kills its worker or exceeds its time limit, its batch is retried file by file, and that file is kept
as plain text with the problem recorded. `parse_budget.py` limits the total cost of such files.
"""

from __future__ import annotations

import gc
import os
import pickle
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

import msgspec

from holdfast.index.building.parse_budget import Allowance, ParseBudget
from holdfast.index.building.prepare import (
    Extract,
    gave_up,
    prepare,
    prepare_many,
    with_vectors,
    without_parser,
)
from holdfast.index.building.worker_pool import Died, Unstarted, WorkerPool, ready
from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.facts import trial_parse as trial
from holdfast.index.facts.parse import lowered_limits
from holdfast.index.free_memory import give_back
from holdfast.index.generations.model import PreparedFile, SourceFile

POOL_BYTES_MIN = 400_000
BATCH_BYTES = 80_000
BATCH_BYTES_MIN = 20_000
BATCH_FILES = 32
BATCHES_PER_COLLECTION = 64
"""The collector is off in a worker. Files should leave no cycles; if one does, this bounds them."""
BATCHES_PER_RETURN = 16
"""How often a worker gives back the memory that it has freed."""
SLOWEST_SECONDS = 60.0
SLOWEST_SECONDS_PER_BYTE = 60e-6
"""The processor time a batch may take before its worker is killed: a hundred times the usual."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How files are prepared: the extractor, and the embedding if it runs locally."""

    extract: Extract
    provider: EmbeddingProvider | None


# MessagePack takes half the time of pickle, on both sides.
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[PreparedFile])
_source_decoder = msgspec.msgpack.Decoder(list[SourceFile])
_allowance_decoder = msgspec.msgpack.Decoder(Allowance)
_SIZE = struct.Struct("<I")


def _work(recipe: Recipe, orders: Connection, results: Connection) -> None:
    """The main loop of a worker: prepare one batch after the other, until there are no more."""
    # A parse that does not end must kill only this worker.
    trial.mark_disposable()
    gc.freeze()  # what is shared with the parent is never collected here
    ready(results)
    done = 0
    while order := orders.recv_bytes():
        size = _SIZE.unpack_from(order)[0]
        allowance = _allowance_decoder.decode(order[_SIZE.size : _SIZE.size + size])
        order = order[_SIZE.size + size :]
        seconds = SLOWEST_SECONDS + SLOWEST_SECONDS_PER_BYTE * len(order)
        trial.allow(seconds * allowance.share)
        results.send_bytes(_answer(order, recipe, allowance))
        done += 1
        if not done % BATCHES_PER_COLLECTION:
            gc.collect()
        if not done % BATCHES_PER_RETURN:
            give_back()


def _preface(budget: ParseBudget) -> bytes:
    allowance = _encoder.encode(budget.allowance())
    return _SIZE.pack(len(allowance)) + allowance


_MADE, _RAISED = b"+", b"-"


def _answer(order: bytes, recipe: Recipe, allowance: Allowance) -> bytes:
    try:
        return _MADE + _encoder.encode(_make(_source_decoder.decode(order), recipe, allowance))
    except Exception as error:
        return _RAISED + _sent(error)


def _sent(error: Exception) -> bytes:
    """The error, pickled; one that cannot be pickled is sent as a RuntimeError."""
    try:
        packed = pickle.dumps(error)
        pickle.loads(packed)  # noqa: S301 what we just packed
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return packed


def _read(
    answer: bytes | Unstarted, files: Sequence[SourceFile], recipe: Recipe, budget: ParseBudget
) -> Iterator[PreparedFile]:
    """The prepared files of an answer; prepared here if no worker could be started."""
    if isinstance(answer, Unstarted):
        for file in files:
            yield from _charged(_make([file], recipe, budget.allowance()), budget)
        return
    if answer[:1] == _RAISED:
        raise pickle.loads(answer[1:])  # noqa: S301 our own worker's
    yield from _charged(_decoder.decode(memoryview(answer)[1:]), budget)


def _charged(files: Iterable[PreparedFile], budget: ParseBudget) -> Iterator[PreparedFile]:
    for file in files:
        if gave_up(file):
            budget.charge(file.path, file.entry.stat.size_bytes)
        yield file


def _make(
    files: Sequence[SourceFile], recipe: Recipe, allowance: Allowance
) -> Sequence[PreparedFile]:
    if allowance.share == 1.0:
        prepared = prepare_many(files, recipe.extract, stored=True)
    else:
        with lowered_limits(allowance.share):
            prepared = [
                prepare(file, recipe.extract)
                if allowance.parses(file.path, len(file.source))
                else without_parser(file, tried=False)
                for file in files
            ]
    if recipe.provider is None:
        return prepared
    return [with_vectors(file, recipe.provider) for file in prepared]


def prepare_all(
    files: Iterable[SourceFile],
    recipe: Recipe,
    total_bytes: int,
    processes: int | None = None,
    budget: ParseBudget | None = None,
) -> Iterator[PreparedFile]:
    """Prepare every file, in order and lazily, so that sources are read only when needed.

    `budget` limits the total time for files that cannot be parsed in time.
    """
    processes = processes or os.cpu_count() or 1
    budget = budget or ParseBudget()
    if total_bytes < POOL_BYTES_MIN or processes < 2:
        for file in files:
            yield from _charged(_make([file], recipe, budget.allowance()), budget)
        return

    # A batch that killed its worker has used time; later batches, and its retry, have less.
    pool = WorkerPool(
        partial(_work, recipe),
        processes,
        partial(_preface, budget),
        lambda order: budget.spend(len(order)),
    )
    batches = _batches(files, total_bytes, processes)
    try:
        for batch, answer in pool.answers((batch, _encoder.encode(batch)) for batch in batches):
            if isinstance(answer, Died):
                yield from _one_by_one(batch, recipe, pool, budget)
            else:
                yield from _read(answer, batch, recipe, budget)
    finally:
        pool.end()


def _one_by_one(
    files: list[SourceFile], recipe: Recipe, pool: WorkerPool, budget: ParseBudget
) -> Iterator[PreparedFile]:
    """Prepare a batch in which one file kills its worker."""
    if len(files) == 1 and budget.given_up:
        # Other files were given up before, so a retry is unlikely to help.
        yield _given_up(files[0], recipe, budget)
        return
    for file, answer in pool.alone((file, _encoder.encode([file])) for file in files):
        if isinstance(answer, Died):
            yield _given_up(file, recipe, budget)
        else:
            yield from _read(answer, [file], recipe, budget)


def _given_up(file: SourceFile, recipe: Recipe, budget: ParseBudget) -> PreparedFile:
    budget.charge(file.path, len(file.source))
    plain = without_parser(file, tried=True)
    return plain if recipe.provider is None else with_vectors(plain, recipe.provider)


def _batches(
    files: Iterable[SourceFile], total_bytes: int, processes: int
) -> Iterator[list[SourceFile]]:
    """Files in batches, smaller ones towards the end, so that all workers finish together."""
    batch: list[SourceFile] = []
    size = sent = 0
    for file in files:
        batch.append(file)
        size += len(file.source)
        left = (total_bytes - sent) // (2 * processes)
        if size >= max(BATCH_BYTES_MIN, min(BATCH_BYTES, left)) or len(batch) >= BATCH_FILES:
            yield batch
            sent += size
            batch, size = [], 0
    if batch:
        yield batch
