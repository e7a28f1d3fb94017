"""`holdfast mcp`: the tools for an agent, over standard input and output."""

from __future__ import annotations

import argparse
import os
import sys

from holdfast.app import App
from holdfast.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session",
        metavar="NAME|FILE",
        help="the conversation that reads belong to: a session file of the agent, or a name",
    )
    parser.add_argument(
        "--host",
        choices=("native", "pi", "claude-code", "codex"),
        help="whose session file it is, if not obvious",
    )
    parser.add_argument("--stop", action="store_true", help="end the background host")
    parser.add_argument("--status", action="store_true", help="say whether a host runs")
    parser.add_argument("--json", action="store_true", help="answer --stop and --status as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    if args.stop or args.status:
        from holdfast.mcp.control import status, stop

        return (stop if args.stop else status)(app, as_json=args.json)
    from holdfast.mcp.shim import main

    if sys.stdin is None:
        raise UsageError("nobody speaks to us: standard input is closed", "holdfast install --help")
    if sys.stdin.isatty():
        print("this speaks MCP with an agent; `holdfast install` sets agents up", file=sys.stderr)
    session = args.session
    if session is not None and (os.sep in session or session.endswith(".jsonl")):
        session = os.path.abspath(session)
    return main(app, session, args.host)
