"""A folder of agents' session files, as whole conversations; `.gz` files too."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from holdfast.reading.history.readers import contexts_in
from holdfast.reading.history.steps import Context


def load(folder: Path) -> Iterator[Context]:
    for path in sorted(folder.iterdir()):
        if path.name.endswith((".jsonl", ".json", ".jsonl.gz")):
            data = path.read_bytes()
            raw = gzip.decompress(data) if path.suffix == ".gz" else data
            yield from contexts_in(raw, path.name.partition(".")[0])
