"""search_code: ranked code, without the text that the conversation holds already."""

from __future__ import annotations

import os
from typing import Any

from holdfast.mcp.tool import (
    Call,
    Result,
    Tool,
    array,
    choice,
    inputs,
    integer,
    maybe,
    string,
)
from holdfast.mcp.tools.common import SPAN, answer_schema, call_text, continued

LINES_SHOWN = 40


def run(call: Call) -> Result:
    from holdfast.index.tools.search import search_code

    a = call.arguments
    path = call.caller.path(a["path"])
    found: Any = search_code(
        call.desk.index,
        path,
        a["query"],
        scope=a["scope"],
        result_mode=a["resultMode"],
        group_by=a["groupBy"],
        limit=a["limit"],
    )
    facts: dict[str, Any] = {**found, "results": [dict(one) for one in found["results"]]}
    if found["status"] != "ok":
        return Result(_refused(facts), facts)
    root = call.desk.index.governing(path)[1]
    _leave_out_what_is_held(call, facts["results"], "" if root is None else root.root)
    if len(facts["results"]) >= a["limit"]:
        facts["continue"] = continued(
            "search_code", **{**a, "path": path, "limit": min(50, a["limit"] * 2)}
        )
    return Result(_text(facts, "" if root is None else root.root), facts)


def _leave_out_what_is_held(call: Call, results: list[dict[str, Any]], root: str) -> None:
    """Point at lines that the agent provably holds as they are, instead of sending them."""
    from holdfast.mcp.binding import Bound
    from holdfast.reading.scope import Lines

    caller = call.caller
    with call.desk.sessions.of(caller, call.meta, "search_code", call.arguments) as session:
        for one in results:
            one["in_context"] = False
            if not isinstance(session, Bound):
                continue
            reader = call.desk.reader(caller.cwd or "/", caller.home)
            span = Lines(one["span"]["startLine"], one["span"]["endLine"])
            if reader.holds(os.path.join(root, one["file"]), span, session.host):
                one["in_context"] = True
                one.pop("preview", None)
                one.pop("content", None)


def _refused(facts: dict[str, Any]) -> str:
    return str(facts.get("message", facts["status"]))


def _text(facts: dict[str, Any], root: str) -> str:
    lines = []
    for one in facts["results"]:
        span = one["span"]
        first, last = span["startLine"], span["endLine"]
        label = f"  {one['symbolLabel']}" if one.get("symbolLabel") else ""
        kind = f" ({one['symbolKind']})" if one.get("symbolKind") else ""
        head = f"{one['file']}:{first}-{last}{label}{kind}"
        if one["in_context"]:
            lines += [f"{head}  [in your context already]", ""]
            continue
        lines.append(head)
        text = (one.get("preview") or one.get("content") or "").rstrip("\n").split("\n")
        lines += [f"    {line}" for line in text[:LINES_SHOWN]]
        if len(text) > LINES_SHOWN:
            more = call_text(
                "read",
                {
                    "path": os.path.join(root, one["file"]),
                    "offset": first,
                    "limit": last - first + 1,
                },
            )
            lines.append(f"    [{len(text) - LINES_SHOWN} more lines; continue: {more}]")
        lines.append("")
    if not facts["results"]:
        lines.append("Nothing found.")
    decision = facts.get("freshnessDecision") or {}
    if "stats" in decision:
        stats = decision["stats"]
        lines.append(
            f"[{stats['added']} new, {stats['modified']} changed, {stats['removed']} removed files "
            "since the index was made were taken as they are now]"
        )
    lines += [f"[{warning}]" for warning in facts.get("warnings", [])]
    if "continue" in facts:
        more = call_text("search_code", facts["continue"]["args"])
        lines.append(f"[{len(facts['results'])} results shown; for more: {more}]")
    return "\n".join(lines).rstrip()


_RESULT = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["group", "chunk"]},
        "file": {"type": "string"},
        "span": SPAN,
        "language": {"type": ["string", "null"]},
        "symbolId": {"type": ["string", "null"]},
        "symbolLabel": {"type": ["string", "null"]},
        "score": {"type": "number"},
        "in_context": {"type": "boolean"},
        "preview": {"type": "string"},
        "content": {"type": "string"},
    },
    "required": ["kind", "file", "span", "score", "in_context"],
}

SEARCH_CODE = Tool(
    name="search_code",
    title="Search code",
    description=(
        "Find code in an indexed tree by name, phrase or behaviour. Results are symbols with "
        "their file, lines and text; a hit whose lines your context already holds comes as a "
        "pointer without its text. Files changed since the index was made are taken as they are "
        "now. If the tree is not indexed the answer says so and names the call that helps."
    ),
    input=inputs(
        "query",
        query=string("a name, a phrase or a behaviour", minLength=1),
        path=string("the tree, or a directory in it", default="."),
        scope=choice(
            ("runtime", "mixed", "docs"),
            "code, code and documents, or only documents",
            default="runtime",
        ),
        limit=integer("at most so many results", minimum=1, maximum=50, default=10),
        resultMode=choice(("grouped", "raw"), "symbols, or chunks of text", default="grouped"),
        groupBy=choice(("symbol", "file"), "one result for each", default="symbol"),
    ),
    output=answer_schema(
        path=string("what was asked, made absolute"),
        query=string(),
        scope=string(),
        limit={"type": "integer"},
        reason=string("why there are no results: indexing, not_indexed, requires_reindex"),
        codebasePath=string("the tree that governs the path"),
        freshnessDecision=maybe({"type": "object"}),
        warnings=array({"type": "string"}),
        hints={"type": "object", "description": "calls that help"},
        indexing={"type": "object"},
        compatibility={"type": "object"},
        results=array(_RESULT),
    ),
    run=run,
)
