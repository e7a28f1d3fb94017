"""Plain BM25 over Holdfast's chunks: identifiers and their parts, without further signals."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.retrieval.workers.common import Ask, Place, work

K1, B = 1.5, 0.75
_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


def words(text: str) -> list[str]:
    found = []
    for word in _WORD.findall(text):
        parts = _PART.findall(word)
        found.append(word.lower())
        if len(parts) > 1:
            found += [part.lower() for part in parts]
    return found


def prepare(job: Mapping[str, Any]) -> tuple[Ask, int]:
    from holdfast.files import disk
    from holdfast.index.facts.extract import extract

    root = Path(job["root"])
    chunks: list[Place] = []
    counts: list[Counter[str]] = []
    for path in sorted(disk.walk(str(root)).stats):
        source = (root / path).read_bytes()
        facts = extract(path, source)
        for chunk in facts.chunks:
            span = chunk.span
            text = source[span.start : span.end].decode("utf-8", "replace")
            chunks.append(Place(path, span.first_line, span.last_line, text))
            counts.append(Counter(words(f"{path}\n{text}")))
    lengths = [sum(count.values()) for count in counts]
    average = sum(lengths) / max(1, len(lengths))
    postings: dict[str, list[tuple[int, int]]] = {}
    for number, count in enumerate(counts):
        for word, times in count.items():
            postings.setdefault(word, []).append((number, times))

    def ask(text: str, limit: int) -> Sequence[Place]:
        scores: Counter[int] = Counter()
        for word in set(words(text)):
            found = postings.get(word, [])
            rarity = math.log(1 + (len(chunks) - len(found) + 0.5) / (len(found) + 0.5))
            for number, times in found:
                norm = K1 * (1 - B + B * lengths[number] / average)
                scores[number] += rarity * times * (K1 + 1) / (times + norm)  # type: ignore[assignment]
        best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
        return [chunks[number] for number, _ in best]

    return ask, len(chunks)


if __name__ == "__main__":
    raise SystemExit(work(prepare))
