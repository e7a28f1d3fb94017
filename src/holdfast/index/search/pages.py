"""Pages of one ranking, and a word that says where the next one starts.

A page is honest only if it goes on where the last one stopped, in the same ranking. So a cursor
names the query and the state of every root it was asked of: the generation, and the files that
had changed since. It holds no results. The next page ranks the same question over the same state,
which gives the same order; if the state is another one, there is no next page, and that is said.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holdfast.errors import UsageError
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Identity

CURSOR_VERSION = 1
"""The form of a cursor.

1: version, offset, depth, digest of the query, digest of the state, check digits.
"""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page starts: `offset` results into the ranking of `depth` chunks."""

    offset: int
    depth: int
    question: str
    state: str


def digest(value: object) -> str:
    """A short name for a value that JSON can hold."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def state_of(
    roots: Iterable[tuple[str, Identity, FreshFiles]],
    edited: Mapping[str, frozenset[str] | None] | None = None,
    besides: Mapping[str, object] | None = None,
) -> str:
    """Names what was searched: generations, how each changed file was, and which are edited.

    `besides` has, by root, what else an order hung on that another time may be otherwise.
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
    """The edited files, where there is a signal for some; files that changed have one too."""
    return [sorted(files)] if files is not None and (files or fresh_files.changed) else []


def encode(cursor: Cursor) -> str:
    body = f"{CURSOR_VERSION}.{cursor.offset}.{cursor.depth}.{cursor.question}.{cursor.state}"
    return base64.urlsafe_b64encode(f"{body}.{_check(body)}".encode()).decode().rstrip("=")


def decode(text: str) -> Cursor:
    """The inverse of `encode`. Raises UsageError for anything else."""
    try:
        raw = base64.b64decode(
            (text + "=" * (-len(text) % 4)).encode("ascii"), b"-_", validate=True
        ).decode("ascii")
        body, check = raw.rsplit(".", 1)
        version, offset, depth, question, state = body.split(".")
    except (ValueError, binascii.Error, UnicodeError):
        raise no_cursor() from None
    if check != _check(body):
        raise no_cursor()
    if version != str(CURSOR_VERSION):
        raise UsageError(
            f"the cursor is of version {version}, this is version {CURSOR_VERSION}",
            hint="ask again without a cursor",
        )
    # Check digits keep out what was mistyped; whoever makes up a cursor can make them up too.
    if not (_NUMBER.fullmatch(offset) and _NUMBER.fullmatch(depth)):
        raise no_cursor()
    return Cursor(int(offset), int(depth), question, state)


_NUMBER = re.compile(r"[0-9]{1,9}")


def no_cursor() -> UsageError:
    return UsageError(
        "that is no cursor of a search",
        hint="pass `continuation.cursor` of the page before as it is",
    )


def _check(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:8]
