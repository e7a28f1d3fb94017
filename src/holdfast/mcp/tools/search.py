"""search_code: ranked code, without the text that the conversation already has."""

from __future__ import annotations

import json
import os
from typing import Any

from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.index.answers import Call
from holdfast.index.search.limits import BUDGET_DEFAULT, BUDGET_MIN, LIMIT_DEFAULT, LIMIT_MAX
from holdfast.index.search_answers import SearchAnswer
from holdfast.index.tools.search_text import printed_lines, search_text, shown_lines
from holdfast.mcp.printed_answers import excerpts
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
from holdfast.mcp.tools.common import (
    AGENT,
    below,
    continued,
    in_several_trees,
    no_such_tree,
    refused,
    schema_of,
    tree_of,
    usable,
)
from holdfast.mcp.tools.near_notes import near_notes

QUERY_MAX = 300
"""A longer query is shortened in a suggested call."""


def run(call: ToolCall) -> Result:
    from holdfast.index.tools.search import search_code
    from holdfast.mcp.binding import Bound
    from holdfast.reading.scope import Lines

    a, caller = call.arguments, call.caller
    trees = [call.tree(path) for path in paths_of(a["path"])]
    reader = call.reader()
    with call.context.sessions.of(caller, call.meta, "search_code", a) as session:

        def holds(path: str, first: int, last: int) -> bool:
            if not isinstance(session, Bound):
                return False
            return reader.holds(path, Lines(first, last), session.log)

        try:
            answer = search_code(
                call.context.index,
                trees,
                a.get("query", ""),
                scope=a["scope"],
                result_mode=a["result_mode"],
                group_by=a["group_by"],
                limit=a.get("limit"),
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
    if answer.status == "blocked":
        return _from_the_start(refused(answer), a)
    if answer.status != "ok":
        return _refused(answer)
    root = None if answer.roots else tree_of(call, answer.path)
    results = tuple(usable(call, one, one.codebase_path or root or "") for one in answer.results)
    answer = replace(answer, results=results)
    facts, next_page = answer.to_wire(), None
    if answer.continuation is not None:
        args = answer.continuation.call.args
        facts["continue"] = continued("search_code", **args)
        here = {"path": "."} if args["path"] == caller.cwd else {}
        next_page = call_text("search_code", {**args, **here})
    surface = in_several_trees() if answer.roots else AGENT
    surface = replace(surface, call=lambda read: _short(read, caller.cwd))
    text = search_text(answer, surface, next_page=next_page)
    if not results:
        missing = not any(map(os.path.exists, trees))
        return _elsewhere(call, Result(text, facts, failed=missing), answer)
    about = near_notes(call, shown_lines(answer, root))
    text = "\n".join([*below(call, root), *([about] if about else []), text])
    printed = [
        (os.path.join(one.codebase_path or root or "", one.file), number, row)
        for one, number, row in printed_lines(answer, surface)
    ]
    call.note_shown("search_code", excerpts(printed), text)
    return Result(text, facts)


def paths_of(path: str | list[str]) -> list[str]:
    """The trees of a call. Clients that keep to the schema send a list as JSON in a text."""
    if isinstance(path, list):
        return path
    if path.startswith("["):
        try:
            paths = json.loads(path)
        except (ValueError, RecursionError):
            return [path]
        if isinstance(paths, list) and paths and all(isinstance(one, str) for one in paths):
            return paths
    return [path]


def _short(read: Call, cwd: str | None) -> str:
    """A call that reads lines, in its shortest form."""
    path, first = read.args["path"], read.args["offset"]
    if cwd is not None and path.startswith(cwd.rstrip("/") + "/"):
        path = os.path.relpath(path, cwd)
    return call_text("read", {"path": f"{path}:{first}-{first + read.args['limit'] - 1}"})


def _from_the_start(result: Result, a: dict[str, Any]) -> Result:
    """The result for an invalid cursor: suggests the same search without it."""
    return result.ended("from the start", "search_code", **{**a, "cursor": None})


def _refused(answer: SearchAnswer) -> Result:
    if os.path.exists(answer.path):
        return refused(answer)
    message = f"'{answer.path}' does not exist"
    return no_such_tree(Result(message, replace(answer, message=message, hints=None).to_wire()))


def _elsewhere(call: ToolCall, result: Result, answer: SearchAnswer) -> Result:
    """The result when nothing was found: suggests a wider search, or one by exact tokens."""
    a = call.arguments
    query = a.get("query", "")
    if len(query) > QUERY_MAX:
        shorter = query[:QUERY_MAX]
        return result.ended("shorter", "search_code", query=shorter, path=a["path"])
    if answer.hints is not None and answer.hints.next_steps:
        step = answer.hints.next_steps[0]
        tree = {"path": "."} if step.args.get("path") == call.caller.cwd else {}
        return result.ended("wider", step.tool, **{**step.args, **tree})
    path = a["path"][0] if isinstance(a["path"], list) else a["path"]
    if "similar" in a or "snippet" in a:
        return result.ended("blocks that are repeated", "clones", path=path)
    return result.ended("the exact tokens, in any file", "locate", snippet=query, path=path)


SEARCH_CODE = Tool(
    name="search_code",
    title="Search code",
    description=(
        "Find code in an indexed tree by name, phrase or behaviour. Results are symbols with "
        "their file, lines and text; a hit whose lines your context already holds comes as a "
        "pointer without its text. Files changed since the index was made are searched as they "
        "are now. If the tree is not indexed, the answer says so and names the call that helps."
    ),
    input=inputs(
        query=string(
            "a name, a phrase or a behaviour; filters: lang:py path:src/ -path:tests/ must:word "
            "exclude:word re:pattern sym:Name",
            minLength=1,
        ),
        path=string("the tree, or a directory in it; or a list of several", default="."),
        scope=choice(
            ("runtime", "mixed", "docs"),
            "code, code and documents, or only documents",
            default="runtime",
        ),
        limit=integer(
            f"maximum number of results ({LIMIT_DEFAULT}; re: and files {LIMIT_MAX})",
            minimum=1,
            maximum=LIMIT_MAX,
        ),
        group_by=choice(("symbol", "file"), "one result for each", default="symbol"),
        budget=integer(
            "maximum number of tokens of results", minimum=BUDGET_MIN, default=BUDGET_DEFAULT
        ),
        similar=string(
            "instead of a query: find code similar to these lines, e.g. src/app.py:10-20"
        ),
        snippet=string("instead of a query: find code similar to this text"),
        cursor=string("the cursor of the previous page, from its continue"),
    ),
    unlisted={
        # Listed as text only: strict clients warn about several types.
        "path": {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            "default": ".",
        },
        "result_mode": choice(("grouped", "raw"), "symbols, or chunks of text", default="grouped"),
        "debug": boolean("explain how results were found", default=False),
    },
    output=schema_of(SearchAnswer),
    run=run,
)
