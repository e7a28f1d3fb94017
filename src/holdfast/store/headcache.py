"""A cache of patched documents, so that the next patch need not rebuild them.

An entry is used only if its revision is the head in the tables, so another process that writes to
the same space cannot make it wrong. The cache is limited by bytes, not by age.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store.model import Document
from holdfast.store.snapshots import Chain

BYTES_MAX = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class HeadDocument:
    """A document as of its newest revision, and the patches since its base. Never modified."""

    at: tuple[Seq, int]
    document: Document | None
    chain: Chain

    @property
    def size(self) -> int:
        """Approximate size: the text it was built from, plus the overhead of an entry."""
        return self.chain.base_bytes + self.chain.patch_bytes + 500


class HeadCache:
    """Head documents by branch and id, the least recently used dropped first."""

    def __init__(self, bytes_max: int = BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._entries: OrderedDict[tuple[BranchName, EntityId], HeadDocument] = OrderedDict()

    def get(self, key: tuple[BranchName, EntityId], at: tuple[Seq, int]) -> HeadDocument | None:
        """The document, if the entry is of exactly this revision."""
        entry = self._entries.get(key)
        if entry is None or entry.at != at:
            return None
        self._entries.move_to_end(key)
        return entry

    def put(self, key: tuple[BranchName, EntityId], document: HeadDocument) -> None:
        """Cache a document, unless it is larger than an eighth of the cache."""
        self.forget(key)
        if document.size * 8 > self._bytes_max:
            return
        self._entries[key] = document
        self._bytes += document.size
        while self._bytes > self._bytes_max:
            _, oldest = self._entries.popitem(last=False)
            self._bytes -= oldest.size

    def forget(self, key: tuple[BranchName, EntityId]) -> None:
        old = self._entries.pop(key, None)
        if old is not None:
            self._bytes -= old.size

    def __len__(self) -> int:
        return len(self._entries)
