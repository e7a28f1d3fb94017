"""What the store refuses, and why."""

from holdfast.errors import StoreError


class QueryError(StoreError):
    """Raised when a graph query cannot be answered as asked; nothing has changed."""

    name = "QueryError"

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint
