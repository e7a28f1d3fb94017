"""No process that Holdfast starts outlives the one that started it, however that one ends.

After a whole run of the tests, three `git status` that waited for a FIFO and two workers of a build
were alive without a parent: tests had killed their hosts.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="waits for the end of other processes"),
    pytest.mark.shows("SEC-ENDS-WITH-PARENT"),
]

GIT = """
import sys, tempfile
from holdfast.files import git_process
from pathlib import Path
folder = Path(tempfile.mkdtemp(dir=sys.argv[1]))
program = folder / "git"
program.write_text(f"#!/bin/sh\\necho $$\\n{sys.argv[2]}\\n")
program.chmod(0o755)
(folder / "names").write_text("")
def show(line): print(line.decode().strip(), flush=True)
with git_process._started([str(program)], {}, str(folder / "names"), 60.0) as (_, printed):
    for line in printed: show(line)
"""
POOL = """
import signal, sys, threading
from holdfast.index.building import worker_pool
from tests.test_parent_death import endless
if sys.argv[2] == "spawned":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
pool = worker_pool.WorkerPool(endless, 2)
started = []
real = worker_pool.WorkerPool._started
def noted(self):
    worker = real(self)
    started.append(worker)
    return worker
worker_pool.WorkerPool._started = noted
def orders():
    for number in range(2): yield number, sys.argv[3].encode()
    for worker in started:
        worker.receive()  # it is ready
        print(worker.process.pid, flush=True)
    signal.pause()
for _ in pool.answers(orders()): pass
"""
PARSER = """
import os, signal, sys, threading
from holdfast.index import processes
from tests.test_parent_death import parsing
if sys.argv[2] == "spawned":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
texts, ours = os.pipe()
verdicts, theirs = os.pipe()
process = processes.start(parsing, texts, theirs)
assert os.read(verdicts, 1)
print(process.pid, flush=True)
signal.pause()
"""
TRIAL = """
import os, signal, sys, threading
from holdfast.index.facts import extractor, trial_parse
if sys.argv[2] == "spawned":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
made = extractor.Extractor()
made.extract("shop.py", b"def total(): ...\\n")
trial_parse.passes(("tree_sitter_python", "language"), b"x = 1\\n", 5.0)
for process in (made._idle[0]._process, trial_parse._trial._process):
    os.kill(process.pid, signal.SIGSTOP)
    print(process.pid, flush=True)
signal.pause()
"""
WALK = """
import os, signal, sys
from holdfast.files.policy import Policy
from holdfast.files.snapshot import Snapshot
from holdfast.index.generations import walk_ahead
def stopped(*arguments): os.kill(os.getpid(), signal.SIGSTOP)
walk_ahead.looked_at = stopped
walk = walk_ahead.WalkAhead(sys.argv[1], Policy(), lambda: Snapshot({}, 0), None, (0.0, 0))
os.waitpid(walk.process.pid, os.WUNTRACED)
print(walk.process.pid, flush=True)
signal.pause()
"""
"""Programs that start processes, print their ids and wait."""


def endless(orders: object, results: object) -> None:
    """The work of a worker that never answers."""
    from multiprocessing.connection import Connection

    from holdfast.index.building.worker_pool import ready

    assert isinstance(orders, Connection)
    assert isinstance(results, Connection)
    ready(results)
    if orders.recv_bytes() == b"stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        pass


def parsing() -> None:
    """A process that does not look at its pipes, as while a text is parsed."""
    os.write(1, b"r")
    while True:
        pass


def children_of(program: str, *arguments: str, count: int, how: signal.Signals) -> list[int]:
    """Run a program until it printed the ids of its children, and kill it; their descriptors."""
    # The programs import this module, whatever an earlier test made of the directory and the path.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        try:
            pids = [int(parent.stdout.readline()) for _ in range(count)]
            ended = [os.pidfd_open(pid) for pid in pids]
        finally:
            parent.send_signal(how)
    return ended


def check_ended(children: list[int]) -> None:
    for child in children:
        try:
            assert select.select([child], [], [], 120)[0], "a process outlived its parent"
        finally:
            if _is_alive(child):
                signal.pidfd_send_signal(child, signal.SIGKILL)
            os.close(child)


def _is_alive(child: int) -> bool:
    return not select.select([child], [], [], 0)[0]


CASES = {
    "git that waits for a FIFO": (GIT, ["mkfifo $0.pipe; cat $0.pipe"], 1),
    "git that is busy": (GIT, ["while :; do :; done"], 1),
    "git that is stopped": (GIT, ["kill -STOP $$"], 1),
    "git that started another program": (GIT, ["sh -c 'echo $$; mkfifo $0.p; cat $0.p' $0"], 2),
    "forked workers": (POOL, ["forked", "busy"], 2),
    "spawned workers": (POOL, ["spawned", "busy"], 2),
    "forked workers that are stopped": (POOL, ["forked", "stopped"], 2),
    "spawned workers that are stopped": (POOL, ["spawned", "stopped"], 2),
    "forked parser": (PARSER, ["forked"], 1),
    "spawned parser": (PARSER, ["spawned"], 1),
    "forked parsers that are stopped": (TRIAL, ["forked"], 2),
    "spawned parsers that are stopped": (TRIAL, ["spawned"], 2),
    "walk ahead that is stopped": (WALK, [], 1),
}


TERMINATED = ["git that waits for a FIFO", "spawned workers"]


@pytest.mark.parametrize(
    ("case", "how"),
    [
        *((case, signal.SIGKILL) for case in CASES),
        *((case, signal.SIGTERM) for case in TERMINATED),
    ],
)
def test_a_process_ends_with_its_parent(tmp_path: Path, case: str, how: signal.Signals) -> None:
    program, arguments, count = CASES[case]
    check_ended(children_of(program, str(tmp_path), *arguments, count=count, how=how))


EARLY_GIT = """
import os, signal, sys
from holdfast import parent_death
from holdfast.files import git_process
def died(pipe, owner):
    print(-owner, flush=True)
    signal.pause()
parent_death.kill_when_closed = died
git_process.output(["/bin/sh", "-c", "while :; do :; done"], {}, 60.0)
"""
EARLY_WORKER = """
import os, signal, threading
from holdfast.index import processes
from tests.test_parent_death import parsing
threading.Thread(target=threading.Event().wait, daemon=True).start()
real = os.posix_spawn
def died(*arguments, **named):
    stop_first = ["sh", "-c", 'kill -STOP $$; exec "$0" "$@"', *arguments[1]]
    pid = real("/bin/sh", stop_first, *arguments[2:], **named)
    os.waitpid(pid, os.WUNTRACED)
    print(pid, flush=True)
    signal.pause()
os.posix_spawn = died
texts, ours = os.pipe()
verdicts, theirs = os.pipe()
processes.start(parsing, texts, theirs)
"""


@pytest.mark.parametrize("program", [EARLY_GIT, EARLY_WORKER], ids=["git", "worker"])
def test_a_parent_that_dies_while_it_starts_a_process_leaves_none(program: str) -> None:
    """Between its start and the arrangement, a process is not killed with its parent."""
    children = children_of(program, count=1, how=signal.SIGKILL)
    for child in children:
        if _is_alive(child):
            signal.pidfd_send_signal(child, signal.SIGCONT)
    check_ended(children)


def test_an_idle_process_outlives_the_thread_that_started_it() -> None:
    """The parent-death signal of Linux would kill it: it follows the thread."""
    import threading

    from holdfast.index.facts import extractor

    made = extractor.Extractor()
    asked = threading.Thread(target=made.extract, args=("shop.py", b"def total(): ...\n"))
    asked.start()
    asked.join(60)
    try:
        (process,) = made._idle
        assert process.extract(b"shop.py", b"", b"def total(): ...\n") is not None
    finally:
        made.close()
