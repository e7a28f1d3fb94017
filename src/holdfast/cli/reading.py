"""What the reading commands share: where things are, and which session is meant."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from holdfast.app import App
from holdfast.reading.hosts import HOSTS

if TYPE_CHECKING:
    from holdfast.reading.hosts.native import NativeSession
    from holdfast.reading.reader import Reader
    from holdfast.reading.session_log import SessionLog


NAMED = 6
"""How many sessions a hint names."""


def reader(app: App) -> Reader:
    """A reader for the working directory."""
    return app.reader(os.getcwd())


def add_session_arguments(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """`--session`, `--host`, `--call`."""
    parser.add_argument(
        "--session",
        required=required,
        metavar="NAME|FILE",
        help="a session file of an agent, or the name of a session of our own",
    )
    parser.add_argument("--host", choices=HOSTS, help="whose file it is, if not obvious")
    parser.add_argument("--call", metavar="ID", help="the pending call, for claude-code")


def host(
    args: argparse.Namespace, app: App, *, newest_leaf: bool = False, begins: bool = False
) -> SessionLog | None:
    """The session that the arguments name, or None. A read may begin one of our own."""
    if args.session is None:
        return None
    # Only now: the decoders behind the adapters take longer to import than a plain read.
    from holdfast.reading.hosts import detect

    if is_own(args.session):
        name = detect.checked_name(args.session)
        return _own_session(app, name) if begins else _begun_session(app, name)
    return detect.open_host(
        args.session,
        app.home,
        now_ms=app.clock.now_ms,
        new_id=app.new_id,
        kind=args.host,
        call=args.call,
        newest_leaf=newest_leaf,
    )


def is_own(session: str) -> bool:
    """Whether a session is meant by its name, and not by the file of an agent."""
    is_file = os.sep in session or session.endswith(".jsonl")
    return not is_file and not os.path.isfile(session)


def _own_session(app: App, name: str) -> NativeSession:
    """A session of our own by name, kept in the store; a new name is a new session."""
    from holdfast.reading.hosts.native import NativeSession
    from holdfast.sessions import open_log

    log = open_log(app.open_space, name, app.new_id)
    return NativeSession(log, now_ms=app.clock.now_ms, new_id=app.new_id)


def _begun_session(app: App, name: str) -> NativeSession:
    """A session of our own that something was read in; looking for one makes nothing."""
    from holdfast.reading.errors import NoSuchSession
    from holdfast.reading.hosts.native import NativeSession
    from holdfast.sessions import SPACE, StoredLog, names
    from holdfast.store.errors import UnknownSpace

    known: list[str] = []
    try:
        store = app.inspect_space(SPACE)
    except UnknownSpace:
        pass
    else:
        log = StoredLog(store, name, app.writer_id("log"))
        if any(True for _ in log.entries()):
            return NativeSession(log, now_ms=app.clock.now_ms, new_id=app.new_id)
        known = names(store)
    error = NoSuchSession(name, "nothing was read in it")
    error.hint = f"{_others(name, known)}holdfast read PATH --session {name} begins it"
    raise error


def _others(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    if near:
        return f"did you mean --session {near[0]}? "
    more = ", …" if len(known) > NAMED else ""
    return f"there are: {', '.join(known[:NAMED])}{more}; " if known else ""
