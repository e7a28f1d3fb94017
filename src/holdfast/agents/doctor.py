"""Checks of an installation, each with its fix.

A check changes nothing. It may report a problem that would not have mattered; it reports something
as fine only after checking it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Literal

from holdfast.agents.client import Client, InstallTarget
from holdfast.agents.clients import CLIENTS
from holdfast.agents.plan import Edit
from holdfast.app import App
from holdfast.errors import HOME_HINT, CodeIndexError, HoldfastError, UsageError
from holdfast.extras import install_command, upgrade_command
from holdfast.index.facts import languages

State = Literal["ok", "note", "wrong"]

SQLITE_SOUND = (3, 51, 3)
FREE_BYTES_MIN = 500 * 1024 * 1024
WATCHES_MIN = 65_536


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `fix` is what to do about it."""

    about: str
    state: State
    message: str
    fix: str = ""


def examine(app: App, target: InstallTarget) -> Iterator[Finding]:
    """Run every check; a check that raises becomes a finding too."""
    checks: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
        ("python", _python),
        ("home", lambda: _home(app)),
        ("store", lambda: _store(app)),
        ("index", lambda: _index(app)),
        ("edits", lambda: _edits(app)),
        ("team", lambda: _team(app)),
        ("watching", _watching),
        ("host", lambda: _host(app)),
        ("agents", lambda: _agents(app, target)),
    ]
    for about, check in checks:
        try:
            yield from check()
        except (HoldfastError, OSError, ValueError) as error:
            hint = getattr(error, "hint", "") or "this check could not complete"
            yield Finding(about, "wrong", str(error) or type(error).__name__, hint)


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", f"Python {version}")
    for module, extra, use in (
        ("mcp", "agents", "agents cannot use the tools without it"),
        ("uvicorn", "serve", "`holdfast serve` needs it"),
    ):
        if importlib.util.find_spec(module) is None:
            fix = install_command(extra)
            yield Finding("python", "note", f"{module} is not installed; {use}", fix)
    lacking = [name for name in languages.OPTIONAL if languages.lacks_grammar(name)]
    if lacking:
        what = f"no grammar for {', '.join(lacking)}: their outlines are guessed, without calls"
        yield Finding("python", "note", what, install_command("languages"))
    if importlib.util.find_spec("numba") is None:
        slower = "numba is not installed; locate and clones work, and prepare large trees slower"
        yield Finding("python", "note", f"{slower} (about 3 times)", install_command("fast"))


def _home(app: App) -> Iterator[Finding]:
    home = app.home
    if not home.path.exists():
        above = next(path for path in home.path.parents if path.exists())
        if above.is_dir() and os.access(above, os.W_OK):
            yield Finding("home", "ok", f"{home} will be created when it is needed")
        else:
            fix = HOME_HINT
            yield Finding("home", "wrong", f"{home} cannot be created", fix)
        return
    if not home.exists() or not os.access(home, os.W_OK):
        fix = HOME_HINT
        yield Finding("home", "wrong", f"{home} is not a directory you can write to", fix)
        return
    if home.path.stat().st_mode & 0o077:
        yield Finding(
            "home", "wrong", f"{home} is readable by other users", f"chmod 700 {quote(str(home))}"
        )
    free = shutil.disk_usage(home).free
    if free < FREE_BYTES_MIN:
        message = f"{free // 1024 // 1024} MB are free where {home} is"
        yield Finding("home", "wrong", message, "make room, or set HOLDFAST_HOME to another disk")
    else:
        yield Finding("home", "ok", f"{home}, {free // 1024**3} GB free")


def _store(app: App) -> Iterator[Finding]:
    import apsw

    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    message = f"SQLite {apsw.sqlite_lib_version()}"
    if version < SQLITE_SOUND:
        yield Finding("store", "wrong", f"{message} can lose data", "pip install --upgrade apsw")
    else:
        yield Finding("store", "ok", message)
    if app.database_url is not None:
        if importlib.util.find_spec("psycopg") is None:
            yield Finding("store", "wrong", "psycopg is not installed", install_command("postgres"))
            return
        with app.inspect_space() as store:
            yield Finding("store", "ok", f"PostgreSQL answers, seq {store.newest_seq()}")


def _index(app: App) -> Iterator[Finding]:
    from holdfast.index.tools.codebases import list_codebases
    from holdfast.index.tools.render import detail_words

    index = app.open_index()
    try:
        listed = list_codebases(index, verify=True)
    finally:
        index.close()
    for codebase in listed.codebases:
        path, section = codebase.path, codebase.section
        detail = f" ({detail_words(codebase)})" if codebase.detail else ""
        if not os.path.isdir(path):
            fix = f"holdfast index clear {quote(path)}"
            yield Finding("index", "note", f"{path} no longer exists", fix)
        elif section == "Ready" or (section == "Indexing" and "abandoned" not in detail):
            yield Finding("index", "ok", f"{path}: {section.lower()}{detail}")
        else:
            fix = f"holdfast index {'reindex' if 'Reindex' in section else 'create'} {quote(path)}"
            if (codebase.detail or "").startswith("newer_format"):
                fix = upgrade_command()
            yield Finding("index", "wrong", f"{path}: {section.lower()}{detail}", fix)
    if not listed.codebases:
        yield Finding("index", "note", "no tree is indexed", "holdfast index create PATH")


def _edits(app: App) -> Iterator[Finding]:
    from holdfast.files.journaled_edits import edits_of

    for one in edits_of(app.home).interrupted():
        yield Finding("edits", "wrong", str(one), one.hint)


def _team(app: App) -> Iterator[Finding]:
    """The shared index, if one is set. `_index` reports an address that has no known form."""
    from holdfast.index.settings import shared_of

    try:
        shared = shared_of(app.environment)
    except UsageError:
        return
    if shared is None:
        return
    name = shared.store.name
    try:
        shared.store.ping()
    except CodeIndexError as error:
        message = f"the shared index at {name} cannot be used: {error}"
        yield Finding("team", "wrong", message, error.hint or "check HOLDFAST_INDEX_URL")
    else:
        yield Finding("team", "ok", f"the shared index at {name} answers")
    finally:
        shared.close()


def _watching() -> Iterator[Finding]:
    limit = Path("/proc/sys/fs/inotify/max_user_watches")
    try:
        watches = int(limit.read_text())
    except (OSError, ValueError):
        return
    if watches < WATCHES_MIN:
        fix = f"sysctl fs.inotify.max_user_watches={WATCHES_MIN * 8}"
        yield Finding("watching", "note", f"only {watches:,} files can be watched", fix)
    else:
        yield Finding("watching", "ok", f"{watches:,} files can be watched")


def _host(app: App) -> Iterator[Finding]:
    from holdfast import __version__
    from holdfast.mcp.control import answers, running_host

    if not app.home.exists():
        return
    host = running_host(app)
    if host is None:
        yield Finding(
            "host", "ok", "the background host is not running; it starts with the first agent"
        )
    elif host.get("version") != __version__:
        message = f"the background host has version {host.get('version')}, this is {__version__}"
        yield Finding("host", "wrong", message, "holdfast mcp --stop")
    elif not answers(app):
        message = (
            f"the background host does not answer: process {host.get('pid')} is frozen or busy"
        )
        yield Finding("host", "wrong", message, "holdfast mcp --stop")
    else:
        yield Finding("host", "ok", f"the background host is running, process {host.get('pid')}")


def _agents(app: App, target: InstallTarget) -> Iterator[Finding]:
    clients = [client for client in CLIENTS.values() if client.detect(target)]
    if not clients:
        yield Finding("agents", "note", "no agent was found on this machine")
    for client in clients:
        try:
            edits = client.install(target)
        except HoldfastError as error:
            yield Finding("agents", "wrong", str(error), error.hint)
            continue
        yield _agent(client, edits)


def _agent(client: Client, edits: list[Edit]) -> Finding:
    fix = f"holdfast install --client {client.name}"
    missing = [edit for edit in edits if edit.needed]
    if not missing:
        if importlib.util.find_spec("mcp") is None:
            message = f"{client.title} is set up, but mcp is not installed"
            return Finding("agents", "wrong", message, install_command("agents"))
        return Finding("agents", "ok", f"{client.title} is set up")
    if len(missing) == len(edits) and all("holdfast" not in (e.before or "") for e in missing):
        return Finding("agents", "note", f"{client.title} was found and is not set up", fix)
    names = ", ".join(str(edit.path) for edit in missing)
    return Finding("agents", "wrong", f"{client.title} is set up differently: {names}", fix)
