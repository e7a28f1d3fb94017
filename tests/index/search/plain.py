"""The quick parts of a search, told the long way: one row, one word, one pair at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from holdfast.index.search import trigrams
from holdfast.index.search.candidates import Candidates
from holdfast.index.search.corpus import Corpus
from holdfast.index.search.coverage import Coverage
from holdfast.index.search.fields import FIELDS, Field
from holdfast.index.search.lexical import Within
from holdfast.index.search.near_duplicates import ALIKE, CHARACTERS_MIN, COMPARED_MAX
from holdfast.index.search.posting_segment import EXACT, KINDS
from holdfast.index.search.preview import Asked
from holdfast.index.search.signals import Applied
from holdfast.index.search.terms import parts, stem, terms

QUERY_LEVELS = 511


def nearness(self: Corpus, vector: Any) -> Any:
    """Whole numbers, multiplied and added as such."""
    peak = float(np.abs(vector).max(initial=0.0))
    asked = np.rint(vector * (QUERY_LEVELS / peak)).astype(np.int64) if peak else vector * 0
    scale = np.float32(peak / QUERY_LEVELS)
    near = np.zeros(self.rows, dtype=np.float32)
    for first, part in zip(self.firsts, self.parts, strict=True):
        vectors, scales = part.segment.vectors, part.segment.scales
        if vectors.shape[1] == len(asked):
            for row in range(len(vectors)):
                product = int(vectors[row].astype(np.int64) @ asked.astype(np.int64))
                near[first + row] = np.float32(product) * scales[row] * scale
    return near


def coverage_of(words: list[Within], corpus: Corpus, rows: Any, places: Any) -> Coverage:
    """How much of the query each row has, word by word and entry by entry."""
    place = {row: i for i, row in enumerate(rows.tolist())}
    n = len(place)
    found, matched = np.zeros((FIELDS, n)), np.zeros((FIELDS, n))
    anywhere, total = np.zeros(n), 0.0
    in_file: dict[int, float] = {}
    for word in (within.word for within in words):
        total += word.weight
        here = np.zeros((FIELDS, n))
        files = set()
        worths = np.repeat(word.worths, np.diff(word.ends, prepend=0))
        for row, field, worth in zip(
            word.rows.tolist(), (word.packed >> 5).tolist(), worths.tolist(), strict=True
        ):
            if field != Field.CALL:
                files.add(int(corpus.file_of[row]))
                if row in place:
                    here[field, place[row]] = max(here[field, place[row]], worth)
        found += word.weight * here
        matched += here
        anywhere += word.weight * here.max(axis=0)
        for file in files:
            in_file[file] = in_file.get(file, 0.0) + word.weight
    total = total or 1.0
    whole = np.minimum(matched / np.maximum(corpus.lengths[rows].T, 1), 1.0)
    of_files = [in_file.get(int(corpus.file_of[row]), 0.0) for row in rows]
    return Coverage(
        anywhere / total,
        np.array(of_files) / total,
        found[Field.STEM] / total,
        whole[Field.STEM],
    )


def centrality(corpus: Corpus) -> Any:
    """Calls of each name, shared out among its definitions, entry by entry."""
    calls: dict[str, int] = {}
    defined: dict[str, list[int]] = {}
    for first, part in zip(corpus.firsts, corpus.parts, strict=True):
        segment = part.segment
        for number, term in enumerate(segment.terms):
            if not term.startswith(EXACT):
                continue
            for at in range(int(segment.starts[number]), int(segment.starts[number + 1])):
                row = int(segment.entry_rows[at]) + first
                field = int(segment.entry_counts[at]) >> 5
                if corpus.alive[row] and field == Field.CALL:
                    calls[term] = calls.get(term, 0) + 1
                elif corpus.alive[row] and field == Field.NAME:
                    defined.setdefault(term, []).append(row)
    out = np.zeros(corpus.rows, dtype=np.float32)
    for term, rows in defined.items():
        worth = np.float32(np.log1p(calls.get(term, 0) / len(rows)))
        for row in rows:
            out[row] = max(out[row], worth)
    top = float(out.max(initial=0.0))
    return out / np.float32(top) if top else out


def bodies(corpus: Corpus) -> list[int]:
    """For each row that declares a function, the row with its body, name by name."""
    defined: dict[str, list[int]] = {}
    for first, part in zip(corpus.firsts, corpus.parts, strict=True):
        segment = part.segment
        for number, term in enumerate(segment.terms):
            for at in range(int(segment.starts[number]), int(segment.starts[number + 1])):
                row = int(segment.entry_rows[at]) + first
                named = term.startswith(EXACT) and int(segment.entry_counts[at]) >> 5 == Field.NAME
                function = KINDS[corpus.kinds[row]] in ("function", "method", "constructor")
                if named and function and corpus.alive[row]:
                    defined.setdefault(term, []).append(row)
    path = {r: PurePosixPath(corpus.files[corpus.file_of[r]].path) for r in range(corpus.rows)}
    found: dict[int, list[tuple[bool, int]]] = {}
    for rows in defined.values():
        sources = [r for r in rows if path[r].suffix.lower() in (".c", ".cc", ".cpp", ".cxx")]
        sources.sort(key=lambda r: int(corpus.ties[r]))
        for row in rows:
            doc, signature, body = (
                int(corpus.lengths[row][f]) for f in (Field.DOC, Field.SIGNATURE, Field.BODY)
            )
            if path[row].suffix.lower() not in (".h", ".hpp") or body > doc + signature:
                continue
            stem = path[row].stem.lower()
            alike = [r for r in sources if path[r].stem.lower() == stem]
            only = len({path[r] for r in sources}) == 1
            if alike or only:
                found.setdefault(row, []).append((not alike, (alike or sources)[0]))
    out = [-1] * corpus.rows
    for row, choices in found.items():
        out[row] = min(choices, key=lambda c: (c[0], int(corpus.ties[c[1]])))[1]
    return out


def top_rows(scores: Any, ties: Any, limit: int, floor: float) -> Any:
    above = [row for row in range(len(scores)) if scores[row] > floor]
    above.sort(key=lambda row: (-scores[row], ties[row]))
    return np.array(above[:limit], dtype=np.int64)


def diversified(
    scores: Any,
    files: Any,
    ties: Any,
    wanted: int,
    repeat: float,
) -> list[tuple[int, float]]:
    """The best that is left, again and again."""
    left = dict(enumerate(scores.tolist()))
    places: list[tuple[int, float]] = []
    while left and len(places) < wanted:
        best = min(left, key=lambda i: (-left[i], int(ties[i])))
        places.append((best, left.pop(best)))
        for i in left:
            if files[i] == files[best]:
                left[i] *= repeat
    return places


def folded(texts: Sequence[str], compared: int = COMPARED_MAX) -> list[int]:
    """Each text against all before it."""
    long = [i for i in _long_places(texts) if i < compared]
    signatures = trigrams.signatures([texts[i] for i in long])
    rows = np.frombuffer(signatures, dtype=np.uint8).reshape(-1, trigrams.WIDTH)
    numbers = {i: at for at, i in enumerate(long)}
    places = list(range(len(texts)))
    for i, text in enumerate(texts):
        for before in range(i):
            if places[before] != before:
                continue
            same = "".join(text.split()) == "".join(texts[before].split())
            if same or (i in numbers and before in numbers and _near(
                text, texts[before], rows[numbers[i]], rows[numbers[before]]
            )):  # fmt: skip
                places[i] = before
                break
    return places


def _long_places(texts: Sequence[str]) -> list[int]:
    words = ["".join(text.split()) for text in texts]
    return [
        i
        for i, text in enumerate(texts[:COMPARED_MAX])
        if words.index(words[i]) == i and len(text) >= CHARACTERS_MIN
    ]


def _near(one: str, other: str, row: Any, other_row: Any) -> bool:
    if min(len(one), len(other)) < ALIKE * max(len(one), len(other)):
        return False
    bits, other_bits = (
        set(np.unpackbits(row).nonzero()[0]),
        set(np.unpackbits(other_row).nonzero()[0]),
    )
    return len(bits & other_bits) >= ALIKE * len(bits | other_bits)


def line_scores(text: str, lines: Sequence[str], first_line: int, asked: Asked) -> list[float]:
    """Every line by all of its terms."""
    known = {match.line - first_line for match in asked.known}
    scores = [2.0 if i in known else 0.0 for i in range(len(lines))]
    met: set[str] = set()
    for i, line in enumerate(lines):
        here = set(terms(line)) & asked.worth.keys()
        scores[i] += sum(asked.worth[term] * (0.5 if term in met else 1.0) for term in here)
        met |= here
    return scores


def score(c: Candidates, applied: Sequence[Applied]) -> list[float]:
    """The score of each candidate as one formula, row by row."""
    value = {one.name: one.values.tolist() for one in applied}
    weight = {one.name: one.weight for one in applied}
    n = len(c)
    added = [
        "lexical", "dense", "file_words", "central", "file_meaning", "definition", "coverage",
        "stem", "file_coverage", "changed",
    ]  # fmt: skip
    scores = [sum(weight[s] * value[s][i] for s in added if s in value) for i in range(n)]
    for factor in ("role", "older", "header", "head", "brief", "prose"):
        scores = [scores[i] * value.get(factor, [1.0] * n)[i] for i in range(n)]
    # A function's body has the score of its declaration, which keeps a part of it.
    body_of = {int(row): int(body) for row, body in enumerate(bodies(c.corpus)) if body >= 0}
    at = {int(row): i for i, row in enumerate(c.rows)}
    pairs = [(i, at[body_of[row]]) for row, i in at.items() if body_of.get(row) in at]
    before = list(scores)
    for declaration, body in pairs:
        scores[body] = max(scores[body], before[declaration])
    for declaration, _ in pairs:
        scores[declaration] *= c.weights.declared
    # The best chunk of a file gains by what else the file has.
    files = c.file_of.tolist()
    squares = [max(one, 0.0) ** 2 for one in scores]
    sums = {file: sum(squares[i] for i in range(n) if files[i] == file) for file in set(files)}
    top, most = max(scores), max(sums.values())
    for file in sums if most > 0 else ():
        first = max((i for i in range(n) if files[i] == file), key=lambda i: (scores[i], -i))
        scores[first] += c.weights.coherence * top * (sums[file] / most) ** 0.5
    # A function takes the place of the head of its file.
    heads = {"class", "interface", "trait", "struct", "union", "enum", "object", "namespace"}
    kinds = [KINDS[kind] for kind in c.kinds.tolist()]
    for file in sums:
        mine = [i for i in range(n) if files[i] == file]
        mine.sort(key=lambda i: (-scores[i], int(c.ties[i])))
        others = [i for i in mine if kinds[i] not in heads | {"module"}]
        if others and others[0] != mine[0]:
            one, other = mine[0], others[0]
            share = 1.0 if c.analyzed.kind == "symbol" else c.weights.leader
            if share < 1.0 and scores[other] >= share * scores[one]:
                scores[one], scores[other] = scores[other], scores[one]
    return _with_originals_first(c, scores)


def _with_originals_first(c: Candidates, scores: list[float]) -> list[float]:
    """Of two files in a folder the one with the shorter name first, if it is nearly as good."""
    place = c.file_runs[1].tolist()
    best = [
        max(s for s, p in zip(scores, place, strict=True) if p == f) for f in range(len(c.paths))
    ]
    compared = sorted(range(len(best)), key=lambda f: -best[f])[:40]
    asked = {term for word in c.analyzed.words for term in (word.term, *word.others)}
    done: set[int] = set()
    found = list(scores)
    for longer in compared:
        for shorter in compared:
            folder, _, name = c.paths[longer].rpartition("/")
            other_folder, _, other_name = c.paths[shorter].rpartition("/")
            words, fewer = _stems(name), _stems(other_name)
            more = len(words) - len(fewer)
            fits = words[more:] == fewer and not asked & set(words[:more])
            if c.analyzed.kind == "symbol":
                behind = words[: len(fewer)] == fewer and not asked & set(words[len(fewer) :])
                fits = fits or (behind and words[more:] != fewer)
            if folder != other_folder or more <= 0 or not asked & set(fewer) or not fits:
                continue
            if {longer, shorter} & done or c.weights.variant == 1.0:
                continue
            if best[longer] > best[shorter] >= c.weights.variant * best[longer]:
                one = next(
                    i for i, p in enumerate(place) if p == longer and scores[i] == best[longer]
                )
                other = next(
                    i for i, p in enumerate(place) if p == shorter and scores[i] == best[shorter]
                )
                found[one], found[other] = scores[other], scores[one]
                done |= {longer, shorter}
    return found


def _stems(name: str) -> list[str]:
    spelled = name.rsplit(".", 1)[0] if "." in name[1:] else name
    return [stem(part) for part in parts(spelled.replace("-", "_").replace(".", "_"))]
