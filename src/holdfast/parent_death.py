"""Let the system kill a process when its parent is gone, however the parent ended.

A parent that is killed cannot end its children, and a child that is busy, stopped or waits for a
FIFO notices nothing. The parent-death signal of Linux follows the thread that started the child,
which may end long before the process. So a child keeps the reading end of a pipe whose writing end
only the parent has. When that is closed, the system sends a signal to the owner of the reading end:
SIGKILL on Linux, elsewhere SIGIO, which kills a process that does not handle it.

Imports little: new interpreters begin with it.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress


def kill_when_closed(pipe: int, owner: int) -> None:
    """Have a process (or a process group, negative) killed when the pipe's writers are gone.

    A pipe that is closed already sends nothing: check it afterwards with `is_closed`.
    """
    import fcntl

    with suppress(OSError, AttributeError):
        fcntl.fcntl(pipe, fcntl.F_SETOWN, owner)
        if hasattr(fcntl, "F_SETSIG"):
            fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
        fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC)


def is_closed(pipe: int) -> bool:
    """Whether the writers of a pipe that nothing is written to are gone."""
    import select

    return bool(select.select([pipe], [], [], 0)[0])


def end_with_parent(pipe: int) -> None:
    """Have this process killed when its parent is gone; ends it now if that is so already."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    kill_when_closed(pipe, os.getpid())
    if is_closed(pipe):
        os._exit(1)
