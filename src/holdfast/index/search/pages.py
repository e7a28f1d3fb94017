"""Cursors: where the next page of a ranking starts.

The next page must continue the same ranking. So a cursor identifies the query and the state of
every searched root: the generation, and the files that had changed since. It holds no results. The
next page ranks the same query over the same state, which gives the same order; if the state has
changed, the answer says so instead.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable, Mapping

import msgspec

from holdfast.errors import UsageError
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Identity

CURSOR_VERSION = 2
"""The format of a cursor.

1: version, offset, depth, digest of the query, digest of the state, check digits; in base64.
2: the same without base64, with shorter digests: an agent pays for each character twice.
"""


class Cursor(msgspec.Struct, frozen=True):
    """Where a page starts: `offset` results into the ranking of `depth` chunks."""

    offset: int
    depth: int
    question: str
    state: str


DIGEST = 12


def digest(value: object) -> str:
    """A short digest of a JSON value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]


def state_of(
    roots: Iterable[tuple[str, Identity, FreshFiles]],
    edited: Mapping[str, frozenset[str] | None] | None = None,
    besides: Mapping[str, object] | None = None,
) -> str:
    """A digest of what was searched: generations, changed files and edited files.

    `besides` has, by root, further values that the order depended on and that may change.
    """
    worked_on, chance = edited or {}, besides or {}
    return digest(
        [
            [
                root,
                list(identity),
                sorted((path, file.entry.digest) for path, file in fresh_files.changed.items()),
                sorted(fresh_files.gone),
                fresh_files.beyond,
                *_edited(worked_on.get(root), fresh_files),
                *([chance[root]] if chance.get(root) else []),
            ]
            for root, identity, fresh_files in sorted(roots, key=lambda each: each[0])
        ]
    )


def _edited(files: frozenset[str] | None, fresh_files: FreshFiles) -> list[list[str]]:
    """The edited files, if there are any; changed files are edited too."""
    return [sorted(files)] if files is not None and (files or fresh_files.changed) else []


def encode(cursor: Cursor) -> str:
    body = f"{CURSOR_VERSION}.{cursor.offset}.{cursor.depth}.{cursor.question}.{cursor.state}"
    return f"{body}.{_check(body)}"


def decode(text: str) -> Cursor:
    """The inverse of `encode`. Raises UsageError for anything else."""
    try:
        body, check = (text if "." in text else _first_version(text)).rsplit(".", 1)
        version, offset, depth, question, state = body.split(".")
    except (ValueError, binascii.Error, UnicodeError):
        raise no_cursor() from None
    if check != _check(body):
        raise no_cursor()
    if version != str(CURSOR_VERSION):
        raise UsageError(
            f"the cursor has version {version}; expected {CURSOR_VERSION}",
            hint="search again without a cursor",
        )
    # The checksum catches typing errors only; a forged cursor can have a valid one.
    if not (_NUMBER.fullmatch(offset) and _NUMBER.fullmatch(depth)):
        raise no_cursor()
    return Cursor(int(offset), int(depth), question, state)


def _first_version(text: str) -> str:
    padded = (text + "=" * (-len(text) % 4)).encode("ascii")
    return base64.b64decode(padded, b"-_", validate=True).decode("ascii")


_NUMBER = re.compile(r"[0-9]{1,9}")


def no_cursor() -> UsageError:
    return UsageError(
        "not a search cursor",
        hint="pass `continuation.cursor` of the previous page unchanged",
    )


def _check(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:8]
