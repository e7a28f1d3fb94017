"""What the code index raises.

    CodeIndexError
    ├── BackendUnavailable        the backend did not answer, or not in time
    ├── DamagedBackend            what is stored is not what must be there
    ├── RegistryDamaged           the registry of roots cannot be read
    ├── RootMissing               the directory is not there (now)
    ├── EmbeddingFailed           a provider did not deliver; the run that needed it fails
    └── OutsideRoot               a file that is not inside the tree it was asked of

That a root is not indexed, is being indexed, or must be indexed again is no error: it is an answer.
"""

from __future__ import annotations

from holdfast.errors import CodeIndexError

HOME_HINT = "set HOLDFAST_HOME to a directory that you may read and write"


class BackendUnavailable(CodeIndexError):
    """Raised when the backend could not finish a request; it says nothing about the index."""

    def __init__(self, message: str, hint: str = "try again; nothing was changed") -> None:
        super().__init__(message)
        self.hint = hint


class DamagedBackend(CodeIndexError):
    """Raised when stored rows are not what they must be."""

    def __init__(self, message: str, hint: str = "run: holdfast index reindex") -> None:
        super().__init__(message)
        self.hint = hint


class RegistryDamaged(CodeIndexError):
    """Raised when the registry of roots is not readable; no root is said to be gone for it."""

    def __init__(self, path: str, why: str, hint: str = "") -> None:
        super().__init__(path, why, hint)
        self.path, self.why, self.hint = path, why, hint or "run: holdfast index repair"
        self.mendable = not hint
        """Whether a repair helps; otherwise there is nothing wrong with the file itself."""

    def __str__(self) -> str:
        return f"the registry of indexed roots at {self.path} cannot be read: {self.why}"


class RootMissing(CodeIndexError):
    """Raised when the directory of a root is not there."""

    def __init__(self, root: str, why: str = "it does not exist") -> None:
        super().__init__(root, why)
        self.root, self.why = root, why
        self.hint = "check the path; to forget a tracked root, run: holdfast index clear"

    def __str__(self) -> str:
        return f"{self.root} is not a directory we can index: {self.why}"


class EmbeddingFailed(CodeIndexError):
    """Raised when a provider gave up; the run fails and the previous generation goes on serving."""

    def __init__(self, provider: str, why: str, hint: str = "") -> None:
        super().__init__(provider, why)
        self.provider, self.why = provider, why
        self.hint = hint or "check the embedding provider, then run the action again"

    def __str__(self) -> str:
        return f"embedding with {self.provider} failed: {self.why}"


class OutsideRoot(CodeIndexError):
    """Raised when a tool is asked for a file outside the tree it was given."""

    def __init__(self, file: str, root: str) -> None:
        super().__init__(file, root)
        self.file, self.root = file, root
        self.hint = "name the file relative to the root"

    def __str__(self) -> str:
        return f"{self.file} is not a file inside {self.root}"
