"""Write a trained model as the file in the wheel."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from pathlib import Path

import numpy as np

from holdfast.index.embedding.pieces import PIECES_VERSION
from holdfast.index.embedding.static import ALIGNMENT, FORMAT_VERSION, MAGIC
from models.train.train import Floats, Model


def quantised(vectors: Floats) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int8]], Floats]:
    """Rows as int8, and the scale of each."""
    scale = np.abs(vectors).max(axis=1) / 127
    scale[scale == 0] = 1.0
    rows = np.rint(vectors / scale[:, None]).astype(np.int8)
    return rows, scale.astype(np.float32)


def export(model: Model, words: list[str], name: str, target: Path) -> str:
    """Write the file; return the digest of the field weights and everything after the header."""
    rows, scale = quantised(model.vectors)
    sections = {
        "vocabulary": zlib.compress("\n".join(words).encode(), 9),
        "vectors": rows.tobytes(),
        "asked": (model.asked * scale).astype("<f4").tobytes(),
        "told": (model.told * scale).astype("<f4").tobytes(),
    }
    body = b""
    places: dict[str, tuple[int, int]] = {}
    for key, data in sections.items():
        body += b"\0" * (-len(body) % ALIGNMENT)
        places[key] = (len(body), len(data))
        body += data
    fields = [round(float(f), 6) for f in model.fields]
    digest = hashlib.sha256(json.dumps(fields).encode() + body).hexdigest()
    header = json.dumps(
        {
            "format": FORMAT_VERSION,
            "pieces_version": PIECES_VERSION,
            "model": name,
            "digest": digest,
            "dimension": rows.shape[1],
            "pieces": len(rows),
            "fields": fields,
            "sections": places,
        }
    ).encode()
    start = struct.pack("<8sI", MAGIC, len(header)) + header
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(start + b"\0" * (-len(start) % ALIGNMENT) + body)
    return digest
