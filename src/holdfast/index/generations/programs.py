"""A cache of the linked programs of the trees that were queried last.

A program looks up in the stored links of its generation which files a question needs, and reads
their facts. If links are missing, it reads all facts of the generation instead. A cached program is
reused: files that changed since the generation replace the stored ones, and are put back when they
are as stored again. Damaged facts are extracted again from the file.
"""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from holdfast.index.calls.link_segment import LinkSegment
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Resolver
from holdfast.index.calls.stored_program import Load, StoredLinks, StoredProgram
from holdfast.index.errors import DamagedBackend
from holdfast.index.facts import model as facts_of
from holdfast.index.facts.model import FileFacts
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.link_files import checked, placed
from holdfast.index.generations.model import Identity, Reader

PROGRAMS_MAX = 2
MISSING_MAX = 500
"""Up to this many files without stored links are read in addition; beyond that, all files are."""
REMADE_MAX = 200
"""Up to this many files with damaged facts are parsed again; beyond that the answer is refused."""

Digests = Mapping[str, str | None]
"""Path -> digest of a file that differs from the generation; None for a deleted one."""


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable garbage collection, which would visit all the new tables repeatedly.

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
    segments: Mapping[str, LinkSegment] = field(default_factory=dict)
    remade: set[str] = field(default_factory=set)
    """Files whose facts are damaged."""
    applied: Digests = field(default_factory=dict)

    @property
    def stored(self) -> StoredProgram | None:
        program = self.program.resolver.program
        return program if isinstance(program, StoredProgram) else None


class ProgramCache:
    """The most recently used linked programs, with the changes since their generation applied."""

    def __init__(self, remake: Callable[[str, str], FileFacts | None]) -> None:
        """`remake` extracts the facts of a file in a root again; None if it cannot be read."""
        self._remake = remake
        self.lock = threading.Lock()
        """Hold it while using a program: applying changes is not thread-safe."""
        self._programs: OrderedDict[str, _Cached] = OrderedDict()

    def program(self, root: str, reader: Reader, fresh: FreshFiles) -> LinkedProgram:
        """The program of the generation that a reader sees, with the changes since applied to it.

        It reads from the reader, so use it only while the reader is open.
        """
        wanted: dict[str, str | None] = {p: f.entry.digest for p, f in fresh.changed.items()}
        wanted |= dict.fromkeys(fresh.gone, None)
        cached = self._programs.get(root)
        before = cached.segments if cached is not None else {}
        if cached is not None and not all(segment.intact for segment in before.values()):
            cached, before = None, {}
        if cached is None or cached.identity != reader.identity:
            cached = self._stored(root, reader, fresh, before) or self._whole(root, reader)
            self._programs[root] = cached
        elif cached.stored is not None:
            cached.stored.reading(self._load(root, reader, cached.remade))
            cached.program.trim()
        self._programs.move_to_end(root)
        while len(self._programs) > PROGRAMS_MAX:
            self._programs.popitem(last=False)
        if wanted != cached.applied:
            self._apply(root, cached, reader, fresh, wanted)
        return cached.program

    def _stored(
        self, root: str, reader: Reader, fresh: FreshFiles, open_segments: Mapping[str, LinkSegment]
    ) -> _Cached | None:
        """A program that reads files on demand; None if too few files have stored links."""
        segments = reader.links(open_segments)
        if not segments:
            return None
        same = fresh.identity == reader.identity
        entries = (fresh.before if same else reader.snapshot()).entries
        checks = checked((path, entry.digest) for path, entry in entries.items())
        slots, _ = placed(list(segments.values()), checks)
        linked = {path for paths in slots for path in paths}
        missing = sorted(entries.keys() - linked)
        if len(missing) > MISSING_MAX:
            return None
        remade: set[str] = set()
        load = self._load(root, reader, remade)
        program = StoredProgram(entries, StoredLinks(list(segments.values()), slots), load)
        for path in missing:
            program.add(load(path)[0])
        linked_program = LinkedProgram(Resolver(program=program), table=program.links)
        return _Cached(reader.identity, linked_program, segments, remade)

    def _whole(self, root: str, reader: Reader) -> _Cached:
        """A program with the facts of all files."""
        remade: set[str] = set()
        stored = reader.all_facts()
        with _no_collection():
            resolver = Resolver(self._decoded(root, path, data, remade) for path, data in stored)
            return _Cached(reader.identity, LinkedProgram(resolver), remade=remade)

    def _load(self, root: str, reader: Reader, remade: set[str]) -> Load:
        def load(path: str) -> tuple[FileFacts, int]:
            try:
                data = reader.facts([path]).get(path)
            except DamagedBackend:
                data = None
            return self._decoded(root, path, data, remade), len(data or b"")

        return load

    def _decoded(self, root: str, path: str, data: bytes | None, remade: set[str]) -> FileFacts:
        """The facts of a file; extracted again from the file if the stored ones are damaged."""
        try:
            if data is not None:
                return facts_of.decode(data)
        except msgspec.DecodeError:
            pass
        remade.add(path)
        if len(remade) > REMADE_MAX:
            raise DamagedBackend(f"the facts of more than {REMADE_MAX} files are damaged")
        facts = self._remake(root, path)
        # A file that cannot be read is left out; the answer is still right for the others.
        return facts if facts is not None else FileFacts(path, "", "", 0, 0)

    def _apply(
        self, root: str, cached: _Cached, reader: Reader, fresh: FreshFiles, wanted: Digests
    ) -> None:
        program, applied = cached.program, cached.applied
        for path in [path for path in applied if path not in wanted]:
            try:
                data = reader.facts([path]).get(path)
            except DamagedBackend:
                program.replace(self._decoded(root, path, None, cached.remade))
                continue
            if data is None:
                program.remove(path)
            else:
                program.replace(self._decoded(root, path, data, cached.remade))
        for path, digest in wanted.items():
            if digest is None:
                program.remove(path)
            elif applied.get(path) != digest:
                program.replace(facts_of.decode(fresh.changed[path].facts))
        cached.applied = wanted
