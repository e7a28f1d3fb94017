"""Watching a tree for changes, with debouncing.

File system events only trigger a new walk, because events can be lost, merged or late. So a burst
of a thousand writes is one call, and a lost event delays an update but never hides a change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from holdfast.files.policy import ALWAYS_EXCLUDED

DEBOUNCE_MS = 400
STEP_MS = 50


class Watcher:
    """Watches one tree in its own thread until stopped."""

    def __init__(
        self,
        root: str,
        changed: Callable[[frozenset[str]], None],
        debounce_ms: int = DEBOUNCE_MS,
        failed: Callable[[str], None] = lambda why: None,
    ) -> None:
        self.root = root
        self._changed, self._failed = changed, failed
        self._debounce_ms = debounce_ms
        self._stop = threading.Event()
        self.ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"watch {root}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, *, wait: bool = True) -> None:
        self._stop.set()
        if wait and self._thread.is_alive():
            self._thread.join(timeout=5)

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        from watchfiles import watch

        try:
            for batch in watch(
                self.root,
                watch_filter=None,
                debounce=self._debounce_ms,
                step=STEP_MS,
                stop_event=self._stop,
                rust_timeout=200,
                yield_on_timeout=True,
                recursive=True,
            ):
                self.ready.set()
                keys = frozenset(
                    key for _, path in batch if (key := _key(self.root, path)) is not None
                )
                if keys:
                    self._changed(keys)
        except (OSError, RuntimeError) as error:
            # Out of inotify watches (ENOSPC), or the tree is gone: the caller has to poll.
            self._failed(str(error))
        finally:
            self.ready.set()


def _key(root: str, path: str) -> str | None:
    """The key of a path in the tree; None for paths that are never indexed."""
    try:
        parts = Path(path).relative_to(root).parts
    except ValueError:
        return None
    if not parts or ALWAYS_EXCLUDED.intersection(parts):
        return None
    return "/".join(parts)
