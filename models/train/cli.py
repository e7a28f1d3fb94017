"""The steps of the training. Each stores its result in the `--cache` directory.

    python -m models.train fetch --cache DIR      packages by name and version -> DIR/packages
    python -m models.train pairs --cache DIR      packages -> DIR/pairs
    python -m models.train vocabulary --cache DIR pairs -> DIR/vocabulary.txt, DIR/encoded.npz
    python -m models.train train --cache DIR      -> DIR/readings.npy, run-*.npz, model.npz
    python -m models.train measure --cache DIR    held-out packages -> DIR/scores.json
    python -m models.train export --cache DIR     -> the model's file
    python -m models.train all --cache DIR        all of them

A step whose result exists is skipped; remove the file to repeat it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.index.embedding.static import MODEL_FILE
from models.train import train as training

MODEL_NAME = "holdfast-code-1"
STEPS = ("fetch", "pairs", "vocabulary", "train", "measure", "export")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m models.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("step", choices=[*STEPS, "all"])
    made.add_argument("--cache", type=Path, required=True, help="directory for all results")
    made.add_argument("--jobs", type=int, default=2, help="processes for fetch and pairs")
    made.add_argument(
        "--refresh", action="store_true", help="fetch the newest versions and write packages.tsv"
    )
    made.add_argument("--size", type=int, default=44_000, help="maximum size of the vocabulary")
    made.add_argument("--packages-min", type=int, default=3, help="packages that must use a word")
    made.add_argument("--per-language", type=int, default=60_000, help="pairs, at most")
    made.add_argument(
        "--teacher", type=Path, help="directory of a sentence transformer to start from"
    )
    made.add_argument("--out", type=Path, default=MODEL_FILE, help="the file to export to")
    for field in dataclasses.fields(training.Plan):
        made.add_argument(
            f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default
        )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    names = [field.name for field in dataclasses.fields(training.Plan)]
    plan = training.Plan(**{name: getattr(args, name) for name in names})
    args.cache.mkdir(parents=True, exist_ok=True)
    for step in STEPS if args.step == "all" else [args.step]:
        print(f"-- {step}", file=sys.stderr, flush=True)
        _step(step, args, plan)
    return 0


def _step(step: str, args: argparse.Namespace, plan: training.Plan) -> None:
    cache: Path = args.cache
    if step == "fetch":
        from models.train import fetch

        fetch.main(cache, args.jobs, args.refresh)
    elif step == "pairs":
        from models.train import pairs

        pairs.main(cache, args.jobs)
    elif step == "vocabulary":
        _vocabulary(args)
    elif step == "train":
        _train(args, plan)
    elif step == "measure":
        _measure(cache)
    else:
        from models.train.export import export

        words = (cache / "vocabulary.txt").read_text().splitlines()
        digest = export(training.load(cache / "model.npz"), words, MODEL_NAME, args.out)
        print(f"{args.out}: {args.out.stat().st_size:,} bytes, digest {digest}")


def _vocabulary(args: argparse.Namespace) -> None:
    from models.train import encode, vocabulary

    target = args.cache / "encoded.npz"
    if target.exists():
        return
    pairs = encode.training_pairs(args.cache, args.per_language, args.kinds.split(","))
    words = vocabulary.learn(pairs, args.size, args.packages_min)
    (args.cache / "vocabulary.txt").write_text("\n".join(words) + "\n")
    encoded = encode.encode_all(pairs, words, args.jobs)
    encode.save(encoded, target)
    print(f"{len(pairs)} pairs, {len(words)} pieces")
    for language, n in sorted(encode.counts(encoded).items()):
        print(f"  {language:24} {n:7}")


def _train(args: argparse.Namespace, plan: training.Plan) -> None:
    import numpy as np

    from models.train import encode, start

    target = args.cache / "model.npz"
    if target.exists():
        return
    data = encode.load(args.cache / "encoded.npz")
    words = (args.cache / "vocabulary.txt").read_text().splitlines()
    read = _readings(args, words, plan.threads) if args.teacher else None
    if read is not None:
        vectors = start.teacher_start(read, plan.dimension, plan.seed)
    else:
        vectors = start.random_start(len(words), plan.dimension, plan.seed)
    first = start.begun(vectors, data)
    models = []
    for seed in range(plan.seed, plan.seed + plan.runs):
        kept = args.cache / f"run-{seed}.npz"
        if not kept.exists():
            one = dataclasses.replace(plan, seed=seed)
            print(f"seed {seed}", file=sys.stderr, flush=True)
            training.save(training.train(data, one, first), one, kept)
        models.append(training.load(kept))
    model = training.averaged(models)
    if read is not None and plan.settle:
        model = start.settled(model, read, start.times_seen(data, len(words)), plan.settle)
    model.fields[0] *= np.float32(plan.path)
    training.save(model, plan, target)


def _readings(args: argparse.Namespace, words: list[str], threads: int) -> Any:
    import numpy as np

    from models.train import start

    kept = args.cache / "readings.npy"
    if not kept.exists():
        np.save(kept, start.read_words(words, args.teacher, threads))
    return np.load(kept)


def _measure(cache: Path) -> None:
    from models.train import encode, measure
    from models.train.pairs import read_all

    model = training.load(cache / "model.npz")
    held = [pair for pair in read_all(cache) if encode.held_out(pair.package)]
    report = measure.by_language(held, model, encode.load_vocabulary(cache))
    (cache / "scores.json").write_text(json.dumps(report, indent=1) + "\n")
    measure.show(report)
