"""A cache of recent writes to documents whose readers were checked.

Checking a read that is a thousand commits old means looking at a thousand writes. Reading and
decoding them takes milliseconds of the writer's time, again for every such read. So they are looked
up once, by the caller before it queues, and kept: each later commit of this process is added.

An entry is used only if its newest write is the head in the tables, so another process that writes
to the same space cannot make it wrong.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store.admit import WRITES_MAX, Reach, StoredWrite
from holdfast.store.tables import Tables

DOCUMENTS_MAX = 64
"""For how many documents writes are kept; the least recently used is dropped first."""

DocumentKey = tuple[BranchName, EntityId]


class RecentWrites:
    """The newest writes of some documents, newest first."""

    def __init__(self, documents_max: int = DOCUMENTS_MAX) -> None:
        self._documents_max = documents_max
        self._entries: OrderedDict[DocumentKey, tuple[Seq, list[StoredWrite]]] = OrderedDict()
        self._lock = threading.Lock()

    def since(
        self, tables: Tables, key: DocumentKey, after: Seq, head: Seq
    ) -> list[StoredWrite] | None:
        """The writes above `after` of a document whose head is at `head`.

        None if more than `WRITES_MAX` commits made them.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
        if entry is not None:
            least, writes = entry
            if least <= after and writes and writes[0].seq == head:
                # Newest first, so by descending seq.
                return writes[: bisect_left(writes, -after, key=_age)]
        stored = stored_writes(tables, key, after)
        if stored is not None and len(stored) > 8:
            with self._lock:
                self._entries[key] = (after, stored)
                if len(self._entries) > self._documents_max:
                    self._entries.popitem(last=False)
        return stored

    def load(self, tables: Tables, key: DocumentKey, after: Seq, head: Seq, reach: Reach) -> None:
        """Look up and decode what `since` will need, unless it is kept already."""
        entry = self._entries.get(key)
        if entry is None or entry[0] > after or not entry[1] or entry[1][0].seq != head:
            for write in self.since(tables, key, after, head) or ():
                if write.op == "patch":
                    write.touched(reach)

    def known_keys(self, keys: Iterable[DocumentKey]) -> list[DocumentKey]:
        """The documents whose writes are kept; `landed` needs to know their heads."""
        return [key for key in keys if key in self._entries] if self._entries else []

    def landed(self, key: DocumentKey, writes: list[StoredWrite], head: Seq | None) -> None:
        """Add the writes of commits that are durable now, newest first.

        `head` is the document's head before them. If that is not the newest write kept, another
        process wrote in between, and the entry is dropped.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return
            least, recent = entry
            if not recent or recent[0].seq != head:
                del self._entries[key]
                return
            if len(recent) > WRITES_MAX * 2:
                del recent[WRITES_MAX:]
                least = recent[-1].seq
                while recent and recent[-1].seq == least:
                    recent.pop()  # perhaps not all writes of this commit are kept
            self._entries[key] = (least, [*writes, *recent])

    def forget(self) -> None:
        """Drop everything: history was rewritten."""
        with self._lock:
            self._entries.clear()


def _age(write: StoredWrite) -> int:
    return -write.seq


def stored_writes(tables: Tables, key: DocumentKey, after: Seq) -> list[StoredWrite] | None:
    """The stored writes above `after`, newest first; None if too many commits made them."""
    branch, id = key
    if tables.commits_exceed(branch, id, after, WRITES_MAX):
        return None
    rows = tables.writes_since(branch, id, after)
    return [StoredWrite(row.seq, row.op, row.data) for row in rows]
