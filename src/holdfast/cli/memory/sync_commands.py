"""`holdfast memory watch` and `holdfast memory acl`: the memory commands that use sync."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.app import DEFAULT_SPACE, App
from holdfast.cli import output
from holdfast.cli.failures import CommandRefused
from holdfast.cli.output import print_json, print_table, styled
from holdfast.errors import UsageError
from holdfast.text import short_json

if TYPE_CHECKING:
    from holdfast.store.store import Store
    from holdfast.sync.wire.messages import Sync

DEFAULT_URL = "http://127.0.0.1:7433"
CONNECT_S = 10.0


def configure_watch(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("id", nargs="+", help="documents to watch")
    sub.add_argument("--branch", default="", help="the branch (default: the default branch)")
    sub.add_argument("--links", action="store_true", help="also every document they link to")
    sub.add_argument("--url", help=f"the server (default: HOLDFAST_SYNC_URL or {DEFAULT_URL})")
    sub.add_argument("--create", action="store_true", help="create the space if it does not exist")
    sub.add_argument("--key", metavar="NAME", help="sign with this key (holdfast keys)")
    sub.add_argument(
        "--count", type=int, metavar="N", help="stop after N changes, counting the first output"
    )


def watch(args: argparse.Namespace, app: App) -> int:
    """Print the documents as they are, then every change, until interrupted."""
    import holdfast
    from holdfast.cli.keys import load_key
    from holdfast.sync.wire.messages import WatchSpec

    roots = [{"id": id, "selector": {"path": [], "schema": args.links}} for id in args.id]
    query = {"roots": roots, "branch": args.branch}
    spec = WatchSpec(id="cli", kind="graph", query=query)
    key = load_key(app.home, args.key) if args.key else None
    url = args.url or app.environment.get("HOLDFAST_SYNC_URL") or DEFAULT_URL
    # The default space was not typed, so its name cannot be mistyped.
    create = args.create or args.space == DEFAULT_SPACE
    with (
        _create_hint(),
        holdfast.connect(
            url, args.space, key, timeout_s=CONNECT_S, patient=False, create=create
        ) as space,
    ):
        changes = space.syncs()
        space.watch(spec)  # its answer arrives as the first change
        count = 0
        for sync in changes:
            if sync.upserts or sync.removes:
                _show(sync, args.json)
                count += 1
            if args.count is not None and count >= args.count:
                break
    return 0


@contextmanager
def _create_hint() -> Iterator[None]:
    """Add to the server's hint how to create a missing space."""
    from holdfast.store.errors import UnknownSpace
    from holdfast.sync.client.errors import RequestRefused

    try:
        yield
    except RequestRefused as error:
        if error.name != UnknownSpace.name:
            raise
        hint = f"{error.hint}; " if error.hint else ""
        raise CommandRefused("UnknownSpace", str(error), f"{hint}--create creates it") from None


def _show(sync: Sync, as_json: bool) -> None:
    for entry in sync.upserts:
        deleted = entry.deleted is True
        document = None if deleted else entry.doc
        if as_json:
            line = {"id": entry.id, "branch": entry.branch, "seq": entry.seq, "document": document}
            print(json.dumps(line, ensure_ascii=False), flush=True)
        elif deleted:
            state = "does not exist" if entry.seq == 0 else "deleted"
            print(f"{entry.seq:>6}  {entry.id}  {styled(state, output.RED)}", flush=True)
        else:
            value = document.get("value", document) if isinstance(document, dict) else document
            print(f"{entry.seq:>6}  {entry.id}  {short_json(value, 100)}", flush=True)
    for gone in sync.removes:
        if as_json:
            print(json.dumps({"id": gone.id, "branch": gone.branch, "removed": True}), flush=True)
        else:
            print(f"        {gone.id}  no longer reached", flush=True)


def configure_acl(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("act", choices=["show", "set", "remove"], help="what to do")
    sub.add_argument("principal", nargs="?", help="a did:key:…, or * for everyone")
    sub.add_argument(
        "right", nargs="?", choices=["READ", "WRITE", "OWNER"], help="the right to grant"
    )


def check_acl(args: argparse.Namespace) -> None:
    is_complete = args.principal is not None and (args.act != "set" or args.right is not None)
    if args.act != "show" and not is_complete:
        needs = "PRINCIPAL and RIGHT" if args.act == "set" else "PRINCIPAL"
        raise UsageError(f"acl {args.act} needs {needs}", hint="acl set PRINCIPAL READ|WRITE|OWNER")
    # A name that no key has would own the space, and no key could change the list.
    if args.act == "set" and args.principal != "*" and not args.principal.startswith("did:key:z"):
        raise UsageError(
            f"a principal is a did:key:… or * (got {args.principal!r})",
            hint="holdfast keys show prints the did:key of each key",
        )


def acl(store: Store, args: argparse.Namespace, app: App) -> int:
    """Show or change the access list of a space. The list is always written as a whole."""
    from holdfast.sync.server.access import Right, acl_id, has_named_owner, parse_acl

    id = acl_id(args.space)
    state = store.state(id)
    rights = parse_acl(state.document) if state is not None and state.document else {}
    if rights is None:
        raise UsageError(f"{id} is not an access list", hint="replace it: holdfast memory set")
    if args.act == "show":
        names = {principal: right.name for principal, right in sorted(rights.items())}
        if args.json:
            print_json(names)
        elif names:
            print_table(("principal", "right"), list(names.items()))
        else:
            print("no access list: the space belongs to its own key")
        return 0
    if args.act == "set":
        rights[args.principal] = Right[args.right]
    elif rights.pop(args.principal, None) is None:
        raise UsageError(f"{args.principal} is not on the list")
    if not has_named_owner(rights):
        raise UsageError("the list must keep at least one owner other than *")
    value: dict[str, Any] = {principal: right.name for principal, right in rights.items()}
    read: dict[str, Any] = {"id": id, "path": [], "seq": 0 if state is None else state.seq}
    applied = store.transact(
        app.writer_id("cli"),
        {
            "localSeq": 1,
            "reads": {"confirmed": [read], "pending": []},
            "operations": [{"op": "set", "id": id, "value": {"value": value}}],
        },
    )
    print_json(applied.to_wire()) if args.json else print(f"committed at seq {applied.seq}")
    return 0
