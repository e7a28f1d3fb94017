"""The verbs that read and write documents."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from holdfast.app import DEFAULT_SPACE, App
from holdfast.cli import output
from holdfast.cli.failures import OK, CommandRefused
from holdfast.cli.memory.arguments import json_argument
from holdfast.cli.memory.commit_key import new_key
from holdfast.cli.memory.printing import print_answer
from holdfast.cli.output import print_json, styled
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.store.store import Store


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
    from holdfast.store.memory import verbs

    print_answer(verbs.list_documents(store, args.prefix, args.branch), args.json)
    return OK


def at(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.store.memory import verbs

    if args.id is not None:
        args.at, args.pointer = args.seq, ""
        return get(store, args, app)
    print_answer(verbs.list_documents(store, "", args.branch, args.seq), args.json)
    return OK


def log(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.store.memory import verbs

    if args.limit < 1:
        raise UsageError(f"--limit must be at least 1 (got {args.limit})")
    answer = verbs.history(store, args.id, args.branch, args.before, args.limit)
    print_answer(answer, args.json)
    if answer.more and not args.json:
        words = ["holdfast", "memory", "log", *([] if args.id is None else [args.id])]
        words += [] if args.space == DEFAULT_SPACE else ["--space", args.space]
        words += [] if args.branch is None else ["--branch", args.branch]
        words += ["--limit", str(args.limit), "--before", str(answer.entries[-1].seq)]
        print(styled(f"… {shlex.join(words)} shows older commits", output.DIM))
    return OK


# writing


def check_put(args: argparse.Namespace) -> None:
    args.value = json_argument(args.value)


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
    from holdfast.store.memory import verbs

    reads = [] if args.if_seq is None else [(args.id, args.if_seq)]
    print_answer(verbs.commit(store, new_key(app), [operation], reads, args.branch), args.json)
    return OK
