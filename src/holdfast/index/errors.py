"""The exceptions of the code index.

    CodeIndexError
    ├── BackendUnavailable        the backend did not answer, or not in time
    │   └── NewerFormat           a newer version wrote the stored data
    ├── DamagedBackend            the stored data is damaged
    ├── RegistryDamaged           the registry of roots cannot be read
    ├── RootMissing               the directory does not exist or cannot be read (now)
    ├── EmbeddingFailed           the embedding provider failed; the run fails
    └── OutsideRoot               a file outside the requested tree

That a root is not indexed, is being indexed or has to be reindexed is an answer, not an error.
"""

from __future__ import annotations

from holdfast.errors import CodeIndexError

HOME_HINT = "set HOLDFAST_HOME to a directory that you may read and write"


class BackendUnavailable(CodeIndexError):
    """Raised when the backend could not finish a request; the state of the index is unknown."""

    def __init__(self, message: str, hint: str = "try again; nothing was changed") -> None:
        super().__init__(message)
        self.hint = hint


class SourceMoved(BackendUnavailable):
    """Raised when a file has changed since the tree was checked; check the tree again."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} changed while it was read", hint="try again")


class NewerFormat(BackendUnavailable):
    """Raised for data that a newer version wrote; it is neither read nor replaced."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"the index has format {found}, and this version reads up to {known}",
            hint="update holdfast: a newer version wrote this index",
        )
        self.found, self.known = found, known


class DamagedBackend(CodeIndexError):
    """Raised when the stored data is damaged."""

    def __init__(self, message: str, hint: str = "run: holdfast index reindex") -> None:
        super().__init__(message)
        self.hint = hint


class RegistryDamaged(CodeIndexError):
    """Raised when the registry of roots cannot be read; its roots are not considered gone."""

    def __init__(self, path: str, why: str, hint: str = "") -> None:
        super().__init__(path, why, hint)
        self.path, self.why, self.hint = path, why, hint or "run: holdfast index repair"
        self.mendable = not hint
        """Whether `repair` helps; otherwise the file itself is intact."""

    def __str__(self) -> str:
        return f"the registry of indexed roots at {self.path} cannot be read: {self.why}"


class RootMissing(CodeIndexError):
    """Raised when the directory of a root does not exist or cannot be read."""

    def __init__(self, root: str, why: str = "it does not exist") -> None:
        super().__init__(root, why)
        self.root, self.why = root, why
        self.hint = "check the path; to forget a tracked root, run: holdfast index clear"

    def __str__(self) -> str:
        return f"{self.root} is not a directory we can index: {self.why}"


class EmbeddingFailed(CodeIndexError):
    """Raised when a provider failed; the run fails, and the previous generation is served."""

    def __init__(self, provider: str, why: str, hint: str = "") -> None:
        super().__init__(provider, why)
        self.provider, self.why = provider, why
        self.hint = hint or "check the embedding provider, then run the action again"

    def __str__(self) -> str:
        return f"embedding with {self.provider} failed: {self.why}"


class OutsideRoot(CodeIndexError):
    """Raised for a file outside the requested tree."""

    def __init__(self, file: str, root: str) -> None:
        super().__init__(file, root)
        self.file, self.root = file, root
        self.hint = "name the file relative to the root"

    def __str__(self) -> str:
        return f"{self.file} is not a file inside {self.root}"
