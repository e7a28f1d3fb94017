"""Bits flipped at random in the files of an index, and what the tools make of them.

`campaign(flips, seed)` builds a small tree, its index and its token segments once. Each round
copies the home, flips bits in one kind of file, and asks every tool in a process state of its own.
The answers of the undamaged home judge the outcome:

    same        every answer is what it was
    rebuilt     a tool refused, and `create` (or the next `locate`) made the answers what they were
    refused     a tool refused, or said that it answers without the model, and nothing was rebuilt

Anything else is `wrong`, with its turn and error: a wrong answer, or an exception that is not ours.
A call that hangs ends the process with its stack.
"""

from __future__ import annotations

import faulthandler
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.embedding import static
from holdfast.index.embedding.static import MODEL_FILE, StaticEmbedding
from holdfast.sequence.segment_store import SegmentStore, document_facts
from holdfast.sequence.suffix.backends import SuffixBackend
from holdfast.sequence.suffix.stream import Document
from tests.index.wire import (
    call_graph,
    file_outline,
    list_codebases,
    manage_index,
    search_code,
)
from tests.index.world import FILES, is_link_segment

Outcomes = dict[str, dict[str, int]]
HANG_S = 120
BITS_MAX = 6
"""A round flips one bit, or up to this many."""

KINDS = (
    "index file", "posting segment", "link segment", "content cache", "model", "registry",
    "token segment", "segment manifest",
)  # fmt: skip
_REFUSED = ("not_indexed", "requires_reindex", "error", "blocked", "not_ready")


class WronglyBelieved(AssertionError):
    """Raised when damage changed an answer."""


def campaign(flips: int, seed: int) -> Outcomes:
    """Flip bits in this many rounds; returns how often each outcome was seen, by kind of file."""
    chance = random.Random(seed)
    found: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    with tempfile.TemporaryDirectory() as directory:
        world = _World(Path(directory).resolve())
        for turn in range(flips):
            kind = KINDS[turn % len(KINDS)]
            faulthandler.dump_traceback_later(HANG_S, exit=True)
            try:
                outcome = world.round(kind, chance)
            except Exception as error:
                outcome = f"wrong in turn {turn} of seed {seed}: {error!r}"
            finally:
                faulthandler.cancel_dump_traceback_later()
            found[kind][outcome] += 1
    return {kind: dict(sorted(counts.items())) for kind, counts in found.items()}


class _World:
    def __init__(self, directory: Path) -> None:
        self._tree, self._good = directory / "repo", directory / "good"
        self._home = directory / "home"
        self._model = directory / "static.bin"
        shutil.copyfile(MODEL_FILE, self._model)
        self._model_is_sound = True
        for name, text in FILES.items():
            path = self._tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            os.utime(path, (1_700_000_000, 1_700_000_000))
        with self._index(self._good) as index:
            self._create(index)
        self._located(self._good)
        self._restore()
        self._before = self._answers()
        self._sequence = self._located(self._home)

    def round(self, kind: str, chance: random.Random) -> str:
        """Damage one file of a fresh home, ask, and tell the outcome."""
        self._restore()
        self._model_is_sound = kind != "model"
        path = chance.choice(self._files(kind))
        flips = _flip(path, chance)
        try:
            if kind in ("token segment", "segment manifest"):
                return self._judge_sequence()
            return self._judge_index(kind)
        finally:
            if kind == "model":
                _flip_back(path, flips)
                static.read_header.cache_clear()
                static._load.cache_clear()

    def _files(self, kind: str) -> list[Path]:
        home = self._home
        sequence = sorted((home / "sequence").rglob("*.segment"))
        segments = sorted((home / "index" / "roots").glob("*.segments/*"))
        return {
            "index file": sorted((home / "index" / "roots").glob("*.sqlite")),
            "posting segment": [file for file in segments if not is_link_segment(file)],
            "link segment": [file for file in segments if is_link_segment(file)],
            "content cache": [home / "index" / "content.sqlite"],
            "model": [self._model],
            "registry": [home / "index" / "registry.json"],
            "token segment": sequence,
            "segment manifest": sorted((home / "sequence").rglob("manifest.json")),
        }[kind]

    def _restore(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)
        shutil.copytree(self._good, self._home)

    # The index.

    @contextmanager
    def _index(self, home: Path) -> Iterator[CodeIndex]:
        if not self._model_is_sound:
            # The model is loaded anew, as by another process.
            static.read_header.cache_clear()
            static._load.cache_clear()
        index = open_index(home, StaticEmbedding(self._model))
        index.start = run_here
        try:
            yield index
        finally:
            index.close()

    def _create(self, index: CodeIndex, **options: Any) -> dict[str, Any]:
        return manage_index(index, "create", str(self._tree), **options)

    def _answers(self) -> dict[str, Any]:
        """What each tool answers: the parts that may not change."""
        root = str(self._tree)
        asked: dict[str, Callable[[CodeIndex], dict[str, Any]]] = {
            "search": lambda index: search_code(index, root, "total price of a cart"),
            "exact": lambda index: search_code(index, root, "re:price_\\w+"),
            "symbol": lambda index: search_code(index, root, "sym:pay"),
            "outline": lambda index: file_outline(index, root, "src/cart.py"),
            "calls": lambda index: call_graph(
                index, root, {"file": "src/cart.py", "symbolLabel": "total_price"}
            ),
            "status": lambda index: manage_index(index, "status", root),
            "list": list_codebases,
        }
        found = {}
        for name, ask in asked.items():
            try:
                with self._index(self._home) as index:
                    found[name] = _essence(ask(index))
            except HoldfastError as error:
                found[name] = {"status": "error", "said": str(error)}
        return found

    def _judge_index(self, kind: str) -> str:
        refused = False
        for name, answer in self._answers().items():
            if answer == self._before[name]:
                continue
            if not _refuses(name, answer) and not _says_damaged(answer):
                raise WronglyBelieved(f"{name}: {answer} instead of {self._before[name]}")
            refused = True
        if kind == "model":
            return "refused" if refused else "same"
        # A rebuild takes what it can from the content cache, so it shows damage there.
        mended = self._rebuild(forced=kind == "content cache" or not refused)
        if mended is None:
            return "refused"
        for name, answer in mended.items():
            if answer != self._before[name]:
                raise WronglyBelieved(f"{name} after a rebuild: {answer}")
        return "rebuilt" if refused else "same"

    def _rebuild(self, forced: bool) -> dict[str, Any] | None:
        """The answers after `create`; None if it is refused."""
        try:
            with self._index(self._home) as index:
                index.registry.set_aside()
                self._create(index, force=forced)
                if manage_index(index, "status", str(self._tree))["status"] != "ok":
                    return None
        except HoldfastError:
            return None
        return self._answers()

    # Token segments.

    def _located(self, home: Path) -> Any:
        """What the token segments say, after they were brought up to date."""
        directory = SegmentStore.directory_of(home / "sequence", self._tree)
        store = SegmentStore(directory, backend=SuffixBackend.PURE)
        known = store.known()
        documents = []
        for name in FILES:
            data = (self._tree / name).read_bytes()
            if known.get(name) != (len(data), 1):
                documents.append(Document(document_facts(name, len(data), 1, data), data))
        corpus = store.refresh(documents, [], taken_ns=1)
        return (
            sorted(store.known().items()),
            [
                sorted(str(place.span()) for place in corpus.find(text.split()).occurrences())
                for text in (b"return total_price ( cart )", b"def pay (", b"def lookup ( item")
            ],
            bool(documents),
        )

    def _judge_sequence(self) -> str:
        *said, rebuilt = self._located(self._home)
        if said != list(self._sequence[:2]):
            raise WronglyBelieved(f"{said} instead of {self._sequence[:2]}")
        return "rebuilt" if rebuilt else "same"


def _essence(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what differs between two calls anyway."""
    kept: dict[str, Any] = {
        key: answer[key]
        for key in ("status", "reason", "outline", "nodes", "edges", "codebases", "total")
        if key in answer
    }
    if "results" in answer:
        kept["results"] = [
            (hit["file"], hit["span"], hit.get("symbolLabel"), hit.get("score"), hit.get("preview"))
            for hit in answer["results"]
        ]
        kept["warnings"] = answer.get("warnings", ())
    if "humanText" in answer:
        kept["text"] = answer["humanText"].split("\n")[:2]
    return kept


def _refuses(name: str, answer: dict[str, Any]) -> bool:
    if name == "list":
        sections = {row["section"] for row in answer.get("codebases", [])}
        return answer["status"] == "error" or not sections & {"Ready"}
    return answer["status"] in _REFUSED


def _says_damaged(answer: dict[str, Any]) -> bool:
    """Whether an answer was given without a damaged part, and says so."""
    return any("is damaged" in str(warning) for warning in answer.get("warnings", ()))


def _flip(path: Path, chance: random.Random) -> list[tuple[int, int]]:
    size = path.stat().st_size
    count = 1 if chance.random() < 0.7 else chance.randint(2, BITS_MAX)
    flips = [(chance.randrange(size), 1 << chance.randrange(8)) for _ in range(count)]
    _apply(path, flips)
    return flips


def _flip_back(path: Path, flips: list[tuple[int, int]]) -> None:
    _apply(path, flips)


def _apply(path: Path, flips: list[tuple[int, int]]) -> None:
    with path.open("r+b") as file:
        for place, bit in flips:
            file.seek(place)
            (byte,) = file.read(1)
            file.seek(place)
            file.write(bytes([byte ^ bit]))


def main() -> None:
    flips, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for kind, outcomes in campaign(flips, seed).items():
        print(f"{kind:18}", outcomes)


if __name__ == "__main__":
    main()
