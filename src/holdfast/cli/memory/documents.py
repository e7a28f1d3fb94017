"""The verbs that read and write documents."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from holdfast.app import DEFAULT_SPACE, App
from holdfast.cli import output
from holdfast.cli.failures import OK, Refused
from holdfast.cli.memory.arguments import json_argument
from holdfast.cli.output import print_json, print_table, short_json, styled
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.store.store import Store


# reading


def get(store: Store, args: argparse.Namespace, app: App) -> int:
    state = store.state(args.id, args.branch, args.at)
    if state is None or state.document is None:
        when = "" if args.at is None else f" at seq {args.at}"
        raise Refused("NoSuchDocument", f"there is no {args.id}{when}", _listing(args))
    from holdfast.store import patch, pointer

    path = pointer.parse(args.pointer)
    if not patch.has(state.document, path):
        whole = _command(args, "get", args.id, *([] if args.at is None else ["--at", str(args.at)]))
        raise Refused(
            "NoSuchPart",
            f"{args.id} has nothing at {args.pointer}",
            f"{whole} shows all of it",
        )
    part = patch.get(state.document, path)
    print_json({**state.to_wire(), "document": part} if args.json else part)
    return OK


def _listing(args: argparse.Namespace) -> str:
    """The command that shows what there is, where it was looked for."""
    when = [] if args.at is None else [str(args.at)]
    return f"{_command(args, 'at' if when else 'list', *when)} shows what there is"


def _command(args: argparse.Namespace, *words: str) -> str:
    """A command about the same space and branch, as one would type it."""
    out = ["holdfast", "memory", *words]
    out += [] if args.space == DEFAULT_SPACE else ["--space", args.space]
    out += ["--branch", args.branch] if args.branch else []
    return shlex.join(out)


def list_all(store: Store, args: argparse.Namespace, app: App) -> int:
    return _show_documents(store, args, None, args.prefix)


def at(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.id is None:
        return _show_documents(store, args, args.seq, "")
    args.at, args.pointer = args.seq, ""
    return get(store, args, app)


def _show_documents(store: Store, args: argparse.Namespace, seq: int | None, prefix: str) -> int:
    states = [s for s in store.documents(args.branch, seq) if s.id.startswith(prefix)]
    if args.json:
        print_json([state.to_wire() for state in states])
    elif not states:
        print("no documents")
    else:
        rows = [(s.id, s.seq, short_json((s.document or {}).get("value"))) for s in states]
        print_table(("id", "seq", "value"), rows)
    return OK


def log(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.limit < 1:
        raise UsageError(f"limit {args.limit} asks for nothing", "--limit N, from 1")
    # One more than asked, so that we know whether there is more.
    found = store.log(args.id, args.branch, args.before, args.limit + 1)
    entries = found[: args.limit]
    if args.json:
        print_json([entry.to_wire() for entry in entries])
        return OK
    if not entries:
        print("no commits" if args.id is None else f"no commit wrote {args.id}")
        return OK
    rows = []
    for entry in entries:
        what = ", ".join(f"{op} {id}" for op, id in entry.operations) or entry.kind
        what = f"{entry.kind}: {what}" if entry.kind.startswith("merge") else what
        rows.append((entry.seq, entry.created_at, entry.branch or "-", entry.session, what))
    print_table(("seq", "when", "branch", "session", "what"), rows)
    if len(found) > args.limit:
        words = ["holdfast", "memory", "log", *([] if args.id is None else [args.id])]
        words += [] if args.space == DEFAULT_SPACE else ["--space", args.space]
        words += [] if args.branch is None else ["--branch", args.branch]
        words += ["--limit", str(args.limit), "--before", str(entries[-1].seq)]
        print(styled(f"… {shlex.join(words)} goes on", output.DIM))
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
        raise Refused("NoSuchDocument", f"there is no {args.id} to delete", _listing(args))
    return _commit(store, args, app, {"op": "delete", "id": args.id})


def _commit(store: Store, args: argparse.Namespace, app: App, operation: dict[str, Any]) -> int:
    reads = []
    if args.if_seq is not None:
        reads.append({"id": args.id, "path": [], "seq": args.if_seq})
    applied = store.transact(
        app.writer_id("cli"),
        {
            "localSeq": 1,
            "branch": args.branch,
            "reads": {"confirmed": reads, "pending": []},
            "operations": [operation],
        },
    )
    if args.json:
        print_json(applied.to_wire())
    else:
        print(f"committed at seq {applied.seq}")
    return OK
