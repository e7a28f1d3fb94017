"""How many processes a build may use, given a limit on their total memory.

The memory of a process does not grow with the tree: it has a few batches of files, a vocabulary of
limited size and, in the main process, the segment being filled. So the number of processes
determines the memory of a build.
"""

from __future__ import annotations

import os

MAIN_BYTES = 300 << 20
"""The memory of the main process when it sorts a full segment, with some reserve."""
WORKER_BYTES = 240 << 20
BYTES_DEFAULT = 800 << 20
SHARE_OF_MACHINE = 8


def processes_within(bytes_max: int | None, cores: int | None = None) -> int:
    """The number of workers for a build of at most `bytes_max`; one for each core if they fit."""
    cores = cores or os.cpu_count() or 1
    limit = default_bytes() if bytes_max is None else bytes_max
    return max(1, min(cores, (limit - MAIN_BYTES) // WORKER_BYTES))


def default_bytes() -> int:
    """800 MB, or an eighth of the machine's memory if that is more."""
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return BYTES_DEFAULT
    return max(BYTES_DEFAULT, machine // SHARE_OF_MACHINE)
