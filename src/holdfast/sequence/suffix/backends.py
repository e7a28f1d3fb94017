"""Which kernels to use: the same answers, at different prices.

    compiled   divsufsort and numba from wheels; the fastest, after a second of importing, and
               after some seconds of compiling the first time on a machine
    vector     numpy, and divsufsort where it is installed
    pure       nothing but Python

Nothing here is imported before a build asks for it: a query needs none of them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError


class Backend(StrEnum):
    """A set of kernels by name."""

    COMPILED = "compiled"
    VECTOR = "vector"
    PURE = "pure"


WARM_FROM_TOKENS = 300_000
"""Importing numba costs about as much as this many tokens cost without it."""

COLD_FROM_TOKENS = 6_000_000
"""The same when its machine code has to be made first."""


@dataclass(frozen=True, slots=True)
class Kernels:
    """The functions of one backend; arrays of any kind in, arrays out."""

    backend: Backend
    module: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


def available() -> list[Backend]:
    """The backends that can be imported here, the fastest first."""
    found = [Backend.PURE]
    if find_spec("numpy") is not None:
        found.insert(0, Backend.VECTOR)
        if find_spec("numba") is not None and find_spec("pydivsufsort") is not None:
            found.insert(0, Backend.COMPILED)
    return found


def choose(tokens: int) -> Backend:
    """The backend that will be done first with a stream of about this many tokens."""
    usable = available()
    if Backend.COMPILED in usable:
        needed = WARM_FROM_TOKENS if compiled_before() else COLD_FROM_TOKENS
        if "holdfast.sequence.suffix.compiled" in sys.modules or tokens >= needed:
            return Backend.COMPILED
    if Backend.VECTOR in usable and ("numpy" in sys.modules or tokens >= 20_000):
        return Backend.VECTOR
    return Backend.PURE


def compiled_before() -> bool:
    """Whether numba has kept the machine code of an earlier run beside our modules."""
    beside = Path(__file__).parent.parent
    return any(beside.glob("tokens/__pycache__/compiled._intern-*.nbi"))


def kernels(backend: Backend) -> Kernels:
    """The kernels of a backend, imported now."""
    if backend not in available():
        raise UsageError(
            f"the {backend} backend is not installed", "install holdfast with its dependencies"
        )
    return Kernels(backend, import_module(f"holdfast.sequence.suffix.{backend.value}"))
