"""The settings an index was made with: five values that must all agree.

Vectors of two models cannot be compared, and rows of two schemas differ in meaning. So a generation
carries the fingerprint of its settings, and an index is served only when that equals the
fingerprint of the current settings.
"""

from __future__ import annotations

import msgspec

SCHEMA_VERSION = "holdfast_hybrid_v2"
"""Changes with the meaning of stored rows.

- holdfast_hybrid_v1: facts, identifier-split postings and one vector per chunk.
- holdfast_hybrid_v2: postings by field with stems, vectors at one byte per dimension.
"""


class Fingerprint(msgspec.Struct, frozen=True):
    """The settings an index depends on."""

    embedding_provider: str
    embedding_model: str
    embedding_dimension: int
    vector_store_provider: str
    schema_version: str = SCHEMA_VERSION

    def to_wire(self) -> dict[str, object]:
        return {
            "embeddingProvider": self.embedding_provider,
            "embeddingModel": self.embedding_model,
            "embeddingDimension": self.embedding_dimension,
            "vectorStoreProvider": self.vector_store_provider,
            "schemaVersion": self.schema_version,
        }

    def __str__(self) -> str:
        return "/".join(str(value) for value in self.to_wire().values())

    def differences(self, runtime: Fingerprint) -> str:
        """A sentence on how an index with this fingerprint differs from the current settings."""
        parts = []
        if self.schema_version != runtime.schema_version:
            parts.append("it has the format of another version of Holdfast")
        made, wanted = (
            f"{one.embedding_provider} {one.embedding_model} ({one.embedding_dimension} numbers)"
            for one in (self, runtime)
        )
        if made != wanted:
            parts.append(f"it was made with the embedding {made}, and {wanted} is set now")
        if self.vector_store_provider != runtime.vector_store_provider:
            parts.append(
                f"it is kept by {self.vector_store_provider}, and "
                f"{runtime.vector_store_provider} is set now"
            )
        return "; ".join(parts)


def from_wire(value: object) -> Fingerprint | None:
    """The fingerprint in a JSON value; None when it is not one."""
    if not isinstance(value, dict):
        return None
    texts = []
    for name in ("embeddingProvider", "embeddingModel", "vectorStoreProvider", "schemaVersion"):
        text = value.get(name)
        if not isinstance(text, str) or not text.strip():
            return None
        texts.append(text)
    dimension = value.get("embeddingDimension")
    if not isinstance(dimension, int) or isinstance(dimension, bool) or dimension < 0:
        return None
    provider, model, store, schema = texts
    return Fingerprint(provider, model, dimension, store, schema)
