"""The verbs about branches: create, list, delete, compare, merge."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Any

from holdfast.app import DEFAULT_SPACE, App
from holdfast.cli import output
from holdfast.cli.failures import OK, REFUSED
from holdfast.cli.memory.arguments import json_argument
from holdfast.cli.output import counted, plain, print_json, print_table, short_json, styled
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.store.store import Store


def check(args: argparse.Namespace) -> None:
    if args.act != "list" and args.name is None:
        raise UsageError(f"which branch to {args.act}?", "name it after the verb")


def branch(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.act == "list":
        branches = store.branches()
        if args.json:
            print_json([branch.to_wire() for branch in branches])
        else:
            rows = [
                (
                    b.name or "(default)",
                    "-" if b.parent is None else b.parent or "(default)",
                    "-" if b.fork_seq is None else b.fork_seq,
                    b.head_seq,
                    b.status,
                )
                for b in branches
            ]
            print_table(("name", "parent", "forked at", "head", "status"), rows)
        return OK
    from holdfast.ids import LocalSeq, SessionId
    from holdfast.store.model import CommitKey

    by = CommitKey(SessionId(app.writer_id("cli")), LocalSeq(1))
    if args.act == "create":
        branch = store.create_branch(args.name, args.parent, args.at, by)
        said = f"created {branch.name} from {branch.parent or 'the default branch'} at seq"
        said = f"{said} {branch.fork_seq}"
    else:
        branch = store.delete_branch(args.name, by)
        said = f"deleted {branch.name}; it can still be read and forked"
    print_json(branch.to_wire()) if args.json else print(said)
    return OK


def diff(store: Store, args: argparse.Namespace, app: App) -> int:
    found = store.diff(args.branch, args.against)
    if args.json:
        print_json([entry.to_wire() for entry in found])
        return OK
    if not found:
        print("no differences")
    signs = {"added": ("+", output.GREEN), "removed": ("-", output.RED)}
    for entry in found:
        sign, style = signs.get(entry.kind, ("~", output.YELLOW))
        print(styled(f"{sign} {plain(entry.id)}", style))
        if entry.kind == "modified":
            for change in entry.changes:
                _print_change(change.to_wire())
    return OK


def _print_change(change: dict[str, Any]) -> None:
    before = short_json(change["before"]) if "before" in change else "(nothing)"
    after = short_json(change["after"]) if "after" in change else "(nothing)"
    print(f"    {plain(change['path']) or '(all)'}: {before} → {after}")


def merge(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.ids import LocalSeq, SessionId
    from holdfast.store.model import CommitKey

    resolutions = json_argument(args.resolutions) if args.resolutions else {}
    proposal = store.propose_merge(args.source, args.into, resolutions)
    if proposal.clashes and args.take:
        settled = {**{clash.id: args.take for clash in proposal.clashes}, **resolutions}
        resolutions = settled
        proposal = store.propose_merge(args.source, args.into, resolutions)
    if args.json and (args.dry_run or proposal.clashes):
        print_json(
            {
                "operations": proposal.operations,
                "conflicts": [clash.to_wire() for clash in proposal.clashes],
            }
        )
        return REFUSED if proposal.clashes else OK
    if proposal.clashes:
        return _show_clashes(args, proposal.clashes)
    if args.dry_run:
        for operation in proposal.operations:
            print(f"{operation['op']} {operation['id']}")
        print(f"{counted(len(proposal.operations), 'document')} would change")
        return OK
    by = CommitKey(SessionId(app.writer_id("cli")), LocalSeq(1))
    applied = store.merge(by, args.source, args.into, resolutions)
    if args.json:
        print_json(None if applied is None else applied.to_wire())
    elif applied is None:
        print("nothing to merge")
    else:
        target = args.into or "the default branch"
        changed = counted(len(applied.revisions), "document")
        print(f"merged {args.source} into {target} at seq {applied.seq}: {changed} changed")
    return OK


def _show_clashes(args: argparse.Namespace, clashes: list[Any]) -> int:
    print(f"{counted(len(clashes), 'conflict')}; nothing was written", file=sys.stderr)
    for clash in clashes:
        wire = clash.to_wire()
        print(plain(f"  {clash.id} {wire['path'] or '(all)'}"), file=sys.stderr)
        for side, name in (("source", args.source), ("target", args.into or "default branch")):
            value = wire.get(f"{side}Value", "(nothing)")
            print(f"    {name}: {short_json(value)}", file=sys.stderr)
        print(f"    before: {short_json(wire.get('ancestorValue', '(nothing)'))}", file=sys.stderr)
    words = ["holdfast", "memory", "merge", args.source]
    words += ["--into", args.into] if args.into else []
    words += [] if args.space == DEFAULT_SPACE else ["--space", args.space]
    again = f"{shlex.join(words)} --take source|target, or --resolutions JSON"
    print(f"hint: {again}", file=sys.stderr)
    return REFUSED
