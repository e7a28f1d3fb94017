"""A small tree with an index whose backend fails on command, and a guard that refuses writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.files import disk
from holdfast.index.building.content_cache import ContentCache
from holdfast.index.code_index import CodeIndex, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.generations import marker as markers
from holdfast.index.generations.leases import Leases
from holdfast.index.generations.model import Backend, Reader, Writer
from holdfast.index.generations.record import Record, State
from holdfast.index.generations.registry import Registry
from holdfast.index.generations.sqlite.backend import SqliteBackend
from holdfast.index.search.corpus import Corpus
from tests.index import double

FILES = {
    "src/cart.py": (
        "from prices import price_of\n\n"
        "def add_item(cart, item):\n    cart.append(item)\n\n"
        "def total_price(cart):\n    return sum(price_of(i) for i in cart)\n"
    ),
    "src/prices.py": (
        "def price_of(item):\n    return lookup(item)\n\ndef lookup(item):\n    return 1\n"
    ),
    "src/checkout.py": (
        "from cart import total_price\n\ndef pay(cart):\n    return total_price(cart)\n"
    ),
    "docs/guide.md": "# Paying\n\nHow a cart is paid for.\n",
}  # fmt: skip


class FaultyBackend:
    """The real backend, failing as told: `real`, `raise`, `damage`, `hang`, `empty`, a marker."""

    def __init__(self, inner: Backend) -> None:
        self.inner = inner
        self.provider = inner.provider
        # Long, because a busy machine is not a backend that hangs. See `limit_probes`.
        self.probe_timeout_s = 60.0
        self.marker: object = "real"
        self.retrieval = "real"
        self.writing = "real"
        self.listing = "real"
        self.probes = 0
        self.release = threading.Event()

    def read_marker(self, root: str) -> object | None:
        self.probes += 1
        if self.marker == "raise":
            raise BackendUnavailable("the backend is away")
        if self.marker == "damage":
            raise DamagedBackend("a page is damaged")
        if self.marker == "hang":
            self.release.wait(20)
            raise BackendUnavailable("hung")
        if self.marker != "real":
            return self.marker
        return self.inner.read_marker(root)

    def stamp(self, root: str) -> object:
        return self.inner.stamp(root)

    def spot_check(self, root: str) -> None:
        if self.marker == "real":
            self.inner.spot_check(root)

    def verify(self, root: str) -> None:
        if self.marker == "real":  # The marker of a test is about rows that were never stored.
            self.inner.verify(root)

    def check_format(self, root: str) -> None:
        self.inner.check_format(root)

    def roots(self) -> list[str]:
        if self.listing == "raise":
            raise BackendUnavailable("the backend is away")
        return [] if self.listing == "empty" else self.inner.roots()

    @contextmanager
    def reader(self, root: str) -> Iterator[Reader]:
        if self.retrieval == "raise":
            raise BackendUnavailable("the backend is away")
        with self.inner.reader(root) as reader:
            yield _Silent(reader) if self.retrieval == "empty" else reader

    @contextmanager
    def writer(self, root: str) -> Iterator[Writer]:
        if self.writing == "raise":
            raise BackendUnavailable("the backend is away")
        with self.inner.writer(root) as writer:
            yield _FailsToPublish(writer) if self.writing == "late" else writer

    def check(self, root: str) -> None:
        if self.writing == "raise":
            raise BackendUnavailable("the backend is away")
        self.inner.check(root)

    def drop(self, root: str) -> None:
        if self.writing == "raise":
            raise BackendUnavailable("the backend is away")
        self.inner.drop(root)

    def close(self) -> None:
        self.release.set()
        self.inner.close()


class _Silent:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def corpus(self) -> Corpus:
        return Corpus([])


class _FailsToPublish:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def publish(self, marker: str, taken_ns: int) -> Any:
        raise BackendUnavailable("the disk is full")


class NoWrites:
    """A registry and backend for reads: any verb that could write raises."""

    class FrozenRegistry(Registry):
        def change(self, root: str, decide: object) -> Record | None:
            raise AssertionError("a read changed the registry")

        def set_aside(self) -> Path | None:
            raise AssertionError("a read moved the registry")

        @contextmanager
        def _locked(self) -> Iterator[None]:
            raise AssertionError("a read locked the registry")
            yield

    @staticmethod
    def guard(index: CodeIndex, registry_path: Path) -> None:
        def refuse(*_: object, **__: object) -> Any:
            raise AssertionError("a read wrote")

        index.registry = NoWrites.FrozenRegistry(registry_path)
        for name in ("writer", "drop", "check"):
            setattr(index.backend, name, refuse)
        for name in ("keep_prepared", "keep_vectors"):
            setattr(index.content, name, refuse)
        index.leases.acquire = refuse  # type: ignore[method-assign]
        index.start = refuse


class World:
    """One tree, one home, one index; time moves only when told."""

    def __init__(self, directory: Path, backend: Backend | None = None) -> None:
        self.home = directory / "home"
        self.tree = (directory / "repo").resolve()
        for name, text in FILES.items():
            self.write(name, text)
        self.root = str(self.tree)
        # A minute after the files were written, so that none of them looks freshly touched.
        self.time = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=60)
        provider = HashedEmbedding()
        self.backend = FaultyBackend(
            backend or SqliteBackend(self.home / "index" / "roots", provider.dimension)
        )
        self.registry_path = self.home / "index" / "registry.json"
        ids = iter(range(1, 1_000_000))
        self.index = CodeIndex(
            Registry(self.registry_path),
            self.backend,
            provider,
            Leases(self.home / "run" / "leases"),
            ContentCache(self.home / "index" / "content.sqlite"),
            extract=double.extract,
            now=lambda: self.time,
            new_id=lambda: f"run_{next(ids)}",
            start=run_here,
        )

    def write(self, name: str, text: str | bytes) -> None:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def later(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)

    def limit_probes(self, timeout_s: float) -> None:
        """How long a probe may take from now on; short for a backend that hangs."""
        self.index.prober._timeout_s = timeout_s

    def put_record(self, state: State, **changes: Any) -> Record:
        """Write the root's record as a test wants it."""

        def put(now: Record | None) -> Record:
            base = now or Record(self.root, state, self.index.timestamp(), self.index.runtime())
            return replace(
                base, **({"last_updated": self.index.timestamp()} | changes), state=state
            )

        record = self.index.registry.change(self.root, put)
        assert record is not None
        return record

    def marker(self, **changes: object) -> dict[str, object]:
        """A good marker as a JSON object, with changes."""
        import json

        good: dict[str, object] = json.loads(
            markers.encode(
                markers.Marker(
                    self.root, self.index.runtime(), 4, 6, "2026-11-15T12:00:00Z", "run_1", 1
                )
            )
        )
        return {k: v for k, v in (good | changes).items() if v is not DROP}

    def membership(self) -> list[str]:
        return sorted(self.index.registry.records())

    def bytes_at_rest(self) -> bytes:
        return self.registry_path.read_bytes() if self.registry_path.exists() else b""

    def close(self) -> None:
        self.index.close()


DROP = object()


def is_link_segment(file: Path) -> bool:
    """Whether a segment of an index has the links of files, not their postings."""
    with file.open("rb") as opened:
        return opened.read(4) == b"HFLK"


def walks_from_now(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The roots whose whole trees are walked from now on, filled as it happens."""
    found: list[str] = []
    real = disk.walk

    def noting(root: str, *given: Any) -> disk.Walk:
        found.append(root)
        return real(root, *given)

    monkeypatch.setattr(disk, "walk", noting)
    return found
