"""Contrastive training: a question lies nearer to its code than to all other code of the batch.

A text's vector is a weighted sum of the vectors of its pieces: each piece has one vector, and two
weights, one for questions and one for code. Code has three fields (path, symbol, text), each
brought to length one and then weighted. All of that is learned by Adam on the InfoNCE loss, both
ways.

Batches are made of blocks from one package, so that much of what a question is compared with comes
from its own code base, as in a search. In the later epochs blocks are made of code that the model
so far finds alike: the hardest negatives there are.

With PyTorch it takes minutes; without, the same is done by numpy, slowly.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.train.encode import Bags, Encoded
from models.train.loss import Batch, Gradients, by_hand, by_torch
from models.train.pairs import FILE_KINDS

Floats = NDArray[np.float32]
SCALE_MAX = 40.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a run depends on, beside its data."""

    dimension: int = 256
    epochs: int = 2
    """More fit the doc comments better, and questions that people ask worse: see the card."""
    batch: int = 1_024
    block: int = 64
    rate: float = 3e-3
    weight_rate: float = 1e-2
    temperature: float = 0.05
    drop: float = 0.4
    rest_share: float = 0.5
    hard_from: int = 3
    siblings_from: int = 9
    """From this epoch on, blocks are made of pairs of one folder where it has enough."""
    kinds: str = "doc,name,head"
    """The kinds of pairs; `file`, `stem` and `type` are about whole files."""
    warm_up: int = 100
    seed: int = 7
    runs: int = 6
    """So many runs, with this seed and the next ones; the model is their mean."""
    path: float = 1.7
    """The path's share of code in the end, in units of what training makes it: people ask for a
    part of a program more often than doc comments name it. Set on development questions."""
    settle: float = 100.0
    """A word seen so often ends halfway between its own vector and what the teacher's reading
    says; 0 leaves all where they are."""
    threads: int = 1
    """With one, equal seeds make equal bytes."""


@dataclass(slots=True)
class Model:
    """What training makes: vectors, a weight of each piece for either side, field weights."""

    vectors: Floats
    asked: Floats
    told: Floats
    fields: Floats


def saturated(counts: NDArray[np.uint8]) -> Floats:
    """How much a piece counts that occurs so often."""
    return np.sqrt(counts.astype(np.float32))


def gather(bags: Bags, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], Floats, Any]:
    """The bags of some rows, one after the other: pieces, how much each counts, sizes."""
    first, last = bags.starts[rows], bags.starts[rows + 1]
    sizes = last - first
    total = int(sizes.sum())
    offsets = np.cumsum(sizes) - sizes
    at = np.arange(total) - np.repeat(offsets - first, sizes)
    return bags.pieces[at], saturated(bags.counts[at]), sizes


def train(
    data: Encoded,
    plan: Plan,
    first: Model,
    log: Any = sys.stderr,
    after_epoch: Callable[[Model], None] = lambda model: None,
) -> Model:
    """Train on all of `data`, going on from a first model."""
    gradients = _backend(plan)
    random = np.random.default_rng(plan.seed)
    vectors = _Adam(first.vectors.copy())
    weights = _Adam(np.log(np.stack([first.asked, first.told], axis=1)).astype(np.float32))
    scale = np.float32(1 / plan.temperature)
    fields = _Adam(np.log(np.append(first.fields, scale))[None, :].astype(np.float32))
    size = min(plan.batch, len(data))
    steps = plan.epochs * (len(data) // size)
    step = 0
    began = time.monotonic()

    def model() -> Model:
        known = np.exp(weights.values)
        return Model(
            vectors.values, known[:, 0].copy(), known[:, 1].copy(), np.exp(fields.values[0, :3])
        )

    for epoch in range(plan.epochs):
        if epoch >= plan.hard_from:
            order = hard_order(data, model(), plan, random)
        else:
            near = data.folders if epoch >= plan.siblings_from else None
            order = package_order(data.packages, plan, random, near)
        losses = []
        for at in range(0, len(data) - size + 1, size):
            rows = order[at : at + size]
            step += 1
            rate = plan.rate * min(1.0, step / plan.warm_up) * max(0.02, 1 - step / steps)
            used, batch = make_batch(data, rows, plan, random)
            found = gradients(
                batch,
                vectors.values[used],
                np.ascontiguousarray(weights.values[used].T),
                fields.values[0, :3].copy(),
                float(fields.values[0, 3]),
            )
            losses.append(found.loss)
            vectors.step(found.vectors, used, rate, step)
            weights.step(found.weights.T, used, rate * plan.weight_rate / plan.rate, step)
            grad = np.append(found.fields, np.float32(found.scale))[None, :]
            fields.step(grad, np.array([0]), rate, step)
            fields.values[0, 3] = min(fields.values[0, 3], np.log(SCALE_MAX))
        shares = ", ".join(f"{share:.2f}" for share in np.exp(fields.values[0, :3]))
        print(
            f"epoch {epoch + 1}/{plan.epochs}: loss {np.mean(losses):.4f}, fields {shares}, "
            f"scale {np.exp(fields.values[0, 3]):.1f}, {time.monotonic() - began:.0f} s",
            file=log,
            flush=True,
        )
        after_epoch(model())
    return model()


def averaged(models: Sequence[Model]) -> Model:
    """The mean of models that began as the same one; of weights, that of their logarithms."""

    def mean(values: Sequence[Floats]) -> Floats:
        return np.asarray(np.exp(np.mean(np.log(values), axis=0)), np.float32)

    return Model(
        np.asarray(np.mean([model.vectors for model in models], axis=0), np.float32),
        mean([model.asked for model in models]),
        mean([model.told for model in models]),
        mean([model.fields for model in models]),
    )


def _backend(plan: Plan) -> Callable[..., Gradients]:
    try:
        import torch
    except ImportError:
        return by_hand
    torch.manual_seed(plan.seed)
    torch.set_num_threads(plan.threads)
    return by_torch


class _Adam:
    """Adam that touches only the rows a batch used."""

    def __init__(self, values: Floats) -> None:
        self.values = values
        self._first = np.zeros_like(values)
        self._second = np.zeros_like(values)

    def step(self, grad: Floats, rows: NDArray[np.int64], rate: float, step: int) -> None:
        first = 0.9 * self._first[rows] + 0.1 * grad
        second = 0.999 * self._second[rows] + 0.001 * grad * grad
        self._first[rows], self._second[rows] = first, second
        lengths = np.sqrt(second / (1 - 0.999**step)) + 1e-8
        self.values[rows] -= (rate / (1 - 0.9**step)) * first / lengths


def make_batch(
    data: Encoded, rows: NDArray[np.int64], plan: Plan, random: np.random.Generator
) -> tuple[NDArray[np.int64], Batch]:
    """The pieces in use, and the batch in numbers of them."""
    n = len(rows)
    found = [gather(data.bags[field], rows) for field in ("question", "path", "symbol")]
    code, rest = gather(data.bags["code"], rows), gather(data.bags["rest"], rows)
    # Sometimes the rest of the comment stays with the code, as it does in an index.
    keep = np.repeat(random.random(n) < plan.rest_share, rest[2])
    owner = np.concatenate(
        [np.repeat(np.arange(n), code[2]), np.repeat(np.arange(n), rest[2])[keep]]
    )
    order = np.argsort(owner, kind="stable")
    found.append(
        (
            np.concatenate([code[0], rest[0][keep]])[order],
            np.concatenate([code[1], rest[1][keep]])[order],
            np.bincount(owner, minlength=n),
        )
    )
    pieces = np.concatenate([f[0] for f in found])
    amounts = np.concatenate([f[1] for f in found])
    sizes = np.concatenate([f[2] for f in found])
    # A part of the code is left out at random: faster, and no single word can be relied on.
    asked = len(found[0][0])
    kept = random.random(len(pieces)) >= np.where(np.arange(len(pieces)) < asked, 0.0, plan.drop)
    owners = np.repeat(np.arange(len(sizes)), sizes)[kept]
    pieces, amounts = pieces[kept], amounts[kept]
    sizes = np.bincount(owners, minlength=len(sizes))
    sides = np.ones(len(pieces), np.int64)
    sides[:asked] = 0
    questions, codes = data.same_question[rows], data.same_code[rows]
    same = (questions[:, None] == questions[None, :]) | (codes[:, None] == codes[None, :])
    # What asks for a file is answered by all of it.
    whole = np.array([data.kinds[row] in FILE_KINDS for row in rows.tolist()])
    if whole.any():
        files = data.files[rows]
        same |= (files[:, None] == files[None, :]) & (whole[:, None] | whole[None, :])
    np.fill_diagonal(same, False)
    used, local = np.unique(pieces, return_inverse=True)
    starts = np.cumsum(sizes) - sizes
    batch = Batch(n, local.astype(np.int64), amounts.astype(np.float32), sides, starts, same)
    return used.astype(np.int64), batch


def package_order(
    packages: list[str],
    plan: Plan,
    random: np.random.Generator,
    folders: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """All rows, in blocks that come from one package each, and with `folders` from few of them."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, package in enumerate(packages):
        groups[package].append(i)
    blocks = []
    for group in groups.values():
        mixed = random.permutation(group)
        if folders is not None:
            # Folders in a random order, their rows in another one.
            _, number = np.unique(folders[mixed], return_inverse=True)
            mixed = mixed[np.argsort(random.permutation(number.max() + 1)[number], kind="stable")]
        blocks += [mixed[i : i + plan.block] for i in range(0, len(mixed), plan.block)]
    return _joined(blocks, random)


def hard_order(
    data: Encoded, model: Model, plan: Plan, random: np.random.Generator
) -> NDArray[np.int64]:
    """All rows, in blocks whose code the model finds alike.

    Rows are split in two again and again by the direction between two of them, to blocks.
    """
    vectors = code_vectors(data, model)
    done: list[NDArray[np.int64]] = []
    todo = [np.arange(len(data))]
    while todo:
        rows = todo.pop()
        if len(rows) <= plan.block:
            done.append(random.permutation(rows))
            continue
        a, b = random.choice(len(rows), 2, replace=False)
        side = vectors[rows] @ (vectors[rows[a]] - vectors[rows[b]]).astype(np.float32)
        middle = np.argpartition(side, len(rows) // 2)
        todo.append(rows[middle[: len(rows) // 2]])
        todo.append(rows[middle[len(rows) // 2 :]])
    return _joined(done, random)


def _joined(blocks: list[NDArray[np.int64]], random: np.random.Generator) -> NDArray[np.int64]:
    mixed = random.permutation(len(blocks))
    return np.concatenate([blocks[i] for i in mixed]).astype(np.int64)


def pooled(bags: Bags, rows: NDArray[np.int64], vectors: Floats, weights: Floats) -> Floats:
    """Unit vectors of some bags; a bag without pieces is zero."""
    out = np.zeros((len(rows), vectors.shape[1]), np.float32)
    for at in range(0, len(rows), 1_024):
        some = rows[at : at + 1_024]
        pieces, amounts, sizes = gather(bags, some)
        if not len(pieces):
            continue
        weighted = vectors[pieces] * (amounts * weights[pieces])[:, None]
        full = sizes > 0
        offsets = (np.cumsum(sizes) - sizes)[full]
        sums = np.add.reduceat(weighted, offsets, axis=0)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        out[at : at + len(some)][full] = sums / np.maximum(lengths, 1e-6)
    return out


def code_vectors(data: Encoded, model: Model, rows: NDArray[np.int64] | None = None) -> Floats:
    rows = np.arange(len(data)) if rows is None else rows
    total = sum(
        weight * pooled(data.bags[field], rows, model.vectors, model.told)
        for field, weight in zip(("path", "symbol", "code"), model.fields, strict=True)
    )
    lengths = np.linalg.norm(total, axis=1, keepdims=True)
    return np.asarray(total / np.maximum(lengths, 1e-6), np.float32)


def question_vectors(data: Encoded, model: Model, rows: NDArray[np.int64] | None = None) -> Floats:
    rows = np.arange(len(data)) if rows is None else rows
    return pooled(data.bags["question"], rows, model.vectors, model.asked)


def save(model: Model, plan: Plan, path: Path) -> None:
    np.savez(path, vectors=model.vectors, asked=model.asked, told=model.told, fields=model.fields,
             plan=json.dumps(asdict(plan)))  # fmt: skip


def load(path: Path) -> Model:
    kept = np.load(path)
    return Model(kept["vectors"], kept["asked"], kept["told"], kept["fields"])
