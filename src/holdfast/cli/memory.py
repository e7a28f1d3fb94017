"""`holdfast memory`: documents on branches, from the terminal."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.app import DEFAULT_SPACE, App
from holdfast.cli import output, watching
from holdfast.cli.output import (
    Progress,
    counted,
    plain,
    print_json,
    print_table,
    short_json,
    styled,
)
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.store.store import Store

OK, REFUSED = 0, 1

Verb = Callable[["Store", argparse.Namespace, App], int]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(verb=None)
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    def verb(name: str, run: Verb, text: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        sub.set_defaults(verb=run)
        sub.add_argument("--space", default=DEFAULT_SPACE, help="the space (default: local)")
        sub.add_argument("--json", action="store_true", help="answer as JSON")
        return sub

    def on_branch(sub: argparse.ArgumentParser) -> argparse.ArgumentParser:
        sub.add_argument("--branch", default="", help="the branch (default: the default branch)")
        return sub

    sub = on_branch(verb("get", _get, "print a document"))
    sub.add_argument("id", help="the document, e.g. note:plan")
    sub.add_argument("pointer", nargs="?", default="", help="a part of it, e.g. /value/title")
    sub.add_argument("--at", type=int, metavar="SEQ", help="as it was at this seq")

    sub = on_branch(verb("list", _list, "list the documents of a branch"))
    sub.add_argument("prefix", nargs="?", default="", help="only ids that start so")

    sub = on_branch(verb("set", _set, "write a document"))
    sub.add_argument("id", help="the document, e.g. note:plan")
    sub.add_argument("value", help="JSON; - reads standard input, @FILE a file")
    sub.add_argument("--document", action="store_true", help="the JSON is the whole document")
    _condition(sub)

    sub = on_branch(verb("patch", _patch, "edit a document in place"))
    sub.add_argument("id", help="the document, e.g. note:plan")
    sub.add_argument("patches", help="a JSON list of operations; - or @FILE as for set")
    _condition(sub)

    sub = on_branch(verb("delete", _delete, "delete a document; its history stays"))
    sub.add_argument("id", help="the document, e.g. note:plan")
    _condition(sub)

    sub = verb("log", _log, "show what happened, newest first")
    sub.add_argument("id", nargs="?", help="only commits that wrote this document")
    sub.add_argument("--branch", default=None, help="only this branch")
    sub.add_argument("--before", type=int, metavar="SEQ", help="only older than this seq")
    sub.add_argument("--limit", type=int, default=20, help="at most so many (default: 20)")

    sub = on_branch(verb("at", _at, "show the branch, or one document, as it was at a seq"))
    sub.add_argument("seq", type=int, help="the moment: a number from memory log")
    sub.add_argument("id", nargs="?", help="only this document")

    sub = verb("branch", _branch, "create, list or delete branches")
    sub.add_argument("act", choices=["create", "list", "delete"], help="what to do")
    sub.add_argument("name", nargs="?", help="the branch to create or delete")
    sub.add_argument("--from", dest="parent", default="", help="the branch to fork")
    sub.add_argument("--at", type=int, metavar="SEQ", help="fork it as it was at this seq")

    sub = verb("diff", _diff, "show how a branch differs from where it was forked")
    sub.add_argument("branch", help="the branch to compare")
    sub.add_argument("--against", metavar="BRANCH", help="from another branch instead")

    sub = verb("merge", _merge, "merge a branch into another")
    sub.add_argument("source", help="the branch to merge")
    sub.add_argument("--into", default="", metavar="BRANCH", help="the target branch")
    sub.add_argument("--take", choices=["source", "target"], help="settle every conflict so")
    sub.add_argument(
        "--resolutions",
        metavar="JSON",
        help='how to settle conflicts: {"doc:id": {"/value/x": "source" | {"value": …}}}',
    )
    sub.add_argument("--dry-run", action="store_true", help="only show what would happen")

    sub = verb("export", _export, "write the space as lines of JSON")
    sub.add_argument("file", nargs="?", help="where to (default: standard output)")

    sub = verb("import", _import, "fill a new space from an export")
    sub.add_argument("file", help="the export; - reads standard input")

    sub = verb("watch", _watch, "print documents of a server, live, as they change")
    watching.configure_watch(sub)
    sub = verb("acl", watching.acl, "show or change who may do what in a space")
    watching.configure_acl(sub)

    verb("verify", _verify, "check every invariant of the space")

    sub = verb("gc", _gc, "rebuild what is derived and give room back")
    sub.add_argument("--blobs", action="store_true", help="also drop blobs that nothing names")


def run(args: argparse.Namespace) -> int:
    app = App.from_environment()
    if args.verb is _watch:
        return watching.watch(args, app)
    with app.open_space(args.space) as store:
        act: Verb = args.verb
        return act(store, args, app)


def _watch(store: Store, args: argparse.Namespace, app: App) -> int:
    raise AssertionError("watching needs a server, not a store")


def _condition(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--if-seq",
        type=int,
        metavar="SEQ",
        help="only if nobody wrote the document after this seq; 0 means it must not exist",
    )


# reading


def _get(store: Store, args: argparse.Namespace, app: App) -> int:
    state = store.state(args.id, args.branch, args.at)
    if state is None or state.document is None:
        when = "" if args.at is None else f" at seq {args.at}"
        return _refuse(f"there is no {args.id}{when}", "holdfast memory list shows what there is")
    from holdfast.store import patch, pointer

    path = pointer.parse(args.pointer)
    if not patch.has(state.document, path):
        return _refuse(f"{args.id} has nothing at {args.pointer}")
    part = patch.get(state.document, path)
    print_json({**state.to_wire(), "document": part} if args.json else part)
    return OK


def _list(store: Store, args: argparse.Namespace, app: App) -> int:
    return _show_documents(store, args, None, args.prefix)


def _at(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.id is None:
        return _show_documents(store, args, args.seq, "")
    args.at, args.pointer = args.seq, ""
    return _get(store, args, app)


def _show_documents(store: Store, args: argparse.Namespace, seq: int | None, prefix: str) -> int:
    states = [s for s in store.documents(args.branch, seq) if s.id.startswith(prefix)]
    if args.json:
        print_json([state.to_wire() for state in states])
    elif not states:
        print("no documents")
    else:
        rows = [(s.id, s.seq, short_json((s.document or {}).get("value"))) for s in states]
        print_table(("id", "seq", "value"), rows)
    return OK


def _log(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.limit < 1:
        raise UsageError(f"limit {args.limit} asks for nothing", "--limit N, from 1")
    # One more than asked, so that we know whether there is more.
    found = store.log(args.id, args.branch, args.before, args.limit + 1)
    entries = found[: args.limit]
    if args.json:
        print_json([entry.to_wire() for entry in entries])
        return OK
    rows = []
    for entry in entries:
        what = ", ".join(f"{op} {id}" for op, id in entry.operations) or entry.kind
        what = f"{entry.kind}: {what}" if entry.kind.startswith("merge") else what
        rows.append((entry.seq, entry.created_at, entry.branch or "-", entry.session, what))
    print_table(("seq", "when", "branch", "session", "what"), rows)
    if len(found) > args.limit:
        words = ["holdfast", "memory", "log", *([] if args.id is None else [args.id])]
        words += [] if args.space == DEFAULT_SPACE else ["--space", args.space]
        words += [] if args.branch is None else ["--branch", args.branch]
        words += ["--limit", str(args.limit), "--before", str(entries[-1].seq)]
        print(styled(f"… {shlex.join(words)} goes on", output.DIM))
    return OK


# writing


def _set(store: Store, args: argparse.Namespace, app: App) -> int:
    value = _json_argument(args.value)
    document = value if args.document else {"value": value}
    return _commit(store, args, app, {"op": "set", "id": args.id, "value": document})


def _patch(store: Store, args: argparse.Namespace, app: App) -> int:
    patches = _json_argument(args.patches)
    operation = {"op": "patch", "id": args.id}
    return _commit(store, args, app, {**operation, "patches": _as_list(patches)})


def _delete(store: Store, args: argparse.Namespace, app: App) -> int:
    return _commit(store, args, app, {"op": "delete", "id": args.id})


def _commit(store: Store, args: argparse.Namespace, app: App, operation: dict[str, Any]) -> int:
    reads = []
    if args.if_seq is not None:
        reads.append({"id": args.id, "path": [], "seq": args.if_seq})
    applied = store.transact(
        app.session("cli"),
        {
            "localSeq": 1,
            "branch": args.branch,
            "reads": {"confirmed": reads, "pending": []},
            "operations": [operation],
        },
    )
    if args.json:
        print_json(applied.to_wire())
    else:
        print(f"committed at seq {applied.seq}")
    return OK


# branches


def _branch(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.act == "list":
        branches = store.branches()
        if args.json:
            print_json([branch.to_wire() for branch in branches])
        else:
            rows = [
                (
                    b.name or "(default)",
                    "-" if b.parent is None else b.parent or "(default)",
                    "-" if b.fork_seq is None else b.fork_seq,
                    b.head_seq,
                    b.status,
                )
                for b in branches
            ]
            print_table(("name", "parent", "forked at", "head", "status"), rows)
        return OK
    if args.name is None:
        raise UsageError(f"which branch to {args.act}?", "name it after the verb")
    from holdfast.ids import LocalSeq, SessionId
    from holdfast.store.model import CommitKey

    by = CommitKey(SessionId(app.session("cli")), LocalSeq(1))
    if args.act == "create":
        branch = store.create_branch(args.name, args.parent, args.at, by)
        said = f"created {branch.name} from {branch.parent or 'the default branch'} at seq"
        said = f"{said} {branch.fork_seq}"
    else:
        branch = store.delete_branch(args.name, by)
        said = f"deleted {branch.name}; it can still be read and forked"
    print_json(branch.to_wire()) if args.json else print(said)
    return OK


def _diff(store: Store, args: argparse.Namespace, app: App) -> int:
    found = store.diff(args.branch, args.against)
    if args.json:
        print_json([entry.to_wire() for entry in found])
        return OK
    if not found:
        print("no differences")
    signs = {"added": ("+", output.GREEN), "removed": ("-", output.RED)}
    for entry in found:
        sign, style = signs.get(entry.kind, ("~", output.YELLOW))
        print(styled(f"{sign} {plain(entry.id)}", style))
        if entry.kind == "modified":
            for change in entry.changes:
                _print_change(change.to_wire())
    return OK


def _print_change(change: dict[str, Any]) -> None:
    before = short_json(change["before"]) if "before" in change else "(nothing)"
    after = short_json(change["after"]) if "after" in change else "(nothing)"
    print(f"    {plain(change['path']) or '(all)'}: {before} → {after}")


def _merge(store: Store, args: argparse.Namespace, app: App) -> int:
    from holdfast.ids import LocalSeq, SessionId
    from holdfast.store.model import CommitKey

    resolutions = _json_argument(args.resolutions) if args.resolutions else {}
    proposal = store.propose_merge(args.source, args.into, resolutions)
    if proposal.clashes and args.take:
        settled = {**{clash.id: args.take for clash in proposal.clashes}, **resolutions}
        resolutions = settled
        proposal = store.propose_merge(args.source, args.into, resolutions)
    if args.json and (args.dry_run or proposal.clashes):
        print_json(
            {
                "operations": proposal.operations,
                "conflicts": [clash.to_wire() for clash in proposal.clashes],
            }
        )
        return REFUSED if proposal.clashes else OK
    if proposal.clashes:
        return _show_clashes(args, proposal.clashes)
    if args.dry_run:
        for operation in proposal.operations:
            print(f"{operation['op']} {operation['id']}")
        print(f"{counted(len(proposal.operations), 'document')} would change")
        return OK
    by = CommitKey(SessionId(app.session("cli")), LocalSeq(1))
    applied = store.merge(by, args.source, args.into, resolutions)
    if args.json:
        print_json(None if applied is None else applied.to_wire())
    elif applied is None:
        print("nothing to merge")
    else:
        target = args.into or "the default branch"
        changed = counted(len(applied.revisions), "document")
        print(f"merged {args.source} into {target} at seq {applied.seq}: {changed} changed")
    return OK


def _show_clashes(args: argparse.Namespace, clashes: list[Any]) -> int:
    print(f"{counted(len(clashes), 'conflict')}; nothing was written", file=sys.stderr)
    for clash in clashes:
        wire = clash.to_wire()
        print(plain(f"  {clash.id} {wire['path'] or '(all)'}"), file=sys.stderr)
        for side, name in (("source", args.source), ("target", args.into or "default branch")):
            value = wire.get(f"{side}Value", "(nothing)")
            print(f"    {name}: {short_json(value)}", file=sys.stderr)
        print(f"    before: {short_json(wire.get('ancestorValue', '(nothing)'))}", file=sys.stderr)
    print(
        f"hint: holdfast memory merge {args.source} --take source|target, or --resolutions JSON",
        file=sys.stderr,
    )
    return REFUSED


# keeping


def _export(store: Store, args: argparse.Namespace, app: App) -> int:
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
        with part.open("w", encoding="utf-8") as file:
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


def _import(store: Store, args: argparse.Namespace, app: App) -> int:
    if args.file == "-":
        count = store.import_lines(sys.stdin)
    else:
        try:
            file = Path(args.file).open(encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise UsageError(f"cannot read {args.file}: {error.strerror}") from None
        with file:
            try:
                count = store.import_lines(file)
            except UnicodeDecodeError:
                raise UsageError(f"{args.file} is not text") from None
    if args.json:
        print_json({"space": args.space, "commits": count})
    else:
        print(f"read {count} commits into {args.space}")
    return OK


def _verify(store: Store, args: argparse.Namespace, app: App) -> int:
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


def _gc(store: Store, args: argparse.Namespace, app: App) -> int:
    done = store.collect_garbage(args.blobs)
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


# arguments and refusals


def _json_argument(text: str) -> Any:
    """A JSON argument, from the command line, standard input (-) or a file (@FILE)."""
    where = "the argument"
    if text == "-":
        text, where = sys.stdin.read(), "standard input"
    elif text.startswith("@"):
        where = text[1:]
        try:
            text = Path(where).read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot read {where}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UsageError(f"{where} is not text", "a value is JSON in UTF-8") from None
    try:
        return json.loads(text)
    except RecursionError:
        raise UsageError(f"{where} is nested too deeply") from None
    except ValueError as error:
        raise UsageError(
            f"{where} is not JSON: {error}", hint="""quote strings twice, e.g. '"text"'"""
        ) from None


def _as_list(patches: Any) -> list[Any]:
    return patches if isinstance(patches, list) else [patches]


def _refuse(sentence: str, hint: str = "") -> int:
    print(f"holdfast: {sentence}", file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)
    return REFUSED
