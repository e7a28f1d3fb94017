"""`holdfast read PATH[:A-B]`: a file, or only what the session does not already hold of it."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.app import App
from holdfast.cli import reading
from holdfast.cli.console import absolute, relative
from holdfast.cli.failures import Failure, failure_of
from holdfast.cli.given import mention_link
from holdfast.errors import ReadingError, StoreError
from holdfast.home import expand_user
from holdfast.reading.paths import Request
from holdfast.reading.result import Answer

if TYPE_CHECKING:
    from holdfast.reading.session_log import SessionLog


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH[:A-B]", help="the file, and optionally a range of lines"
    )
    parser.add_argument("--offset", type=_number, metavar="N", help="the first line, from 1")
    parser.add_argument("--limit", type=_number, metavar="N", help="how many lines")
    parser.add_argument(
        "--bypass-cache", action="store_true", help="answer with the plain text this time"
    )
    parser.add_argument(
        "--focus",
        action="store_true",
        help="fold what nothing points at, if this is a first read of a whole, long file",
    )
    parser.add_argument("--json", action="store_true", help="content and details as JSON")
    reading.add_session_arguments(parser)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of lines, at least 0 (got {text})")
    return int(value) if value.is_integer() else value


def run(args: argparse.Namespace, app: App) -> int:
    mention_link(args.path)
    log, lost = _session_log(args, app)
    request = Request(args.path, args.offset, args.limit, args.bypass_cache, args.focus)
    reader = reading.reader(app)
    focuser = app.focuser(reader, log) if request.focus else None
    try:
        answer = reader.read(request, log, focuser=focuser)
    except ReadingError as error:
        raise _hinted(error, expand_user(args.path, app.environment)) from None
    if args.json:
        note = {} if lost is None else {"note": lost.message}
        print(json.dumps(answer.to_wire() | note, ensure_ascii=False))
    else:
        sys.stdout.write(answer.text + "\n")
    # Printed first, recorded after: text that was not shown must not count as seen.
    sys.stdout.flush()
    if lost is not None and not args.json:
        lost.show(as_json=False)
    if log is not None and not _was_shown(answer.text, sys.stdout.encoding):
        why = f"the output is {sys.stdout.encoding} and cannot show all of it"
        print(f"holdfast: {why}: the read is not recorded", file=sys.stderr)
    elif log is not None:
        _record(log, answer, args.call, app)
        app.collect_daily(reader, log)
    return 0


def _was_shown(text: str, encoding: str | None) -> bool:
    """Whether the output could show every character, without an escape in its place.

    An output without an encoding takes text as it is.
    """
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _hinted(error: ReadingError, typed: str) -> ReadingError:
    """The error, with a command that may read what was meant."""
    from holdfast.reading.suggest import listed, suggestion

    here = absolute(typed)
    bare = here.rpartition(":")[0]
    found = suggestion(error, bare if os.path.exists(bare) else here, listed)
    if found is not None and not error.hint:
        words = ["holdfast", "read", relative(found.path)]
        words += [] if found.offset is None else ["--offset", str(found.offset)]
        error.hint = f"{found.why}: {shlex.join(words)}"
    return error


def _session_log(args: argparse.Namespace, app: App) -> tuple[SessionLog | None, Failure | None]:
    """The session, or why it cannot be stored: then the answer is the plain text."""
    try:
        return reading.session_log(args, app, create=True), None
    except (StoreError, OSError) as error:
        if not reading.is_own(args.session):
            raise
        why = failure_of(error, app.home)
        message = f"{why.message}; every read is plain text"
        return None, replace(why, message=f"session {args.session} cannot be stored: {message}")


def _record(log: SessionLog, answer: Answer, call: str | None, app: App) -> None:
    try:
        log.record(answer, call)
    except (StoreError, OSError) as error:
        why = failure_of(error, app.home)
        message = f"the read could not be recorded: {why.message}; it will be sent again"
        replace(why, message=message).show(as_json=False)
