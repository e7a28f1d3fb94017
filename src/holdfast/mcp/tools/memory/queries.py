"""memory_get, memory_query, memory_history: current and past documents, and their commits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import convert

from holdfast.mcp.tool import (
    Result,
    Tool,
    ToolCall,
    array,
    boolean,
    call_text,
    inputs,
    integer,
    string,
)
from holdfast.mcp.tools.common import continued, schema_of
from holdfast.mcp.tools.memory.answers import (
    CommitAuthor,
    CommitEntry,
    DocumentAnswer,
    DocumentRow,
    DocumentsAnswer,
    HistoryAnswer,
)
from holdfast.mcp.tools.memory.common import BRANCH, SPACE, VALUE_SHOWN, on_space
from holdfast.mcp.tools.memory.links import link_line, linked_code, links_of

if TYPE_CHECKING:
    from holdfast.store.store import Store

TEXT_MAX = 60_000
FOUND_MAX = 20
"""At most this many documents of a search by words are listed."""


def get(call: ToolCall, store: Store) -> Result:
    from holdfast.store.memory import verbs
    from holdfast.store.memory.answers import DocumentPart, MissingDocument

    a = call.arguments
    answer = verbs.get(store, a["id"], a["pointer"], a["branch"], a.get("at"))
    if isinstance(answer, MissingDocument):
        return _not_found(store, a, str(answer))
    if not isinstance(answer, DocumentPart):
        missing = Result(str(answer), {"status": "not_found", "message": str(answer)})
        return missing.ended("all of it", "memory_get", **{**a, "pointer": ""})
    state, part = answer.state, answer.part
    links = links_of(call, part)
    facts = DocumentAnswer(
        status="ok", id=state.id, branch=state.branch, seq=state.seq, document=part, links=links
    ).to_wire()
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


def query(call: ToolCall, store: Store) -> Result:
    from holdfast.store.memory import verbs
    from holdfast.store.memory.render import plain_text

    a = call.arguments
    if a["text"] or a["author"] or a["tag"] or a["code"]:
        return _find(call, store)
    answer = verbs.find(
        store,
        prefix=a["prefix"],
        ids=a.get("ids"),
        links=a["links"],
        contains=a["contains"],
        branch=a["branch"],
        at=a.get("at"),
        after=a["after"],
        limit=a["limit"],
    )
    rows = tuple(DocumentRow(one.id, one.seq, one.document) for one in answer.documents)
    facts = DocumentsAnswer(
        status="ok", seq=answer.newest_seq, documents=rows, total=answer.total
    ).to_wire()
    text = plain_text(answer, VALUE_SHOWN)
    if not answer.documents:
        narrowed = a["prefix"] or a["contains"] or a["after"] or "ids" in a
        more = {"space": a["space"], "branch": a["branch"], "at": a.get("at")}
        result = Result(text, facts)
        return result.ended("all there are", "memory_query", **more) if narrowed else result
    if answer.more:
        more = {**a, "after": answer.documents[-1].id}
        facts["continue"] = continued("memory_query", **more)
        count = f"{len(answer.documents)} of {answer.total} documents"
        text += f"\n[{count}; continue: {call_text('memory_query', more)}]"
    return Result(text, facts)


def _find(call: ToolCall, store: Store) -> Result:
    """The documents that match a text best, or those of an author, with a tag or about code."""
    from holdfast.index.embedding.static import StaticEmbedding
    from holdfast.notes import find as finding
    from holdfast.notes.note import code_place

    a = call.arguments
    path, symbol = code_place(a["code"]) if a["code"] else ("", None)
    filters = finding.Filters(a["author"], a["tag"], path, symbol or "", a["prefix"])
    limit = min(a["limit"], FOUND_MAX)
    code, when = linked_code(call), a.get("at")
    answer = finding.find(
        store, a["text"], code.judge, StaticEmbedding, filters, a["branch"], when, limit
    )
    rows = tuple(
        DocumentRow(
            note.state.id,
            note.state.seq,
            note.state.document,
            None if note.author is None else convert(note.author.to_wire(), CommitAuthor),
            tuple(one.link.path for _, one in note.links if one.state in ("drifted", "missing")),
        )
        for note in answer.notes
    )
    facts = DocumentsAnswer(
        status="ok", seq=store.newest_seq(), documents=rows, total=answer.total
    ).to_wire()
    result = Result("\n".join(answer.lines()), facts)
    more = {"space": a["space"], "branch": a["branch"], "at": a.get("at")}
    if not answer.notes:
        return result.ended("all there are", "memory_query", **more)
    return result.ended("all of one", "memory_get", id=answer.notes[0].state.id, **more)


def history(call: ToolCall, store: Store) -> Result:
    from holdfast.store.memory import verbs
    from holdfast.store.memory.render import plain_text

    a = call.arguments
    answer = verbs.history(store, a.get("id"), a.get("branch"), a.get("before"), a["limit"])
    entries = convert(answer.to_wire(), tuple[CommitEntry, ...])
    facts = HistoryAnswer(status="ok", entries=entries).to_wire()
    text = plain_text(answer)
    if not answer.entries:
        result = Result(text, facts)
        if not {"id", "branch", "before"} & a.keys():
            return result
        return result.ended("all commits", "memory_history", space=a["space"])
    if answer.more:
        more = {**a, "before": answer.entries[-1].seq}
        facts["continue"] = continued("memory_history", **more)
        text += f"\n[older: {call_text('memory_history', more)}]"
    return Result(text, facts)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _first_of_many(value: Any, pointer: str) -> str:
    """The pointer of one part that is small enough, as an example of how to name parts."""
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
        "Find notes and documents of the shared memory by what they say, by author, tag or the "
        "code they are about; or list them. Notes whose code has changed are marked drifted."
    ),
    input=inputs(
        text=string("what they say, in any words", default=""),
        author=string("a user, agent or session", default=""),
        tag=string(default=""),
        code=string("path or path:symbol", default=""),
        prefix=string("only ids that start so", default=""),
        after=string("continue after this id", default=""),
        limit=integer("maximum number of results", minimum=1, maximum=500, default=50),
        space=SPACE,
        branch=BRANCH,
    ),
    unlisted={
        "at": integer("as it was at this seq", minimum=0),
        "contains": string("only documents with exactly this text", default=""),
        "ids": array(string(), "these documents", minItems=1),
        "links": boolean("with ids: also every document they lead to", default=False),
    },
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
        before=integer("only older than this seq", minimum=1),
        limit=integer("maximum number of results", minimum=1, maximum=500, default=20),
        space=SPACE,
    ),
    unlisted={"branch": string("only this branch; empty for the default branch")},
    output=schema_of(HistoryAnswer),
    run=on_space("memory_history", history),
)
