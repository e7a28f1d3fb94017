"""The linked programs of the trees whose calls were asked for last.

Building one reads all facts of a generation. It is kept and reused: files that changed since the
generation replace theirs, and are put back when they are as stored again. Damaged facts are made
again from the file.
"""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Resolver
from holdfast.index.errors import DamagedBackend
from holdfast.index.facts import model as facts_of
from holdfast.index.facts.model import FileFacts
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Identity, Reader

PROGRAMS_MAX = 2
REMADE_MAX = 200
"""So many files with damaged facts are parsed again for an answer; with more it is refused."""

Digests = Mapping[str, str | None]
"""Path -> digest of a file that differs from the generation; None for a deleted one."""


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without garbage collection, which would visit all the new tables again and again.

    It took two fifths of the time, and none of the tables is garbage.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@dataclass
class _Cached:
    identity: Identity
    program: LinkedProgram
    applied: Digests = field(default_factory=dict)


class ProgramCache:
    """The linked programs used last, each with the changes since its generation applied."""

    def __init__(self, remake: Callable[[str, str], FileFacts | None]) -> None:
        """`remake` makes the facts of a file in a root again; None if it cannot be read."""
        self._remake = remake
        self._remade = 0
        self.lock = threading.Lock()
        """Hold it while using a program: applying changes is not thread-safe."""
        self._programs: OrderedDict[str, _Cached] = OrderedDict()

    def program(self, root: str, reader: Reader, fresh: FreshFiles) -> LinkedProgram:
        """The program of the generation a reader sees, with the changes since applied to it."""
        wanted: dict[str, str | None] = {p: f.entry.digest for p, f in fresh.changed.items()}
        wanted |= dict.fromkeys(fresh.gone, None)
        cached = self._programs.get(root)
        if cached is None or cached.identity != reader.identity:
            self._remade = 0
            stored = reader.all_facts()
            with _no_collection():
                resolver = Resolver(self._decoded(root, path, data) for path, data in stored)
                program = LinkedProgram(resolver)
            cached = self._programs[root] = _Cached(reader.identity, program)
        self._programs.move_to_end(root)
        while len(self._programs) > PROGRAMS_MAX:
            self._programs.popitem(last=False)
        if wanted != cached.applied:
            self._apply(root, cached, reader, fresh, wanted)
        return cached.program

    def _decoded(self, root: str, path: str, data: bytes | None) -> FileFacts:
        """The facts of a file; made again from its bytes if the stored ones are damaged."""
        try:
            if data is not None:
                return facts_of.decode(data)
        except msgspec.DecodeError:
            pass
        self._remade += 1
        if self._remade > REMADE_MAX:
            raise DamagedBackend(f"the facts of more than {REMADE_MAX} files are damaged")
        found = self._remake(root, path)
        # A file that cannot be read is in no answer, and the others are still right.
        return found if found is not None else FileFacts(path, "", "", 0, 0)

    def _apply(
        self, root: str, cached: _Cached, reader: Reader, fresh: FreshFiles, wanted: Digests
    ) -> None:
        program, applied = cached.program, cached.applied
        for path in [path for path in applied if path not in wanted]:
            try:
                data = reader.facts([path]).get(path)
            except DamagedBackend:
                program.replace(self._decoded(root, path, None))
                continue
            if data is None:
                program.remove(path)
            else:
                program.replace(self._decoded(root, path, data))
        for path, digest in wanted.items():
            if digest is None:
                program.remove(path)
            elif applied.get(path) != digest:
                program.replace(facts_of.decode(fresh.changed[path].facts))
        cached.applied = wanted
