"""A process that works on a store until it is killed, and tells on a pipe what it was told.

`python -m tests.store.crash` reads one order per line (JSON) and forks a worker for each, so that
a kill costs milliseconds and not the start of an interpreter. A worker writes a `try` line before
each write and a `done` line after it was acknowledged; both are short enough to be written whole.

A worker dies by SIGKILL, at a random moment or when it passes a named point for the n-th time. The
points are where the store meets its database: the connection it is given is the seam.
"""

import contextlib
import hashlib
import json
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

from holdfast.ids import LocalSeq, SessionId
from holdfast.store import roots
from holdfast.store.model import CommitKey
from holdfast.store.postgres import PostgresDatabase
from holdfast.store.settings import StoreSettings
from holdfast.store.sqlite import SqliteDatabase
from holdfast.store.store import Store
from holdfast.store.tables import Database

POINTS = (
    "before BEGIN",
    "after BEGIN",
    "before a statement",
    "after a statement",
    "before COMMIT",
    "after COMMIT",
    "before compacting",
    "after compacting",
)

SETTINGS = StoreSettings(snapshot_interval=3)
DOCUMENTS = [f"doc:{n}" for n in range(6)]
BRANCHES_MAX = 20


class Passages:
    """Kills this process when it passes `point` for the `nth` time."""

    def __init__(self, point: str, nth: int) -> None:
        self._point, self._left = point, nth

    def __call__(self, point: str) -> None:
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class Watched:
    """A connection that tells of every step towards the disk."""

    def __init__(self, inner: Database, passing: Callable[[str], None]) -> None:
        self._inner, self._passing = inner, passing
        self.rows, self.rollback = inner.rows, inner.rollback
        self.begin_reading, self.tables, self.close = inner.begin_reading, inner.tables, inner.close
        self.distant, self.maintenance = inner.distant, inner.maintenance
        self.structure_problems, self.version = inner.structure_problems, inner.version
        self.mask = inner.mask
        self._together = self._committed = False

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        self._passing("before a statement")
        self._inner.run(sql, parameters)
        self._passing("after a statement")

    def run_many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        self._passing("before a statement")
        self._inner.run_many(sql, parameters)
        self._passing("after a statement")

    def begin(self) -> None:
        self._passing("before BEGIN")
        self._inner.begin()
        try:
            self._passing("after BEGIN")
        except BaseException:
            # Whoever could not begin has nothing to roll back.
            self._inner.rollback()
            raise

    def commit(self) -> None:
        self._passing("before COMMIT")
        self._inner.commit()
        if self._together:
            self._committed = True
        else:
            self._passing("after COMMIT")

    @contextmanager
    def together(self) -> Iterator[None]:
        """What was sent together has happened when the whole has been answered, not before."""
        self._together, self._committed = True, False
        try:
            with self._inner.together():
                yield
        finally:
            self._together = False
        if self._committed:
            self._passing("after COMMIT")

    def replace_tables(self, tables: Sequence[str]) -> None:
        self._passing("before a statement")
        self._inner.replace_tables(tables)
        self._passing("after a statement")

    def compact(self) -> None:
        self._passing("before compacting")
        self._inner.compact()
        self._passing("after compacting")


def watched_store(
    url: str, space: str, passing: Callable[[str], None], settings: StoreSettings = SETTINGS
) -> Store:
    """A store on its real engine, with its writing connection watched."""
    reading: Database | None
    if url.startswith("postgresql://"):
        writing: Database = PostgresDatabase(url, space)
        reading = PostgresDatabase(url, space, create=False)
    else:
        path = roots.resolve(url, space)
        writing = SqliteDatabase(path)
        reading = None if path is None else SqliteDatabase(path)
    watched = Watched(writing, passing)
    return Store(watched, reading or watched, settings)


class Worker:
    """Writes to one space in every way there is, until it dies."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.url, self.space = order["url"], order["space"]
        self.random = Random(order["seed"])
        self.life: int = order["life"]
        self.passing = Passages(order["point"], order["nth"])
        self.out = 1
        self._counts: dict[str, int] = {}
        self._copies = 0

    def run(self) -> None:
        self.store = watched_store(self.url, self.space, self.passing)
        self.first_seq = self.store.newest_seq()
        acts = [self.one, self.one, self.several, self.several, self.fork, self.close_branch]
        acts += [self.merge, self.blob, self.collect, self.copy, self.squash]
        while True:
            self.random.choice(acts)()

    def tell(self, **line: Any) -> None:
        text = json.dumps(line) + "\n"
        assert len(text) < select.PIPE_BUF, "a line is written whole"
        os.write(self.out, text.encode())

    def key(self, session: str) -> CommitKey:
        session = f"{session}/{self.life}"
        self._counts[session] = self._counts.get(session, 0) + 1
        return CommitKey(SessionId(session), LocalSeq(self._counts[session]))

    def commit(self, key: CommitKey, operations: list[dict[str, Any]], branch: str) -> None:
        commit = {"localSeq": key.local_seq, "branch": branch, "operations": operations}
        self.tell(try_="commit", session=key.session, commit=commit)
        applied = self.store.transact(key.session, commit)
        self.tell(done="commit", session=key.session, localSeq=key.local_seq, seq=applied.seq)

    def operations(self, random: Random) -> list[dict[str, Any]]:
        """One to three writes that apply to any state of the documents."""
        operations: list[dict[str, Any]] = []
        for _ in range(random.randint(1, 3)):
            id, number = random.choice(DOCUMENTS), random.randint(0, 999)
            patches = [
                {"op": "increment", "path": "/value/count", "by": 1},
                {"op": "append", "path": "/value/list", "values": [number]},
                {"op": "add", "path": f"/value/m{number % 5}", "value": {"n": number}},
            ]
            operations.append(
                random.choice(
                    [
                        {"op": "set", "id": id, "value": {"value": {"count": number}}},
                        {"op": "delete", "id": id},
                        {"op": "patch", "id": id, "patches": patches[:1]},
                        {"op": "patch", "id": id, "patches": patches},
                        {"op": "patch", "id": id, "patches": patches[1:]},
                    ]
                )
            )
        return operations

    # acts

    def one(self) -> None:
        names = [b.name for b in self.store.branches() if b.status == "active"]
        self.commit(self.key("one"), self.operations(self.random), self.random.choice(names))

    def several(self) -> None:
        """Threads that share trips to the disk."""

        def write(number: int, seed: int) -> None:
            random = Random(seed)
            for _ in range(3):
                self.commit(self.key(f"thread-{number}"), self.operations(random), "")

        threads = [
            threading.Thread(target=write, args=(n, self.random.getrandbits(32))) for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def fork(self) -> None:
        branches = self.store.branches()
        if len(branches) >= BRANCHES_MAX:
            return
        key, parent = self.key("keeper"), self.random.choice(branches).name
        name = f"b{len(branches)}-{self.life}"
        self.tell(try_="fork", session=key.session, localSeq=key.local_seq, name=name, of=parent)
        made = self.store.create_branch(name, parent, by=key)
        self.tell(done="fork", session=key.session, localSeq=key.local_seq, seq=made.created_seq)

    def close_branch(self) -> None:
        names = [b.name for b in self.store.branches() if b.status == "active" and b.name]
        if len(names) < 4:
            return
        key, name = self.key("keeper"), self.random.choice(names)
        self.tell(try_="close", session=key.session, localSeq=key.local_seq, name=name)
        self.store.delete_branch(name, by=key)
        self.tell(done="close", session=key.session, localSeq=key.local_seq)

    def merge(self) -> None:
        names = [b.name for b in self.store.branches() if b.status == "active"]
        if len(names) < 2:
            return
        source, target = self.random.sample(names, 2)
        key = self.key("merger")
        resolutions = dict.fromkeys(DOCUMENTS, "source")
        line = {"session": key.session, "localSeq": key.local_seq}
        self.tell(try_="merge", **line, source=source, target=target)
        applied = self.store.merge(key, source, target, resolutions)
        self.tell(done="merge", **line, seq=None if applied is None else applied.seq)

    def blob(self) -> None:
        data = self.random.randbytes(20)
        hash = self.store.put_blob(data)
        self.tell(done="blob", hash=hash, data=data.hex())

    def collect(self) -> None:
        self.store.collect_garbage()
        self.tell(done="collect")

    def squash(self) -> None:
        """Remove the older half of the history, now and then."""
        if self.random.randrange(3) == 0:
            # Not what landed in this life: its texts have not been looked at yet.
            self.store.squash(min(self.store.newest_seq() // 2, self.first_seq))
        self.tell(done="collect")

    def copy(self) -> None:
        """Export this space, unless it is still empty, and import it into a new one."""
        if self.store.newest_seq() == 0:
            return
        lines = list(self.store.export(self.space))
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        self._copies += 1  # a blob changes an export and not the newest seq
        space = f"{self.space}-copy-{self.life}-{self._copies}-{self.store.newest_seq()}"
        self.tell(try_="import", space=space, digest=digest)
        with watched_store(self.url, space, self.passing) as other:
            if other.newest_seq() == 0:
                other.import_lines(lines)
        self.tell(done="import", space=space)


def serve() -> None:
    """Fork a worker per order; after each, say how it ended."""
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            try:
                Worker(order).run()
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        death = os.pidfd_open(pid)
        select.select([death], [], [], order["lifetime"])
        os.close(death)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "exit"
        os.write(1, (json.dumps({"died": how}) + "\n").encode())


if __name__ == "__main__":
    serve()
