"""How much structured content goes with an answer.

The text of an answer is written for the model. Structured content is for programs, but a client may
show it to the model as well, or instead, which costs tokens. So by default it has lean facts: what
the text says, as data, without what a program can derive. Three rules:

    lean facts cost at most 1.3 times the text; otherwise they are left out
    a client that shows its model the structured content instead of the text gets none
    `verbose` in a call, or the setting `full`, gives every fact
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

Facts = dict[str, Any]
Mode = Literal["lean", "full", "none"]

SETTING = "HOLDFAST_MCP_STRUCTURED"
RATIO_MAX = 1.3

SHOWN_INSTEAD = ("claude-code", "codex")
"""Clients that show their model the structured content instead of the text, by their names.
They cut long results as well."""


def mode_of(client: str, setting: str, *, verbose: bool) -> Mode:
    """What a client gets for one call."""
    if verbose or setting == "full":
        return "full"
    if setting == "none" or client.lower().startswith(SHOWN_INSTEAD):
        return "none"
    return "lean"


def content(tool: str, facts: Facts, text: str, mode: Mode) -> Facts | None:
    """The structured content of an answer, or None."""
    if mode == "none":
        return None
    if mode == "full":
        return facts
    allowed = RATIO_MAX * len(text.encode("utf-8", "replace"))
    lean = lean_facts(tool, facts)
    if tool == "search_code" and size(lean) > allowed:
        # The text of the answer has the lines; only their places are useful as data.
        hits = [{k: v for k, v in hit.items() if k != "text"} for hit in lean.get("results", ())]
        lean = {**lean, "results": hits}
    return lean if size(lean) <= allowed else None


def size(facts: Facts) -> int:
    """The bytes of facts as JSON."""
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "replace"))


def lean_facts(tool: str, facts: Facts) -> Facts:
    """The facts of an answer without those that repeat or can be derived."""
    shorten = _LEAN.get(tool)
    if shorten is None or facts.get("status") == "error":
        return facts
    always = {name: facts[name] for name in _ALWAYS if facts.get(name)}
    return {**always, **shorten(facts)}


_ALWAYS = ("status", "message", "continue")


def _search(facts: Facts) -> Facts:
    results = [_hit(one) for one in facts.get("results", ())]
    warnings = {"warnings": facts["warnings"]} if facts.get("warnings") else {}
    return {"results": results, **warnings}


def _hit(one: Mapping[str, Any]) -> Facts:
    hit: Facts = {"file": one["file"], "lines": _lines(one["span"])}
    if one.get("codebasePath"):
        hit["tree"] = one["codebasePath"]
    if one.get("symbolLabel"):
        hit["symbol"] = one["symbolLabel"]
    if one.get("inContext"):
        hit["inContext"] = True
    elif one.get("preview"):
        hit["text"] = one["preview"]
    return hit


def _outline(facts: Facts) -> Facts:
    symbols = (facts.get("outline") or {}).get("symbols", ())
    rows = [[_lines(one["span"]), one["kind"], one["symbolLabel"]] for one in symbols]
    return {"file": facts.get("file"), "symbols": rows}


def _calls(facts: Facts) -> Facts:
    names = {node["symbolId"]: node["symbolLabel"] for node in facts.get("nodes", ())}
    rows = [
        [
            names.get(edge["srcSymbolId"], edge["srcSymbolId"]),
            names.get(edge["dstSymbolId"], edge["dstSymbolId"]),
            f"{edge['site']['file']}:{edge['site']['startLine']}",
            edge["confidence"],
        ]
        for edge in facts.get("edges", ())
    ]
    return {"calls": rows}


def _references(facts: Facts) -> Facts:
    rows = [
        [one["kind"], f"{one['file']}:{one['line']}", one["symbolLabel"], one["confidence"]]
        for one in facts.get("references", ())
    ]
    below = [
        f"{one['file']}:{one['span']['startLine']}" for one in facts.get("implementations", ())
    ]
    answer: Facts = {"references": rows} if rows else {}
    if below:
        answer["implementations"] = below
    return {**answer, "undecided": facts.get("undecided", 0), "complete": facts.get("complete")}


def _explore(facts: Facts) -> Facts:
    symbols = [
        {"file": one["symbol"]["file"], "lines": _lines(one["symbol"]["span"])}
        for one in facts.get("found", ())
    ]
    return {"found": symbols}


def _impact(facts: Facts) -> Facts:
    rows = [
        [one["change"], one["symbolLabel"], f"{one['file']}:{one['line']}"]
        for one in facts.get("symbols", ())
    ]
    tests = [f"{one['file']}:{one['line']}" for one in facts.get("tests", ())]
    return {"symbols": rows, "tests": tests, "complete": facts.get("complete")}


def _clones(facts: Facts) -> Facts:
    groups = [
        [group["tokens"], [_place(place) for place in group["places"]]]
        for group in facts.get("groups", ())
    ]
    return {"groups": groups}


def _locate(facts: Facts) -> Facts:
    copies = [_place(place) for place in facts.get("copies", ())]
    summary = {name: facts.get(name) for name in ("tokens", "matched", "count")}
    differs = {"difference": facts["difference"]} if facts.get("difference") else {}
    return {**summary, "copies": copies, **differs}


def _manage(facts: Facts) -> Facts:
    return {name: facts[name] for name in ("action", "path", "humanText") if name in facts}


def _codebases(facts: Facts) -> Facts:
    rows = [[one["path"], one["section"]] for one in facts.get("codebases", ())]
    return {"codebases": rows}


def _lines(span: Mapping[str, int]) -> str:
    return f"{span['startLine']}-{span['endLine']}"


def _place(place: Mapping[str, Any]) -> str:
    return f"{place['path']}:{place['line']}-{place['endLine']}"


_LEAN: dict[str, Callable[[Facts], Facts]] = {
    "search_code": _search,
    "file_outline": _outline,
    "call_graph": _calls,
    "references": _references,
    "explore": _explore,
    "impact": _impact,
    "clones": _clones,
    "locate": _locate,
    "manage_index": _manage,
    "list_codebases": _codebases,
}
"""How the facts of a tool are shortened; the facts of other tools are sent as they are."""
