"""The completion marker: the record that proves that a generation is complete.

It is written last, in the transaction that publishes the generation, so it exists only if
everything it describes does. Rows in the backend alone prove nothing.
"""

from __future__ import annotations

import json

import msgspec

from holdfast.index.generations.fingerprint import Fingerprint

MARKER_KIND = "holdfast_index_completion_v1"
"""The marker's kind and version.

- v1: kind, codebasePath, fingerprint, indexedFiles, totalChunks, completedAt, runId, and the
  optional generation, indexStatus.
"""

COMPLETED = "completed"
LIMIT_REACHED = "limit_reached"


class Marker(msgspec.Struct, frozen=True):
    """A complete generation: its root, settings and totals. `codebase_path` is a canonical root."""

    codebase_path: str
    fingerprint: Fingerprint
    indexed_files: int
    total_chunks: int
    completed_at: str
    run_id: str
    generation: int = 0
    index_status: str = COMPLETED


def encode(marker: Marker) -> str:
    return json.dumps(
        {
            "kind": MARKER_KIND,
            "codebasePath": marker.codebase_path,
            "fingerprint": marker.fingerprint.to_wire(),
            "indexedFiles": marker.indexed_files,
            "totalChunks": marker.total_chunks,
            "completedAt": marker.completed_at,
            "runId": marker.run_id,
            "generation": marker.generation,
            "indexStatus": marker.index_status,
        },
        sort_keys=True,
    )
