"""memory_get, memory_query, memory_history: documents as they are, as they were, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.mcp.tool import (
    Call,
    Result,
    Tool,
    array,
    boolean,
    call_text,
    inputs,
    integer,
    string,
)
from holdfast.mcp.tools.common import continued, schema_of
from holdfast.mcp.tools.memory.answers import (
    DocumentAnswer,
    DocumentRow,
    DocumentsAnswer,
    HistoryAnswer,
)
from holdfast.mcp.tools.memory.common import BRANCH, SPACE, on_space, short
from holdfast.mcp.tools.memory.links import link_line, links_of

if TYPE_CHECKING:
    from holdfast.store.store import Store

TEXT_MAX = 60_000


def get(call: Call, store: Store) -> Result:
    from holdfast.store import patch, pointer

    a = call.arguments
    state = store.state(a["id"], a["branch"], a.get("at"))
    if state is None or state.document is None:
        when = f" at seq {a['at']}" if "at" in a else ""
        return _not_found(store, a, f"there is no {a['id']}{when}")
    path = pointer.parse(a["pointer"])
    if not patch.has(state.document, path):
        whole = {**a, "pointer": ""}
        sentence = f"{a['id']} has nothing at {a['pointer']}"
        missing = Result(sentence, {"status": "not_found", "message": sentence})
        return missing.ended("all of it", "memory_get", **whole)
    part = patch.get(state.document, path)
    links = links_of(call, part)
    answer = DocumentAnswer(
        status="ok", id=state.id, branch=state.branch, seq=state.seq, document=part, links=links
    )
    facts = answer.to_wire()
    lines = [f"{state.id} at seq {state.seq}", _json(part)]
    if len(lines[1]) > TEXT_MAX:
        deeper = {**a, "pointer": _first_of_many(part, a["pointer"])}
        facts["continue"] = continued("memory_get", **deeper)
        lines[1] = (
            f"{lines[1][:TEXT_MAX]}\n[cut after {TEXT_MAX} of {len(lines[1])} characters; "
            f"a part of it: {call_text('memory_get', deeper)}]"
        )
    lines += [link_line(link) for link in links if link.state != "current"]
    return Result("\n".join(lines), facts)


def _not_found(store: Store, a: Mapping[str, Any], sentence: str) -> Result:
    kind = a["id"].partition(":")[0] + ":"
    documents = store.documents(a["branch"], a.get("at"))
    more = {"space": a["space"], "branch": a["branch"], "at": a.get("at")}
    more["prefix"] = kind if any(one.id.startswith(kind) for one in documents) else ""
    facts = {"status": "not_found", "message": sentence}
    return Result(sentence, facts).ended("what there is", "memory_query", **more)


def query(call: Call, store: Store) -> Result:
    a = call.arguments
    if "ids" in a:
        roots = [{"id": id, "selector": {"path": [], "schema": a["links"]}} for id in a["ids"]]
        asked: dict[str, Any] = {"roots": roots, "branch": a["branch"]}
        if "at" in a:
            asked["atSeq"] = a["at"]
        reached = store.query(asked)
        found = [
            DocumentRow(one["id"], one["seq"], one.get("document")) for one in reached["entities"]
        ]
    else:
        found = [
            DocumentRow(state.id, state.seq, state.document)
            for state in store.documents(a["branch"], a.get("at"))
            if state.id.startswith(a["prefix"])
        ]
    wanted = a["contains"].casefold()
    if wanted:
        found = [
            one
            for one in found
            if wanted in json.dumps(one.document, ensure_ascii=False).casefold()
        ]
    found = [one for one in found if one.id > a["after"]] if a["after"] else found
    shown = found[: a["limit"]]
    facts = DocumentsAnswer(
        status="ok", seq=store.newest_seq(), documents=tuple(shown), total=len(found)
    ).to_wire()
    lines = [f"{one.id}  seq {one.seq}  {short(one.document)}" for one in shown]
    if not shown:
        lines.append("No documents.")
        narrowed = a["prefix"] or wanted or a["after"] or "ids" in a
        more = {"space": a["space"], "branch": a["branch"], "at": a.get("at")}
        result = Result("\n".join(lines), facts)
        return result.ended("all there are", "memory_query", **more) if narrowed else result
    if len(found) > len(shown):
        more = {**a, "after": shown[-1].id}
        facts["continue"] = continued("memory_query", **more)
        lines.append(
            f"[{len(shown)} of {len(found)} documents; continue: {call_text('memory_query', more)}]"
        )
    return Result("\n".join(lines), facts)


def history(call: Call, store: Store) -> Result:
    a = call.arguments
    # One more than asked, so that we know whether there is more.
    found = store.log(a.get("id"), a.get("branch"), a.get("before"), a["limit"] + 1)
    shown = found[: a["limit"]]
    entries = tuple(entry.to_wire() for entry in shown)
    facts = HistoryAnswer(status="ok", entries=entries).to_wire()
    lines = []
    for entry in shown:
        what = ", ".join(f"{op} {id}" for op, id in entry.operations) or entry.kind
        what = f"{entry.kind}: {what}" if entry.kind.startswith("merge") else what
        branch = f" on {entry.branch}" if entry.branch else ""
        lines.append(f"{entry.seq}  {entry.created_at}{branch}  {entry.session}  {what}")
    if not shown:
        any_at_all = store.newest_seq() > 0
        result = Result("No such commit." if any_at_all else "Nothing happened yet.", facts)
        if not {"id", "branch", "before"} & a.keys():
            return result
        return result.ended("all that happened", "memory_history", space=a["space"])
    if len(found) > len(shown):
        more = {**a, "before": shown[-1].seq}
        facts["continue"] = continued("memory_history", **more)
        lines.append(f"[older: {call_text('memory_history', more)}]")
    return Result("\n".join(lines), facts)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _first_of_many(value: Any, pointer: str) -> str:
    """Where the first of several parts is, to show how parts are named."""
    while isinstance(value, dict | list) and value:
        name, value = next(iter(value.items() if isinstance(value, dict) else enumerate(value)))
        pointer += "/" + str(name).replace("~", "~0").replace("/", "~1")
        if len(json.dumps(value)) <= TEXT_MAX // 2:
            break
    return pointer


MEMORY_GET = Tool(
    name="memory_get",
    title="Read a document",
    description=(
        "A document of the shared memory, now or as it was at a seq, whole or a part of it. Links "
        "to code that has changed since are reported as drifted."
    ),
    input=inputs(
        "id",
        id=string("the document, e.g. note:plan", minLength=1),
        pointer=string("a part of it, e.g. /value/title", default=""),
        at=integer("as it was at this seq", minimum=0),
        space=SPACE,
        branch=BRANCH,
    ),
    output=schema_of(DocumentAnswer),
    run=on_space("memory_get", get),
)

MEMORY_QUERY = Tool(
    name="memory_query",
    title="Find documents",
    description=(
        "Documents of the shared memory: those whose id starts so, or those named by ids, with "
        "everything their links lead to if links is true; only those that contain a text."
    ),
    input=inputs(
        prefix=string("only ids that start so", default=""),
        contains=string("only documents with this text, in any case", default=""),
        ids=array(string(), "these documents", minItems=1),
        links=boolean("with ids: also every document they lead to", default=False),
        at=integer("as it was at this seq", minimum=0),
        after=string("go on after this id", default=""),
        limit=integer("at most so many", minimum=1, maximum=500, default=50),
        space=SPACE,
        branch=BRANCH,
    ),
    output=schema_of(DocumentsAnswer),
    run=on_space("memory_query", query),
)

MEMORY_HISTORY = Tool(
    name="memory_history",
    title="What happened",
    description=(
        "Commits, newest first: of the space, of a branch, or those that wrote one document. Read "
        "a document at a seq with memory_get(id=..., at=...)."
    ),
    input=inputs(
        id=string("only commits that wrote this document"),
        branch=string("only this branch; empty for the default branch"),
        before=integer("only older than this seq", minimum=1),
        limit=integer("at most so many", minimum=1, maximum=500, default=20),
        space=SPACE,
    ),
    output=schema_of(HistoryAnswer),
    run=on_space("memory_history", history),
)
