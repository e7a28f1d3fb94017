"""manage_index and list_codebases: make, refresh, inspect and forget indexes.

A build runs in the background whatever happens to the call that began it. The call waits for it a
while, with progress; if the caller cancels it meanwhile the build is undone, and what was indexed
before is what is indexed after.
"""

from __future__ import annotations

import threading
from typing import Any

from holdfast.mcp.tool import (
    CallCancelled,
    Result,
    Tool,
    ToolCall,
    array,
    boolean,
    call_text,
    choice,
    inputs,
    number,
    string,
)
from holdfast.mcp.tools.common import answer_schema, continued, refused

ACTIONS = ("create", "reindex", "sync", "status", "clear")
WAIT_S = 20.0


def run(call: ToolCall) -> Result:
    from holdfast.index.building.progress import Progress
    from holdfast.index.tools.manage import manage_index

    a = call.arguments
    path = call.caller.path(a["path"])
    index = call.context.index
    # Once nobody waits any more the build goes on by itself: only a waiting caller can end it.
    waiting = threading.Event()
    waiting.set()

    def report(progress: Progress) -> None:
        if waiting.is_set() and call.cancelled():
            raise CallCancelled
        call.progress(progress.pct, 100.0, str(progress))

    answer: Any = manage_index(
        index,
        a["action"],
        path,
        force=a["force"],
        custom_extensions=a["customExtensions"],
        ignore_patterns=a["ignorePatterns"],
        allow_unnecessary_reindex=a["allowUnnecessaryReindex"],
        report=report,
    )
    run = call.context.started_here()
    if run is None:
        return _answered(answer)
    run.join(a["wait"])
    waiting.clear()
    if run.is_alive():
        return _still_running(answer)
    final: Any = manage_index(index, "status", answer["path"])
    notes = answer["humanText"].splitlines()[:-1]
    facts = {**final, "action": a["action"], "started": answer}
    return Result("\n".join([*notes, final["humanText"]]), facts)


def _answered(answer: dict[str, Any]) -> Result:
    if answer["status"] == "ok":
        return Result(answer["humanText"], dict(answer))
    return refused(dict(answer))


def _still_running(answer: dict[str, Any]) -> Result:
    status = {"action": "status", "path": answer["path"]}
    facts = {**answer, "continue": continued("manage_index", **status)}
    more = f"[still building; to see how far: {call_text('manage_index', status)}]"
    return Result(f"{answer['humanText']}\n{more}", facts)


def list_all(call: ToolCall) -> Result:
    from holdfast.index.tools.listing import list_codebases

    found = list_codebases(call.context.index)
    return Result(found["text"], dict(found))


MANAGE_INDEX = Tool(
    name="manage_index",
    title="Make or refresh an index",
    description=(
        "The life of an index: create (index a tree), sync (take over what changed), reindex "
        "(rebuild), status (is it whole, and what to do), clear (forget it; the tree itself is "
        "never touched). create and reindex run in the background; the call waits for them a "
        "while and reports progress. Cancelling it undoes the build; what was indexed before "
        "stays."
    ),
    input=inputs(
        "action",
        "path",
        action=choice(ACTIONS, "what to do"),
        path=string("the tree", minLength=1),
        force=boolean("create: rebuild even if indexed", default=False),
        customExtensions=array(string(), "also index files that end so, e.g. .tpl", default=[]),
        ignorePatterns=array(string(), "leave these out", default=[]),
        allowUnnecessaryReindex=boolean(
            "reindex: rebuild although only ignore rules changed", default=False
        ),
        wait=number(
            "how many seconds to wait for a build; 0 answers at once",
            minimum=0,
            maximum=3600,
            default=WAIT_S,
        ),
    ),
    output=answer_schema(
        tool=string(),
        version={"type": "integer"},
        action=string(),
        path=string("the tree, made absolute"),
        reason=string(),
        humanText=string(),
        warnings=array({"type": "object"}),
        hints={"type": "object", "description": "calls that help"},
        syncStats={"type": "object"},
        indexing={"type": "object"},
        compatibility={"type": "object"},
        preflight={"type": "object"},
        started={"type": "object", "description": "what the build was begun with"},
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
    output=answer_schema(
        text=string(),
        total={"type": "integer"},
        codebases=array(
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "section": {"enum": ["Ready", "Indexing", "Requires Reindex", "Failed"]},
                    "detail": {"type": ["string", "null"]},
                },
                "required": ["path", "section"],
            }
        ),
    ),
    run=list_all,
)
