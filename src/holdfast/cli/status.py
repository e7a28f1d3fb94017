"""`holdfast status`: everything on one screen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast.app import App
from holdfast.cli import output
from holdfast.cli.output import print_json, print_table, styled
from holdfast.errors import HoldfastError

SPACES_SHOWN = 8


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    codebases, problem = _codebases(app)
    facts: dict[str, Any] = {
        "version": __version__,
        "home": str(app.home),
        "database": app.database_url is not None,
        "host": _host(app),
        "codebases": codebases,
        **problem,
        "spaces": _spaces(app),
        "agents": _agents(app),
    }
    print_json(facts) if args.json else _show(facts)
    return 0


def _host(app: App) -> dict[str, Any] | None:
    from holdfast.mcp.control import running_host

    if not app.home.exists():
        return None
    return running_host(app)


def _codebases(app: App) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The tracked trees; or none and the error."""
    if not app.home.index.is_dir() and app.database_url is None:
        return [], {}
    from holdfast.index.tools.codebases import list_codebases

    index = app.open_index()
    try:
        return [codebase.to_wire() for codebase in list_codebases(index).codebases], {}
    except HoldfastError as error:
        return [], {"codebasesError": str(error), "codebasesHint": error.hint}
    finally:
        index.close()


def _spaces(app: App) -> list[dict[str, Any]]:
    """The spaces of this home; those in a database are not listed."""
    folder = app.home.spaces
    if app.database_url is not None or not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.rglob("*.sqlite")):
        facts: dict[str, Any] = {"space": path.stem, "seq": None, "branches": []}
        try:
            with app.inspect_space(path.stem) as store:
                facts["branches"] = [branch.name or "default" for branch in store.branches()]
                facts["seq"] = store.newest_seq()
        except (HoldfastError, OSError) as error:
            facts["error"] = str(error)  # an unreadable space must not hide the others
        facts["bytes"] = sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))
        found.append(facts)
    return found


def _agents(app: App) -> list[dict[str, Any]]:
    from holdfast.agents.clients import CLIENTS
    from holdfast.agents.target import target_of

    target = target_of(app)
    found = []
    for client in CLIENTS.values():
        if not client.detect(target):
            continue
        try:
            ready = not any(edit.needed for edit in client.install(target))
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
    elif "codebasesError" in facts:
        print(styled(facts["codebasesError"], output.RED))
        print(f"hint: {facts['codebasesHint']}")
    else:
        print("no codebase is indexed; holdfast index create PATH makes an index")
    print()
    if facts["spaces"]:
        spaces = [
            (
                row["space"],
                "?" if row["seq"] is None else row["seq"],
                len(row["branches"]) or "?",
                _size(row["bytes"]),
                row.get("error", ""),
            )
            for row in facts["spaces"][:SPACES_SHOWN]
        ]
        wrong = any(row[-1] for row in spaces)
        heading = ("space", "seq", "branches", "size", "cannot be read")
        shown = len(heading) if wrong else len(heading) - 1
        print_table(heading[:shown], [row[:shown] for row in spaces])
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
