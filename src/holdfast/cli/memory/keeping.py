"""The verbs that keep a space: export, import, check, tidy up."""

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
from holdfast.cli.output import Progress, counted, print_json, styled
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.store.store import Store


def export(store: Store, args: argparse.Namespace, app: App) -> int:
    target = None if args.file is None else Path(args.file)
    with closing(store.export(args.space)) as lines:
        if target is None:
            sys.stdout.writelines(line + "\n" for line in lines)
            return OK
        if target.exists() and not target.is_file():
            # A pipe or a device: written to, never replaced, and nothing to read in again.
            with target.open("w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in lines)
            return OK
        count = _write_checked(target, lines)
    if args.json:
        print_json({"file": str(target), "lines": count})
    else:
        print(f"wrote {count} lines to {target}; read in again, they are the same")
    return OK


def _write_checked(target: Path, lines: Iterable[str]) -> int:
    """Put the lines in the place of a file, once they are known to come back; how many."""
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
    """Read the export in again, in memory, and compare: what cannot come back is not kept."""
    from holdfast.store.store import open_store

    with path.open(encoding="utf-8") as file, open_store("memory:", "check") as copy:
        copy.import_lines(file)
        file.seek(0)
        header = json.loads(file.readline())
        file.seek(0)
        for written, again in zip(file, copy.export(header["space"]), strict=True):
            if written.rstrip("\n") != again:
                raise UsageError("the export does not read in as it was written; it is not kept")


def check_import(args: argparse.Namespace) -> None:
    """Read an export in memory first, so that one that is none does not leave an empty space."""
    from holdfast.store.store import open_store

    named = "standard input" if args.file == "-" else args.file
    args.lines = None
    try:
        if args.file == "-":
            args.lines = io.StringIO(sys.stdin.read())
        elif not Path(args.file).is_file():
            args.lines = io.StringIO(Path(args.file).read_text(encoding="utf-8"))  # a pipe, once
        with _export(args) as lines, open_store("memory:", "check") as copy:
            copy.import_lines(lines)
    except OSError as error:
        raise UsageError(f"cannot read {named}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{named} is not text") from None


@contextmanager
def _export(args: argparse.Namespace) -> Iterator[TextIO]:
    """The lines of an export, from their beginning."""
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
        print(f"read {count} commits into {args.space}")
    return OK


def verify(store: Store, args: argparse.Namespace, app: App) -> int:
    with Progress("verifying") as progress:
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


def gc(store: Store, args: argparse.Namespace, app: App) -> int:
    done = store.collect_garbage(args.blobs, args.grace)
    facts = {
        "snapshotsBefore": done.snapshots_before,
        "snapshotsAfter": done.snapshots_after,
        "blobsDropped": done.blobs_dropped,
    }
    if args.json:
        print_json(facts)
    else:
        print(
            f"snapshots: {done.snapshots_before} before, {done.snapshots_after} now; "
            f"blobs dropped: {done.blobs_dropped}"
        )
    return OK
