"""Build the next generation of a root, either completely or from the changes since the last.

Nothing is visible before `publish`, and an exception rolls everything back. A file that cannot be
read keeps its stored version; a failed embedding fails the build.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.errors import CodeIndexError
from holdfast.files import disk
from holdfast.files.entry_columns import EntryColumns
from holdfast.files.listing_store import (
    is_listed,
    is_outdated,
    may_settle,
    stored_listings,
    use_listings,
)
from holdfast.files.moved import in_doubt
from holdfast.files.policy import Policy
from holdfast.files.snapshot import (
    RACY_NS,
    Changes,
    Entry,
    Snapshot,
    compressed,
    covered,
    stamp_of,
)
from holdfast.files.watched_tree import Look
from holdfast.index.building.build_tools import BuildTools
from holdfast.index.building.plan import Plan, make_plan, refuse_emptied_tree
from holdfast.index.building.progress import Meter, Report
from holdfast.index.building.put_files import PutFiles
from holdfast.index.building.watched_root import WatchedRoot
from holdfast.index.errors import DamagedBackend, RootMissing
from holdfast.index.generations import marker as markers
from holdfast.index.generations.fingerprint import from_wire as fingerprint_from_wire
from holdfast.index.generations.leases import root_key
from holdfast.index.generations.model import Backend, Identity, Totals, Writer

SETTLED_SHARE = 0.05
"""Stored listings are replaced if more than this share of the directories is listed again in each
walk only because they had just been written when they were stored."""


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build."""

    totals: Totals
    changes: Changes
    index_status: str
    skipped: Counter[str] = field(default_factory=Counter)
    unreadable: frozenset[str] = frozenset()
    unparsed: frozenset[str] = frozenset()
    """Files of this run that are kept as plain text, because parsing them was given up."""
    published: bool = True
    identity: Identity = (0, "")
    snapshot: Snapshot = field(default_factory=lambda: Snapshot({}, 0))
    """The manifest of the published generation."""
    look: Look | None = None
    """What was found of the tree."""


def build(
    root: str,
    run_id: str,
    policy: Policy,
    tools: BuildTools,
    *,
    whole: bool,
    report: Report = lambda progress: None,
    watched: WatchedRoot | None = None,
    earlier_manifest: tuple[Identity, Snapshot] | None = None,
) -> Built:
    """Build and publish the next generation; `whole` rebuilds it, otherwise only changes are read.

    Files in parts of the tree that cannot be read now are kept in both cases. `watched` is asked
    for the files of the tree. `earlier_manifest` is used if its generation is still the published
    one.
    """
    try:
        return _build(
            root, run_id, policy, tools, whole, report, watched, earlier_manifest, keeps=True
        )
    except DamagedBackend:
        if not whole:
            raise
        return _build(
            root, run_id, policy, tools, whole, report, watched, earlier_manifest, keeps=False
        )


def _build(
    root: str,
    run_id: str,
    policy: Policy,
    tools: BuildTools,
    whole: bool,
    report: Report,
    watched: WatchedRoot | None,
    earlier_manifest: tuple[Identity, Snapshot] | None,
    keeps: bool,
) -> Built:
    meter = Meter(report, tools.monotonic)
    meter.scanning()
    taken_ns = tools.now_ns()
    listings = None
    if watched is None or not is_listed(root, policy):
        listings = _stored_listings(root, tools.backend)
        use_listings(root, policy, lambda: listings)
    look = _listed(root, policy, watched)
    snapshot = look.found
    if whole:
        steps = _Steps(make_plan(Snapshot({}, 0), snapshot), (0, ""), False)
    else:
        synced = _sync_steps(root, policy, tools, look, watched, earlier_manifest, listings)
        if isinstance(synced, Built):
            return synced
        steps = synced
    plan = steps.plan
    unread: dict[str, Entry] = {}
    unread_ns = 0
    compatible = whole and keeps and bool(plan.unreadable) and _is_compatible(root, tools)
    with tools.backend.writer(root) as writer:
        if whole and keeps:
            refuse_emptied_tree(root, snapshot, writer.totals().files)
        if compatible:
            unread_ns = writer.snapshot().taken_ns
            unread = _remove_readable(writer, plan.unreadable)
        elif whole:
            writer.start_over()
        elif writer.follows != steps.follows:
            # Another process has published since the snapshot was read.
            plan = make_plan(writer.snapshot(), snapshot)
        earlier = plan.before if not whole else Snapshot(unread, unread_ns)
        files = PutFiles(root, plan.before, snapshot, tools, writer, meter)
        files.put_changed(plan.todo)
        unreadable = compressed(files.unreadable)
        changes = plan.changes(files.entries, unreadable, taken_ns)
        for path in changes.removed:
            _remove(writer, path)
        for path in changes.touched:
            writer.restat(path, files.entries[path])
        if whole or steps.outdated or (not look.by_reports and (changes.added or changes.removed)):
            _settle_listings(root, policy, tools.now_ns)
            writer.put_listings(stored_listings(root, policy))
        confirmed_ns = confirmed(root, files.just_written, files.entries, taken_ns, tools.now_ns())
        confirmed_ns = kept_doubts(earlier, files.entries, confirmed_ns)
        totals = writer.totals()
        meter.publishing(totals.files)
        status = markers.LIMIT_REACHED if files.limit_reached else markers.COMPLETED
        marker = markers.Marker(
            root,
            tools.fingerprint,
            totals.files,
            totals.chunks,
            tools.today(),
            run_id,
            writer.generation,
            status,
        )
        identity = writer.publish(markers.encode(marker), confirmed_ns)
    meter.finished(totals.files)
    entries = {**unread, **files.entries} if unread else files.entries
    manifest = plan.manifest(entries, changes.removed, unreadable, confirmed_ns)
    tools.content.finish_run(root_key(root), _sizes(manifest))
    return Built(
        totals, changes, status, snapshot.skipped, unreadable, frozenset(files.unparsed),
        identity=identity, snapshot=manifest, look=look,
    )  # fmt: skip


def _sizes(manifest: Snapshot) -> Iterator[int]:
    entries = manifest.entries
    if isinstance(entries, EntryColumns):
        return entries.sizes()
    return (stat.size_bytes for stat, _ in entries.values())


class _Steps(NamedTuple):
    """What a build has to do."""

    plan: Plan
    follows: Identity
    """The generation that it starts from."""
    outdated: bool
    """Whether the stored listings were made by other code."""


def _sync_steps(
    root: str,
    policy: Policy,
    tools: BuildTools,
    look: Look,
    watched: WatchedRoot | None,
    earlier_manifest: tuple[Identity, Snapshot] | None,
    listings: bytes | None,
) -> _Steps | Built:
    """What has changed since the published generation; if nothing has, the result of the build."""
    with tools.backend.reader(root) as reader:
        identity = reader.identity
        before = (
            earlier_manifest[1]
            if earlier_manifest and earlier_manifest[0] == identity
            else reader.snapshot()
        )
        refuse_emptied_tree(root, look.found, len(before.entries))
        touched = None if watched is None else watched.touched(identity)
        plan = make_plan(before, look.found, touched)
        if touched is None and listings is None:
            listings = reader.listings()
        # After an upgrade, listings of the code before are replaced: every first walk of a process
        # would decide on all names again.
        settled = look.found.settled > SETTLED_SHARE * len(look.found.directories)
        outdated = is_outdated(listings, policy) or (listings is not None and settled)
        if plan.needed or outdated:
            return _Steps(plan, identity, outdated)
        return Built(
            reader.totals(), Changes(), markers.COMPLETED, look.found.skipped, published=False,
            unreadable=plan.unreadable, identity=identity, snapshot=before, look=look,
        )  # fmt: skip


def _settle_listings(root: str, policy: Policy, now_ns: Callable[[], int]) -> None:
    """Walk the tree again if its directories had just been written when this build began, as after
    a clone. Otherwise every first walk of a process would list them again."""
    if may_settle(root, policy, now_ns()):
        with suppress(disk.TreeMissing):
            disk.walk(root, policy, now_ns)


def confirmed(
    root: str, paths: Iterable[str], entries: Mapping[str, Entry], taken_ns: int, now_ns: int
) -> int:
    """The time before which the times of a file show whether it was written since it was read.

    At first that is when the tree was listed, so every file of a new clone would be read again by
    each process that answers a question. So files that were written at about the time they were
    read are read again here. If one differs or cannot be confirmed yet, a later check reads it.
    """
    found_ns = max(taken_ns, now_ns)
    for path in paths:
        entry = entries.get(path)
        if entry is None or stamp_of(entry.stat) >= found_ns - RACY_NS:
            continue  # Not indexed, or still too new to tell: a check reads it again.
        try:
            source, stat = disk.read_file(root, path)
            same = entry == Entry(stat, disk.digest(source))
        except OSError:
            same = False
        if not same:
            found_ns = max(taken_ns, min(found_ns, stamp_of(entry.stat) + RACY_NS))
    return found_ns


def kept_doubts(before: Snapshot, read: Container[str], taken_ns: int) -> int:
    """The latest time that may be published without settling what was not read now.

    A file that had just been written when an earlier build read it may have been written again
    within the same tick. Until a build reads it, every check has to.
    """
    for path in in_doubt(before):
        if path not in read:
            taken_ns = min(taken_ns, stamp_of(before.entries[path].stat) + RACY_NS)
    return taken_ns


def _stored_listings(root: str, backend: Backend) -> bytes | None:
    with suppress(CodeIndexError), backend.reader(root) as reader:
        return reader.listings()
    return None


def _listed(root: str, policy: Policy, watched: WatchedRoot | None) -> Look:
    """The files of a tree; raises RootMissing if the tree is missing or cannot be read."""
    try:
        look = Look(disk.walk(root, policy)) if watched is None else watched.look(policy)
    except disk.TreeMissing as error:
        raise RootMissing(root, str(error)) from error
    if "" in look.found.unreadable:
        # The state of the tree is unknown, and an empty index must not replace the old one.
        raise RootMissing(root, "it cannot be read")
    return look


def _is_compatible(root: str, tools: BuildTools) -> bool:
    """Whether the stored generation was made with the current settings."""
    try:
        wire = json.loads(str(tools.backend.read_marker(root)))
    except (CodeIndexError, ValueError):
        return False
    fingerprint = wire.get("fingerprint") if isinstance(wire, dict) else None
    return fingerprint_from_wire(fingerprint) == tools.fingerprint


def _remove_readable(writer: Writer, unreadable: frozenset[str]) -> dict[str, Entry]:
    """Remove every file that can be read now; returns the others, which may still exist."""
    entries = writer.snapshot().entries
    unread_entries = {path: entry for path, entry in entries.items() if covered(path, unreadable)}
    for path in entries.keys() - unread_entries.keys():
        _remove(writer, path)
    return unread_entries


def _remove(writer: Writer, path: str) -> None:
    if not writer.remove(path):
        raise DamagedBackend(f"what the index has of {path!r} cannot be found in it")
