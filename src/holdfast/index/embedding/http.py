"""Embeddings from a server: OpenAI-compatible endpoints, Ollama, Voyage.

Used only when the user configures one. A server's errors are mapped to three kinds: the batch is
too large, the failure is transient, or it is permanent. Keys come from the environment and are sent
only to that server.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.index.embedding.provider import BatchTooLarge, TransientFailure, finite, normalised
from holdfast.index.errors import EmbeddingFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

TIMEOUT_S = 60.0
DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "all-minilm": 384,
    "voyage-code-3": 1024,
    "voyage-3.5": 1024,
    "voyage-3-large": 1024,
}
"""Vector lengths of well-known models, so that they need not be configured."""

Post = Callable[[str, dict[str, str], bytes], bytes]


def post(url: str, headers: dict[str, str], body: bytes) -> bytes:
    """Send one request; maps transport errors and status codes to the kinds of failure."""
    if not url.startswith(("http://", "https://")):
        raise EmbeddingFailed(url, "not an http address")
    request = urllib.request.Request(url, body, headers)  # noqa: S310  (checked just above)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            answer: bytes = response.read()
            return answer
    except urllib.error.HTTPError as error:
        text = error.read(2000).decode("utf-8", "replace")
        if error.code == 413 or (error.code == 400 and _too_much(text)):
            raise BatchTooLarge(text[:200]) from error
        if error.code in (408, 409, 425, 429) or error.code >= 500:
            raise TransientFailure(f"HTTP {error.code}") from error
        raise EmbeddingFailed(url, f"HTTP {error.code}: {text[:200]}") from error
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise TransientFailure(str(error)) from error


def _too_much(text: str) -> bool:
    lowered = text.lower()
    return any(
        word in lowered for word in ("batch size", "too many", "maximum", "too large", "too long")
    )


class HttpEmbedding:
    """An embedding server; `name` selects its API."""

    local = False

    def __init__(
        self,
        name: str,
        base_url: str,
        model: str,
        dimension: int,
        key: str = "",
        send: Post = post,
    ) -> None:
        self.name, self.model, self.dimension = name, model, dimension
        self._base_url, self._key, self._send = base_url.rstrip("/"), key, send

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._ask(list(texts), "document")

    def embed_query(self, text: str) -> Vectors:
        try:
            return normalised(self._ask([text], "query"))
        except (TransientFailure, BatchTooLarge) as error:
            raise EmbeddingFailed(self.name, str(error)) from error

    def _ask(self, texts: list[str], purpose: str) -> Vectors:
        import numpy as np

        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body: dict[str, object] = {"model": self.model, "input": texts}
        if self.name == "ollama":
            url = f"{self._base_url}/api/embed"
        else:
            url = f"{self._base_url}/embeddings"
        if self.name == "voyage":
            body["input_type"] = purpose
        answer = self._send(url, headers, json.dumps(body).encode())
        try:
            rows = _rows(self.name, json.loads(answer))
            vectors = np.asarray(rows, dtype=np.float32)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise EmbeddingFailed(self.name, f"unexpected response: {error}") from error
        if vectors.shape != (len(texts), self.dimension):
            raise EmbeddingFailed(
                self.name,
                f"expected {len(texts)} vectors of length {self.dimension}, got {vectors.shape}",
                hint="set HOLDFAST_EMBEDDING_DIMENSION to the model's dimension",
            )
        return finite(self.name, vectors)


def _rows(name: str, answer: Any) -> list[list[float]]:
    if name == "ollama":
        return list(answer["embeddings"])
    # A server may answer in any order; `index` says which text a row belongs to.
    return [row["embedding"] for row in sorted(answer["data"], key=lambda row: row["index"])]
