"""`holdfast session show|compact`: a session as a tree with the trust at each entry."""

from __future__ import annotations

import argparse
import json
import shlex
from typing import NamedTuple

from holdfast.app import App
from holdfast.cli import session_args
from holdfast.cli.failures import CommandRefused
from holdfast.reading import scope as scopes
from holdfast.reading.events import Anchored, Barrier, Derived, Hidden, Refreshed, summary
from holdfast.reading.tree import NO_ENTRY, Doubt, Tree


class EntryRow(NamedTuple):
    """An entry of a session, its depth in the tree, and how many scopes are held after it."""

    id: str
    parent: str | None
    kind: str
    what: str
    depth: int
    leaf: bool
    scopes: int


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    show = verbs.add_parser(
        "show",
        help="show the entries as a tree: branches, compactions, and what is held",
        description="Show the entries as a tree: branches, compactions, and what is held.",
    )
    show.add_argument("--entry", metavar="ID", help="the whole trust map at this entry")
    show.add_argument("--json", action="store_true", help="the same facts as JSON")
    session_args.add_session_arguments(show, required=True)
    compact = verbs.add_parser(
        "compact",
        help="record that the context was compacted or cleared: earlier reads no longer count",
        description="Record that the context was compacted or cleared: earlier reads do not count.",
    )
    compact.add_argument("--json", action="store_true", help="the same facts as JSON")
    session_args.add_session_arguments(compact, required=True)


def run(args: argparse.Namespace, app: App) -> int:
    return _compact(args, app) if args.verb == "compact" else _show(args, app)


def _compact(args: argparse.Namespace, app: App) -> int:
    from holdfast.reading.errors import NotOurs
    from holdfast.reading.hosts.native import NativeSession

    log = session_args.session_log(args, app)
    if not isinstance(log, NativeSession):
        raise NotOurs(args.session)
    entry = log.compact("")
    message = f"[session] {log.log.session}: nothing before {entry} counts now"
    print(json.dumps({"session": log.log.session, "entry": entry}) if args.json else message)
    return 0


def _show(args: argparse.Namespace, app: App) -> int:
    log = session_args.session_log(args, app, newest_leaf=args.call is None)
    assert log is not None, "the session is required"
    evidence = log.evidence()
    leaf = NO_ENTRY if isinstance(evidence, Doubt) else log.tree.number(evidence.leaf)
    if leaf == NO_ENTRY and len(log.tree) and not isinstance(evidence, Doubt):
        leaf = len(log.tree) - 1
    if args.entry is not None:
        return _show_entry(log.tree, args)
    rows = _rows(log.tree, leaf)
    if args.json:
        doubt = evidence.why if isinstance(evidence, Doubt) else None
        entries = [row._asdict() for row in rows]
        print(json.dumps({"entries": entries, "doubt": doubt}, ensure_ascii=False))
        return 0
    for row in rows:
        indent = "  " * row.depth
        mark = "  <- leaf" if row.leaf else ""
        note = f"  [holds {row.scopes}]" if row.scopes else ""
        print(f"{indent}{row.id} {row.what}{note}{mark}")
    if isinstance(evidence, Doubt):
        print(f"the session proves nothing now: {evidence.why}")
    return 0


def _show_entry(tree: Tree, args: argparse.Namespace) -> int:
    number = tree.number(args.entry)
    if number == NO_ENTRY:
        listing = shlex.join(["holdfast", "session", "show", "--session", args.session])
        message = f"session {args.session} has no entry {args.entry}"
        raise CommandRefused("NoSuchEntry", message, f"{listing} lists them")
    ledger = tree.ledger(number)
    if args.json:
        trusted = {
            path: {
                scopes.key(scope): {"hash": trust.digest, "seq": trust.seq}
                for scope, trust in ledger.scopes(path).items()
            }
            for path in ledger.paths()
        }
        print(json.dumps(trusted, ensure_ascii=False))
        return 0
    for path in ledger.paths():
        for scope, trust in ledger.scopes(path).items():
            print(f"{path}  {scopes.key(scope)}  {trust.digest[:12]}  seq {trust.seq}")
    return 0


def _rows(tree: Tree, leaf: int) -> list[EntryRow]:
    rows = []
    for number, depth in tree.in_reading_order():
        ledger, parent = tree.ledger(number), tree.parents[number]
        rows.append(
            EntryRow(
                tree.ids[number],
                tree.ids[parent] if parent >= 0 else None,
                tree.kinds[number],
                _what(tree, number),
                depth,
                number == leaf,
                sum(len(ledger.scopes(path)) for path in ledger.paths()),
            )
        )
    return rows


def _what(tree: Tree, number: int) -> str:
    event = tree.event(number)
    kind = tree.kinds[number]
    match event:
        case Anchored(path, scope, digest):
            return f"read {path} {scopes.key(scope)} printed {digest[:12]}"
        case Derived(mode, path, scope, base, _):
            return f"read {path} {scopes.key(scope)} {mode} on {base[:12]}"
        case Refreshed(path, scope):
            return f"refresh {path} {scopes.key(scope)}"
        case Barrier():
            return f"{kind}: trust ends here"
        case Hidden(targets):
            return f"{kind}: hides {', '.join(sorted(targets))}"
        case None:
            return kind
        case _:
            return summary(event)
