"""Runs the tests in several processes, forked after one of them collected: `pytest --workers=3`.

Collecting takes eight seconds of processor time, and telling another interpreter of a test takes
longer than most of the tests. So the tests are collected once; the workers are forks that have them
already, take numbers of runs of tests from a pipe, and send the reports of one test together.

A run is a file, or a part of one towards the end, so that fixtures of a module are made once. A
worker that dies fails the test that it ran, and another one takes its place.
"""

from __future__ import annotations

import atexit
import gc
import mmap
import os
import random
import struct
import sys
import tempfile
import traceback
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

import pytest
from _pytest.capture import FDCapture

SMALLEST_RUN = 6
SHARE = 8
"""A run is at most an eighth of what is left for each worker."""
NONE = -1
NUMBER = struct.Struct("i")
MOST_RUNS = 16_000
"""So many numbers fit into a pipe before a worker reads one."""


def runs_of(items: list[pytest.Item], workers: int, together: Collection[Path] = ()) -> list[range]:
    """The tests in runs of neighbours, each from one file; the last ones are short.

    Neighbours from files that belong `together` are one run.
    """
    runs: list[range] = []
    start = 0
    for shared, group in groupby(
        items, key=lambda item: None if item.path in together else item.path
    ):
        end = start + sum(1 for _ in group)
        while start < end:
            length = max(SMALLEST_RUN, (len(items) - start) // (workers * SHARE))
            if shared is None:
                length = end - start
            runs.append(range(start, min(end, start + length)))
            start = runs[-1].stop
    return runs


class Board:
    """The test that each worker runs and the run it does next, in memory that all share."""

    def __init__(self, workers: int) -> None:
        self._cells = memoryview(mmap.mmap(-1, (2 * workers + 1) * NUMBER.size)).cast("i")

    def enter(self, worker: int, test: int, next_run: int) -> None:
        self._cells[2 * worker + 1], self._cells[2 * worker + 2] = test, next_run

    def entry(self, worker: int) -> tuple[int, int]:
        return self._cells[2 * worker + 1], self._cells[2 * worker + 2]

    @property
    def stopped(self) -> bool:
        return self._cells[0] == 1

    def stop(self) -> None:
        self._cells[0] = 1


@dataclass(frozen=True)
class Plan:
    """What the workers share: the tests, their runs, and the pipe with the numbers of runs."""

    session: pytest.Session
    runs: list[range]
    queue: int
    board: Board
    directory: Path

    def take(self) -> int:
        """The number of a run that no worker has, or NONE."""
        data = os.read(self.queue, NUMBER.size)
        return int(NUMBER.unpack(data)[0]) if data else NONE


class Workers:
    """In the process that collected: forks the workers and passes their reports on."""

    def __init__(self, count: int, together: Collection[Path] = ()) -> None:
        self._count = count
        self._together = together
        self._workers: dict[Connection, tuple[int, int]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        config = session.config
        count = min(self._count, len(session.items))
        if count < 2 or session.testsfailed or config.option.collectonly:
            return None
        terminal = config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.showfspath = False  # The files of the workers would take turns.
        runs = runs_of(session.items, count, self._together)
        assert len(runs) < MOST_RUNS
        queue, numbers = os.pipe()
        os.write(numbers, b"".join(map(NUMBER.pack, range(len(runs)))))
        os.close(numbers)
        directory = _temporary_directories(config).getbasetemp()
        self._plan = Plan(session, runs, queue, Board(count), directory)
        gc.freeze()
        # Only tests that start hosts or commands have imported it.
        forking = sys.modules.get("tests.fork_server")
        shared = None if forking is None else forking.SharedForkServer(count)
        self._forks = [] if shared is None else shared.clients
        try:
            for worker in range(count):
                self._fork(worker, [])
            while self._workers:
                for connection in wait(list(self._workers)):
                    assert isinstance(connection, Connection)
                    self._receive(connection)
        finally:
            self._plan.board.stop()
            for pid, _ in self._workers.values():
                os.waitpid(pid, 0)
            os.close(queue)
            if shared is not None:
                shared.close()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        return True

    def _fork(self, worker: int, runs: list[tuple[int, range]]) -> None:
        reading, writing = Pipe(duplex=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of numpy's idle threads
            pid = os.fork()
        if pid == 0:
            code = 1
            try:
                reading.close()
                if self._forks:
                    sys.modules["tests.fork_server"].adopt(self._forks[worker])
                Worker(self._plan, worker, writing).run(runs)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        writing.close()
        self._workers[reading] = pid, worker

    def _receive(self, connection: Connection) -> None:
        session = self._plan.session
        try:
            test, reports = connection.recv()
        except EOFError:
            self._ended(connection)
            return
        hook, item = session.config.hook, session.items[test]
        made = [
            data
            if isinstance(data, pytest.TestReport)
            else hook.pytest_report_from_serializable(config=session.config, data=data)
            for data in reports
        ]
        location = made[0].location  # that of the item is computed only when someone asks
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=location)
        for report in made:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=location)
        if session.shouldfail or session.shouldstop:
            self._plan.board.stop()

    def _ended(self, connection: Connection) -> None:
        """A worker is done, or died: then its test failed and another worker does the rest."""
        pid, worker = self._workers.pop(connection)
        connection.close()
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        plan = self._plan
        if code == 0 or plan.board.stopped:
            return
        test, next_run = plan.board.entry(worker)
        assert test != NONE, f"worker {worker} ended with {code} between two tests"
        item = plan.session.items[test]
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed",
            longrepr=f"the worker that ran {item.nodeid} ended with {code}",
            when="call",
        )
        item.ihook.pytest_runtest_logreport(report=report)
        run = next(run for run in plan.runs if test in run)
        left = [(NONE, range(test + 1, run.stop))]
        if next_run != NONE:
            left.append((next_run, plan.runs[next_run]))
        self._fork(worker, [(number, run) for number, run in left if run])


class Worker:
    """A forked process: runs tests and sends their reports."""

    def __init__(self, plan: Plan, number: int, connection: Connection) -> None:
        self._plan = plan
        self._number = number
        self._connection = connection
        self._reports: list[object] = []

    def run(self, runs: list[tuple[int, range]]) -> None:
        """Do these runs, and then others as long as there are some."""
        plan, board = self._plan, self._plan.board
        board.enter(self._number, NONE, NONE)
        self._set_up()
        runs = runs or self._more()
        while runs and not board.stopped:
            _, tests = runs.pop(0)
            for test in tests:
                if board.stopped:
                    break
                if test == tests[-1] and not runs:
                    runs = self._more()
                board.enter(self._number, test, runs[0][0] if runs else NONE)
                follows = test + 1 if test != tests[-1] else runs[0][1].start if runs else None
                self._run_test(test, follows)
        board.enter(self._number, NONE, NONE)
        plan.session._setupstate.teardown_exact(None)
        # Handlers of tests; those from before the fork, of pytest, do nothing in another process.
        atexit._run_exitfuncs()

    def _more(self) -> list[tuple[int, range]]:
        number = self._plan.take()
        return [] if number == NONE else [(number, self._plan.runs[number])]

    def _run_test(self, test: int, follows: int | None) -> None:
        items = self._plan.session.items
        self._reports.clear()
        items[test].ihook.pytest_runtest_protocol(
            item=items[test], nextitem=None if follows is None else items[follows]
        )
        self._connection.send((test, self._reports))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed and not report.user_properties:
            self._reports.append(report)
            return
        config = self._plan.session.config
        data = config.hook.pytest_report_to_serializable(config=config, report=report)
        self._reports.append(data)

    def _set_up(self) -> None:
        """Take leave of what belongs to the process that collected."""
        config = self._plan.session.config
        for name in ("terminalreporter", "lfplugin", "nfplugin", "stepwiseplugin"):
            if config.pluginmanager.has_plugin(name):
                config.pluginmanager.unregister(name=name)
        config.pluginmanager.register(self, "worker")
        _capture_apart(config)
        directory = self._plan.directory / f"worker{self._number}"
        directory.mkdir(mode=0o700, exist_ok=True)
        _temporary_directories(config)._basetemp = directory
        random.seed()


def _capture_apart(config: pytest.Config) -> None:
    """Give the captured output files of its own, under the numbers of those that all share.

    The objects stay: programs under test may have kept `sys.stderr`.
    """
    manager: Any = config.pluginmanager.get_plugin("capturemanager")
    capture = manager._global_capturing
    for stream in (capture.out, capture.err):
        if isinstance(stream, FDCapture):
            with tempfile.TemporaryFile() as file:
                os.dup2(file.fileno(), stream.tmpfile.fileno(), inheritable=False)


def _temporary_directories(config: pytest.Config) -> Any:
    return config._tmp_path_factory  # type: ignore[attr-defined]
