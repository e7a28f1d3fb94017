"""A repository with clones, and machines that index them: each with a home of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.files.edited_files import EditedFiles
from holdfast.index.building.prepare import extract_facts
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.facts.model import FileFacts
from holdfast.index.shared.rows import Seal
from holdfast.index.shared.store import SharedStore, SharedUnavailable
from holdfast.index.shared.work import SharedIndex
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.search import search_code
from tests.files.hostile_git import git
from tests.index.world import FILES

MORE = {
    f"src/part{n}.py": f"from cart import add_item\n\ndef part{n}(x):\n    add_item(x, {n})\n"
    for n in range(6)
}


def made_repository(root: Path, files: Mapping[str, str] | None = None) -> Path:
    for name, text in (files or {**FILES, **MORE}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "begin")
    git(root, "remote", "add", "origin", "git@example.org:team/shop.git")
    return root


def clone(root: Path, target: Path) -> Path:
    git(root.parent, "clone", "-q", str(root), str(target))
    return target


MACHINES: list[Machine] = []
"""Those of the current test."""


class Machine:
    """A home with an index; counts the files whose facts it had to make."""

    def __init__(self, home: Path, store: SharedStore | None, secret: str = "") -> None:
        self.extracted: list[str] = []
        self.index: CodeIndex = open_index(home, HashedEmbedding())
        self.index.start, self.index.processes = run_here, 1
        self.index.extract = self._extract
        # Git is asked before the answer, so that every machine knows the same.
        self.index.edited = EditedFiles(start=lambda job: job())
        MACHINES.append(self)
        if store is not None:
            self.index.shared = SharedIndex(store, Seal(secret))

    def _extract(self, path: str, source: bytes) -> FileFacts:
        self.extracted.append(path)
        return extract_facts(path, source)

    def create(self, root: Path) -> str:
        answer = manage_index(self.index, "create", str(root))
        assert answer.status == "ok", answer.human_text
        return manage_index(self.index, "status", str(root)).human_text

    def search(self, root: Path, query: str) -> list[dict[str, Any]]:
        """The results, without when they were indexed."""
        results = search_code(self.index, str(root), query).to_wire()["results"]
        return [{k: v for k, v in one.items() if k != "indexedAt"} for one in results]


class MemoryRows:
    """The simplest store: the twin of the real ones."""

    name = "memory"

    def __init__(self) -> None:
        self.rows: dict[bytes, bytes] = {}
        self.asked = 0
        self.fails = ""

    def _maybe_fail(self) -> None:
        if self.fails:
            raise SharedUnavailable(self.fails)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        self._maybe_fail()
        self.asked += 1
        return {key: self.rows[key] for key in keys if key in self.rows}

    def has(self, keys: Sequence[bytes]) -> frozenset[bytes]:
        self._maybe_fail()
        return frozenset(key for key in keys if key in self.rows)

    def put(self, rows: Iterable[tuple[bytes, bytes]], *, replace: bool = False) -> None:
        self._maybe_fail()
        for key, data in rows:
            if replace or key not in self.rows:
                self.rows[key] = data

    def ping(self) -> None:
        self._maybe_fail()

    def close(self) -> None: ...
