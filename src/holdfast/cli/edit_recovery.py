"""`holdfast edit recover`: complete an edit of several files that was interrupted."""

from __future__ import annotations

import argparse
from typing import TypedDict

from holdfast.app import App
from holdfast.cli.console import absolute, here
from holdfast.cli.failures import CommandRefused
from holdfast.cli.output import print_json


class _Help(TypedDict):
    help: str
    description: str


HELP: _Help = {
    "help": "complete an edit that was interrupted",
    "description": "Complete an edit of several files whose process ended before all were "
    "written. Without an option it is finished if every file is as before or as after the edit.",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--path", help="its tree (default: the one of this directory)")
    how = parser.add_mutually_exclusive_group()
    for choice, what in (
        ("list", "name every file of the edit and what it is now; changes nothing"),
        ("finish", "write the files that are not written yet"),
        ("undo", "give the files that were written their old text"),
        ("forget", "leave every file as it is, and remove the journal of the edit"),
    ):
        how.add_argument(f"--{choice}", dest="how", action="store_const", const=choice, help=what)
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    from holdfast.files.journaled_edits import edits_of
    from holdfast.files.paths import canonical_root

    edits = edits_of(app.home)
    path = canonical_root(absolute(args.path) if args.path else here())
    root = edits.root_of(path)
    if root is None:
        said = ""
    elif args.how == "list":
        states = edits.states_of(root)
        if args.json:
            files = {name: state.value for name, state in states.items()}
            print_json({"status": "ok", "path": root, "files": files})
            return 0
        said = "\n".join(f"{state.value:<14} {name}" for name, state in states.items())
    elif args.how == "forget":
        said = edits.forget(root)
    elif args.how:
        said = edits.settle(root, args.how)
    else:
        said = edits.recover(root)
        if edits.root_of(root) == root:
            raise CommandRefused("interrupted_edit", said)
    message = said or f"no edit was interrupted in {path}"
    if args.json:
        print_json({"status": "ok", "path": root or path, "message": message})
    else:
        print(message)
    return 0
