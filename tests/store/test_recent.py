"""Recent writes are kept in memory, and are what the tables say, whoever wrote."""

from random import Random

import pytest

from holdfast.ids import MAIN, EntityId, Seq
from holdfast.store.admit import WRITES_MAX, StoredWrite
from holdfast.store.recent import RecentWrites, stored_writes
from holdfast.store.store import Store
from tests.scale import seeds
from tests.store.harness import Engines, Writer, delete_, patch_, replace_, set_

KEY = (MAIN, EntityId("doc:a"))


def agree(store: Store, recent: RecentWrites) -> None:
    """What is kept is compared with what is stored, for every age of a read."""
    tables = store.engine._writes
    head = tables.head_kind(*KEY)
    for after in range(store.newest_seq() + 1):
        if head is None or head[0] <= after:
            continue
        kept = recent.since(tables, KEY, Seq(after), head[0])
        stored = stored_writes(tables, KEY, Seq(after))
        assert kept is not None
        assert stored is not None
        assert [(w.seq, w.op, w.patches) for w in kept] == [
            (w.seq, w.op, w.patches) for w in stored
        ]


@pytest.mark.shows("STORE-READ-AGE", "INV-1")
@pytest.mark.parametrize("seed", seeds(20))
def test_two_processes_write_and_each_keeps_what_is_stored(engines: Engines, seed: int) -> None:
    """A write of the other process, between two of one's own, must not be passed over."""
    if engines.url == "memory:":
        return  # one process
    space, random = engines.space(), Random(seed)
    stores = [engines.open(space), engines.open(space)]
    writers = [Writer(store, f"w{n}") for n, store in enumerate(stores)]
    for _ in range(30):
        n = random.randrange(2)
        act = random.choices(
            [set_("doc:a", {"n": 0}), patch_("doc:a", replace_("/value", 1)), delete_("doc:a")],
            [1, 12, 1],
        )[0]
        writers[n](act)
        if random.random() < 0.3:
            agree(stores[random.randrange(2)], stores[random.randrange(2)].engine._recent)
    for store in stores:
        agree(store, store.engine._recent)


def test_what_is_kept_is_bounded(store: Store) -> None:
    write = Writer(store)
    write(set_("doc:a", {"n": 0}))
    for n in range(12):
        write(patch_("doc:a", replace_("/value/n", n)))
    recent = RecentWrites(documents_max=1)
    tables = store.engine._writes
    assert recent.since(tables, KEY, Seq(1), Seq(13)) is not None
    for n in range(14, 14 + WRITES_MAX * 3):
        recent.landed(KEY, [StoredWrite(Seq(n), "patch", "[]")], Seq(n - 1))
        least, writes = recent._entries[KEY]
        assert len(writes) <= WRITES_MAX * 2 + 2
        assert writes[-1].seq > least
