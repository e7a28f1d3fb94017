"""Run one git command within limits of time, memory and output, ended with the process that asks.

A shell sets the limits and becomes git. Limits that are set after the start come too late: git asks
for all the memory at once. The deadline is kept by our process; if that is killed, git is killed
by the system (`parent_death.py`), even when it waits for a FIFO. The shell waits for a line before
it becomes git, which is sent when that is arranged. git and what it starts are a process group of
their own, so that all of them end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

from holdfast import parent_death

ANSWER_BYTES_MAX = 64 * 1024 * 1024
"""A longer answer is not used: a few bytes of a pack can unfold to gigabytes."""

MEMORY_BYTES_MAX = 2 << 30
"""Of git's own memory; mapped packs do not count. A few bytes of a delta can ask for any amount."""

_SET_AND_RUN = """
ulimit -d "$0"; ulimit -t "$1"
read -r started || exit 1
stdin=$2; shift 2
exec "$@" <"$stdin"
"""


def output(command: list[str], environment: dict[str, str], timeout_s: float) -> bytes | None:
    """What a command prints; None if it fails, takes too long or prints too much."""
    try:
        with _started(command, environment, os.devnull, timeout_s) as (git, printed):
            answer = printed.read(ANSWER_BYTES_MAX + 1)
            if len(answer) > ANSWER_BYTES_MAX:
                return None
            return answer if _succeeded(git) else None
    except OSError:
        return None


def batch(
    command: list[str], environment: dict[str, str], requests: str, timeout_s: float
) -> Iterator[bytes | None]:
    """The contents that `git cat-file --batch` prints for the names in a file; None if missing."""
    with _started(command, environment, requests, timeout_s) as (_, printed):
        while head := printed.readline(1024):
            fields = head.split()
            if len(fields) != 3 or not fields[2].isdigit():
                yield None
                continue
            size = int(fields[2])
            if size > ANSWER_BYTES_MAX:
                return
            content = printed.read(size + 1)
            if len(content) != size + 1:
                return
            yield content[:-1]


@contextmanager
def _started(
    command: list[str], environment: dict[str, str], stdin: str, timeout_s: float
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """A running command and what it prints; it is killed at the end, and after its time."""
    limits = [str(MEMORY_BYTES_MAX >> 10), str(int(timeout_s) + 1)]
    with ExitStack() as stack:
        theirs, life = os.pipe()
        stack.callback(os.close, life)
        try:
            git = subprocess.Popen(  # noqa: S603
                ["/bin/sh", "-c", _SET_AND_RUN, *limits, stdin, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                pass_fds=(theirs,),
                process_group=0,
            )
            stack.enter_context(git)
            stack.callback(_kill, git)
            parent_death.kill_when_closed(theirs, -git.pid)
        finally:
            os.close(theirs)
        assert git.stdin is not None
        assert git.stdout is not None
        with suppress(BrokenPipeError):
            git.stdin.write(b"\n")
            git.stdin.close()
        deadline = threading.Timer(timeout_s, _kill, [git])
        deadline.daemon = True
        deadline.start()
        stack.callback(deadline.cancel)
        yield git, git.stdout


def _succeeded(git: subprocess.Popen[bytes]) -> bool:
    """Wait for the end of a command; whether it ended with 0.

    `Popen.wait` takes a lost exit code for 0. It is lost if this process ignores SIGCHLD, as some
    programs leave it to those they start, or waits for any child elsewhere.
    """
    try:
        _, status = os.waitpid(git.pid, 0)
    except ChildProcessError:
        return False
    git.returncode = os.waitstatus_to_exitcode(status)
    return git.returncode == 0


def _kill(git: subprocess.Popen[bytes]) -> None:
    # Not `poll`: until it was waited for, the group has its number, also if only children are left.
    if git.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(git.pid, signal.SIGKILL)
