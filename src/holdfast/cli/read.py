"""`holdfast read PATH[:A-B]`: a file, or only what the session does not already hold of it."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.app import App
from holdfast.cli import session_args
from holdfast.cli.console import absolute, relative
from holdfast.cli.failures import CommandRefused, Failure, failure_of
from holdfast.cli.line_display import ShownText, code_lines, printed, split_notice
from holdfast.cli.near_notes import near_notes
from holdfast.cli.output import plain
from holdfast.cli.places import NamedLines, Place, places_of
from holdfast.cli.read_about import About, read_about, rest_of
from holdfast.cli.streams import is_discarded
from holdfast.cli.user_files import mention_link, read_user_file
from holdfast.errors import HoldfastError, ReadingError, StoreError, UsageError
from holdfast.home import expand_user
from holdfast.reading import paths
from holdfast.reading.paths import Request, Target
from holdfast.reading.result import Answer

if TYPE_CHECKING:
    from holdfast.reading.session_log import SessionLog


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH[:A-B]",
        help="a file, lines of it, or a symbol of it; several after a comma: a.py:3-9,Cart.total",
    )
    parser.add_argument("--offset", type=_number, metavar="N", help="the first line, from 1")
    parser.add_argument("--limit", type=_number, metavar="N", help="how many lines")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "-n",
        "--numbers",
        action="store_true",
        help="number the lines (default: of a part of a file)",
    )
    form.add_argument("--plain", action="store_true", help="the text alone, without numbers")
    parser.add_argument(
        "--no-comments",
        action="store_true",
        help="leave out lines that have only comments, docstrings or nothing",
    )
    parser.add_argument(
        "--about",
        metavar="WORDS",
        help="only lines with one of these words, the blocks they are in and what they govern",
    )
    parser.add_argument(
        "--bypass-cache", action="store_true", help="answer with the plain text this time"
    )
    parser.add_argument(
        "--focus",
        action="store_true",
        help="shorten the first read of a whole, long file to what the conversation mentions",
    )
    parser.add_argument("--json", action="store_true", help="content and details as JSON")
    session_args.add_session_arguments(parser)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of lines, at least 0 (got {text})")
    return int(value) if value.is_integer() else value


def run(args: argparse.Namespace, app: App) -> int:
    if args.session is not None and (args.numbers or args.no_comments or args.about):
        raise UsageError(
            "--numbers, --no-comments and --about are for reads without a session",
            "a session compares plain text with what was read before",
        )
    if args.about is not None and (args.json or args.plain or not args.about.strip()):
        raise UsageError("--about takes words, and numbers the lines that have them")
    whole = args.offset is None and args.limit is None
    places: list[Place] = []
    refusals: list[CommandRefused] = []
    for typed in args.paths:
        if not whole and (named := _file_of_place(typed)):
            raise UsageError(
                f"--offset and --limit are for a whole file, and {typed} names a part of {named}",
                f"without the options: holdfast read {shlex.quote(typed)}",
            )
        parsed, refused = _places(typed) if whole else ([Place(typed)], None)
        places += parsed
        refusals += [] if refused is None else [refused]
    if args.json and len(places) > 1:
        raise UsageError("--json answers for one place at a time")
    file: str | None = None
    found_about: list[About] = []
    for place in places:
        mention_link(place.path)
        titled = len(places) > 1 or _is_numbered_symbol(place, args)
        # A file is named once for the places of it that follow each other.
        title = place.named.removeprefix(file) if file == place.path else place.named
        if args.about is not None:
            found_about.append(_read_about(place, args, app, title))
        else:
            _read(place, args, app, title if titled else None)
        file = place.path
    if rest := rest_of(found_about):
        print(rest)
    if refusals:
        # After what was found, which needs no second read.
        hints = " ".join(filter(None, (each.hint for each in refusals)))
        raise CommandRefused(refusals[0].error, "; ".join(map(str, refusals)), hints)
    return 0


def _is_numbered_symbol(place: Place, args: argparse.Namespace) -> bool:
    return bool(place.symbol) and not args.plain and args.session is None


def _file_of_place(typed: str) -> str:
    """The file of a place with lines or a symbol; empty for a file and for a missing one."""
    file, _, part = typed.rpartition(":")
    is_place = part and os.path.isfile(absolute(file)) and not os.path.exists(absolute(typed))
    return file if is_place else ""


def _places(typed: str) -> tuple[list[Place], CommandRefused | None]:
    def is_file(path: str) -> bool:
        return os.path.isfile(absolute(path))

    def symbols(path: str) -> list[NamedLines]:
        from holdfast.index.building.prepare import extract_facts

        facts = extract_facts(path, read_user_file(path))
        return [
            NamedLines(
                one.qualified, one.span.first_line, one.span.last_line, one.defined, one.signature
            )
            for one in facts.symbols
        ]

    places, refused = places_of(typed, is_file, symbols)
    one = places[0] if len(places) == 1 and refused is None else None
    if one is not None and not one.symbol and (one.first is None or one.first != one.last):
        # The reader resolves a single range, by its own rules.
        return [Place(typed)], None
    return places, refused


def _request(place: Place, args: argparse.Namespace) -> Request:
    offset, limit = args.offset, args.limit
    if place.first is not None:
        offset, limit = place.first, (place.last or place.first) - place.first + 1
    return Request(place.path, offset, limit, args.bypass_cache, args.focus)


def _title(title: str, place: Place) -> str:
    """The place with the last two parts of its symbol's name; the path says the rest."""
    return f"{title}  {'.'.join(place.symbol.split('.')[-2:])}".rstrip()


def _read_about(place: Place, args: argparse.Namespace, app: App, title: str) -> About:
    """Print the lines of a place that are about the words."""
    request, reader = _request(place, args), session_args.reader(app)
    try:
        about = read_about(request, reader, args.about, has_head=bool(place.symbol))
    except ReadingError as error:
        raise _refused(error, place, app) from None
    print(_title(title, place), about.text, sep="\n", flush=True)
    _print_notes(paths.locate(request, reader.place), app)
    return about


def _read(place: Place, args: argparse.Namespace, app: App, title: str | None) -> None:
    log, lost = _session_log(args, app)
    request = _request(place, args)
    reader = session_args.reader(app)
    focuser = app.focuser(reader, log) if request.focus else None
    try:
        answer = reader.read(request, log, focuser=focuser)
    except ReadingError as error:
        raise _refused(error, place, app) from None
    target = paths.locate(request, reader.place)
    if "\0" in answer.text and not args.json and not args.plain:
        raise CommandRefused(
            "BinaryFile",
            f"{place.path} is a binary file",
            f"to print it as it is: holdfast read --plain {shlex.quote(place.path)}",
        )
    if args.json:
        note = {} if lost is None else {"note": lost.message}
        print(json.dumps(answer.to_wire() | note, ensure_ascii=False))
    else:
        if title is not None:
            print(_title(title, place))
        text = answer.text
        if log is None:
            text = _shaped(answer, place, target, args)
        sys.stdout.write(text + "\n")
    # Print before recording: text that was not shown must not count as seen.
    sys.stdout.flush()
    if not args.json and not args.plain and answer.picture is None:
        _print_notes(target, app)
    if lost is not None and not args.json:
        lost.show(as_json=False)
    if log is not None and not _was_shown(answer.text, sys.stdout.encoding):
        why = f"the output is {sys.stdout.encoding} and cannot show all of it"
        print(f"holdfast: {why}: the read is not recorded", file=sys.stderr)
    elif log is not None and is_discarded(sys.stdout):
        print("holdfast: the output is discarded: the read is not recorded", file=sys.stderr)
    elif log is not None:
        _record(log, answer, args.call, app)
        app.collect_daily(reader, log)


def _print_notes(target: Target, app: App) -> None:
    """Name the notes about the lines on standard error: a file that is copied has no notes."""
    lines = None
    if target.offset is not None or target.limit is not None:
        start = int(target.offset or 1)
        lines = [(start, start + int(target.limit or 1 << 60) - 1)]
    about = near_notes(app, {target.path: lines}) if os.path.isfile(target.path) else ""
    if about:
        print(plain(about), file=sys.stderr)


def _shaped(answer: Answer, place: Place, target: Target, args: argparse.Namespace) -> str:
    """The text of a read without a session in the requested form.

    `target` is the file and the lines that the reader took the place for.
    """
    if answer.picture is not None:
        return answer.text
    is_part = place.first is not None or target.typed != place.path
    limit = None
    if target.limit is not None:
        before = max(0, (target.offset or 1) - 1)
        limit = int(before + target.limit) - int(before)
    shown = split_notice(answer, limit)
    if is_part and answer.truncation is None:
        shown = ShownText(shown.lines)  # that the file has more is known
    # Lines are cited and edited by their numbers; a whole file is counted from its beginning.
    is_part |= args.offset is not None or args.limit is not None
    numbers = not args.plain and (args.numbers or is_part)
    first = int(target.offset or 1)
    code = code_lines(target.path, read_user_file(target.path)) if args.no_comments else None
    if code is not None and code.isdisjoint(range(first, first + len(shown.lines))):
        code = None  # only comments: they are what there is to read
    return printed(shown, first, code, numbers)


def _was_shown(text: str, encoding: str | None) -> bool:
    """Whether the output could show every character without escapes.

    An output without an encoding accepts all text.
    """
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _refused(error: ReadingError, place: Place, app: App) -> HoldfastError:
    return _in_words(_hinted(error, expand_user(place.path, app.environment)), place.path)


def _hinted(error: ReadingError, typed: str) -> ReadingError:
    """The error, with a hint that suggests a similar read."""
    from holdfast.reading.suggest import listed, suggestion

    here = absolute(typed)
    bare = here.rpartition(":")[0]
    similar = suggestion(error, bare if os.path.exists(bare) else here, listed)
    if similar is not None and not error.hint:
        words = ["holdfast", "read", relative(similar.path)]
        words += [] if similar.offset is None else ["--offset", str(similar.offset)]
        error.hint = f"{similar.why}: {shlex.join(words)}"
    return error


def _in_words(error: ReadingError, typed: str) -> HoldfastError:
    """What the file system refused, as a sentence; agents' tools have the built-in read's words."""
    from holdfast.reading.errors import Unreadable

    match error:
        case Unreadable(code="ENOENT"):
            message = f"there is no file {typed}"
        case Unreadable(code="EISDIR"):
            message = f"{typed} is a directory"
        case Unreadable(words=words):
            message = f"{typed} cannot be read: {words}"
        case _:
            return error
    return CommandRefused("Unreadable", message, error.hint)


def _session_log(args: argparse.Namespace, app: App) -> tuple[SessionLog | None, Failure | None]:
    """The session, or the failure to open it: then the answer is the plain text."""
    try:
        return session_args.session_log(args, app, create=True), None
    except (StoreError, OSError) as error:
        if not session_args.is_own(args.session):
            raise
        why = failure_of(error, app.home)
        message = f"{why.message}; every read is plain text"
        return None, replace(why, message=f"session {args.session} cannot be stored: {message}")


def _record(log: SessionLog, answer: Answer, call: str | None, app: App) -> None:
    try:
        log.record(answer, call)
    except (StoreError, OSError) as error:
        why = failure_of(error, app.home)
        message = f"the read could not be recorded: {why.message}; it will be sent again"
        replace(why, message=message).show(as_json=False)
