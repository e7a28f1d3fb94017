"""Every parser of ours that reads what others wrote, with valid input to start from.

A parser returns, or raises one of its documented errors. Anything else is a finding.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from holdfast import credentials
from holdfast.agents import hooks, jsonfile, tomlfile
from holdfast.errors import HoldfastError
from holdfast.files.ignore import Rules, parse_rule
from holdfast.files.secrets import masked, secret_name
from holdfast.files.workspace import allowed_directories
from holdfast.home import Home
from holdfast.index.facts import model
from holdfast.index.facts.extract import extract
from holdfast.index.generations import fingerprint, marker, proof
from holdfast.index.generations.registry import Registry
from holdfast.index.search import operators, pages, regex
from holdfast.index.search.filters import files_kept
from holdfast.index.search.query_analysis import analyze
from holdfast.reading import config, meta, paths
from holdfast.reading.hosts import bindings, detect
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.sequence.segment_store import SegmentStore
from holdfast.sequence.tokens.families import family_of
from holdfast.sequence.tokens.lexer import LexerOptions, lex
from holdfast.store import codec, patch, pointer
from holdfast.store.graph.selectors import roots_of
from holdfast.store.store import open_store
from holdfast.sync.wire import messages
from holdfast.web.site import query_of
from tests.index.samples import sources
from tests.sync.wire.test_messages import REQUESTS

Run = Callable[[bytes, Path], object]
"""Parse some bytes; the directory is for parsers that read a file."""


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser, input that it accepts, and what it may raise. `weight` is its share of inputs."""

    name: str
    run: Run
    seeds: tuple[bytes, ...]
    raises: tuple[type[Exception], ...] = ()
    weight: float = 1.0

    @property
    def documented(self) -> tuple[type[Exception], ...]:
        return (HoldfastError, *self.raises)

    def outcome(self, data: bytes, folder: Path) -> str:
        try:
            self.run(data, folder)
        except self.documented:
            return "refused"
        return "read"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _json(data: bytes) -> Any:
    try:
        return json.loads(_text(data))
    except (ValueError, RecursionError):
        return _text(data)


def _put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _as_bytes(*values: Any) -> tuple[bytes, ...]:
    return tuple(v if isinstance(v, bytes) else json.dumps(v).encode() for v in values)


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


# session logs

META = {
    "v": 1, "pathKey": "/w/a.py", "scopeKey": "full", "servedHash": "0" * 64, "mode": "full",
    "totalLines": 3, "rangeStart": 1, "rangeEnd": 3, "bytes": 16,
}  # fmt: skip
_PI = _lines(
    {"type": "session", "version": 3, "id": "s1", "cwd": "/w", "timestamp": "2026-01-01T00:00:00Z"},
    {"type": "message", "id": "a", "parentId": None,
     "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}},
    {"type": "message", "id": "b", "parentId": "a", "message": {
        "role": "toolResult", "toolCallId": "c1", "toolName": "read", "isError": False,
        "content": [{"type": "text", "text": "one\ntwo\n"}], "details": {"readcache": META}}},
    {"type": "compaction", "id": "c", "parentId": "b", "summary": "x", "firstKeptEntryId": "a"},
)  # fmt: skip
_CLAUDE = _lines(
    {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s", "cwd": "/w",
     "message": {"role": "user", "content": "hi"}},
    {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "message": {
        "role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/w/a.py"}}]}},
    {"type": "user", "uuid": "u3", "parentUuid": "u2", "sessionId": "s", "message": {
        "role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1",
                                     "content": "     1\tone\n     2\ttwo"}]},
     "toolUseResult": {"type": "text", "file": {"filePath": "/w/a.py", "content": "one\ntwo",
                                                "numLines": 2, "startLine": 1, "totalLines": 2}}},
    {"type": "system", "subtype": "compact_boundary", "uuid": "u4", "parentUuid": None,
     "logicalParentUuid": "u3", "sessionId": "s"},
)  # fmt: skip
_CODEX = _lines(
    {"type": "session_meta", "timestamp": "t", "payload": {"id": "s", "cwd": "/w"}},
    {"type": "turn_context", "payload": {"cwd": "/w", "model": "m"}},
    {"type": "response_item", "payload": {
        "type": "function_call", "call_id": "c", "name": "shell",
        "arguments": '{"command": ["cat", "a.py"]}'}},
    {"type": "response_item", "payload": {
        "type": "function_call_output", "call_id": "c", "output": "one\ntwo\n"}},
    {"type": "compacted", "payload": {"message": "x", "replacement_history": []}},
)  # fmt: skip
_NATIVE = _lines(
    {"format": "holdfast-session", "v": 1, "session": "s"},
    {"id": "1", "parent": None, "kind": "read", "meta": META, "text": "one\n"},
    {"id": "2", "parent": "1", "kind": "compaction"},
)


def _log(kind: str, suffix: str) -> Run:
    def run(data: bytes, folder: Path) -> None:
        path = _put(folder, f"log.{kind}{suffix}", data)
        home = Home(folder / "home")
        log = detect.open_host(
            str(path), home, now_ms=lambda: 0, new_id=lambda: "x", kind=kind, newest_leaf=True
        )
        log.evidence()

    return run


def _any_log(data: bytes, folder: Path) -> None:
    detect.detect(str(_put(folder, "any.jsonl", data)))


def _sidecar(data: bytes, folder: Path) -> None:
    Sidecar(_put(folder, "sidecar.jsonl", data)).catch_up()


# the store


def _export() -> bytes:
    with open_store("memory:", "s") as store:
        store.transact(
            "me",
            {"localSeq": 1, "operations": [{"op": "set", "id": "a:b", "value": {"value": 1}}]},
        )
        store.create_branch("draft")
        return "\n".join(store.export("s")).encode() + b"\n"


def _import(data: bytes, _: Path) -> None:
    with open_store("memory:", "t") as store:
        store.import_lines(_text(data).splitlines(keepends=True))


def _patch(data: bytes, _: Path) -> None:
    document = {"value": {"list": [1, 2, {"a": 1}], "text": "x", "n": 1}}
    found = _json(data)
    operations = found if isinstance(found, list) else [found]
    patch.apply_to_document(document, [o for o in operations if isinstance(o, dict)])


PATCHES = [
    {"op": "replace", "path": "/value/list/0", "value": 2},
    {"op": "add", "path": "/value/list/-", "value": [1]},
    {"op": "remove", "path": "/value/text"},
    {"op": "move", "from": "/value/n", "path": "/value/m"},
    {"op": "splice", "path": "/value/list", "index": 1, "remove": 1, "add": [3]},
    {"op": "append", "path": "/value/list", "values": [1]},
    {"op": "add-unique", "path": "/value/list", "values": [1]},
    {"op": "remove-by-value", "path": "/value/list", "values": [1]},
    {"op": "increment", "path": "/value/n", "by": 1},
]
QUERY = {
    "roots": [{"id": "a:b", "selector": {"path": ["value"], "schema": {
        "type": "object", "properties": {"x": {"$ref": "#/$defs/y"}}, "$defs": {"y": {"anyOf": [
            {"type": "string"}, {"type": "array", "items": True}]}}}}}],
}  # fmt: skip


def _graph(data: bytes, _: Path) -> None:
    roots_of(_json(data))


# the index


def _marker(data: bytes, _: Path) -> None:
    proof.judge(_text(data), "/w", FINGERPRINT)


FINGERPRINT = fingerprint.Fingerprint("static", "m", 256, "sqlite")
MARKER = marker.encode(marker.Marker("/w", FINGERPRINT, 1, 2, "2026-01-01T00:00:00Z", "run"))


def _registry(data: bytes, folder: Path) -> None:
    Registry(_put(folder, "registry.json", data)).records()


def _search(data: bytes, _: Path) -> None:
    parsed = operators.parse(_text(data), regex.wrong_pattern)
    keep = files_kept(parsed.query, "runtime", [""])
    for path in ("src/a.py", "a/a/a/a/aaaaaaaaaaaaaaaaaaaa.py", "docs/x.md"):
        keep(path)
    analyze(parsed.query.text)
    for name, value in parsed.query.values():
        operators.written(name, value)


def _pattern(data: bytes, _: Path) -> None:
    text = _text(data)
    if regex.wrong_pattern(text) is None:
        regex.matcher(text)


def _rules(data: bytes, _: Path) -> None:
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    for line in lines:
        parse_rule(line)
    rules = Rules(lines)
    for path in ("a.py", "a/b/c.py", "a" * 200, "a/" * 60 + "b"):
        rules.verdict(path, path.rpartition("/")[2], False)
        rules.verdict(path, path.rpartition("/")[2], True)


def _facts(data: bytes, _: Path) -> None:
    model.decode(data)


def _source(suffix: str) -> Run:
    return lambda data, _: extract(f"src/file.{suffix}", data)


def _manifest(data: bytes, folder: Path) -> None:
    _put(folder, "segments/manifest.json", data)
    assert SegmentStore(folder / "segments", LexerOptions()).problem != ""


@cache
def _segment_manifest() -> bytes:
    return json.dumps(
        {"format": 3, "lexer": 3, "reading": [False, False], "segments": [], "touched": {}}
    ).encode()


# agents, settings, credentials


def _hook(agent: str) -> Run:
    def run(data: bytes, _: Path) -> None:
        payload = _json(data)
        adapter = hooks.adapter_of(agent)
        assert adapter is not None
        if isinstance(payload, dict):
            adapter.event_of(payload)

    return run


HOOK = {
    "hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/w",
    "tool_name": "Read", "tool_use_id": "t1", "tool_input": {"file_path": "/w/a.py", "offset": 1},
    "tool_response": {"type": "text", "file": {"filePath": "/w/a.py", "content": "one",
                                               "numLines": 1, "startLine": 1, "totalLines": 1}},
}  # fmt: skip
BATCH = {
    **HOOK, "hook_event_name": "PostToolBatch",
    "tool_calls": [{"tool_name": "Edit", "tool_use_id": "e", "tool_input": {"old_string": "a"},
                    "tool_response": "Error: not found"}],
}  # fmt: skip


def _json_editor(data: bytes, _: Path) -> None:
    text = data.decode("utf-8", "surrogateescape")
    jsonfile.remove(jsonfile.put(text, ("mcpServers", "x"), {"a": 1}), ("mcpServers", "x"))
    jsonfile.append(text, ("hooks", "Stop"), {"b": 1})


def _toml_editor(data: bytes, _: Path) -> None:
    text = data.decode("utf-8", "surrogateescape")
    tomlfile.remove_table(
        tomlfile.put_table(text, ("mcp_servers", "x"), {"command": "c"}), ("mcp_servers", "x")
    )


def _reading_settings(data: bytes, folder: Path) -> None:
    config.load(_put(folder, "reading.toml", data))


def _workspace_settings(data: bytes, folder: Path) -> None:
    allowed_directories(_put(folder, "settings.toml", data), "/home/u")


def _ticket(data: bytes, _: Path) -> None:
    text = _text(data)
    assert credentials.valid_until(text, "t" * 40, "sync", 1, 10**12) in (None, 10**13)
    credentials.same(text, "t" * 40)


def _query_string(data: bytes, _: Path) -> None:
    query_of({"query_string": data})


def _request(data: bytes, folder: Path) -> None:
    found = _json(data)
    arguments = found if isinstance(found, dict) else {"path": _text(data)}
    request = paths.Request.from_arguments(arguments)
    paths.locate(request, paths.Place(str(folder), "/home/u"), lambda path: False)


def _secrets(data: bytes, _: Path) -> None:
    secret_name(_text(data)[:300])
    assert len(masked(data)) == len(data)


def _tokens(suffix: str) -> Run:
    return lambda data, _: lex(data, family_of(f"a.{suffix}"))


@cache
def _sources() -> dict[str, tuple[bytes, ...]]:
    return {
        suffix: tuple(text.encode()[:2_000] for text in texts[:12])
        for suffix, texts in sources().items()
    }


@dataclass
class _Table:
    parsers: list[Parser] = field(default_factory=list)

    def add(
        self,
        name: str,
        run: Run,
        *seeds: Any,
        raises: tuple[type[Exception], ...] = (),
        weight: float = 1.0,
    ) -> None:
        self.parsers.append(Parser(name, run, _as_bytes(*seeds), raises, weight))


@cache
def parsers() -> tuple[Parser, ...]:
    """Every parser."""
    t = _Table()
    t.add("session log of pi", _log("pi", ".jsonl"), _PI)
    t.add("session log of Claude Code", _log("claude-code", ".jsonl"), _CLAUDE)
    t.add("session log of Codex", _log("codex", ".jsonl"), _CODEX)
    t.add("session log of our own", _log("native", ".jsonl"), _NATIVE)
    t.add("session log of an unknown agent", _any_log, _PI, _CLAUDE, _CODEX, _NATIVE)
    t.add("record beside a session log", _sidecar, _lines({"v": 1, "call": "c", "meta": META}))
    t.add("metadata of a read", lambda data, _: meta.parse(_json(data)), META, weight=2)
    t.add("wire request", lambda d, _: messages.parse_request(_text(d)), *REQUESTS, weight=3)
    t.add("wire request, unified", lambda d, _: messages.parse_request(_text(d), True), *REQUESTS)
    t.add("wire answer", lambda d, _: messages.parse_answer(_text(d)), {
        "type": "response", "requestId": "r", "ok": {"seq": 1}}, {
        "type": "hello.ok", "protocol": "memory/v2", "flags": {}}, weight=2)  # fmt: skip
    t.add("stored value", lambda d, _: codec.decode(_text(d), True), {"value": [1, {"/": {}}]},
          {"/Link@1": {"id": "x"}}, {"/": {"quote": [1, 2]}}, weight=2)  # fmt: skip
    t.add("pointer", lambda d, _: pointer.parse(_text(d)), b"/a/b~1c/~0/0/-", weight=3)
    t.add("patch", _patch, *PATCHES, PATCHES, weight=2)
    t.add("graph query", _graph, QUERY, weight=2)
    t.add("export", _import, _export(), weight=0.4)
    t.add("completion marker", _marker, MARKER.encode(), weight=2)
    t.add("registry of trees", _registry, {"formatVersion": 1, "codebases": {"/w": {
        "state": "ready", "options": {}}}})  # fmt: skip
    t.add("stored facts", _facts, model.encode(extract("a.py", b"def a():\n    b()\n")),
          raises=(msgspec.DecodeError,), weight=2)  # fmt: skip
    t.add("search query", _search, b"find the parser lang:py path:src/ -path:tests/ must:x",
          b'exclude:"a b" re:/def \\w+/ sym:Cart.total', b"path:*.py re:^import")  # fmt: skip
    t.add("search pattern", _pattern, rb"def \w+\(", rb"(?i)a{2,3}|[^x]*?$", weight=0.5)
    t.add("cursor of a page", lambda d, _: pages.decode(_text(d)),
          pages.encode(pages.Cursor(10, 40, "a" * 20, "b" * 20)).encode())  # fmt: skip
    t.add("ignore rules", _rules, b"*.pyc\n!keep.pyc\n/build/\n**/a/**/b\n[a-z]?\\ \n# x\n",
          b"*a*a*a*b\n[!a]\n[[:alpha:]]*\na/**\n", weight=0.6)  # fmt: skip
    t.add("manifest of segments", _manifest, _segment_manifest(), weight=0.3)
    t.add("hook of Claude Code", _hook("claude-code"), HOOK, BATCH, weight=2)
    t.add("hook of Codex", _hook("codex"), HOOK, BATCH, weight=2)
    t.add("binding of a conversation", lambda d, _: bindings.parse(_json(d)), {
        "format": "holdfast-binding", "v": 1, "host": "claude-code", "session": "s", "cwd": "/w",
        "transcript": "/t", "event": "SessionStart", "at": 1, "agent": {"pid": 1, "start": 2}},
        weight=2)  # fmt: skip
    t.add("JSON editor", _json_editor, b'{\n  // note\n  "mcpServers": {"a": [1, 2,],},\n}\n',
          b'{"hooks": {"Stop": [{"b": 1}]}}', weight=1)  # fmt: skip
    t.add(
        "TOML editor", _toml_editor, b'a = 1\n[mcp_servers.x]\ncommand = "c"\n[b]\nc = """\n"""\n'
    )
    t.add("settings of the reader", _reading_settings,
          b'sensitive = ["*.tfstate"]\nunion = true\ndiff_budget_ms = 200\n')  # fmt: skip
    t.add(
        "settings of the workspace", _workspace_settings, b'[workspace]\nallow = ["/srv", "~/x"]\n'
    )
    t.add("ticket and cookie", _ticket,
          credentials.ticket("t" * 40, "sync", 1, 10**13).encode(), weight=2)  # fmt: skip
    t.add("query string", _query_string, b"token=abc&x=%20%ff&y", weight=2)
    t.add("read request", _request, {"path": "a.py:1-2", "offset": 1, "limit": 2}, b"~/a.py:3",
          weight=2)  # fmt: skip
    t.add("text with secrets", _secrets, b"api_key = 'Zx81kQp0aB7dLm3nVt5y'\n", _CLAUDE)
    for suffix, seeds in _sources().items():
        t.add(f"source, .{suffix}", _source(suffix), *seeds, weight=0.12)
        t.add(f"tokens, .{suffix}", _tokens(suffix), *seeds, weight=0.12)
    return tuple(t.parsers)
