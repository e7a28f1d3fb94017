"""The loss of one batch and its gradients, by PyTorch if installed, else by numpy.

Both compute the same; tests compare them with each other and with finite differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
ASKING, ANSWERING = 0.6, 0.4
"""Weights of the two directions: from query to code, and from code to query."""
FAR = -1e4
LENGTH_MIN = 1e-6


@dataclass(slots=True)
class Batch:
    """Question, path, symbol and code bags of `size` pairs, in this order, one after the other.

    `pieces` are numbers of rows of the vectors in use; `sides` is 0 in questions, 1 in code.
    """

    size: int
    pieces: NDArray[np.int64]
    amounts: Floats
    sides: NDArray[np.int64]
    starts: NDArray[np.int64]
    same: NDArray[np.bool_]


@dataclass(slots=True)
class Gradients:
    """The loss and its gradients."""

    loss: float
    vectors: Floats
    weights: Floats
    fields: Floats
    scale: float


def by_torch(
    batch: Batch, vectors: Floats, weights: Floats, fields: Floats, scale: float
) -> Gradients:
    """Weights, fields and scale are logarithms."""
    import torch

    functional: Any = torch.nn.functional
    v, w, f = (torch.from_numpy(x).requires_grad_() for x in (vectors, weights, fields))
    s = torch.tensor(scale, dtype=torch.float32, requires_grad=True)
    pieces = torch.from_numpy(batch.pieces)
    own = w.exp().reshape(-1)[torch.from_numpy(batch.sides) * w.shape[1] + pieces]
    bags = functional.embedding_bag(
        pieces,
        v,
        torch.from_numpy(batch.starts),
        mode="sum",
        per_sample_weights=own * torch.from_numpy(batch.amounts),
    )
    unit = functional.normalize(bags, dim=1, eps=LENGTH_MIN).reshape(4, batch.size, -1)
    code = functional.normalize((unit[1:] * f.exp()[:, None, None]).sum(0), dim=1, eps=LENGTH_MIN)
    scores = (unit[0] @ code.T * s.exp()).masked_fill(torch.from_numpy(batch.same), FAR)
    target = torch.arange(batch.size)
    loss = ASKING * functional.cross_entropy(scores, target)
    loss = loss + ANSWERING * functional.cross_entropy(scores.T, target)
    loss.backward()
    return Gradients(
        float(loss.detach()), v.grad.numpy(), w.grad.numpy(), f.grad.numpy(), float(s.grad)
    )


def by_hand(
    batch: Batch, vectors: Floats, weights: Floats, fields: Floats, scale: float
) -> Gradients:
    """The same with numpy alone, for small corpora and without PyTorch."""
    ends = np.append(batch.starts[1:], len(batch.pieces))
    owner = np.repeat(np.arange(len(batch.starts)), ends - batch.starts)
    amounts = batch.amounts * np.exp(weights)[batch.sides, batch.pieces]
    bags = np.zeros((len(batch.starts), vectors.shape[1]), np.float32)
    np.add.at(bags, owner, vectors[batch.pieces] * amounts[:, None])
    unit, lengths = _unit(bags)
    asked, told = unit[: batch.size], unit[batch.size :].reshape(3, batch.size, -1)
    shares = np.exp(fields)
    code, code_lengths = _unit(np.einsum("f,fbd->bd", shares, told))
    scores = asked @ code.T * np.exp(scale)
    scores[batch.same] = FAR
    right = np.arange(batch.size)
    by_row, by_column = _softmax(scores), _softmax(scores.T).T
    loss = -ASKING * np.log(by_row[right, right] + 1e-30).mean()
    loss -= ANSWERING * np.log(by_column[right, right] + 1e-30).mean()
    d_scores = (ASKING * by_row + ANSWERING * by_column) / batch.size
    d_scores[right, right] -= (ASKING + ANSWERING) / batch.size
    d_scores[batch.same] = 0
    d_asked = d_scores @ code * np.exp(scale)
    d_sum = _through_unit(d_scores.T @ asked * np.exp(scale), code, code_lengths)
    d_told = shares[:, None, None] * d_sum[None]
    d_unit = np.concatenate([d_asked, d_told.reshape(-1, vectors.shape[1])])
    d_bags = _through_unit(d_unit, unit, lengths)[owner]
    d_vectors, d_weights = np.zeros_like(vectors), np.zeros_like(weights)
    np.add.at(d_vectors, batch.pieces, d_bags * amounts[:, None])
    own = np.einsum("nd,nd->n", d_bags, vectors[batch.pieces]) * amounts
    np.add.at(d_weights, (batch.sides, batch.pieces), own)
    return Gradients(
        float(loss),
        d_vectors,
        d_weights,
        np.asarray(np.einsum("bd,fbd->f", d_sum, told) * shares, np.float32),
        float((d_scores * scores).sum()),
    )


def _unit(rows: Floats) -> tuple[Floats, Floats]:
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), LENGTH_MIN)
    return np.asarray(rows / lengths, np.float32), np.asarray(lengths, np.float32)


def _through_unit(grad: Floats, unit: Floats, lengths: Floats) -> Floats:
    along = np.einsum("nd,nd->n", grad, unit)[:, None]
    return np.asarray((grad - along * unit) / lengths, np.float32)


def _softmax(scores: Floats) -> Floats:
    high = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(high / high.sum(axis=1, keepdims=True), np.float32)
