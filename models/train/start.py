"""First vectors for the pieces, so that training need not find out what English words mean.

With a teacher (a directory with a sentence transformer: config, tokenizer and safetensors), each
word is read by it, and its answer is brought to our dimension by the principal axes. Without one,
vectors are random. A run may also go on from the model of an earlier one with a smaller vocabulary:
then words that are new to it start where the teacher's reading of them says, by the linear map
from the teacher's readings to the earlier vectors that fits known words best.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from models.train.encode import Encoded
from models.train.train import Floats, Model

KNOWN_READ = 4_000
"""So many words that the earlier model knows tell where the teacher's readings lie in it."""
RIDGE = 1.0
FIELDS_AT_FIRST = (0.5, 1.0, 1.0)


def random_start(pieces: int, dimension: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).normal(size=(pieces, dimension))
    return np.asarray(drawn / np.sqrt(dimension), np.float32)


def read_words(words: list[str], teacher: Path) -> Any:
    """Each word as the teacher reads it. Needs `transformers`."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(teacher)
    model = AutoModel.from_pretrained(teacher).eval()
    texts = [word.removeprefix("##") for word in words]
    read: Any = np.zeros((len(texts), model.config.hidden_size))
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))  # little padding
    with torch.inference_mode():
        for at in range(0, len(texts), 256):
            some = order[at : at + 256]
            batch = tokenizer([texts[i] for i in some], padding=True, return_tensors="pt")
            hidden = model(**batch).last_hidden_state
            mask = batch["attention_mask"][:, :, None]
            read[some] = ((hidden * mask).sum(1) / mask.sum(1)).numpy()
    return read


def teacher_start(words: list[str], teacher: Path, dimension: int, seed: int) -> Floats:
    """The teacher's readings, of length one, in so many dimensions."""
    read = read_words(words, teacher)
    read -= read.mean(0)
    values, axes = np.linalg.eigh(np.cov(read.T))
    best = np.argsort(-values)[:dimension]
    made = read @ axes[:, best]
    made /= np.linalg.norm(made, axis=1, keepdims=True) + 1e-9
    if made.shape[1] < dimension:
        rest = random_start(len(words), dimension - made.shape[1], seed)
        made = np.concatenate([made, 0.1 * rest], axis=1)
    return np.asarray(made, np.float32)


def begun(vectors: Floats, data: Encoded) -> Model:
    """A first model with these vectors; both sides weigh a piece alike, by how rare it is."""
    weights = importance(data, len(vectors))
    return Model(vectors, weights, weights.copy(), np.array(FIELDS_AT_FIRST, np.float32))


def continued(
    words: list[str],
    data: Encoded,
    earlier: Model,
    earlier_words: list[str],
    teacher: Path | None,
    seed: int,
) -> Model:
    """The earlier model, and a place in it for each new word."""
    known = {word: i for i, word in enumerate(earlier_words)}
    old = [i for i, word in enumerate(words) if word in known]
    new = [i for i, word in enumerate(words) if word not in known]
    there = [known[words[i]] for i in old]
    typical = float(np.median(np.linalg.norm(earlier.vectors, axis=1)))
    out = begun(random_start(len(words), earlier.vectors.shape[1], seed) * typical, data)
    for side in ("asked", "told"):
        weights, learned = getattr(out, side), getattr(earlier, side)
        weights *= np.median(learned[there] / weights[old])
        weights[old] = learned[there]
    out.vectors[old] = earlier.vectors[there]
    out.fields = earlier.fields
    if teacher is not None and new:
        told = old[:: max(1, len(old) // KNOWN_READ)]
        read = read_words([words[i] for i in told + new], teacher)
        read -= read.mean(0)
        theirs = read[: len(told)]
        square = theirs.T @ theirs + RIDGE * np.eye(theirs.shape[1])
        placed = read[len(told) :] @ np.linalg.solve(square, theirs.T @ out.vectors[told])
        lengths = np.linalg.norm(placed, axis=1, keepdims=True) + 1e-9
        out.vectors[new] = placed / lengths * typical
    return out


def importance(data: Encoded, pieces: int) -> Floats:
    """A first weight for each piece: rare ones tell more."""
    seen = np.zeros(pieces)
    for field in ("question", "code"):
        np.add.at(seen, data.bags[field].pieces, 1)
    share = seen / (2 * len(data))
    return np.asarray(1e-3 / (1e-3 + share) * 0.95 + 0.05, np.float32)
