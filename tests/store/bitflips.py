"""Flip bits at rest, and see whether a wrong answer comes out.

`campaign(count, seed)` flips one bit at a time in a file of a space (the database, its write-ahead
log, an export) and looks at everything that can be read. `row_campaign` does the same to single
columns of single rows, on any engine. What can come of it:

    found     `verify` names it (of a changed key)
    same      every answer is the same, and `verify` has nothing to say or says what is wrong
    rebuilt   derived state was damaged; answers are the same, and `gc` makes the space sound again
    refused   something was refused with a named error; every other answer is the same
    wrong     an answer differs, or `verify` calls a damaged space sound
    traceback anything but a named error

Only the first three may happen.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from holdfast.errors import StoreError
from holdfast.ids import LocalSeq, SessionId
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.store.tables import TABLES
from holdfast.store.tables.partitions import STORE
from tests.store.harness import Writer, delete_, patch_, replace_, set_

SPACE = "did:key:flipped"
SETTINGS = StoreSettings(snapshot_interval=2)
REFUSED = object()
KEYS = {
    "blob_store": ("hash",),
    "branch": ("name",),
    "commit": ("seq", "session_id", "local_seq"),
    "head": ("branch", "id"),
    "revision": ("branch", "id", "seq", "op_index"),
    "snapshot": ("branch", "id", "seq"),
}
Seen = dict[Any, Any]


def fill(store: Store) -> None:
    """A little of everything."""
    write = Writer(store, "w")
    write(set_("doc:a", {"n": 0, "text": "some words to be found " * 8}), set_("doc:b", 0))
    for n in range(1, 9):
        write(patch_("doc:a", replace_("/value/n", n)))
    read = {"id": "doc:b", "path": ["value"], "seq": 1}
    write(set_("doc:c", 1), reads=[read])
    write(set_("doc:c", 2), pending=[{**read, "localSeq": [1], "basisSeq": 1} | {"seq": None}])
    store.create_branch("draft", by=CommitKey(SessionId("keeper"), LocalSeq(1)))
    write(patch_("doc:a", replace_("/value/n", -1)), branch="draft")
    write(delete_("doc:b"))
    store.create_branch("plain")
    write(set_("doc:c", 3), branch="plain")
    store.merge(CommitKey(SessionId("keeper"), LocalSeq(2)), "draft", "", {"doc:a": "source"})
    for n in range(12):
        write(set_(f"doc:more-{n}", {"n": n, "text": f"{n} words " * 30}))
    store.put_blob(b"bytes " * 50, "text/plain")


def look(store: Store) -> Seen:
    """Everything that can be read, each answer by itself; `REFUSED` where it was refused."""
    seen: Seen = {}

    def note(key: Any, ask: Callable[[], Any]) -> Any:
        try:
            seen[key] = ask()
        except StoreError as error:
            seen[key] = REFUSED if "\n" not in str(error) else "an error of several lines"
        return None if seen[key] is REFUSED else seen[key]

    ids = [f"doc:{name}" for name in ("a", "b", "c", "none", "more-0", "more-11")]
    note("newest", store.newest_seq)
    note("branches", lambda: [b.to_wire() for b in store.branches()])
    note("log", lambda: [entry.to_wire() for entry in store.log(limit=100)])
    for branch in ("", "draft", "plain"):
        note(("documents", branch), partial(store.documents, branch))
        for id in ids:
            note((branch, id), partial(store.state, id, branch))
            for seq in range(2, 16, 3):
                note((branch, id, seq), partial(store.read, id, branch, seq))
    note("diff", lambda: [d.to_wire() for d in store.diff("plain")])
    for hash in note("blobs", store.engine.tables.blob_hashes) or ():
        note(("blob", hash), partial(store.blob, hash))
    by = CommitKey(SessionId("keeper"), LocalSeq(2))
    note("replayed", lambda: store.replayed_merge(by, "draft"))
    return seen


def different(seen: Seen, expected: Seen) -> list[Any]:
    """The questions that were answered, and answered otherwise."""
    answered = ((key, value) for key, value in seen.items() if value is not REFUSED)
    return [key for key, value in answered if value != expected.get(key)]


def is_refused(seen: Seen, expected: Seen) -> bool:
    """Whether something was refused that was not before."""
    return any(value is REFUSED and expected.get(key) is not REFUSED for key, value in seen.items())


def judge(store: Store, expected: Seen) -> str:
    """The outcome, for an open store."""
    try:
        seen = look(store)
    except StoreError:
        seen = {}
    differ = [
        key for key, value in seen.items() if value is not REFUSED and value != expected.get(key)
    ]
    if differ:
        return f"wrong: {differ[0]}"
    refused = len(seen) < len(expected) or is_refused(seen, expected)
    try:
        sound = store.verify().sound
    except StoreError:
        sound = False
    if sound:
        return "wrong: verify calls it sound" if refused else "same"
    try:
        store.collect_garbage()
        if store.verify().sound and look(store) == expected:
            return "rebuilt"
    except StoreError:
        pass
    return "refused"


class Originals:
    """A space as files: closed, as a crash left it, and exported."""

    def __init__(self, directory: Path) -> None:
        live = directory / "live"
        store = open_store(live, SPACE, SETTINGS)
        fill(store)
        self.expected = look(store)
        self.export = "\n".join(store.export()).encode() + b"\n"
        self.crashed = files_of(live)
        store.close()
        self.closed = files_of(live)
        assert any(name.endswith("-wal") for name in self.crashed)


def files_of(directory: Path) -> dict[str, bytes]:
    files = (file for file in directory.rglob("*") if file.is_file())
    return {
        str(file.relative_to(directory)): file.read_bytes()
        for file in files
        if not file.name.endswith("-shm")
    }


def campaign(count: int, seed: int) -> dict[str, int]:
    """Flip so many bits, one at a time; how often which outcome came, by kind of file."""
    random, outcomes = Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="holdfast-flips-") as name:
        directory = Path(name)
        originals = Originals(directory)
        for number in range(count):
            kind = random.choices(["database", "log", "export"], [5, 3, 2])[0]
            try:
                outcome = _one(kind, originals, directory / f"flip-{number}", random)
            except Exception as error:
                outcome = f"traceback: {type(error).__name__}: {error}"
            outcomes[f"{kind}: {outcome}"] += 1
    return dict(outcomes)


def flipped(data: bytes, random: Random) -> bytes:
    damaged = bytearray(data)
    damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    return bytes(damaged)


def _one(kind: str, originals: Originals, directory: Path, random: Random) -> str:
    if kind == "export":
        text = flipped(originals.export, random)
        with open_store("memory:", SPACE, SETTINGS) as store:
            try:
                store.import_lines(text.decode(errors="surrogateescape").splitlines(keepends=True))
            except StoreError:
                return "refused"
            except UnicodeEncodeError:
                return "refused"  # the command reads UTF-8 only
            return "same" if look(store) == originals.expected else "wrong: imported"
    files = dict(originals.closed if kind == "database" else originals.crashed)
    (name,) = [n for n in files if n.endswith("-wal" if kind == "log" else ".sqlite")]
    files[name] = flipped(files[name], random)
    for path, data in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(data)
    try:
        with open_store(directory, SPACE, SETTINGS, create=False) as store:
            return judge(store, originals.expected)
    except StoreError:
        return "refused"
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def row_campaign(store: Store, count: int, seed: int) -> dict[str, int]:
    """Change one bit of one column of one row at a time, in a store that is filled for it."""
    random, outcomes = Random(seed), Counter[str]()
    fill(store)
    expected, db = look(store), store.engine.writing
    postgres = db.distant
    db.run("SET session_replication_role = replica" if postgres else "PRAGMA foreign_keys=OFF")
    for _ in range(count):
        table = random.choice([t for t in TABLES if t not in ("invocation", "authorization")])
        columns = _columns(db, table, postgres)
        rows = sorted(db.rows(f'SELECT {", ".join(columns)} FROM "{table}"'), key=repr)
        row = random.choice(rows)
        place = random.randrange(len(columns))
        if columns[place] == "space":
            value: Any = row[place] ^ 1 << random.randrange(30, 60)  # the number of no space
        else:
            value = _flip_value(row[place], random)
        before = list(map(tuple, rows))
        try:
            _update(db, table, columns, row, place, value, postgres)
        except StoreError:
            continue  # the database does not take that row
        engine = store.engine
        engine._texts.clear()
        try:
            is_key = columns[place] in (*KEYS[table], "space")
            outcome = judge_rows(store, expected, is_key)
        except Exception as error:
            outcome = f"traceback: {type(error).__name__}: {error}"
        outcomes[f"{table}: {outcome}"] += 1
        changed = tuple(value if n == place else old for n, old in enumerate(row))
        _update(db, table, columns, changed, place, row[place], postgres)
        after = sorted(db.rows(f'SELECT {", ".join(columns)} FROM "{table}"'), key=repr)
        assert list(map(tuple, after)) == before, "every flip is taken back"
    return dict(outcomes)


def judge_rows(store: Store, expected: Seen, key_changed: bool) -> str:
    """As `judge`, without collecting garbage, which would keep the flip from being taken back.

    A statement that changes a key moves the row, which no flipped bit does; then only `verify`
    is asked.
    """
    if store.verify().sound:
        return "wrong: verify calls it sound"
    if key_changed:
        return "found"
    seen = look(store)
    differ = [
        key for key, value in seen.items() if value is not REFUSED and value != expected.get(key)
    ]
    if differ:
        return f"wrong: {differ[0]}"
    return "refused" if is_refused(seen, expected) else "rebuilt"


def _columns(db: Any, table: str, postgres: bool) -> list[str]:
    if postgres:
        found = db.rows(
            "SELECT column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name = $1",
            (table,),
        )
        return [row[0] for row in found]
    return [row[1] for row in db.rows(f'PRAGMA table_info("{table}")')]


def _flip_value(value: Any, random: Random) -> Any:
    if value is None:
        return "x"
    if isinstance(value, int):
        return value ^ 1 << random.randrange(20)
    if isinstance(value, bytes | memoryview):
        return flipped(bytes(value), random)
    if not value:
        return "\x01"
    at = random.randrange(len(value))
    other = chr(ord(value[at]) ^ 1 << random.randrange(7)) or "?"
    return value[:at] + (other if other != "\0" else "?") + value[at + 1 :]


def _update(
    db: Any, table: str, columns: list[str], row: Any, place: int, value: Any, postgres: bool
) -> None:
    equal = "IS NOT DISTINCT FROM" if postgres else "IS"
    # The table of all spaces: a row whose space was changed is not visible in its space.
    name = f'{STORE}."{table}"' if postgres else f'"{table}"'
    where = " AND ".join(f"{c} {equal} ${n + 1}" for n, c in enumerate(columns))
    parameters = [bytes(v) if isinstance(v, memoryview) else v for v in row]
    db.run(
        f"UPDATE {name} SET {columns[place]} = ${len(columns) + 1} WHERE {where}",
        [*parameters, value],
    )
