"""A parsing process that is stopped (SIGSTOP) is replaced, and the caller gets its answer."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest

from holdfast.index.facts import extractor


@pytest.mark.shows("SEC-FROZEN-WORKER")
def test_a_frozen_parsing_process_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that needed it never ended."""
    # Longer than a pipe holds, so that writing to the frozen process would wait, too.
    source = b"def total():\n    return 1\n" + b"price = 1\n" * 9_000
    made = extractor.Extractor()
    try:
        before = made.extract("shop.py", source)
        (process,) = made._idle
        delays = [1.0, 60.0]  # The second process is given its time on a busy machine.

        def timer(_: float, act: Callable[[], None]) -> threading.Timer:
            return real(delays.pop(0), act)

        real = threading.Timer
        monkeypatch.setattr(threading, "Timer", timer)
        os.kill(process._pid, signal.SIGSTOP)
        assert made.extract("shop.py", source) == before
        assert [symbol.name for symbol in before.symbols][:1] == ["total"]
        with pytest.raises(ProcessLookupError):
            os.kill(process._pid, 0)
    finally:
        made.close()
