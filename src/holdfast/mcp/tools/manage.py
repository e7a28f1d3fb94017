"""manage_index and list_codebases: create, refresh, inspect and delete indexes.

A build runs in the background, independent of the call that started it. The call waits for a while
and reports progress; if the caller cancels it in that time, the build is undone and the previous
index stays.
"""

from __future__ import annotations

import threading

from msgspec.structs import replace

from holdfast.index.answers import CodebasesAnswer, Hints, ManageAnswer
from holdfast.index.tools.render import built_text, without_internals
from holdfast.mcp.tool import (
    CallCancelled,
    Result,
    Tool,
    ToolCall,
    array,
    boolean,
    choice,
    inputs,
    number,
    string,
)
from holdfast.mcp.tools.common import refused, schema_of

ACTIONS = ("create", "reindex", "sync", "status", "clear")
WAIT_S = 20.0


def run(call: ToolCall) -> Result:
    from holdfast.index.building.progress import Progress
    from holdfast.index.tools.manage import manage_index

    a = call.arguments
    index = call.context.index
    path = call.caller.path(a["path"])
    if a["action"] not in ("status", "clear") or path not in index.registry.records():
        path = call.tree(path)  # on a tracked tree these two actions read only what is listed
    # After the wait the build continues on its own: only a waiting caller can cancel it.
    waiting = threading.Event()
    waiting.set()

    def report(progress: Progress) -> None:
        if waiting.is_set() and call.cancelled():
            raise CallCancelled
        call.progress(progress.pct, 100.0, str(progress))

    answer = manage_index(
        index,
        a["action"],
        path,
        force=a["force"],
        custom_extensions=a["custom_extensions"],
        ignore_patterns=a["ignore_patterns"],
        allow_unnecessary_reindex=a["allow_unnecessary_reindex"],
        report=report,
    )
    run = call.context.started_here()
    text = without_internals(answer.human_text)
    if run is None:
        return Result(text, answer.to_wire()) if answer.status == "ok" else refused(answer)
    run.join(a["wait"])
    waiting.clear()
    if run.is_alive():
        status = {"action": "status", "path": answer.path}
        running = Result(text, answer.to_wire())
        return running.ended("still building; to see how far", "manage_index", **status)
    final = replace(manage_index(index, "status", answer.path), action=a["action"])
    if answer.hints is not None and answer.hints.stale_local is not None:
        # The final answer also says why the build was needed.
        stale = answer.hints.stale_local
        final = replace(final, hints=replace(final.hints or Hints(), stale_local=stale))
    return Result(built_text(answer, final), {**final.to_wire(), "started": answer.to_wire()})


def list_all(call: ToolCall) -> Result:
    from holdfast.index.tools.codebases import list_codebases, only

    answer = list_codebases(call.context.index)
    if call.caller.principal is not None:
        answer = only(answer, call.workspace.admits)
    return Result(answer.text, answer.to_wire())


MANAGE_INDEX = Tool(
    name="manage_index",
    title="Create or refresh an index",
    description=(
        "Manage the index of a tree: create it, sync (index what changed), reindex (rebuild), "
        "status (its state, and what to do), clear (delete the index; the tree itself is never "
        "touched). create and reindex run in the background; the call waits for them a while and "
        "reports progress. Cancelling it undoes the build and keeps the previous index."
    ),
    input=inputs(
        "action",
        action=choice(ACTIONS, "what to do"),
        path=string("the tree", minLength=1, default="."),
        force=boolean("create: rebuild even if indexed", default=False),
        custom_extensions=array(
            string(), "also index files with these extensions, e.g. .tpl", default=[]
        ),
        ignore_patterns=array(string(), "ignore files that match these patterns", default=[]),
        wait=number(
            "seconds to wait for a build; 0 answers at once",
            minimum=0,
            maximum=3600,
            default=WAIT_S,
        ),
    ),
    unlisted={
        "allow_unnecessary_reindex": boolean(
            "reindex: rebuild although only ignore rules changed", default=False
        )
    },
    output=schema_of(
        ManageAnswer,
        started={"type": "object", "description": "the answer that the build began with"},
    ),
    run=run,
    read_only=False,
    destructive=True,
    idempotent=True,
)

LIST_CODEBASES = Tool(
    name="list_codebases",
    title="Tracked trees",
    description="Every tracked tree and its state: ready, indexing, requires reindex, failed.",
    input=inputs(),
    output=schema_of(CodebasesAnswer),
    run=list_all,
)
