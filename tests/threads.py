"""Lets code fork in a test although threads of earlier tests may still be alive.

With several threads a process is started anew instead, and does not know what a test has replaced.
"""

from __future__ import annotations

import gc
import threading

import pytest

from holdfast.index import processes

WAIT_S = 5.0


def let_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a little for the other threads, which executors end when collected; then fork anyway."""
    gc.collect()
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(WAIT_S)
    monkeypatch.setattr(processes, "may_fork", lambda: True)
