"""`holdfast edit`: rename, replace or insert symbols, first as a preview; recover an edit."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from holdfast.app import App
from holdfast.cli import edit_recovery
from holdfast.cli.output import print_json
from holdfast.cli.symbol_command import refused, split_symbol
from holdfast.cli.terminal import exit_code, terminal
from holdfast.files.journaled_edits import edits_of
from holdfast.index.references.answers import SymbolEditAnswer
from holdfast.index.tools.render_edits import edit_text
from holdfast.index.tools.symbol_edits import edit_symbol
from holdfast.index.tools.text_edits import Edit

VERBS = {
    "rename": ("rename", "give a symbol another name, everywhere"),
    "replace": ("replace", "replace the lines of a symbol"),
    "insert-before": ("insert_before", "insert lines before a symbol"),
    "insert-after": ("insert_after", "insert lines after a symbol"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, (action, what) in VERBS.items():
        verb = verbs.add_parser(name, help=what, description=what + "; a preview without --apply")
        verb.set_defaults(action=action)
        verb.add_argument("symbol", help="its name, qualified name or id; or FILE:NAME")
        if action == "rename":
            verb.add_argument("text", metavar="NEW", help="the new name")
        else:
            verb.add_argument("text", metavar="TEXT", help="the lines; - reads standard input")
        verb.add_argument("--file", default="", help="the file the symbol is in")
        verb.add_argument("--path", help="its tree (default: the one of this directory)")
        verb.add_argument(
            "--confirm",
            action="append",
            default=[],
            metavar="FILE:LINE",
            help="change this place, which is in doubt; may be repeated; * for all",
        )
        verb.add_argument(
            "--leave",
            action="append",
            default=[],
            metavar="FILE:LINE",
            help="leave this place, which is in doubt, as it is; may be repeated; * for all",
        )
        verb.add_argument(
            "--apply", default="", metavar="TOKEN", help="apply the preview that printed this token"
        )
        verb.add_argument("--json", action="store_true", help="answer as JSON")
    edit_recovery.configure(verbs.add_parser("recover", **edit_recovery.HELP))


def run(args: argparse.Namespace, app: App) -> int:
    if args.verb == "recover":
        return edit_recovery.run(args, app)
    text = sys.stdin.read() if args.text == "-" and args.action != "rename" else args.text
    split_symbol(args)
    file = args.file or ""
    edit = Edit(
        args.action,
        args.symbol,
        text,
        os.path.abspath(file) if file and not args.path else file,
        frozenset(args.confirm),
        frozenset(args.leave),
        args.apply,
    )
    index = app.open_index()
    try:
        answer = edit_symbol(index, args.path or os.getcwd(), edit, edits_of(app.home))
    finally:
        index.close()
    if args.json:
        print_json(answer.to_wire())
        return exit_code(answer.status)
    if answer.status not in ("ok", "blocked"):
        raise refused(answer)
    print(edit_text(answer, terminal(), apply=_apply(args, answer), settle=_SETTLE))
    return exit_code(answer.status)


_SETTLE = "--confirm FILE:LINE changes a place, --leave FILE:LINE leaves it, '*' means all"


def _apply(args: argparse.Namespace, answer: SymbolEditAnswer) -> str:
    """The command that applies the preview, as it would be typed."""
    words = ["holdfast", "edit", args.verb, args.symbol, args.text]
    for name, values in (("--confirm", args.confirm), ("--leave", args.leave)):
        words += [word for value in values for word in (name, value)]
    for name, value in (("--file", args.file), ("--path", args.path)):
        words += [name, value] if value else []
    return shlex.join([*words, "--apply", answer.token])
