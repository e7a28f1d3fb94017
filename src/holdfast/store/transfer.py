"""Export and import a space as lines of JSON.

Only ground state is exported: branches, commits as received, blobs. Revisions follow from the
commits, heads and snapshots from the revisions. Where retention removed the texts of old commits,
the revisions that it kept are exported too. The last line has the number of lines before it and
their SHA-256, so that a truncated or edited file is detected before anything is committed.

EXPORT_FORMAT history:
1  header, branches, commits, blobs, end
2  a commit has its hash in the chain; revisions that retention kept; a branch has its oldest seq
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec

from holdfast.errors import StoreError
from holdfast.ids import MAIN, BranchName, LocalSeq, Seq, SessionId
from holdfast.store import checks, derive
from holdfast.store.branch import depth
from holdfast.store.errors import DamagedStore, InvalidExport
from holdfast.store.model import ACTIVE, DELETED, Branch, Commit, lifecycle_of, name_problem
from holdfast.store.settings import StoreSettings
from holdfast.store.tables import CommitRow, NewCommit, Tables, checked_revision
from holdfast.store.upgrade import merged_in

EXPORT_FORMAT = 2

_OLDEST_FORMAT = 1
"""Exports of this format can still be imported."""

_PAGE = 500
_encode = msgspec.json.Encoder().encode


class _Header(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    holdfast: str
    format: int
    space: str
    rich_values: bool
    newest_seq: int


class _Commit(msgspec.Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    seq: int
    branch: str
    session_id: str
    local_seq: int
    created_at: str
    resolution: msgspec.Raw
    original: msgspec.Raw
    chain: str = ""
    merged: str | None = None
    """Set only if its text was removed; otherwise the text contains it."""


class _Revision(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    branch: str
    id: str
    seq: int
    op_index: int
    op: Literal["set", "delete"]
    data: msgspec.Raw


class _Branch(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    name: str
    parent_branch: str | None
    fork_seq: int | None
    created_seq: int
    head_seq: int
    status: str
    created_at: str
    deleted_at: str | None
    oldest_seq: int = 0


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
    revision: _Revision | None = None
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
    branches = _parents_first(tables)
    for b in branches:
        row = (b.name, b.parent, b.fork_seq, b.created_seq, b.head_seq, b.status)
        yield _encode(_ExportLine(branch=_Branch(*row, b.created_at, b.deleted_at, b.oldest_seq)))
    after = Seq(0)
    # Only up to the newest seq at the start; later commits belong to the next export.
    while page := [row for row in tables.commits(after, _PAGE) if row.seq <= newest]:
        for c in page:
            texts = msgspec.Raw(c.resolution.encode()), msgspec.Raw(c.original.encode())
            row_ = (c.seq, c.branch, c.session, c.local_seq, c.created_at)
            merged = c.merged if c.squashed else None
            yield _encode(_ExportLine(commit=_Commit(*row_, *texts, c.chain.hex(), merged)))
        after = page[-1].seq
    base = max(b.oldest_seq for b in branches)
    for branch, id, seq, op_index, op, text, crc in tables.all_revisions() if base else ():
        if seq <= base:
            checked_revision(branch, id, (seq, op_index, op, text, crc))
            document = msgspec.Raw(b"null" if text is None else text.encode())
            yield _encode(_ExportLine(revision=_Revision(branch, id, seq, op_index, op, document)))
    for hash in tables.blob_hashes():
        blob = tables.blob(hash)
        if blob is not None:
            data, content_type, _, sound = blob
            if not sound:
                raise DamagedStore(f"blob {hash} is damaged: its row does not match its checksum")
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
    digest, count, ended = hashlib.sha256(), 0, False
    expected_commits = 0
    reader = _ExportReader(tables, encode, decode, blob_hash, now)
    for number, text in enumerate(source, 1):
        if ended:
            raise InvalidExport(f"line {number} follows the end of the export")
        try:
            raw = text.rstrip("\n").encode()
            if number == 1:
                header = _header_of(raw)
                _check_header(header, settings)
                expected_commits, reader.format = header.newest_seq, header.format
            else:
                line = _line_of(raw)
                if line.end is not None:
                    reader.flush()
                    _check_end(line.end, count, digest.hexdigest())
                    ended = True
                    continue
                reader.take(line)
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
    if reader.commits != expected_commits:
        raise InvalidExport(
            f"the export has {reader.commits} commits, but its header says {expected_commits}"
        )
    try:
        derive.rebuild(tables, settings, encode, decode)
    except StoreError as error:
        raise InvalidExport(f"the history in the export cannot be replayed: {error}") from None
    return reader.commits


def _check_header(header: _Header, settings: StoreSettings) -> None:
    is_readable = _OLDEST_FORMAT <= header.format <= EXPORT_FORMAT
    if header.holdfast != "space" or not is_readable:
        raise InvalidExport(
            f"the export has format {header.format}; "
            f"{_OLDEST_FORMAT} to {EXPORT_FORMAT} are supported",
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


class _ExportReader:
    """Writes the lines of an export to the tables, many at a time."""

    def __init__(
        self,
        tables: Tables,
        encode: Callable[[Any], str],
        decode: Callable[[str], Any],
        blob_hash: Callable[[bytes], str],
        now: str,
    ) -> None:
        self._tables, self._encode, self._decode = tables, encode, decode
        self._blob_hash, self._now = blob_hash, now
        self.format = EXPORT_FORMAT
        self.commits = 0
        self._branches: set[str] = set()
        self._base = 0
        self._link = checks.GENESIS_CHAIN
        self._rows: list[NewCommit] = []
        self._revisions: list[tuple[Any, ...]] = []

    def flush(self) -> None:
        self._tables.add_commits(self._rows)
        self._tables.add_revisions(self._revisions)
        self._rows.clear()
        self._revisions.clear()

    def take(self, line: _ExportLine) -> None:
        parts = (line.branch, line.blob, line.commit, line.revision)
        if sum(part is not None for part in parts) != 1:
            raise InvalidExport("expected one branch, commit, revision or blob, or the end")
        if line.commit is not None:
            self._take_commit(line.commit)
        elif line.branch is not None:
            _check_branch(line.branch, self._branches)
            _write_branch(self._tables, line.branch)
            self._branches.add(line.branch.name)
            self._base = max(self._base, line.branch.oldest_seq)
        elif line.revision is not None:
            self._take_revision(line.revision)
        elif line.blob is not None:
            self._take_blob(line.blob)
        if len(self._rows) + len(self._revisions) >= _PAGE:
            self.flush()

    def _take_blob(self, blob: _Blob) -> None:
        if name_problem(blob.content_type):
            raise InvalidExport(f"the content type of a blob {name_problem(blob.content_type)}")
        data = b64decode(blob.data, validate=True)
        if self._blob_hash(data) != blob.hash:
            raise InvalidExport(f"the bytes of blob {blob.hash} do not match its hash")
        self._tables.add_blob(blob.hash, data, blob.content_type, self._now)

    def _take_revision(self, r: _Revision) -> None:
        """A revision that retention kept; those of other commits follow from their texts."""
        if r.seq > self._base or r.branch not in self._branches or name_problem(r.id):
            raise InvalidExport(f"the revision of {r.id} at seq {r.seq} belongs to no removed text")
        text = bytes(r.data).decode()
        if r.op == "set" and not isinstance(self._decode(text), dict):
            raise InvalidExport(f"the revision of {r.id} at seq {r.seq} is not a document")
        data = text if r.op == "set" else None
        self._revisions.append((r.branch, r.id, r.seq, r.op_index, r.op, data))

    def _take_commit(self, c: _Commit) -> None:
        if c.seq != self.commits + 1:
            raise InvalidExport(f"found commit {c.seq} where {self.commits + 1} was expected")
        if c.branch not in self._branches:
            raise InvalidExport(f"commit {c.seq} is on a branch that does not exist")
        if name_problem(c.session_id):
            raise InvalidExport(f"the session of commit {c.seq} {name_problem(c.session_id)}")
        row = CommitRow(
            seq=Seq(c.seq),
            branch=BranchName(c.branch),
            session=SessionId(c.session_id),
            local_seq=LocalSeq(c.local_seq),
            original=bytes(c.original).decode(),
            resolution=bytes(c.resolution).decode(),
            created_at=c.created_at,
        )
        self._link = row.linked(self._link)
        if self.format > 1 and self._link.hex() != c.chain:
            raise InvalidExport(f"commit {c.seq} does not match its hash in the chain")
        if row.squashed and c.seq > self._base:
            raise InvalidExport(f"the text of commit {c.seq} is missing")
        merged = c.merged if row.squashed else merged_in(row.original)
        self._rows.append((*row[:7], merged, self._link))
        if not row.squashed:
            self._revisions += revisions_of(row, self._decode, self._encode)
        self.commits += 1


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
            oldest_seq=Seq(b.oldest_seq),
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
