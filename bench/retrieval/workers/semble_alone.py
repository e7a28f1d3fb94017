"""semble in a separate environment. Run as a file; imports nothing from this project.

With `model` false its dense lane is switched off (alpha 0), and a placeholder replaces the model,
which semble would download otherwise.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any


def processor_s() -> float:
    own, others = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


class NoModel:
    """A placeholder model: the same vector for every text."""

    dim = 2

    def encode(self, texts: Any, **_options: Any) -> Any:
        import numpy

        one = isinstance(texts, str)
        rows = numpy.ones((1 if one else len(texts), 2), dtype=numpy.float32)
        return rows[0] if one else rows


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    module: Any = importlib.import_module("semble.index.index")

    if not job["model"]:
        module.load_model = lambda _path=None: (NoModel(), "none")
    wall, spent = time.perf_counter(), processor_s()
    index = module.SembleIndex.from_path(job["root"])
    found: dict[str, Any] = {
        "index_s": time.perf_counter() - wall,
        "index_cpu_s": processor_s() - spent,
        "chunks": len(index.chunks),
        "answers": [],
        "latency_ms": [],
    }
    alpha = None if job["model"] else 0.0
    for text in job["queries"]:
        places = []
        for result in index.search(text, top_k=job["limit"], alpha=alpha):
            chunk = result.chunk
            shown = f"{chunk.file_path}:{chunk.start_line}-{chunk.end_line}\n{chunk.content}\n"
            places.append(
                {
                    "path": chunk.file_path,
                    "start": chunk.start_line,
                    "end": chunk.end_line,
                    "tokens": -(-len(shown.encode("utf-8", "surrogatepass")) // 4),
                }
            )
        found["answers"].append(places)
    for text in job["queries"][: job.get("timed")]:
        start = time.perf_counter()
        index.search(text, top_k=10, alpha=alpha)
        found["latency_ms"].append((time.perf_counter() - start) * 1000)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["resident_mb"] = found["peak_mb"] = peak
    Path(sys.argv[2]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
