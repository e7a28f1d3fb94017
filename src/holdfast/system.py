"""The machine's clock, randomness and environment: the defaults that `app.py` passes on.

No other module reads them. A class that needs the time or an id takes it as a parameter; a value
from here is at most the default of that parameter, so a test can pass its own.

Imports only what Python has loaded at start-up: the MCP shim imports this.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from datetime import datetime


class Clock:
    """The time of day and the time that passes. Tests pass a subclass they control."""

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def now_ns(self) -> int:
        """Nanoseconds since 1970."""
        return time.time_ns()

    def now_s(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def utc_now(self) -> datetime:
        from datetime import UTC, datetime

        return datetime.fromtimestamp(self.now_ns() / 1e9, UTC)

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        return time.monotonic()


CLOCK = Clock()

now_ms: Callable[[], int] = CLOCK.now_ms
now_ns: Callable[[], int] = time.time_ns
now_s: Callable[[], float] = time.time
monotonic: Callable[[], float] = time.monotonic
utc_now: Callable[[], datetime] = CLOCK.utc_now

thread_s: Callable[[], float] = time.thread_time
"""Seconds of processor time that this thread used."""
process_s: Callable[[], float] = time.process_time
"""Seconds of processor time that this process used."""

expand_user: Callable[[str], str] = os.path.expanduser
"""Replaces a leading `~` with the home directory of the user that runs this process."""

random_bytes: Callable[[int], bytes] = os.urandom


def random_fraction() -> float:
    """A number from 0 up to but excluding 1, evenly distributed."""
    return int.from_bytes(os.urandom(7), "big") / (1 << 56)


def new_id() -> str:
    """A short id: 8 hexadecimal digits."""
    return os.urandom(4).hex()


def new_long_id() -> str:
    """An id that is unique across machines: 32 hexadecimal digits."""
    return os.urandom(16).hex()


def new_token() -> str:
    """A token of 192 bits, in letters, digits, `-` and `_`."""
    return _url_safe(os.urandom(24))


def new_secret() -> str:
    """A secret of 256 bits, in letters, digits, `-` and `_`."""
    return _url_safe(os.urandom(32))


def _url_safe(data: bytes) -> str:
    import base64

    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def login_name() -> str:
    """The name of the user that this process belongs to; empty if the system knows none."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""


def environment() -> Mapping[str, str]:
    """The environment of this process."""
    return os.environ


def keep_exit_codes() -> None:
    """Let the exit codes of children be read, also if the parent of this process ignored SIGCHLD.

    That is inherited, and the system then keeps no exit codes: every failure of git is unknown.
    """
    import _signal  # type: ignore[import-not-found]  # `signal` imports `enum`, which is slow

    if _signal.getsignal(_signal.SIGCHLD) == _signal.SIG_IGN:
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)


def secure_imports() -> None:
    """Import nothing from the working directory, which may be an untrusted repository.

    `python -m` puts it on the path of imports, and relative entries of PYTHONPATH lead into it; an
    empty entry is the directory itself. Processes that this one starts inherit what is left.
    """
    try:
        here = os.getcwd()
    except OSError:
        return
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    search_path = os.environ.get("PYTHONPATH", "")
    entries = search_path.split(os.pathsep) if search_path else []
    places = {entry: os.path.normpath(os.path.join(here, entry)) for entry in entries}
    unsafe = {place for entry, place in places.items() if not os.path.isabs(entry)}
    if sys.path and sys.path[0] in ("", here):
        unsafe.add(here)
    unsafe -= {ours, *(place for entry, place in places.items() if os.path.isabs(entry))}
    sys.path[:] = [p for p in sys.path if os.path.normpath(os.path.join(here, p)) not in unsafe]
    if unsafe & set(places.values()):
        safe = [place for place in places.values() if place not in unsafe]
        os.environ["PYTHONPATH"] = os.pathsep.join(safe)
        if not safe:
            del os.environ["PYTHONPATH"]


def prepare_process() -> None:
    """Set environment variables that libraries read; called once, when a process starts."""
    # Our matrices are too small for several threads, and numpy loads faster without them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # An empty HOME would make `~` the root directory. If unset, the password database is used.
    if os.environ.get("HOME") == "":
        del os.environ["HOME"]


def leave(code: int) -> None:
    """End this process with an exit code, without freeing its objects one by one.

    After a search of a large tree, freeing them takes a tenth of the whole time. Exit handlers run
    and output is flushed as usual. With other threads the process ends as usual, after their work.
    """
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        raise SystemExit(code)
    import atexit

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # the shell's `>&-` closes it
                stream.flush()
        except (OSError, ValueError):
            code = code or 1
    os._exit(code)
