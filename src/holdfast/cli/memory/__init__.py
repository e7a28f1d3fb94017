"""`holdfast memory`: documents on branches, from the terminal."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast.app import DEFAULT_SPACE, App
from holdfast.cli.failures import CommandRefused
from holdfast.cli.memory import arguments, branches, documents, maintenance, notes, sync_commands
from holdfast.cli.parsing import DeferredParser

if TYPE_CHECKING:
    from holdfast.store.store import Store

Verb = Callable[["Store", argparse.Namespace, App], int]

MAKING: tuple[Verb, ...] = (documents.put, documents.edit, notes.note, maintenance.import_)
"""The verbs that create a missing space."""
MAKING_ACTS: tuple[tuple[Verb, str], ...] = (
    (branches.branch, "create"),
    (sync_commands.acl, "set"),
)
"""The same for verbs with several actions: the actions that create a missing space."""

CHECKS: dict[Verb, Callable[[argparse.Namespace], None]] = {
    documents.put: documents.check_put,
    documents.edit: documents.check_edit,
    notes.note: notes.check_note,
    notes.find: notes.check_find,
    maintenance.import_: maintenance.check_import,
    maintenance.gc: maintenance.check_gc,
    branches.branch: branches.check,
    sync_commands.acl: sync_commands.check_acl,
}
"""Argument checks that run before a space is created."""

SPACES_NAMED = 6


def configure(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(verb=None)
    deferred: Any = partial(DeferredParser, type(parser))
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=deferred)

    def verb(name: str, run: Verb, text: str) -> argparse.ArgumentParser:
        sub: argparse.ArgumentParser
        sub = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        sub.set_defaults(verb=run)
        sub.add_argument("--space", default=DEFAULT_SPACE, help="the space (default: local)")
        sub.add_argument("--json", action="store_true", help="answer as JSON")
        return sub

    def on_branch(sub: argparse.ArgumentParser) -> argparse.ArgumentParser:
        sub.add_argument("--branch", default="", help="the branch (default: the default branch)")
        return sub

    sub = on_branch(verb("note", notes.note, "write a note, linked to code if you name some"))
    sub.add_argument("text", help="the note; - reads standard input")
    sub.add_argument(
        "--code",
        action="append",
        default=[],
        metavar="PATH[:SYMBOL]",
        help="the code it is about; may be given several times",
    )
    sub.add_argument("--tag", action="append", default=[], help="a tag; may be given several times")
    sub.add_argument("--id", default="", help="the document to write (default: a new one)")

    sub = on_branch(verb("find", notes.find, "find documents by words and meaning"))
    sub.add_argument("text", nargs="?", default="", help="what they say; none lists the newest")
    sub.add_argument("--author", default="", help="only by this user, agent or session")
    sub.add_argument("--tag", default="", help="only with this tag")
    sub.add_argument("--code", default="", metavar="PATH[:SYMBOL]", help="only about this code")
    sub.add_argument("--limit", type=int, default=10, help="show at most this many (default: 10)")

    sub = on_branch(verb("get", documents.get, "print a document"))
    sub.add_argument("id", help="the document, e.g. note:plan")
    sub.add_argument("pointer", nargs="?", default="", help="a part of it, e.g. /value/title")
    sub.add_argument("--at", type=int, metavar="SEQ", help="as it was at this seq")

    sub = on_branch(verb("list", documents.list_all, "list the documents of a branch"))
    sub.add_argument("prefix", nargs="?", default="", help="only ids that start with this")
    _paged(sub)

    sub = on_branch(verb("set", documents.put, "write a document"))
    sub.add_argument("id", help="the document, e.g. note:plan")
    sub.add_argument("value", help="JSON or plain text; - reads standard input, @FILE a file")
    sub.add_argument("--document", action="store_true", help="the JSON is the whole document")
    _condition(sub)

    sub = on_branch(verb("patch", documents.edit, "edit a document in place"))
    sub.add_argument("id", help="the document, e.g. note:plan")
    sub.add_argument("patches", help="a JSON list of operations; - or @FILE as for set")
    _condition(sub)

    sub = on_branch(verb("delete", documents.drop, "delete a document; its history stays"))
    sub.add_argument("id", help="the document, e.g. note:plan")
    _condition(sub)

    sub = verb("log", documents.log, "show commits, newest first")
    sub.add_argument("id", nargs="?", help="only commits that wrote this document")
    sub.add_argument("--branch", default=None, help="only this branch")
    sub.add_argument("--before", type=int, metavar="SEQ", help="only commits before this seq")
    sub.add_argument(
        "--limit", type=int, default=20, help="show at most this many commits (default: 20)"
    )
    sub.add_argument(
        "--verify",
        action="store_true",
        help="check the hash chain of all commits first, and show their hashes",
    )

    sub = on_branch(verb("at", documents.at, "show a branch, or one document, as it was at a seq"))
    sub.add_argument("seq", type=int, help="a seq from memory log")
    sub.add_argument("id", nargs="?", help="only this document")
    _paged(sub)

    sub = verb("branch", branches.branch, "create, list or delete branches")
    sub.add_argument("act", choices=["create", "list", "delete"], help="what to do")
    sub.add_argument("name", nargs="?", help="the branch to create or delete")
    sub.add_argument("--from", dest="parent", default="", help="the branch to fork")
    sub.add_argument("--at", type=int, metavar="SEQ", help="fork it as it was at this seq")

    sub = verb("diff", branches.diff, "show how a branch differs from its fork point")
    sub.add_argument("branch", help="the branch to compare")
    sub.add_argument("--against", metavar="BRANCH", help="compare with another branch instead")

    sub = verb("review", branches.review, "show each change of a branch beside its code")
    sub.add_argument("branch", help="the branch to review")

    sub = verb("merge", branches.merge, "merge a branch into another, and close it")
    sub.add_argument("source", help="the branch to merge")
    sub.add_argument("--into", default="", metavar="BRANCH", help="the target branch")
    sub.add_argument(
        "--take", choices=["source", "target"], help="resolve every conflict in favour of this side"
    )
    sub.add_argument(
        "--resolutions",
        metavar="JSON",
        help='how to resolve conflicts: {"doc:id": {"/value/x": "source" | {"value": …}}}',
    )
    sub.add_argument("--dry-run", action="store_true", help="only show what would change")
    sub.add_argument("--keep", action="store_true", help="leave the merged branch open")

    sub = verb("export", maintenance.export, "write the space as lines of JSON")
    sub.add_argument("file", nargs="?", help="the file to write; - or nothing for standard output")

    sub = verb("import", maintenance.import_, "fill a new space from an export")
    sub.add_argument("file", help="the export; - reads standard input")

    sub = verb("watch", _watch, "print documents of a server, live, as they change")
    sync_commands.configure_watch(sub)
    sub = verb("acl", sync_commands.acl, "show or change who may do what in a space")
    sync_commands.configure_acl(sub)

    verb("verify", maintenance.verify, "check every invariant of the space")

    sub = verb("gc", maintenance.gc, "rebuild derived data and free disk space")
    sub.add_argument(
        "--blobs", action="store_true", help="also delete blobs that no commit mentions"
    )
    sub.add_argument(
        "--grace",
        type=arguments.seconds,
        default=3_600.0,
        metavar="SECONDS",
        help="keep blobs put within this many seconds, because a commit may be about to name them "
        "(default: 3600)",
    )
    sub.add_argument(
        "--before",
        metavar="SEQ|DATE",
        help="also remove the history before a seq or a date (2026-01-31, or with a time in UTC); "
        "documents and branches stay, older seqs can no longer be read",
    )


def run(args: argparse.Namespace, app: App) -> int:
    if args.verb is _watch:
        return sync_commands.watch(args, app)
    from holdfast.store.errors import OutOfRange, UnknownBranch

    if args.verb in CHECKS:
        CHECKS[args.verb](args)
    with _opened(app, args) as store:
        act: Verb = args.verb
        try:
            return act(store, args, app)
        except OutOfRange as error:
            branch = error.branch or "the default branch"
            why = ": its history was removed by gc --before" if error.gone else ""
            message = f"seq {error.seq} is out of range for {branch}{why}"
            raise CommandRefused("OutOfRange", message, error.hint) from None
        except UnknownBranch as error:
            if args.space != DEFAULT_SPACE:
                error.hint = f"run: holdfast memory branch list --space {shlex.quote(args.space)}"
            raise


def _opened(app: App, args: argparse.Namespace) -> Store:
    """Open the space; only verbs that write create a missing one."""
    from holdfast.store.errors import UnknownSpace

    if args.verb in MAKING or (args.verb, getattr(args, "act", "")) in MAKING_ACTS:
        return app.open_space(args.space)
    try:
        return app.inspect_space(args.space)
    except UnknownSpace as error:
        raise CommandRefused(
            "UnknownSpace", str(error), _other_spaces(args.space, error.known)
        ) from None


def _other_spaces(space: str, spaces: Sequence[str]) -> str:
    """The most similar space, and the command that creates this one."""
    from difflib import get_close_matches

    from holdfast import live, sessions

    making = shlex.join(["holdfast", "memory", "set", "ID", "VALUE", "--space", space])
    make = f"`{making}` creates it"
    names = [name for name in spaces if name != sessions.SPACE and not live.is_live(name)]
    near = get_close_matches(space, names, 1)
    if not names:
        return make
    look = f"`{shlex.join(['holdfast', 'memory', 'list', '--space', (near or names)[0]])}`"
    if near:
        return f"did you mean {look}? {make}"
    listed = ", ".join(names[:SPACES_NAMED]) + (", …" if len(names) > SPACES_NAMED else "")
    return f"existing spaces: {listed}; {look} lists one, {make}"


def _watch(store: Store, args: argparse.Namespace, app: App) -> int:
    raise AssertionError("watch needs a server, not a store")


def _paged(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--after", default="", metavar="ID", help="only ids that follow this one")
    sub.add_argument("--limit", type=int, help="show at most this many documents (default: all)")


def _condition(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--if-seq",
        type=int,
        metavar="SEQ",
        help="only if the document was not written after this seq; 0: it must not exist",
    )
