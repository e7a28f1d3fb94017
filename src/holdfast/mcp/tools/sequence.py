"""The tools `locate` and `clones`."""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING, Any

from holdfast.errors import UsageError
from holdfast.mcp.tool import (
    Result,
    Tool,
    ToolCall,
    boolean,
    call_text,
    failure,
    inputs,
    integer,
    string,
)
from holdfast.mcp.tools.common import continued, no_such_tree, schema_of
from holdfast.sequence.report import ClonesReport, LocateReport

if TYPE_CHECKING:
    from holdfast.sequence.segment_store import Progress

QUERY_MAX = 200
"""How many characters of a snippet a suggested search contains."""


def locate(call: ToolCall) -> Result:
    from holdfast.sequence.locate import as_text
    from holdfast.sequence.tokens.lexer import LexerOptions
    from holdfast.trees import locate_snippet

    a = call.arguments
    path = call.tree(a["path"])
    if not os.path.exists(path):
        return no_such_tree(failure(f"{path} does not exist"))
    options = LexerOptions(comments=a["comments"])
    tree = call.context.app.open_tree(path, options, _progress(call))
    answer = locate_snippet(
        tree,
        # Files are also read without a byte order mark.
        a["snippet"].encode("utf-8", "surrogatepass").removeprefix(codecs.BOM_UTF8),
        options,
        language=a.get("language"),
        copies=a["copies"],
        explained=a["explain"],
        check=call.check_cancelled,
    )
    whole, matched = answer.match.query_exhausted, answer.match.position
    facts: dict[str, Any] = {
        **answer.to_wire(),
        "status": "ok" if whole else "partial" if matched else "not_found",
        "whole": whole,
        "path": answer.root,
    }
    text = as_text(answer, " (copies=N lists more)")
    if not whole and answer.copies:
        first = answer.copies[0]
        near = {"path": str(tree.root / first.path), "offset": first.first.line}
        facts["continue"] = continued("read", **near)
        text += f"\n[to see it: {call_text('read', near)}]"
    elif not whole:
        seek = {"query": a["snippet"][:QUERY_MAX], "path": path}
        facts["continue"] = continued("search_code", **seek)
        text += f"\n[by meaning: {call_text('search_code', seek)}]"
    if answer.not_searched:
        text += f"\n[{answer.not_searched}]"
    return Result(text, facts)


def clones(call: ToolCall) -> Result:
    from holdfast.sequence import clones_answer
    from holdfast.sequence.clones_request import ClonesRequest
    from holdfast.sequence.tokens.lexer import LexerOptions

    a = call.arguments
    path = call.tree(a["path"])
    if not os.path.exists(path):
        return no_such_tree(failure(f"{path} does not exist"))
    request = ClonesRequest(
        minimum=a["min_tokens"],
        limit=a["limit"],
        renamed=a["renamed"],
        since=a.get("since"),
        overlapping=a["all"],
        every_file=a["every_file"],
        options=LexerOptions(comments=a["comments"]),
    )
    try:
        answer = call.context.app.find_clones(path, request, _progress(call))
    except UsageError as error:
        without = {**a, "path": path, "since": None}
        return failure(str(error), error.hint).ended("for any revision", "clones", **without)
    facts: dict[str, Any] = {"status": "ok", **answer.to_wire()}
    text = clones_answer.as_text(answer, clones_answer.TOOL)
    if answer.not_searched:
        text += f"\n[{answer.not_searched}]"
    listed, total = len(answer.groups), answer.summary.groups
    if total > listed:
        more = {**a, "path": path, "limit": min(1000, a["limit"] * 4)}
        facts["continue"] = continued("clones", **more)
        text += f"\n[{listed} of {total} blocks; for more: {call_text('clones', more)}]"
    return Result(text, facts)


def _progress(call: ToolCall) -> Progress:
    steps: dict[str, int] = {}

    def report(step: str, done: int, total: int) -> None:
        call.check_cancelled()
        base = 100.0 * steps.setdefault(step, len(steps))
        call.progress(base + (100.0 * done / total if total else 100.0), 0.0, step)

    return report


LOCATE = Tool(
    name="locate",
    title="Locate a snippet",
    description=(
        "Find how much of a snippet exists in a tree, token by token: every place of the whole "
        "snippet, or how far it matches, where, and the first token that differs on both sides. "
        "Blanks and line breaks do not count, but other indentation is reported. Use it when an "
        "edit failed because its old text was not found."
    ),
    input=inputs(
        "snippet",
        snippet=string("the text to find", minLength=1),
        path=string("the tree", default="."),
        language=string("the language of the snippet: a file suffix such as py"),
        copies=integer("maximum number of places", minimum=0, maximum=1000, default=20),
        comments=boolean("treat comments as tokens", default=False),
    ),
    unlisted={"explain": boolean(default=False)},
    output=schema_of(
        LocateReport,
        whole=boolean("whether the whole snippet exists"),
        path=string("the tree"),
    ),
    run=locate,
)

CLONES = Tool(
    name="clones",
    title="Repeated blocks",
    description=(
        "Find the largest blocks of code that occur in a tree more than once, each with all its "
        "places. Use it before writing code that may exist already, or to find code to merge. "
        "With since, only what was copied after that git revision."
    ),
    input=inputs(
        path=string("the tree", default="."),
        min_tokens=integer("the shortest block", minimum=2, default=50),
        limit=integer("maximum number of blocks", minimum=1, maximum=1000, default=20),
        renamed=boolean("treat all names as equal, and all literals", default=False),
        since=string("only blocks with more copies than at this git revision", minLength=1),
        all=boolean("include blocks that lie in blocks already listed", default=False),
        comments=boolean("treat comments as tokens", default=False),
    ),
    unlisted={"every_file": boolean("also data and documents", default=False)},
    output=schema_of(ClonesReport),
    run=clones,
)
