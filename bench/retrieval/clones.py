"""`python -m bench.retrieval.clones`: would folding token clones improve the answers?

Results with nearly the same text are folded. The sequence index knows another kind of copy: runs of
equal tokens, with or without regard to names. This counts, among the first results of every
question, the pairs of such clones that were not folded, and scores the answers again without the
later one of each pair.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.retrieval.fetch import CACHE, Fetcher
from bench.retrieval.labels import read_set
from bench.retrieval.metrics import Result, judge, tokens
from bench.retrieval.summary import mean, table
from bench.retrieval.tune import IndexedSet
from bench.retrieval.workers.holdfast import place, wire

RUN = 20
"""Clones have a common run of at least this many tokens, or are shorter and equal."""
COVERED = 0.8
"""The share of the shorter one's tokens that must be in common runs."""
FIRST = 20


def lexed(path: str, text: bytes) -> list[bytes]:
    from holdfast.sequence.tokens.families import family_of
    from holdfast.sequence.tokens.lexer import lex

    return lex(text, family_of(path)).texts


def are_copies(one: Sequence[bytes], other: Sequence[bytes]) -> bool:
    """Whether nearly all of the shorter one is in the other, in runs."""
    short, long = sorted((one, other), key=len)
    run = min(RUN, len(short))
    if not run:
        return False
    runs = {tuple(long[i : i + run]) for i in range(len(long) - run + 1)}
    covered = [False] * len(short)
    for i in range(len(short) - run + 1):
        if tuple(short[i : i + run]) in runs:
            covered[i : i + run] = [True] * run
    return sum(covered) >= COVERED * len(short)


def main(argv: Sequence[str] | None = None) -> int:
    from holdfast.index.tools.search import search_code
    from holdfast.sequence.tokens.lexer import normalised

    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.clones", description=__doc__)
    parser.add_argument("--set", type=Path, required=True, dest="labelled")
    parser.add_argument("--split", default="train,dev")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--home", type=Path, help="keep the indexes there for the next run")
    args = parser.parse_args(argv)
    labelled = read_set(args.labelled).chosen(args.split, [])
    pairs = {"folded by content": 0, "clones left": 0, "clones left, names aside": 0}
    scores: dict[str, list[dict[str, float]]] = {
        "as it is": [], "without clones": [], "without clones, names aside": []
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as directory:
        home = args.home or Path(directory)
        indexed = IndexedSet(labelled, home, Fetcher(args.cache.resolve()), FIRST)
        for tree, query in indexed.asked:
            answer = wire(search_code(indexed.index, tree, query.text, limit=FIRST))
            pairs["folded by content"] += sum(r.get("alikeCount", 0) for r in answer["results"])
            results, exact, loose = [], [], []
            for path, start, end, shown, _ in map(place, answer["results"]):
                lines = (Path(tree) / path).read_bytes().splitlines(keepends=True)
                words = lexed(path, b"".join(lines[(start or 1) - 1 : end]))
                results.append(Result(path, start, end, tokens(shown)))
                exact.append(words)
                loose.append([normalised(word) for word in words])
            scores["as it is"].append(judge(results, query.targets))
            for name, count, texts in (
                ("without clones", "clones left", exact),
                ("without clones, names aside", "clones left, names aside", loose),
            ):
                kept: list[int] = []
                for number, text in enumerate(texts):
                    if any(are_copies(text, texts[earlier]) for earlier in kept):
                        pairs[count] += 1
                    else:
                        kept.append(number)
                scores[name].append(judge([results[i] for i in kept], query.targets))
    print(table(("results", "of all questions"), [(k, str(v)) for k, v in pairs.items()]))
    measures = ("ndcg10", "path_ndcg10")
    rows = [(k, *(f"{mean([s[m] for s in v]):.4f}" for m in measures)) for k, v in scores.items()]
    print(table(("answers", "by span", "by path"), rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
