"""The linked programs of the trees whose calls were asked for last.

Building one reads all facts of a generation. It is kept and reused: files that changed since the
generation replace theirs, and are put back when they are as stored again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts import model as facts_of
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Identity, Reader

PROGRAMS_MAX = 2

Digests = Mapping[str, str | None]
"""Path -> digest of a file that differs from the generation; None for a deleted one."""


@dataclass
class _Cached:
    identity: Identity
    program: LinkedProgram
    applied: Digests = field(default_factory=dict)


class ProgramCache:
    """The linked programs used last, each with the changes since its generation applied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """Hold it while using a program: applying changes is not thread-safe."""
        self._programs: OrderedDict[str, _Cached] = OrderedDict()

    def program(self, root: str, reader: Reader, fresh: FreshFiles) -> LinkedProgram:
        """The program of the generation a reader sees, with the changes since applied to it."""
        wanted: dict[str, str | None] = {p: f.entry.digest for p, f in fresh.changed.items()}
        wanted |= dict.fromkeys(fresh.gone, None)
        cached = self._programs.get(root)
        if cached is None or cached.identity != reader.identity:
            resolver = Resolver(facts_of.decode(data) for _, data in reader.all_facts())
            cached = self._programs[root] = _Cached(reader.identity, LinkedProgram(resolver))
        self._programs.move_to_end(root)
        while len(self._programs) > PROGRAMS_MAX:
            self._programs.popitem(last=False)
        if wanted != cached.applied:
            _apply(cached, reader, fresh, wanted)
        return cached.program


def _apply(cached: _Cached, reader: Reader, fresh: FreshFiles, wanted: Digests) -> None:
    program, applied = cached.program, cached.applied
    reverted = [path for path in applied if path not in wanted]
    stored = reader.facts(reverted)
    for path in reverted:
        if path in stored:
            program.replace(facts_of.decode(stored[path]))
        else:
            program.remove(path)
    for path, digest in wanted.items():
        if digest is None:
            program.remove(path)
        elif applied.get(path) != digest:
            program.replace(facts_of.decode(fresh.changed[path].facts))
    cached.applied = wanted
