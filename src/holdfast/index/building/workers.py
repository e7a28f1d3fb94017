"""Preparing many files on every core.

The parser holds the interpreter's lock, so threads do not help; files go to processes, some at a
time, and come back in order. A few files are prepared right here, because starting a process takes
longer than they do; so are all where no process can be started. A file that kills its process, or
keeps it busy beyond all measure, is found by trying its batch one by one, and is kept as plain text
with the problem named.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

import msgspec

from holdfast.index.building.prepare import (
    Extract,
    prepare_many,
    with_vectors,
    without_parser,
)
from holdfast.index.building.worker_pool import Crew, Died, Unstarted, ready
from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.facts import trial_parse as trial
from holdfast.index.generations.model import PreparedFile, SourceFile

POOL_BYTES_MIN = 400_000
BATCH_BYTES = 80_000
BATCH_BYTES_MIN = 20_000
BATCH_FILES = 32
SLOWEST_SECONDS = 60.0
SLOWEST_SECONDS_PER_BYTE = 60e-6
"""What an order may take of a processor before its worker is ended: a hundred times the usual."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How files are prepared: what extracts, and what embeds if it does so locally."""

    extract: Extract
    provider: EmbeddingProvider | None


# MessagePack takes half the time of pickling, at both ends.
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[PreparedFile])
_decoder_of_jobs = msgspec.msgpack.Decoder(list[SourceFile])


def _work(recipe: Recipe, orders: Connection, results: Connection) -> None:
    """What a worker does: prepare one batch after the other, until there are no more."""
    # A parse that does not end takes its worker with it, and nobody else.
    trial.become_expendable()
    ready(results)
    while order := orders.recv_bytes():
        trial.allow(SLOWEST_SECONDS + SLOWEST_SECONDS_PER_BYTE * len(order))
        results.send_bytes(_answer(order, recipe))


_MADE, _RAISED = b"+", b"-"


def _answer(order: bytes, recipe: Recipe) -> bytes:
    try:
        return _MADE + _encoder.encode(_make(_decoder_of_jobs.decode(order), recipe))
    except Exception as error:
        return _RAISED + _sent(error)


def _sent(error: Exception) -> bytes:
    """An error on its way; not every one can be taken apart and put together again."""
    try:
        packed = pickle.dumps(error)
        pickle.loads(packed)  # noqa: S301 what we just packed
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return packed


def _read(
    answer: bytes | Unstarted, jobs: Sequence[SourceFile], recipe: Recipe
) -> list[PreparedFile]:
    """What came of some jobs; it is made here if there was nobody to make it."""
    if isinstance(answer, Unstarted):
        return _make(jobs, recipe)
    if answer[:1] == _RAISED:
        raise pickle.loads(answer[1:])  # noqa: S301 our own worker's
    return _decoder.decode(memoryview(answer)[1:])


def _make(jobs: Sequence[SourceFile], recipe: Recipe) -> list[PreparedFile]:
    files = prepare_many(jobs, recipe.extract)
    if recipe.provider is None:
        return files
    return [with_vectors(file, recipe.provider) for file in files]


def prepare_all(
    jobs: Iterable[SourceFile],
    recipe: Recipe,
    total_bytes: int,
    processes: int | None = None,
) -> Iterator[PreparedFile]:
    """Prepare every job, in order; lazily, so that sources are read as they are needed."""
    processes = processes or os.cpu_count() or 1
    if total_bytes < POOL_BYTES_MIN or processes < 2:
        for job in jobs:
            yield from _make([job], recipe)
        return

    crew = Crew(partial(_work, recipe), processes)
    batches = _batches(jobs, total_bytes, processes)
    try:
        for batch, answer in crew.answers((batch, _encoder.encode(batch)) for batch in batches):
            if isinstance(answer, Died):
                yield from _one_by_one(batch, recipe, crew)
            else:
                yield from _read(answer, batch, recipe)
    finally:
        crew.end()


def _one_by_one(jobs: list[SourceFile], recipe: Recipe, crew: Crew) -> Iterator[PreparedFile]:
    """Prepare a batch of which one file ends its process."""
    for job, answer in crew.alone((job, _encoder.encode([job])) for job in jobs):
        if isinstance(answer, Died):
            file = without_parser(job)
            yield file if recipe.provider is None else with_vectors(file, recipe.provider)
        else:
            yield from _read(answer, [job], recipe)


def _batches(
    jobs: Iterable[SourceFile], total_bytes: int, processes: int
) -> Iterator[list[SourceFile]]:
    """Jobs some at a time; fewer towards the end, so that the workers end together."""
    batch: list[SourceFile] = []
    size = given = 0
    for job in jobs:
        batch.append(job)
        size += len(job.source)
        left = (total_bytes - given) // (2 * processes)
        if size >= max(BATCH_BYTES_MIN, min(BATCH_BYTES, left)) or len(batch) >= BATCH_FILES:
            yield batch
            given += size
            batch, size = [], 0
    if batch:
        yield batch
