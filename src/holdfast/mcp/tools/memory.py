"""memory_get, memory_query, memory_history, memory_commit, memory_branch: the store's verbs.

Documents that speak of code may link to it; a link gets the digest of the code when it is
committed, and whoever reads the document later is told which links have drifted since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import UsageError
from holdfast.mcp.tool import (
    Call,
    Result,
    Schema,
    Tool,
    array,
    boolean,
    choice,
    inputs,
    integer,
    string,
)
from holdfast.mcp.tools.common import answer_schema, call_text, continued, counted

SPACE = string("the space", default="local", minLength=1)
BRANCH = string("the branch; empty for the default branch", default="")
VALUE_SHOWN = 160
TEXT_MAX = 60_000


def _refusing(run: Callable[[Call], Result]) -> Callable[[Call], Result]:
    """A tool whose refusals end with the call that helps, not with a command for a shell."""

    def refusing(call: Call) -> Result:
        from holdfast.store.errors import UnknownBranch

        try:
            return run(call)
        except UnknownBranch as error:
            listing = {"action": "list", "space": call.arguments["space"]}
            return _failed(str(error), "the branches there are", "memory_branch", listing)

    return refusing


def _failed(sentence: str, what: str, tool: str, args: dict[str, Any]) -> Result:
    facts = {"status": "error", "message": sentence, "continue": continued(tool, **args)}
    return Result(f"{sentence}\n[{what}: {call_text(tool, args)}]", facts, failed=True)


# reading


def get(call: Call) -> Result:
    from holdfast.store import patch, pointer

    a = call.arguments
    store = call.desk.space(a["space"])
    state = store.state(a["id"], a["branch"], a.get("at"))
    if state is None or state.document is None:
        when = f" at seq {a['at']}" if "at" in a else ""
        return _not_found(a, f"there is no {a['id']}{when}")
    path = pointer.parse(a["pointer"])
    if not patch.has(state.document, path):
        return _not_found(a, f"{a['id']} has nothing at {a['pointer']}")
    part = patch.get(state.document, path)
    links = [_judged(call, at, link) for at, link in _links(part)]
    facts: dict[str, Any] = {
        "status": "ok",
        "id": state.id,
        "branch": state.branch,
        "seq": state.seq,
        "document": part,
    }
    lines = [f"{state.id} at seq {state.seq}", _json(part)]
    if len(lines[1]) > TEXT_MAX:
        deeper = {**a, "pointer": _first_of_many(part, a["pointer"])}
        facts["continue"] = continued("memory_get", **deeper)
        lines[1] = (
            f"{lines[1][:TEXT_MAX]}\n[cut after {TEXT_MAX} of {len(lines[1])} characters; "
            f"a part of it: {call_text('memory_get', deeper)}]"
        )
    if links:
        facts["links"] = links
        lines += [_link_line(link) for link in links if link["state"] != "current"]
    return Result("\n".join(lines), facts)


def _not_found(a: Mapping[str, Any], sentence: str) -> Result:
    more = {"prefix": a["id"].partition(":")[0], "space": a["space"], "branch": a["branch"]}
    facts = {
        "status": "not_found",
        "message": sentence,
        "continue": continued("memory_query", **more),
    }
    return Result(f"{sentence}\n[what there is: {call_text('memory_query', more)}]", facts)


def query(call: Call) -> Result:
    a = call.arguments
    store = call.desk.space(a["space"])
    if "ids" in a:
        roots = [{"id": id, "selector": {"path": [], "schema": a["links"]}} for id in a["ids"]]
        asked: dict[str, Any] = {"roots": roots, "branch": a["branch"]}
        if "at" in a:
            asked["atSeq"] = a["at"]
        reached = store.query(asked)
        found = [
            {"id": one["id"], "seq": one["seq"], "document": one.get("document")}
            for one in reached["entities"]
        ]
    else:
        found = [
            {"id": state.id, "seq": state.seq, "document": state.document}
            for state in store.documents(a["branch"], a.get("at"))
            if state.id.startswith(a["prefix"])
        ]
    wanted = a["contains"].casefold()
    if wanted:
        found = [
            one
            for one in found
            if wanted in json.dumps(one["document"], ensure_ascii=False).casefold()
        ]
    found = [one for one in found if one["id"] > a["after"]] if a["after"] else found
    shown = found[: a["limit"]]
    facts: dict[str, Any] = {
        "status": "ok",
        "seq": store.newest_seq(),
        "documents": shown,
        "total": len(found),
    }
    lines = [f"{one['id']}  seq {one['seq']}  {_short(one['document'])}" for one in shown]
    if not shown:
        lines.append("No documents.")
    if len(found) > len(shown):
        more = {**a, "after": shown[-1]["id"]}
        facts["continue"] = continued("memory_query", **more)
        lines.append(
            f"[{len(shown)} of {len(found)} documents; continue: {call_text('memory_query', more)}]"
        )
    return Result("\n".join(lines), facts)


def history(call: Call) -> Result:
    a = call.arguments
    store = call.desk.space(a["space"])
    # One more than asked, so that we know whether there is more.
    found = store.log(a.get("id"), a.get("branch"), a.get("before"), a["limit"] + 1)
    shown = found[: a["limit"]]
    facts: dict[str, Any] = {"status": "ok", "entries": [entry.to_wire() for entry in shown]}
    lines = []
    for entry in shown:
        what = ", ".join(f"{op} {id}" for op, id in entry.operations) or entry.kind
        what = f"{entry.kind}: {what}" if entry.kind.startswith("merge") else what
        branch = f" on {entry.branch}" if entry.branch else ""
        lines.append(f"{entry.seq}  {entry.created_at}{branch}  {entry.session}  {what}")
    if not shown:
        lines.append("Nothing happened yet.")
    if len(found) > len(shown):
        more = {**a, "before": shown[-1].seq}
        facts["continue"] = continued("memory_history", **more)
        lines.append(f"[older: {call_text('memory_history', more)}]")
    return Result("\n".join(lines), facts)


# writing


def commit(call: Call) -> Result:
    from holdfast.store.errors import ConflictError, PatchError

    a = call.arguments
    store = call.desk.space(a["space"])
    operations = [_operation(call, one, at) for at, one in enumerate(a["operations"])]
    reads = [{"id": one["id"], "path": [], "seq": one["seq"]} for one in a["reads"]]
    try:
        applied = store.transact(
            call.caller.name,
            {
                "localSeq": call.caller.next_local_seq(),
                "branch": a["branch"],
                "reads": {"confirmed": reads, "pending": []},
                "operations": operations,
            },
        )
    except PatchError as error:
        patched = {one["id"] for one in operations if one["op"] == "patch"}
        if error.hint or len(patched) != 1:
            raise
        seen = {"id": patched.pop(), "space": a["space"], "branch": a["branch"]}
        return _failed(f"not committed: {error}", "as it is now", "memory_get", seen)
    except ConflictError as error:
        again = {"id": error.conflicts[0].id, "space": a["space"], "branch": a["branch"]}
        hint = error.hint or "read it again, then commit again"
        facts: dict[str, Any] = {
            "status": "conflict",
            "message": str(error),
            "hint": hint,
            "continue": continued("memory_get", **again),
        }
        text = f"not committed: {error}\n[{hint}: {call_text('memory_get', again)}]"
        return Result(text, facts)
    facts = {"status": "ok", "seq": applied.seq, "branch": applied.branch,
             "ids": [revision.id for revision in applied.revisions]}  # fmt: skip
    return Result(f"committed at seq {applied.seq}", facts)


def _operation(call: Call, one: dict[str, Any], at: int) -> dict[str, Any]:
    op, id = one["op"], one["id"]
    if op == "delete":
        return {"op": "delete", "id": id}
    if op == "patch":
        if "patches" not in one:
            raise UsageError(f"operations[{at}] is a patch without patches")
        return {"op": "patch", "id": id, "patches": _digested(call, one["patches"])}
    if "value" in one:
        return {"op": "set", "id": id, "value": {"value": _digested(call, one["value"])}}
    if "document" in one:
        return {"op": "set", "id": id, "value": _digested(call, one["document"])}
    raise UsageError(f"operations[{at}] sets nothing", "give value, or document for all of it")


def branch(call: Call) -> Result:
    from holdfast.ids import LocalSeq, SessionId
    from holdfast.store.model import CommitKey

    a = call.arguments
    store = call.desk.space(a["space"])
    action = a["action"]
    if action == "list":
        branches = [one.to_wire() for one in store.branches()]
        lines = [
            f"{one['name'] or '(default)'}  head {one['headSeq']}  {one['status']}"
            + (f"  forked at {one['forkSeq']}" if one["forkSeq"] is not None else "")
            for one in branches
        ]
        return Result("\n".join(lines), {"status": "ok", "branches": branches})
    if not a["name"]:
        raise UsageError(f"which branch to {action}?", "pass name")
    if action == "diff":
        return _diff(call, a)
    by = CommitKey(SessionId(call.caller.name), LocalSeq(call.caller.next_local_seq()))
    if action == "merge":
        return _merge(call, a, by)
    if action == "create":
        made = store.create_branch(a["name"], a["parent"], a.get("at"), by)
        said = (
            f"created {made.name} from {made.parent or 'the default branch'} at seq {made.fork_seq}"
        )
    else:
        made = store.delete_branch(a["name"], by)
        said = f"deleted {made.name}; it can still be read and forked"
    return Result(said, {"status": "ok", "branch": made.to_wire()})


def _diff(call: Call, a: dict[str, Any]) -> Result:
    found = call.desk.space(a["space"]).diff(a["name"], a.get("against"))
    differences = [entry.to_wire() for entry in found]
    return Result(diff_text(differences), {"status": "ok", "differences": differences})


def diff_text(differences: list[dict[str, Any]]) -> str:
    """What differs, a line for each document and each place in it."""
    signs = {"added": "+", "removed": "-"}
    lines = []
    for entry in differences:
        lines.append(f"{signs.get(entry['kind'], '~')} {entry['id']}")
        if entry["kind"] == "modified":
            for change in entry["changes"]:
                before = _short(change["before"]) if "before" in change else "(nothing)"
                after = _short(change["after"]) if "after" in change else "(nothing)"
                lines.append(f"    {change['path'] or '(all)'}: {before} → {after}")
        elif entry["kind"] == "added" and "after" in entry:
            lines.append(f"    {_short(entry['after'])}")
    return "\n".join(lines) or "No differences."


def _merge(call: Call, a: dict[str, Any], by: Any) -> Result:
    store = call.desk.space(a["space"])
    name, into, resolutions = a["name"], a["into"], a["resolutions"]
    proposal = store.propose_merge(name, into, resolutions)
    if proposal.clashes and "take" in a:
        resolutions = {**{clash.id: a["take"] for clash in proposal.clashes}, **resolutions}
        proposal = store.propose_merge(name, into, resolutions)
    if proposal.clashes:
        return _clashed(a, proposal.clashes)
    if a["dry_run"]:
        changed = [f"{one['op']} {one['id']}" for one in proposal.operations]
        facts = {"status": "ok", "dryRun": True, "operations": list(proposal.operations)}
        would = f"{counted(len(changed), 'document')} would change"
        return Result("\n".join([*changed, would]), facts)
    applied = store.merge(by, name, into, resolutions)
    if applied is None:
        return Result("nothing to merge", {"status": "ok", "merged": 0})
    facts = {"status": "ok", "seq": applied.seq, "merged": len(applied.revisions)}
    target = into or "the default branch"
    changed_text = f"{counted(len(applied.revisions), 'document')} changed"
    return Result(f"merged {name} into {target} at seq {applied.seq}: {changed_text}", facts)


def _clashed(a: dict[str, Any], clashes: Any) -> Result:
    conflicts = [clash.to_wire() for clash in clashes]
    target = a["into"] or "default branch"
    again = {"action": "merge", "name": a["name"], "into": a["into"], "space": a["space"]}
    if a["dry_run"]:
        again["dry_run"] = True
    # A form to fill in: every place that clashes, beside what was settled already.
    settled = dict(a["resolutions"])
    for wire in conflicts:
        known = settled.get(wire["id"])
        places = known if isinstance(known, dict) and "value" not in known else {}
        settled[wire["id"]] = {**places, wire["path"]: "source"}
    again["resolutions"] = settled
    lines = [f"{counted(len(conflicts), 'conflict')}; nothing was written"]
    for wire in conflicts:
        lines.append(f"  {wire['id']} {wire['path'] or '(all)'}")
        for side, name in (("source", a["name"]), ("target", target)):
            lines.append(f"    {name}: {_short(wire.get(f'{side}Value', '(nothing)'))}")
        lines.append(f"    before: {_short(wire.get('ancestorValue', '(nothing)'))}")
    lines.append(
        '[settle each place with "source", "target" or {"value": …}: '
        f"{call_text('memory_branch', again)}]"
    )
    facts = {
        "status": "conflict",
        "message": lines[0],
        "conflicts": conflicts,
        "continue": continued("memory_branch", **again),
    }
    return Result("\n".join(lines), facts)


# links to code


def _links(value: Any) -> list[Any]:
    from holdfast.links import links_in

    return list(links_in(value))


def _root(call: Call, root: str | None) -> str | None:
    return root or call.caller.cwd


def _judged(call: Call, at: tuple[str, ...], link: Any) -> dict[str, Any]:
    from holdfast.links import judge, reader_below

    root = _root(call, link.root)
    wire: dict[str, Any] = {"at": "/" + "/".join(at), **link.to_wire()["code"]}
    if root is None:
        return {**wire, "state": "unverified", "why": "the link names no root"}
    judged = judge(link, reader_below(root))
    wire.update(state=judged.state, why=judged.why)
    if judged.lines is not None:
        wire["lines"] = list(judged.lines)
    return wire


def _link_line(link: dict[str, Any]) -> str:
    what = f"{link['path']} {link.get('symbol') or ''}".strip()
    shown = ""
    if "lines" in link:
        first, last = link["lines"]
        path = os.path.join(link["root"], link["path"]) if "root" in link else link["path"]
        args = {"path": path, "offset": first, "limit": last - first + 1}
        shown = f"; as it is now: {call_text('read', args)}"
    return f"[link {link['state']}: {what}, {link['why']}{shown}]"


def _digested(call: Call, value: Any) -> Any:
    """The value with the digest of the code that each link speaks of, where it has none."""
    from holdfast.links import link_to, links_in, reader_below

    if isinstance(value, list):
        return [_digested(call, one) for one in value]
    if not isinstance(value, dict):
        return value
    found = next(iter(links_in(value)), None)
    if found is None or found[0]:
        return {name: _digested(call, member) for name, member in value.items()}
    link = found[1]
    root = _root(call, link.root)
    if link.sha256 is not None or root is None:
        return value
    path = os.path.relpath(link.path, root) if os.path.isabs(link.path) else link.path
    source = reader_below(root)(path, None)
    if source is None:
        raise UsageError(f"there is no {link.path} below {root} to link to", "name root and path")
    try:
        return link_to(path, source, link.symbol, root).to_wire()
    except KeyError:
        raise UsageError(f"{link.path} has no one symbol {link.symbol}") from None


# words


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


def _short(document: Any) -> str:
    value = document.get("value", document) if isinstance(document, dict) else document
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_SHOWN else text[: VALUE_SHOWN - 1] + "…"


ANY: Schema = {"description": "any JSON"}
LINK = (
    'A value may link to code anywhere in it: {"code": {"path": "src/a.py", "symbol": "f"}}; the '
    "digest of the code is added, and whoever reads it is told when the code has changed."
)

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
    output=answer_schema(
        id=string(),
        branch=string(),
        seq={"type": "integer"},
        document=ANY,
        links=array({"type": "object", "required": ["path", "state"]}, "links to code"),
    ),
    run=_refusing(get),
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
    output=answer_schema(
        seq={"type": "integer"},
        total={"type": "integer"},
        documents=array(
            {
                "type": "object",
                "properties": {"id": {"type": "string"}, "seq": {"type": "integer"}},
                "required": ["id", "seq"],
            }
        ),
    ),
    run=_refusing(query),
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
    output=answer_schema(entries=array({"type": "object"})),
    run=_refusing(history),
)

MEMORY_COMMIT = Tool(
    name="memory_commit",
    title="Write documents",
    description=(
        "Write documents of the shared memory, all at once or not at all. Pass in reads what you "
        "read and at which seq (0: it must not exist); if one was written since, nothing is "
        f"committed and the answer says so. {LINK}"
    ),
    input=inputs(
        "operations",
        operations=array(
            {
                "type": "object",
                "properties": {
                    "op": choice(("set", "patch", "delete"), "what to do"),
                    "id": string("the document, e.g. note:plan", minLength=1),
                    "value": {"description": "set: the value, any JSON"},
                    "document": {"type": "object", "description": "set: the whole document"},
                    "patches": {
                        "type": "array",
                        "description": 'patch: e.g. {"op": "replace", "path": "/value/x", '
                        '"value": 1}',
                    },
                },
                "required": ["op", "id"],
                "additionalProperties": False,
            },
            "what to write",
            minItems=1,
        ),
        reads=array(
            {
                "type": "object",
                "properties": {"id": string(), "seq": integer(minimum=0)},
                "required": ["id", "seq"],
                "additionalProperties": False,
            },
            "what this stands on",
            default=[],
        ),
        space=SPACE,
        branch=BRANCH,
    ),
    output=answer_schema(seq={"type": "integer"}, branch=string(), ids=array({"type": "string"})),
    run=_refusing(commit),
    read_only=False,
    destructive=True,
    idempotent=False,
)

MEMORY_BRANCH = Tool(
    name="memory_branch",
    title="Branches of memory",
    description=(
        "list branches; create one to work on without disturbing others; diff it against where "
        "it was forked; merge it into another (conflicts are listed and nothing is written until "
        "each is settled); delete it (it stays readable)."
    ),
    input=inputs(
        "action",
        action=choice(("list", "create", "diff", "merge", "delete"), "what to do"),
        name=string("the branch", default=""),
        parent=string("create: the branch to fork", default=""),
        at=integer("create: fork it as it was at this seq", minimum=0),
        against=string("diff: another branch to compare with"),
        into=string("merge: the target; empty for the default branch", default=""),
        take=choice(("source", "target"), "merge: settle every conflict so"),
        resolutions={
            "type": "object",
            "description": 'merge: {"doc:id": {"/value/x": "source" | "target" | {"value": …}}}',
            "default": {},
        },
        dry_run=boolean("merge: only say what would happen", default=False),
        space=SPACE,
    ),
    output=answer_schema(
        branches=array({"type": "object"}),
        branch={"type": "object"},
        differences=array({"type": "object"}),
        conflicts=array({"type": "object"}),
        operations=array({"type": "object"}),
        seq={"type": "integer"},
        merged={"type": "integer"},
        dryRun=boolean(),
    ),
    run=_refusing(branch),
    read_only=False,
    destructive=True,
    idempotent=False,
)
