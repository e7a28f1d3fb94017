"""Renames in scripts: what a name stands for in an object, an element or an interface."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.tools.test_rename_mentions import edited

Files = dict[str, str]
RUN = "function run() { return 1; }\n"

RENAMED: dict[str, tuple[Files, str, Files]] = {
    "a variable in a literal keeps the key": (
        {"m.js": f"{RUN}const api = {{ run, x: 1 }};\nconsole.log(api.run(), run());\n"},
        "m.run",
        {
            "m.js": "function go() { return 1; }\nconst api = { run: go, x: 1 };\n"
            "console.log(api.run(), go());\n"
        },
    ),
    "a literal inside what a module exports": (
        {
            "m.js": f"{RUN}module.exports = {{ api: {{ run }}, run }};\n",
            "n.js": 'const { api, run } = require("./m");\nconsole.log(api.run(), run());\n',
        },
        "m.run",
        {
            "m.js": "function go() { return 1; }\nmodule.exports = { api: { run: go }, go };\n",
            "n.js": 'const { api, go } = require("./m");\nconsole.log(api.run(), go());\n',
        },
    ),
    "exports that are assigned": (
        {
            "m.js": f"{RUN}const api = {{ run }};\nmodule.exports = api;\n",
            "n.js": 'const { run } = require("./m");\nrun();\n',
        },
        "m.run",
        {
            "m.js": "function go() { return 1; }\nconst api = { go };\nmodule.exports = api;\n",
            "n.js": 'const { go } = require("./m");\ngo();\n',
        },
    ),
    "an attribute of an element is not a variable": (
        {"m.tsx": 'const run = 1;\nconst all = [<Row run="x" />, <Row run={run} />, <run />];\n'},
        "m.run",
        {"m.tsx": 'const go = 1;\nconst all = [<Row run="x" />, <Row run={go} />, <run />];\n'},
    ),
    "a function under a key": (
        {"m.js": "const api = { run: () => 1 };\nconsole.log(api.run());\n"},
        "api.run",
        {"m.js": "const api = { go: () => 1 };\nconsole.log(api.go());\n"},
    ),
    "another name for a member of a namespace": (
        {"m.ts": "namespace A { export class run {} }\nimport B = A.run;\nnew B();\n"},
        "A.run",
        {"m.ts": "namespace A { export class go {} }\nimport B = A.go;\nnew B();\n"},
    ),
}


@pytest.mark.shows("EDIT-RENAME")
@pytest.mark.parametrize("case", RENAMED)
def test_a_rename_changes_the_symbol_and_not_what_has_its_name(case: str, tmp_path: Path) -> None:
    files, symbol, expected = RENAMED[case]
    _, done, after = edited(tmp_path, files, symbol, "go")
    assert done.applied, (done.message, done.doubts)
    assert after == expected
