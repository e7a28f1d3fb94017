"""`holdfast search`: ranked code from indexed trees."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING

from holdfast.cli.console import absolute, columns, note_printed, stdin
from holdfast.cli.user_files import read_user_file
from holdfast.errors import UsageError
from holdfast.index.search.limits import BUDGET_DEFAULT, LIMIT_DEFAULT, LIMIT_MAX, SCOPES
from holdfast.patterns import lazy_pattern

# `run` imports what it needs to search and print, so that the help text is fast.
if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.index.search_answers import SearchAnswer

OPERATORS = """\
operators, anywhere in the query:
  lang:python        files of a language; repeat for several
  path:src/  -path:tests/
                     files by path, as in .gitignore
  must:yaml.load     chunks with this text, exclude:text those without
  re:load_\\w+        lines that match a regular expression, as in Python
  sym:Cart.total     a symbol by name; * matches any characters
A pattern with spaces is one word of the shell: 're:def \\w+_price'. Beside re:, must: or
sym:, a word that is a file or directory limits the search to it, as in grep. A backslash
in front of an operator makes it plain text."""


_OPERATOR_WORD = lazy_pattern(r"-path:|-[0-9]")
_EXACT_WORD = lazy_pattern(r"(?:re|must|sym):(?!:)")
_SPACED_VALUE = lazy_pattern(
    r"(re|must):(?![:\"])(?=\S)(?!.*\s-?(?:lang|path|must|exclude|re|sym):)(.*\s.*)"
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = OPERATORS
    # Treat a word such as -path:tests/ as part of the query, like a negative number.
    parser._negative_number_matcher = _OPERATOR_WORD
    parser.add_argument("query", nargs="*", help="a name, a phrase or a behaviour, and operators")
    parser.add_argument(
        "--path",
        action="append",
        metavar="PATH",
        help="the tree, or a directory in it (default: here); repeat for several",
    )
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="runtime",
        help="code (default), code and documents, or only documents",
    )
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help=f"maximum number of results (default: {LIMIT_DEFAULT}; lines and files: {LIMIT_MAX})",
    )
    parser.add_argument(
        "--cursor", metavar="WORD", help="continue after a page, with the cursor that it printed"
    )
    parser.add_argument(
        "--budget",
        type=int,
        default=BUDGET_DEFAULT,
        metavar="TOKENS",
        help=f"maximum number of tokens of results (default: {BUDGET_DEFAULT})",
    )
    parser.add_argument(
        "--similar",
        metavar="PATH:10-20",
        help="find code similar to these lines, or to a whole file",
    )
    parser.add_argument(
        "--snippet",
        metavar="FILE",
        help="find code similar to the text of any file; - reads standard input",
    )
    parser.add_argument("--raw", action="store_true", help="chunks instead of symbols")
    parser.add_argument(
        "--by",
        choices=("symbol", "file"),
        default="symbol",
        dest="group_by",
        help="one result for each symbol (default) or file",
    )
    parser.add_argument(
        "--debug", action="store_true", help="show what the rank of each result is made of"
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    snippet = None if args.snippet is None else _text_of(args.snippet)
    _as_in_grep(args)
    paths = [absolute(path) for path in args.path or ["."]]
    try:
        with app.borrow_index() as index:
            index.expect_question(paths[0])
            # Imported while the tree is walked.
            from holdfast.cli.large_trees import large_root, start_host
            from holdfast.cli.output import print_json
            from holdfast.cli.terminal import exit_code, with_commands
            from holdfast.index.tools.search import search_code

            answer = search_code(
                index,
                paths[0] if len(paths) == 1 else paths,
                " ".join(args.query),
                scope=args.scope,
                result_mode="raw" if args.raw else "grouped",
                group_by=args.group_by,
                limit=args.limit,
                budget=args.budget,
                cursor=args.cursor,
                debug=args.debug,
                similar=_as_given(args.similar),
                snippet=snippet,
            )
            large = large_root(app, index, answer.path)
            root = index.root_of(answer.path)[1] if answer.status == "ok" else None
    except UsageError as error:
        if args.cursor is not None:
            error.hint = f"from the start: {_command(args)}"
        raise
    try:
        if args.json:
            print_json(answer.to_wire())
        elif answer.status == "blocked":
            print(answer.message)
            print(f"[from the start: {_command(args)}]")
        elif answer.status != "ok" and not os.path.exists(answer.path):
            print(f"'{answer.path}' does not exist.")
        elif answer.status != "ok":
            print(with_commands(answer.message or answer.status))
        else:
            _print(answer, args, app, None if root is None else root.root)
    finally:
        # After the answer, which does not wait for it.
        if large is not None:
            start_host(app, large)
    if not answer.results and any(one.startswith("PATH_MISSING:") for one in answer.warnings):
        return exit_code("missing")
    return exit_code(answer.status)


def _as_in_grep(args: argparse.Namespace) -> None:
    """Take a spaced pattern that the shell passed as one word, and paths after it, as grep does."""
    exact = [word for word in args.query if _EXACT_WORD.match(word)]
    if exact and args.path is None:
        paths = [word for word in args.query if _is_path(word)]
        args.query = [word for word in args.query if word not in paths]
        args.path = paths or None
    args.query = [_quoted(word) for word in args.query]


def _is_path(word: str) -> bool:
    """Whether a word names a file, or a directory, as one types it for grep."""
    path = absolute(word)
    return os.path.isdir(path) or (("/" in word or "." in word) and os.path.exists(path))


def _quoted(word: str) -> str:
    """A pattern with spaces in the quotes that a query needs; any other word as it is."""
    value = _SPACED_VALUE.fullmatch(word)
    if value is None:
        return word
    name, text = value.groups()
    from holdfast.index.search.operators import written

    return f"{name}:{written(name, text)}"


def _text_of(name: str) -> str:
    if name == "-":
        stream = stdin()
        return "" if stream is None else stream.read()
    return read_user_file(name).decode("utf-8", "replace")


def _as_given(similar: str | None) -> str | None:
    """A typed path, made absolute if it exists here; a path relative to the tree is kept."""
    if similar is None:
        return None
    path = similar.rsplit(":", 1)[0]
    for candidate in (similar, path):
        if os.path.exists(absolute(candidate)):
            folder = os.path.realpath(os.path.dirname(absolute(candidate)))
            return os.path.join(folder, os.path.basename(similar))
    return similar


def _print(answer: SearchAnswer, args: argparse.Namespace, app: App, root: str | None) -> None:
    from holdfast.cli.near_notes import near_notes
    from holdfast.cli.output import plain
    from holdfast.cli.terminal import terminal
    from holdfast.index.tools.search_text import printed_lines, search_text, shown_lines

    surface = terminal(several_trees=bool(answer.roots))
    more = answer.continuation
    next_page = None
    if more is not None:
        # A person copies the command; a program has it and needs only the cursor.
        whole = _command(args, cursor=more.cursor)
        next_page = whole if surface.is_terminal else f"--cursor {more.cursor}"
    text = search_text(answer, surface, next_page=next_page)
    about = near_notes(app, shown_lines(answer, root))
    text = f"{plain(about)}\n{text}" if about else text
    print(text)
    if answer.results and not args.debug and root is not None:
        printed = [
            (os.path.join(one.codebase_path or root, one.file), number, row)
            for one, number, row in printed_lines(answer, surface)
        ]
        note_printed(text, printed)
    if not answer.results:
        print(f"[{_wider(answer, args)}]")
    if args.debug:
        _print_debug(answer)


def _wider(answer: SearchAnswer, args: argparse.Namespace) -> str:
    """The command for a wider search after nothing was found."""
    if answer.hints is not None and answer.hints.next_steps:
        arguments = answer.hints.next_steps[0].args
        wider = argparse.Namespace(**vars(args))
        query = arguments.get("query", "")
        wider.query = args.query if query == " ".join(args.query) else [query]
        if arguments["path"] not in (answer.path, list(answer.paths)):
            wider.path = [arguments["path"]]
        wider.scope = arguments.get("scope", args.scope)
        return f"wider: {_command(wider)}"
    words = ["holdfast", "locate", *([" ".join(args.query)] if args.query else ["-"])]
    words += ["--path", args.path[0]] if args.path else []
    return f"the exact tokens, in any file: {shlex.join(words)}"


def _print_debug(answer: SearchAnswer) -> None:
    """Print the parts of each result's score: a row for each signal, a column for each result."""
    from holdfast.cli.output import print_table
    from holdfast.text import counted

    explained = [(result, result.debug) for result in answer.results if result.debug is not None]
    names = list(dict.fromkeys(name for _, debug in explained for name in debug.signals))
    room = columns() or 100
    across = max(1, (room - max(map(len, [*names, "signal"]))) // 8)
    for start in range(0, len(explained), across):
        some = explained[start : start + across]
        rows = [["score", *(f"{result.score:.3f}" for result, _ in some)]]
        rows += [
            [name, *(f"{debug.signals.get(name, 0):.3f}" for _, debug in some)] for name in names
        ]
        print()
        print_table(["signal", *(f"#{n}" for n in range(start + 1, start + 1 + len(some)))], rows)
    print()
    search = answer.hints.debug_search if answer.hints is not None else None
    for root in search.roots if search is not None else ():
        exact = root.exact
        looked = f", looked at {exact.looked:,} of {exact.chunks:,} chunks" if exact else ""
        kind = f"taken for {root.question_kind}, " if root.question_kind else ""
        print(f"{root.path}: {kind}{counted(root.candidates, 'candidate')}{looked}")


def _command(args: argparse.Namespace, cursor: str | None = None) -> str:
    """The command that was typed, with another cursor."""
    words = ["holdfast", "search"]
    # Words that look like options must come after `--`.
    apart = any(word.startswith("-") and not _OPERATOR_WORD.match(word) for word in args.query)
    words += [] if apart else args.query
    for path in args.path or []:
        words += ["--path", path]
    for name, value, usual in (
        ("--scope", args.scope, "runtime"),
        ("--limit", args.limit, None),
        ("--budget", args.budget, BUDGET_DEFAULT),
        ("--by", args.group_by, "symbol"),
        ("--similar", args.similar, None),
        ("--snippet", args.snippet, None),
        ("--cursor", cursor, None),
    ):
        if value != usual:
            words += [name, str(value)]
    words += ["--raw"] if args.raw else []
    words += ["--debug"] if args.debug else []
    words += ["--", *args.query] if apart else []
    return shlex.join(words)
