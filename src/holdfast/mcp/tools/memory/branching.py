"""memory_branch: branches are made, compared, merged and closed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.index.tools.render import counted
from holdfast.mcp.tool import (
    Call,
    Result,
    Tool,
    boolean,
    call_text,
    choice,
    failure,
    inputs,
    integer,
    string,
)
from holdfast.mcp.tools.common import continued, schema_of
from holdfast.mcp.tools.memory.answers import BranchAnswer
from holdfast.mcp.tools.memory.common import SPACE, on_space, short

if TYPE_CHECKING:
    from holdfast.store.merge import Clash
    from holdfast.store.merging import DocumentDiff
    from holdfast.store.model import CommitKey
    from holdfast.store.store import Store


def _makes(call: Call) -> Callable[[], bool] | None:
    a = call.arguments
    return (lambda: bool(a["name"])) if a["action"] == "create" else None


def branch(call: Call, store: Store) -> Result:
    from holdfast.ids import LocalSeq, SessionId
    from holdfast.store.model import CommitKey

    a = call.arguments
    action = a["action"]
    if action == "list":
        branches = store.branches()
        lines = [
            f"{one.name or '(default)'}  head {one.head_seq}  {one.status}"
            + (f"  forked at {one.fork_seq}" if one.fork_seq is not None else "")
            for one in branches
        ]
        wires = tuple(one.to_wire() for one in branches)
        return _result("\n".join(lines), branches=wires)
    if not a["name"]:
        unnamed = failure(f"which branch to {action}?", "pass name")
        return unnamed.ended("those there are", "memory_branch", action="list", space=a["space"])
    if action == "diff":
        return _diff(store, a)
    by = CommitKey(SessionId(call.caller.name), LocalSeq(call.caller.next_local_seq()))
    if action == "merge":
        return _merge(store, a, by)
    if action == "create":
        made = store.create_branch(a["name"], a["parent"], a.get("at"), by)
        text = (
            f"created {made.name} from {made.parent or 'the default branch'} at seq {made.fork_seq}"
        )
    else:
        made = store.delete_branch(a["name"], by)
        text = f"deleted {made.name}; it can still be read and forked"
    return _result(text, branch=made.to_wire())


def _result(text: str, **members: Any) -> Result:
    return Result(text, BranchAnswer(status="ok", **members).to_wire())


def _diff(store: Store, a: dict[str, Any]) -> Result:
    found = store.diff(a["name"], a.get("against"))
    return _result(diff_text(found), differences=tuple(entry.to_wire() for entry in found))


def diff_text(differences: Sequence[DocumentDiff]) -> str:
    """What differs, a line for each document and each place in it."""
    signs = {"added": "+", "removed": "-"}
    lines = []
    for entry in differences:
        lines.append(f"{signs.get(entry.kind, '~')} {entry.id}")
        if entry.kind == "modified":
            for change in (one.to_wire() for one in entry.changes):
                before = short(change["before"]) if "before" in change else "(nothing)"
                after = short(change["after"]) if "after" in change else "(nothing)"
                lines.append(f"    {change['path'] or '(all)'}: {before} → {after}")
    return "\n".join(lines) or "No differences."


def _merge(store: Store, a: dict[str, Any], by: CommitKey) -> Result:
    name, into, resolutions = a["name"], a["into"], a["resolutions"]
    proposal = store.propose_merge(name, into, resolutions)
    if proposal.clashes and "take" in a:
        resolutions = {**{clash.id: a["take"] for clash in proposal.clashes}, **resolutions}
        proposal = store.propose_merge(name, into, resolutions)
    if proposal.clashes:
        return _clashed(a, proposal.clashes)
    if a["dry_run"]:
        changed = [f"{one['op']} {one['id']}" for one in proposal.operations]
        would = f"{counted(len(changed), 'document')} would change"
        text = "\n".join([*changed, would])
        return _result(text, dry_run=True, operations=tuple(proposal.operations))
    applied = store.merge(by, name, into, resolutions)
    if applied is None:
        return _result("nothing to merge", merged=0)
    merged, target = len(applied.revisions), into or "the default branch"
    text = (
        f"merged {name} into {target} at seq {applied.seq}: {counted(merged, 'document')} changed"
    )
    return _result(text, seq=applied.seq, merged=merged)


def _clashed(a: dict[str, Any], clashes: Sequence[Clash]) -> Result:
    conflicts = [clash.to_wire() for clash in clashes]
    target = a["into"] or "default branch"
    again = {"action": "merge", "name": a["name"], "into": a["into"], "space": a["space"]}
    if a["dry_run"]:
        again["dry_run"] = True
    # A form to fill in: every place that clashes, beside what was settled already.
    settled = dict(a["resolutions"])
    for wire in conflicts:
        known = settled.get(wire["id"])
        places = known if isinstance(known, dict) and "value" not in known else {}
        settled[wire["id"]] = {**places, wire["path"]: "source"}
    again["resolutions"] = settled
    lines = [f"{counted(len(conflicts), 'conflict')}; nothing was written"]
    for wire in conflicts:
        lines.append(f"  {wire['id']} {wire['path'] or '(all)'}")
        for side, name in (("source", a["name"]), ("target", target)):
            lines.append(f"    {name}: {short(wire.get(f'{side}Value', '(nothing)'))}")
        lines.append(f"    before: {short(wire.get('ancestorValue', '(nothing)'))}")
    lines.append(
        '[settle each place with "source", "target" or {"value": …}: '
        f"{call_text('memory_branch', again)}]"
    )
    answer = BranchAnswer(status="conflict", message=lines[0], conflicts=tuple(conflicts))
    call = continued("memory_branch", **again)
    return Result("\n".join(lines), {**answer.to_wire(), "continue": call})


MEMORY_BRANCH = Tool(
    name="memory_branch",
    title="Branches of memory",
    description=(
        "list branches; create one to work on without disturbing others; diff it against where "
        "it was forked; merge it into another (conflicts are listed and nothing is written until "
        "each is settled); delete it (it stays readable)."
    ),
    input=inputs(
        "action",
        action=choice(("list", "create", "diff", "merge", "delete"), "what to do"),
        name=string("the branch", default=""),
        parent=string("create: the branch to fork", default=""),
        at=integer("create: fork it as it was at this seq", minimum=0),
        against=string("diff: another branch to compare with"),
        into=string("merge: the target; empty for the default branch", default=""),
        take=choice(("source", "target"), "merge: settle every conflict so"),
        resolutions={
            "type": "object",
            "description": 'merge: {"doc:id": {"/value/x": "source" | "target" | {"value": …}}}',
            "default": {},
        },
        dry_run=boolean("merge: only say what would happen", default=False),
        space=SPACE,
    ),
    output=schema_of(BranchAnswer),
    run=on_space("memory_branch", branch, makes=_makes),
    read_only=False,
    destructive=True,
    idempotent=False,
)
