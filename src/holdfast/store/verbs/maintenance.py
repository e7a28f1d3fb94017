"""Checking a space, removing what is not needed, and its blobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.store.errors import DamagedStore, InvalidBlob
from holdfast.store.model import name_problem
from holdfast.store.verbs.space import Space

if TYPE_CHECKING:
    from holdfast.store.garbage import Garbage
    from holdfast.store.retention import Squashed
    from holdfast.store.verify_report import VerifyReport

BLOB_GRACE_SECONDS = 3_600.0
"""How long an unnamed blob is kept: the commit that names it may be on its way."""


class MaintenanceVerbs(Space):
    """What keeps a space sound and small."""

    def verify(
        self, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> VerifyReport:
        """Check every invariant that can be checked at rest."""
        from holdfast.store.verify import Verifier

        with self._reader, self.engine.reading.maintenance(), self._at_one_moment():
            tables, engine = self.engine.tables, self.engine
            return Verifier(tables, engine.encode, engine.decode, progress).run()

    def collect_garbage(
        self, blobs: bool = False, grace_seconds: float = BLOB_GRACE_SECONDS
    ) -> Garbage:
        """Rebuild derived state, drop unnamed blobs if requested, and compact the database.

        A blob put within the grace period is kept: the commit that names it may be on its way.
        """
        return self._exclusively(
            lambda: self.engine.collect_garbage(blobs, grace_seconds), long=True
        )

    def squash(self, before: int | str) -> Squashed:
        """Remove the history before a seq or a time (in the stored format).

        Documents, branches and the hash chain stay; older seqs can no longer be read.
        """
        return self._exclusively(lambda: self.engine.squash(before), long=True)

    def put_blob(
        self,
        data: bytes,
        content_type: str = "application/octet-stream",
        expected: str | None = None,
    ) -> str:
        """Store bytes; returns their hash."""
        return self._exclusively(lambda: self.engine.put_blob(data, content_type, expected))

    def blob(self, hash: str) -> tuple[bytes, str]:
        """The bytes with this hash, and their content type; checked against the hash."""
        from holdfast.store.hashing import blob_hash

        with self._reader:
            blob = None if name_problem(hash) else self.engine.tables.blob(hash)
        if blob is None:
            raise InvalidBlob(f"there is no blob {hash}")
        data, content_type, size, sound = blob
        if size != len(data) or blob_hash(data) != hash:
            raise DamagedStore(f"blob {hash} is damaged: its bytes do not match its hash")
        if not sound:
            raise DamagedStore(f"blob {hash} is damaged: its row does not match its checksum")
        return data, content_type
