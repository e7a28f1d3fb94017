"""Initial vectors of the pieces, so that training need not learn English from the pairs.

With a teacher (a directory with a sentence transformer: config, tokenizer and safetensors), each
word is embedded by it and projected to the model's dimension by principal components. Without one,
vectors are random.

Training hardly moves the vectors of rare words, while it moves all others. A linear map from the
teacher's vectors to the learned ones is fitted on frequent words; it predicts where a rare word
would be, and the word is moved there, by more the rarer it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.train.encode import Encoded
from models.train.train import Floats, Model

WELL_KNOWN = 8_000
"""So many words, the most frequent, tell where the teacher's readings lie among the vectors."""
RIDGE = 1.0
FIELDS_AT_FIRST = (0.5, 1.0, 1.0)


def random_start(pieces: int, dimension: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).normal(size=(pieces, dimension))
    return np.asarray(drawn / np.sqrt(dimension), np.float32)


def read_words(words: list[str], teacher: Path, threads: int = 1) -> Any:
    """Each word as the teacher reads it, about the mean of all. Needs `transformers`."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    torch.set_num_threads(threads)
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
    return read - read.mean(0)


def teacher_start(read: Any, dimension: int, seed: int) -> Floats:
    """The teacher's readings, of length one, in so many dimensions."""
    values, axes = np.linalg.eigh(np.cov(read.T))
    best = np.argsort(-values)[:dimension]
    made = read @ axes[:, best]
    made /= np.linalg.norm(made, axis=1, keepdims=True) + 1e-9
    if made.shape[1] < dimension:
        rest = random_start(len(read), dimension - made.shape[1], seed)
        made = np.concatenate([made, 0.1 * rest], axis=1)
    return np.asarray(made, np.float32)


def begun(vectors: Floats, data: Encoded) -> Model:
    """A first model with these vectors; both sides weigh a piece alike, by how rare it is."""
    weights = importance(data, len(vectors))
    return Model(vectors, weights, weights.copy(), np.array(FIELDS_AT_FIRST, np.float32))


def settled(model: Model, read: Any, seen: NDArray[np.int64], half: float) -> Model:
    """The model with each word between where it is and where the teacher's reading of it says.

    One that was seen `half` times is in the middle.
    """
    known = np.argsort(-seen, kind="stable")[:WELL_KNOWN]
    theirs = read[known]
    square = theirs.T @ theirs + RIDGE * np.eye(theirs.shape[1])
    said = read @ np.linalg.solve(square, theirs.T @ model.vectors[known])
    typical = float(np.median(np.linalg.norm(model.vectors, axis=1)))
    said *= typical / (np.linalg.norm(said, axis=1, keepdims=True) + 1e-9)
    own = (seen / (seen + half))[:, None]
    vectors = own * model.vectors + (1 - own) * said
    return Model(vectors.astype(np.float32), model.asked, model.told, model.fields)


def times_seen(data: Encoded, pieces: int) -> NDArray[np.int64]:
    """In how many texts each piece is."""
    each = [np.bincount(bags.pieces, minlength=pieces) for bags in data.bags.values()]
    return np.asarray(np.sum(each, axis=0), np.int64)


def importance(data: Encoded, pieces: int) -> Floats:
    """A first weight for each piece: rare ones tell more."""
    seen = np.zeros(pieces)
    for field in ("question", "code"):
        np.add.at(seen, data.bags[field].pieces, 1)
    share = seen / (2 * len(data))
    return np.asarray(1e-3 / (1e-3 + share) * 0.95 + 0.05, np.float32)
