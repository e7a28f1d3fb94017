"""What a session holds and has saved, in the words of the status and refresh answers."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.reading import javascript, savings
from holdfast.reading.scope import Lines, Scope


@dataclass(frozen=True, slots=True)
class Status:
    """The facts behind `readcache status`."""

    scopes: int
    files: int
    window_entries: int
    window_start: int
    savings: savings.Savings
    store: str
    doubt: str | None = None

    def __str__(self) -> str:
        counts = ", ".join(f"{mode}={count}" for mode, count in self.savings.counts.items())
        size = javascript.binary_size(self.savings.saved_bytes)
        return "\n".join(
            (
                "[readcache-status]",
                f"tracked scopes: {self.scopes} across {self.files} files",
                f"replay window: {self.window_entries} entries (start index {self.window_start})",
                f"mode counts: {counts}",
                f"estimated savings: ~{self.savings.tokens} tokens ({size})",
                f"object store: {self.store}",
            )
        )


def refresh_marker(scope: Scope, typed: str) -> str:
    """What a refresh answers."""
    what = f"lines {scope.first}-{scope.last}" if isinstance(scope, Lines) else "full scope"
    return f"[readcache-refresh] invalidated {what} for {typed}"
