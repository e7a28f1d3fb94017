"""`holdfast`: imports and runs one command, and turns errors into messages and exit codes.

Agents start this often, so nothing heavy is imported before the command is known.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from holdfast import __version__
from holdfast.app import App, process_environment
from holdfast.cli.command_protocol import HOSTED
from holdfast.cli.parsing import Parser
from holdfast.cli.streams import delivered, prepared, refuses, undelivered
from holdfast.errors import HoldfastError, UsageError

GC_THRESHOLD, GC_THRESHOLD_OF_QUESTION = 50_000, 1_000_000
"""Net allocations before a garbage collection; a question rarely has as many as the second."""

COMMANDS: dict[str, tuple[str, str]] = {
    "index": ("holdfast.cli.index", "create, update, inspect, delete and repair indexes"),
    "search": ("holdfast.cli.search", "find code by name, phrase or behaviour"),
    "outline": ("holdfast.cli.outline", "the symbols of a file"),
    "calls": ("holdfast.cli.calls", "what a symbol calls, and what calls it"),
    "references": ("holdfast.cli.references", "every mention of a symbol, and what implements it"),
    "explore": ("holdfast.cli.explore", "everything about a symbol in one answer"),
    "impact": ("holdfast.cli.impact", "what a change touches: callers, mentions and tests"),
    "edit": ("holdfast.cli.edit", "rename, replace or insert symbols; shows the change first"),
    "read": ("holdfast.cli.read", "a file, or only what the session has not read of it yet"),
    "readcache": ("holdfast.cli.readcache", "what a session has read, and why an answer is short"),
    "context": (
        "holdfast.cli.context",
        "which lines of files a session's model has in its context",
    ),
    "session": ("holdfast.cli.session", "a session as a tree, with what was read at each point"),
    "locate": ("holdfast.cli.locate", "find how much of a snippet exists in a tree, and where"),
    "clones": ("holdfast.cli.clones", "list the largest repeated blocks of a tree"),
    "sequence": ("holdfast.cli.sequence", "show the graph of a few short texts"),
    "memory": ("holdfast.cli.memory", "documents on branches: get, set, merge, time-travel"),
    "keys": ("holdfast.cli.keys", "make and show the keys that sessions are signed with"),
    "mcp": ("holdfast.cli.mcp", "the MCP server that an agent starts (standard input/output)"),
    "serve": ("holdfast.cli.serve", "memory, MCP tools and the dashboard on one address"),
    "purge": ("holdfast.cli.purge", "remove every trace of a file from the home, and prove it"),
    "install": ("holdfast.cli.install", "connect an agent to these tools; shows what it writes"),
    "uninstall": ("holdfast.cli.uninstall", "remove what install wrote to an agent's settings"),
    "hook": ("holdfast.cli.hook", "called by the hooks of agents; not for people"),
    "doctor": ("holdfast.cli.doctor", "check the installation and suggest fixes"),
    "status": ("holdfast.cli.status", "indexes, memory and agents on one screen"),
    "savings": ("holdfast.cli.savings", "the tokens that your sessions read, saved and could save"),
    "bench": ("holdfast.cli.bench", "measure speed on a directory of source code"),
    "completion": ("holdfast.cli.completion", "print a completion script for bash, zsh or fish"),
    "try": ("holdfast.cli.tour", "take a two-minute tour on sample data"),
}
"""Command name -> (module with `configure(parser)` and `run(args, app)`, one line of help)."""

OK = 0

_ALWAYS = """\
environment:
  HOLDFAST_HOME          where everything local is kept (default: ~/.holdfast)
  HOLDFAST_DATABASE_URL  postgresql://…, to keep memory there instead of in the home
  HOLDFAST_INDEX_URL     postgresql://… or http://…, to share indexing work with a team
  HOLDFAST_MCP_IDLE_S    seconds until a background host without clients ends
  HOLDFAST_MCP_ANSWER_S  seconds until a background host that does not answer is replaced (20)
  HOLDFAST_CLI_HOST      0 runs every command in its own process, not in the host
  NO_COLOR               if set, no colours on a terminal

exit codes: 0 ok, 1 refused or not found, 2 wrong usage, 3 server unreachable, 130 Ctrl-C

`holdfast COMMAND --help` explains one command."""


class _Version(argparse.Action):
    """Prints the version of Holdfast and of its formats and libraries."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"holdfast {__version__}")
        for name, version in components():
            print(f"  {name:<14} {version}")
        parser.exit()


def components() -> list[tuple[str, str]]:
    """The versions of file formats, the protocol and the libraries they depend on."""
    import platform

    import apsw

    from holdfast.index.facts.model import FACTS_VERSION
    from holdfast.index.generations.fingerprint import SCHEMA_VERSION
    from holdfast.sequence.segment_store import MANIFEST_VERSION
    from holdfast.sync.wire.messages import PROTOCOL_VERSION

    return [
        ("python", platform.python_version()),
        ("sqlite", apsw.sqlite_lib_version()),
        ("sync protocol", str(PROTOCOL_VERSION)),
        ("index schema", f"{SCHEMA_VERSION}, facts {FACTS_VERSION}"),
        ("segments", str(MANIFEST_VERSION)),
    ]


GROUPS: dict[str, tuple[str, ...]] = {
    "code": (
        *("index", "search", "outline", "calls", "references", "explore", "impact"),
        *("locate", "clones", "sequence", "edit"),
    ),
    "reading": ("read", "context", "readcache", "session", "savings"),
    "memory": ("memory", "keys"),
    "agents": ("install", "uninstall", "mcp", "hook"),
    "this machine": ("status", "doctor", "serve", "purge", "bench", "completion", "try"),
}
"""Commands by purpose, as the help lists them; commands without a group come last."""


def _listing() -> str:
    width = max((len(name) for name in COMMANDS), default=0)
    grouped = [name for names in GROUPS.values() for name in names]
    others = tuple(name for name in COMMANDS if name not in grouped)
    parts = []
    for title, names in {**GROUPS, "other": others}.items():
        lines = [f"  {name:<{width}}  {COMMANDS[name][1]}" for name in names if name in COMMANDS]
        parts += [f"{title}:", *lines, ""] if lines else []
    return "\n".join(parts)


def _overview() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="holdfast",
        description="A local-first context engine for coding agents.",
        epilog=f"{_listing()}\n{_ALWAYS}",
        # A fixed width avoids importing shutil to get the terminal's.
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=78),
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print version numbers")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="log to standard error; goes before COMMAND"
    )
    parser.add_argument("command", metavar="COMMAND", nargs="?")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _log_to_stderr() -> None:
    """Send our logs to standard error, debug messages included."""
    import logging

    form = "%(asctime)s %(levelname)-5s %(name)s: %(message)s"
    logging.basicConfig(level=logging.WARNING, format=form, stream=sys.stderr)
    logging.getLogger("holdfast").setLevel(logging.DEBUG)


def main(argv: Sequence[str] | None = None, app: App | None = None) -> int:
    """Run one command; 0 ok, 1 refused, 2 wrong usage, 3 server unreachable."""
    argv = sys.argv[1:] if argv is None else list(argv)
    # Nearly all objects of a short process stay alive. With the lower threshold the collector takes
    # a twentieth of the time to a first answer of a large tree, with the default as much again.
    gc.set_threshold(GC_THRESHOLD_OF_QUESTION if argv[:1] and argv[0] in HOSTED else GC_THRESHOLD)
    environment = process_environment() if app is None else app.environment
    sys.stdout = prepared(sys.stdout, environment)
    sys.stderr = prepared(sys.stderr, environment, rewrites=True)
    try:
        return delivered(dispatch(argv, environment, app))
    except SystemExit as end:  # the parser has printed its message
        raise SystemExit(delivered(int(end.code or OK))) from None
    except OSError as error:  # not even the error message could be written
        return delivered(undelivered(error))


def dispatch(argv: list[str], environment: Mapping[str, str], app: App | None = None) -> int:
    """Run the command that the arguments name, and report what it raises."""
    while argv[:1] in (["-v"], ["--verbose"]):
        _log_to_stderr()
        argv = argv[1:]
    if argv[:1] == ["help"]:
        argv = [*argv[1:], "--help"]
    if not argv or argv[0].startswith("-"):
        overview = _overview()
        overview.parse_args(argv)
        overview.print_help()
        return OK
    name, as_json = argv[0], "--json" in argv
    try:
        app = app or App.from_environment(environment)
        return _run(name, argv[1:], app, as_json)
    except BrokenPipeError:
        return OK  # the reader closed the pipe (head, less)
    except (HoldfastError, OSError, UnicodeEncodeError) as error:
        # What failed may be the output itself, and not a file of the home.
        if isinstance(error, OSError) and not error.filename and refuses(sys.stdout):
            return undelivered(error)
        from holdfast.cli.failures import failure_of

        return failure_of(error, None if app is None else app.home).show(as_json=as_json)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _run(name: str, argv: Sequence[str], app: App, as_json: bool) -> int:
    if name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}", _nearest(name))
    try:
        module = import_module(COMMANDS[name][0])
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _OF_EXTRAS:
            raise
        from holdfast.cli.failures import CommandRefused
        from holdfast.extras import install_command

        what = f"holdfast {name} needs the package {package}, which is not installed"
        hint = f"run: {install_command(_OF_EXTRAS[package])}"
        raise CommandRefused("MissingPackage", what, hint) from None
    parser_class = Parser
    if as_json:
        from holdfast.cli.failures import JsonParser as parser_class
    parser = parser_class(prog=f"holdfast {name}", description=COMMANDS[name][1])
    module.configure(parser)
    return int(module.run(parser.parse_args(argv), app))


_OF_EXTRAS = {"uvicorn": "serve", "websockets": "serve", "mcp": "mcp"}
"""Packages that the base install lacks, and the extra with each."""

OTHER_NAMES = {
    "dashboard": "serve",
    "web": "serve",
    "grep": "search",
    "find": "search",
    "ask": "search",
    "symbols": "outline",
    "duplicates": "clones",
    "cat": "read",
    "usages": "references",
    "refs": "references",
    "rename": "edit rename",
    "replace": "edit replace",
    "callers": "calls",
    "callees": "calls",
    "note": "memory note",
    "remember": "memory note",
    "get": "memory get",
    "set": "memory set",
    "merge": "memory merge",
    "init": "index create",
    "create": "index create",
    "reindex": "index reindex",
    "sync": "index sync",
    "list": "index list",
    "setup": "install",
}
"""Common wrong names of commands, with the right ones."""


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    near = [OTHER_NAMES[name]] if name in OTHER_NAMES else get_close_matches(name, COMMANDS, 1)
    suggestion = f"did you mean holdfast {near[0]}? " if near else ""
    return f"{suggestion}holdfast --help lists the commands"


if __name__ == "__main__":
    raise SystemExit(main())
