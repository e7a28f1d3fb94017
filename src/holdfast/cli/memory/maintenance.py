"""The verbs that maintain a space: export, import, verify, collect garbage."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from holdfast.app import App
from holdfast.cli import output
from holdfast.cli.failures import OK, REFUSED
from holdfast.cli.memory.arguments import seq_or_date
from holdfast.cli.output import ProgressBar, print_json, styled
from holdfast.errors import UsageError
from holdfast.text import counted

if TYPE_CHECKING:
    from holdfast.store.store import Store


def export(store: Store, args: argparse.Namespace, app: App) -> int:
    target = None if args.file in (None, "-") else Path(args.file)
    with closing(store.export(args.space)) as lines:
        if target is None:
            sys.stdout.writelines(line + "\n" for line in lines)
            return OK
        if target.exists() and not target.is_file():
            # A pipe or a device cannot be replaced or read again, so write to it directly.
            with target.open("w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in lines)
            return OK
        count = _write_checked(target, lines)
    if args.json:
        print_json({"file": str(target), "lines": count})
    else:
        print(f"wrote {counted(count, 'line')} to {target}, checked by importing them again")
    return OK


def _write_checked(target: Path, lines: Iterable[str]) -> int:
    """Replace a file with the lines after a test import; returns how many there are."""
    part, count = target.with_name(target.name + ".part"), 0
    try:
        file = part.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from None
    try:
        with file:
            for line in lines:
                file.write(line + "\n")
                count += 1
        _check_export(part)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return count


def _check_export(path: Path) -> None:
    """Import the export into memory, export it again, and compare."""
    from holdfast.store.store import open_store

    with path.open(encoding="utf-8") as file, open_store("memory:", "check") as copy:
        copy.import_lines(file)
        file.seek(0)
        header = json.loads(file.readline())
        file.seek(0)
        for line, again in zip(file, copy.export(header["space"]), strict=True):
            if line.rstrip("\n") != again:
                raise UsageError(
                    "the export does not import as it was written; the file was not kept"
                )


def check_import(args: argparse.Namespace) -> None:
    """Import into memory first, so that an invalid export does not leave an empty space."""
    from holdfast.store.store import open_store

    source = "standard input" if args.file == "-" else args.file
    args.lines = None
    try:
        if args.file == "-":
            args.lines = io.StringIO(sys.stdin.read())
        elif not Path(args.file).is_file():
            if Path(args.file).is_char_device() or Path(args.file).is_block_device():
                raise UsageError(f"{args.file} is a device, not an export")
            args.lines = io.StringIO(
                Path(args.file).read_text(encoding="utf-8")
            )  # a pipe can be read only once
        with _export(args) as lines, open_store("memory:", "check") as copy:
            copy.import_lines(lines)
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{source} is not UTF-8 text") from None


@contextmanager
def _export(args: argparse.Namespace) -> Iterator[TextIO]:
    """The lines of an export, from the first."""
    if args.lines is not None:
        args.lines.seek(0)
        yield args.lines
        return
    with Path(args.file).open(encoding="utf-8") as file:
        yield file


def import_(store: Store, args: argparse.Namespace, app: App) -> int:
    with _export(args) as lines:
        count = store.import_lines(lines)
    if args.json:
        print_json({"space": args.space, "commits": count})
    else:
        print(f"imported {counted(count, 'commit')} into {args.space}")
    return OK


def verify(store: Store, args: argparse.Namespace, app: App) -> int:
    with ProgressBar("verifying") as progress:
        report = store.verify(progress)
    if args.json:
        print_json(report.to_wire())
    else:
        print(
            f"{counted(report.commits, 'commit')}, {counted(report.revisions, 'revision')} of "
            f"{counted(report.documents, 'document')}, {counted(report.snapshots, 'snapshot')}, "
            f"{counted(report.blobs, 'blob')}; branches: {report.branches}"
        )
        for finding in report.findings:
            print(styled(str(finding), output.RED))
        print("sound: every invariant holds" if report.sound else "NOT sound")
    return OK if report.sound else REFUSED


def check_gc(args: argparse.Namespace) -> None:
    if args.before is not None:
        args.before = seq_or_date(args.before)


def _squash(store: Store, args: argparse.Namespace) -> None:
    done = store.squash(args.before)
    if args.json:
        print_json(done.to_wire())
        return
    print(
        f"removed the texts of {counted(done.commits, 'commit')} and "
        f"{counted(done.revisions, 'revision')}; the oldest seq that can be read is "
        f"{done.oldest_seq}"
    )


def gc(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.before is not None:
        _squash(store, args)
        if not args.blobs:
            return OK
    done = store.collect_garbage(args.blobs, args.grace)
    if args.json:
        print_json(done.to_wire())
    else:
        print(
            f"snapshots: {done.snapshots_before} before, {done.snapshots_after} now; "
            f"blobs dropped: {done.blobs_dropped}"
        )
    return OK
