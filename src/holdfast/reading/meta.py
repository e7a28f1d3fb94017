"""The metadata that a read adds to its result, and the entry that a refresh writes: version 1.

    1   first version; `full_fallback`, as early writers spelled `baseline_fallback`, is understood

Parsing checks every field; metadata with an invalid field is ignored, never an error, because any
program may have written into a session. A JSON `1.0` is an integer here and `true` is not, as in
the program that defined the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.reading import scope as scopes
from holdfast.reading.events import Anchored, Derived, Refreshed
from holdfast.reading.javascript import is_integer
from holdfast.reading.scope import Lines, Scope

VERSION = 1
CUSTOM_TYPE = "pi-readcache"

ANCHORS = frozenset({"full", "baseline_fallback"})
DERIVED = frozenset({"unchanged", "unchanged_range", "diff"})
MODES = ("full", "unchanged", "unchanged_range", "diff", "baseline_fallback")
ALIASES = {"full_fallback": "baseline_fallback"}
REASONS = frozenset(
    {
        "no_base_hash",
        "bypass_cache",
        "hash_match",
        "range_slice_unchanged",
        "range_slice_changed",
        "base_object_missing",
        "diff_file_too_large_bytes",
        "diff_file_too_large_lines",
        "diff_unavailable_or_empty",
        "diff_not_useful",
        "diff_payload_truncated",
        "diff_emitted",
    }
)


@dataclass(frozen=True, slots=True)
class Why:
    """Why a read was answered as it was; `details.readcache.debug` on the wire."""

    reason: str
    base_found: bool
    diff_attempted: bool = False
    outside_changed: bool | None = None
    object_found: bool | None = None
    largest_bytes: int | None = None
    lines_max: int | None = None
    diff_bytes: int | None = None
    diff_changed: int | None = None

    def as_json(self, scope: Scope) -> dict[str, Any]:
        """The wire form; absent values are left out."""
        out: dict[str, Any] = {
            "reason": self.reason,
            "scope": "range" if isinstance(scope, Lines) else "full",
            "baseHashFound": self.base_found,
            "diffAttempted": self.diff_attempted,
        }
        facts = (
            ("outsideRangeChanged", self.outside_changed),
            ("baseObjectFound", self.object_found),
            ("largestBytes", self.largest_bytes),
            ("maxLines", self.lines_max),
            ("diffBytes", self.diff_bytes),
            ("diffChangedLines", self.diff_changed),
        )
        out.update((name, value) for name, value in facts if value is not None)
        return out


class Meta(NamedTuple):
    """What one answered read claims: mode, scope, digests, and the size of the file."""

    path: str
    scope: Scope
    digest: str
    mode: str
    lines_total: int
    first: int
    last: int
    size_bytes: int
    base: str | None = None
    why: Why | None = None

    def as_json(self) -> dict[str, Any]:
        """The wire form."""
        out: dict[str, Any] = {
            "v": VERSION,
            "pathKey": self.path,
            "scopeKey": scopes.key(self.scope),
            "servedHash": self.digest,
        }
        if self.base is not None:
            out["baseHash"] = self.base
        out.update(
            mode=self.mode,
            totalLines=self.lines_total,
            rangeStart=self.first,
            rangeEnd=self.last,
            bytes=self.size_bytes,
        )
        if self.why is not None:
            out["debug"] = self.why.as_json(self.scope)
        return out

    def event(self) -> Anchored | Derived:
        """The session event that this result represents."""
        if self.mode in ANCHORS:
            return Anchored(self.path, self.scope, self.digest)
        assert self.base is not None, "derived modes carry their base"
        return Derived(self.mode, self.path, self.scope, self.base, self.digest)


def parse(raw: object, *, aliases: bool = True) -> Meta | None:
    """The metadata in `details.readcache`, or None when any part of it is invalid.

    The reasons are checked but not returned; they are not needed later.
    """
    if not isinstance(raw, Mapping) or not _is_version(raw.get("v")):
        return None
    path: Any = raw.get("pathKey")
    digest: Any = raw.get("servedHash")
    mode: Any = raw.get("mode")
    if not (_is_text(path) and _is_text(digest) and isinstance(mode, str)):
        return None
    if aliases:
        mode = ALIASES.get(mode, mode)
    scope = scopes.parse(raw.get("scopeKey"))
    if scope is None or (mode not in ANCHORS and mode not in DERIVED):
        return None
    base = raw.get("baseHash")
    if not _is_text(base) and (mode in DERIVED or "baseHash" in raw):
        return None
    total: Any = raw.get("totalLines")
    first: Any = raw.get("rangeStart")
    last: Any = raw.get("rangeEnd")
    size: Any = raw.get("bytes")
    if not (_at_least(total, 1) and _at_least(first, 1) and _at_least(last, 1)):
        return None
    if not _at_least(size, 0) or last < first:
        return None
    if "debug" in raw and not _is_why(raw["debug"]):
        return None
    return Meta(path, scope, digest, mode, int(total), int(first), int(last), int(size), base)


def _is_why(raw: object) -> bool:
    """Whether all reasons are valid."""
    if not isinstance(raw, Mapping):
        return False
    reason = raw.get("reason")
    return (
        isinstance(reason, str)
        and reason in REASONS
        and raw.get("scope") in ("full", "range")
        and type(raw.get("baseHashFound")) is bool
        and type(raw.get("diffAttempted")) is bool
        and all(type(raw[name]) is bool for name in _FLAGS if name in raw)
        and all(_at_least(raw[name], least) for name, least in _NUMBERS if name in raw)
    )


_FLAGS = ("outsideRangeChanged", "baseObjectFound")
_NUMBERS = (("largestBytes", 1), ("maxLines", 1), ("diffBytes", 0), ("diffChangedLines", 0))


def parse_refresh(raw: object) -> Refreshed | None:
    """The invalidation in a custom entry's data, or None when any part of it is invalid."""
    if not isinstance(raw, Mapping) or not _is_version(raw.get("v")):
        return None
    path: Any = raw.get("pathKey")
    scope = scopes.parse(raw.get("scopeKey"))
    if raw.get("kind") != "invalidate" or not _is_text(path) or scope is None:
        return None
    return Refreshed(path, scope) if _at_least(raw.get("at"), 1) else None


def refresh_json(event: Refreshed, at_ms: int) -> dict[str, Any]:
    """The wire form of a refresh."""
    return {
        "v": VERSION,
        "kind": "invalidate",
        "pathKey": event.path,
        "scopeKey": scopes.key(event.scope),
        "at": at_ms,
    }


def _is_version(value: object) -> bool:
    return value == VERSION and is_integer(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _at_least(value: Any, least: int) -> bool:
    return (type(value) is int or is_integer(value)) and value >= least
