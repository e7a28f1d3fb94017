"""Rebuild derived state, heads and snapshots, from the revisions.

Used by imports and `holdfast memory gc`. No read changes its result, only its speed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

from holdfast.ids import EntityId, Seq
from holdfast.store import hashing, patch, replay, snapshots
from holdfast.store.model import Branch, Document
from holdfast.store.settings import StoreSettings
from holdfast.store.snapshots import Chain
from holdfast.store.tables import RevisionRow, Tables, checked_revision

_PAGE = 500


def rebuild(
    tables: Tables,
    settings: StoreSettings,
    encode: Callable[[Any], str],
    decode: Callable[[str], Any],
    damaged: bool = False,
) -> tuple[int, int]:
    """Rebuild all heads and snapshots in the caller's transaction; returns how many of each."""
    tables.clear_derived(damaged)
    branches = {branch.name: branch for branch in tables.branches()}
    heads = placed_total = 0
    new_heads: list[tuple[Any, ...]] = []
    placed: list[tuple[Any, ...]] = []
    for (name, id), group in groupby(tables.all_revisions(), key=itemgetter(0, 1)):
        revisions = list(group)
        rows = [checked_revision(name, id, row[2:]) for row in revisions]
        new_heads.append((*revisions[-1][:4], revisions[-1][6]))
        if any(row.op == "patch" for row in rows):
            texts = _placed(tables, settings, encode, decode, branches[name], id, rows)
            placed += [(name, id, seq, text) for seq, text in texts]
        if len(new_heads) >= _PAGE or len(placed) >= _PAGE:
            heads, placed_total = heads + len(new_heads), placed_total + len(placed)
            _write(tables, new_heads, placed)
    heads, placed_total = heads + len(new_heads), placed_total + len(placed)
    _write(tables, new_heads, placed)
    return heads, placed_total


def _write(tables: Tables, heads: list[tuple[Any, ...]], placed: list[tuple[Any, ...]]) -> None:
    tables.put_heads(heads)
    tables.put_snapshots(placed)
    heads.clear()
    placed.clear()


def _placed(
    tables: Tables,
    settings: StoreSettings,
    encode: Callable[[Any], str],
    decode: Callable[[str], Any],
    branch: Branch,
    id: EntityId,
    rows: list[RevisionRow],
) -> Iterator[tuple[Seq, str]]:
    """The snapshots to keep for a document with these revisions."""
    candidates: list[tuple[Seq, str, int, int]] = []
    patches = patch_bytes = 0
    chain = Chain()
    for index, (row, document) in enumerate(walk(tables, decode, branch, id, rows)):
        size = len(row.data or "")
        if row.op != "patch":
            chain = Chain(base_bytes=size)
            continue
        assert document is not None, "a patch leaves a document"
        patches, patch_bytes, chain = patches + 1, patch_bytes + size, chain.grown(size)
        last_of_commit = index + 1 == len(rows) or rows[index + 1].seq != row.seq
        if last_of_commit and snapshots.due(chain, settings):
            text = encode(document)
            candidates.append((row.seq, text, patches, patch_bytes))
            chain = Chain(base_bytes=len(text))
    yield from _thinned(candidates, settings)


def _thinned(
    candidates: list[tuple[Seq, str, int, int]], settings: StoreSettings
) -> Iterator[tuple[Seq, str]]:
    retention = settings.snapshot_retention
    if retention is not None:
        chosen = candidates if retention <= 0 else candidates[-retention:]
        yield from ((seq, text) for seq, text, _, _ in chosen)
        return
    last = (0, 0)
    for place, (seq, text, patches, size) in enumerate(candidates):
        dense = place >= len(candidates) - snapshots.DENSE
        if dense or snapshots.keep_old(patches - last[0], size - last[1], len(text)):
            last = (patches, size)
            yield seq, text


def walk(
    tables: Tables,
    decode: Callable[[str], Any],
    branch: Branch,
    id: EntityId,
    rows: list[RevisionRow],
) -> Iterator[tuple[RevisionRow, Document | None]]:
    """Each revision with the document it left, from the first, without snapshots."""
    below = replay.inherited(tables, decode, branch, id, rows[0].seq) if rows else None
    document = None if below is None else below.document
    for row in rows:
        if row.op == "patch":
            assert row.data is not None, "a patch has text"
            document = patch.apply_to_document(document, decode(row.data))
        else:
            document = None if row.data is None else decode(row.data)
        yield row, document


def earlier(at: str, seconds: float) -> str:
    """The time `seconds` before `at`, in the stored format."""
    try:
        then = datetime.fromisoformat(at) - timedelta(seconds=seconds)
    except OverflowError:
        return ""  # sorts before every stored time
    # `%Y` does not pad, and times are compared as text.
    day = f"{then.year:04d}{then.strftime('-%m-%dT%H:%M:%S.')}"
    return f"{day}{then.microsecond // 1_000:03d}Z"


def unused_blobs(
    tables: Tables,
    hashes: list[str],
    encode: Callable[[Any], str],
    decode: Callable[[str], Any],
) -> list[str]:
    """Which of these blobs no commit mentions.

    May keep a blob that nothing needs; never drops one that a document names. A document can come
    to name a blob in many ways (the path of a patch ends in `$blob`, a hash is moved there), so
    commits are searched as text.
    """
    if not hashes:
        return []
    width = len(hashing.blob_hash(b""))
    # A lookahead, because matches may overlap.
    words = re.compile(f"(?=(b[a-z2-7]{{{width - 1}}}))").findall
    hashes_named: set[str] = set()
    after = Seq(0)
    for revision in tables.all_revisions():
        # The text of its commit may have been removed by retention.
        hashes_named.update(words(revision[5] or ""))
    while page := tables.commits(after, _PAGE):
        for row in page:
            # An imported commit is stored as received, and may contain escaped letters.
            text = encode(decode(row.original)) if "\\u" in row.original else row.original
            hashes_named.update(words(text))
        after = page[-1].seq
    return [hash for hash in hashes if hash not in hashes_named]
