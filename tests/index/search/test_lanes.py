"""Every lane through the tool itself, while files change: against grep, and against another index.

Two trees have the same files all along. One is indexed in the embedded backend and synced at some
moments, the other on a server and at other moments, so that what one has stored the other reads
from memory. What they answer is the same, and what a pattern finds is what grep finds.
from tests.scale import examples
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.files.policy import unfit
from holdfast.index.building.prepare import extract_facts
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.generations.postgres.backend import PostgresBackend
from tests.index.wire import manage_index, search_code
from tests.index.world import FILES, World
from tests.postgres import PostgresServer
from tests.scale import examples

numbers = itertools.count()
paths = st.sampled_from(
    ["a.py", "b.py", "src/a.py", "src/x/c.js", "lib/d.go", "docs/e.md", "odd name.py", "Z.py"]
)
pieces = st.sampled_from(
    [
        "def alpha(cart):\n    return cart.total\n\n", "class Ärger:\n    def Öffnen(self): ...\n",
        "# total of the cart\n", "x = 'needle'\r\n", "====\n", "\n\n", "    return beta(1)\n",
        "func Total() int {\n\treturn 1\n}\n", "function beta(total) { return total; }\n",
        "# Paying\n\nHow a cart is paid for.\n", "y" * 9_000 + "needle\n", "\x0c\n", "end\r",
    ]
)  # fmt: skip
texts = st.lists(pieces, max_size=8).map("".join)
edits = st.lists(st.tuples(paths, st.none() | texts), max_size=4)
patterns = st.sampled_from(
    [
        "total",
        "needle",
        "^def",
        r"\)$",
        "^$",
        "(?i)ärger",
        "=+$",
        r"\x0c",
        "d$",
        r"cart\.\w+",
        "y{9}",
    ]
)
asked: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.one_of(
    patterns.map(lambda pattern: (f're:"{pattern}"', {})),
    st.sampled_from(
        [
            ("total of the cart", {}), ("alpha", {}), ("sym:Öffnen", {}), ("sym:alpha", {}),
            ("must:needle", {}), ("must:total exclude:cart", {}), ("cart lang:python", {}),
            ("re:total total", {}), ("paid", {"scope": "mixed"}), ("total", {"group_by": "file"}),
            ("", {"snippet": "def alpha(cart):\n    return cart.total\n"}),
            ("====", {}), ("total -path:src/", {"result_mode": "raw"}),
        ]
    ),
)  # fmt: skip
steps = st.lists(st.tuples(edits, st.booleans(), st.booleans(), asked), min_size=1, max_size=4)


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[PostgresBackend]:
    backend = PostgresBackend(postgres.url, HashedEmbedding().dimension, f"lanes {next(numbers)}")
    yield backend
    backend.close()


def answers(world: World, query: str, more: dict[str, Any]) -> tuple[list[Any], Any]:
    """All results of all pages, without what is different between two trees; and the counts."""
    world.index.freshness.forget(world.root)
    found: list[Any] = []
    cursor = None
    while True:
        answer: Any = search_code(
            world.index, world.root, query, limit=3, debug=True, cursor=cursor, **more
        )
        assert answer["status"] == "ok"
        for result in answer["results"]:
            for name in ("indexedAt", "stalenessBucket", "next"):
                result.pop(name, None)
            found.append(result)
        if "continuation" not in answer:
            counts = answer["counts"]
            assert counts["to"] == counts["total"] == len(found)
            return found, {name: counts.get(name) for name in ("complete", "matchedLines")}
        cursor = answer["continuation"]["cursor"]


def grep(root: Path, pattern: str) -> set[tuple[str, int]]:
    found = set()
    for file in root.rglob("*"):
        if file.is_file() and unfit(file.read_bytes()) is None:
            lines = file.read_bytes().decode().split("\n")
            if lines[-1] == "":
                lines.pop()
            for number, line in enumerate(lines, 1):
                if re.search(pattern, line.removesuffix("\r"), re.MULTILINE):
                    found.add((file.relative_to(root).as_posix(), number))
    return found


@pytest.mark.shows("SEARCH-BACKENDS-EQUAL", "SEARCH-OVERLAY-TWIN", "ANSWER-RE", "ANSWER-PAGES")
@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps)
def test_every_lane_answers_alike_whatever_was_synced_and_where(
    tmp_path_factory: pytest.TempPathFactory, server: PostgresBackend, made: list[Any]
) -> None:
    here = World(tmp_path_factory.mktemp("here"))
    there = World(tmp_path_factory.mktemp("there"), server)
    try:
        for world in (here, there):
            world.index.extract = extract_facts
            assert manage_index(world.index, "create", world.root)["status"] == "ok"
        for changes, sync_here, sync_there, (query, more) in made:
            for path, text in changes:
                for world in (here, there):
                    if text is not None:
                        world.write(path, text)
                    elif path not in FILES:
                        (world.tree / path).unlink(missing_ok=True)
            for world, sync in ((here, sync_here), (there, sync_there)):
                if sync:
                    assert manage_index(world.index, "sync", world.root)["status"] == "ok"
            one, other = answers(here, query, more), answers(there, query, more)
            assert one == other
            if query.startswith('re:"'):
                results, counts = answers(here, query, {"scope": "mixed", "result_mode": "raw"})
                lines = {(r["file"], m["line"]) for r in results for m in r["matches"]}
                assert lines == grep(here.tree, query[4:-1])
                assert counts == {"complete": True, "matchedLines": len(lines)}
    finally:
        manage_index(there.index, "clear", there.root)
        here.close()
        there.index.content.close()
