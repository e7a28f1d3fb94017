"""`holdfast status`: everything on one screen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast.app import App
from holdfast.cli import install, output
from holdfast.cli.output import print_json, print_table, styled

SPACES_SHOWN = 8


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="answer as JSON")
    parser.set_defaults(scope="user", start=None)


def run(args: argparse.Namespace) -> int:
    app = App.from_environment()
    facts: dict[str, Any] = {
        "version": __version__,
        "home": str(app.home),
        "database": app.database_url is not None,
        "host": _host(app),
        "codebases": _codebases(app),
        "spaces": _spaces(app),
        "agents": _agents(args),
    }
    print_json(facts) if args.json else _show(facts)
    return 0


def _host(app: App) -> dict[str, Any] | None:
    from holdfast.mcp.control import running
    from holdfast.mcp.rendezvous import rendezvous_of

    if not app.home.is_dir():
        return None
    return running(rendezvous_of({**app.environment, "HOLDFAST_HOME": str(app.home)}))


def _codebases(app: App) -> list[dict[str, Any]]:
    if not (app.home / "index").is_dir() and app.database_url is None:
        return []
    from holdfast.index.tools.listing import list_codebases

    index = app.open_index()
    try:
        return list_codebases(index)["codebases"]
    finally:
        index.close()


def _spaces(app: App) -> list[dict[str, Any]]:
    """The spaces kept here; on a server they are the server's to list."""
    folder = app.home / "spaces"
    if app.database_url is not None or not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.rglob("*.sqlite")):
        with app.open_space(path.stem) as store:
            branches = [branch.name or "default" for branch in store.branches()]
            seq = store.newest_seq()
        size = sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))
        found.append({"space": path.stem, "seq": seq, "branches": branches, "bytes": size})
    return found


def _agents(args: argparse.Namespace) -> list[dict[str, Any]]:
    from holdfast.agents.clients import CLIENTS
    from holdfast.errors import HoldfastError

    place = install.place_of(args)
    found = []
    for client in CLIENTS.values():
        if not client.detect(place):
            continue
        try:
            ready = not any(edit.needed for edit in client.install(place))
        except HoldfastError:
            ready = False
        found.append({"client": client.name, "title": client.title, "ready": ready})
    return found


def _show(facts: dict[str, Any]) -> None:
    host = facts["host"]
    running = f"host running, process {host.get('pid')}" if host else "host not running"
    print(f"{styled('holdfast ' + facts['version'], output.BOLD)}  {facts['home']}  {running}")
    print()
    if facts["codebases"]:
        rows = [
            (_short(row["path"]), row["section"], row["detail"] or "") for row in facts["codebases"]
        ]
        print_table(("codebase", "state", "detail"), rows)
    else:
        print("no codebase is indexed; holdfast index create PATH makes an index")
    print()
    if facts["spaces"]:
        spaces = [
            (row["space"], row["seq"], len(row["branches"]), _size(row["bytes"]))
            for row in facts["spaces"][:SPACES_SHOWN]
        ]
        print_table(("space", "seq", "branches", "size"), spaces)
        more = len(facts["spaces"]) - SPACES_SHOWN
        if more > 0:
            print(f"and {more} more; --json lists all")
    else:
        print("nothing is remembered here yet; holdfast memory set ID VALUE remembers")
    print()
    said = [
        f"{row['title']} {styled('ready', output.GREEN) if row['ready'] else 'not set up'}"
        for row in facts["agents"]
    ]
    print("agents: " + (", ".join(said) if said else "none found; holdfast install --help"))


def _short(path: str) -> str:
    home = str(Path.home())
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"
