"""What can go wrong, as a tree.

    HoldfastError                 carries `hint`, the next step, apart from the sentence
    ├── UsageError                the caller asked for something that has no meaning
    ├── StoreError                holdfast.store.errors
    ├── SyncError                 holdfast.sync.wire.errors
    ├── ReadingError              holdfast.reading.errors
    ├── CodeIndexError            holdfast.index.errors
    ├── SequenceError             holdfast.sequence.errors
    └── AgentError                holdfast.agents.errors

Bugs are asserts. Ordinary outcomes (a conflict, an unproven index, nothing found) are values where
they are decided; they become exceptions only where a caller cannot go on without noticing.
An error's class says which promise broke, its attributes hold the facts, and `str()` makes one
lower-case sentence of them.
"""

HOME_HINT = "set HOLDFAST_HOME to a directory that you may write"
"""The next step wherever what we keep cannot be written."""


class HoldfastError(Exception):
    """The root of every error this package raises on purpose."""

    hint: str = ""


class UsageError(HoldfastError):
    """Raised when a command or a call cannot be understood as given."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class StoreError(HoldfastError):
    """The root of what the store raises."""


class SyncError(HoldfastError):
    """The root of what sync raises."""


class ReadingError(HoldfastError):
    """The root of what reading raises."""


class CodeIndexError(HoldfastError):
    """The root of what the code index raises."""


class SequenceError(HoldfastError):
    """The root of what sequence search raises."""
