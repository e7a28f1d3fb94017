"""`holdfast index`: create, refresh, inspect, delete and repair indexes."""

from __future__ import annotations

import argparse
import sys

from holdfast.app import App
from holdfast.cli.build_progress import progress_to
from holdfast.cli.output import print_json
from holdfast.cli.terminal import OK, REFUSED, exit_code, with_commands
from holdfast.cli.user_files import add_yes, refuse_whole_homes
from holdfast.errors import HoldfastError, UsageError
from holdfast.index.code_index import CodeIndex, run_here
from holdfast.index.generations.gate import Open
from holdfast.index.tools.codebases import list_codebases
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.manage.status import LAST_RUN_FAILED
from holdfast.index.tools.render import (
    built_text,
    codebases_text,
    detail_words,
    without_internals,
)

ACTIONS = ("create", "reindex", "sync", "status", "verify", "clear", "list", "repair", "publish")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=ACTIONS,
        help="create: build an index; reindex: rebuild it; sync: index what changed; "
        "status: show its state; verify: read all stored data and check it; clear: delete it; "
        "list: all tracked trees; "
        "repair: recover after a crash; publish: give the index of the commit that is checked out "
        "to the team (HOLDFAST_INDEX_URL)",
    )
    parser.add_argument("path", nargs="?", default=".", help="the tree (default: here)")
    parser.add_argument(
        "--git",
        metavar="URL-OR-PATH",
        help="create, sync, status, clear: a repository without a checkout, from its git objects",
    )
    parser.add_argument("--ref", help="--git: the branch or tag (default: HEAD)")
    parser.add_argument("--force", action="store_true", help="create: rebuild even if indexed")
    parser.add_argument(
        "--extension",
        action="append",
        default=[],
        metavar=".EXT",
        help="also index files with this extension",
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="PATTERN", help="ignore matching files"
    )
    parser.add_argument(
        "--allow-unnecessary",
        action="store_true",
        help="reindex: rebuild even if only ignore rules changed",
    )
    parser.add_argument(
        "--accept-history",
        action="store_true",
        help="publish even if the team knows this repository with another first commit",
    )
    add_yes(parser)
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    if args.ref is not None and args.git is None:
        raise UsageError("--ref needs --git", "a checkout is indexed as its files are")
    args.ref = "HEAD" if args.ref is None else args.ref
    if args.action in ("create", "reindex"):
        if args.git is None:
            refuse_whole_homes(app, args.path, args)
        app.home.make()
    index = app.open_index()
    index.start = run_here
    try:
        return _run(index, args, app)
    finally:
        index.close()


def _run(index: CodeIndex, args: argparse.Namespace, app: App) -> int:
    if args.git is not None:
        _bring_repository(index, args, app)
    if args.action == "list":
        listed = list_codebases(index)
        text = codebases_text(listed.codebases, detail_words)
        print_json(listed.to_wire()) if args.json else print(with_commands(text))
        return OK
    if args.action == "repair":
        return _repair(index, args)
    if args.action == "verify":
        return _verify(index, args)
    if args.action == "publish":
        return _publish(index, args)
    bar = progress_to(sys.stderr, app.clock.monotonic, shown=not args.json)
    try:
        answer = manage_index(
            index,
            args.action,
            args.path,
            force=args.force,
            custom_extensions=args.extension,
            ignore_patterns=args.ignore,
            allow_unnecessary_reindex=args.allow_unnecessary,
            report=bar,
        )
    finally:
        bar.close()
    if args.git is not None and args.action == "clear" and answer.status == "ok":
        tree = app.repositories().at(args.path)
        if tree is not None:
            app.repositories().forget(tree)
    if answer.status != "ok" or args.action not in ("create", "reindex"):
        text = with_commands(without_internals(answer.human_text), answer.path)
        print_json(answer.to_wire()) if args.json else print(text)
        return exit_code(answer.status)
    # The build is done, so report the state after it.
    final = manage_index(index, "status", answer.path)
    if args.json:
        print_json({**final.to_wire(), "started": answer.to_wire()})
    else:
        print(with_commands(built_text(answer, final), final.path))
    failed = any(warning.code == LAST_RUN_FAILED for warning in final.warnings)
    return REFUSED if failed else exit_code(final.status)


def _bring_repository(index: CodeIndex, args: argparse.Namespace, app: App) -> None:
    """Make the command act on the files of a repository, and update them if it needs that."""
    if args.action not in ("create", "reindex", "sync", "status", "clear"):
        raise UsageError(f"{args.action} does not take --git", "use create, sync, status or clear")
    repositories = app.repositories()
    if args.action in ("status", "clear"):
        known_tree = repositories.find(args.git, args.ref)
        if known_tree is None:
            from holdfast.files.remotes import shown
            from holdfast.repositories import git_options

            raise UsageError(
                f"{shown(args.git)} ({args.ref}) is not indexed",
                f"run: holdfast index create {git_options(args.git, args.ref)}",
            )
        args.path = known_tree.root
        if args.action == "status" and not args.json:
            print(f"Files of {known_tree.sentence()}", file=sys.stderr)
        return
    tree = repositories.add(args.git, args.ref)
    if not args.json:
        print(f"Files of {tree.sentence()}", file=sys.stderr)
    if args.action == "create" and not args.force and index.registry.find(tree.root) is not None:
        args.action = "sync"
    args.path = tree.root


def _publish(index: CodeIndex, args: argparse.Namespace) -> int:
    """Publish the index of a commit to the team."""
    from holdfast.index.tools.manage.publish import publish_index

    answer = publish_index(index, args.path, accept_history=args.accept_history)
    if args.json:
        print_json(answer.to_wire())
    else:
        print(with_commands(answer.human_text, answer.path))
    return exit_code(answer.status)


def _verify(index: CodeIndex, args: argparse.Namespace) -> int:
    """Read all stored data of a tree, then report its state."""
    requested, record = index.root_of(args.path)
    gate = index.verified_gate(record)  # records damage, which the status then reports
    answer = manage_index(index, "status", requested if record is None else record.root)
    unread = gate.probe_failure if isinstance(gate, Open) else None
    sound = answer.status == "ok" and unread is None
    if args.json:
        why = {} if unread is None else {"unread": unread}
        print_json({**answer.to_wire(), "verified": sound, **why})
    else:
        print(with_commands(without_internals(answer.human_text), answer.path))
        if sound:
            print("Verified: all stored data was read, and every checksum agrees.")
        elif unread is not None:
            print(f"Not verified, because not all data could be read: {unread}.")
    return exit_code(answer.status) if unread is None else REFUSED


def _repair(index: CodeIndex, args: argparse.Namespace) -> int:
    """Move an unreadable registry aside, end dead runs, restore what the backend proves.

    For an index that cannot be used, print the command that rebuilds it.
    """
    from holdfast.index.building.lifecycle import reconcile_nondestructive, recover_all
    from holdfast.index.generations.gate import TooNew, Unproven
    from holdfast.index.tools.refusals import refusal

    aside = index.registry.set_aside()
    ended = recover_all(index)
    away, roots = None, []
    try:
        roots = index.backend.roots()
    except HoldfastError as error:
        # Without the backend nothing can be proven, so the repair is not complete.
        away = f"{error}{f' ({error.hint})' if error.hint else ''}"
    restored = reconcile_nondestructive(index, roots)
    unusable = {
        record.root: refusal(gate, record.root, index.runtime(), "search again").message
        for record in index.registry.records().values()
        if isinstance(gate := index.verified_gate(record), Unproven | TooNew)
    }
    code = OK if away is None and not unusable else REFUSED
    if args.json:
        print_json(
            {
                "status": "ok" if code == OK else "error",
                **({} if away is None else {"message": away}),
                "setAside": str(aside) if aside else None,
                "ended": ended,
                "restored": restored,
                "unusable": unusable,
            }
        )
        return code
    if aside is not None:
        print(f"The registry could not be read; it is kept as {aside}.")
    for root in ended:
        print(f"Ended an interrupted run on {root}.")
    for root in restored:
        print(f"Restored {root}: its index is complete.")
    for message in unusable.values():
        print(with_commands(message))
    if away is not None:
        print(f"The backend did not answer, so nothing more could be proven: {away}")
    elif aside is None and not ended and not restored and not unusable:
        print("Nothing needed repair.")
    return code
