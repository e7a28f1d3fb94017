"""`holdfast search`: ranked code from indexed trees."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import sys
from typing import Any

from holdfast.app import App
from holdfast.cli.envelopes import as_typed, exit_code, spoken
from holdfast.cli.output import (
    BOLD,
    DIM,
    GREEN,
    YELLOW,
    counted,
    plain,
    print_json,
    print_table,
    styled,
)
from holdfast.errors import UsageError
from holdfast.files.edited_files import EditedFiles
from holdfast.index.search.regex import lines_of
from holdfast.index.search.scopes import SCOPES
from holdfast.index.tools.search import BUDGET_DEFAULT, search_code
from holdfast.index.tools.search_answer import LIMIT_DEFAULT

OPERATORS = """\
operators, anywhere in the query:
  lang:python        files of a language; repeat for several
  path:src/  -path:tests/
                     files by path, as in .gitignore
  must:yaml.load     chunks with this text, exclude:text those without
  re:load_\\w+        lines that match a pattern of Python's
  sym:Cart.total     a symbol by name; * stands for letters
A value with spaces is put in double quotes, which a shell takes away unless the
word is quoted too: 're:"def \\w+_price"'. A backslash in front makes plain text
of an operator."""


_OPERATOR_WORD = re.compile(r"-path:|-[0-9]")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = OPERATORS
    # A word such as -path:tests/ is part of the query, as a negative number would be.
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
        default=LIMIT_DEFAULT,
        metavar="N",
        help=f"at most so many results (default: {LIMIT_DEFAULT})",
    )
    parser.add_argument("--cursor", metavar="WORD", help="go on where a page ended, as it says")
    parser.add_argument(
        "--budget",
        type=int,
        default=BUDGET_DEFAULT,
        metavar="TOKENS",
        help=f"at most so many tokens of results (default: {BUDGET_DEFAULT})",
    )
    parser.add_argument(
        "--similar", metavar="PATH:10-20", help="code like these lines, or like a whole file"
    )
    parser.add_argument(
        "--snippet", metavar="FILE", help="code like the text of a file from anywhere; - reads it"
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
        "--debug", action="store_true", help="say what each result's place is made of"
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    snippet = None if args.snippet is None else _text_of(args.snippet)
    paths = args.path or ["."]
    index = app.open_index()
    # A search takes what git told before it began, and a command is over before git tells anything.
    index.edited = EditedFiles(start=lambda job: None)
    try:
        answer: Any = search_code(
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
    except UsageError as error:
        if args.cursor is not None:
            error.hint = f"from the start: {_command(args)}"
        raise
    finally:
        index.close()
    if args.json:
        print_json(answer)
    elif answer["status"] == "blocked":
        print(answer["message"])
        print(f"[from the start: {_command(args)}]")
    elif answer["status"] != "ok" and not os.path.exists(answer["path"]):
        print(f"'{answer['path']}' does not exist.")
    elif answer["status"] != "ok":
        print(spoken(answer["message"]))
    else:
        _print(answer, args)
    return exit_code(answer)


def _text_of(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    try:
        with open(name, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error


def _as_given(similar: str | None) -> str | None:
    """A place as typed here, made absolute; one that is relative to the tree is left alone."""
    if similar is None:
        return None
    path = similar.rsplit(":", 1)[0]
    for named in (similar, path):
        if os.path.exists(named):
            return os.path.join(
                os.path.realpath(os.path.dirname(named) or "."), os.path.basename(similar)
            )
    return similar


def _print(answer: Any, args: argparse.Namespace) -> None:
    several = "roots" in answer
    for result in answer["results"]:
        _print_result(result, answer, several)
    if not answer["results"]:
        print("Nothing found.")
        print(f"[{_wider(answer, args)}]")
    for root in answer.get("roots", []):
        if root["status"] != "ok":
            print(f"[{spoken(root['message'])}]")
    decision = answer["freshnessDecision"]
    if "stats" in decision:
        stats = decision["stats"]
        print(
            f"[{stats['added']} new, {stats['modified']} changed, {stats['removed']} removed files "
            f"since the index was made were taken as they are now]"
        )
    for warning in answer.get("warnings", []):
        print(styled(f"[{plain(warning.split(':', 1)[-1])}]", YELLOW))
    counts = answer["counts"]
    if "matchedLines" in counts:
        least = "" if counts["complete"] else "at least "
        lines, files = counts["matchedLines"], counts["matchedFiles"]
        said = f"{least}{counted(lines, 'line')} in {counted(files, 'file')}"
        print(styled(f"[{said}]", DIM))
    if "continuation" in answer:
        after = _command(args, cursor=answer["continuation"]["cursor"])
        print(f"[{counts['from']}-{counts['to']} of {counts['total']}; next page: {after}]")
    if args.debug:
        _print_debug(answer)


def _wider(answer: Any, args: argparse.Namespace) -> str:
    """The command that looks further after nothing was found."""
    for step in answer.get("hints", {}).get("nextSteps", []):
        asked = step["args"]
        wider = argparse.Namespace(**vars(args))
        query = asked.get("query", "")
        wider.query = args.query if query == " ".join(args.query) else [query]
        if asked["path"] not in (answer["path"], answer.get("paths")):
            wider.path = [asked["path"]]
        wider.scope = asked.get("scope", args.scope)
        return f"wider: {_command(wider)}"
    words = ["holdfast", "locate", *([" ".join(args.query)] if args.query else ["-"])]
    words += ["--path", args.path[0]] if args.path else []
    return f"the very words, in any file: {shlex.join(words)}"


def _print_result(result: Any, answer: Any, several: bool) -> None:
    span = result["span"]
    where = result["codebasePath"] if several else answer["path"]
    # As one would type it here; among several trees the tree matters more.
    tree = os.path.basename(where)
    file = os.path.join(tree, result["file"]) if several else as_typed(result["file"], where)
    at = f"{file}:{span['startLine']}-{span['endLine']}"
    label = f"  {styled(plain(result['symbolLabel']), GREEN)}" if result["symbolLabel"] else ""
    kind = result.get("symbolKind", "module")
    kind = "" if kind == "module" else f"  {styled(kind, DIM)}"
    print(f"{styled(plain(at), BOLD)}{label}{kind}")
    lines = _lines(result)
    room = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 10_000
    marked = set(result.get("matchedLines", ()))
    before = None
    for number, text in lines:
        if before is not None and number != before + 1:
            print(styled(f"{'⋮':>6}", DIM))
        before = number
        gutter = styled(f"{number:>6}", YELLOW if number in marked else DIM)
        text = plain(text.expandtabs(4))
        print(f"{gutter}  {text if len(text) <= room - 8 else text[: room - 9] + '…'}".rstrip())
    if "in_context" in result:
        print("        [in context already]")
    if "next" in result:
        name = f"{as_typed(result['file'], where)}:{span['startLine']}-{span['endLine']}"
        left = span["endLine"] - span["startLine"] + 1 - len(lines)
        more = f"{counted(left, 'more line')}" if left > 0 else "long lines cut"
        print(f"        [{more}: holdfast read {shlex.quote(name)}]")
    if "alikeCount" in result:
        alike = result.get("alike", ())
        places = [f"{as_typed(p['file'], where)}:{p['span']['startLine']}" for p in alike]
        named = f": {', '.join(places)}" if places else ""
        rest = ", …; --raw shows all" if result["alikeCount"] > len(places) else ""
        print(f"        [and {result['alikeCount']} more like it{named}{rest}]")
    print()


def _lines(result: Any) -> list[tuple[int, str]]:
    """The shown lines of a result, by number."""
    if "previewSpans" in result:
        text = (result.get("preview") or result.get("content") or "").split("\n")
        texts = iter(text)
        lines: list[tuple[int, str]] = []
        for place, span in enumerate(result["previewSpans"]):
            if place:
                next(texts)  # The mark between runs of lines.
            numbers = range(span["startLine"], span["endLine"] + 1)
            lines += [(number, next(texts)) for number in numbers]
        return lines
    texts = [line.removesuffix("\r") for line in lines_of(result.get("content", ""))]
    return list(enumerate(texts, result["span"]["startLine"]))


def _print_debug(answer: Any) -> None:
    """What each result's place is made of: a row for each signal, a column for each result."""
    results = answer["results"]
    names: list[str] = []
    for result in results:
        names += [name for name in result["debug"]["signals"] if name not in names]
    room = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100
    across = max(1, (room - max(map(len, [*names, "signal"]))) // 8)
    for start in range(0, len(results), across):
        some = results[start : start + across]
        rows = [["score", *(f"{one['score']:.3f}" for one in some)]]
        rows += [
            [name, *(f"{one['debug']['signals'].get(name, 0):.3f}" for one in some)]
            for name in names
        ]
        print()
        print_table(["signal", *(f"#{n}" for n in range(start + 1, start + 1 + len(some)))], rows)
    print()
    for root in answer["hints"]["debugSearch"]["roots"]:
        exact = root["exact"]
        looked = f", looked at {exact['looked']:,} of {exact['chunks']:,} chunks" if exact else ""
        kind = f"taken for {root['questionKind']}, " if root["questionKind"] else ""
        print(f"{root['path']}: {kind}{counted(root['candidates'], 'candidate')}{looked}")


def _command(args: argparse.Namespace, cursor: str | None = None) -> str:
    """The command that was typed, with another cursor."""
    words = ["holdfast", "search"]
    # A word that begins as an option does is told from one by what stands before it.
    apart = any(word.startswith("-") and not _OPERATOR_WORD.match(word) for word in args.query)
    words += [] if apart else args.query
    for path in args.path or []:
        words += ["--path", path]
    for name, value, usual in (
        ("--scope", args.scope, "runtime"),
        ("--limit", args.limit, LIMIT_DEFAULT),
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
