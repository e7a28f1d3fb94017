"""What the reading commands share: the reader, and the session that the arguments name."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from holdfast.app import App
from holdfast.cli.console import absolute, here
from holdfast.reading.hosts import HOSTS

if TYPE_CHECKING:
    from holdfast.reading.reader import Reader
    from holdfast.reading.session_log import SessionLog


def reader(app: App) -> Reader:
    """A reader for the working directory."""
    return app.reader(here())


def add_session_arguments(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """`--session`, `--host`, `--call`."""
    parser.add_argument(
        "--session",
        required=required,
        metavar="NAME|FILE",
        help="the name of a session, or an agent's session file",
    )
    parser.add_argument("--host", choices=HOSTS, help="which agent wrote the file")
    parser.add_argument("--call", metavar="ID", help="the pending call, for claude-code")


def session_log(
    args: argparse.Namespace, app: App, *, newest_leaf: bool = False, create: bool = False
) -> SessionLog | None:
    """The session that the arguments name, or None. With `create`, a new name starts one."""
    if args.session is None:
        return None
    return app.open_session(
        _name_or_path(args.session),
        kind=args.host,
        call=args.call,
        newest_leaf=newest_leaf,
        create=create,
    )


def is_own(session: str) -> bool:
    """Whether `--session` is the name of our own session, not a session file of an agent."""
    from holdfast.reading.hosts.detect import is_name

    return is_name(_name_or_path(session))


def _name_or_path(session: str) -> str:
    """The absolute path if `session` is an existing file, else the name unchanged."""
    path = absolute(session)
    return path if os.path.isfile(path) else session
