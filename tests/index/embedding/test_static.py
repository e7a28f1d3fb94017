"""The model in the wheel: what it says of itself, how it reads text, what it finds alike."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.embedding import static
from holdfast.index.embedding.pieces import WORD, Vocabulary, parts, pieces, words_of
from holdfast.index.embedding.static import MODEL_FILE, StaticEmbedding, read_header
from holdfast.index.errors import EmbeddingFailed
from holdfast.index.generations.fingerprint import Fingerprint
from models.train.export import export
from models.train.train import Model

CARD = Path(__file__).parents[3] / "models" / "CARD.md"


@pytest.fixture(scope="module")
def model() -> StaticEmbedding:
    return StaticEmbedding()


@pytest.mark.shows("INDEX-MODEL-SHIPPED")
def test_the_shipped_file_is_the_one_the_card_describes() -> None:
    header = read_header()
    data = MODEL_FILE.read_bytes()
    card = CARD.read_text()
    told = json.dumps(list(header.fields)).encode() + data[header.body :]
    assert hashlib.sha256(told).hexdigest() == header.digest
    assert f"`{header.digest}`" in card
    assert f"{len(data):,} bytes" in card
    assert len(data) <= 12_000_000


@pytest.mark.shows("INDEX-MODEL-DIGEST")
def test_the_model_s_name_carries_its_digest(model: StaticEmbedding) -> None:
    assert model.model.endswith(read_header().digest[:16])
    assert model.dimension == read_header().dimension


@pytest.mark.shows("INDEX-MODEL-DIGEST")
def test_an_index_of_another_model_is_not_served(tmp_path: Path) -> None:
    prints = []
    for seed, share in ((1, 1), (2, 1), (2, 2)):
        vectors = np.random.default_rng(seed).normal(size=(3, 8)).astype(np.float32)
        ones = np.ones(3, np.float32)
        path = tmp_path / f"{seed}-{share}.bin"
        export(Model(vectors, ones, ones, share * ones), ["a", "b", "c"], "tiny", path)
        made = StaticEmbedding(path)
        prints.append(Fingerprint(made.name, made.model, made.dimension, "sqlite"))
    assert len(set(prints)) == 3, "other vectors or other field weights are another model"


def test_identifiers_are_split_by_case_underscore_and_digit() -> None:
    assert parts("parseHTTPResponse2xx") == ["parse", "http", "response", "2", "xx"]
    assert [p for w in WORD.findall("max_retry_count") for p in parts(w)] == [
        "max",
        "retry",
        "count",
    ]
    assert parts("x" * 65) == []


def test_a_part_is_cut_at_the_longest_known_start() -> None:
    number = {word: i for i, word in enumerate(["file", "fil", "##name", "name", "##e", "x"])}
    assert pieces("filename", number) == [0, 2]
    assert pieces("xname", number) == [5, 2]
    assert pieces("file", number) == [0]
    assert pieces("fileq", number) == []
    assert pieces("123", number) == []


@given(st.text(alphabet="abcdeAB_1 ", max_size=40))
def test_pieces_spell_the_part_they_were_cut_from(text: str) -> None:
    words = [*"abcde", "##a", "##b", "##c", "##d", "##e", "ab", "abc", "##de", "cde"]
    vocabulary = Vocabulary(words)
    for word in WORD.findall(text):
        told = [words[i].removeprefix("##") for i in vocabulary[word]]
        assert "".join(told) == "".join(p for p in parts(word) if not p.isdigit())


def plain_vector(model: StaticEmbedding, texts: list[tuple[str, float]], side: str) -> np.ndarray:
    """The twin: the same sums, written out with floats and loops."""
    header = read_header()
    data = MODEL_FILE.read_bytes()

    def section(name: str, kind: str) -> np.ndarray:
        at, size = header.sections[name]
        return np.frombuffer(data[header.body + at : header.body + at + size], kind)

    vectors = section("vectors", "i1").reshape(header.pieces, header.dimension)
    weights = section(side, "<f4")
    vocabulary = static._opened(MODEL_FILE).vocabulary
    total = np.zeros(header.dimension)
    for text, share in texts:
        row = np.zeros(header.dimension)
        counts = Counter(i for word in WORD.findall(text) for i in vocabulary[word])
        for piece, n in counts.items():
            row += np.sqrt(min(n, 255)) * float(weights[piece]) * vectors[piece].astype(float)
        length = np.linalg.norm(row)
        total += share * (row / length if length else row)
    length = np.linalg.norm(total)
    return total / length if length else total


@given(st.one_of(st.text(), st.text(st.characters(max_codepoint=127))))
def test_words_are_those_of_the_pattern(text: str) -> None:
    assert words_of(text) == WORD.findall(text)


@pytest.mark.shows("INDEX-MODEL-TWIN")
def test_a_chunk_is_the_weighted_sum_of_its_fields(model: StaticEmbedding) -> None:
    text = "src/net/retry.py\nBackoff.wait\ndef wait(self):\n    sleep(self.delay)\n    sleep(1)\n"
    path, symbol, body = text.split("\n", 2)
    told = list(zip((path, symbol, body), read_header().fields, strict=True))
    expected = plain_vector(model, told, "told")
    assert np.allclose(model.embed([text])[0], expected, atol=1e-5)
    assert np.allclose(
        model.embed_query("wait before trying again")[0],
        plain_vector(model, [("wait before trying again", 1.0)], "asked"),
        atol=1e-5,
    )


def test_a_vector_does_not_depend_on_its_neighbours(model: StaticEmbedding) -> None:
    texts = ["a.py\nf\ndef f(): pass", "a.py\ng\ndef g(x): return x", "", "b.go\n\nfunc Open()"]
    together = model.embed(texts)
    for i, text in enumerate(texts):
        assert np.allclose(together[i], model.embed([text])[0], atol=1e-6)
    lengths = np.linalg.norm(together, axis=1)
    assert np.allclose(lengths[[0, 1, 3]], 1.0, atol=1e-5)
    assert lengths[2] == 0


def test_many_texts_have_exactly_the_vectors_that_each_has_alone(model: StaticEmbedding) -> None:
    texts = [
        f"src/{n % 7}/a.py\n{'' if n % 3 else f'Cart.total{n}'}\n{'read file ' * (n % 40)}größe {n}"
        for n in range(2 * static.TEXTS_AT_ONCE + 1)
    ]
    together = model.embed(texts)
    assert len(together) == len(texts)
    for row, text in zip(together, texts, strict=True):
        assert np.array_equal(row, model.embed([text])[0])


@given(st.text(max_size=200))
def test_any_text_has_a_finite_vector_of_length_one_or_zero(text: str) -> None:
    model = StaticEmbedding()
    for row in (model.embed([text])[0], model.embed_query(text)[0]):
        assert np.isfinite(row).all()
        assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-4) or not row.any()


def test_it_knows_words_that_mean_the_same(model: StaticEmbedding) -> None:
    code = [
        "store.py\nStore.delete\ndef delete(self, key):\n    self.items.pop(key)\n",
        "net.py\nconnect\ndef connect(host, port):\n    return socket.create(host, port)\n",
        "draw.py\nrender\ndef render(canvas):\n    canvas.paint(self.shapes)\n",
    ]
    rows = model.embed(code)
    for question, best in [
        ("remove an entry", 0),
        ("open a network connection to a server", 1),
        ("show graphics on the screen", 2),
    ]:
        assert int(np.argmax(rows @ model.embed_query(question)[0])) == best, question


def test_a_worker_process_can_be_given_the_provider(model: StaticEmbedding) -> None:
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.embed(["a\nb\nc"]), model.embed(["a\nb\nc"]))


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "static.bin"
    broken.write_bytes(MODEL_FILE.read_bytes()[:-1])
    with pytest.raises(EmbeddingFailed, match=re.escape("cannot be read")):
        StaticEmbedding(broken)
    broken.write_bytes(b"something else")
    with pytest.raises(EmbeddingFailed):
        StaticEmbedding(broken)


@pytest.mark.shows("SEARCH-FINITE")
def test_a_model_whose_weights_are_not_finite_is_refused(tmp_path: Path) -> None:
    ones = np.ones(3, np.float32)
    damaged = np.array([1.0, np.nan, 1.0], np.float32)
    path = tmp_path / "damaged.bin"
    export(
        Model(np.eye(3, 8, dtype=np.float32), ones, damaged, ones), ["a", "b", "c"], "tiny", path
    )
    with pytest.raises(EmbeddingFailed, match="not finite"):
        StaticEmbedding(path).embed(["a.py\n\na b c"])


@pytest.mark.shows("DAMAGE-MODEL")
def test_a_wrong_bit_anywhere_in_a_model_is_noticed(tmp_path: Path) -> None:
    """One flipped bit in the model's file changed vectors and went unnoticed."""
    ones = np.ones(3, np.float32)
    good = tmp_path / "good.bin"
    export(Model(np.eye(3, 8, dtype=np.float32), ones, ones, ones), ["a", "b", "c"], "tiny", good)
    data = good.read_bytes()
    name, rows = StaticEmbedding(good).model, StaticEmbedding(good).embed(["a.py\n\na b c"])
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        path = tmp_path / f"{place}.bin"
        path.write_bytes(flipped)
        try:
            damaged = StaticEmbedding(path)
            found = damaged.embed(["a.py\n\na b c"])
        except EmbeddingFailed:
            continue
        finally:
            path.unlink()
        # Padding, or the name alone: another name is another fingerprint.
        assert np.array_equal(found, rows), place
        assert damaged.model == name or damaged.model.split("-")[-1] == name.split("-")[-1], place
    assert StaticEmbedding(good).model == name


@pytest.mark.shows("DAMAGE-TRUNCATED")
def test_a_model_that_is_truncated_while_it_is_open_is_refused(tmp_path: Path) -> None:
    """Reading behind the end of a mapped file ended the process with SIGBUS."""
    path = tmp_path / "model.bin"
    path.write_bytes(MODEL_FILE.read_bytes())
    model = StaticEmbedding(path)
    model.embed_query("open a file")
    os.truncate(path, path.stat().st_size // 4)
    with pytest.raises(EmbeddingFailed, match="truncated while it was open"):
        model.embed_query("close a socket")
    with pytest.raises(EmbeddingFailed, match="truncated while it was open"):
        model.embed(["a.py\n\nx"])


FORKED = """
import os
from holdfast.index.embedding.static import StaticEmbedding
model = StaticEmbedding()
model.embed_query("what is asked")
if not (child := os.fork()):
    os.closerange(3, 256)
    same = model.embed(["a.py\\nf\\ndef f(): return read(path)"]).any()
    os._exit(0 if same else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def test_a_worker_embeds_with_a_model_that_its_parent_had_open() -> None:
    """A process that had searched could not build: its workers asked a closed file for its size."""
    subprocess.run([sys.executable, "-c", FORKED], check=True)
