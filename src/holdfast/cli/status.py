"""`holdfast status`: everything on one screen."""

from __future__ import annotations

import argparse
from typing import Any

from holdfast import __version__
from holdfast.answers import Part
from holdfast.app import App
from holdfast.cli import output
from holdfast.cli.output import print_json, print_table, styled
from holdfast.errors import HoldfastError
from holdfast.index.answers import Codebase
from holdfast.mcp.control import running_host
from holdfast.postgresql import address

SPACES_SHOWN = 8


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="answer as JSON")


class Space(Part, frozen=True, kw_only=True):
    """A space of this home. `seq` and `branches` are unknown if it cannot be read."""

    space: str
    seq: int | None
    branches: tuple[str, ...]
    error: str | None = None
    bytes: int


class Agent(Part, frozen=True):
    """An agent that is installed here, and whether Holdfast is set up in it."""

    client: str
    title: str
    ready: bool


class InterruptedEdit(Part, frozen=True):
    """An edit of several files whose process ended before all were written."""

    message: str
    hint: str


class Status(Part, frozen=True, kw_only=True):
    """The answer of `holdfast status`."""

    version: str
    home: str
    database: bool
    database_address: str | None = None
    """Host and port of the PostgreSQL that keeps the documents; `status` does not connect to it."""
    host: dict[str, Any] | None
    codebases: tuple[Codebase, ...]
    codebases_error: str | None = None
    codebases_hint: str | None = None
    interrupted_edits: tuple[InterruptedEdit, ...] = ()
    spaces: tuple[Space, ...]
    agents: tuple[Agent, ...]


def run(args: argparse.Namespace, app: App) -> int:
    error: HoldfastError | None = None
    codebases: tuple[Codebase, ...] = ()
    try:
        codebases = _codebases(app)
    except HoldfastError as caught:
        error = caught
    status = Status(
        version=__version__,
        home=str(app.home),
        database=app.database_url is not None,
        database_address=None if app.database_url is None else address(app.database_url),
        host=running_host(app) if app.home.exists() else None,
        codebases=codebases,
        codebases_error=None if error is None else str(error),
        codebases_hint=None if error is None else error.hint,
        interrupted_edits=_interrupted_edits(app),
        spaces=tuple(_spaces(app)),
        agents=tuple(_agents(app)),
    )
    print_json(status.to_wire()) if args.json else _show(status, app.user_home)
    return 0


def _codebases(app: App) -> tuple[Codebase, ...]:
    if not app.home.index.is_dir() and app.database_url is None:
        return ()
    from holdfast.index.tools.codebases import list_codebases

    index = app.open_index()
    try:
        return list_codebases(index).codebases
    finally:
        index.close()


def _interrupted_edits(app: App) -> tuple[InterruptedEdit, ...]:
    from holdfast.files.journaled_edits import edits_of

    found = edits_of(app.home).interrupted()
    return tuple(InterruptedEdit(str(one), one.hint) for one in found)


def _spaces(app: App) -> list[Space]:
    """The spaces of this home; those in a database are not listed."""
    folder = app.home.spaces
    if app.database_url is not None or not folder.is_dir():
        return []
    spaces = []
    for path in sorted(folder.rglob("*.sqlite")):
        seq, branches, problem = None, tuple[str, ...](), None
        try:
            with app.inspect_space(path.stem) as store:
                branches = tuple([branch.name or "default" for branch in store.branches()])
                seq = store.newest_seq()
        except (HoldfastError, OSError) as error:
            problem = str(error)  # an unreadable space must not hide the others
        size = sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))
        spaces.append(Space(space=path.stem, seq=seq, branches=branches, error=problem, bytes=size))
    return spaces


def _agents(app: App) -> list[Agent]:
    from holdfast.agents.clients import CLIENTS
    from holdfast.agents.target import target_of

    target = target_of(app)
    agents = []
    for client in CLIENTS.values():
        if not client.detect(target):
            continue
        try:
            ready = not any(edit.needed for edit in client.install(target))
        except HoldfastError:
            ready = False
        agents.append(Agent(client.name, client.title, ready))
    return agents


def _show(status: Status, user_home: str) -> None:
    host = status.host
    running = f"host running, process {host.get('pid')}" if host else "host not running"
    print(f"{styled('holdfast ' + status.version, output.BOLD)}  {status.home}  {running}")
    print()
    if status.codebases:
        from holdfast.index.tools.render import detail_words

        rows = [
            (_short(one.path, user_home), one.section, detail_words(one))
            for one in status.codebases
        ]
        details = any(row[-1] for row in rows)
        heading = ("codebase", "state", "detail")[: 3 if details else 2]
        print_table(heading, [row[: len(heading)] for row in rows])
    elif status.codebases_error is not None:
        print(styled(status.codebases_error, output.RED))
        print(f"hint: {status.codebases_hint}")
    else:
        print("no codebase is indexed; holdfast index create PATH makes an index")
    for edit in status.interrupted_edits:
        print(styled(edit.message, output.RED))
        print(f"hint: {edit.hint}")
    print()
    if status.spaces:
        spaces = [
            (
                one.space,
                "?" if one.seq is None else one.seq,
                len(one.branches) or "?",
                _size(one.bytes),
                one.error or "",
            )
            for one in status.spaces[:SPACES_SHOWN]
        ]
        wrong = any(row[-1] for row in spaces)
        heading = ("space", "seq", "branches", "size", "cannot be read")
        columns = len(heading) if wrong else len(heading) - 1
        print_table(heading[:columns], [row[:columns] for row in spaces])
        more = len(status.spaces) - SPACES_SHOWN
        if more > 0:
            print(f"and {more} more; --json lists all")
    elif status.database:
        where = f"PostgreSQL at {status.database_address}"
        print(f"documents are kept in {where}; holdfast doctor checks whether it answers")
    else:
        print('no documents yet; holdfast memory note "TEXT" writes a note')
    print()
    agents = [
        f"{one.title} {styled('ready', output.GREEN) if one.ready else 'not set up'}"
        for one in status.agents
    ]
    print("agents: " + (", ".join(agents) if agents else "none found; holdfast install --help"))


def _short(path: str, home: str) -> str:
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"
