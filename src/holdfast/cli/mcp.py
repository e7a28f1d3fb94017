"""`holdfast mcp`: the MCP server that an agent starts (standard input/output)."""

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
        help="the conversation of the reads: a session file of the agent, or a name",
    )
    parser.add_argument(
        "--host",
        choices=("native", "pi", "claude-code", "codex"),
        help="the agent that wrote the session file (default: detected)",
    )
    parser.add_argument(
        "--tools",
        metavar="SETS",
        help="toolsets to list: search, read, memory or all (default: search,read,memory)",
    )
    parser.add_argument("--stop", action="store_true", help="stop the background host")
    parser.add_argument(
        "--status", action="store_true", help="report whether a background host is running"
    )
    parser.add_argument("--json", action="store_true", help="answer --stop and --status as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    if args.stop or args.status:
        from holdfast.mcp.control import status, stop

        return (stop if args.stop else status)(app, as_json=args.json)
    from holdfast.mcp.shim import main

    if sys.stdin is None:
        raise UsageError(
            "stdin is closed; start this from an MCP client", "holdfast install --help"
        )
    if sys.stdin.isatty():
        print("this command is for MCP clients; `holdfast install` sets agents up", file=sys.stderr)
    session = args.session
    if session is not None and (os.sep in session or session.endswith(".jsonl")):
        session = os.path.abspath(session)
    return main(app, session, args.host, args.tools)
