"""Encode pairs as arrays, for training and evaluation."""

from __future__ import annotations

import concurrent.futures
import hashlib
import multiprocessing
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.index.embedding.pieces import WORD, Vocabulary
from models.train.fetch import EXCLUDED
from models.train.pairs import FILE_KINDS, Pair, read_all

FIELDS = ("question", "path", "symbol", "code", "rest")
PIECES_MAX = {"question": 48, "path": 24, "symbol": 16, "code": 140, "rest": 40}
NUMBERS = ("same_question", "same_code", "files", "folders")
HELD_OUT_OF = 20
"""One package in this many is held out for evaluation."""

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Bags:
    """Many texts as (piece, count): text `i` has `pieces[starts[i]:starts[i + 1]]`."""

    pieces: Ints
    counts: NDArray[np.uint8]
    starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Encoded:
    """All pairs: one `Bags` for each field, and the kind of each pair."""

    bags: dict[str, Bags]
    kinds: list[str]
    languages: list[str]
    packages: list[str]
    same_question: NDArray[np.int64]
    same_code: NDArray[np.int64]
    files: NDArray[np.int64]
    """A number of each pair's file, so that pairs of one file can be told from others."""
    folders: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.kinds)


def held_out(package: str, language: str = "") -> bool:
    """Whether a package is held out, by its name alone."""
    return hashlib.sha256(package.encode()).digest()[0] % HELD_OUT_OF == 0


def bag(text: str, vocabulary: Vocabulary, limit: int) -> list[tuple[int, int]]:
    counted: Counter[int] = Counter()
    for word in WORD.findall(text):
        counted.update(vocabulary[word])
        if len(counted) >= limit:
            break
    return list(counted.items())


def encode(pairs: Iterable[Pair], vocabulary: Vocabulary) -> Encoded:
    columns: dict[str, tuple[list[int], list[int], list[int]]] = {
        field: ([], [], [0]) for field in FIELDS
    }
    kinds, languages, packages = [], [], []
    questions, codes, files, folders = [], [], [], []
    for pair in pairs:
        for field in FIELDS:
            pieces, counts, starts = columns[field]
            for piece, n in bag(getattr(pair, field), vocabulary, PIECES_MAX[field]):
                pieces.append(piece)
                counts.append(min(n, 255))
            starts.append(len(pieces))
        kinds.append(pair.kind)
        languages.append("typescript" if pair.language == "tsx" else pair.language)
        packages.append(pair.package)
        questions.append(_hash(pair.question.lower()))
        codes.append(_hash(pair.code))
        file = pair.file or pair.path
        files.append(_hash(f"{pair.package} {file}"))
        folders.append(_hash(f"{pair.package} {file.rpartition('/')[0]}"))
    bags = {
        field: Bags(np.array(p, np.int32), np.array(n, np.uint8), np.array(s, np.int64))
        for field, (p, n, s) in columns.items()
    }
    return Encoded(
        bags, kinds, languages, packages, *map(np.array, (questions, codes, files, folders))
    )


def joined(parts: list[Encoded]) -> Encoded:
    """Concatenate several."""
    bags = {}
    for field in FIELDS:
        of = [part.bags[field] for part in parts]
        before = np.cumsum([0, *(len(b.pieces) for b in of)])
        starts = [b.starts[:-1] + n for b, n in zip(of, before, strict=False)]
        bags[field] = Bags(
            np.concatenate([b.pieces for b in of]),
            np.concatenate([b.counts for b in of]),
            np.concatenate([*starts, before[-1:]]),
        )
    return Encoded(
        bags,
        [kind for part in parts for kind in part.kinds],
        [language for part in parts for language in part.languages],
        [package for part in parts for package in part.packages],
        np.concatenate([part.same_question for part in parts]),
        np.concatenate([part.same_code for part in parts]),
        np.concatenate([part.files for part in parts]),
        np.concatenate([part.folders for part in parts]),
    )


_shared: tuple[list[Pair], list[str]] = ([], [])


def _encode_some(span: tuple[int, int]) -> Encoded:
    pairs, words = _shared
    return encode(pairs[span[0] : span[1]], Vocabulary(words))


def encode_all(pairs: list[Pair], words: list[str], jobs: int) -> Encoded:
    """As `encode`, in several processes."""
    global _shared
    if jobs < 2 or len(pairs) < 10_000:
        return encode(pairs, Vocabulary(words))
    _shared = (pairs, words)
    spans = [(at, min(at + 10_000, len(pairs))) for at in range(0, len(pairs), 10_000)]
    # Forked, so that the pairs need not be copied.
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(jobs, context) as pool:
        return joined(list(pool.map(_encode_some, spans)))


def _hash(text: str) -> int:
    plain = " ".join(text.split()).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(plain, digest_size=8).digest(), "little", signed=True)


def save(data: Encoded, path: Path) -> None:
    arrays: dict[str, Any] = {
        f"{field}.{part}": getattr(bags, part)
        for field, bags in data.bags.items()
        for part in ("pieces", "counts", "starts")
    }
    for name in ("kinds", "languages", "packages", *NUMBERS):
        arrays[name] = np.array(getattr(data, name))
    np.savez(path, **arrays)


def load(path: Path) -> Encoded:
    kept = np.load(path)
    bags = {
        field: Bags(*(kept[f"{field}.{part}"] for part in ("pieces", "counts", "starts")))
        for field in FIELDS
    }
    kinds, languages, packages = (kept[n].tolist() for n in ("kinds", "languages", "packages"))
    return Encoded(bags, kinds, languages, packages, *(kept[name] for name in NUMBERS))


def counts(data: Encoded) -> Counter[str]:
    """The number of pairs of each language and kind."""
    return Counter(map("{}, {}".format, data.languages, data.kinds))


def balanced(pairs: Iterable[Pair], per_language: int) -> list[Pair]:
    """At most this many pairs of each language, sampled by a hash; each code once."""
    groups: dict[tuple[str, bool], list[tuple[bytes, Pair]]] = {}
    seen: set[tuple[int, int]] = set()
    for pair in pairs:
        key = (_hash(pair.question.lower()), _hash(pair.code))
        if key in seen:
            continue
        seen.add(key)
        digest = hashlib.blake2b(f"{pair.package}{pair.path}{pair.question}".encode(
            "utf-8", "replace"), digest_size=8).digest()  # fmt: skip
        name = "typescript" if pair.language == "tsx" else pair.language
        # Pairs about whole files are chosen apart, so that they displace no others.
        groups.setdefault((name, pair.kind in FILE_KINDS), []).append((digest, pair))
    chosen: list[tuple[bytes, Pair]] = []
    for (_, about_files), found in groups.items():
        found.sort(key=lambda item: item[0])
        chosen += found[: per_language // 2 if about_files else per_language]
    chosen.sort(key=lambda item: item[0])
    return [pair for _, pair in chosen]


def load_vocabulary(cache: Path) -> Vocabulary:
    return Vocabulary((cache / "vocabulary.txt").read_text().splitlines())


def training_pairs(cache: Path, per_language: int, kinds: Collection[str]) -> list[Pair]:
    """The pairs of some kinds for training: without held-out and excluded packages."""
    return balanced(
        (
            p for p in read_all(cache)
            if p.kind in kinds and not held_out(p.package) and not EXCLUDED.search(p.package)
        ),
        per_language,
    )  # fmt: skip
