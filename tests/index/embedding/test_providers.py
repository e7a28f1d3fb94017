"""Embedding providers: batches that adapt, retries that end, servers that refuse."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest

from holdfast.errors import UsageError
from holdfast.index.embedding.http import HttpEmbedding
from holdfast.index.embedding.provider import BatchTooLarge, TransientFailure, embed_all
from holdfast.index.errors import EmbeddingFailed
from holdfast.index.settings import provider_of


class Scripted:
    """A provider that follows a script; then it serves."""

    name, model, dimension, local = "scripted", "m", 2, False

    def __init__(self, *script: Any, most: int = 10_000) -> None:
        self.script, self.most, self.sizes = list(script), most, []  # type: ignore[var-annotated]

    def embed(self, texts: Sequence[str]) -> Any:
        self.sizes.append(len(texts))
        if self.script:
            step = self.script.pop(0)
            if isinstance(step, Exception):
                raise step
            if step is not None:
                return step
        if len(texts) > self.most:
            raise BatchTooLarge("batch size")
        return np.array([[len(t), 1.0] for t in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Any:
        return self.embed([text])


TEXTS = ["a" * n for n in range(1, 51)]


@pytest.mark.shows("INDEX-EMBEDDING-BATCHES")
def test_a_refused_batch_is_halved_until_it_fits() -> None:
    provider = Scripted(most=10)
    rows = embed_all(provider, TEXTS, batch_texts=40)
    assert rows.shape == (50, 2)
    assert provider.sizes[:3] == [40, 20, 10]
    assert max(provider.sizes[2:]) == 10
    expected = np.array([[n, 1.0] for n in range(1, 51)], dtype=np.float32)
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True))


@pytest.mark.shows("INDEX-EMBEDDING-BATCHES")
def test_a_passing_failure_is_tried_again_a_few_times() -> None:
    waits: list[float] = []
    rows = embed_all(
        Scripted(TransientFailure("busy"), TransientFailure("busy")), TEXTS, sleep=waits.append
    )
    assert len(rows) == 50
    assert waits == [0.5, 1.0]
    with pytest.raises(EmbeddingFailed, match="tried 4 times"):
        embed_all(Scripted(*[TransientFailure("busy")] * 9), TEXTS, sleep=waits.append)


@pytest.mark.shows("INDEX-EMBEDDING-BATCHES", "INDEX-EMBEDDING-FAILS-RUN")
@pytest.mark.parametrize(
    "step",
    [
        RuntimeError("odd"), BatchTooLarge("one text"), np.zeros((1, 2), np.float32),
        np.full((1, 3), 1.0, np.float32), np.full((1, 2), np.nan, np.float32),
    ],
)  # fmt: skip
def test_anything_else_fails_the_run(step: Any) -> None:
    texts = ["x"] if isinstance(step, BatchTooLarge) or step is None else ["x", "y"]
    if isinstance(step, np.ndarray) and np.isnan(step).any():
        texts = ["x"]
    with pytest.raises(EmbeddingFailed):
        embed_all(Scripted(step), texts, sleep=lambda s: None)


@pytest.fixture
def server() -> Iterator[tuple[str, list[Any], list[Any]]]:
    """A server on loopback: what it was asked, and what it shall answer next."""
    asked: list[Any] = []
    answers: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, body, self.headers.get("Authorization")))
            code, answer = answers.pop(0)
            self.send_response(code)
            self.end_headers()
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            return

    listening = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}", asked, answers
    listening.shutdown()
    listening.server_close()
    thread.join()


@pytest.mark.shows("INDEX-EMBEDDING-HTTP")
@pytest.mark.parametrize(
    ("name", "path", "answer"),
    [
        ("openai", "/v1/embeddings",
         {"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [1, 0]}]}),
        ("voyage", "/v1/embeddings",
         {"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [0, 2]}]}),
        ("ollama", "/v1/api/embed", {"embeddings": [[1, 0], [0, 2]]}),
    ],
)  # fmt: skip
def test_each_server_is_spoken_to_in_its_way(
    server: tuple[str, list[Any], list[Any]], name: str, path: str, answer: Any
) -> None:
    url, asked, answers = server
    answers.append((200, answer))
    provider = HttpEmbedding(name, f"{url}/v1", "m", 2, key="secret")
    assert provider.embed(["a", "b"]).tolist() == [[1, 0], [0, 2]]
    where, body, authorization = asked[0]
    assert where == path
    assert (body["model"], body["input"]) == ("m", ["a", "b"])
    assert authorization == "Bearer secret"
    assert body.get("input_type") == ("document" if name == "voyage" else None)


@pytest.mark.shows("INDEX-EMBEDDING-HTTP", "SEARCH-FINITE")
@pytest.mark.parametrize(
    ("code", "answer", "error"),
    [
        (413, "x", BatchTooLarge), (400, {"error": "batch size exceeds maximum"}, BatchTooLarge),
        (429, "x", TransientFailure), (503, "x", TransientFailure),
        (401, "no key", EmbeddingFailed),
        (200, b"not json", EmbeddingFailed), (200, {"data": []}, EmbeddingFailed),
        (200, {"data": [{"index": 0, "embedding": [1, 2, 3]}]}, EmbeddingFailed),
        (200, {"data": [{"index": 0, "embedding": [1, math.nan]}]}, EmbeddingFailed),
        (200, {"data": [{"index": 0, "embedding": [1, -math.inf]}]}, EmbeddingFailed),
    ],
)  # fmt: skip
def test_a_servers_refusals_are_told_apart(
    server: tuple[str, list[Any], list[Any]], code: int, answer: Any, error: type[Exception]
) -> None:
    url, _, answers = server
    answers.append((code, answer))
    with pytest.raises(error):
        HttpEmbedding("openai", url, "m", 2).embed(["a"])


@pytest.mark.shows("INDEX-EMBEDDING-HTTP")
def test_an_unreachable_server_may_pass_and_a_query_fails_plainly() -> None:
    provider = HttpEmbedding("openai", "http://127.0.0.1:9", "m", 2)
    with pytest.raises(TransientFailure):
        provider.embed(["a"])
    with pytest.raises(EmbeddingFailed):
        provider.embed_query("a")


@pytest.mark.shows("INDEX-EMBEDDING-HTTP")
def test_the_environment_chooses_the_provider() -> None:
    assert provider_of({}).name == "static"
    assert provider_of({"HOLDFAST_EMBEDDING": "hashed"}).name == "hashed"
    voyage = provider_of({"HOLDFAST_EMBEDDING": "voyage"})
    assert (voyage.name, voyage.model, voyage.dimension) == ("voyage", "voyage-code-3", 1024)
    own = {"HOLDFAST_EMBEDDING": "ollama", "HOLDFAST_EMBEDDING_MODEL": "mine"}
    with pytest.raises(UsageError, match="vector length of mine"):
        provider_of(own)
    assert provider_of(own | {"HOLDFAST_EMBEDDING_DIMENSION": "12"}).dimension == 12
    with pytest.raises(UsageError):
        provider_of({"HOLDFAST_EMBEDDING": "crystal ball"})
