"""The training scripts, end to end on a small corpus made here, and their parts against twins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.embedding.pieces import WORD, Vocabulary
from holdfast.index.embedding.static import StaticEmbedding, read_header
from models.train import cli, encode, start, train
from models.train.fetch import Package
from models.train.licences import DebianCopyright, of_npm, of_python, permissive
from models.train.loss import Batch, by_hand
from models.train.pairs import Pair, cleaned, pairs_of, without_docstring

MEANINGS = [
    ("remove", "delete", "entry from the table"),
    ("fetch", "download", "page from the server"),
    ("draw", "paint", "shape on the canvas"),
    ("parse", "tokens", "text of the grammar"),
    ("sort", "compare", "items of the list"),
    ("encrypt", "cipher", "bytes with the key"),
    ("retry", "attempts", "request after a failure"),
    ("measure", "elapsed", "time of the call"),
]


def corpus(cache: Path, packages: int = 24) -> None:
    """Packages in which each question is asked in words that its code does not use."""
    random = np.random.default_rng(3)
    (cache / "packages").mkdir(parents=True)
    for number in range(packages):
        source = []
        for k, (verb, word, thing) in enumerate(MEANINGS):
            noun = ["box", "tree", "node", "frame"][int(random.integers(4))]
            source.append(
                f"def f{number}_{k}({noun}):\n"
                f'    """{verb.title()} the {thing}, number {number}."""\n'
                f"    {noun}_{word} = {word}({noun}.{word}, {number})\n"
                f"    return {noun}_{word}.{word}(limit={number})\n"
            )
        files = [(f"pkg{number}/module.py", "\n\n".join(source).encode())]
        package = Package("pypi", f"pkg{number}", "1.0", "MIT", "", files)
        path = cache / "packages" / f"pypi__pkg{number}.msgpack"
        path.write_bytes(msgspec.msgpack.encode(package))


@pytest.mark.long
@pytest.mark.shows("INDEX-MODEL-TRAIN")
def test_a_tiny_model_learns_words_that_mean_the_same(tmp_path: Path) -> None:
    cache, out = tmp_path / "cache", tmp_path / "tiny.bin"
    corpus(cache)
    common = ["--cache", str(cache), "--out", str(out), "--jobs", "1", "--dimension", "16",
              "--batch", "32", "--epochs", "12", "--hard-from", "10", "--size", "3000",
              "--rate", "0.03", "--warm-up", "5", "--drop", "0.0", "--runs", "2"]  # fmt: skip
    for step in ("pairs", "vocabulary", "train", "measure", "export"):
        assert cli.main([step, *common]) == 0
    model = StaticEmbedding(out)
    code = [f"new.py\ngo\ndef go(box):\n    return {word}(box)\n" for _, word, _ in MEANINGS]
    rows = model.embed(code)
    right = [
        int(np.argmax(rows @ model.embed_query(f"{verb} the {thing}")[0])) == i
        for i, (verb, _, thing) in enumerate(MEANINGS)
    ]
    assert sum(right) >= len(MEANINGS) - 1, right
    again = tmp_path / "again.bin"
    for made in [cache / "model.npz", *cache.glob("run-*.npz")]:
        made.unlink()
    for step in ("train", "export"):
        cli.main([step, *common[:2], "--out", str(again), *common[4:]])
    assert again.read_bytes() == out.read_bytes(), "equal seeds make equal models"
    (cache / "model.npz").unlink()
    cli.main(["train", *common, "--path", "1"])
    factor, *others = train.load(cache / "model.npz").fields / read_header(out).fields
    assert factor == pytest.approx(1 / train.Plan().path, rel=1e-4), "the path is given more"
    assert others == pytest.approx([1, 1], rel=1e-4)


@pytest.mark.shows("INDEX-MODEL-TRAIN")
def test_runs_are_averaged_piece_by_piece() -> None:
    random = np.random.default_rng(5)
    models = [
        train.Model(*(random.random(shape).astype(np.float32) + 0.5 for shape in ((6, 4), 6, 6, 3)))
        for _ in range(3)
    ]
    made = train.averaged(models)
    for piece in range(6):
        assert made.asked[piece] == pytest.approx(
            float(np.prod([m.asked[piece] for m in models])) ** (1 / 3), rel=1e-5
        )
        for at in range(4):
            mean = sum(float(m.vectors[piece, at]) for m in models) / 3
            assert made.vectors[piece, at] == pytest.approx(mean, rel=1e-5)
    alone = train.averaged(models[:1])
    assert np.array_equal(alone.vectors, models[0].vectors)
    assert np.allclose(alone.told, models[0].told)


def test_a_word_seldom_seen_goes_where_the_others_of_its_reading_went() -> None:
    """The learned space is the teacher's, turned; words that were seen know it, one does not."""
    random = np.random.default_rng(6)
    read = random.normal(size=(400, 8))
    turned, _ = np.linalg.qr(random.normal(size=(8, 8)))
    where = read @ turned
    where /= np.linalg.norm(where, axis=1, keepdims=True)
    vectors = where.astype(np.float32)
    vectors[7] = -vectors[7]
    seen = np.full(400, 10**9)
    seen[7] = 0
    seen[8] = 50
    vectors[8] = -vectors[8]
    ones = np.ones(400, np.float32)
    made = start.settled(train.Model(vectors, ones, ones, ones[:3]), read, seen, 50.0)
    assert float(made.vectors[7] @ where[7]) > 0.95
    assert float(np.linalg.norm(made.vectors[8])) < 0.3, "halfway between two opposite places"
    others = np.arange(400) > 8
    assert np.allclose(made.vectors[others], vectors[others], atol=1e-4)


def test_a_piece_is_seen_in_every_field() -> None:
    vocabulary = Vocabulary(["parse", "http", "file"])
    pair = Pair("doc", "python", "p", "http.py", "parse", "parse a file", "", "parse parse(http)")
    data = encode.encode([pair, pair], vocabulary)
    assert start.times_seen(data, 3).tolist() == [6, 4, 2]


def batch_of(seed: int, size: int = 5, pieces: int = 12) -> Batch:
    random = np.random.default_rng(seed)
    sizes = random.integers(0, 4, 4 * size)
    total = int(sizes.sum())
    sides = np.ones(total, np.int64)
    sides[: int(sizes[:size].sum())] = 0
    same = np.zeros((size, size), bool)
    same[0, 1] = same[1, 0] = True
    return Batch(
        size,
        random.integers(0, pieces, total),
        random.random(total).astype(np.float32) + 0.1,
        sides,
        np.cumsum(sizes) - sizes,
        same,
    )


@given(st.integers(0, 1_000))
def test_gradients_agree_with_small_differences(seed: int) -> None:
    random = np.random.default_rng(seed)
    batch = batch_of(seed)
    given_: list[Any] = [
        random.normal(size=(12, 4)).astype(np.float32),
        random.normal(size=(2, 12)).astype(np.float32) * 0.3,
        random.normal(size=3).astype(np.float32) * 0.3,
    ]
    found = by_hand(batch, given_[0], given_[1], given_[2], 0.7)
    for k, grad in enumerate((found.vectors, found.weights, found.fields)):
        direction = random.normal(size=grad.shape)
        direction /= np.linalg.norm(direction)
        step = 1e-3
        near = []
        for sign in (1, -1):
            moved = [x.astype(np.float64) for x in given_]
            moved[k] = moved[k] + sign * step * direction
            near.append(by_hand(batch, moved[0], moved[1], moved[2], 0.7).loss)
        assert (near[0] - near[1]) / (2 * step) == pytest.approx(
            float((grad * direction).sum()), abs=6e-3
        )


def test_pytorch_and_numpy_find_the_same_gradients() -> None:
    pytest.importorskip("torch", reason="PyTorch is only where models are trained; see above")
    from models.train.loss import by_torch

    random = np.random.default_rng(2)
    batch = batch_of(2)
    vectors = random.normal(size=(12, 4)).astype(np.float32)
    weights, fields = np.zeros((2, 12), np.float32), np.zeros(3, np.float32)
    ours = by_hand(batch, vectors, weights, fields, 0.5)
    theirs = by_torch(batch, vectors.copy(), weights.copy(), fields.copy(), 0.5)
    assert ours.loss == pytest.approx(theirs.loss, abs=1e-5)
    assert np.allclose(ours.vectors, theirs.vectors, atol=1e-5)
    assert np.allclose(ours.weights, theirs.weights, atol=1e-5)


@pytest.mark.shows("INDEX-MODEL-TWIN")
def test_training_and_search_read_a_text_alike() -> None:
    words = ["parse", "http", "response", "##s", "get", "e", "r"]
    vocabulary = Vocabulary(words)
    text = "parseHTTPResponse(getResponses) parse"
    pair = Pair("doc", "python", "p", "a.py", "", "what is said", "", text)
    bags = encode.encode([pair], vocabulary).bags["code"]
    trained = dict(zip(bags.pieces.tolist(), bags.counts.tolist(), strict=True))
    searched: dict[int, int] = {}
    for word in WORD.findall(text):
        for piece in vocabulary[word]:
            searched[piece] = searched.get(piece, 0) + 1
    assert trained == searched == {0: 2, 1: 1, 2: 2, 4: 1, 3: 1}


def test_every_row_is_in_one_block_of_an_order() -> None:
    plan = train.Plan(block=4)
    packages = [f"p{i % 7}" for i in range(50)]
    order = train.package_order(packages, plan, np.random.default_rng(1))
    assert sorted(order.tolist()) == list(range(50))


def test_a_doc_comment_is_cut_to_its_prose() -> None:
    assert cleaned("Reads {@code x} from a file. Then more.\n@param a it") == (
        "Reads x from a file.",
        "Then more.",
    )
    assert cleaned("<summary>\nGets the value of it.\n</summary>")[0] == "Gets the value of it."
    assert cleaned("Copyright 2020 Some Body and others") == ("", "")
    assert cleaned("See above") == ("", "")


def test_the_question_is_not_in_the_code() -> None:
    source = (
        b'def load(path):\n    """Read the settings of a user."""\n    return open(path).read()\n'
    )
    package = Package("pypi", "p", "1", "MIT", "", [("a.py", source)])
    (pair,) = pairs_of(package)
    assert pair.question == "Read the settings of a user."
    assert "settings" not in pair.code
    assert "open(path)" in pair.code
    assert without_docstring("def f():\n    return 1\n") == "def f():\n    return 1\n"


@pytest.mark.shows("INDEX-MODEL-LICENCE")
@pytest.mark.parametrize(
    ("licence", "may"),
    [
        ("MIT", True), ("BSD-3-Clause", True), ("Apache-2.0 OR GPL-2.0", True), ("GPL-3.0", False),
        ("Apache-2.0 AND LGPL-2.1", False), ("", False), ("MPL-2.0", False), ("Expat", True),
        ("UNLICENSED", False), ("Unlicense", True), ("MIT AND BSD-2-Clause", True),
        ("CC-BY-NC-4.0", False), ("SEE LICENSE IN x", False), ("ISC", True), ("EPL-2.0", False),
    ],
)  # fmt: skip
def test_only_permissive_licences_are_learned_from(licence: str, may: bool) -> None:
    assert permissive(licence) is may
    assert bool(of_npm(licence)) is may
    assert bool(of_python({"license_expression": licence})) is may


@pytest.mark.shows("INDEX-MODEL-LICENCE")
def test_a_debian_package_may_hold_files_of_several_licences() -> None:
    text = (
        "Format: https://example.org/\n\nFiles: *\nCopyright: a\nLicense: Expat\n\n"
        "Files: src/gnu/*\nCopyright: b\nLicense: GPL-2+\n\nLicense: Expat\n Permission\n"
    )
    said = DebianCopyright(text)
    assert permissive(said.licence_of("src/main.c"))
    assert not permissive(said.licence_of("src/gnu/x.c"))
    assert said.summary() == "Expat"
