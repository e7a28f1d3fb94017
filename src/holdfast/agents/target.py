"""Where agents keep their settings, and the command with which they start us."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from holdfast.agents.client import InstallTarget
from holdfast.app import App
from holdfast.home import home_of

PERL = ("/usr/bin/perl", "/bin/perl", "/usr/local/bin/perl")
"""Where Perl may be; not looked up in PATH, which may contain a folder of a repository."""


def target_of(app: App, scope: str = "user", start: str | None = None) -> InstallTarget:
    """The settings of the user or, with scope `project`, of the working directory."""
    project = Path.cwd() if scope == "project" else None
    home, program = _with_home(app, project), _command(start, project)
    quick = () if project is not None else _quick(program)
    return InstallTarget(
        Path(app.user_home),
        project,
        (*home, *program),
        app.environment,
        quick=quick,
        quick_home=(str(app.home),) if home else (),
    )


def _quick(program: tuple[str, ...]) -> tuple[str, ...]:
    """The small client for hooks of this installation: in Perl if available, else in Python.

    Empty for a program installed elsewhere: it may be another version, or run in a container.
    """
    from holdfast.agents import hook_client

    if program[0] != sys.executable and Path(program[0]).parent != Path(sys.executable).parent:
        return ()
    perl = next((name for name in PERL if os.access(name, os.X_OK)), None)
    if perl is None or sys.platform not in ("linux", "darwin"):
        return (sys.executable, "-I", "-S", hook_client.__file__)
    return (perl, str(Path(hook_client.__file__).with_suffix(".pl")), sys.executable)


def _with_home(app: App, project: Path | None) -> tuple[str, ...]:
    """The prefix that makes an agent use the home of this process, if it is not the default.

    Empty for a project, whose files are shared between users.
    """
    default = home_of({"HOME": app.user_home})
    if project is not None or app.home == default:
        return ()
    return ("env", f"HOLDFAST_HOME={app.home}")


def _command(start: str | None, project: Path | None) -> tuple[str, ...]:
    """How an agent starts us: by name in a project that others share, else by full path."""
    if start is not None:
        return (start,)
    program = shutil.which("holdfast")
    if program is not None and not os.path.isabs(program):
        program = None  # a relative entry of PATH depends on the working directory
    if project is not None and program is not None:
        return ("holdfast",)
    started = Path(sys.argv[0])
    if started.name == "holdfast" and started.is_file():
        return (str(started.resolve().absolute()),)
    if program is not None:
        return (str(Path(program).absolute()),)
    # -P: without it Python would import modules from the working directory, which is a repository.
    return (sys.executable, "-P", "-m", "holdfast")
