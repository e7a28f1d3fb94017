"""The tree of exceptions.

    HoldfastError                 has `hint`, the next step, separate from the message
    ├── UsageError                the request is invalid: wrong arguments, unknown names
    ├── StoreError                holdfast.store.errors
    ├── SyncError                 holdfast.sync.wire.errors
    ├── ReadingError              holdfast.reading.errors
    ├── CodeIndexError            holdfast.index.errors
    ├── SequenceError             holdfast.sequence.errors
    └── AgentError                holdfast.agents.errors

Bugs are asserts. Ordinary outcomes (a conflict, an unproven index, nothing found) are values; they
become exceptions only where a caller must not overlook them. The class of an error says what
failed, its attributes hold the facts, and `str()` makes one lower-case sentence of them.
"""

HOME_HINT = "set HOLDFAST_HOME to a directory that you may write"
"""The hint for errors where a file below the home cannot be written."""


class HoldfastError(Exception):
    """The base class of every error that this package raises on purpose."""

    hint: str = ""


class UsageError(HoldfastError):
    """Raised when the arguments of a command or a call are invalid."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class StoreError(HoldfastError):
    """The base class of errors of the store."""


class SyncError(HoldfastError):
    """The base class of errors of sync."""


class ReadingError(HoldfastError):
    """The base class of errors of reading."""


class CodeIndexError(HoldfastError):
    """The base class of errors of the code index."""


class SequenceError(HoldfastError):
    """The base class of errors of sequence search."""
