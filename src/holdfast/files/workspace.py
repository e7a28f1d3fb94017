"""Opens files inside a workspace boundary, and finds out what the boundary is.

`boundary.py` decides; here are the questions to the file system. A file is decided about twice:
by its real path before it is touched, and by the path of the descriptor after it was opened. So a
link that is exchanged in between is noticed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError
from holdfast.files.boundary import (
    HOME_PARENTS,
    SYSTEM,
    Allowed,
    Boundary,
    Machine,
    OutsideWorkspace,
    Refused,
    Root,
    Source,
)

OPENING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Opening never waits for a pipe and never follows a link: the path is a real path already."""

PATH_LENGTH_MAX = 4096

STICKY_FOR_ALL = stat.S_ISVTX | stat.S_IWOTH
PEOPLE_FROM, PEOPLE_TO = 1000, 60000
"""The user ids of people, without the administrator's. Services have lower ones."""

Roots = Callable[[], Iterable[Root]]


class Workspace:
    """What one client may read. Its roots are looked up step by step: most calls need the first."""

    def __init__(self, machine: Callable[[], Machine], sources: Sequence[Roots]) -> None:
        self._machine, self._sources = machine, list(sources)
        self._boundary: Boundary | None = None

    def admit(self, path: str) -> str:
        """The real path of a path that may be read; raises `OutsideWorkspace` or OSError."""
        _check_length(path)
        return self._admitted(path, real_path(path), None).real

    def admits(self, path: str) -> bool:
        if len(path) > PATH_LENGTH_MAX:
            return False
        return isinstance(self._decide(path, real_path(path), None), Allowed)

    def open(self, path: str) -> int:
        """A descriptor of a file inside; raises `OutsideWorkspace` or OSError."""
        descriptor = os.open(self._resolved(path), OPENING)
        try:
            status = os.fstat(descriptor)
            opened = _opened_path(descriptor, status, path)
            if status.st_dev in system_devices():
                opened = SYSTEM[0]
            self._admitted(path, opened, status.st_uid)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _resolved(self, path: str) -> str:
        """The real path of a file that may be read; raises as opening it would if there is none."""
        _check_length(path)
        try:
            real = os.path.realpath(path, strict=True)
        except (OSError, ValueError):
            self.admit(path)  # the refusal comes first: it must not reveal what exists
            raise
        real = self._admitted(path, real, None).real
        os.stat(path)  # raises for `file/..`, which `realpath` takes for the directory of the file
        return real

    def read(self, path: str, limit_bytes: int) -> bytes | None:
        """The first bytes of a regular file inside; None if it is something else."""
        with os.fdopen(self.open(path), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return file.read(limit_bytes)

    def _admitted(self, path: str, real: str, owner: int | None) -> Allowed:
        decided = self._decide(path, real, owner)
        if isinstance(decided, Refused):
            raise OutsideWorkspace(decided)
        return decided

    def _decide(self, path: str, real: str, owner: int | None) -> Allowed | Refused:
        decided: Allowed | Refused | None = None
        for boundary in self._boundaries():
            decided = boundary.admit(path, real, owner)
            if isinstance(decided, Allowed):
                break
        assert decided is not None, "there is a boundary, if an empty one"
        return decided

    def _boundaries(self) -> Iterator[Boundary]:
        """The boundary as far as it is known, then with more roots, until all are known."""
        if self._boundary is None:
            self._boundary = Boundary(self._sources.pop(0)(), self._machine())
        yield self._boundary
        while self._sources:
            roots = (*self._boundary.roots, *self._boundary.dropped)
            self._boundary = Boundary((*roots, *self._sources.pop(0)()), self._boundary.machine)
            yield self._boundary


def _check_length(path: str) -> None:
    """No file has a longer path, and resolving one takes time for each of its parts."""
    if len(path) > PATH_LENGTH_MAX:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))


def real_path(path: str) -> str:
    """The path without links, as far as it exists."""
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL; opening it reports that
        return os.path.normpath(path)
    except PermissionError:  # a link that does not tell where it leads: those of other processes
        return SYSTEM[0]


def _opened_path(descriptor: int, stat: os.stat_result, path: str) -> str:
    """The real path of an open file; raises OSError if it is not the file that was decided about.

    Where the system does not tell the path of a descriptor, the file must still be the one that
    its name leads to.
    """
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").removesuffix(" (deleted)")
    except OSError:
        real = real_path(path)
        now = os.lstat(real)
        if (now.st_dev, now.st_ino) != (stat.st_dev, stat.st_ino):
            raise FileNotFoundError(2, "the file was replaced while it was opened", path) from None
        return real


def system_devices() -> frozenset[int]:
    """The devices of `/proc`, `/sys` and `/dev`, which may be mounted at other places too."""
    global _system_devices
    if _system_devices is None:
        devices = set()
        for place in SYSTEM:
            with suppress(OSError):
                devices.add(os.stat(place).st_dev)
        _system_devices = frozenset(devices - {os.stat("/").st_dev})
    return _system_devices


_system_devices: frozenset[int] | None = None


def roots_at(paths: Iterable[str], source: Source) -> list[Root]:
    """Absolute paths as roots. A tree that is gone stays one, so that it can be asked about."""
    return [
        Root(real_path(path), source, _is_shared(path)) for path in paths if os.path.isabs(path)
    ]


def _is_shared(path: str) -> bool:
    try:
        return os.stat(path).st_mode & STICKY_FOR_ALL == STICKY_FOR_ALL
    except (OSError, ValueError):
        return False


def machine_of(user_home: str, private: Iterable[str], settings: str) -> Machine:
    """This machine, for the user of this process."""
    user = os.getuid()
    own, others, reals = {real_path(user_home)}, set(), set()
    for uid, home in _accounts():
        real = real_path(home)
        reals.add(real)
        if uid == user:
            own.add(real)
        elif uid == 0 or PEOPLE_FROM <= uid < PEOPLE_TO:
            others.add(real)
    own.discard("/")
    others -= own | {"/"}
    above = {home for home in others if any(f"{mine}/".startswith(f"{home}/") for mine in own)}
    return Machine(
        user,
        tuple(sorted(own)),
        tuple(sorted(others - above)),
        tuple(path for path in _members(user) if path not in reals),
        tuple(real_path(path) for path in private),
        settings,
    )


def _accounts() -> list[tuple[int, str]]:
    try:
        import pwd
    except ImportError:
        return []
    return [(one.pw_uid, one.pw_dir) for one in pwd.getpwall() if one.pw_dir.startswith("/")]


def _members(user: int) -> Iterator[str]:
    """The directories in `/home` that belong to a user."""
    for parent in HOME_PARENTS:
        with suppress(OSError), os.scandir(parent) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_uid == user:
                    yield entry.path


def settings_table(settings: Path, name: str) -> dict[str, Any]:
    """A table of the settings; empty if it is not there. Raises UsageError if it cannot be read."""
    import tomllib

    try:
        table = tomllib.loads(settings.read_text(encoding="utf-8")).get(name, {})
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{settings} cannot be read: {error}", "correct or remove it") from error
    if not isinstance(table, dict):
        raise UsageError(f"{settings}: {name} must be a table", f"[{name}]")
    return table


def allowed_directories(settings: Path, user_home: str) -> list[str]:
    """What `[workspace] allow` names; raises UsageError if the settings are wrong."""
    import tomllib

    try:
        table = tomllib.loads(settings.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{settings} cannot be read: {error}", "correct or remove it") from error
    workspace = table.get("workspace", {})
    unknown = sorted(set(workspace) - {"allow"}) if isinstance(workspace, dict) else ["workspace"]
    if unknown:
        raise UsageError(
            f"{settings}: unknown setting {unknown[0]!r}", '[workspace] has allow = ["/directory"]'
        )
    allow = workspace.get("allow", [])
    if not isinstance(allow, list) or not all(isinstance(one, str) for one in allow):
        raise UsageError(
            f"{settings}: allow must be a list of directories",
            '[workspace] allow = ["/srv/data"]',
        )
    expanded = [user_home + one[1:] if one == "~" or one.startswith("~/") else one for one in allow]
    relative = [one for one in expanded if not os.path.isabs(one)]
    if relative:
        raise UsageError(
            f"{settings}: {relative[0]!r} in allow is not an absolute path",
            '[workspace] allow = ["/srv/data"]',
        )
    return expanded
