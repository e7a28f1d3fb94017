"""A process that several agents depend on parses nothing itself: no text ends or blocks it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.index.building.prepare import extract_facts
from holdfast.index.facts import extract, extractor, parse
from holdfast.index.facts.extractor import Extractor
from holdfast.index.facts.model import Problem
from tests.index.samples import sources
from tests.threads import let_fork

KILLS = "kills.py"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Extractor]:
    made = Extractor()
    let_fork(monkeypatch)
    monkeypatch.setattr(extractor, "extractor", made)
    yield made
    made.close()


def _deadly(path: str, source: bytes, unparsed: Problem | None = None) -> object:
    """Like the real one, but some texts end the process or wait for a file."""
    if unparsed is None and path == KILLS:
        os.kill(os.getpid(), signal.SIGSEGV)
    if unparsed is None and path.startswith("waits"):
        with open(path.partition(":")[2], "rb") as file:
            file.read()
    return _real(path, source, unparsed)


_real = extract.extract


@pytest.mark.shows("SEC-PARSED-ELSEWHERE")
def test_facts_are_the_same_as_here(made: Extractor) -> None:
    for suffix, texts in sources().items():
        for text in texts[:2]:
            path, source = f"src/a.{suffix}", text.encode()
            assert made.extract(path, source) == extract.extract(path, source), path
    odd = os.fsdecode(b"\xff.py")
    assert made.extract(odd, b"x = 1\n").path == odd


@pytest.mark.shows("SEC-PARSED-ELSEWHERE")
def test_a_text_that_ends_its_process_is_plain_text_from_then_on(
    made: Extractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract, "extract", _deadly)
    started: list[int] = []
    real = extractor._Process.__init__

    def counted(self: extractor._Process) -> None:
        started.append(1)
        real(self)

    monkeypatch.setattr(extractor._Process, "__init__", counted)
    facts = made.extract(KILLS, b"def a():\n    pass\n")
    assert facts.problems == (extract.TOO_HARD,)
    assert len(started) == extractor.TRIES
    assert made.extract(KILLS, b"def a():\n    pass\n") == facts
    assert len(started) == extractor.TRIES, "it was not tried again"
    assert made.extract("a.py", b"def a():\n    pass\n").symbols


@pytest.mark.shows("SEC-PARSED-ELSEWHERE")
def test_a_slow_text_does_not_hold_up_another(
    made: Extractor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One lock around all parses let an agent wait for another's hostile file."""
    monkeypatch.setattr(extract, "extract", _deadly)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    order: list[str] = []
    made.extract("first.py", b"x = 1\n")  # a forked process, which knows what is patched here

    def slow() -> None:
        made.extract(f"waits:{pipe}", b"x = 1\n")
        order.append("slow")

    thread = threading.Thread(target=slow)
    thread.start()
    with pipe.open("wb"):  # opens once the slow text is being read
        for number in range(5):
            made.extract(f"quick{number}.py", b"x = 1\n")
            order.append("quick")
    thread.join(60)
    assert order == [*["quick"] * 5, "slow"]


def test_a_process_of_one_user_parses_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("it was sent elsewhere")

    monkeypatch.setattr(Extractor, "extract", refuse)
    assert extract_facts("a.py", b"def a():\n    pass\n").symbols
    monkeypatch.setattr(extractor, "_shared", True)
    with pytest.raises(AssertionError, match="elsewhere"):
        extract_facts("a.py", b"def a():\n    pass\n")


CRASHING = bytes.fromhex(
    "d88919aeda0f9f8f3e14d6a1fa37d9ddecd68ff885c1d2c7a084897dc9428e781653bd1d1af8bef0f0"
)


@pytest.mark.shows("SEC-PARSED-ELSEWHERE")
def test_bytes_that_are_not_utf8_do_not_reach_a_parser() -> None:
    """These forty bytes in a Lua file ended the process, and with it the host of every agent."""
    for _ in range(5):
        extract.extract("a.lua", CRASHING)
    for source in (CRASHING, b"a\xffb", "é".encode(), b"\xed\xa0\x80", b"plain"):
        given = parse.decodable(source)
        assert len(given) == len(source)
        given.decode()
    assert parse.decodable("é".encode()) == "é".encode()
