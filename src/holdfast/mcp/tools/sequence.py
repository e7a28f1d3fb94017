"""locate and clones: how much of a snippet exists, and what exists more than once."""

from __future__ import annotations

import codecs
import os
from typing import Any

from holdfast.errors import UsageError
from holdfast.mcp.tool import (
    Call,
    Result,
    Tool,
    array,
    boolean,
    call_text,
    failure,
    inputs,
    integer,
    maybe,
    string,
)
from holdfast.mcp.tools.common import answer_schema, continued, no_such_tree

QUERY_MAX = 200
"""How much of a snippet a search for it quotes."""


def locate(call: Call) -> Result:
    from holdfast.sequence import locate as locating
    from holdfast.sequence.tokens.lexer import LexerOptions, lex
    from holdfast.trees import snippet_family

    a = call.arguments
    path = call.caller.path(a["path"])
    if not os.path.exists(path):
        return no_such_tree(failure(f"{path} does not exist"))
    options = LexerOptions(comments=a["comments"])
    tree = call.desk.app.open_tree(path, options, _progress(call))
    # A mark is no part of the text: a file that begins with one is read without it too.
    source = a["snippet"].encode("utf-8", "surrogatepass").removeprefix(codecs.BOM_UTF8)
    family = snippet_family(a.get("language"), None, list(tree.files))
    report = locating.locate(
        tree.segments.corpus,
        source,
        lex(source, family, options),
        copies=a["copies"],
        check=call.check_cancelled,
    )
    whole, matched = report.answer.query_exhausted, report.answer.position
    facts: dict[str, Any] = {
        **locating.as_data(report),
        "status": "ok" if whole else "partial" if matched else "not_found",
        "whole": whole,
        "path": str(tree.root),
    }
    text = locating.as_text(report, " (copies=N lists more)")
    if not whole and facts["copies"]:
        place = facts["copies"][0]
        near = {"path": str(tree.root / place["path"]), "offset": place["line"]}
        facts["continue"] = continued("read", **near)
        text += f"\n[to see it: {call_text('read', near)}]"
    elif not whole:
        seek = {"query": a["snippet"][:QUERY_MAX], "path": path}
        facts["continue"] = continued("search_code", **seek)
        text += f"\n[by meaning: {call_text('search_code', seek)}]"
    note = tree.not_searched()
    if note:
        facts["notSearched"] = note
        text += f"\n[{note}]"
    return Result(text, facts)


def clones(call: Call) -> Result:
    from holdfast.repeats import repeats
    from holdfast.sequence import report
    from holdfast.sequence.tokens.lexer import LexerOptions

    a = call.arguments
    path = call.caller.path(a["path"])
    if not os.path.exists(path):
        return no_such_tree(failure(f"{path} does not exist"))
    progress, options = _progress(call), LexerOptions(comments=a["comments"])
    tree = call.desk.app.open_tree(path, options, progress)
    try:
        found = repeats(
            tree,
            options,
            progress,
            minimum=a["min_tokens"],
            renamed=a["renamed"],
            since=a.get("since"),
            overlapping=a["all"],
        )
    except UsageError as error:
        without = {**a, "path": path, "since": None}
        return failure(str(error), error.hint).ended("of all times", "clones", **without)
    groups, tokens, documents = found.groups, found.tokens, found.documents
    total, shown = len(groups), groups[: a["limit"]]
    facts: dict[str, Any] = {"status": "ok", **report.as_data(shown, tokens, documents, total)}
    text = report.as_text(shown, tokens, documents, total, words=report.TOOL)
    note = tree.not_searched()
    if note:
        facts["notSearched"] = note
        text += f"\n[{note}]"
    if total > len(shown):
        more = {**a, "path": path, "limit": min(1000, a["limit"] * 4)}
        facts["continue"] = continued("clones", **more)
        text += f"\n[{len(shown)} of {total} blocks; for more: {call_text('clones', more)}]"
    return Result(text, facts)


def _progress(call: Call) -> Any:
    steps: dict[str, int] = {}

    def report(step: str, done: int, total: int) -> None:
        call.check_cancelled()
        base = 100.0 * steps.setdefault(step, len(steps))
        call.progress(base + (100.0 * done / total if total else 100.0), 0.0, step)

    return report


LOCATE = Tool(
    name="locate",
    title="Where a snippet stands",
    description=(
        "How much of a snippet exists in a tree, token by token: where all of it stands, or how "
        "far it matches, where, and the first token that differs on both sides. Spaces and line "
        "breaks do not count. Use it when an edit failed because its old text was not found."
    ),
    input=inputs(
        "snippet",
        snippet=string("the text to find", minLength=1),
        path=string("the tree", default="."),
        language=string("how it is written: a file suffix such as py"),
        copies=integer("how many places to list", minimum=0, maximum=1000, default=20),
        comments=boolean("comments count as tokens", default=False),
    ),
    output=answer_schema(
        whole=boolean("whether all of it exists"),
        path=string("the tree"),
        tokens={"type": "integer"},
        matched={"type": "integer", "description": "how many tokens match from the start"},
        count={"type": "integer", "description": "in how many places"},
        copies=array({"type": "object"}, "where"),
        difference=maybe({"type": "object", "description": "the first token that differs"}),
        container=maybe({"type": "object"}),
        notSearched=string("what the answer does not speak of"),
    ),
    run=locate,
)

CLONES = Tool(
    name="clones",
    title="Repeated blocks",
    description=(
        "The largest blocks of code that stand in a tree more than once, each with all its "
        "places. Look here before writing what exists already, or to find what to join. With since "
        "only what was copied after that git revision."
    ),
    input=inputs(
        path=string("the tree", default="."),
        min_tokens=integer("the shortest block", minimum=2, default=50),
        limit=integer("at most so many blocks", minimum=1, maximum=1000, default=20),
        renamed=boolean("names and literals count as equal to each other", default=False),
        since=string("only blocks that have more copies than at this git revision", minLength=1),
        all=boolean("also blocks that lie in blocks listed before them", default=False),
        comments=boolean("comments count as tokens", default=False),
    ),
    output=answer_schema(
        notSearched=string("what the answer does not speak of"),
        summary={"type": "object"},
        groups=array({"type": "object"}),
    ),
    run=clones,
)
