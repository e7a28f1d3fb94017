"""Temporary directories in memory: `make quick` neither writes to a disk nor waits for one.

The `conftest.py` of a package whose tests do not depend on the place imports `tmp_path_factory`.
Tests of what agents may read do, because /dev is outside of every workspace.
"""

import copy
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scale import QUICK

MEMORY = Path("/dev/shm")
FREE_BYTES_MIN = 2 << 30
NAME = re.compile(r"holdfast-tests-(\d+)-\w+")


@pytest.fixture(scope="session")
def tmp_path_factory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pytest.TempPathFactory]:
    yield from factory_in_memory(tmp_path_factory)


def factory_in_memory(usual: pytest.TempPathFactory) -> Iterator[pytest.TempPathFactory]:
    """A factory in memory in `make quick`; the usual one where there is not enough memory."""
    if not QUICK or not _has_room():
        yield usual
        return
    _remove_abandoned()
    made = Path(tempfile.mkdtemp(prefix=f"holdfast-tests-{os.getpid()}-", dir=MEMORY))
    factory = copy.copy(usual)
    factory._basetemp = made
    yield factory
    shutil.rmtree(made, ignore_errors=True)


def _has_room() -> bool:
    return os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= FREE_BYTES_MIN


def _remove_abandoned() -> None:
    """Remove the directories of processes that were killed."""
    for path in MEMORY.iterdir():
        named = NAME.fullmatch(path.name)
        if named is not None and not Path("/proc", named[1]).exists():
            shutil.rmtree(path, ignore_errors=True)
