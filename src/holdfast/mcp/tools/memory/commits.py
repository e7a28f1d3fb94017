"""memory_commit: writes documents, all or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import UsageError
from holdfast.mcp.tool import (
    Result,
    Tool,
    ToolCall,
    array,
    call_text,
    choice,
    inputs,
    integer,
    string,
)
from holdfast.mcp.tools.common import continued, schema_of
from holdfast.mcp.tools.memory.answers import CommitAnswer
from holdfast.mcp.tools.memory.common import BRANCH, SPACE, author, failed, new_key, on_space
from holdfast.mcp.tools.memory.links import LINK, linked_code

if TYPE_CHECKING:
    from holdfast.store.store import Store


def commit(call: ToolCall, store: Store) -> Result:
    from holdfast.store.errors import ConflictError, MisplacedPatch, PatchError
    from holdfast.store.memory import verbs
    from holdfast.store.memory.render import plain_text

    a = call.arguments
    operations, warnings = _operations(call)
    reads = [(one["id"], one["seq"]) for one in a["reads"]]
    by = author(call, "memory_commit")
    try:
        applied = verbs.commit(store, new_key(call), operations, reads, a["branch"], by)
    except PatchError as error:
        patched = {one["id"] for one in operations if one["op"] == "patch"}
        if not isinstance(error, MisplacedPatch) and (error.hint or len(patched) != 1):
            raise
        id = error.id if isinstance(error, MisplacedPatch) else patched.pop()
        place = {"id": id, "space": a["space"], "branch": a["branch"]}
        return failed(f"not committed: {error}", "as it is now", "memory_get", place)
    except ConflictError as error:
        again = {"id": error.conflicts[0].id, "space": a["space"], "branch": a["branch"]}
        hint = error.hint or "read it again, then commit again"
        facts: dict[str, Any] = {
            "status": "conflict",
            "message": str(error),
            "hint": hint,
            "continue": continued("memory_get", **again),
        }
        text = f"not committed: {error}\n[{hint}: {call_text('memory_get', again)}]"
        return Result(text, facts)
    answer = CommitAnswer(
        status="ok",
        seq=applied.seq,
        branch=applied.branch,
        ids=tuple(applied.ids),
        warnings=tuple(warnings),
    )
    text = "\n".join([plain_text(applied), *(f"[warning: {one}]" for one in warnings)])
    return Result(text, answer.to_wire())


def _makes(call: ToolCall) -> bool:
    """Whether a first commit creates its space: not if it names a branch or earlier reads."""
    a = call.arguments
    _operations(call)
    return not a["branch"] and all(one["seq"] == 0 for one in a["reads"])


def _operations(call: ToolCall) -> tuple[list[dict[str, Any]], list[str]]:
    """The operations of a commit, with the digests of linked code, and warnings."""
    from holdfast.notes.note import with_links

    code = linked_code(call)
    done, warnings = [], []
    for at, one in enumerate(call.arguments["operations"]):
        operation, near = with_links(_operation(one, at), code)
        done.append(operation)
        warnings += near
    return done, warnings


def _operation(one: dict[str, Any], at: int) -> dict[str, Any]:
    op, id = one["op"], one["id"]
    if op == "delete":
        return {"op": "delete", "id": id}
    if op == "patch":
        if "patches" not in one:
            raise UsageError(f"operations[{at}] is a patch without patches")
        return {"op": "patch", "id": id, "patches": one["patches"]}
    if "value" in one:
        return {"op": "set", "id": id, "value": {"value": one["value"]}}
    if "document" in one:
        return {"op": "set", "id": id, "value": one["document"]}
    raise UsageError(f"operations[{at}] sets nothing", "give value, or document for all of it")


MEMORY_COMMIT = Tool(
    name="memory_commit",
    title="Write documents",
    description=(
        "Write documents of the shared memory, all at once or not at all; memory_note is simpler "
        "for text. Pass in reads what you read and at which seq (0: it must not exist); if one "
        f"was written since, nothing is committed. {LINK}"
    ),
    input=inputs(
        "operations",
        operations=array(
            {
                "type": "object",
                "properties": {
                    "op": choice(("set", "patch", "delete"), "what to do"),
                    "id": string("the document, e.g. note:plan", minLength=1),
                    "value": {"description": "set: the value, any JSON"},
                    "document": {"type": "object", "description": "set: the whole document"},
                    "patches": {
                        "type": "array",
                        "description": 'patch: e.g. {"op": "replace", "path": "/value/x", '
                        '"value": 1}',
                    },
                },
                "required": ["op", "id"],
                "additionalProperties": False,
            },
            "what to write",
            minItems=1,
        ),
        reads=array(
            {
                "type": "object",
                "properties": {"id": string(), "seq": integer(minimum=0)},
                "required": ["id", "seq"],
                "additionalProperties": False,
            },
            "the documents that this commit read, with their seqs",
            default=[],
        ),
        space=SPACE,
        branch=BRANCH,
    ),
    output=schema_of(CommitAnswer),
    run=on_space("memory_commit", commit, makes=lambda call: lambda: _makes(call)),
    read_only=False,
    destructive=True,
    idempotent=False,
)
