"""The code index as the environment asks for it.

HOLDFAST_INDEX_URL            postgresql://… or http(s)://…, where a team shares its work
HOLDFAST_INDEX_TOKEN          the token of that server
HOLDFAST_INDEX_SECRET         shared rows count only if they were made with the same secret
HOLDFAST_INDEX_NAMESPACE      also keep this home's generations on that PostgreSQL, under this name
HOLDFAST_EMBEDDING            static (default), hashed, openai, ollama, voyage
HOLDFAST_EMBEDDING_URL        the server's address, for openai-compatible servers and ollama
HOLDFAST_EMBEDDING_MODEL      the model's name there
HOLDFAST_EMBEDDING_DIMENSION  its vectors' length, if the model is not a well-known one
HOLDFAST_INDEX_MEMORY_MB      what a build may use, all its processes together; default 800, or
                              an eighth of the machine's memory if that is more
HOLDFAST_INDEX_CHUNKS_MAX     how many chunks a tree may have; files beyond are left out, and the
                              index says so; default 450,000
HOLDFAST_INDEX_CACHE_MB       the size of the cache of prepared files, 0 for none; default what
                              indexes leave of 2.5 times the source, 8 to 256
HOLDFAST_INDEX_SHARED_MB      how much shared work is kept; the least recently used goes; no limit
OPENAI_API_KEY, VOYAGE_API_KEY
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from holdfast.errors import UsageError
from holdfast.home import Home
from holdfast.index.code_index import CodeIndex, open_index
from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.generations.model import Backend

if TYPE_CHECKING:
    from holdfast.index.shared.work import SharedIndex

MEMORY_MB_MIN = 300
"""The least that a build in one process needs."""


def index_of(home: Home, environment: Mapping[str, str]) -> CodeIndex:
    """Open the index of a home, with the settings of an environment."""
    provider = provider_of(environment)
    cache = _whole_number(environment, "HOLDFAST_INDEX_CACHE_MB", 0)
    memory = _whole_number(environment, "HOLDFAST_INDEX_MEMORY_MB", MEMORY_MB_MIN)
    index = open_index(
        home,
        provider,
        backend_of(environment, provider),
        cache_bytes_max=None if cache is None else cache << 20,
    )
    index.memory_bytes_max = None if memory is None else memory << 20
    index.chunks_max = _whole_number(environment, "HOLDFAST_INDEX_CHUNKS_MAX", 1)
    shared = shared_of(environment)
    if shared is not None or home.index_team.exists():
        index.join_team(home.index_team, shared)
    return index


def _whole_number(environment: Mapping[str, str], name: str, least: int) -> int | None:
    """A setting that is a number; None if it is not set."""
    text = environment.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or int(text) < least:
        raise UsageError(f"{name} must be a whole number of at least {least} (got {text!r})")
    return int(text)


def shared_bytes_max(environment: Mapping[str, str]) -> int | None:
    """How much shared work is kept, in bytes; None for no limit."""
    limit = _whole_number(environment, "HOLDFAST_INDEX_SHARED_MB", 1)
    return None if limit is None else limit << 20


def shared_of(environment: Mapping[str, str]) -> SharedIndex | None:
    """The team's shared index, if HOLDFAST_INDEX_URL is set; does not connect yet."""
    url = environment.get("HOLDFAST_INDEX_URL", "")
    if not url:
        return None
    from holdfast.index.shared.rows import Seal
    from holdfast.index.shared.work import SharedIndex

    seal = Seal(environment.get("HOLDFAST_INDEX_SECRET", ""))
    if is_postgresql(url):
        from holdfast.index.shared.postgres import PostgresShared

        return SharedIndex(PostgresShared(url, bytes_max=shared_bytes_max(environment)), seal)
    if url.startswith(("http://", "https://")):
        from holdfast.index.shared.http import HttpShared

        return SharedIndex(HttpShared(url, environment.get("HOLDFAST_INDEX_TOKEN", "")), seal)
    raise UsageError(
        "HOLDFAST_INDEX_URL must start with postgresql://, http:// or https:// "
        f"(got {url.split('@')[-1]})",
        hint="unset it to share nothing",
    )


def backend_of(environment: Mapping[str, str], provider: EmbeddingProvider) -> Backend | None:
    """PostgreSQL if HOLDFAST_INDEX_NAMESPACE asks for it; None for the embedded backend."""
    namespace = environment.get("HOLDFAST_INDEX_NAMESPACE", "")
    if not namespace:
        return None
    url = environment.get("HOLDFAST_INDEX_URL", "")
    if not is_postgresql(url):
        raise UsageError(
            "HOLDFAST_INDEX_NAMESPACE needs a HOLDFAST_INDEX_URL that starts with postgresql://",
            hint="unset it to keep this home's indexes in SQLite",
        )
    from holdfast.index.generations.postgres.backend import PostgresBackend

    return PostgresBackend(url, provider.dimension, namespace)


def is_postgresql(url: str) -> bool:
    return url.startswith(("postgresql://", "postgres://"))


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
