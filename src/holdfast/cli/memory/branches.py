"""The verbs about branches: create, list, delete, compare, merge."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from holdfast.app import DEFAULT_SPACE, App
from holdfast.cli import output
from holdfast.cli.failures import OK, REFUSED
from holdfast.cli.memory.arguments import json_argument
from holdfast.cli.memory.commit_key import author, new_key, next_key
from holdfast.cli.memory.printing import print_answer, print_lines
from holdfast.cli.output import print_json, styled
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.store.store import Store


def check(args: argparse.Namespace) -> None:
    if args.act != "list" and args.name is None:
        raise UsageError(f"branch {args.act} needs a NAME", "pass the branch after the verb")


def branch(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.store.memory import verbs

    if args.act == "list":
        print_answer(verbs.branches(store), args.json)
    elif args.act == "create":
        created = verbs.create_branch(
            store, new_key(app), args.name, args.parent, args.at, author(app)
        )
        print_answer(created, args.json)
    else:
        print_answer(verbs.delete_branch(store, new_key(app), args.name, author(app)), args.json)
    return OK


def diff(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.store.memory import verbs

    print_answer(verbs.diff(store, args.branch, args.against), args.json)
    return OK


def review(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.cli.near_notes import linked_code
    from holdfast.notes.review import review as review_branch
    from holdfast.store.memory import verbs

    code = linked_code(app)
    answer = review_branch(store, args.branch, code.judge, code.read)
    if args.json:
        print_json(answer.to_wire())
        return OK
    print_lines(answer.lines())
    if args.branch in verbs.branches(store).merged:
        print(styled(f"{args.branch} was merged and is closed", output.DIM))
    elif answer.changes:
        words = ["holdfast", "memory", "merge", args.branch]
        words += [] if args.space == DEFAULT_SPACE else ["--space", args.space]
        print(styled(f"merge it: {shlex.join(words)}", output.DIM))
    return OK


def merge(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.store.memory import verbs
    from holdfast.store.memory.answers import MergeConflicts

    resolutions = json_argument(args.resolutions) if args.resolutions else {}
    key = new_key(app)
    answer = verbs.merge(
        store,
        key,
        args.source,
        args.into,
        resolutions,
        args.take,
        args.dry_run,
        author(app),
        None if args.keep else next_key(key),
    )
    if not isinstance(answer, MergeConflicts):
        print_answer(answer, args.json)
        return OK
    print_answer(answer, args.json, sys.stderr)
    if not args.json:
        print(f"hint: {_again(args)} --take source|target, or --resolutions JSON", file=sys.stderr)
    return REFUSED


def _again(args: argparse.Namespace) -> str:
    words = ["holdfast", "memory", "merge", args.source]
    words += ["--into", args.into] if args.into else []
    words += [] if args.space == DEFAULT_SPACE else ["--space", args.space]
    return shlex.join(words)
