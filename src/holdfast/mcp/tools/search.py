"""search_code: ranked code, without the text that the conversation holds already."""

from __future__ import annotations

import os
from typing import Any

from holdfast.errors import UsageError
from holdfast.mcp.tool import (
    Result,
    Tool,
    ToolCall,
    array,
    boolean,
    call_text,
    choice,
    failure,
    inputs,
    integer,
    maybe,
    string,
)
from holdfast.mcp.tools.common import (
    SPAN,
    answer_schema,
    below,
    counted,
    no_such_tree,
    refused,
    tree_of,
    usable,
)

QUERY_MAX = 300
"""A longer query is not said again in the call that helps."""


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.search import search_code
    from holdfast.mcp.binding import Bound
    from holdfast.reading.scope import Lines

    a, caller = call.arguments, call.caller
    given = a["path"] if isinstance(a["path"], list) else [a["path"]]
    with call.context.sessions.of(caller, call.meta, "search_code", a) as session:

        def holds(path: str, first: int, last: int) -> bool:
            if not isinstance(session, Bound):
                return False
            reader = call.context.reader(caller.cwd or "/", caller.home)
            return reader.holds(path, Lines(first, last), session.log)

        try:
            found: Any = search_code(
                call.context.index,
                [caller.path(path) for path in given],
                a.get("query", ""),
                scope=a["scope"],
                result_mode=a["resultMode"],
                group_by=a["groupBy"],
                limit=a["limit"],
                budget=a["budget"],
                cursor=a.get("cursor"),
                debug=a["debug"],
                holds=holds,
                similar=a.get("similar"),
                snippet=a.get("snippet"),
            )
        except UsageError as error:
            if "cursor" not in a:
                raise
            return _from_the_start(failure(str(error), error.hint), a)
    facts: dict[str, Any] = dict(found)
    if facts["status"] == "blocked":
        return _from_the_start(refused(facts), a)
    if facts["status"] != "ok":
        return _not_answered(facts)
    if "continuation" in facts:
        facts["continue"] = facts["continuation"]["call"]
    root = None if "roots" in facts else tree_of(call, facts["path"])
    facts["results"] = [
        usable(call, one, one.get("codebasePath") or root or "") for one in facts["results"]
    ]
    said = below(call, root) if facts["results"] else []
    result = Result("\n".join([*said, _text(facts)]), facts)
    return result if facts["results"] else _elsewhere(result, a)


def _from_the_start(result: Result, a: dict[str, Any]) -> Result:
    """A cursor that leads nowhere: the same search without it."""
    usual = {name: one.get("default") for name, one in SEARCH_CODE.input["properties"].items()}
    asked = {name: value for name, value in a.items() if value != usual[name]}
    return result.ended("from the start", "search_code", **{**asked, "cursor": None})


def _not_answered(facts: dict[str, Any]) -> Result:
    if not os.path.exists(facts["path"]):
        message = f"'{facts['path']}' does not exist"
        return no_such_tree(Result(message, {**facts, "message": message, "hints": {}}))
    return refused(facts)


def _elsewhere(result: Result, a: dict[str, Any]) -> Result:
    """Nothing was found: a wider search, or one that knows no meaning but misses no token."""
    steps = (result.facts.get("hints") or {}).get("nextSteps") or []
    query = a.get("query", "")
    if len(query) > QUERY_MAX:
        shorter = query[:QUERY_MAX]
        return result.ended("shorter", "search_code", query=shorter, path=a["path"])
    if steps:
        return result.ended("wider", steps[0]["tool"], **steps[0]["args"])
    path = a["path"][0] if isinstance(a["path"], list) else a["path"]
    if "similar" in a or "snippet" in a:
        return result.ended("blocks that are repeated", "clones", path=path)
    return result.ended("the very words, in any file", "locate", snippet=query, path=path)


def _text(facts: dict[str, Any]) -> str:
    lines = []
    for one in facts["results"]:
        lines += [*_result(one), ""]
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
    lines += [f"[{root['message']}]" for root in facts.get("roots", []) if root["status"] != "ok"]
    counts = facts["counts"]
    if "matchedLines" in counts:
        least = "" if counts["complete"] else "at least "
        said = f"{counted(counts['matchedLines'], 'line')} in "
        lines.append(f"[{least}{said}{counted(counts['matchedFiles'], 'file')} with a match]")
    if "continue" in facts:
        more = call_text("search_code", facts["continue"]["args"])
        lines.append(
            f"[results {counts['from']}-{counts['to']} of {counts['total']}; continue: {more}]"
        )
    return "\n".join(lines).rstrip()


def _result(one: dict[str, Any]) -> list[str]:
    span = one["span"]
    label = f"  {one['symbolLabel']}" if one.get("symbolLabel") else ""
    kind = f" ({one['symbolKind']})" if one.get("symbolKind") else ""
    root = f"{one['codebasePath']}: " if "codebasePath" in one else ""
    head = f"{root}{one['file']}:{span['startLine']}-{span['endLine']}{label}{kind}"
    if one.get("in_context"):
        return [f"{head}  [in your context already]"]
    lines = [head, *_shown(one)]
    if "next" in one:
        lines.append(f"    [all of it: {call_text('read', one['next']['args'])}]")
    if one.get("alikeCount"):
        places = [f"{a['file']}:{a['span']['startLine']}" for a in one.get("alike", ())]
        named = f": {', '.join(places)}" if places else ""
        rest = ', and in resultMode="raw" all' if one["alikeCount"] > len(places) else ""
        lines.append(f"    [{one['alikeCount']} more alike{named}{rest}]")
    return lines


def _shown(one: dict[str, Any]) -> list[str]:
    """The lines of a result; by number, where some were left out between them."""
    text = (one.get("preview") or one.get("content") or "").rstrip("\n")
    if not text:
        return []
    texts = iter(text.split("\n"))
    if len(one.get("previewSpans", ())) < 2 and not one.get("matches"):
        return [f"    {line}" for line in texts]
    first = one["span"]["startLine"]
    whole = [{"startLine": first, "endLine": first + text.count("\n")}]
    lines: list[str] = []
    for place, span in enumerate(one.get("previewSpans", whole)):
        if place:
            lines.append(f"     {next(texts)}")  # The mark between runs of lines.
        numbers = range(span["startLine"], span["endLine"] + 1)
        lines += [f"{number:>6}  {line}" for number, line in zip(numbers, texts, strict=False)]
    return lines


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
    "required": ["kind", "file", "span", "score"],
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
        query=string(
            "a name, a phrase or a behaviour; filters: lang:py path:src/ -path:tests/ must:word "
            "exclude:word re:pattern sym:Name",
            minLength=1,
        ),
        path={
            "type": ["string", "array"],
            "items": {"type": "string"},
            "description": "the tree, or a directory in it; or several",
            "default": ".",
        },
        scope=choice(
            ("runtime", "mixed", "docs"),
            "code, code and documents, or only documents",
            default="runtime",
        ),
        limit=integer("at most so many results", minimum=1, maximum=50, default=10),
        resultMode=choice(("grouped", "raw"), "symbols, or chunks of text", default="grouped"),
        groupBy=choice(("symbol", "file"), "one result for each", default="symbol"),
        budget=integer("at most so many tokens of results", minimum=100, default=8000),
        similar=string("instead of a query: code like these lines, as in src/app.py:10-20"),
        snippet=string("instead of a query: code like this text"),
        cursor=string("of the page before: the answer's continue has it"),
        debug=boolean("tell how results were found", default=False),
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
        paths=array({"type": "string"}),
        roots=array({"type": "object"}),
        counts={"type": "object", "description": "which results these are, of how many"},
        continuation={"type": "object"},
        recommendedNextAction={"type": "object"},
        results=array(_RESULT),
    ),
    run=run,
)
