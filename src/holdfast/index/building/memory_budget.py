"""How many processes a build may use, by the memory that they may take together.

What a process of a build holds does not grow with the tree: a few batches of files, the words it
has met, which are forgotten when there are too many, and in the main process the segment that is
being filled. So the number of processes decides what a build takes.
"""

from __future__ import annotations

import os

MAIN_BYTES = 300 << 20
"""What the main process takes when it sorts a full segment, and some room."""
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
