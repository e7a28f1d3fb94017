"""`holdfast readcache status|refresh|explain`: what a session holds, and why an answer is short."""

from __future__ import annotations

import argparse
import json

from holdfast.app import App
from holdfast.cli import reading
from holdfast.reading import commands
from holdfast.reading.paths import Request


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
    refresh.add_argument("path", metavar="PATH[:A-B]", help="the file, and the lines if not all")
    refresh.add_argument("lines", nargs="?", metavar="START-END", help="the lines, said apart")
    explain = verbs.add_parser(
        "explain",
        help="why a read would be answered as it would be",
        description="Why a read would be answered as it would be.",
    )
    explain.add_argument("path", metavar="PATH[:A-B]", help="the read to explain")
    for verb in (status, refresh, explain):
        verb.add_argument("--json", action="store_true", help="the same facts as JSON")
        reading.add_session_arguments(verb, required=True)


def run(args: argparse.Namespace, app: App) -> int:
    verb = {"status": _status, "refresh": _refresh, "explain": _explain}[args.verb]
    return verb(args, app)


def _status(args: argparse.Namespace, app: App) -> int:
    host = reading.host(args, app, newest_leaf=True)
    assert host is not None, "the session is required"
    status = reading.reader(app).status(host)
    if args.json:
        facts = {
            "scopes": status.scopes,
            "files": status.files,
            "window": {"entries": status.window_entries, "start": status.window_start},
            "modes": status.savings.counts,
            "saved": {"bytes": status.savings.saved_bytes, "tokens": status.savings.tokens},
            "store": status.store,
            "doubt": status.doubt,
        }
        print(json.dumps(facts))
    else:
        print(status)
        if status.doubt is not None:
            print(f"the session proves nothing now: {status.doubt}")
    return 0


def _refresh(args: argparse.Namespace, app: App) -> int:
    host = reading.host(args, app)
    assert host is not None, "the session is required"
    reader = reading.reader(app)
    request = Request(args.path)
    if args.lines is not None:
        request = commands.parse_refresh(f"{args.path} {args.lines}", reader.place)
    marker = reader.refresh(request, host)
    print(json.dumps({"text": marker}) if args.json else marker)
    return 0


def _explain(args: argparse.Namespace, app: App) -> int:
    facts = reading.reader(app).explain(
        Request(args.path), reading.host(args, app, newest_leaf=args.call is None)
    )
    if args.json:
        print(json.dumps(facts, ensure_ascii=False))
        return 0
    print(f"{facts['path']}")
    session = facts.get("session")
    if session is not None and session["proves"]:
        leaf = session["leaf"] or "before the first entry"
        print(f"session {session['id']} at {leaf}, trust since {session['boundary']}")
    elif session is not None:
        print(f"the session proves nothing: {session['why']}")
    for held in facts.get("candidates", ()):
        if held.get("blocked"):
            print(f"  {held['scope']:<14} refreshed and not printed since: no base")
            continue
        state = "as it is now" if held["current"] else "older text"
        chosen = "  <- base" if held["chosen"] else ""
        print(f"  {held['scope']:<14} {held['digest'][:12]} seq {held['seq']}, {state}{chosen}")
    reason = facts.get("reason", facts.get("why", "plain text"))
    print(f"answer: {facts['mode'] or 'plain'} ({reason})")
    return 0
