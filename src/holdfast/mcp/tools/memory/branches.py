"""memory_branch: create, compare, merge and close branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import convert

from holdfast.mcp.tool import (
    Result,
    Tool,
    ToolCall,
    boolean,
    call_text,
    choice,
    failure,
    inputs,
    integer,
    string,
)
from holdfast.mcp.tools.common import continued, schema_of
from holdfast.mcp.tools.memory.answers import (
    BranchAnswer,
    BranchRow,
    ConflictRow,
    DifferenceRow,
    OperationRow,
)
from holdfast.mcp.tools.memory.common import SPACE, VALUE_SHOWN, author, new_key, on_space
from holdfast.mcp.tools.memory.links import linked_code

if TYPE_CHECKING:
    from holdfast.store.memory.answers import MergeConflicts
    from holdfast.store.store import Store


def _makes(call: ToolCall) -> Callable[[], bool] | None:
    a = call.arguments
    return (lambda: bool(a["name"])) if a["action"] == "create" else None


def branch(call: ToolCall, store: Store) -> Result:
    from holdfast.store.memory import verbs
    from holdfast.store.memory.render import plain_text

    a = call.arguments
    action = a["action"]
    if action == "list":
        branches = verbs.branches(store)
        rows = convert(branches.to_wire(), tuple[BranchRow, ...])
        return _result(plain_text(branches), BranchAnswer(status="ok", branches=rows))
    if not a["name"]:
        unnamed = failure(f"{action} needs a branch", "pass name")
        return unnamed.ended("list them", "memory_branch", action="list", space=a["space"])
    if action == "diff":
        answer = verbs.diff(store, a["name"], a.get("against"))
        differences = convert(answer.to_wire(), tuple[DifferenceRow, ...])
        text = plain_text(answer, VALUE_SHOWN)
        return _result(text, BranchAnswer(status="ok", differences=differences))
    if action == "merge":
        return _merge(call, store)
    if action == "review":
        return _review(call, store)
    by = author(call, "memory_branch")
    if action == "create":
        created = verbs.create_branch(store, new_key(call), a["name"], a["parent"], a.get("at"), by)
        row = convert(created.to_wire(), BranchRow)
        return _result(plain_text(created), BranchAnswer(status="ok", branch=row))
    deleted = verbs.delete_branch(store, new_key(call), a["name"], by)
    row = convert(deleted.to_wire(), BranchRow)
    return _result(plain_text(deleted), BranchAnswer(status="ok", branch=row))


def _result(text: str, answer: BranchAnswer) -> Result:
    return Result(text, answer.to_wire())


def _merge(call: ToolCall, store: Store) -> Result:
    from holdfast.store.memory import verbs
    from holdfast.store.memory.answers import MergeConflicts, MergePreview
    from holdfast.store.memory.render import plain_text

    a = call.arguments
    answer = verbs.merge(
        store,
        new_key(call),
        a["name"],
        a["into"],
        a["resolutions"],
        a.get("take"),
        a["dry_run"],
        author(call, "memory_branch"),
        None if a["keep"] else new_key(call),
    )
    text = plain_text(answer, VALUE_SHOWN)
    if isinstance(answer, MergeConflicts):
        return _conflicted(a, answer, text)
    if isinstance(answer, MergePreview):
        operations = convert(answer.operations, tuple[OperationRow, ...])
        return _result(text, BranchAnswer(status="ok", dry_run=True, operations=operations))
    if answer.applied is None:
        return _result(text, BranchAnswer(status="ok", merged=0))
    seq, merged = answer.applied.seq, len(answer.applied.ids)
    return _result(text, BranchAnswer(status="ok", seq=seq, merged=merged, closed=answer.closed))


def _review(call: ToolCall, store: Store) -> Result:
    from holdfast.notes.review import review

    a, code = call.arguments, linked_code(call)
    report = review(store, a["name"], code.judge, code.read)
    text = "\n".join(line.text for line in report.lines())
    result = _result(text, BranchAnswer(status="ok", changes=tuple(report.to_wire()["changes"])))
    if not report.changes:
        return result
    return result.ended(
        "merge it", "memory_branch", action="merge", name=a["name"], space=a["space"]
    )


def _conflicted(a: dict[str, Any], answer: MergeConflicts, text: str) -> Result:
    conflicts = convert(answer.to_wire()["conflicts"], tuple[ConflictRow, ...])
    again = {"action": "merge", "name": a["name"], "into": a["into"], "space": a["space"]}
    if a["dry_run"]:
        again["dry_run"] = True
    # A template for the next call: every conflict, in addition to existing resolutions.
    resolved = dict(a["resolutions"])
    for conflict in conflicts:
        resolution = resolved.get(conflict.id)
        places = resolution if isinstance(resolution, dict) and "value" not in resolution else {}
        resolved[conflict.id] = {**places, conflict.path: "source"}
    again["resolutions"] = resolved
    message = text.splitlines()[0]
    refused = BranchAnswer(status="conflict", message=message, conflicts=conflicts)
    facts = {**refused.to_wire(), "continue": continued("memory_branch", **again)}
    call = call_text("memory_branch", again)
    choices = '"source", "target" or {"value": …}'
    return Result(f"{text}\n[resolve each place with {choices}: {call}]", facts)


MEMORY_BRANCH = Tool(
    name="memory_branch",
    title="Branches of memory",
    description=(
        "list branches; create one to work on undisturbed; diff it against where it was forked; "
        "review it: each change beside its code; merge and close it (conflicts are listed and "
        "nothing is written until each is settled); delete it (it stays readable)."
    ),
    input=inputs(
        "action",
        action=choice(("list", "create", "diff", "review", "merge", "delete"), "what to do"),
        name=string("the branch", default=""),
        into=string("merge: the target; empty for the default branch", default=""),
        take=choice(("source", "target"), "merge: settle every conflict so"),
        resolutions={
            "type": "object",
            "description": 'merge: {"doc:id": {"/value/x": "source" | "target" | {"value": …}}}',
            "default": {},
        },
        space=SPACE,
    ),
    unlisted={
        "parent": string("create: the branch to fork", default=""),
        "at": integer("create: fork it as it was at this seq", minimum=0),
        "against": string("diff: another branch to compare with"),
        "dry_run": boolean("merge: only say what would happen", default=False),
        "keep": boolean("merge: leave the branch open", default=False),
    },
    output=schema_of(BranchAnswer),
    run=on_space("memory_branch", branch, makes=_makes),
    read_only=False,
    destructive=True,
    idempotent=False,
)
