"""Listings of directories as bytes, so that the first walk of a process need not decide on names.

A stored listing is used under the same conditions as one of this process: the directory has the
same identity and times, and the same rules apply. It says nothing about the content of files.

The form, version 3: msgpack, compressed, of

    [version, check of the code, check of the policy, digests of rules,
     {directory: [digests above and in it, stamp, still_ns, files, folders, others, skipped,
                  unsure]}]
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress

import msgspec

from holdfast.files.code_check import code_check
from holdfast.files.ignore import RuleStack
from holdfast.files.listing_cache import DirectoryListing, Stamp, listings_of, restore
from holdfast.files.policy import Policy
from holdfast.files.snapshot import RACY_NS

VERSION = 3
"""- 1: the first.
- 2: with the names of files that may be scripts.
- 3: names are sorted.
"""

_NO_RULES = RuleStack()
_CODE = code_check(
    "disk.py",
    "ignore.py",
    "ignore_files.py",
    "listing_cache.py",
    "names.py",
    "policy.py",
    "secrets.py",
)
"""Of the code that decides on names: what other code decided is not used."""


class _Directory(msgspec.Struct, array_like=True):
    above: int
    rules: int
    stamp: Stamp | None
    still_ns: int
    files: tuple[str, ...]
    folders: tuple[str, ...]
    others: dict[str, str]
    skipped: dict[str, int]
    unsure: tuple[str, ...]


class _Stored(msgspec.Struct, array_like=True):
    version: int
    code: int
    policy: int
    digests: list[bytes]
    directories: dict[str, _Directory]


def stored_listings(root: str, policy: Policy) -> bytes | None:
    """What this process knows of a tree's directories, to be stored."""
    return encode(listings_of(root, policy), policy)


def is_listed(root: str, policy: Policy) -> bool:
    """Whether this process has listed a tree."""
    return bool(listings_of(root, policy))


def may_settle(root: str, policy: Policy, now_ns: int) -> bool:
    """Whether directories that had just been written when they were listed need not be listed
    again after a walk that begins now."""
    return any(
        listing.stamp is not None
        and not listing.is_settled
        and max(listing.stamp[2:]) < now_ns - RACY_NS
        for listing in listings_of(root, policy).values()
    )


def use_listings(root: str, policy: Policy, load: Callable[[], bytes | None]) -> None:
    """Have the next walk use stored listings, unless this process has listed the tree."""
    if is_listed(root, policy):
        return
    data = load()
    listings = None if data is None else decode(data, policy)
    if listings is not None:
        restore(root, policy, listings)


def encode(listings: dict[str, DirectoryListing], policy: Policy) -> bytes | None:
    """The listings of a tree as bytes; None if the deciding code cannot be identified."""
    if _CODE is None:
        return None
    numbers: dict[bytes, int] = {}
    directories = {}
    for key, listing in listings.items():
        above, rules = listing.digests or (listing.above.digest(), listing.rules.digest())
        directories[key] = _Directory(
            numbers.setdefault(above, len(numbers)),
            numbers.setdefault(rules, len(numbers)),
            listing.stamp,
            listing.still_ns,
            listing.files,
            listing.folders,
            {name: why for name, why in listing.others.items() if _is_text(name)},
            listing.skipped,
            listing.unsure,
        )
    stored = _Stored(VERSION, _CODE, _policy_check(policy), list(numbers), directories)
    return zlib.compress(msgspec.msgpack.encode(stored), 1)


def is_outdated(data: bytes | None, policy: Policy) -> bool:
    """Whether there are stored listings that this code does not use, and could replace."""
    return data is not None and _CODE is not None and not _is_current(data, policy)


def _is_current(data: bytes, policy: Policy) -> bool:
    """Whether the same version, code and policy made the listings, by their first bytes."""
    header = msgspec.msgpack.encode((VERSION, _CODE, _policy_check(policy)))[1:]
    with suppress(zlib.error):
        return zlib.decompressobj().decompress(data, 1 + len(header))[1:] == header
    return False


def decode(data: bytes, policy: Policy) -> dict[str, DirectoryListing] | None:
    """The stored listings; None if another version, other code or another policy made them."""
    if _CODE is None or not _is_current(data, policy):
        return None
    with suppress(zlib.error, msgspec.DecodeError, msgspec.ValidationError, IndexError):
        stored = msgspec.msgpack.decode(zlib.decompress(data), type=_Stored)
        return {key: _listing(one, stored) for key, one in stored.directories.items()}
    return None


def _listing(one: _Directory, stored: _Stored) -> DirectoryListing:
    listing = DirectoryListing(_NO_RULES, _NO_RULES)
    listing.digests = stored.digests[one.above], stored.digests[one.rules]
    listing.stamp, listing.still_ns = one.stamp, one.still_ns
    listing.files, listing.folders, listing.unsure = one.files, one.folders, one.unsure
    listing.others, listing.skipped = one.others, one.skipped
    return listing


def _is_text(name: str) -> bool:
    """Whether a name can be stored. Names are optional: one that is missing is decided again."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _policy_check(policy: Policy) -> int:
    return zlib.crc32(repr(policy).encode("utf-8", "surrogatepass"))
