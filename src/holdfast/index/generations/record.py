"""The registry's record of one root, and its form on disk.

Each state is a type. A record does not say whether the index may be served: that depends on the
current settings and on a proof, see `gate`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from holdfast.files.policy import Policy
from holdfast.index.generations import fingerprint as fingerprints
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.marker import COMPLETED, LIMIT_REACHED
from holdfast.text import counted

VERIFIED = "verified"
ASSUMED = "assumed_v2"
"""Marks a fingerprint that a migration filled in; such an index is not served."""


class Indexed(msgspec.Struct, frozen=True):
    """A full build finished and was published."""

    files: int
    chunks: int
    index_status: str = COMPLETED


class SyncCompleted(msgspec.Struct, frozen=True):
    """An incremental update finished and was published. The totals are of the whole index."""

    files: int
    chunks: int
    added: int
    removed: int
    modified: int
    index_status: str = COMPLETED


class IndexFailed(msgspec.Struct, frozen=True):
    """A build ended without an index to serve."""

    error: str
    last_pct: float | None = None


class RequiresReindex(msgspec.Struct, frozen=True):
    """The index was made with other settings and has to be rebuilt."""

    message: str
    reindex_reason: str = "unknown"


Settled = Indexed | SyncCompleted | IndexFailed | RequiresReindex


class Indexing(msgspec.Struct, frozen=True):
    """A build is running, or was when its writer died. Only the run `run_id` may end it."""

    run_id: str
    progress_pct: float = 0.0
    phase: str = "scanning"
    previous: Settled | None = None


State = Indexing | Settled


class Options(msgspec.Struct, frozen=True):
    """The options that the index was created with; a sync uses the same ones."""

    custom_extensions: tuple[str, ...] = ()
    ignore_patterns: tuple[str, ...] = ()


def policy_of(options: Options) -> Policy:
    """Which files belong to an index with these options."""
    return Policy(
        custom_extensions=options.custom_extensions, ignore_patterns=options.ignore_patterns
    )


class Unseen(msgspec.Struct, frozen=True):
    """What the last run had to leave out, although no rule excludes it.

    `unreadable` counts files and directories, and `examples` names a few of them; `unnameable`
    counts names that are not UTF-8 or contain a backslash. `unparsed` names files that are kept as
    plain text because parsing them took too long, and `unparsed_more` counts further ones.
    """

    unreadable: int = 0
    examples: tuple[str, ...] = ()
    unnameable: int = 0
    unparsed: tuple[str, ...] = ()
    unparsed_more: int = 0

    def sentences(self) -> list[str]:
        """Sentences for the user; none when everything was indexed."""
        sentences = []
        if self.unreadable:
            names = _names(self.examples, self.unreadable)
            sentences.append(
                f"{counted(self.unreadable, 'part')} could not be read and may be missing from the "
                f"index: "
                f"{names}"
            )
        if self.unnameable:
            sentences.append(
                f"{counted(self.unnameable, 'name')} left out: not UTF-8, or with a backslash."
            )
        if self.unparsed:
            count = len(self.unparsed) + self.unparsed_more
            sentences.append(
                f"{counted(count, 'file')} kept as plain text, without outline and calls, because "
                f"parsing took too long: {_names(self.unparsed[:EXAMPLES_MAX], count)}"
            )
        return sentences


EXAMPLES_MAX = 5
UNPARSED_MAX = 100


def _names(examples: Iterable[str], count: int) -> str:
    shown = [name if name.isprintable() else repr(name) for name in examples]
    return ", ".join([*shown, "…"] if count > len(shown) else shown)


def unseen(
    unreadable: Collection[str],
    unnameable: int,
    unparsed: Collection[str] = (),
    before: Unseen | None = None,
    replaced: Collection[str] = (),
) -> Unseen:
    """What a run had to leave out, from the keys it could not read; "" is the root.

    For a sync, `before` is what the previous run left out, and `replaced` are the files that
    changed or were removed since.
    """
    examples = tuple(key or "." for key in sorted(unreadable)[:EXAMPLES_MAX])
    names = set(unparsed)
    more = 0
    if before is not None:
        names |= set(before.unparsed) - set(replaced)
        more = before.unparsed_more
    first_names = tuple(sorted(names)[:UNPARSED_MAX])
    return Unseen(
        len(unreadable), examples, unnameable, first_names, more + len(names) - len(first_names)
    )


class Record(msgspec.Struct, frozen=True):
    """One tracked root. `root` is canonical."""

    root: str
    state: State
    last_updated: str
    fingerprint: Fingerprint | None = None
    fingerprint_source: str = VERIFIED
    options: Options = msgspec.field(default_factory=Options)
    last_error: str | None = None
    unseen: Unseen = Unseen()

    @property
    def searchable(self) -> bool:
        return isinstance(self.state, Indexed | SyncCompleted)


PARTIAL = "partial: the limit of chunks was reached; HOLDFAST_INDEX_CHUNKS_MAX raises it"


def partial(record: Record) -> bool:
    """Whether files were left out of an index because it had become too large."""
    state = record.state
    return isinstance(state, Indexed | SyncCompleted) and state.index_status == LIMIT_REACHED


_NAMES: dict[type, str] = {
    Indexing: "indexing",
    Indexed: "indexed",
    SyncCompleted: "sync_completed",
    IndexFailed: "indexfailed",
    RequiresReindex: "requires_reindex",
}


def status_name(state: State) -> str:
    """The name of a state in the registry and in answers."""
    return _NAMES[type(state)]


def record_to_wire(record: Record) -> dict[str, object]:
    wire = _state_to_wire(record.state) | {
        "lastUpdated": record.last_updated,
        "indexFingerprint": record.fingerprint.to_wire() if record.fingerprint else None,
        "fingerprintSource": record.fingerprint_source,
        "customExtensions": list(record.options.custom_extensions),
        "ignorePatterns": list(record.options.ignore_patterns),
    }
    if record.last_error is not None:
        wire["lastError"] = record.last_error
    left = record.unseen
    wire |= {
        "unreadable": left.unreadable,
        "unreadableExamples": list(left.examples),
        "unnameable": left.unnameable,
        "unparsed": list(left.unparsed),
        "unparsedMore": left.unparsed_more,
    }
    return wire


def record_from_wire(root: str, wire: object) -> Record:
    """The record in a JSON value; raises ValueError when it is not one."""
    if not isinstance(wire, dict):
        raise ValueError(f"the entry of {root} is not an object")
    try:
        fingerprint = wire.get("indexFingerprint")
        last_error = wire.get("lastError")
        return Record(
            root,
            _state_from_wire(wire),
            str(wire["lastUpdated"]),
            None if fingerprint is None else fingerprints.from_wire(fingerprint),
            str(wire.get("fingerprintSource", VERIFIED)),
            Options(
                tuple(str(e) for e in wire.get("customExtensions", ())),
                tuple(str(p) for p in wire.get("ignorePatterns", ())),
            ),
            None if last_error is None else str(last_error),
            _unseen_from_wire(wire),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"the entry of {root} lacks {error}") from error


def _unseen_from_wire(wire: dict[str, object]) -> Unseen:
    """Empty for a record of an older format, which does not have it."""
    unreadable, unnameable = wire.get("unreadable", 0), wire.get("unnameable", 0)
    examples = wire.get("unreadableExamples", [])
    if not isinstance(unreadable, int) or not isinstance(unnameable, int):
        raise ValueError("unreadable and unnameable are not counts")
    if not isinstance(examples, list):
        raise ValueError("unreadableExamples is not a list")
    unparsed, more = wire.get("unparsed", []), wire.get("unparsedMore", 0)
    if not isinstance(unparsed, list) or not isinstance(more, int):
        raise ValueError("unparsed and unparsedMore are not a list and a count")
    return Unseen(unreadable, _texts(examples), unnameable, _texts(unparsed), more)


def _texts(values: list[object]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _state_to_wire(state: State) -> dict[str, object]:
    wire: dict[str, object] = {"status": status_name(state)}
    match state:
        case Indexing(run_id, pct, phase, previous):
            wire |= {"runId": run_id, "indexingPercentage": pct, "phase": phase}
            if previous is not None:
                wire["previous"] = _state_to_wire(previous)
        case Indexed(files, chunks, index_status):
            wire |= {"indexedFiles": files, "totalChunks": chunks, "indexStatus": index_status}
        case SyncCompleted(files, chunks, added, removed, modified, index_status):
            wire |= {"indexedFiles": files, "totalChunks": chunks, "indexStatus": index_status}
            wire |= {"added": added, "removed": removed, "modified": modified}
        case IndexFailed(error, last_pct):
            wire |= {"errorMessage": error, "lastAttemptedPercentage": last_pct}
        case RequiresReindex(message, reason):
            wire |= {"message": message, "reindexReason": reason}
    return wire


def _state_from_wire(wire: dict[str, object]) -> State:
    def number(name: str) -> int:
        value = wire[name]
        if not isinstance(value, int):
            raise ValueError(f"{name} is not a number")
        return value

    status = wire.get("status")
    index_status = str(wire.get("indexStatus", COMPLETED))
    match status:
        case "indexing":
            pct, previous = wire.get("indexingPercentage", 0.0), wire.get("previous")
            before = _state_from_wire(previous) if isinstance(previous, dict) else None
            return Indexing(
                str(wire["runId"]),
                float(pct) if isinstance(pct, int | float) else 0.0,
                str(wire.get("phase", "scanning")),
                None if isinstance(before, Indexing) else before,
            )
        case "indexed":
            return Indexed(number("indexedFiles"), number("totalChunks"), index_status)
        case "sync_completed":
            return SyncCompleted(
                number("indexedFiles"),
                number("totalChunks"),
                number("added"),
                number("removed"),
                number("modified"),
                index_status,
            )
        case "indexfailed":
            last = wire.get("lastAttemptedPercentage")
            return IndexFailed(
                str(wire["errorMessage"]), float(last) if isinstance(last, int | float) else None
            )
        case "requires_reindex":
            return RequiresReindex(
                str(wire.get("message", "")), str(wire.get("reindexReason", "unknown"))
            )
        case _:
            raise ValueError(f"{status!r} is not a status")
