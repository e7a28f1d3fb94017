"""Export and import a space as lines of JSON.

Only ground state is exported: branches, commits as received, blobs. Revisions follow from the
commits, heads and snapshots from the revisions. The last line has the number of lines before it and
their SHA-256, so that a truncated or edited file is detected before anything is committed.

EXPORT_FORMAT history:
1  header, branches, commits, blobs, end
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from holdfast.errors import StoreError
from holdfast.ids import MAIN, BranchName, LocalSeq, Seq, SessionId
from holdfast.store import derive
from holdfast.store.branch import depth
from holdfast.store.errors import DamagedStore, InvalidExport
from holdfast.store.model import ACTIVE, DELETED, Branch, Commit, lifecycle_of, name_problem
from holdfast.store.settings import StoreSettings
from holdfast.store.tables import CommitRow, Tables

EXPORT_FORMAT = 1

_PAGE = 500
_encode = msgspec.json.Encoder().encode


class _Header(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    holdfast: str
    format: int
    space: str
    rich_values: bool
    newest_seq: int


class _Commit(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    seq: int
    branch: str
    session_id: str
    local_seq: int
    created_at: str
    resolution: msgspec.Raw
    original: msgspec.Raw


class _Branch(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    name: str
    parent_branch: str | None
    fork_seq: int | None
    created_seq: int
    head_seq: int
    status: str
    created_at: str
    deleted_at: str | None


class _Blob(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    hash: str
    content_type: str
    data: str


class _End(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    lines: int
    sha256: str


class _ExportLine(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    branch: _Branch | None = None
    commit: _Commit | None = None
    blob: _Blob | None = None
    end: _End | None = None


_header_of = msgspec.json.Decoder(_Header).decode
_line_of = msgspec.json.Decoder(_ExportLine).decode


def lines(tables: Tables, space: str, settings: StoreSettings) -> Iterator[str]:
    """Every line of the export, without line ends."""
    digest, count = hashlib.sha256(), 0
    for line in _body(tables, space, settings):
        digest.update(line + b"\n")
        count += 1
        yield line.decode()
    yield _encode(_ExportLine(end=_End(count, digest.hexdigest()))).decode()


def _body(tables: Tables, space: str, settings: StoreSettings) -> Iterator[bytes]:
    newest = tables.newest_seq()
    yield _encode(_Header("space", EXPORT_FORMAT, space, settings.rich_values, newest))
    for b in _parents_first(tables):
        row = (b.name, b.parent, b.fork_seq, b.created_seq, b.head_seq, b.status)
        yield _encode(_ExportLine(branch=_Branch(*row, b.created_at, b.deleted_at)))
    after = Seq(0)
    # Only up to the newest seq at the start; later commits belong to the next export.
    while page := [row for row in tables.commits(after, _PAGE) if row.seq <= newest]:
        for c in page:
            texts = msgspec.Raw(c.resolution.encode()), msgspec.Raw(c.original.encode())
            row_ = (c.seq, c.branch, c.session, c.local_seq, c.created_at)
            yield _encode(_ExportLine(commit=_Commit(*row_, *texts)))
        after = page[-1].seq
    for hash in tables.blob_hashes():
        found = tables.blob(hash)
        if found is not None:
            data, content_type, _ = found
            yield _encode(_ExportLine(blob=_Blob(hash, content_type, b64encode(data).decode())))


def read_in(
    tables: Tables,
    source: Iterable[str],
    settings: StoreSettings,
    encode: Callable[[Any], str],
    decode: Callable[[str], Any],
    blob_hash: Callable[[bytes], str],
    now: str,
) -> int:
    """Fill an empty space from an export in the caller's transaction; returns the commit count.

    Raises if anything is wrong; the caller then rolls back.
    """
    if tables.newest_seq() or len(tables.branches()) > 1 or tables.blob_hashes():
        raise InvalidExport("the space is not empty", hint="import into a new space")
    digest, count, commits, ended = hashlib.sha256(), 0, 0, False
    expected_commits, branches = 0, set[str]()
    for number, text in enumerate(source, 1):
        if ended:
            raise InvalidExport(f"line {number} follows the end of the export")
        try:
            raw = text.rstrip("\n").encode()
            if number == 1:
                header = _header_of(raw)
                _check_header(header, settings)
                expected_commits = header.newest_seq
            else:
                line = _line_of(raw)
                if line.end is not None:
                    _check_end(line.end, count, digest.hexdigest())
                    ended = True
                    continue
                commits += _write_line(
                    tables, line, commits, branches, decode, encode, blob_hash, now
                )
        except InvalidExport:
            raise
        except RecursionError:
            raise InvalidExport(f"line {number} is nested too deeply") from None
        except (msgspec.MsgspecError, StoreError, ValueError, OverflowError) as error:
            raise InvalidExport(f"line {number} is not a line of an export: {error}") from None
        digest.update(raw + b"\n")
        count += 1
    if not ended:
        raise InvalidExport("the export is cut short: its last line is missing")
    if commits != expected_commits:
        raise InvalidExport(
            f"the export has {commits} commits, but its header says {expected_commits}"
        )
    try:
        derive.rebuild(tables, settings, encode, decode)
    except StoreError as error:
        raise InvalidExport(f"the history in the export cannot be replayed: {error}") from None
    return commits


def _check_header(header: _Header, settings: StoreSettings) -> None:
    if header.holdfast != "space" or header.format != EXPORT_FORMAT:
        raise InvalidExport(
            f"the export has format {header.format}; only {EXPORT_FORMAT} is supported",
            hint="import it with the version of holdfast that wrote it",
        )
    if header.rich_values != settings.rich_values:
        raise InvalidExport(
            f"the export was written with rich values {'on' if header.rich_values else 'off'}",
            hint="open the space with the same setting",
        )


def _check_end(end: _End, count: int, digest: str) -> None:
    if end.lines != count or end.sha256 != digest:
        raise InvalidExport(
            "the export was changed after it was written: its digest does not match"
        )


def _write_line(
    tables: Tables,
    line: _ExportLine,
    before: int,
    branches: set[str],
    decode: Callable[[str], Any],
    encode: Callable[[Any], str],
    blob_hash: Callable[[bytes], str],
    now: str,
) -> int:
    if sum(part is not None for part in (line.branch, line.blob, line.commit)) != 1:
        raise InvalidExport("expected one branch, commit or blob, or the end")
    if line.branch is not None:
        _check_branch(line.branch, branches)
        _write_branch(tables, line.branch)
        branches.add(line.branch.name)
    elif line.blob is not None:
        if name_problem(line.blob.content_type):
            raise InvalidExport(
                f"the content type of a blob {name_problem(line.blob.content_type)}"
            )
        data = b64decode(line.blob.data, validate=True)
        if blob_hash(data) != line.blob.hash:
            raise InvalidExport(f"the bytes of blob {line.blob.hash} do not match its hash")
        tables.add_blob(line.blob.hash, data, line.blob.content_type, now)
    elif line.commit is not None:
        c = line.commit
        if c.seq != before + 1:
            raise InvalidExport(f"found commit {c.seq} where {before + 1} was expected")
        if c.branch not in branches:
            raise InvalidExport(f"commit {c.seq} is on a branch that does not exist")
        if name_problem(c.session_id):
            raise InvalidExport(f"the session of commit {c.seq} {name_problem(c.session_id)}")
        original = bytes(c.original).decode()
        row = CommitRow(
            seq=Seq(c.seq),
            branch=BranchName(c.branch),
            session=SessionId(c.session_id),
            local_seq=LocalSeq(c.local_seq),
            original=original,
            resolution=bytes(c.resolution).decode(),
            created_at=c.created_at,
        )
        tables.add_commits([row[:7]])
        tables.add_revisions(revisions_of(row, decode, encode))
        return 1
    return 0


def _parents_first(tables: Tables) -> list[Branch]:
    return sorted(tables.branches(), key=lambda branch: (depth(tables, branch), branch.name))


def _check_branch(b: _Branch, before: set[str]) -> None:
    problem = "" if b.name == MAIN else name_problem(b.name)
    if problem:
        raise InvalidExport(f"the name of a branch {problem}")
    if b.name in before:
        raise InvalidExport(f"branch {b.name!r} is there twice")
    if b.name == MAIN and (b.parent_branch, b.fork_seq) == (None, None):
        return
    if b.name == MAIN or b.parent_branch not in before:
        raise InvalidExport(f"branch {b.name!r} must follow its parent")
    if b.fork_seq is None or b.fork_seq < 0 or b.status not in (ACTIVE, DELETED):
        raise InvalidExport(f"branch {b.name!r} has an invalid fork point or status")


def _write_branch(tables: Tables, b: _Branch) -> None:
    tables.put_branch(
        Branch(
            name=BranchName(b.name),
            parent=None if b.parent_branch is None else BranchName(b.parent_branch),
            fork_seq=None if b.fork_seq is None else Seq(b.fork_seq),
            created_seq=Seq(b.created_seq),
            head_seq=Seq(b.head_seq),
            status=b.status,
            created_at=b.created_at,
            deleted_at=b.deleted_at,
        )
    )


def revisions_of(
    row: CommitRow, decode: Callable[[str], Any], encode: Callable[[Any], str]
) -> list[tuple[Any, ...]]:
    """The revisions a stored commit must have: (branch, id, seq, op_index, op, data)."""
    message = decode(row.original)
    if lifecycle_of(message) is not None:
        return []
    try:
        operations = Commit.parse(message).operations
    except Exception as error:
        raise DamagedStore(f"the commit at seq {row.seq} is invalid: {error}") from error
    return [
        (row.branch, op.id, row.seq, i, op.op, None if op.op == "delete" else encode(op.data))
        for i, op in enumerate(operations)
    ]
