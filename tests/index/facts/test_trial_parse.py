"""Texts that no parser comes to an end with."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.files.snapshot import Entry, Stat
from holdfast.index.building import workers
from holdfast.index.building.prepare import extract_facts
from holdfast.index.building.workers import Recipe, prepare_all
from holdfast.index.facts import parse as parsing
from holdfast.index.facts import trial_parse as trial
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import FileFacts, decode
from holdfast.index.generations.model import SourceFile
from tests.scale import first_in_quick

# Each found by repeating tokens of the grammar; quadratic, and worse per byte than `<a`.
ENDLESS = {
    "a.cs": b"<a ",
    "b.cs": b"&|",
    "a.c": b"?!",
    "a.cpp": b")!",
    "a.java": b"+!=",
    "a.js": b"^!",
    "a.ts": b"!*",
    "a.tsx": b"<+",
    "a.kt": b"*/",
    "a.scala": b"throw;",
    "a.swift": b"!= ",
    "a.rs": b"*%=",
    "a.go": b"^||",
    "a.py": b"+//",
    "a.rb": b">=~",
    "a.sh": b">>=`",
    "a.lua": b"[",
    "a.ex": b",&",
    "a.zig": b">>~",
    "a.jl": b"?$",
}
LENGTH = 60_000
GOOD = {
    "good.cs": b"class Cart { int Total() { return Count(); } }\n" * 60,
    "good.py": b"def total(cart):\n    return count(cart)\n\n" * 60,
}


def endless(path: str) -> bytes:
    line = ENDLESS[path] * 30 + b"\n"
    return line * (LENGTH // len(line))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up early: the texts below would be at it for hours, others need a millisecond."""
    monkeypatch.setattr(parsing, "SLOWEST_SECONDS", 0.2)
    monkeypatch.setattr(parsing, "SLOWEST_SECONDS_PER_BYTE", 0.0)


@pytest.mark.shows("FACT-ENDS")
@pytest.mark.parametrize("path", first_in_quick(ENDLESS))
@pytest.mark.usefixtures("impatient")
def test_a_text_that_no_parser_ends_with_is_kept_as_text(path: str) -> None:
    """A file of 32 KB once took fifteen seconds, and one of a megabyte never came to an end."""
    source = endless(path)
    found = extract(path, source)
    assert [problem.code for problem in found.problems] == ["too_hard"]
    assert not found.symbols
    assert not found.calls
    assert b"".join(source[c.span.start : c.span.end] for c in found.chunks) == source
    for name, good in GOOD.items():
        assert len(extract(name, good).symbols) >= 60, "and the next text is parsed"


@pytest.mark.long
@pytest.mark.shows("FACT-ENDS")
def test_a_text_that_no_query_ends_with_is_kept_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of a megabyte kept whoever asked about it busy for half an hour."""
    monkeypatch.setattr(parsing, "SLOWEST_SECONDS", 0.5)
    monkeypatch.setattr(parsing, "SLOWEST_SECONDS_PER_BYTE", 0.0)
    source = b"{" * 60_000 + b"\n" * 200
    here = extract("a.py", source)
    assert [problem.code for problem in here.problems] == ["too_hard"]
    job = SourceFile("a.py", source, Entry(Stat(len(source), 0, 0), "a"))
    (there,) = prepare_all([job], Recipe(extract_facts, None), total_bytes=1 << 30, processes=2)
    assert decode(there.facts) == here
    assert len(extract("good.py", GOOD["good.py"]).symbols) == 60


def slow(path: str, source: bytes) -> FileFacts:
    """An extractor that does not come to an end with some files, after their parse."""
    while path.startswith("slow"):
        pass
    return extract_facts(path, source)


@pytest.mark.long
@pytest.mark.shows("FACT-ENDS")
def test_a_file_that_keeps_a_worker_busy_beyond_all_measure_is_kept_as_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "SLOWEST_SECONDS", 0.1)
    monkeypatch.setattr(workers, "SLOWEST_SECONDS_PER_BYTE", 0.0)
    texts = {"slow.py": GOOD["good.py"], **GOOD}
    jobs = [
        SourceFile(path, source, Entry(Stat(len(source), 0, 0), path))
        for path, source in texts.items()
    ]
    made = list(prepare_all(jobs, Recipe(slow, None), total_bytes=1 << 30, processes=2))
    facts = [decode(file.facts) for file in made]
    assert [[problem.code for problem in each.problems] for each in facts] == [["too_hard"], [], []]


FROM_NOWHERE = r"""
import threading, sys
from pathlib import Path
from holdfast.index.code_index import open_index, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.tools.manage import manage_index

threading.Thread(target=threading.Event().wait, daemon=True).start()
index = open_index(Path(sys.argv[1]), HashedEmbedding())
index.start, index.processes = run_here, 2
answer = manage_index(index, "create", sys.argv[2])
assert answer.status == "ok", answer
with index.backend.reader(sys.argv[2]) as reader:
    from holdfast.index.facts.model import decode
    for path, data in reader.all_facts():
        facts = decode(data)
        print(path, len(facts.symbols), *[problem.code for problem in facts.problems])
index.close()
"""


@pytest.mark.long
@pytest.mark.shows("INDEX-POOL-UNSTARTED")
@pytest.mark.parametrize(
    "limits", ["", "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (24, 24))"]
)
def test_a_program_from_nowhere_with_threads_indexes_all_the_same(
    tmp_path: Path, limits: str
) -> None:
    """Its workers could not import it and died, and every file was indexed as plain text."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(60):
        (tree / f"f{number}.py").write_bytes(GOOD["good.py"] * 6)
    ran = subprocess.run(
        [sys.executable, "-", str(tmp_path / "home"), str(tree)],
        input=limits + FROM_NOWHERE, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert sorted(ran.stdout.split("\n")) == sorted(["", *(f"f{n}.py 360" for n in range(60))])
    assert not ran.stderr


@pytest.mark.long
@pytest.mark.shows("FACT-ENDS")
@pytest.mark.usefixtures("impatient")
def test_workers_make_the_same_of_such_texts() -> None:
    """Theirs was one chunk for the whole file, and an exact search did not look there."""
    texts = {path: endless(path) for path in list(ENDLESS)[:2]} | GOOD
    jobs = [
        SourceFile(path, source, Entry(Stat(len(source), 0, 0), path))
        for path, source in texts.items()
    ]
    recipe = Recipe(extract_facts, None)
    here = list(prepare_all(jobs, recipe, total_bytes=0))
    there = list(prepare_all(jobs, recipe, total_bytes=1 << 30, processes=2))
    for one, other in zip(here, there, strict=True):
        # The terms of postings and links have no order, so their bytes may differ. Only workers
        # pack facts.
        left_out = {"postings": b"", "links": b"", "packed_facts": b""}
        assert replace(one, **left_out) == replace(other, **left_out)
    assert [file.problem for file in there] == [None] * len(jobs)
    codes = [[problem.code for problem in decode(file.facts).problems] for file in there]
    assert codes == [["too_hard"], ["too_hard"], [], []]


@pytest.mark.shows("FACT-ENDS")
def test_a_trial_that_somebody_ended_says_nothing_about_the_text() -> None:
    expected = extract("good.py", GOOD["good.py"])
    assert trial._trial is not None
    os.kill(trial._trial._process.pid, signal.SIGKILL)
    assert extract("good.py", GOOD["good.py"]) == expected


@pytest.mark.long
@pytest.mark.shows("FACT-ENDS")
def test_threads_take_turns() -> None:
    expected = {path: extract(path, source) for path, source in GOOD.items()}
    wrong: list[str] = []

    def many(path: str) -> None:
        wrong.extend(path for _ in range(20) if extract(path, GOOD[path]) != expected[path])

    threads = [threading.Thread(target=many, args=(path,)) for path in GOOD for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


ALONE = r"""
import fcntl, os, sys, threading
from holdfast.index.facts import trial_parse as trial
from holdfast.index.facts.extract import extract

lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(lock, fcntl.LOCK_EX)
if sys.argv[2] == "with threads":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
assert extract("a.py", b"def total(): ...\n" * 100).symbols
assert trial._trial is not None
os.close(lock)
again = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
if not os.fork():
    os._exit(not extract("a.py", b"def total(): ...\n" * 100).symbols)
assert os.wait()[1] == 0
assert extract("a.py", b"def total(): ...\n" * 100).symbols
print(trial._trial._process.pid, flush=True)
"""


@pytest.mark.shows("FACT-ENDS")
@pytest.mark.parametrize("how", ["alone", "with threads"])
def test_the_trial_holds_nothing_of_ours_and_ends_with_us(tmp_path: Path, how: str) -> None:
    """An open file is a lock held, so a process that inherits it keeps a lease for ever."""
    ran = subprocess.run(
        [sys.executable, "-c", ALONE, str(tmp_path / "lock"), how],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    with suppress(ProcessLookupError):
        ended = os.pidfd_open(int(ran.stdout))
        assert select.select([ended], [], [], 60)[0], "the process on trial outlived us"
        os.close(ended)


@pytest.mark.long
def test_an_interrupted_trial_says_nothing_about_the_next_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grammar = ("tree_sitter_python", "language")
    fine = b"x = 1\n" * 400
    assert trial.passes(grammar, fine, 5.0)

    def interrupted(*args: object) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            trial.passes(grammar, fine, 5.0)
    assert not trial.passes(("tree_sitter_c_sharp", "language"), b"&|" * 50_000, 0.3)
    assert trial.passes(grammar, fine, 5.0)


def test_a_process_that_cannot_parse_judges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It used to be taken for a text that is too hard, and every file lost its symbols."""
    if trial._trial is not None:
        # For good: what is closed must not come back when the test ends.
        trial._trial.close()
        trial._trial = None
    monkeypatch.setattr(trial, "serve", lambda: None)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert trial.passes(("tree_sitter_python", "language"), b"x = 1\n" * 400, 5.0) is None
    assert len(extract("good.py", GOOD["good.py"]).symbols) == 60


BUSY = r"""
import gc, os, sys, time
from holdfast.index.facts import parse as parsing
from holdfast.index.facts.extract import extract

us = os.getpid()
parsing.SLOWEST_SECONDS = 0.2

def long_collection(phase, info):
    if phase == "start" and (os.getpid() == us) == (sys.argv[1] == "here"):
        until = time.thread_time() + 0.3
        while time.thread_time() < until:
            pass

text = b"def total(): ...\n" * 3000
assert len(extract("a.py", text).symbols) == 3000
if sys.argv[1] == "there":
    from holdfast.index.facts import trial_parse as trial
    trial._trial.close()
    trial._trial = None
gc.collect()
gc.callbacks.append(long_collection)
gc.set_threshold(5000 if sys.argv[1] == "here" else 1)
assert len(extract("a.py", text).symbols) == 3000
"""


@pytest.mark.long
@pytest.mark.shows("FACT-ENDS")
@pytest.mark.parametrize("where", ["here", "there"])
def test_a_collection_of_garbage_is_no_time_of_the_text(where: str) -> None:
    """In a host of some size one takes seconds, and a file of 40 functions was kept as text."""
    ran = subprocess.run(
        [sys.executable, "-c", BUSY, where],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


@pytest.mark.shows("FACT-ENDS")
def test_time_that_a_text_did_not_take_is_not_held_against_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a machine stood still, that may be counted as the time of its processes."""
    first = trial._Trial.passes
    late: list[bytes] = []

    def once_late(
        self: trial._Trial, grammar: object, source: bytes, seconds: float, queried: str
    ) -> bool | None:
        if not late:
            late.append(source)
            os.kill(self._process.pid, signal.SIGPROF)
        return first(self, grammar, source, seconds, queried)  # type: ignore[arg-type]

    monkeypatch.setattr(trial._Trial, "passes", once_late)
    assert len(extract("good.py", GOOD["good.py"]).symbols) == 60
    assert late
