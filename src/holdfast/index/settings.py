"""The code index as the environment asks for it.

HOLDFAST_DATABASE_URL         postgresql://… moves generations to PostgreSQL
HOLDFAST_INDEX_NAMESPACE      whose roots these are on a shared server; default the host's name
HOLDFAST_EMBEDDING            static (default), hashed, openai, ollama, voyage
HOLDFAST_EMBEDDING_URL        the server's address, for openai-compatible servers and ollama
HOLDFAST_EMBEDDING_MODEL      the model's name there
HOLDFAST_EMBEDDING_DIMENSION  its vectors' length, if the model is not a well-known one
OPENAI_API_KEY, VOYAGE_API_KEY
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.errors import UsageError
from holdfast.home import Home
from holdfast.index.code_index import CodeIndex, open_index
from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.generations.model import Backend


def index_of(home: Home, environment: Mapping[str, str]) -> CodeIndex:
    """Open the index of a home, with the settings of an environment."""
    provider = provider_of(environment)
    return open_index(home, provider, backend_of(environment, provider))


def backend_of(environment: Mapping[str, str], provider: EmbeddingProvider) -> Backend | None:
    """PostgreSQL if HOLDFAST_DATABASE_URL is set; None for the embedded backend."""
    url = environment.get("HOLDFAST_DATABASE_URL", "")
    if not url:
        return None
    if not url.startswith(("postgresql://", "postgres://")):
        raise UsageError(
            f"HOLDFAST_DATABASE_URL must start with postgresql:// (got {url.split('@')[-1]})",
            hint="unset it to keep the index in SQLite",
        )
    import socket

    from holdfast.index.generations.postgres.backend import PostgresBackend

    namespace = environment.get("HOLDFAST_INDEX_NAMESPACE") or socket.gethostname()
    return PostgresBackend(url, provider.dimension, namespace)


def provider_of(environment: Mapping[str, str]) -> EmbeddingProvider:
    name = environment.get("HOLDFAST_EMBEDDING", "static")
    if name == "static":
        from holdfast.index.embedding.static import StaticEmbedding

        return StaticEmbedding()
    if name == "hashed":
        from holdfast.index.embedding.hashed import HashedEmbedding

        return HashedEmbedding()
    from holdfast.index.embedding.http import DIMENSIONS, HttpEmbedding

    defaults = {
        "openai": ("https://api.openai.com/v1", "text-embedding-3-small", "OPENAI_API_KEY"),
        "ollama": ("http://127.0.0.1:11434", "nomic-embed-text", ""),
        "voyage": ("https://api.voyageai.com/v1", "voyage-code-3", "VOYAGE_API_KEY"),
    }
    if name not in defaults:
        raise UsageError(
            f"unknown HOLDFAST_EMBEDDING {name!r}",
            hint=f"use one of: static, hashed, {', '.join(defaults)}",
        )
    url, model, key_name = defaults[name]
    model = environment.get("HOLDFAST_EMBEDDING_MODEL", model)
    length = environment.get("HOLDFAST_EMBEDDING_DIMENSION", "")
    if length and not length.isdigit():
        raise UsageError(
            f"HOLDFAST_EMBEDDING_DIMENSION must be a positive integer (got {length!r})"
        )
    dimension = int(length) if length else DIMENSIONS.get(model, 0)
    if not dimension:
        raise UsageError(
            f"the vector length of {model} is unknown",
            hint="set HOLDFAST_EMBEDDING_DIMENSION",
        )
    return HttpEmbedding(
        name,
        environment.get("HOLDFAST_EMBEDDING_URL", url),
        model,
        dimension,
        environment.get(key_name, "") if key_name else "",
    )
