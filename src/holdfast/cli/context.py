"""`holdfast context`: what a session's model holds of each file, and what a compaction took."""

from __future__ import annotations

import argparse
import shlex

from holdfast.app import App
from holdfast.cli import session_args
from holdfast.cli.console import here
from holdfast.cli.output import print_json
from holdfast.reading.scope import Lines
from holdfast.text import line_range


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the same facts as JSON")
    session_args.add_session_arguments(parser, required=True)


def run(args: argparse.Namespace, app: App) -> int:
    log = session_args.session_log(args, app, newest_leaf=args.call is None)
    assert log is not None, "the session is required"
    context = session_args.reader(app).context(log)
    if args.json:
        print_json(context.to_wire())
        return 0

    def command(path: str, run: Lines | None) -> str:
        place = path if run is None else f"{path}:{line_range(run.first, run.last)}"
        return shlex.join(["holdfast", "read", place, "--session", args.session])

    print(context.to_text(here(), command))
    return 0
