"""Extract facts in disposable processes, for a process that several agents depend on.

A parser holds the interpreter's lock, and a text may be slow to parse or crash the process. So the
background host and the web server do not parse: they send a file to a helper process that may be
killed, and get its facts back. A text that ended such a process twice is kept as plain text from
then on. Several of these processes run at a time, so that a slow text of one agent does not delay
another.
"""

from __future__ import annotations

import hashlib
import os
import struct
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from holdfast.index import processes
from holdfast.index.facts import model, trial_parse
from holdfast.index.facts.model import FileFacts
from holdfast.index.frozen_process import LOOK_S, Frozen, Watch

if TYPE_CHECKING:
    from holdfast.index.facts.mentions import Mentions

AT_ONCE = 8
"""How many texts are parsed at a time."""
IDLE_MAX = 2
"""How many processes are kept for the next text."""
TRIES = 2
"""A process may have been killed for another reason, so each text is tried twice."""
ANSWER_S = 90.0
"""A process that has not answered after this many seconds is killed."""
TOO_HARD_MAX = 512
"""How many texts to remember that must not be parsed again."""

_HEAD = struct.Struct("<III")
"""The sizes of the path, of the names to find mentions of, and of the text."""
_SIZE = struct.Struct("<I")
_READY = b"r"

_shared = False


def mark_shared() -> None:
    """Declare that several agents depend on this process, so that no text may end or block it."""
    global _shared
    _shared = True


def is_used() -> bool:
    """Whether this process sends texts to helper processes. A disposable one parses them itself."""
    return _shared and trial_parse.is_possible() and not trial_parse.is_disposable()


def serve() -> None:
    """The main loop of a helper process: answer each text with its facts or mentions."""
    from holdfast.index.facts.extract import extract
    from holdfast.index.facts.mentions import find_mentions

    trial_parse.mark_disposable()
    os.write(1, _READY)
    with open(0, "rb") as texts, open(1, "wb", closefd=False) as answers:
        while head := texts.read(_HEAD.size):
            path, names, size = _HEAD.unpack(head)
            name = texts.read(path).decode("utf-8", "surrogateescape")
            wanted = texts.read(names).decode("utf-8", "surrogateescape")
            source = texts.read(size)
            if wanted:
                facts = msgspec.msgpack.encode(find_mentions(name, source, wanted.split("\0")))
            else:
                facts = model.encode(extract(name, source))
            answers.write(_SIZE.pack(len(facts)) + facts)
            answers.flush()


class _Process:
    """A connection to a disposable process. One text at a time."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        texts, self._texts = os.pipe()
        self._facts, answers = os.pipe()
        os.set_blocking(self._texts, False)
        try:
            self._process = processes.start(serve, texts, answers)
        except BaseException:
            os.close(self._texts)
            os.close(self._facts)
            raise
        finally:
            os.close(texts)
            os.close(answers)
        self._watch = Watch(self._process.pid, LOOK_S, ANSWER_S)
        try:
            ready = self._watch.read(self._facts, 1)
        except BaseException:
            self.end()
            raise
        if ready != _READY:
            self.end()
            raise ChildProcessError("no process for parsing could be started")

    def extract(self, path: bytes, names: bytes, source: bytes) -> bytes | None:
        """The encoded facts, or mentions if names are given; None if there is no answer."""
        head = _HEAD.pack(len(path), len(names), len(source))
        try:
            self._watch.write(self._texts, head + path + names, source)
            count = self._watch.read(self._facts, _SIZE.size)
            if len(count) < _SIZE.size:
                return None
            (size,) = _SIZE.unpack(count)
            facts = self._watch.read(self._facts, size)
        except (BrokenPipeError, Frozen):
            return None
        return facts if len(facts) == size else None

    def end(self) -> None:
        """Close the pipes and kill the process, if it is our child."""
        os.close(self._texts)
        os.close(self._facts)
        if self.owner == os.getpid():
            self._process.end()
        else:
            self._process.leave()


class Extractor:
    """A few disposable processes, started on demand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._free = threading.BoundedSemaphore(AT_ONCE)
        self._too_hard: OrderedDict[bytes, None] = OrderedDict()

    def extract(self, path: str, source: bytes) -> FileFacts:
        """The result of `extract.extract`; for a text that is too hard, that of plain text."""
        name = path.encode("utf-8", "surrogateescape")
        from holdfast.index.facts import extract

        try:
            facts = self._answer(name, b"", source)
        except OSError:  # no process could be started
            return extract.extract(path, source)
        if facts is not None:
            return model.decode(facts)
        return extract.extract(path, source, unparsed=extract.TOO_HARD)

    def mentions(self, path: str, source: bytes, names: Iterable[str]) -> Mentions:
        """The result of `mentions.find_mentions`; for a text that is too hard, the reason."""
        from holdfast.index.facts import mentions

        wanted = "\0".join(names).encode("utf-8", "surrogateescape")
        if not wanted:
            return mentions.Mentions()
        try:
            found = self._answer(path.encode("utf-8", "surrogateescape"), wanted, source)
        except OSError:
            return mentions.find_mentions(path, source, wanted.decode().split("\0"))
        if found is None:
            return mentions.Mentions(why=mentions.TOO_HARD)
        return msgspec.msgpack.decode(found, type=mentions.Mentions)

    def _answer(self, path: bytes, names: bytes, source: bytes) -> bytes | None:
        """The answer of a process; None for a text that ended two processes, now or earlier."""
        digest = hashlib.sha256(path + b"\0" + source).digest()
        if digest in self._too_hard:
            return None
        answer = self._ask(path, names, source)
        if answer is None:
            with self._lock:
                self._too_hard[digest] = None
                while len(self._too_hard) > TOO_HARD_MAX:
                    self._too_hard.popitem(last=False)
        return answer

    def _ask(self, path: bytes, names: bytes, source: bytes) -> bytes | None:
        with self._free:
            for _ in range(TRIES):
                process = self._taken() or _Process()
                try:
                    facts = process.extract(path, names, source)
                except BaseException:
                    process.end()  # its next answer would be about this text
                    raise
                if facts is not None:
                    self._put_back(process)
                    return facts
                process.end()
        return None

    def _taken(self) -> _Process | None:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.owner == os.getpid():
                    return process
                process.end()  # after a fork it belongs to the parent
        return None

    def _put_back(self, process: _Process) -> None:
        with self._lock:
            if len(self._idle) < IDLE_MAX:
                self._idle.append(process)
                return
        process.end()

    def close(self) -> None:
        """End the idle processes."""
        with self._lock:
            ended, self._idle = self._idle, []
        for process in ended:
            process.end()


extractor = Extractor()
"""The extractor of this process."""
