"""The verbs about notes: write one, find some."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from holdfast.app import App
from holdfast.cli import output
from holdfast.cli.failures import OK
from holdfast.cli.memory.commit_key import author, new_key
from holdfast.cli.near_notes import linked_code
from holdfast.cli.output import plain, print_json, styled
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.store.store import Store


def check_note(args: argparse.Namespace) -> None:
    if args.text == "-":
        args.text = sys.stdin.read()
    if not args.text.strip():
        raise UsageError("a note must not be empty", "pass its text after the verb")


def note(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.notes.note import commit_note, note_value, unlinked

    links = linked_code(app).with_digests(unlinked(args.code))
    value = note_value(args.text.strip(), links, args.tag)
    noted = commit_note(store, new_key(app), value, args.id, args.branch, author(app), app.new_id)
    if args.json:
        print_json(noted.to_wire())
    else:
        print(plain(str(noted)))
    return OK


def check_find(args: argparse.Namespace) -> None:
    if args.limit < 1:
        raise UsageError(f"--limit must be at least 1 (got {args.limit})")


def find(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.index.embedding.static import StaticEmbedding
    from holdfast.notes import find as finding
    from holdfast.notes.note import code_place

    path, symbol = code_place(args.code) if args.code else ("", None)
    filters = finding.Filters(args.author, args.tag, path, symbol or "")
    answer = finding.find(
        store,
        args.text,
        linked_code(app).judge,
        StaticEmbedding,
        filters,
        args.branch,
        limit=args.limit,
    )
    if args.json:
        print_json(answer.to_wire())
        return OK
    for line in answer.lines():
        print(plain(line))
    if answer.notes:
        whole = shlex.join(["holdfast", "memory", "get", answer.notes[0].state.id])
        more = answer.total - len(answer.notes)
        rest = f"; --limit shows {more} more" if more > 0 else ""
        print(styled(f"{whole} shows all of it{rest}", output.DIM))
    return OK
