"""Preparing many files on every core.

The parser holds the interpreter's lock, so threads do not help; files go to processes, some at a
time, and come back in order. A few files are prepared right here, because starting a process takes
longer than they do. A file that kills its process is found by trying its batch one by one, and is
kept as plain text with the problem named.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, repeat

import msgspec

from holdfast.index import trial
from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.generation import PreparedFile
from holdfast.index.prepare import (
    Extract,
    Job,
    prepare_many,
    with_vectors,
    without_parser,
)

POOL_BYTES_MIN = 400_000
BATCH_BYTES = 80_000
BATCH_FILES = 32


@dataclass(frozen=True, slots=True)
class Recipe:
    """How files are prepared: what extracts, and what embeds if it does so locally."""

    extract: Extract
    provider: EmbeddingProvider | None


_recipe: Recipe | None = None


def _begin(recipe: Recipe, inherited: Sequence[int]) -> None:
    """Runs once in each worker."""
    global _recipe
    _recipe = recipe
    # A parse that does not end takes its worker with it, and nobody else.
    trial.become_expendable()
    # What a file is prepared into holds no cycles, and looking for some among the nodes of its
    # tree took a third of the time.
    gc.disable()
    for descriptor in inherited:
        # A forked worker would keep our lease alive after we die.
        os.close(descriptor)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


# MessagePack takes half the time of pickling, at both ends.
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[PreparedFile])


def _prepare_batch(jobs: list[Job]) -> bytes:
    assert _recipe is not None
    return _encoder.encode(_make(jobs, _recipe))


def _make(jobs: Sequence[Job], recipe: Recipe) -> list[PreparedFile]:
    files = prepare_many(jobs, recipe.extract)
    if recipe.provider is None:
        return files
    return [with_vectors(file, recipe.provider) for file in files]


def prepare_all(
    jobs: Iterable[Job],
    recipe: Recipe,
    total_bytes: int,
    processes: int | None = None,
    inherited: Sequence[int] = (),
) -> Iterator[PreparedFile]:
    """Prepare every job, in order; lazily, so that sources are read as they are needed."""
    processes = processes or os.cpu_count() or 1
    if total_bytes < POOL_BYTES_MIN or processes < 2:
        for job in jobs:
            yield from _make([job], recipe)
        return
    pool = _pool(recipe, processes, inherited)
    under_way: deque[tuple[list[Job], Future[bytes]]] = deque()
    try:
        for batch in chain(_batches(jobs), repeat(None)):
            if batch is not None:
                under_way.append((batch, _submit(pool, batch)))
                if len(under_way) <= processes * 3:
                    continue
            elif not under_way:
                break
            waiting, future = under_way.popleft()
            try:
                made = _decoder.decode(future.result())
            except BrokenProcessPool:
                made = _one_by_one(waiting, recipe, inherited)
                pool.shutdown(wait=False, cancel_futures=True)
                pool = _pool(recipe, processes, inherited)
                # What was under way is lost with the pool; it goes to the new one.
                under_way = deque((again, _submit(pool, again)) for again, _ in under_way)
            yield from made
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, batch: list[Job]) -> Future[bytes]:
    try:
        return pool.submit(_prepare_batch, batch)
    except BrokenProcessPool as error:
        broken: Future[bytes] = Future()
        broken.set_exception(error)
        return broken


def _one_by_one(jobs: list[Job], recipe: Recipe, inherited: Sequence[int]) -> list[PreparedFile]:
    """Prepare a batch of which one file ends its process."""
    made: list[PreparedFile] = []
    pool = _pool(recipe, 1, inherited)
    try:
        for job in jobs:
            try:
                made += _decoder.decode(pool.submit(_prepare_batch, [job]).result())
            except BrokenProcessPool:
                pool.shutdown(wait=False, cancel_futures=True)
                file = without_parser(job)
                if recipe.provider is not None:
                    file = with_vectors(file, recipe.provider)
                made.append(file)
                pool = _pool(recipe, 1, inherited)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return made


def _pool(recipe: Recipe, processes: int, inherited: Sequence[int]) -> ProcessPoolExecutor:
    # Forking is fastest, and unsafe once other threads may hold locks.
    alone = threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if alone else "spawn")
    return ProcessPoolExecutor(
        processes, context, _begin, (recipe, tuple(inherited) if alone else ())
    )


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    size = 0
    for job in jobs:
        batch.append(job)
        size += len(job.source)
        if size >= BATCH_BYTES or len(batch) >= BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
