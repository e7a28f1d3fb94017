"""The answers of status and refresh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.reading import javascript
from holdfast.reading.savings import Savings
from holdfast.reading.scope import Lines, Scope
from holdfast.text import counted

if TYPE_CHECKING:
    from holdfast.reading.report import StatusReport


MODES = {
    "full": "in full",
    "unchanged": "unchanged",
    "unchanged_range": "unchanged in a range",
    "diff": "as a diff",
    "baseline_fallback": "in full, changed",
}
"""A description of each way a read was answered."""


@dataclass(frozen=True, slots=True)
class Status:
    """What a session holds and has saved."""

    scopes: int
    files: int
    window_entries: int
    window_start: int
    savings: Savings
    store: str
    doubt: str | None = None
    """Why the session proves nothing now."""

    def to_wire(self) -> dict[str, Any]:
        return self.report().to_wire()

    def report(self) -> StatusReport:
        from holdfast.reading.report import StatusReport, Window

        window, modes = Window(self.window_entries, self.window_start), dict(self.savings.counts)
        saved = self.savings.report()
        return StatusReport(self.scopes, self.files, window, modes, saved, self.store, self.doubt)

    def in_words(self) -> str:
        """The text for people; `to_text` has the reference's form."""
        ranges = f"{counted(self.scopes, 'range')} of {counted(self.files, 'file')}"
        reads = ", ".join(
            f"{count} {MODES.get(mode, mode)}"
            for mode, count in self.savings.counts.items()
            if count
        )
        size = javascript.binary_size(self.savings.saved_bytes)
        lines = [
            f"held: {ranges}, since the last compaction or the start of the session",
            f"reads: {reads or 'none'}",
            f"saved: about {counted(self.savings.tokens, 'token')} ({size})",
            f"kept to compare with: {_texts(self.store)}",
        ]
        if self.doubt is not None:
            lines.append(f"the session proves nothing now: {self.doubt}")
        return "\n".join(lines)

    def to_text(self) -> str:
        counts = ", ".join(f"{mode}={count}" for mode, count in self.savings.counts.items())
        size = javascript.binary_size(self.savings.saved_bytes)
        lines = [
            "[readcache-status]",
            f"tracked scopes: {self.scopes} across {self.files} files",
            f"replay window: {self.window_entries} entries (start index {self.window_start})",
            f"mode counts: {counts}",
            f"estimated savings: ~{self.savings.tokens} tokens ({size})",
            f"object store: {self.store}",
        ]
        if self.doubt is not None:
            lines.append(f"the session proves nothing now: {self.doubt}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Invalidated:
    """What a refresh invalidated: the next reads of it send the text."""

    typed: str
    scope: Scope

    def to_wire(self) -> dict[str, Any]:
        return {"text": self.to_text()}

    def to_text(self) -> str:
        if isinstance(self.scope, Lines):
            what = f"lines {self.scope.first}-{self.scope.last}"
        else:
            what = "full scope"
        return f"[readcache-refresh] invalidated {what} for {self.typed}"


def _texts(store: str) -> str:
    """The size of the store of texts in words; the reference counts `objects`."""
    count, _, size = store.partition(" objects")
    return f"{counted(int(count), 'text')}{size}" if size and count.isdigit() else store
