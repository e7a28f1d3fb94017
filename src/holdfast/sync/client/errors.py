"""The exceptions of the client, in addition to `holdfast.sync.wire.errors`.

    SyncError
    ├── ConnectionLost                  the transport was lost; a request may have been carried out
    ├── SessionClosed                   the session was closed here
    ├── SessionChanged                  the server opened another session than the requested one
    ├── CapabilityMissing               the server does not have what the request needs
    ├── StreamOverflow                  a stream whose reader was too slow
    ├── RequestRefused                  the server answered with an error
    │   └── CommitRefused               … to a commit: nothing of it was written
    ├── MergeNeedsResolution            both branches changed the same; has the clashes
    └── TransactionFailed               a transaction that failed before anything was sent
        ├── WriteIsolationError         it wrote to two places
        ├── StorageTransactionInconsistent  what it read has changed since
        ├── TransactionComplete         it was committed or aborted before
        ├── NotFound, TypeMismatch      a path that leads nowhere
        └── ReadOnlyDocument

`name` is the word a peer uses for the same thing, where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from holdfast.errors import SyncError
from holdfast.store import pointer


class ConnectionLost(SyncError):
    """Raised when the transport was lost before an answer came."""

    name = "ConnectionError"
    hint = "it may have happened; ask again once the connection is back"

    def __init__(self, message: str = "the connection was lost") -> None:
        super().__init__(message)


class SessionClosed(SyncError):
    """Raised for requests that a closed session had not finished."""

    name = "SessionError"

    def __init__(self, message: str = "session closed") -> None:
        super().__init__(message)


class SessionChanged(SyncError):
    """Raised for commits of a session that the server no longer knows by its id."""

    name = "SessionError"
    hint = "whether the commit landed is unknown; read, then commit again"

    def __init__(self, requested: str, opened: str) -> None:
        super().__init__(f"session changed: {requested} -> {opened}")
        self.requested, self.opened = requested, opened


class CapabilityMissing(SyncError):
    """Raised when a request needs a capability that the server did not agree to. Nothing was sent.

    The server would not know the request, and a peer of the first version may not answer it.
    """

    name = "UnsupportedCapabilityError"

    def __init__(self, capability: str) -> None:
        super().__init__(f"the server does not have the capability {capability}")
        self.capability = capability
        self.hint = "it is older than this client, or does not offer it; update the server"


class StreamOverflow(SyncError):
    """Raised to a reader that left too much unread; nothing was dropped before this."""

    hint = "read faster, or listen to snapshots: they keep only the newest"

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most} elements were waiting to be read")
        self.most = most


class RequestRefused(SyncError):
    """Raised when the server answered a request with an error."""

    def __init__(self, name: str, message: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.name = name
        self.detail: Mapping[str, Any] = detail or {}
        self.hint = str(self.detail.get("hint") or "")

    @classmethod
    def from_wire(cls, error: Any) -> Self:
        """The error of a response, whatever its shape."""
        if not isinstance(error, Mapping):
            return cls("ProtocolError", "the server refused without a reason")
        name, message = error.get("name"), error.get("message")
        return cls(
            name if isinstance(name, str) else "ProtocolError",
            message if isinstance(message, str) else "the server refused without a reason",
            {k: v for k, v in error.items() if k not in ("name", "message")},
        )


class CommitRefused(RequestRefused):
    """Raised when a commit did not land. Its changes are already reverted when this is raised."""

    @property
    def is_conflict(self) -> bool:
        return self.name == "ConflictError"

    @property
    def conflicts(self) -> Sequence[Any]:
        """The reads that no longer hold, if the server named them."""
        conflicts = self.detail.get("conflicts", ())
        return (
            conflicts if isinstance(conflicts, Sequence) and not isinstance(conflicts, str) else ()
        )


class MergeNeedsResolution(SyncError):
    """Raised when both branches changed the same document; nothing was written."""

    hint = "pass resolutions: a document, or None to delete, for each id"

    def __init__(self, source: str, target: str, clashes: Sequence[Any]) -> None:
        super().__init__(f"merging {source} into {target or 'main'}: {len(clashes)} clashes")
        self.source, self.target, self.clashes = source, target, clashes


class TransactionFailed(SyncError):
    """Raised when a transaction cannot be submitted; nothing was sent."""

    name = "StorageTransactionError"


class WriteIsolationError(TransactionFailed):
    """Raised when one transaction writes to a second space or branch."""

    name = "WriteIsolationError"
    hint = "use one transaction per space and branch"

    def __init__(self, writing: str, wanted: str) -> None:
        super().__init__(f"this transaction already writes to {writing}, not to {wanted}")
        self.writing, self.wanted = writing, wanted


class StorageTransactionInconsistent(TransactionFailed):
    """Raised when a document changed between being read and the commit that depends on it."""

    name = "StorageTransactionInconsistent"
    hint = "run the transaction again on the new state"

    def __init__(self, id: str) -> None:
        super().__init__(f"{id} changed since this transaction read it")
        self.id = id


class TransactionComplete(TransactionFailed):
    """Raised when a transaction is used after its end."""

    name = "StorageTransactionCompleteError"

    def __init__(self, how: str) -> None:
        super().__init__(f"the transaction is already {how}")


class NotFound(TransactionFailed):
    """Raised when a container on a path does not exist."""

    name = "NotFoundError"

    def __init__(self, id: str, path: Sequence[str]) -> None:
        super().__init__(f"{id} has nothing at {pointer.encode(path) or 'its root'}")
        self.id, self.path = id, tuple(path)


class TypeMismatch(TransactionFailed):
    """Raised when a path leads into a value that has no members."""

    name = "TypeMismatchError"

    def __init__(self, id: str, path: Sequence[str], kind: str) -> None:
        super().__init__(f"{pointer.encode(path) or 'the root'} of {id} is {kind}, not a container")
        self.id, self.path = id, tuple(path)


class ReadOnlyDocument(TransactionFailed):
    """Raised when a document that is encoded in its own id is written."""

    name = "ReadOnlyAddressError"

    def __init__(self, id: str) -> None:
        super().__init__(f"{id[:40]} is its own content and cannot be written")
