"""Short ways to say what a test does to a store."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from holdfast.store.model import Applied
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.store.tables import TABLES
from holdfast.store.tables.partitions import columns
from tests.postgres import PostgresServer

_spaces = count(1)

ENGINES = ["memory", "sqlite", "postgres"]


class Clock:
    """The time, as a store wants it; it goes on when told to."""

    def __init__(self) -> None:
        self.seconds = 1_000_000_000

    def __call__(self) -> str:
        return datetime.fromtimestamp(self.seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Engines:
    """Opens stores on one engine, each in a space of its own, and closes them again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._open: list[Store] = []

    def space(self) -> str:
        return f"did:key:test-{next(_spaces)}"

    def open(
        self,
        space: str | None = None,
        settings: StoreSettings | None = None,
        clock: Callable[[], str] | None = None,
    ) -> Store:
        store = open_store(self.url, space or self.space(), settings, clock)
        self._open.append(store)
        return store

    def close(self) -> None:
        for store in self._open:
            store.close()
        self._open.clear()


@pytest.fixture(params=ENGINES)
def engines(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Engines]:
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.url
    else:
        url = "memory:" if request.param == "memory" else str(tmp_path_factory.mktemp("spaces"))
    opened = Engines(url)
    yield opened
    opened.close()


@pytest.fixture
def store(engines: Engines) -> Store:
    return engines.open()


def dump(store: Store) -> dict[str, list[Any]]:
    """Every row of every table: two dumps are equal when nothing at all was changed.

    Checksums are as they would be in a file: on PostgreSQL they cover the space as well.
    """
    reading, found = store.engine.reading, {}
    for table in TABLES:
        named = [
            f"{name} # {reading.mask}" if reading.mask and name.endswith('crc"') else name
            for name in columns(table)
        ]
        found[table] = sorted(map(repr, reading.rows(f'SELECT {", ".join(named)} FROM "{table}"')))
    return found


def set_(id: str, value: Any) -> dict[str, Any]:
    return {"op": "set", "id": id, "value": {"value": value}}


def patch_(id: str, *operations: dict[str, Any]) -> dict[str, Any]:
    return {"op": "patch", "id": id, "patches": list(operations)}


def replace_(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


def delete_(id: str) -> dict[str, Any]:
    return {"op": "delete", "id": id}


def commit(local_seq: int, *operations: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A commit object; `reads` are confirmed reads, `pending` pending ones."""
    reads = {"confirmed": members.pop("reads", []), "pending": members.pop("pending", [])}
    return {"localSeq": local_seq, "reads": reads, "operations": list(operations), **members}


class Writer:
    """A session that counts its commits."""

    def __init__(self, store: Store, session: str = "writer") -> None:
        self.store, self.session = store, session
        self.local_seq = 0

    def __call__(self, *operations: dict[str, Any], **members: Any) -> Applied:
        self.local_seq += 1
        return self.store.transact(self.session, commit(self.local_seq, *operations, **members))
