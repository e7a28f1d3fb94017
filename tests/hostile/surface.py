"""Every command and every tool, found in the program, and what a hostile tree is asked by each.

A command or tool without an entry here fails a test, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from holdfast.cli.main import COMMANDS
from holdfast.cli.parsing import Parser

NAME = "odd/esc\x1b]0;OWNED\x07\x1b[2J\x9b31m.py"


def leaves() -> list[str]:
    """Every command with its verbs: `read`, `memory branch create`, …"""
    found = []
    for name, (module, _) in COMMANDS.items():
        parser = Parser(prog=name)
        import_module(module).configure(parser)
        found += [" ".join(words) for words in _leaves(parser, (name,))]
    return found


def _leaves(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _leaves(inner, (*words, name))
            return
        if not action.option_strings and action.choices and action.nargs is None:
            yield from ((*words, str(name)) for name in action.choices)
            return
    yield words


SESSION = ("--session", "hostile")

RUNS: dict[str, list[list[str]]] = {
    "index create": [["."], ["shop", "--ignore", "*a" * 40 + "b"], ["pipe.py"], ["outdir"]],
    "index reindex": [[".", "--allow-unnecessary"]],
    "index publish": [["."], ["shop", "--accept-history"], [NAME]],
    "index sync": [["."]],
    "index status": [["."], [NAME]],
    "index clear": [["shop"]],
    "index list": [[]],
    "index repair": [[]],
    "index verify": [["."], [NAME]],
    "search": [
        ["needle"], ["re:(a|aa)+$ needle"], ["needle", "--similar", f"{NAME}:1-2"],
        ["path:" + "*a" * 30 + "b needle"], ["token", "--scope", "docs", "--debug"], ["\x1b[2J"],
    ],
    "outline": [["odd/screen.py"], [NAME], ["pipe.py"], ["zero.py"]],
    "calls": [["needle_1"], ["odd"], ["*" * 500]],
    "edit rename": [["needle_1", "other"], ["odd", "x y"]],
    "edit replace": [["needle_1", "def needle_1(): ..."]],
    "edit insert-before": [["odd", "x = 1"]],
    "edit insert-after": [["odd", "x = 1"]],
    "edit recover": [[], ["--path", NAME], ["--forget"]],
    "explore": [["needle_1"], ["x"], ["odd", "--tokens", "200"], ["*" * 500]],
    "impact": [[], ["--since", "--output=x"], ["--since", "HEAD~1"]],
    "references": [["needle_1"], ["x"], ["odd", "--implementations"], ["*" * 500]],
    "read": [
        ["odd/screen.py"], ["shop/part_1.py", *SESSION], ["shop/part_1.py", *SESSION],
        [NAME, *SESSION], ["pipe.py"], ["zero.py"], ["socket.py"], ["huge.py", *SESSION],
        ["self.py"], ["bombs/quotes.md"], ["odd/new\nline.py", *SESSION], ["loop/loop/shop"],
        [".env", *SESSION], ["leak/github.py", *SESSION], ["leak/readme.txt", *SESSION],
    ],
    "readcache status": [[*SESSION]],
    "readcache refresh": [["shop/part_1.py", *SESSION], [NAME, *SESSION], ["pipe.py", *SESSION]],
    "readcache explain": [["shop/part_1.py", *SESSION], [NAME, *SESSION], ["zero.py", *SESSION]],
    "savings": [[], ["--client", "claude"], ["--since", "\x1b[2J"]],
    "context": [[*SESSION], ["--session", "pipe.py", "--host", "claude-code"]],
    "session show": [[*SESSION], ["--session", "huge.json", "--host", "pi"], ["--session", NAME]],
    "session compact": [[*SESSION]],
    "locate": [["total += price_1"], ["--file", "pipe.py"], ["--file", "huge.py"],
               ["--file", NAME]],
    "clones": [["."], [".", "--since", "HEAD"], [".", "--since", "--output=x"], ["outdir/proc"]],
    "sequence show": [["ab" * 200], ["--file", "pipe.py"], ["--file", "zero.py"]],
    "memory get": [["note:\x1b[2J"]],
    "memory list": [[], ["\x1b[2J"]],
    "memory set": [["note:esc", '"\\u001b]0;OWNED\\u0007"'], ["note:\x1b[2J", "1"],
                   ["note:n", "[" * 9_000], ["note:n", "@pipe.py"], ["note:n", "@huge.json"]],
    "memory patch": [["note:esc", '{"op": "replace", "path": "/value", "value": "\\u009b31m"}']],
    "memory delete": [["note:\x1b[2J"]],
    "memory log": [[]],
    "memory at": [["1", "note:esc"]],
    "memory branch create": [["draft"], ["\x1b[2J"]],
    "memory branch list": [[]],
    "memory diff": [["draft"]],
    "memory merge": [["draft"]],
    "memory review": [["draft"]],
    "memory note": [["\x1b[2J", "--code", NAME], ["x", "--code", "pipe.py"],
                    ["x", "--code", "zero.py:f"], ["x", "--code", "../../etc/passwd"]],
    "memory find": [["\x1b[2J"], ["--code", NAME]],
    "memory branch delete": [["draft"]],
    "memory export": [["export.jsonl"], ["outdir/proc/x"]],
    "memory import": [["zero.py"], ["huge.json"], ["bombs/nested.json"], ["odd/screen.py"]],
    "memory watch": [["note:esc", "--url", "ws://127.0.0.1:9", "--count", "1"]],
    "memory acl show": [[]],
    "memory acl set": [["\x1b[2J", "READ"]],
    "memory acl remove": [["\x1b[2J"]],
    "memory verify": [[]],
    "memory gc": [[]],
    "keys new": [["k"], ["../../x"], ["\x1b[2J"]],
    "keys pass": [["k", "--audience", "\x1b[2J"], ["../../x", "--audience", "a"]],
    "keys show": [[]],
    "mcp": [[], ["--status"]],
    "serve": [["--port", "0"]],
    "purge": [["leak/github.py"], [NAME], ["pipe.py"], ["zero.py"]],
    "install": [["--client", "all", "--dry-run"],
                ["--client", "claude", "--scope", "project", "--dry-run"]],
    "uninstall": [["--client", "all", "--dry-run"]],
    "hook": [[]],
    "doctor": [[]],
    "status": [[]],
    "bench": [["shop", "--rounds", "1"]],
    "completion": [["bash"]],
    "try": [[]],
}  # fmt: skip
"""Per command, the arguments of each run in the hostile tree, in this order."""

SERVES = "serve"
"""Runs until it is stopped."""

SHOWS = frozenset({"read", "readcache refresh"})
"""Commands that show a file as it is, secrets included, because the user asked for that file."""

TOOL_PATHS: dict[str, Any] = {
    "read": lambda path: {"path": path},
    "readcache_refresh": lambda path: {"path": path},
    "readcache_status": None,
    "context": None,
    "recover": None,
    "search_code": lambda path: {"query": "needle", "path": path},
    "file_outline": lambda path: {"file": path},
    "references": lambda path: {"symbol": "odd", "path": path},
    "explore": lambda path: {"symbol": "odd", "path": path},
    "impact": lambda path: {"path": path},
    "edit_symbol": lambda path: {
        "action": "rename",
        "symbol": "odd",
        "text": "x",
        "path": path,
    },
    "call_graph": lambda path: {"symbolRef": {"file": path, "symbolLabel": "odd"}},
    "manage_index": lambda path: {"action": "status", "path": path},
    "list_codebases": None,
    "locate": lambda path: {"snippet": "total += price_1", "path": path},
    "clones": lambda path: {"path": path},
    "memory_note": lambda path: {"text": path, "code": [path]},
    "memory_get": lambda path: {"id": path},
    "memory_commit": lambda path: {
        "operations": [{"op": "set", "id": "note:l", "document": {"code": {"path": path}}}]
    },
    "memory_query": lambda path: {"contains": path},
    "memory_history": lambda path: {"id": path},
    "memory_branch": lambda path: {"action": "diff", "name": path},
}
"""How each tool is asked about a path of the tree; None if it takes no argument."""

SHOWING_TOOLS = frozenset({"read", "readcache_refresh"})

STRANGE: list[Any] = [
    "\x1b]0;OWNED\x07", "\x00", "\ud800", "a" * 200_000, "(a|aa)+$", "re:(a|aa)+$",
    "*a" * 500 + "b",
    "../" * 200, "-1", "\u202e", -1, 0, 1 << 70, 1.5, float("1e308"), True, None, [], {}, [[]] * 50,
    {"a": {"a": {"a": []}}}, ["\x1b[2J"] * 200, "re:" + "(" * 500, "path:" + "[" * 200,
]  # fmt: skip
"""Values that are put in the place of each argument of each tool, whatever it expects."""


def strange_calls(input_schema: dict[str, Any], base: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Calls of one tool with one argument replaced by something strange."""
    for name in input_schema["properties"]:
        for value in STRANGE:
            yield {**base, name: value}
