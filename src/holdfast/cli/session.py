"""`holdfast session show|compact`: a session as a tree, the trust at each point, and its end."""

from __future__ import annotations

import argparse
import json
import shlex
from typing import Any

from holdfast.app import App
from holdfast.cli import reading
from holdfast.cli.failures import CommandRefused
from holdfast.reading import scope as scopes
from holdfast.reading.events import Anchored, Barrier, Derived, Hidden, Refreshed, summary
from holdfast.reading.tree import NO_ENTRY, Doubt, Tree


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    show = verbs.add_parser(
        "show",
        help="the tree with branches, compactions, leaf and trust",
        description="The tree with branches, compactions, leaf and trust.",
    )
    show.add_argument("--entry", metavar="ID", help="the whole trust map at this entry")
    show.add_argument("--json", action="store_true", help="the same facts as JSON")
    reading.add_session_arguments(show, required=True)
    compact = verbs.add_parser(
        "compact",
        help="note that the context was compacted or cleared: nothing before counts",
        description="Note that the context was compacted or cleared: nothing before counts.",
    )
    compact.add_argument("--json", action="store_true", help="the same facts as JSON")
    reading.add_session_arguments(compact, required=True)


def run(args: argparse.Namespace, app: App) -> int:
    return _compact(args, app) if args.verb == "compact" else _show(args, app)


def _compact(args: argparse.Namespace, app: App) -> int:
    from holdfast.reading.errors import NotOurs
    from holdfast.reading.hosts.native import NativeSession

    log = reading.session_log(args, app)
    if not isinstance(log, NativeSession):
        raise NotOurs(args.session)
    entry = log.compact("")
    message = f"[session] {log.log.session}: nothing before {entry} counts now"
    print(json.dumps({"session": log.log.session, "entry": entry}) if args.json else message)
    return 0


def _show(args: argparse.Namespace, app: App) -> int:
    log = reading.session_log(args, app, newest_leaf=args.call is None)
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
        print(json.dumps({"entries": rows, "doubt": doubt}, ensure_ascii=False))
        return 0
    for row in rows:
        indent = "  " * row["depth"]
        mark = "  <- leaf" if row["leaf"] else ""
        held = f"  [holds {row['scopes']}]" if row["scopes"] else ""
        print(f"{indent}{row['id']} {row['what']}{held}{mark}")
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
    held: dict[str, dict[str, dict[str, Any]]] = {
        path: {
            scopes.key(scope): {"hash": trust.digest, "seq": trust.seq}
            for scope, trust in ledger.scopes(path).items()
        }
        for path in ledger.paths()
    }
    if args.json:
        print(json.dumps(held, ensure_ascii=False))
        return 0
    for path, runs in held.items():
        for key, trust in runs.items():
            print(f"{path}  {key}  {trust['hash'][:12]}  seq {trust['seq']}")
    return 0


def _rows(tree: Tree, leaf: int) -> list[dict[str, Any]]:
    """Every entry in reading order: a branch is followed to its end, deeper where paths part."""
    children: dict[int, list[int]] = {}
    for number, parent in enumerate(tree.parents):
        children.setdefault(parent, []).append(number)
    rows: list[dict[str, Any]] = []
    pending = [(number, 0) for number in reversed(children.get(NO_ENTRY, []))]
    while pending:
        number, depth = pending.pop()
        ledger = tree.ledger(number)
        rows.append(
            {
                "id": tree.ids[number],
                "parent": tree.ids[tree.parents[number]] if tree.parents[number] >= 0 else None,
                "kind": tree.kinds[number],
                "what": _what(tree, number),
                "depth": depth,
                "leaf": number == leaf,
                "scopes": sum(len(ledger.scopes(path)) for path in ledger.paths()),
            }
        )
        below = children.get(number, [])
        deeper = depth + (1 if len(below) > 1 else 0)
        pending.extend((child, deeper) for child in reversed(below))
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
