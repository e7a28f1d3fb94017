"""The verbs that read and write documents."""

from __future__ import annotations

import argparse
import shlex
import sys
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from holdfast.app import DEFAULT_SPACE, App
from holdfast.cli import output
from holdfast.cli.failures import OK, CommandRefused
from holdfast.cli.memory.arguments import json_argument, json_or_text
from holdfast.cli.memory.commit_key import author, new_key
from holdfast.cli.memory.printing import print_answer, print_json_list, print_line
from holdfast.cli.output import print_json, styled
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.store.store import Store


TABLE_MAX = 1_000
"""Up to this many documents are printed as a table; more are printed one by one."""

# reading


def get(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.store.memory import verbs
    from holdfast.store.memory.answers import DocumentPart, MissingDocument

    answer = verbs.get(store, args.id, args.pointer, args.branch, args.at)
    if isinstance(answer, DocumentPart):
        print_json(answer.to_wire() if args.json else answer.part)
        return OK
    if isinstance(answer, MissingDocument):
        raise CommandRefused("NoSuchDocument", str(answer), _listing(args))
    if answer.likely is not None:
        inside = _command(args, "get", args.id, answer.likely)
        raise CommandRefused("NoSuchPart", str(answer), f"{inside} shows that part")
    whole = _command(args, "get", args.id, *([] if args.at is None else ["--at", str(args.at)]))
    raise CommandRefused("NoSuchPart", str(answer), f"{whole} shows all of it")


def _listing(args: argparse.Namespace) -> str:
    """The command that lists the documents of the same space, branch and seq."""
    when = [] if args.at is None else [str(args.at)]
    return f"{_command(args, 'at' if when else 'list', *when)} shows what there is"


def _command(args: argparse.Namespace, *words: str) -> str:
    """A command on the same space and branch, as the user would type it."""
    out = ["holdfast", "memory", *words]
    out += [] if args.space == DEFAULT_SPACE else ["--space", args.space]
    out += ["--branch", args.branch] if args.branch else []
    return shlex.join(out)


def list_all(store: Store, args: argparse.Namespace, app: App) -> int:
    return _listed(store, args, args.prefix, None)


def _listed(store: Store, args: argparse.Namespace, prefix: str, at: int | None) -> int:
    """Print documents while reading them: a space may have more than fit in memory."""
    from holdfast.store.memory import verbs
    from holdfast.store.memory.answers import DocumentList

    if args.limit is not None and args.limit < 1:
        raise UsageError(f"--limit must be at least 1 (got {args.limit})")
    if args.limit is not None:
        answer = verbs.list_documents(store, prefix, args.branch, at, args.after, args.limit)
        print_answer(answer, args.json)
        if answer.more and not args.json:
            command = ["at", str(at)] if at is not None else ["list", *([prefix] if prefix else [])]
            words = [*command, "--after", answer.states[-1].id, "--limit", str(args.limit)]
            print(styled(f"… {_command(args, *words)} shows more", output.DIM))
        return OK
    states = store.stream(args.branch, at, prefix, args.after)
    if args.json:
        print_json_list(state.to_wire() for state in states)
        return OK
    first = list(islice(states, TABLE_MAX + 1))
    if len(first) <= TABLE_MAX:
        print_answer(DocumentList(tuple(first)), False)
        return OK
    # Too many to align in a table: print each on a line.
    for state in chain(first, states):
        print_line(state)
    return OK


def at(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.id is not None:
        args.at, args.pointer = args.seq, ""
        return get(store, args, app)
    return _listed(store, args, "", args.seq)


def log(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.store.memory import verbs

    if args.limit < 1:
        raise UsageError(f"--limit must be at least 1 (got {args.limit})")
    if args.verify:
        broken = store.broken_link()
        if broken is not None:
            raise CommandRefused(
                "DamagedStore",
                f"the hash chain is broken: the commit at seq {broken} does not match its hash",
                "holdfast memory verify names everything that does not hold",
            )
    answer = verbs.history(store, args.id, args.branch, args.before, args.limit)
    print_answer(answer, args.json)
    if args.verify and not args.json:
        newest, link = store.chain()
        print(f"the hash chain holds from seq 1 to {newest}: {link}")
    if answer.more and not args.json:
        words = ["holdfast", "memory", "log", *([] if args.id is None else [args.id])]
        words += [] if args.space == DEFAULT_SPACE else ["--space", args.space]
        words += [] if args.branch is None else ["--branch", args.branch]
        words += ["--limit", str(args.limit), "--before", str(answer.entries[-1].seq)]
        print(styled(f"… {shlex.join(words)} shows older commits", output.DIM))
    return OK


# writing


def check_put(args: argparse.Namespace) -> None:
    args.value = json_argument(args.value) if args.document else json_or_text(args.value)


def put(store: Store, args: argparse.Namespace, app: App) -> int:
    document = args.value if args.document else {"value": args.value}
    return _commit(store, args, app, {"op": "set", "id": args.id, "value": document})


def check_edit(args: argparse.Namespace) -> None:
    patches = json_argument(args.patches)
    args.patches = patches if isinstance(patches, list) else [patches]


def edit(store: Store, args: argparse.Namespace, app: App) -> int:
    operation = {"op": "patch", "id": args.id, "patches": args.patches}
    return _commit(store, args, app, operation)


def drop(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.if_seq is None and store.read(args.id, args.branch) is None:
        args.at = None
        raise CommandRefused("NoSuchDocument", f"there is no {args.id} to delete", _listing(args))
    return _commit(store, args, app, {"op": "delete", "id": args.id})


def _commit(store: Store, args: argparse.Namespace, app: App, operation: dict[str, Any]) -> int:
    from holdfast.cli.near_notes import linked_code
    from holdfast.notes.note import with_links
    from holdfast.store.memory import verbs

    operation, warnings = with_links(operation, linked_code(app))
    reads = [] if args.if_seq is None else [(args.id, args.if_seq)]
    applied = verbs.commit(store, new_key(app), [operation], reads, args.branch, author(app))
    print_answer(applied, args.json)
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return OK
