"""Files of traces: sessions as numbers, one context to a line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def load(path: Path) -> Iterator[dict[str, Any]]:
    """The contexts in a file of traces, one at a time."""
    data = path.read_bytes()
    for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines():
        yield json.loads(line)
