"""Evaluate a model on held-out packages, compared and combined with BM25."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from holdfast.index.embedding.pieces import WORD, parts
from models.train.encode import Encoded, encode, held_out
from models.train.pairs import Pair
from models.train.train import Floats, Model, code_vectors, question_vectors

QUERIES_MAX = 300
CODES_MAX = 6_000
TOP = 200


_ASIDE = frozenset(
    re.findall(
        r"\w+",
        """
        a an the and or of to in on at by for from with as is are was be been it its this that these
        those how where what which who when why does do did can could should would will i we you
        they there here into than then so if not no any all some
        """,
    )
)


def words(text: str) -> list[str]:
    """The words of a text: each identifier as a whole, and its parts if it has several."""
    found = []
    for word in re.findall(r"\w+", text):
        split = [part for run in WORD.findall(word) for part in parts(run)]
        whole = word.strip("_").lower()
        found += [whole] if split == [whole] else [whole, *split]
    return found


def query_words(text: str) -> list[str]:
    """The words of a query without stop words."""
    found = words(text)
    return [word for word in found if word not in _ASIDE] or found


class Bm25:
    """BM25 over split identifiers, path and symbol counting three times."""

    def __init__(self, texts: Sequence[Counter[str]]) -> None:
        self.lengths = np.array([sum(t.values()) for t in texts], np.float64)
        self.average = float(self.lengths.mean()) or 1.0
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for i, text in enumerate(texts):
            for word, n in text.items():
                postings[word].append((i, n))
        self.postings = {
            w: (np.array([i for i, _ in p]), np.array([n for _, n in p], np.float64))
            for w, p in postings.items()
        }

    def scores(self, query: Sequence[str]) -> Floats:
        out = np.zeros(len(self.lengths))
        for word in set(query):
            if word in self.postings:
                rows, n = self.postings[word]
                idf = math.log(1 + (len(self.lengths) - len(rows) + 0.5) / (len(rows) + 0.5))
                norm = 1.2 * (0.25 + 0.75 * self.lengths[rows] / self.average)
                out[rows] += idf * n * 2.2 / (n + norm)
        return out.astype(np.float32)


def minmax(scores: Floats) -> Floats:
    """Scores from 0 to 1 over the best ones; the others are 0."""
    top = min(TOP, len(scores) - 1)
    floor = np.partition(scores, -top)[-top]
    high = float(scores.max())
    return np.asarray(np.clip((scores - floor) / max(high - floor, 1e-9), 0, 1), np.float32)


def reciprocal(scores: Floats, at: int) -> float:
    """Reciprocal rank within ten; ties count against the right one."""
    rank = int((scores >= scores[at]).sum())
    return 1 / rank if rank <= 10 else 0.0


def by_language(
    pairs: list[Pair], model: Model, vocabulary: object, rows: Sequence[str] = ("doc",)
) -> dict[str, dict[str, float]]:
    """MRR@10 of doc -> code among all code of the language's held-out packages."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        language = "typescript" if pair.language == "tsx" else pair.language
        if held_out(pair.package) and len(groups[language]) < CODES_MAX:
            groups[language].append(pair)
    report: dict[str, dict[str, float]] = {}
    for language, group in sorted(groups.items()):
        asked = [i for i, p in enumerate(group) if p.kind in rows or p.kind == "head"]
        random = np.random.default_rng(1)
        asked = sorted(random.permutation(asked)[:QUERIES_MAX].tolist())
        if len(asked) < 20:
            continue
        data: Encoded = encode(group, vocabulary)  # type: ignore[arg-type]
        codes = code_vectors(data, model)
        questions = question_vectors(data, model, np.array(asked))
        texts = []
        for p in group:
            counted = Counter(words(p.code))
            for word in words(f"{p.path} {p.symbol}"):
                counted[word] += 3
            texts.append(counted)
        bm25 = Bm25(texts)
        found: dict[str, list[float]] = defaultdict(list)
        for k, i in enumerate(asked):
            lexical = bm25.scores(query_words(group[i].question))
            dense = codes @ questions[k]
            found["bm25"].append(reciprocal(lexical, i))
            found["dense"].append(reciprocal(dense, i))
            found["hybrid"].append(reciprocal(minmax(lexical) + minmax(dense), i))
        report[language] = {name: float(np.mean(values)) for name, values in found.items()}
        report[language] |= {"queries": len(asked), "codes": len(group)}
    return report


def show(report: dict[str, dict[str, float]], out: Callable[[str], None] = print) -> None:
    out(f"{'language':12} {'queries':>7} {'codes':>6}  bm25  dense hybrid")
    for language, row in report.items():
        out(
            f"{language:12} {row['queries']:7.0f} {row['codes']:6.0f} "
            f"{row['bm25']:.3f}  {row['dense']:.3f}  {row['hybrid']:.3f}"
        )
    if not report:
        return
    keys = ("bm25", "dense", "hybrid")
    mean = {k: float(np.mean([row[k] for row in report.values()])) for k in keys}
    out(f"{'mean':26}  {mean['bm25']:.3f}  {mean['dense']:.3f}  {mean['hybrid']:.3f}")
