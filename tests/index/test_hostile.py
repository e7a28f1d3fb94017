"""Trees that mean harm, indexed with the real parser."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.index.code_index import open_index, run_here
from holdfast.index.generations.marker import MARKER_KIND
from tests.index.wire import file_outline, manage_index, search_code

MANY = 100_000 if os.environ.get("HOLDFAST_SOAK") else 2_000


@pytest.mark.long
@pytest.mark.shows("INDEX-HOSTILE")
def test_a_hostile_tree_is_indexed_without_harm(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "repo"
    (root / "many").mkdir(parents=True)
    for number in range(MANY):
        (root / "many" / f"m{number}.py").write_text(f"x{number} = 1\n")
    with (root / "huge.py").open("wb") as file:
        file.truncate(500 * 1024 * 1024)
    (root / "loop").symlink_to(root)
    (root / "line\nbreak.py").write_text("def broken_line_name(): ...\n")
    Path(os.fsdecode(os.fsencode(root) + b"/bad\xff.py")).write_text("x = 1\n")
    (root / "latin.py").write_bytes("def café(): ...\n".encode("latin-1"))
    (root / "bundle.js").write_text("var a=1;" * 50_000)
    (root / "nested.py").write_text("(\n" * 5_000 + ")\n" * 5_000)
    (root / "brackets.json").write_text("[\n" * 100_000)
    (root / "binary.py").write_bytes(bytes(range(256)) * 10)
    (root / "bom.py").write_bytes(b"\xef\xbb\xbfdef with_bom(): ...\n")
    (root / "empty.py").write_bytes(b"")
    (root / "half.py").write_text("def whole(): ...\nclass {{{ def (\n")
    index = open_index(tmp_path / "home")
    index.start = run_here
    answer: Any = manage_index(index, "create", str(root))
    assert answer["status"] == "ok"
    status: Any = manage_index(index, "status", str(root))
    assert status["status"] == "ok", status
    for query, where in (
        ("broken_line_name", "line\nbreak.py"), ("with_bom", "bom.py"), ("whole", "half.py"),
    ):  # fmt: skip
        found: Any = search_code(index, str(root), query)
        assert found["results"][0]["file"] == where
        assert json.loads(json.dumps(found)) == found
    with index.backend.reader(str(root)) as reader:
        assert reader.problems() == {"binary.py": "binary", "bundle.js": "minified"}
        assert reader.totals().files == MANY + 9
    outline: Any = file_outline(index, str(root), "half.py")
    assert outline["status"] == "ok"
    assert manage_index(index, "sync", str(root))["status"] == "ok"
    index.close()


@pytest.mark.shows("INDEX-MARKER-FORMAT")
def test_the_marker_has_this_shape() -> None:
    """Change the shape and you need a new MARKER_KIND."""
    from holdfast.index.generations.fingerprint import Fingerprint
    from holdfast.index.generations.marker import Marker, encode

    assert MARKER_KIND == "holdfast_index_completion_v1"
    marker = Marker("/r", Fingerprint("p", "m", 1, "s", "v"), 2, 3, "2026-01-01T00:00:00Z", "run")
    assert json.loads(encode(marker)) == {
        "kind": MARKER_KIND, "codebasePath": "/r", "indexedFiles": 2, "totalChunks": 3,
        "completedAt": "2026-01-01T00:00:00Z", "runId": "run", "generation": 0,
        "indexStatus": "completed",
        "fingerprint": {
            "embeddingProvider": "p", "embeddingModel": "m", "embeddingDimension": 1,
            "vectorStoreProvider": "s", "schemaVersion": "v",
        },
    }  # fmt: skip
