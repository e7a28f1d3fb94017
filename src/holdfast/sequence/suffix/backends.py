"""Choose the kernels for a stream: all give the same answers, at different costs.

    compiled   numpy and numba (the extra `fast`): the fastest, after a second of importing,
               and after some seconds of compiling the first time on a machine
    vector     numpy
    pure       plain Python, for small streams: nothing to import

Nothing is imported before a build needs it; a query needs none of them.
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
from holdfast.extras import install_command


class SuffixBackend(StrEnum):
    """A set of kernels by name."""

    COMPILED = "compiled"
    VECTOR = "vector"
    PURE = "pure"


WARM_FROM_TOKENS = 2_000_000
"""From this size on numba saves more time than its import takes."""

COLD_FROM_TOKENS = 6_000_000
"""The same if numba must compile first."""


BYTES_PER_TOKEN = 4
"""An estimate, to choose a backend before lexing."""


@dataclass(frozen=True, slots=True)
class Kernels:
    """The functions of one backend; arrays of any kind in, arrays out."""

    backend: SuffixBackend
    module: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


def available() -> list[SuffixBackend]:
    """The installed backends, the fastest first."""
    backends = [SuffixBackend.PURE]
    if find_spec("numpy") is not None:
        backends.insert(0, SuffixBackend.VECTOR)
        if has_numba():
            backends.insert(0, SuffixBackend.COMPILED)
    return backends


def has_numba() -> bool:
    """Whether the extra `fast` is installed."""
    return find_spec("numba") is not None


def choose(tokens: int) -> SuffixBackend:
    """The backend that is expected to be fastest for a stream of about this many tokens."""
    usable = available()
    if SuffixBackend.COMPILED in usable:
        tokens_min = WARM_FROM_TOKENS if compiled_before() else COLD_FROM_TOKENS
        if "holdfast.sequence.suffix.compiled" in sys.modules or tokens >= tokens_min:
            return SuffixBackend.COMPILED
    if SuffixBackend.VECTOR in usable and ("numpy" in sys.modules or tokens >= 20_000):
        return SuffixBackend.VECTOR
    return SuffixBackend.PURE


def choose_to_search(tokens: int) -> SuffixBackend:
    """The same for one pass over an existing segment: only a long one is worth an import."""
    backend = choose(tokens)
    loaded = "holdfast.sequence.suffix.compiled" in sys.modules
    if backend is SuffixBackend.COMPILED and not loaded and tokens < COLD_FROM_TOKENS:
        return SuffixBackend.VECTOR
    return backend


def compiled_before() -> bool:
    """Whether the machine code of an earlier run is cached beside the modules."""
    beside = Path(__file__).parent.parent
    return any(beside.glob("tokens/__pycache__/compiled._intern-*.nbi"))


def kernels(backend: SuffixBackend) -> Kernels:
    """Import the kernels of a backend."""
    if backend not in available():
        raise UsageError(f"the {backend} backend is not installed", install_command("fast"))
    return Kernels(backend, import_module(f"holdfast.sequence.suffix.{backend.value}"))
