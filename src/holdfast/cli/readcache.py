"""`holdfast readcache`: what a session has read, and why an answer is short."""

from __future__ import annotations

import argparse
import json

from holdfast.app import App
from holdfast.cli import session_args
from holdfast.reading import commands
from holdfast.reading.explain import Explanation, NeverKept
from holdfast.reading.paths import Request
from holdfast.reading.status import Invalidated, Status


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    status = verbs.add_parser(
        "status",
        help="what the session holds and has saved",
        description="What the session holds and has saved.",
    )
    refresh = verbs.add_parser(
        "refresh",
        help="have a file, or lines of it, sent again",
        description="Have a file, or lines of it, sent again.",
    )
    refresh.add_argument(
        "path", metavar="PATH[:A-B]", help="the file, and optionally a range of lines"
    )
    refresh.add_argument(
        "lines", nargs="?", metavar="START-END", help="the range, as a separate argument"
    )
    explain = verbs.add_parser(
        "explain",
        help="how a read would be answered, and why",
        description="How a read would be answered, and why.",
    )
    explain.add_argument("path", metavar="PATH[:A-B]", help="the read to explain")
    for verb in (status, refresh, explain):
        verb.add_argument("--json", action="store_true", help="the same facts as JSON")
        session_args.add_session_arguments(verb, required=True)


def run(args: argparse.Namespace, app: App) -> int:
    verb = {"status": _status, "refresh": _refresh, "explain": _explain}[args.verb]
    return verb(args, app)


def _status(args: argparse.Namespace, app: App) -> int:
    log = session_args.session_log(args, app, newest_leaf=True)
    assert log is not None, "the session is required"
    status = session_args.reader(app).status(log)
    if args.json:
        return _show(status, args)
    print(status.in_words())
    return 0


def _refresh(args: argparse.Namespace, app: App) -> int:
    log = session_args.session_log(args, app)
    assert log is not None, "the session is required"
    reader = session_args.reader(app)
    request = Request(args.path)
    if args.lines is not None:
        request = commands.parse_refresh(f"{args.path} {args.lines}", reader.place)
    return _show(reader.refresh(request, log), args)


def _explain(args: argparse.Namespace, app: App) -> int:
    log = session_args.session_log(args, app, newest_leaf=args.call is None)
    return _show(session_args.reader(app).explain(Request(args.path), log), args)


def _show(answer: Status | Invalidated | Explanation | NeverKept, args: argparse.Namespace) -> int:
    print(json.dumps(answer.to_wire(), ensure_ascii=False) if args.json else answer.to_text())
    return 0
