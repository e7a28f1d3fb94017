"""The dependencies of a build."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast import system
from holdfast.index.building.content_cache import ContentCache
from holdfast.index.building.prepare import Extract
from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.model import Backend
from holdfast.index.shared.work import SharedIndex

CHUNKS_MAX = 450_000


def extractor_name(extract: Extract) -> str:
    return f"{extract.__module__}.{getattr(extract, '__qualname__', '')}"


@dataclass(frozen=True, slots=True)
class BuildTools:
    """The dependencies of a build: backend, embedding, extractor, cache and clocks."""

    backend: Backend
    provider: EmbeddingProvider
    extract: Extract
    content: ContentCache
    fingerprint: Fingerprint
    now_ns: Callable[[], int]
    today: Callable[[], str]
    processes: int | None = None
    chunks_max: int = CHUNKS_MAX
    shared: SharedIndex | None = None
    """The team's shared index, if the settings name one."""
    monotonic: Callable[[], float] = system.monotonic

    @property
    def maker(self) -> str:
        """What prepared files depend on besides their content; part of their cache keys."""
        provider = self.provider
        return (
            f"{extractor_name(self.extract)}/{provider.name}/{provider.model}/{provider.dimension}"
        )
